"""Features of a decision that boosted trees split on: the betting, the board, the player's hand.

They contain more than the cell of the abstraction: the exact hand, pot odds, who is yet to act, the
betting on earlier streets, the texture of the board (van der Kleij, appendix B). Each is one byte.
Stored trees refer to features by number, so numbers and scales must not change.

Features of the hand are 0 where the cards are unknown; trees for unknown cards do not use them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr_holdem.cards import RANKS
from cbr_holdem.strength import RANKED
from cbr_holdem.table import (
    ACTOR,
    BET,
    BET_SIZES,
    BIG_BLIND,
    BOARD,
    BOARD_CARDS,
    CALL,
    FOLD,
    FOLDED,
    HISTORY,
    LIMIT,
    MOVES,
    PAID,
    PENDING,
    PLAYERS,
    POST,
    RAISE,
    RAISES,
    SEATS,
    STACK,
    STREET,
    pot_of,
    to_call,
    unpacked,
)

#: Columns of `decision_features`. Three mean something else before the flop than after it.
F_RAISES = 0  # raises on this street
F_PRICE = 1  # the price of a call, in quarters of a bet
F_OPPONENTS = 2  # opponents still in the hand
F_LAST_RAISER = 3  # who raised last in the hand: 0 nobody, 1 an opponent, 2 the player
F_POT = 4  # log2 of the pot in half small bets, in sixths
F_POT_ODDS = 5  # call / (pot + call), in 1/200
F_YET_TO_ACT = 6  # opponents who must still act
F_STRENGTH = 7  # the lowest byte of the packed strength
F_HIGH_RANK = F_POTENTIAL = 8  # higher rank; after the flop the potential
F_LOW_RANK = F_FIELD_STRENGTH = 9  # lower rank; strength to the power of the opponents
F_PAIR_SUITED = F_PAID = 10  # 2 a pair, 1 suited; half small bets paid in the hand
F_POSITION = 11  # the seat, in ninths of the table
F_BET = 12  # half small bets paid on this street
F_STACK_TO_POT = 13  # log2(1 + stack / pot), in sixteenths; 0 in limit
# Of the betting so far:
F_SEATS = 14  # players dealt in
F_ACTED = 15  # players who acted since the last raise of this street
F_CALLERS = 16  # opponents who called since then
F_LATER = 17  # opponents still in who act after the player on later streets
F_BEHIND = 18  # the last raiser acts 1 after, 2 before the player on later streets; 0 nobody or own
F_EFFECTIVE = 19  # log2(1 + effective stack / pot), in sixteenths
F_BETS = 20  # three columns: raises before the flop, on the flop, on the turn
F_LED = 23  # streets whose last raise was the player's: 1 preflop + 2 flop + 4 turn
F_OWN_NOW = 24  # the player's last move on this street: 0 none, 1 check, 2 call, 3 raise
F_OWN_BEFORE = 25  # and on the street before
F_RAISE_SIZE = 26  # the last raise of this street by pot: 32 + 8 log2(by / pot before it); 0 none
F_RAISE_BEFORE = 27  # the last raise of the street before
F_CALL_BLINDS = 28  # log2(1 + call / big blind), in sixteenths
F_STACK_BLINDS = 29  # log2(1 + stack / big blind), in sixteenths
F_CHECKS = 30  # checks on this street
F_LEADER = 31  # who raised last on the street before: 0 nobody, 1 player, 2 checked now, 3 to act
F_OPPONENT_RAISES = 32  # raises of opponents in the hand
F_ALL_IN = 33  # opponents still in without chips
F_INVESTED = 34  # paid / (paid + stack), in 1/200
F_LAST_SIZE = 35  # the player's own last raise in the hand, as F_RAISE_SIZE
# Of the board:
F_HIGHEST = 36  # rank of the highest card
F_AVERAGE = 37  # mean rank, in tenths
F_SAME_SUIT = 38  # most cards of one suit
F_SAME_RANK = 39  # most cards of one rank
F_HIGH_CARDS = 40  # different ranks from jack up
F_STRAIGHTS = 41  # runs of five ranks of which the board has three or more
F_LAST_CARD = 42  # rank of the last card
F_LAST_NEW = 43  # the last card: 1 the highest + 2 pairs the board + 4 third of its suit
FEATURES = F_LAST_NEW + 1


def _preflop_cards() -> NDArray[np.int64]:
    """Higher rank, lower rank, and 2 for a pair or 1 for suited, by preflop strength, [169, 3]."""
    return np.array(
        [
            (RANKS.index(name[0]), RANKS.index(name[1]), 2 if len(name) == 2 else name[2] == "s")
            for name in reversed(RANKED)
        ],
        np.int64,
    )


_CARDS = _preflop_cards()

#: Steps of an octave in which logarithms are counted: all scales of features divide it.
_STEPS = 48


def _octave() -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """For each 1/128 of the octave from 1 to 2, the number of steps below it, and where in it the
    next step begins."""
    steps = 2.0 ** (np.arange(_STEPS + 1) / _STEPS)
    below = np.searchsorted(steps, 1.0 + np.arange(128) / 128.0, "right") - 1
    return below.astype(np.int64), steps[below + 1]


_BELOW, _NEXT = _octave()


def _rank_sets() -> NDArray[np.uint8]:
    """Of each set of ranks, as bits: the highest, those from jack up, and the runs of five ranks
    that have three of them or more, [8192, 3]."""
    sets = np.arange(1 << 13)
    has = sets[:, None] >> np.arange(13) & 1
    low = np.concatenate([has[:, -1:], has], axis=1)  # an ace is also below the deuce
    runs = np.stack([low[:, start : start + 5].sum(axis=1) >= 3 for start in range(10)], axis=1)
    highest = np.where(sets > 0, np.floor(np.log2(np.maximum(sets, 1))), 0)
    return np.stack([highest, has[:, 9:].sum(axis=1), runs.sum(axis=1)], axis=1).astype(np.uint8)


_RANK_SETS = _rank_sets()


@njit(allocates=False)
def decision_features(r: Any, terms: Any, raiser: Any, strength: Any, out: Any) -> None:
    """Features of the decision at a table, into `out` uint8 [FEATURES]; `raiser` is the seat of the
    last raise or -1, `strength` the packed strength of the actor's hand, -1 if it is unknown."""
    seat, street, n = r[ACTOR], r[STREET], r[PLAYERS] - 1
    call, pot, small = to_call(r), pot_of(r), terms[BET_SIZES]
    out[F_RAISES] = min(r[RAISES], 255)
    out[F_PRICE] = min(255, _quotient(4 * call, terms[BET_SIZES + street]))
    out[F_OPPONENTS] = n
    out[F_LAST_RAISER] = 0 if raiser < 0 else (2 if raiser == seat else 1)
    out[F_POT] = min(255, _steps(2.0 * pot / small) // 8)
    out[F_POT_ODDS] = 200.0 * call / (call + pot)
    out[F_POSITION] = _quotient(9 * seat, r[SEATS])
    out[F_BET] = min(255, _quotient(2 * r[BET + seat], small))
    out[F_PAID] = min(255, _quotient(2 * r[PAID + seat], small))
    out[F_STACK_TO_POT] = 0
    if not terms[LIMIT]:
        out[F_STACK_TO_POT] = _logarithm(r[STACK + seat], pot)
    _opponents(r, raiser, pot, out)
    _history(r, terms, out)
    _board(r, out)
    hand_features(street, n, strength, out)


@njit(allocates=False)
def hand_features(street: Any, opponents: Any, strength: Any, out: Any) -> None:
    """The features of the hand alone, by its packed strength; -1 leaves them 0."""
    if strength < 0:
        out[F_STRENGTH] = out[F_POTENTIAL] = out[F_FIELD_STRENGTH] = 0
        if street == 0:
            out[F_PAIR_SUITED] = 0
        return
    out[F_STRENGTH] = strength & 255
    if street == 0:
        out[F_HIGH_RANK], out[F_LOW_RANK], out[F_PAIR_SUITED] = _CARDS[strength]
    else:
        out[F_POTENTIAL] = strength >> 8
        out[F_FIELD_STRENGTH] = 255.0 * ((strength & 255) / 255.0) ** opponents


@njit(allocates=False)
def _steps(ratio: Any) -> Any:
    """48 times the binary logarithm of a positive number, rounded down: read off its bits, which is
    several times as fast as to compute it."""
    bits = np.float64(ratio).view(np.int64)
    eighth = bits >> 45 & 127
    part = np.int64(bits & 0xFFFFFFFFFFFFF | 0x3FF0000000000000).view(np.float64)  # from 1 to 2
    return _STEPS * ((bits >> 52) - 1023) + _BELOW[eighth] + int(part >= _NEXT[eighth])


@njit(allocates=False)
def _logarithm(amount: Any, of: Any) -> Any:
    return min(255, _steps(1.0 + amount / of) // 3)


@njit(allocates=False)
def _quotient(amount: Any, of: Any) -> Any:
    """Whole numbers divided, rounded down; exact, and faster than the division of integers."""
    return np.int64(amount / of)


@njit(allocates=False)
def _opponents(r: Any, raiser: Any, pot: Any, out: Any) -> None:
    """Who is still in, where they sit, and their stacks."""
    seat = r[ACTOR]
    waiting, later, broke = 0, 0, 0
    deepest = np.int64(0)
    for other in range(r[SEATS]):
        live = int(other != seat) & ~r[FOLDED] >> other & 1  # counted without a branch, see below
        waiting += live & r[PENDING] >> other
        later += live & int(other > seat)
        broke += live & int(r[STACK + other] == 0)
        deepest = max(deepest, live * (r[STACK + other] + r[BET + other]))
    out[F_YET_TO_ACT] = waiting
    out[F_SEATS] = r[SEATS]
    out[F_LATER] = later
    out[F_BEHIND] = 0 if raiser < 0 or raiser == seat else (1 if raiser > seat else 2)
    out[F_ALL_IN] = broke
    effective = min(r[STACK + seat], max(np.int64(0), deepest - r[BET + seat]))
    out[F_EFFECTIVE] = _logarithm(effective, pot)
    out[F_INVESTED] = 200.0 * r[PAID + seat] / (r[PAID + seat] + r[STACK + seat])


@njit(allocates=False)
def _size(by: Any, pot: Any) -> Any:
    """A raise by so many chips into a pot, on a scale of eighths of a doubling; 0 for no raise."""
    if by == 0:
        return np.int64(0)
    return max(1, min(255, 32 + _steps(by / pot) // 6))


@njit(allocates=False)
def _history(r: Any, terms: Any, out: Any) -> None:
    """What was done on this street and those before."""
    seat, street = r[ACTOR], r[STREET]
    acted, callers, checks, own_now, own_before, raises = 0, 0, 0, 0, 0, 0
    # The last raise of this street, of the street before, and the player's own: by how much into
    # which pot. Their sizes are logarithms, which are taken once, at the end.
    by_now, by_before, by_own = np.int64(0), np.int64(0), np.int64(0)
    pot_now, pot_before, pot_own = np.int64(1), np.int64(1), np.int64(1)
    leader, checked, led = -1, 0, 0
    pot, top, when = np.int64(0), np.int64(0), 0
    for other in range(r[SEATS]):
        pot += max(np.int64(0), r[POST + other])
        top = max(top, r[POST + other])
    bets = np.int64(0)  # of three streets, 16 bits each
    # What every move counts for is added up without branches: moves are so different that the
    # processor would guess wrong at most of them. Raises are few.
    for m in range(r[MOVES]):
        on, who, kind, amount = unpacked(r[HISTORY + m])
        top = top if on == when else np.int64(0)
        when = on
        here, own = int(on == street), int(who == seat)
        if kind == RAISE:
            by, into = max(np.int64(1), amount - top), max(np.int64(1), pot)
            if on < 3:
                bets += 1 << 16 * on
                led = led & ~(1 << on) | own << on
            if here:
                acted, callers = -1, 0
                by_now, pot_now = by, into
            elif on == street - 1:
                leader = who
                by_before, pot_before = by, into
            if own:
                by_own, pot_own = by, into
            raises += 1 - own
            pot += by  # near enough for a size
            top = amount
        calls, pays = int(kind == CALL), int(amount > 0)
        done = 3 if kind == RAISE else 1 + calls * pays
        pot += calls * amount
        acted += here
        callers += here & calls & pays & 1 - own
        free = here & calls & 1 - pays
        checks += free
        checked |= free << who
        mine = own & int(kind != FOLD)
        own_now = done if mine & here else own_now
        own_before = done if mine & int(on == street - 1) else own_before
    for on in range(3):
        out[F_BETS + on] = min(255, bets >> 16 * on & 0xFFFF)
    out[F_LED] = led
    out[F_ACTED], out[F_CALLERS], out[F_CHECKS] = acted, callers, checks
    out[F_OWN_NOW], out[F_OWN_BEFORE] = own_now, own_before
    out[F_RAISE_SIZE], out[F_RAISE_BEFORE] = _size(by_now, pot_now), _size(by_before, pot_before)
    out[F_LAST_SIZE] = _size(by_own, pot_own)
    out[F_CALL_BLINDS] = _logarithm(to_call(r), terms[BIG_BLIND])
    out[F_STACK_BLINDS] = _logarithm(r[STACK + seat], terms[BIG_BLIND])
    out[F_OPPONENT_RAISES] = min(255, raises)
    out[F_LEADER] = 0
    if leader >= 0:
        out[F_LEADER] = 1 if leader == seat else (2 if checked >> leader & 1 else 3)


@njit(allocates=False)
def _board(r: Any, out: Any) -> None:
    """The texture of the board."""
    shown = BOARD_CARDS[r[STREET]]
    for column in range(F_HIGHEST, F_LAST_NEW + 1):
        out[column] = 0
    if shown == 0:
        return
    suits, ranks, total, mask, before = np.int64(0), np.int64(0), 0, 0, 0
    same_suit, same_rank = np.int64(0), np.int64(0)
    for place in range(shown):
        card = r[BOARD + place]
        suits += np.int64(1) << 4 * (card & 3)
        ranks += np.int64(1) << 4 * (card >> 2)
        same_suit = max(same_suit, suits >> 4 * (card & 3) & 15)
        same_rank = max(same_rank, ranks >> 4 * (card >> 2) & 15)
        total += card >> 2
        before = mask
        mask |= 1 << (card >> 2)
    last = r[BOARD + shown - 1]
    rank = last >> 2
    out[F_HIGHEST], out[F_HIGH_CARDS], out[F_STRAIGHTS] = _RANK_SETS[mask]
    out[F_AVERAGE] = _quotient(10 * total, shown)
    out[F_SAME_SUIT], out[F_SAME_RANK], out[F_LAST_CARD] = same_suit, same_rank, rank
    third = suits >> 4 * (last & 3) & 15 == 3
    out[F_LAST_NEW] = (before >> rank == 0) + 2 * (ranks >> 4 * rank & 15 >= 2) + 4 * third
