"""The opponent model: the chance of each move, given the table and the player's hand.

Chances start from the move frequencies of the abstraction's cell, which boosted trees then refine
by features of the decision. A best response to frequencies alone would exploit weaknesses that the
players do not have, because their play depends on more than the cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Floats
from cbr_holdem.table import STREET
from cbr_opponents.abstraction import (
    context_given_raiser,
    hand_class,
    last_to_raise,
    shifted_strengths,
)
from cbr_opponents.boosting import DEPTH, Trees, leaf_of
from cbr_opponents.decision_features import decision_features
from cbr_opponents.tilts import Tilt, tilt_raises

Bytes = NDArray[np.uint8]


class OpponentModel(NamedTuple):
    """How a player, or the players of a log, act.

    `grid` [4, CONTEXTS, CLASSES, moves] are chances by cell. The first `trees` [4] boosted trees of
    each street refine them: `feature` and `cut` [4, trees, DEPTH], `leaf` [4, trees, 2^DEPTH,
    moves] as in `Trees`. Players treat a strength as `shifted` [2, 256] says; then a share
    `calls_raised` of their calls are raises, and `raises_called` of their raises are calls.
    """

    grid: Floats
    feature: Bytes
    cut: Bytes
    leaf: NDArray[np.float32]
    trees: NDArray[np.int64]
    shifted: Bytes
    calls_raised: float
    raises_called: float

    @classmethod
    def of(cls, grid: Floats, trees: Sequence[Trees] = ()) -> OpponentModel:
        """A model without a tilt, from frequencies and the trees of each street."""
        most = max((len(one.feature) for one in trees), default=0)
        feature, cut = np.zeros((2, 4, most, DEPTH), np.uint8)
        leaf = np.zeros((4, most, 1 << DEPTH, grid.shape[-1]), np.float32)
        count = np.zeros(4, np.int64)
        for street, one in enumerate(trees):
            count[street] = n = len(one.feature)
            feature[street, :n], cut[street, :n], leaf[street, :n] = one
        return cls(grid, feature, cut, leaf, count, shifted_strengths(1.0), 0.0, 0.0)

    def trees_of(self, street: int) -> Trees:
        """The trees of a street."""
        count = self.trees[street]
        leaf = self.leaf[street, :count].astype(np.float64)
        return Trees(self.feature[street, :count], self.cut[street, :count], leaf)

    def without_trees(self) -> OpponentModel:
        """The same players by the frequencies of the grid alone."""
        return self._replace(trees=np.zeros_like(self.trees))

    def tilted(self, tilt: Tilt) -> OpponentModel:
        """The same players with a tilt."""
        return self._replace(
            shifted=shifted_strengths(tilt.strength_factor),
            calls_raised=tilt.calls_raised,
            raises_called=tilt.raises_called,
        )


@njit
def move_chances(
    r: Any, terms: Any, strength: Any, model: OpponentModel, features: Any, out: Any
) -> None:
    """The chance of each move of the actor with a hand of this packed strength, into `out` [moves];
    `features` uint8 [FEATURES] is working space."""
    street, raiser = r[STREET], last_to_raise(r)
    strength = np.int64(model.shifted[min(street, 1), strength & 255]) | strength & ~255
    cell = model.grid[street, context_given_raiser(r, terms, raiser), hand_class(street, strength)]
    moves = len(out)
    out[:] = 0.0
    if model.trees[street]:
        decision_features(r, terms, raiser, strength, features)
        for tree in range(model.trees[street]):
            at = leaf_of(features, model.feature[street, tree], model.cut[street, tree])
            for move in range(moves):
                out[move] += model.leaf[street, tree, at, move]
    total = 0.0
    for move in range(moves):
        out[move] = cell[move] * np.exp(out[move])
        total += out[move]
    for move in range(moves):
        out[move] /= total
    if model.calls_raised > 0.0 or model.raises_called > 0.0:
        tilt_raises(out, model.calls_raised, model.raises_called)
