"""Hands replayed by the rules, many at once: every decision in them, and what each seat won.

A hand that breaks the rules, stops before its end or does not come to the result that its log
gives is rejected with a sentence; nothing in it is mended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cbr.errors import BadValue
from cbr_holdem.cards.card import DECK, UNKNOWN, cards, name
from cbr_holdem.situation.situations import Situations, look
from cbr_holdem.situation.sizes import size_class
from cbr_holdem.table.game import BET_SIZES, BOARD_CARDS, MOST_CHIPS, MOST_SEATS
from cbr_holdem.table.hand import Hand, verify_names
from cbr_holdem.table.rules import (
    ACTOR,
    BET,
    BOARD,
    CALL,
    FOLD,
    FOLDED,
    HOLE,
    PAID,
    PARTS,
    PAYOFF,
    PLAYERS,
    RAISE,
    RAISE_BY,
    SEATS,
    STREET,
    TOP,
    WIDTH,
    act,
    deal_posted,
    raise_limits,
    to_call,
)

#: What a decision was: fold, check, call, bet, raise.
ACTIONS = ("f", "k", "c", "b", "r")

_OK, _OVER, _STREET, _TURN, _RAISE, _SIZE, _END, _BOARD = range(8)
_REASONS = {
    _OVER: "is one too many: the hand is over",
    _STREET: "is on another street than the betting has come to",
    _TURN: "is out of turn",
    _RAISE: "is a raise that the rules do not allow",
    _SIZE: "raises to an amount that the rules do not allow",
    _END: "is the last, and the hand is not over",
    _BOARD: "comes when cards of the board are missing",
}
_CARD = {name(card): card for card in range(DECK)}
_F, _C, _R, _SLASH, _ZERO, _NINE = (ord(letter) for letter in "fcr/09")
_FIRST, _LAST = ord("A"), ord("J")


@dataclass(frozen=True)
class Replayed:
    """The m decisions of n hands.

    `hand` [m] is the place of the hand among those given, `step` [m] the number of the decision in
    it, `action` [m] a place in `ACTIONS`, `size` [m] the class of a bet or raise (else -1),
    `outcome` [m] what came after the decision, in small bets (big blinds in no-limit), NaN where it
    cannot be known. `rejected` has the reason for each hand that gave no decisions.
    """

    situations: Situations
    hand: NDArray[np.int64]
    step: NDArray[np.int64]
    action: NDArray[np.int64]
    size: NDArray[np.int64]
    outcome: NDArray[np.float64]
    rejected: dict[int, str]


def replay(hands: Sequence[Hand | BadValue]) -> Replayed:
    """Replay hands; one that could not even be read is given as its error."""
    rejected: dict[int, str] = {}
    places: list[int] = []
    taken: list[Hand] = []
    decks: list[list[int]] = []
    for place, hand in enumerate(hands):
        try:
            if isinstance(hand, BadValue):
                raise hand
            decks.append(_deck(hand))
            taken.append(hand)
            places.append(place)
        except BadValue as error:
            rejected[place] = str(error)
    return _replayed(taken, np.array(places, np.int64), decks, rejected)


def _deck(hand: Hand) -> list[int]:
    """Holes and board as numbers, if everything about the hand can be."""
    seats = len(hand.stacks)
    verify_names(hand.players)
    if min(hand.stacks) <= 0 or max(hand.stacks) > MOST_CHIPS:
        wrong = next(s for s in hand.stacks if not 0 < s <= MOST_CHIPS)
        raise BadValue(f"a stack is {wrong}; it must be from 1 to {MOST_CHIPS:,} chips")
    if (
        min(hand.antes) < 0
        or max(hand.antes) > MOST_CHIPS
        or max(map(abs, hand.posts)) > MOST_CHIPS
    ):
        raise BadValue(f"posts {list(hand.posts)} and antes {list(hand.antes)} cannot be")
    deck: list[int] = []
    try:
        for hole in hand.holes:
            deck += [_CARD[hole[:2]], _CARD[hole[2:]]] if hole else [UNKNOWN, UNKNOWN]
        board = hand.board
        deck += [_CARD[board[at : at + 2]] for at in range(0, len(board), 2)]
    except KeyError:
        for text in (*hand.holes, hand.board):
            cards(text)  # names the card
        raise BadValue(f"hands {', '.join(hand.holes)} are not two cards each") from None
    shown = len(deck) - 2 * seats
    if shown not in BOARD_CARDS:
        raise BadValue(f"the board has {shown} cards; it must be 0, 3, 4 or 5")
    known = [card for card in deck if card != UNKNOWN]
    if len(set(known)) != len(known):
        double = next(card for card in known if known.count(card) > 1)
        raise BadValue(f"{name(double)} is twice in the hands and the board")
    return deck + [UNKNOWN] * (5 - shown)


def _replayed(
    hands: list[Hand],
    places: NDArray[np.int64],
    decks: list[list[int]],
    rejected: dict[int, str],
) -> Replayed:
    count = len(hands)
    seats = np.array([len(hand.stacks) for hand in hands], np.int64)
    stacks, posts, antes = (np.zeros((count, MOST_SEATS), np.int64) for _ in range(3))
    deck = np.full((count, 2 * MOST_SEATS + 5), UNKNOWN, np.int64)
    given = np.full((count, MOST_SEATS), np.nan)
    for at, hand in enumerate(hands):
        n = len(hand.stacks)
        stacks[at, :n], posts[at, :n], antes[at, :n] = hand.stacks, hand.posts, hand.antes
        deck[at, : len(decks[at])] = decks[at]
        if hand.result is not None:
            given[at, :n] = hand.result
    terms = np.array([hand.game.terms for hand in hands], np.int64).reshape(count, -1)
    text = np.frombuffer("".join(hand.actions for hand in hands).encode(), np.uint8)
    start = np.cumsum([0, *(len(hand.actions) for hand in hands)])
    decisions = int(np.isin(text, (_F, _C, _R)).sum())
    seen = Situations.empty(decisions)
    moves = np.zeros((decisions, 5), np.int64)  # hand, step, action, size, chips put in before
    wrong = np.zeros((count, 2), np.int64)
    ends = np.zeros((count, 3, MOST_SEATS), np.int64)  # payoff in parts, paid, kind of end
    total = _replay(
        (terms, seats, stacks, posts, antes, deck, text, start),
        (seen.place, seen.bets, seen.hole, seen.board),
        moves,
        wrong,
        ends,
    )
    moves = moves[:total]
    result, reasons = _results(hands, given, ends)
    bad = np.zeros(count, bool)
    for at in np.flatnonzero(wrong[:, 0]).tolist():
        code, number = wrong[at].tolist()
        bad[at] = True
        rejected[int(places[at])] = (
            "the hand has no actions, and is not over"
            if not number
            else f"action {number} {_REASONS[code]}"
        )
    for at, reason in reasons.items():
        if not bad[at]:
            bad[at] = True
            rejected[int(places[at])] = reason
    kept = np.flatnonzero(~bad[moves[:, 0]])
    chosen = moves[kept]
    situations = seen.take(kept)
    own = result[chosen[:, 0], situations.place[:, 1]]
    return Replayed(
        situations,
        places[chosen[:, 0]],
        chosen[:, 1],
        chosen[:, 2],
        chosen[:, 3],
        (own + chosen[:, 4]) / terms[chosen[:, 0], BET_SIZES],
        rejected,
    )


#: How a seat's hand ended: out (or no such seat), alone, at a showdown with cards seen or not.
_OUT, _ALONE, _SHOWN, _MUCKED = range(4)


@njit(cache=True)
def _replay(given: Any, seen: Any, moves: Any, wrong: Any, ends: Any) -> Any:
    """Fill what `_replayed` made room for; the number of decisions."""
    terms, seats, stacks, posts, antes, deck, text, start = given
    place, bets, hole, board = seen
    r = np.zeros(WIDTH, np.int64)
    m = 0
    for h in range(len(seats)):
        deal_posted(r, terms[h], seats[h], stacks[h], posts[h], antes[h], deck[h])
        first, street, code = m, 0, _OK
        i = start[h]
        while i < start[h + 1]:
            letter = text[i]
            i += 1
            if letter == _SLASH:
                street += 1
                continue
            named = np.int64(-1)
            if _FIRST <= letter <= _LAST:
                named = np.int64(letter) - _FIRST
                letter = text[i]
                i += 1
            amount = np.int64(-1)
            if letter == _R and i < start[h + 1] and _ZERO <= text[i] <= _NINE:
                amount = np.int64(0)
                while i < start[h + 1] and _ZERO <= text[i] <= _NINE:
                    amount = 10 * amount + (text[i] - _ZERO)
                    i += 1
            m += 1  # counts this action, whatever is wrong with it
            if r[ACTOR] < 0:
                code = _OVER
                break
            if street != r[STREET]:
                code = _STREET
                break
            if named >= 0 and named != r[ACTOR]:
                code = _TURN
                break
            if street and r[BOARD + BOARD_CARDS[street] - 1] >= DECK:
                code = _BOARD
                break
            kind = FOLD if letter == _F else CALL if letter == _C else RAISE
            if kind == RAISE:
                least, most = raise_limits(r, terms[h])
                if most == 0:
                    code = _RAISE
                    break
                if amount < 0:
                    amount = least
                if amount < least or amount > most:
                    code = _SIZE
                    break
            d = m - 1
            seat = r[ACTOR]
            look(r, terms[h], place[d], bets[d], hole[d], board[d])
            moves[d, 0] = h
            moves[d, 1] = d - first
            moves[d, 2] = _action(r, kind)
            moves[d, 3] = -1
            if kind == RAISE:
                pot = r[TOP] - r[BET + seat]
                for other in range(r[SEATS]):
                    pot += r[PAID + other]
                least_by = max(r[RAISE_BY], terms[h, BET_SIZES + street])
                moves[d, 3] = size_class(amount - r[TOP], pot, least_by)
            moves[d, 4] = r[PAID + seat]
            act(r, terms[h], kind, amount)
        if code == _OK and r[ACTOR] >= 0:
            code = _END
        if code == _OK and r[PLAYERS] > 1 and r[BOARD + 4] >= DECK:
            code = _BOARD
        wrong[h, 0], wrong[h, 1] = code, m - first
        if code:
            m = first
            continue
        for seat in range(r[SEATS]):
            ends[h, 0, seat], ends[h, 1, seat] = r[PAYOFF + seat], r[PAID + seat]
            if not r[FOLDED] >> seat & 1:
                seen_cards = r[HOLE + 2 * seat] < DECK
                ends[h, 2, seat] = _ALONE if r[PLAYERS] == 1 else _SHOWN if seen_cards else _MUCKED
    return m


@njit(cache=True)
def _action(r: Any, kind: Any) -> Any:
    """Place in `ACTIONS` of a kind of action at a table."""
    if kind == FOLD:
        return 0
    if kind == CALL:
        return 2 if to_call(r) else 1
    return 4 if r[TOP] else 3


def _results(
    hands: Sequence[Hand], given: NDArray[np.float64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.float64], dict[int, str]]:
    """What each seat won or lost, and the reason for each hand whose log says what cannot be.

    Where the log gives no result, cards that were not shown at a showdown have lost it, as far as
    somebody's were; a seat that might have won unseen has no result (NaN).
    """
    played, paid, end = ends[:, 0] / PARTS, ends[:, 1], ends[:, 2]
    mucked = end == _MUCKED
    unseen = mucked & (~(end == _SHOWN).any(axis=1, keepdims=True) | (played > -paid))
    result = np.where(unseen, np.nan, played)
    told = np.isfinite(given).any(axis=1)
    seats = np.arange(MOST_SEATS) < np.array([len(h.stacks) for h in hands]).reshape(-1, 1)
    known = np.where(seats, given, 0.0)
    taken = -known.sum(axis=1)  # what the house took
    sure = ~mucked.any(axis=1)
    # Odd chips may go elsewhere than by our rules.
    close = np.abs(known - played) <= np.maximum(taken, 0)[:, None] + 1.001
    possible = (known >= -paid - 0.001) & np.isfinite(known)
    good = np.where(sure[:, None], close, True) & possible
    wrong = told & (~good.all(axis=1) | (taken < -0.001 * 10))
    reasons = {}
    for at in np.flatnonzero(wrong).tolist():
        reasons[at] = f"the log gives a result of {_list(hands[at].result)}, " + (
            f"the rules {_list(played[at, seats[at]])}"
            if sure[at]
            else "which the betting cannot come to"
        )
    result[told] = given[told]
    return result, reasons


def _list(amounts: Any) -> str:
    return ", ".join(f"{amount:g}" for amount in amounts)
