"""Ranges: the posterior over the 1,326 hands that a player may hold, given the moves made.

By Bayes' rule each move multiplies the weight of a hand by the chance that the opponent model gives
the move with that hand. Weights are relative: the likeliest hand has weight 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
from cbr_holdem.cards import HANDS
from cbr_opponents.abstraction import packed_strength
from cbr_opponents.opponent_model import OpponentModel, move_chances

_COUNT = len(HANDS)
#: The least weight of a hand, so that no hand is ruled out. With a larger one the many unlikely
#: hands would add up, and every raise would look like a bluff.
_FLOOR = 1e-4
#: Packed strengths are below this.
STRENGTHS = 1 << 16


@njit
def hand_strengths(board: Any, shown: Any, out: Any) -> None:
    """The packed strength of every hand on a board uint8 [5] with `shown` cards, into `out` [1326];
    -1 where the hand shares a card with the board."""
    hole, counts = np.empty(2, np.uint8), np.empty(3, np.int64)
    for h in range(_COUNT):
        hole[0], hole[1] = HANDS[h, 0], HANDS[h, 1]
        free = True
        for place in range(shown):
            free &= board[place] != hole[0] and board[place] != hole[1]
        out[h] = packed_strength(hole, board, shown, counts) if free else -1


@njit
def update_range(
    weights: Any,
    strengths: Any,
    r: Any,
    terms: Any,
    move: Any,
    model: OpponentModel,
    known: Any,
    space: Any,
) -> None:
    """Multiply the weights [1326] of the actor's hands by the likelihood of its move.

    `strengths` [1326] are those of `hand_strengths`. Hands of the same strength have the same
    chances, so they are computed once for each: `known` [STRENGTHS] caches them, and is -1
    everywhere before and after.
    `space` is a `simulation.Workspace`.
    """
    most = 0.0
    for h in range(_COUNT):
        strength = strengths[h]
        if strength >= 0:
            if known[strength] < 0.0:
                move_chances(r, terms, strength, model, space.features, space.chances)
                known[strength] = space.chances[move]
            weights[h] *= known[strength]
            most = max(most, weights[h])
        else:
            weights[h] = 0.0
    for h in range(_COUNT):
        if strengths[h] >= 0:
            known[strengths[h]] = -1.0
            weights[h] = max(_FLOOR, weights[h] / most) if most > 0.0 else 1.0
