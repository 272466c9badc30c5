"""Logged hands replayed by the rules: every decision in them, and what each seat won.

A hand that breaks the rules, stops before its end or does not come to the result that its log
gives is rejected with a reason; nothing in it is repaired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.jit import copy_to, njit
from cbr_holdem.cards.numbering import DECK
from cbr_holdem.situation.results import (
    ALONE,
    DEAD_END,
    END_OF,
    KIND_END,
    MUCKED,
    PAID_END,
    PAYOFF_END,
    SHOWN,
    STRENGTH_END,
    results,
)
from cbr_holdem.situation.situations import Situations, look
from cbr_holdem.situation.sizes import size_of
from cbr_holdem.table.game import BET_SIZES, BOARD_CARDS, MOST_SEATS
from cbr_holdem.table.hand import Hand
from cbr_holdem.table.hand_arrays import HandArrays
from cbr_holdem.table.layout import (
    ACTOR,
    BET,
    BOARD,
    CALL,
    FOLD,
    FOLDED,
    HOLE,
    OVER,
    PAID,
    PAYOFF,
    PLAYERS,
    RAISE,
    SEATS,
    STREET,
    STRENGTH,
    TOP,
    WIDTH,
)
from cbr_holdem.table.rake import ANY_RAKE, Rake
from cbr_holdem.table.rules import act, deal_posted, pot_of, raise_limits, to_call

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
_NO_POSTS = "nobody posted a blind or an ante, so there is no pot to play for"
#: Columns of a decision while hands are replayed; `paid` are the chips put in before it, `put`
#: those that it puts in, `by` those by which it raises, `into` the pot after a call.
_MOVE = ("hand", "step", "action", "size", "paid", "put", "by", "into")
_HAND, _STEP, _ACTION, _SIZE_CLASS, _PAID_BEFORE, _PUT, _BY, _INTO = range(len(_MOVE))
_F, _C, _R, _SLASH, _ZERO, _NINE = (ord(letter) for letter in "fcr/09")
_FIRST, _LAST = ord("A"), ord("J")


@dataclass(frozen=True)
class Replayed:
    """The m decisions of n hands.

    `hand` [m] is the place of the hand among those given, `step` [m] the number of the decision in
    it, `action` [m] a place in `ACTIONS`, `size` [m] the class of a bet or raise (else -1), `put`
    [m] the chips that it puts in, `share` [m] a raise as a share of the pot after a call or NaN,
    `outcome` [m] the winnings from the decision on (without the chips put in before it), in small
    bets (big blinds in no-limit), NaN where unknown. `rejected` has the reason for each hand that
    gave no decisions. `tables` [m, WIDTH], if kept, are the tables at the decisions, with all cards
    of the log.
    """

    situations: Situations
    hand: NDArray[np.int64]
    step: NDArray[np.int64]
    action: NDArray[np.int64]
    size: NDArray[np.int64]
    put: NDArray[np.int64]
    share: NDArray[np.float64]
    outcome: NDArray[np.float64]
    rejected: dict[int, str]
    tables: NDArray[np.int64] | None = None


def replay(hands: Sequence[Hand]) -> Replayed:
    """Replay `Hand` objects; `replay_texts` is faster where the hands are texts."""
    return replay_texts([hand.text for hand in hands])


def replay_texts(texts: Sequence[str], rake: Rake = ANY_RAKE) -> Replayed:
    """Replay hands given as texts."""
    return replay_arrays(HandArrays.read(texts), rake=rake)


def replay_arrays(hands: HandArrays, keep_tables: bool = False, rake: Rake = ANY_RAKE) -> Replayed:
    """Replay hands; `rejected` are those that could not be read, those that break the rules, and
    those whose log states a result that the rules cannot give with this rake at most."""
    count = len(hands.place)
    decisions = int((hands.end - hands.start).sum())  # at most: an action has a letter or more
    seen = Situations.empty(decisions)
    moves = np.zeros((decisions, len(_MOVE)), np.int64)
    wrong = np.zeros((count, 2), np.int64)
    ends = np.zeros((count, len(END_OF), MOST_SEATS), np.int64)
    tables = np.zeros((decisions if keep_tables else 0, WIDTH), np.int64)
    posted = (hands.terms, hands.seats, hands.stacks, hands.posts, hands.antes, hands.deck)
    total = _replay(
        (*posted, hands.text, hands.start, hands.end),
        (seen.place, seen.bets, seen.hole, seen.board),
        moves,
        wrong,
        ends,
        tables,
    )
    moves = moves[:total]
    result, reasons = results(hands, ends, rake)
    posted_nothing = ~(hands.posts.any(axis=1) | hands.antes.any(axis=1))
    reasons |= dict.fromkeys(np.flatnonzero(posted_nothing).tolist(), _NO_POSTS)
    for at in np.flatnonzero(wrong[:, 0]).tolist():
        code, number = wrong[at].tolist()
        reasons[at] = (
            f"action {number} {_REASONS[code]}"
            if number
            else "the hand has no actions, and is not over or lacks its board"
        )
    bad = np.zeros(count, bool)
    bad[list(reasons)] = True
    kept = np.flatnonzero(~bad[moves[:, _HAND]])
    chosen = moves[kept]
    situations = seen.take(kept)
    hand, step, action, size, paid, put, by, into = chosen.T
    share = np.full(len(chosen), np.nan)
    np.divide(by, into, out=share, where=by > 0)
    own = result[hand, situations.seat]
    return Replayed(
        situations,
        hands.place[hand],
        step,
        action,
        size,
        put,
        share,
        (own + paid) / hands.terms[hand, BET_SIZES],
        hands.rejected | {int(hands.place[at]): reason for at, reason in reasons.items()},
        tables[kept] if keep_tables else None,
    )


@njit
def _replay(given: Any, seen: Any, moves: Any, wrong: Any, ends: Any, tables: Any) -> Any:
    """Fill the arrays that `replay_arrays` made; returns the number of decisions."""
    terms, seats, stacks, posts, antes, deck, text, start, end = given
    place, bets, hole, board = seen
    r = np.zeros(WIDTH, np.int64)
    m = 0
    for h in range(len(seats)):
        deal_posted(r, terms[h], seats[h], stacks[h], posts[h], antes[h], deck[h])
        first, street, code = m, 0, _OK
        i = start[h]
        while i < end[h]:
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
            if letter == _R and i < end[h] and _ZERO <= text[i] <= _NINE:
                amount = np.int64(0)
                while i < end[h] and _ZERO <= text[i] <= _NINE:
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
            if len(tables):
                copy_to(r, tables[d])
            moves[d, _HAND] = h
            moves[d, _STEP] = d - first
            moves[d, _ACTION] = _action(r, kind)
            moves[d, _SIZE_CLASS] = -1
            if kind == RAISE:
                moves[d, _SIZE_CLASS] = size_of(r, terms[h], amount)
            moves[d, _PAID_BEFORE] = r[PAID + seat]
            call = to_call(r)
            moves[d, _PUT] = 0 if kind == FOLD else call
            if kind == RAISE:
                moves[d, _PUT] = amount - r[BET + seat]
                moves[d, _BY] = amount - r[TOP]
                moves[d, _INTO] = pot_of(r) + r[TOP] - r[BET + seat]
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
            ends[h, PAYOFF_END, seat], ends[h, PAID_END, seat] = r[PAYOFF + seat], r[PAID + seat]
            ends[h, DEAD_END, seat] = r[OVER + seat]
            if not r[FOLDED] >> seat & 1:
                seen_cards = r[HOLE + 2 * seat] < DECK
                shown = SHOWN if seen_cards else MUCKED
                ends[h, KIND_END, seat] = ALONE if r[PLAYERS] == 1 else shown
                ends[h, STRENGTH_END, seat] = r[STRENGTH + seat]
    return m


@njit
def _action(r: Any, kind: Any) -> Any:
    """Place in `ACTIONS` of a kind of action at a table."""
    if kind == FOLD:
        return 0
    if kind == CALL:
        return 2 if to_call(r) else 1
    return 4 if r[TOP] else 3
