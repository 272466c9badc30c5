"""Hand strength on a board: strength now, potential, and expected strength on the river.

All values are exact. W, T and L count the opponents' hands that we beat, tie with and lose to now,
and R the run-outs for each of them (flop to river 990, flop to turn 45, turn to river 44):

    HS    = (W + T/2) / (W + T + L)            against one opponent
    IHS   = HS^n                               against n of them
    PPOT  = (behind->ahead + behind->tied/2 + tied->ahead/2) / (R (L + T/2))
    NPOT  = (ahead->behind + ahead->tied/2 + tied->behind/2) / (R (W + T/2))
    EHS   = HS^n + (1 - HS^n) PPOT
    E[HS], E[HS2] = mean over run-outs of the river's HS, and of its square

A potential with a denominator of 0 is 0. Sources: Billings et al.; CASPER 3.2.2, whose printed
pseudo-code leaves out R. HS (1 - NPOT) + (1 - HS) PPOT is the equity against one random hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue
from cbr.jit import njit
from cbr_holdem.cards.numbering import HANDS, Cards, cards, names, verify_distinct
from cbr_holdem.chance import mixed
from cbr_holdem.strength.kernel import (
    AHEAD,
    BEHIND,
    TIED,
    count_later,
    count_now,
    strength_of_counts,
)

#: Columns of a batch of strengths, and their places.
COLUMNS = ("hs", "ppot", "npot", "ppot1", "npot1", "e_hs", "e_hs2")
_HS, _PPOT, _NPOT, _PPOT1, _NPOT1, _E_HS, _E_HS2 = range(len(COLUMNS))


@dataclass(frozen=True)
class Strength:
    """Strength of one hand on one board. `ppot` and `npot` look two cards ahead on the flop and one
    on the turn, `ppot1` and `npot1` always one; on the river they are NaN."""

    wins: int
    ties: int
    losses: int
    hs: float
    ppot: float
    npot: float
    ppot1: float
    npot1: float
    e_hs: float
    e_hs2: float

    def ihs(self, opponents: int = 1) -> float:
        """Chance to be ahead of all opponents now, as if their hands were independent."""
        return float(self.hs**opponents)

    def ehs(self, opponents: int = 1) -> float:
        """Effective hand strength: chance to be ahead now or to get ahead."""
        now = self.ihs(opponents)
        return now if np.isnan(self.ppot) else now + (1 - now) * self.ppot


@njit
def _potential(now: Any, matrix: Any, runouts: Any) -> Any:
    behind = runouts * (now[BEHIND] + now[TIED] / 2)
    ahead = runouts * (now[AHEAD] + now[TIED] / 2)
    positive = matrix[BEHIND, AHEAD] + matrix[BEHIND, TIED] / 2 + matrix[TIED, AHEAD] / 2
    negative = matrix[AHEAD, BEHIND] + matrix[AHEAD, TIED] / 2 + matrix[TIED, BEHIND] / 2
    return positive / behind if behind else 0.0, negative / ahead if ahead else 0.0


@njit
def _measure(hole: Any, board: Any, now: Any, row: Any) -> None:
    """Fill now [3] and row [7] (as COLUMNS) for one hand."""
    count_now(hole, board, now)
    hs = strength_of_counts(now)
    row[_HS] = hs
    if len(board) == 5:
        row[_PPOT] = row[_NPOT] = row[_PPOT1] = row[_NPOT1] = np.nan
        row[_E_HS] = hs
        row[_E_HS2] = hs * hs
        return
    matrix = np.zeros((3, 3), np.int64)
    moments = np.zeros(2)
    if len(board) == 3:
        count_later(hole, board, 1, matrix, moments)
        row[_PPOT1], row[_NPOT1] = _potential(now, matrix, 45)
        matrix[:] = 0
        moments[:] = 0
        count_later(hole, board, 2, matrix, moments)
        row[_PPOT], row[_NPOT] = _potential(now, matrix, 990)
    else:
        count_later(hole, board, 1, matrix, moments)
        row[_PPOT], row[_NPOT] = _potential(now, matrix, 44)
        row[_PPOT1], row[_NPOT1] = row[_PPOT], row[_NPOT]
    # On every river there are 990 opponents' hands, and moments sum 2 ahead + tied.
    runouts = matrix.sum() / 990
    row[_E_HS] = moments[0] / (2 * 990 * runouts)
    row[_E_HS2] = moments[1] / (4 * 990 * 990 * runouts)


@njit
def _measure_all(holes: Any, boards: Any, out: Any) -> None:
    now = np.empty(3, np.int64)
    for i in range(len(holes)):
        _measure(holes[i], boards[i], now, out[i])


def strength_of(hole: str | list[int], board: str | list[int]) -> Strength:
    """Strength of one hand on a flop, turn or river.

    >>> round(strength_of("AdQc", "3h 4c Jh").ppot, 6)
    0.208324
    """
    own = cards(hole, "hand") if isinstance(hole, str) else list(hole)
    table = cards(board, "board") if isinstance(board, str) else list(board)
    verify_position(own, table)
    now, row = np.empty(3, np.int64), np.empty(len(COLUMNS))
    _measure(np.array(own, np.uint8), np.array(table, np.uint8), now, row)
    return Strength(*now.tolist(), *row.tolist())


def strengths(holes: Cards, boards: Cards) -> NDArray[np.float64]:
    """Strengths [n, 7], columns as `COLUMNS`, of holes [n, 2] on boards [n, 3..5]."""
    holes, boards = np.ascontiguousarray(holes, np.uint8), np.ascontiguousarray(boards, np.uint8)
    if holes.ndim != 2 or holes.shape[1] != 2 or boards.ndim != 2 or len(boards) != len(holes):
        raise BadValue(
            f"holes {holes.shape} and boards {boards.shape} must be (n, 2) and (n, 3..5)"
        )
    if boards.shape[1] not in (3, 4, 5):
        raise BadValue(f"a board has 3, 4 or 5 cards, not {boards.shape[1]}")
    together = np.sort(np.concatenate([holes, boards], axis=1), axis=1)
    wrong = (together[:, 1:] == together[:, :-1]).any(axis=1) | (together[:, -1] > 51)
    if wrong.any():
        raise BadValue(f"row {int(wrong.argmax())} has a card twice, or a number above 51")
    out = np.empty((len(holes), len(COLUMNS)))
    _measure_all(holes, boards, out)
    return out


def hand_strengths(holes: Cards, boards: Cards, shown: NDArray[np.int64]) -> NDArray[np.float64]:
    """Hand strength HS [n] of holes [n, 2] on boards [n, 5] of which the first `shown` [n] cards
    count; NaN before the flop. Cards must be known and distinct. Equal hands on equal boards, as in
    duplicate matches, are computed once."""
    out = np.empty(len(holes))
    holes, boards = np.ascontiguousarray(holes), np.ascontiguousarray(boards)
    _stand_all(holes, boards, shown, out)
    return out


@njit
def _stand_all(holes: Any, boards: Any, shown: Any, out: Any) -> None:
    now = np.empty(3, np.int64)
    size = 16
    while size < 2 * len(holes):
        size *= 2
    first = np.full(size, -1, np.int64)  # hash table of the rows where each hand comes first
    keys = np.empty(len(holes), np.int64)
    for i in range(len(holes)):
        if shown[i] < 3:
            out[i] = np.nan
            continue
        key = np.int64(holes[i, 0]) << 6 | np.int64(holes[i, 1])
        for card in range(shown[i]):
            key = key << 6 | np.int64(boards[i, card])
        keys[i] = key
        at = np.int64(mixed(np.uint64(key)) >> np.uint64(40)) & (size - 1)
        while first[at] >= 0 and keys[first[at]] != key:
            at = (at + 1) & (size - 1)
        if first[at] >= 0:
            out[i] = out[first[at]]
            continue
        first[at] = i
        count_now(holes[i], boards[i, : shown[i]], now)
        out[i] = strength_of_counts(now)


def board_strengths(board: str | list[int]) -> NDArray[np.float64]:
    """Strengths [1326, 7] of all `HANDS` on a board; NaN for hands that share a card with it."""
    table = cards(board, "board") if isinstance(board, str) else list(board)
    out = np.full((len(HANDS), len(COLUMNS)), np.nan)
    free = ~np.isin(HANDS, table).any(axis=1)
    boards = np.tile(np.array(table, np.uint8), (int(free.sum()), 1))
    out[free] = strengths(HANDS[free], boards)
    return out


def verify_position(hole: list[int], board: list[int]) -> None:
    """Check that these are a hand and a board from the flop on, without a card twice."""
    if len(hole) != 2:
        raise BadValue(f"a hand has 2 cards, not {len(hole)} ({names(hole)})")
    if len(board) not in (3, 4, 5):
        raise BadValue(f"a board has 3, 4 or 5 cards, not {len(board)} ({names(board)})")
    verify_distinct([*hole, *board], "hand and board")
