"""The abstraction of the game: a grid of situations, coarse enough to count moves in.

A cell of the grid is a street, a context and a hand class. The context is the price of a call, the
number of opponents, and whether the last raise was the player's own. A hand class joins hands of
like strength and potential. The moves of a cell are fold, call, and one raise for each size. A
strategy is the chance of each move, [street, context, class, move].

Simulated play needs a strategy for millions of decisions, and retrieval would be too slow there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Floats, Ints
from cbr_holdem.situation import SHARES, raised_to, size_of
from cbr_holdem.strength import RANKED, count_now, hand_number, hand_ranks, quick_potential
from cbr_holdem.table import (
    ACTOR,
    BET_SIZES,
    BIG_BLIND,
    BOARD,
    BOARD_CARDS,
    CALL,
    FOLD,
    HISTORY,
    HOLE,
    LIMIT,
    MOST_SEATS,
    MOVES,
    PLAYERS,
    RAISE,
    RAISES,
    STREET,
    act,
    pot_of,
    raise_limits,
    to_call,
    unpacked,
)

#: A context is one of these price classes, opponent classes and initiatives. The contexts without
#: anything to call come first.
PRICE_CLASSES, _OPPONENT_CLASSES, _INITIATIVES = 6, 3, 2
CONTEXTS = PRICE_CLASSES * _OPPONENT_CLASSES * _INITIATIVES
#: Hand classes of a street.
CLASSES = 36
#: Lower bounds of the classes of hand strength after the flop; each has three of potential.
_STRENGTHS = np.array([0.2, 0.35, 0.5, 0.6, 0.7, 0.78, 0.85, 0.9, 0.94, 0.97, 0.99])
_POTENTIALS = np.array([0.08, 0.18])
#: A packed strength counts potential in steps of 1 / 400.
_POTENTIAL_STEPS = 400.0
#: Weight of a squared step in potential, relative to one in strength, in `class_kernel`.
_POTENTIAL_DISTANCE = 4.0
#: Lower bounds of the price classes in no-limit: big blinds before the flop; afterwards shares of
#: the pot with the bet in it, which are bets of 0.4, 0.85, 1.5 and 3.5 pots.
_PRICES = np.array([[1.01, 4.5, 12.0, 30.0], [0.285, 0.46, 0.6, 0.78]])

#: Raise sizes as shares of the pot, infinity for all-in. Limit has one size, the least legal raise.
RAISE_SIZES = {"limit": np.zeros(1), "nolimit": np.array(SHARES)}


#: Preflop strength of each of the 1326 hands, by CASPER's ranking: 168 (aces) to 0.
_PREFLOP_STRENGTH = (len(RANKED) - hand_ranks()).astype(np.int64)


def _preflop_classes() -> Ints:
    """The hand class of each preflop strength, [169]; classes of strong hands are narrower."""
    common = np.bincount(_PREFLOP_STRENGTH) / len(_PREFLOP_STRENGTH)
    better = 1.0 - common.cumsum() + common
    edges = np.append(np.linspace(0, 0.3, 22, endpoint=False)[1:], np.linspace(0.3, 1.0, 15)[:-1])
    return np.asarray(CLASSES - 1 - np.searchsorted(edges, better), np.int64)


_PREFLOP_CLASS = _preflop_classes()
#: Class of strength, and of potential, for each byte of a packed strength.
_STRENGTH_CLASS = np.searchsorted(_STRENGTHS, (np.arange(256) + 0.5) / 255.5, "right")
_POTENTIAL_CLASS = np.searchsorted(_POTENTIALS, np.arange(256) / _POTENTIAL_STEPS, "right")


def class_shares(street: int) -> Floats:
    """The share of all hands that each class holds, [CLASSES]."""
    if street == 0:
        return np.bincount(_PREFLOP_CLASS[_PREFLOP_STRENGTH], minlength=CLASSES) / len(
            _PREFLOP_STRENGTH
        )
    return np.repeat(np.diff(np.concatenate([[0.0], _STRENGTHS, [1.0]])) / 3.0, 3)


def class_order(street: int) -> tuple[Floats, Ints]:
    """The share of all hands that are better than the hands of each class, [CLASSES]; and the
    potential class, [CLASSES], within which classes are ordered by strength."""
    if street == 0:
        share = class_shares(street)
        return 1.0 - share.cumsum() + share / 2.0, np.zeros(CLASSES, np.int64)
    edges = np.concatenate([[0.0], _STRENGTHS, [1.0]])
    return np.repeat(1.0 - (edges[1:] + edges[:-1]) / 2.0, 3), np.arange(CLASSES) % 3


def class_kernel(street: int, width: float) -> Floats:
    """The kernel by which counts of one class are smoothed over others, [CLASSES, CLASSES]: 1 for
    the class itself, `width` for the next one in strength."""
    _, potential = class_order(street)
    rank = np.array([(potential[:at] == potential[at]).sum() for at in range(CLASSES)])
    kernel: Floats = width ** (
        (rank[:, None] - rank) ** 2.0 + _POTENTIAL_DISTANCE * (potential[:, None] - potential) ** 2
    )
    return kernel


def shifted_strengths(factor: float) -> NDArray[np.uint8]:
    """The strength as which a tilted player plays each strength, preflop and postflop, [2, 256].

    The share of better hands is divided by `factor`: with 2, a hand of the best 40 % is played as
    one of the best 20 %.
    """
    common = np.bincount(_PREFLOP_STRENGTH) / len(_PREFLOP_STRENGTH)
    better = 1.0 - common.cumsum() + common / 2.0
    before = np.interp(better / factor, better[::-1], np.arange(len(better))[::-1])
    after = 255.0 * (1.0 - (1.0 - np.arange(256) / 255.0) / factor)
    shifted = np.zeros((2, 256))
    shifted[0, : len(before)], shifted[1] = before, after
    return np.asarray(shifted.round().clip(0, 255), np.uint8)


@njit
def context(r: Any, terms: Any) -> Any:
    """The context of the decision at a table."""
    return context_given_raiser(r, terms, last_to_raise(r))


@njit
def context_given_raiser(r: Any, terms: Any, raiser: Any) -> Any:
    """`context`, where the seat that raised last is known already."""
    opponents = r[PLAYERS] - 1
    few, some = (2, 5) if r[STREET] == 0 else (1, 3)
    opponent_class = 0 if opponents <= few else (1 if opponents <= some else 2)
    price = _price_class(r, terms)
    return (price * _OPPONENT_CLASSES + opponent_class) * _INITIATIVES + int(raiser == r[ACTOR])


@njit
def last_to_raise(r: Any) -> Any:
    """The seat that made the last raise of the hand, or -1."""
    for m in range(r[MOVES] - 1, -1, -1):
        _street, seat, kind, _amount = unpacked(r[HISTORY + m])
        if kind == RAISE:
            return seat
    return np.int64(-1)


@njit
def _price_class(r: Any, terms: Any) -> Any:
    """The class of the price of a call: 0 if there is nothing to call."""
    street, call = r[STREET], to_call(r)
    if call <= 0:
        return np.int64(0)
    if terms[LIMIT]:
        bets = r[RAISES] + (street == 0)
        if call <= terms[BET_SIZES + street]:
            return min(3, max(1, bets))
        return np.int64(4 if bets <= 2 else 5)
    unit_of = terms[BIG_BLIND] if street == 0 else pot_of(r)
    return 1 + np.searchsorted(_PRICES[min(street, 1)], call / unit_of, "right")


@njit
def packed_strength(hole: Any, board: Any, shown: Any, counts: Any) -> Any:
    """Strength of hole cards uint8 [2] on a board uint8 [5] with `shown` cards: 0 to 255 in the
    lowest byte, and potential in the next; `counts` [3] is working space."""
    if shown == 0:
        return _PREFLOP_STRENGTH[hand_number(np.int64(hole[0]), np.int64(hole[1]))]
    count_now(hole, board[:shown], counts)
    strength = (counts[0] + 0.5 * counts[1]) / (counts[0] + counts[1] + counts[2])
    potential = 0.0
    if shown < 5:
        potential = quick_potential(hole, board[:shown])
    return as_packed(strength, potential)


@njit
def as_packed(strength: Any, potential: Any) -> Any:
    """A hand strength after the flop, 0 to 1, and its potential as one packed strength."""
    return np.int64(255.0 * strength) | np.int64(min(255.0, _POTENTIAL_STEPS * potential)) << 8


@njit
def hand_class(street: Any, strength: Any) -> Any:
    """The hand class of a packed strength."""
    if street == 0:
        return _PREFLOP_CLASS[strength]
    return 3 * _STRENGTH_CLASS[strength & 255] + _POTENTIAL_CLASS[strength >> 8]


@njit
def strength_space() -> Any:
    """Arrays for `actor_strength`: `known` [10, 4]; `cards`: hole [2], board [5], counts [3]."""
    cards = (np.empty(2, np.uint8), np.empty(5, np.uint8), np.empty(3, np.int64))
    return np.full((MOST_SEATS, 4), -1, np.int64), cards


@njit
def actor_strength(r: Any, known: Any, cards: Any) -> Any:
    """The packed strength of the actor's hand. `known` [10, 4] keeps the strengths found before by
    seat and street, -1 elsewhere; `cards` is working space (see `strength_space`)."""
    seat, street = r[ACTOR], r[STREET]
    if known[seat, street] < 0:
        hole, board, counts = cards
        hole[0], hole[1] = r[HOLE + 2 * seat], r[HOLE + 2 * seat + 1]
        for place in range(5):
            board[place] = r[BOARD + place]
        known[seat, street] = packed_strength(hole, board, BOARD_CARDS[street], counts)
    return known[seat, street]


@njit
def sample_move(chances: Any, uniform: Any) -> Any:
    """The move that a uniform number from 0 to 1 draws from chances [moves]."""
    move = 0
    while move < len(chances) - 1 and uniform >= chances[move]:
        uniform -= chances[move]
        move += 1
    return move


@njit
def play_move(r: Any, terms: Any, sizes: Any, move: Any) -> None:
    """Play a move at a table. Where no raise is legal, a raise becomes a call."""
    if move < RAISE:
        act(r, terms, move, 0)
        return
    least, most = raise_limits(r, terms)
    if most == 0:
        act(r, terms, CALL, 0)
    else:
        act(r, terms, RAISE, raised_to(r, least, most, sizes[move - RAISE]))


@njit
def move_of(r: Any, terms: Any, kind: Any, amount: Any, moves: Any) -> Any:
    """The index, below `moves`, of the move to which an action about to be played belongs."""
    if kind != RAISE or moves == RAISE + 1:
        return kind
    return RAISE + size_of(r, terms, amount)


@njit
def played_as(r: Any, terms: Any, sizes: Any, move: Any) -> Any:
    """The move as which a move is observed when it is played at a table: another where `play_move`
    changes it. Sizes below the least raise are `min`, sizes of the whole stack and more all-in."""
    if move < RAISE:
        return move
    least, most = raise_limits(r, terms)
    if most == 0:
        return CALL
    amount = raised_to(r, least, most, sizes[move - RAISE])
    return move_of(r, terms, RAISE, amount, RAISE + len(sizes))


@njit(allocates=False)
def legal_moves(r: Any, terms: Any, sizes: Any, legal: Any) -> None:
    """Mark in `legal` [moves] the moves that are legal at a table and differ from one another.

    On entry the raises of `legal` say which sizes are considered. Of sizes that come to the same
    amount the one remains as which that amount is observed.
    """
    considered = np.int64(0)  # bits, since code that makes no arrays calls this
    for move in range(RAISE, len(legal)):
        considered |= np.int64(legal[move]) << move
        legal[move] = False
    legal[FOLD], legal[CALL] = to_call(r) > 0, True
    for move in range(RAISE, len(legal)):
        if considered >> move & 1:
            legal[played_as(r, terms, sizes, move)] = True
