"""PokerKit as referee of logged hands: what it pays, compared with outcomes that were stored."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from pokerkit import Automation, BettingStructure, Deck, Opening, StandardHighHand, State, Street

from cbr_holdem.table import Hand

_MOVE = re.compile(r"([A-J]?)([fcr])(\d*)")
_AUTOMATIONS = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.CARD_BURNING,
    Automation.HAND_KILLING,
    Automation.CHIPS_PUSHING,
    Automation.CHIPS_PULLING,
)


class Beyond(Exception):
    """A hand that PokerKit does not play as the log does: other rules of betting, or posts."""


@dataclass
class _Played:
    """The decisions of a hand (seat, chips put in before), and the end: chips put in, chips won
    (None where cards were not shown), and who folded."""

    decisions: list[tuple[int, int]] = field(default_factory=list)
    paid: list[int] = field(default_factory=list)
    won: list[Fraction] | None = None
    folded: list[bool] = field(default_factory=list)


def faults(hand: Hand, outcomes: Mapping[int, float]) -> Iterator[str] | list[str]:
    """What is wrong with the outcomes of a hand's decisions, by step: winnings from the decision
    on, in small bets."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of folds that cost nothing
        played = _play(hand)
    found = []
    if sorted(outcomes) != list(range(len(played.decisions))):
        return [f"decisions {sorted(outcomes)} of {len(played.decisions)}"]
    bet = hand.game.bet_sizes[0] if hand.game.bet_sizes else hand.game.big_blind
    got: dict[int, float] = {}
    for step, (seat, before) in enumerate(played.decisions):
        won = outcomes[step] * bet - before
        if (
            seat in got
            and not math.isclose(got[seat], won, abs_tol=0.01)
            and not (math.isnan(got[seat]) and math.isnan(won))
        ):
            found.append(f"seat {seat} has won {won} and {got[seat]}")
        got[seat] = won
    return [*found, *_wrong(hand, played, got)]


def _wrong(hand: Hand, played: _Played, got: Mapping[int, float]) -> Iterator[str]:
    order = sorted(played.paid)
    pot = sum(played.paid) - (order[-1] - order[-2])
    competition = hand.game.rules == "acpc"
    rake = 0.0 if competition else min(0.1 * pot, 5.0 * hand.game.big_blind)
    odd_chips = played.won is not None and _split_unevenly(played, played.won, competition)
    lost = 0.0
    for seat, won in got.items():
        paid = played.paid[seat]
        if played.folded[seat]:
            if not abs(won + paid) < 0.01:
                yield f"seat {seat} folded {paid} chips and has {won}"
        elif played.won is None:
            if not math.isnan(won) and not -paid - 0.01 <= won <= sum(played.paid):
                yield f"seat {seat} put in {paid} chips and has {won}"
        else:
            right = float(played.won[seat])
            # Odd chips of a split pot go as whole chips to any winner, or in fractions to all.
            whole = abs(won - round(won)) < 0.01 or not competition
            shared = right > -paid and whole and odd_chips
            odd = 0.01 + (len(played.paid) - 1 if shared else 0)
            more = rake if right > -paid else 0.0
            lost += max(0.0, right - won)
            if not right - more - odd <= won <= right + odd:
                yield f"seat {seat} has {won}, PokerKit gives {right}"
    if lost > rake + len(played.paid):
        yield f"{lost} chips of a pot of {pot} are missing"


def _split_unevenly(played: _Played, won: list[Fraction], competition: bool) -> bool:
    """Whether there may be odd chips: PokerKit shares them in fractions as the competition does,
    else it gives whole chips to the first winner, which does not show in what was won."""
    if competition:
        return any(amount.denominator > 1 for amount in won)
    return sum(amount > -put for amount, put in zip(won, played.paid, strict=True)) > 1


def _play(hand: Hand) -> _Played:
    """The hand played by PokerKit."""
    seats = len(hand.stacks)
    if any(post < 0 for post in hand.posts) or len({*hand.antes}) > 1:
        raise Beyond("a newcomer's post, or antes that differ")
    try:
        state = _state(hand)
        for hole in hand.holes:
            state.deal_hole(hole or "????")
        return _replayed(hand, state, seats)
    except Beyond:
        raise
    except (ValueError, IndexError, AssertionError) as error:
        raise Beyond(f"PokerKit: {error}") from error


def _state(hand: Hand) -> State:
    game, limit = hand.game, hand.game.betting == "limit"
    sizes = game.bet_sizes or (
        game.big_blind,
        game.big_blind,
        2 * game.big_blind,
        2 * game.big_blind,
    )
    streets = tuple(
        Street(
            street > 0,
            (False, False) if street == 0 else (),
            (0, 3, 1, 1)[street],
            False,
            Opening.POSITION,
            sizes[street] if limit else game.big_blind,
            (None if game.cap is None else game.cap - (street == 0)) if limit else None,
        )
        for street in range(4)
    )
    posts = tuple(hand.posts[::-1] if len(hand.stacks) == 2 else hand.posts)
    split = (lambda a, b: (Fraction(a, b), 0)) if game.rules == "acpc" else divmod
    return State(
        _AUTOMATIONS, Deck.STANDARD, (StandardHighHand,), streets,
        BettingStructure.FIXED_LIMIT if limit else BettingStructure.NO_LIMIT, True,
        hand.antes[0], posts, 0, tuple(hand.stacks), len(hand.stacks), divmod=split,
    )  # fmt: skip


def _replayed(hand: Hand, state: State, seats: int) -> _Played:
    played = _Played()
    moves = iter(_MOVE.findall(hand.actions))
    board = hand.board
    while state.status:
        played.paid = [start - left for start, left in zip(hand.stacks, state.stacks, strict=True)]
        if state.actor_index is not None:
            move = next(moves, None)
            if move is None:
                raise Beyond("the actions end before PokerKit's hand")
            _act(state, move, played)
        elif state.can_deal_board():
            count = 3 if not any(state.board_cards) else 1
            if len(board) < 2 * count:
                raise Beyond("PokerKit deals cards that the log lacks")
            state.deal_board(board[: 2 * count])
            board = board[2 * count :]
        elif state.can_show_or_muck_hole_cards():
            if any(alive and not hand.holes[seat] for seat, alive in enumerate(state.statuses)):
                played.folded = [not alive for alive in state.statuses]
                return played
            state.show_or_muck_hole_cards(True)
        else:
            raise Beyond("PokerKit waits for something else")
    if next(moves, None):
        raise Beyond("the actions go on after PokerKit's hand")
    ends = zip(state.stacks, hand.stacks, strict=True)
    played.won = [Fraction(end) - start for end, start in ends]
    played.folded = [False] * seats  # then it is in what was won
    return played


def _act(state: State, move: tuple[str, str, str], played: _Played) -> None:
    letter, kind, amount = move
    seat = state.actor_index
    assert seat is not None
    if letter and "ABCDEFGHIJ".index(letter) != seat:
        raise Beyond("PokerKit has another player to act")
    played.decisions.append((seat, played.paid[seat]))
    if kind == "f":
        state.fold()
    elif kind == "c":
        state.check_or_call()
    else:
        least = state.min_completion_betting_or_raising_to_amount
        state.complete_bet_or_raise_to(int(amount) if amount else least)
