"""Features of the texture of boards (van der Kleij, appendix B).

average_rank   mean rank of the board cards, deuce 0 to ace 12
highest        rank of the highest card
same_suit      most cards of one suit
same_rank      most cards of one rank
high_cards     different ranks from jack up
straights      share of all possible hole cards that make a straight with the board
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit

COLUMNS = ("average_rank", "highest", "same_suit", "same_rank", "high_cards", "straights")
_AVERAGE_RANK, _HIGHEST, _SAME_SUIT, _SAME_RANK, _HIGH_CARDS, _STRAIGHTS = range(len(COLUMNS))


def _with_straights() -> NDArray[np.bool_]:
    """For every set of ranks, as bits, whether it has a straight (the ace is high and low)."""
    sets = np.arange(1 << 13)
    with_low_ace = (sets << 1) | (sets >> 12)
    found = np.zeros(len(sets), bool)
    for low in range(10):
        found |= (with_low_ace >> low) & 31 == 31
    return found


_STRAIGHT = _with_straights()


@njit
def _texture(board: Any, shown: Any, out: Any) -> None:
    suits = np.zeros(4, np.int64)
    ranks = np.zeros(13, np.int64)
    total = 0
    for place in range(shown):
        suits[board[place] & 3] += 1
        ranks[board[place] >> 2] += 1
        total += board[place] >> 2
    mask = 0
    highest = 0
    high = 0
    for rank in range(13):
        if ranks[rank]:
            mask |= 1 << rank
            highest = rank
            high += rank >= 9
    hands = 0
    for a in range(13):
        for b in range(a, 13):
            if _STRAIGHT[mask | (1 << a) | (1 << b)]:
                left = 4 - ranks[a]
                hands += left * (left - 1) // 2 if a == b else left * (4 - ranks[b])
    cards = 52 - shown
    out[_AVERAGE_RANK] = total / shown
    out[_HIGHEST] = highest
    out[_SAME_SUIT] = suits.max()
    out[_SAME_RANK] = ranks.max()
    out[_HIGH_CARDS] = high
    out[_STRAIGHTS] = hands / (cards * (cards - 1) // 2)


@njit
def _texture_all(boards: Any, shown: Any, out: Any) -> None:
    for i in range(len(boards)):
        if shown[i]:
            _texture(boards[i], shown[i], out[i])
        else:
            out[i] = np.nan


def texture(boards: NDArray[Any], shown: NDArray[np.int64]) -> NDArray[np.float64]:
    """Columns [n, 6] of boards [n, 5], of which the first `shown` [n] cards count; NaN for 0."""
    out = np.empty((len(boards), len(COLUMNS)))
    _texture_all(np.asarray(boards), np.asarray(shown, np.int64), out)
    return out
