"""How players of a casebase act, by context and strength of the hand: a table for simulated play.

Retrieval is too slow to play millions of hands to their end, so all decisions of the logged hands
are counted in a coarse grid: the street, what is to call and how much was bet, how many opponents
there are, whether ours was the last raise, and the strength of the hand in classes. Cells with few
decisions lean on coarser ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cbr.casebase import Casebase
from cbr_holdem.cards.card import DECK
from cbr_holdem.situation.replay import Replayed, replay_arrays
from cbr_holdem.strength.isomorphism import hand_number
from cbr_holdem.strength.kernel import stand
from cbr_holdem.strength.outs import quick_potential
from cbr_holdem.strength.preflop import hand_ranks
from cbr_holdem.table.game import BET_SIZES, BOARD_CARDS
from cbr_holdem.table.hand_arrays import HandArrays
from cbr_holdem.table.rules import (
    ACTOR,
    BOARD,
    CALL,
    FOLD,
    HISTORY,
    HOLE,
    MOVES,
    PLAYERS,
    RAISE,
    RAISES,
    STREET,
    to_call,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DUE, _CROWD, _LED = 6, 3, 2
CONTEXTS = _DUE * _CROWD * _LED
CLASSES = 36
#: Where classes of hand strength begin, after the flop; each is cut in three by potential.
_STRENGTHS = np.array([0.2, 0.35, 0.5, 0.6, 0.7, 0.78, 0.85, 0.9, 0.94, 0.97, 0.99])
_POTENTIALS = np.array([0.08, 0.18])
#: How many decisions of a coarser cell a finer one counts for.
_LEAN = 6.0
#: FOLD, CALL or RAISE of each of `ACTIONS`.
KINDS = np.array([FOLD, CALL, CALL, RAISE, RAISE])
#: Records that are replayed at a time.
BATCH = 400


def _preflop_classes() -> NDArray[np.uint8]:
    """Class of each of the 1326 hands by its rank: finer where hands are good."""
    rank = hand_ranks()
    better = np.searchsorted(np.sort(rank), rank, "right") / len(rank)
    edges = np.append(np.linspace(0, 0.3, 22, endpoint=False)[1:], np.linspace(0.3, 1.0, 15)[:-1])
    found: NDArray[np.uint8] = (CLASSES - 1 - np.searchsorted(edges, better)).astype(np.uint8)
    return found


_PREFLOP = _preflop_classes()


@njit(cache=True)
def context(r: Any, terms: Any) -> Any:
    """The cell of a table's decision, but for the hand."""
    street, seat = r[STREET], r[ACTOR]
    call, bets = to_call(r), r[RAISES] + (street == 0)
    if call <= 0:
        due = 0
    elif call <= terms[BET_SIZES + street]:
        due = min(3, max(1, bets))
    else:
        due = 4 if bets <= 2 else 5
    opponents = r[PLAYERS] - 1
    few, some = (2, 5) if street == 0 else (1, 3)
    crowd = 0 if opponents <= few else (1 if opponents <= some else 2)
    led = 0
    for m in range(r[MOVES] - 1, -1, -1):
        move = r[HISTORY + m]
        if move >> 4 & 3 == RAISE:
            led = int(move & 15 == seat)
            break
    return (due * _CROWD + crowd) * _LED + led


@njit(cache=True)
def hand_class(hole: Any, board: Any, shown: Any, now: Any) -> Any:
    """Class of two cards on a board (uint8 [2] and [5]); `now` [3] is room to count in."""
    if shown == 0:
        return np.int64(_PREFLOP[hand_number(np.int64(hole[0]), np.int64(hole[1]))])
    stand(hole, board[:shown], now)
    strength = (now[0] + 0.5 * now[1]) / (now[0] + now[1] + now[2])
    place = np.searchsorted(_STRENGTHS, strength, "right")
    potential = 0
    if shown < 5:
        potential = np.searchsorted(_POTENTIALS, quick_potential(hole, board[:shown]), "right")
    return 3 * place + potential


class Habits:
    """Chances of fold, call and raise [street, context, class, 3]."""

    def __init__(self, known: Ints, seen: Ints) -> None:
        """From counts of decisions with known cards [4, CONTEXTS, CLASSES, 3], and of all
        [4, CONTEXTS, 3]."""
        self.chances = _smoothed(known.astype(np.float64), seen.astype(np.float64))

    @classmethod
    def of(cls, base: Casebase) -> Habits:
        """The habits of everybody in the records of a casebase."""
        known = np.zeros((4, CONTEXTS, CLASSES, 3), np.int64)
        seen = np.zeros((4, CONTEXTS, 3), np.int64)
        for _, bodies in base.read_records(BATCH):
            played, terms = replay_bodies(bodies)
            _count(played.tables, terms, KINDS[played.action], known, seen)
        return cls(known, seen)


def replay_bodies(bodies: Sequence[str]) -> tuple[Replayed, Ints]:
    """The decisions of some hands with their tables, and the terms of the game of each [m, ..]."""
    hands = HandArrays.read(bodies)
    played = replay_arrays(hands, keep_tables=True)
    place = np.zeros(len(bodies), np.int64)
    place[hands.place] = np.arange(len(hands.place))
    return played, hands.terms[place[played.hand]]


@njit(cache=True)
def _count(tables: Any, terms: Any, kind: Any, known: Any, seen: Any) -> None:
    hole, board, now = np.empty(2, np.uint8), np.empty(5, np.uint8), np.empty(3, np.int64)
    for i in range(len(tables)):
        r = tables[i]
        street, cell = r[STREET], context(r, terms[i])
        seen[street, cell, kind[i]] += 1
        for card in range(2):
            hole[card] = r[HOLE + 2 * r[ACTOR] + card]
        if hole[0] < DECK and hole[1] < DECK:
            for card in range(5):
                board[card] = r[BOARD + card]
            which = hand_class(hole, board, BOARD_CARDS[street], now)
            known[street, cell, which, kind[i]] += 1


def _smoothed(known: Floats, seen: Floats) -> Floats:
    """Chances, each cell leaning on its class in all contexts with the same to call."""
    by_due = known.reshape(4, _DUE, -1, CLASSES, 3)
    whole = _shares(by_due.sum(axis=(2, 3)) + 1.0)
    middle = _shares(by_due.sum(axis=2) + _LEAN * whole[:, :, None])
    chances = _shares(by_due + _LEAN * middle[:, :, None]).reshape(known.shape)
    if not known[..., FOLD].any():
        chances = _with_folds(chances, seen)
    free = slice(0, CONTEXTS // _DUE)
    chances[:, free, :, CALL] += chances[:, free, :, FOLD]
    chances[:, free, :, FOLD] = 0.0
    return chances


def _with_folds(chances: Floats, seen: Floats) -> Floats:
    """Where nobody saw the cards of those who fold, folds are as common as in all decisions."""
    rate = (seen[..., FOLD] + 1.0) / (seen.sum(axis=-1) + 2.0)
    chances[..., FOLD] = 0.0
    chances = _shares(chances) * (1.0 - rate)[..., None, None]
    chances[..., FOLD] = rate[..., None]
    return chances


def _shares(counts: Floats) -> Floats:
    shares: Floats = counts / counts.sum(axis=-1, keepdims=True)
    return shares
