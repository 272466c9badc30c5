"""How the players of a casebase act: all decisions of its hands, counted in the grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cbr.casebase import Casebase
from cbr_casper.grid import CLASSES, CONTEXTS, DUE, SIZES, context, hand_class
from cbr_holdem.cards.card import DECK
from cbr_holdem.situation.case_types import BETTING
from cbr_holdem.situation.replay import Replayed, replay_arrays
from cbr_holdem.table.game import BOARD_CARDS
from cbr_holdem.table.hand_arrays import HandArrays
from cbr_holdem.table.rules import ACTOR, BOARD, CALL, FOLD, HOLE, RAISE, STREET

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: How many decisions of a coarser cell a finer one counts for.
_LEAN = 6.0
#: FOLD, CALL or RAISE of each of `ACTIONS`.
_KINDS = np.array([FOLD, CALL, CALL, RAISE, RAISE])
#: Records that are replayed at a time.
BATCH = 400


def habits_of(base: Casebase) -> Floats:
    """The strategy of everybody in the records of a casebase, [4, CONTEXTS, CLASSES, moves]."""
    moves = RAISE + len(SIZES[BETTING[base.domain]])
    known = np.zeros((4, CONTEXTS, CLASSES, moves), np.int64)
    seen = np.zeros((4, CONTEXTS, moves), np.int64)
    for _, bodies in base.read_records(BATCH):
        played, terms = replay_bodies(bodies)
        _count(played.tables, terms, moves_of(played, moves), known, seen)
    return smoothed(known, seen)


def replay_bodies(bodies: Sequence[str]) -> tuple[Replayed, Ints]:
    """The decisions of some hands with their tables, and the terms of the game of each [m, ..]."""
    hands = HandArrays.read(bodies)
    played = replay_arrays(hands, keep_tables=True)
    place = np.zeros(len(bodies), np.int64)
    place[hands.place] = np.arange(len(hands.place))
    return played, hands.terms[place[played.hand]]


def moves_of(played: Replayed, moves: int) -> Ints:
    """Which move of the grid each decision was, [m]."""
    kind = _KINDS[played.action]
    sized: Ints = kind + np.where((kind == RAISE) & (moves > 3), np.maximum(played.size, 0), 0)
    return sized


@njit(cache=True)
def _count(tables: Any, terms: Any, move: Any, known: Any, seen: Any) -> None:
    hole, board, now = np.empty(2, np.uint8), np.empty(5, np.uint8), np.empty(3, np.int64)
    for i in range(len(tables)):
        r = tables[i]
        street, cell = r[STREET], context(r, terms[i])
        seen[street, cell, move[i]] += 1
        for card in range(2):
            hole[card] = r[HOLE + 2 * r[ACTOR] + card]
        if hole[0] < DECK and hole[1] < DECK:
            for card in range(5):
                board[card] = r[BOARD + card]
            which = hand_class(hole, board, BOARD_CARDS[street], now)
            known[street, cell, which, move[i]] += 1


def smoothed(known: Ints, seen: Ints) -> Floats:
    """Chances from counts of decisions with known cards [4, CONTEXTS, CLASSES, moves], and of all
    [4, CONTEXTS, moves]: each cell leans on its class in all contexts with the same to call."""
    moves = known.shape[-1]
    by_due = known.astype(np.float64).reshape(4, DUE, -1, CLASSES, moves)
    whole = _shares(by_due.sum(axis=(2, 3)) + 1.0)
    middle = _shares(by_due.sum(axis=2) + _LEAN * whole[:, :, None])
    chances = _shares(by_due + _LEAN * middle[:, :, None]).reshape(known.shape)
    if not known[..., FOLD].any():
        chances = _with_folds(chances, seen.astype(np.float64))
    free = slice(0, CONTEXTS // DUE)
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
