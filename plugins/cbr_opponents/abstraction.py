"""A coarse grid of situations, for simulated play: retrieval is too slow for millions of hands.

A cell is a street, a context (what is to call and how much was bet, how many opponents there are,
whether ours was the last raise) and a class of hands. In a cell a player has so many moves: fold,
call, and a raise of each size. A strategy is their chances, [street, context, class, move].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cbr.typing import Floats, Ints
from cbr_holdem.situation import SHARES, size_of
from cbr_holdem.situation import SIZES as SIZE_NAMES
from cbr_holdem.strength import RANKED, count_now, hand_number, hand_ranks, quick_potential
from cbr_holdem.table import (
    ACTOR,
    BET,
    BET_SIZES,
    BIG_BLIND,
    BOARD,
    BOARD_CARDS,
    CALL,
    FOLD,
    HISTORY,
    HOLE,
    LIMIT,
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

#: Contexts are these, multiplied; those with nothing to call come first.
DUE, _CROWD, _LED = 6, 3, 2
CONTEXTS = DUE * _CROWD * _LED
CLASSES = 36
#: Where classes of hand strength begin, after the flop; each is cut in three by potential.
_STRENGTHS = np.array([0.2, 0.35, 0.5, 0.6, 0.7, 0.78, 0.85, 0.9, 0.94, 0.97, 0.99])
_POTENTIALS = np.array([0.08, 0.18])
#: Marks have potentials in so many parts.
POTENTIAL = 400.0
#: Potentials that differ by one class are as far apart as strengths that differ by two.
_OTHER_KIND = 4.0
#: Where classes of what is to call begin in no-limit: big blinds before the flop, then pots.
_PRICES = np.array([[1.01, 4.5, 12.0, 30.0], [0.3, 0.6, 0.9, 1.3]])

#: How much a value counts beside habit: small bets (big blinds) that make a move e times likelier.
#: In no-limit there is more at stake, and less is known of what others do about each size.
TEMPERATURES = {"limit": 0.1, "nolimit": 1.0}
#: Sizes of raises as shares of the pot: in limit there is one, the least that is legal.
SIZES = {"limit": np.zeros(1), "nolimit": np.array(SHARES)}


#: Before the flop, how good each of the 1326 hands is: 168 (aces) to 0, by CASPER's ranks.
_GOOD = (len(RANKED) - hand_ranks()).astype(np.int64)


def _preflop_classes() -> Ints:
    """Class by how good a hand is before the flop, [169]: finer where hands are good."""
    common = np.bincount(_GOOD) / len(_GOOD)
    better = 1.0 - common.cumsum() + common
    edges = np.append(np.linspace(0, 0.3, 22, endpoint=False)[1:], np.linspace(0.3, 1.0, 15)[:-1])
    return np.asarray(CLASSES - 1 - np.searchsorted(edges, better), np.int64)


_PREFLOP = _preflop_classes()
#: Places of strength and potential of marks among the classes.
_PLACE = np.searchsorted(_STRENGTHS, (np.arange(256) + 0.5) / 255.5, "right")
_KIND = np.searchsorted(_POTENTIALS, np.arange(256) / POTENTIAL, "right")


def class_shares(street: int) -> Floats:
    """How common each class is among all hands, [CLASSES]."""
    if street == 0:
        return np.bincount(_PREFLOP[_GOOD], minlength=CLASSES) / len(_GOOD)
    return np.repeat(np.diff(np.concatenate([[0.0], _STRENGTHS, [1.0]])) / 3.0, 3)


def class_places(street: int) -> tuple[Floats, Ints]:
    """How many hands in a hundred are better than those of each class, as a share [CLASSES], and
    the kind of hand that is compared with its like (after the flop, its potential)."""
    if street == 0:
        share = class_shares(street)
        return 1.0 - share.cumsum() + share / 2.0, np.zeros(CLASSES, np.int64)
    edges = np.concatenate([[0.0], _STRENGTHS, [1.0]])
    return np.repeat(1.0 - (edges[1:] + edges[:-1]) / 2.0, 3), np.arange(CLASSES) % 3


def near(street: int, width: float) -> Floats:
    """How much classes count for one another, [CLASSES, CLASSES]: the next one for `width`."""
    _, kind = class_places(street)
    rank = np.array([(kind[:at] == kind[at]).sum() for at in range(CLASSES)])
    found: Floats = width ** (
        (rank[:, None] - rank) ** 2.0 + _OTHER_KIND * (kind[:, None] - kind) ** 2
    )
    return found


def taken_for(times: float) -> NDArray[np.uint8]:
    """How good hands are taken for by somebody who takes them for so many times as good as they
    are, before the flop and after it, [2, 256]: one in the best 40 % for one in the best 20 % with
    `times` 2."""
    common = np.bincount(_GOOD) / len(_GOOD)
    better = 1.0 - common.cumsum() + common / 2.0
    before = np.interp(better / times, better[::-1], np.arange(len(better))[::-1])
    after = 255.0 * (1.0 - (1.0 - np.arange(256) / 255.0) / times)
    found = np.zeros((2, 256))
    found[0, : len(before)], found[1] = before, after
    return np.asarray(found.round().clip(0, 255), np.uint8)


@njit(cache=True)
def context(r: Any, terms: Any) -> Any:
    """The context of a table's decision."""
    return context_after(r, terms, last_to_raise(r))


@njit(cache=True)
def context_after(r: Any, terms: Any, raiser: Any) -> Any:
    """The context of a table's decision, if it is known whose the last raise was."""
    opponents = r[PLAYERS] - 1
    few, some = (2, 5) if r[STREET] == 0 else (1, 3)
    crowd = 0 if opponents <= few else (1 if opponents <= some else 2)
    return (_due(r, terms) * _CROWD + crowd) * _LED + int(raiser == r[ACTOR])


@njit(cache=True)
def last_to_raise(r: Any) -> Any:
    """The seat whose raise was the last of the hand, or -1."""
    for m in range(r[MOVES] - 1, -1, -1):
        _street, seat, kind, _amount = unpacked(r[HISTORY + m])
        if kind == RAISE:
            return seat
    return np.int64(-1)


@njit(cache=True)
def _due(r: Any, terms: Any) -> Any:
    """The class of what is to call."""
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


@njit(cache=True)
def hand_mark(hole: Any, board: Any, shown: Any, now: Any) -> Any:
    """How good two cards are on a board (uint8 [2] and [5]), as one number: 0 to 255 in its lowest
    byte, and in the next what they may become; `now` [3] is room to count in."""
    if shown == 0:
        return _GOOD[hand_number(np.int64(hole[0]), np.int64(hole[1]))]
    count_now(hole, board[:shown], now)
    strength = (now[0] + 0.5 * now[1]) / (now[0] + now[1] + now[2])
    potential = 0.0
    if shown < 5:
        potential = quick_potential(hole, board[:shown])
    return np.int64(255.0 * strength) | np.int64(min(255.0, POTENTIAL * potential)) << 8


@njit(cache=True)
def class_of(street: Any, mark: Any) -> Any:
    """The class of a mark."""
    if street == 0:
        return _PREFLOP[mark]
    return 3 * _PLACE[mark & 255] + _KIND[mark >> 8]


@njit(cache=True)
def raised_to(r: Any, least: Any, most: Any, size: Any) -> Any:
    """What a raise by a share of the pot after calling goes to, as near as is legal."""
    call = to_call(r)
    wanted = r[BET + r[ACTOR]] + call + np.int64(size * (pot_of(r) + call))
    return min(most, max(least, wanted))


@njit(cache=True)
def mark_of(r: Any, known: Any, space: Any) -> Any:
    """Mark of the actor's hand; `known` [10, 4] keeps those that were looked at, -1 elsewhere."""
    seat, street = r[ACTOR], r[STREET]
    if known[seat, street] < 0:
        hole, board, now = space
        hole[0], hole[1] = r[HOLE + 2 * seat], r[HOLE + 2 * seat + 1]
        for place in range(5):
            board[place] = r[BOARD + place]
        known[seat, street] = hand_mark(hole, board, BOARD_CARDS[street], now)
    return known[seat, street]


@njit(cache=True)
def drawn_move(cell: Any, drawn: Any) -> Any:
    """The move that a number from 0 to 1 draws from chances [moves]."""
    move = 0
    while move < len(cell) - 1 and drawn >= cell[move]:
        drawn -= cell[move]
        move += 1
    return move


def moves_of_solutions(solutions: Sequence[str]) -> list[int]:
    """The move of the grid that each solution is."""
    kinds = {"f": FOLD, "k": CALL, "c": CALL}
    return [
        kinds.get(name[0], RAISE) + (SIZE_NAMES.index(name[1:]) if name[1:] else 0)
        for name in solutions
    ]


@njit(cache=True)
def play_move(r: Any, terms: Any, sizes: Any, move: Any) -> None:
    """Play a move at a table; a raise that is not legal is a call."""
    if move < RAISE:
        act(r, terms, move, 0)
        return
    least, most = raise_limits(r, terms)
    if most == 0:
        act(r, terms, CALL, 0)
    else:
        act(r, terms, RAISE, raised_to(r, least, most, sizes[move - RAISE]))


@njit(cache=True)
def legal_moves(r: Any, terms: Any, sizes: Any, legal: Any) -> None:
    """Which moves are legal and differ, into `legal` [moves], whose raises say which sizes there
    are: of those that come to the same amount the first."""
    least, most = raise_limits(r, terms)
    legal[FOLD], legal[CALL] = to_call(r) > 0, True
    before = np.int64(-1)
    for size in range(len(sizes)):
        if legal[RAISE + size]:
            amount = raised_to(r, least, most, sizes[size]) if most > 0 else before
            legal[RAISE + size] = amount > before
            before = amount


@njit(cache=True)
def move_of(r: Any, terms: Any, kind: Any, amount: Any, moves: Any) -> Any:
    """Which of so many moves an action is that is about to be played."""
    if kind != RAISE or moves == RAISE + 1:
        return kind
    return RAISE + size_of(r, terms, amount)
