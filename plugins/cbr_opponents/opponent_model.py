"""The array form of an opponent model, and the chance of each move by it as compiled code.

Chances start from the move frequencies of the abstraction's cell, which boosted trees then refine
by features of the decision, of the hand, and of what was seen of the player. Every model that
compiled roll-outs and search can read has this one form, so they need no branch for each kind of
model. A best response to frequencies alone would exploit weaknesses that the players do not have,
because their play depends on more than the cell.

The trees of moves tell folds, calls and raises apart; trees of sizes tell the sizes of raises
apart, and do not depend on the hand.

The chances of one decision with many hands share most of the work: `begin_decision` does what does
not depend on the hand, `hand_chances` the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Floats
from cbr_holdem.table import ACTOR, CALL, FOLD, MOST_SEATS, PLAYERS, RAISE, STREET
from cbr_opponents.abstraction import (
    class_shares,
    context_given_raiser,
    hand_class,
    last_to_raise,
    shifted_strengths,
    strength_space,
)
from cbr_opponents.boosting import DEPTH, Trees
from cbr_opponents.decision_features import (
    F_FIELD_STRENGTH,
    F_PAIR_SUITED,
    F_POTENTIAL,
    F_STRENGTH,
    FEATURES,
    decision_features,
    hand_features,
)
from cbr_opponents.profiles import PROFILE, RAISER, raiser_features
from cbr_opponents.tilts import Tilt, tilt_raises

Bytes = NDArray[np.uint8]

#: Kinds of moves: FOLD, CALL, RAISE.
KINDS = RAISE + 1
#: Bytes of a decision: its features, those of the player's profile, those of the last raiser's.
COLUMNS = FEATURES + PROFILE + RAISER
_OF_HAND = (F_STRENGTH, F_POTENTIAL, F_FIELD_STRENGTH)


class SizeTrees(NamedTuple):
    """Trees of the sizes of raises: `feature` and `cut` [4, trees, DEPTH], `leaf` [4, trees,
    2^DEPTH, sizes], of which the first `trees` [4] of each street count."""

    feature: Bytes
    cut: Bytes
    leaf: NDArray[np.float32]
    trees: NDArray[np.int64]


class OpponentModel(NamedTuple):
    """How a player, or the players of a log, act.

    `grid` [4, CONTEXTS, CLASSES, moves] are chances by cell, and `average` [4, CONTEXTS, moves]
    those where the cards are unknown; `support` [4, CONTEXTS] is the number of decisions that they
    rest on. The first `trees` [4] boosted trees of each street refine them: `feature` and `cut`
    [4, trees, DEPTH], `leaf` [4, trees, 2^DEPTH, KINDS] as in `Trees`. The first `public` [4] of
    these count where the cards are unknown too. Trees without a feature of the hand come first,
    `plain` [4] of them; in the others such features are the last levels, after `shared` [4, trees]
    levels that do not depend on the hand. `sizes` are the trees of sizes in the same form, their
    leaves [.., sizes]. `stranger` [PROFILE] is the profile of a player who was not seen before.

    Players treat a strength as `shifted` [2, 256] says; then a share `calls_raised` of their calls
    are raises, and `raises_called` of their raises are calls.
    """

    grid: Floats
    average: Floats
    support: Floats
    feature: Bytes
    cut: Bytes
    leaf: NDArray[np.float32]
    trees: NDArray[np.int64]
    public: NDArray[np.int64]
    plain: NDArray[np.int64]
    shared: NDArray[np.int64]
    sizes: SizeTrees
    stranger: Bytes
    shifted: Bytes
    calls_raised: float
    raises_called: float

    @classmethod
    def of(
        cls,
        grid: Floats,
        trees: Sequence[Trees] = (),
        public: Sequence[Trees] = (),
        average: Floats | None = None,
        support: Floats | None = None,
        stranger: Bytes | None = None,
        sizes: Sequence[Trees] = (),
    ) -> OpponentModel:
        """A model without a tilt, from frequencies, the trees of each street, and before them the
        `public` ones, which have no features of hands. By default the average is that of all hands,
        as if each were equally likely."""
        none = no_trees(KINDS)
        together = [
            _arranged(street, one, two)
            for street, (one, two) in enumerate(
                zip(public or [none] * 4, trees or [none] * 4, strict=True)
            )
        ]
        most = max(len(one.feature) for one, _ in together)
        feature, cut = np.zeros((2, 4, most, DEPTH), np.uint8)
        leaf = np.zeros((4, most, 1 << DEPTH, KINDS), np.float32)
        shared = np.zeros((4, most), np.int64)
        count, plain = np.zeros((2, 4), np.int64)
        for street, (one, levels) in enumerate(together):
            count[street] = n = len(one.feature)
            feature[street, :n], cut[street, :n], leaf[street, :n] = one
            shared[street, :n] = levels
            plain[street] = (levels == DEPTH).sum()
        if average is None:
            shares = np.stack([class_shares(street) for street in range(4)])
            average = np.einsum("sc,sxcm->sxm", shares, grid)
        return cls(
            grid,
            average,
            np.zeros(grid.shape[:2]) if support is None else support,
            feature,
            cut,
            leaf,
            count,
            np.array([len(one.feature) for one in public or [none] * 4], np.int64),
            plain,
            shared,
            _stacked(sizes or [no_trees(grid.shape[-1] - RAISE)] * 4),
            np.zeros(PROFILE, np.uint8) if stranger is None else stranger,
            shifted_strengths(1.0),
            0.0,
            0.0,
        )

    def trees_of(self, street: int) -> Trees:
        """The trees of a street."""
        count = self.trees[street]
        leaf = self.leaf[street, :count].astype(np.float64)
        return Trees(self.feature[street, :count], self.cut[street, :count], leaf)

    def without_trees(self) -> OpponentModel:
        """The same players by the frequencies of the grid alone."""
        none = np.zeros_like(self.trees)
        return self._replace(
            trees=none, public=none, plain=none, sizes=self.sizes._replace(trees=none)
        )

    def tilted(self, tilt: Tilt) -> OpponentModel:
        """The same players with a tilt."""
        return self._replace(
            shifted=shifted_strengths(tilt.strength_factor),
            calls_raised=tilt.calls_raised,
            raises_called=tilt.raises_called,
        )


def no_trees(leaves: int) -> Trees:
    """No trees, with so many numbers in a leaf."""
    none = np.zeros((0, DEPTH), np.uint8)
    return Trees(none, none, np.zeros((0, 1 << DEPTH, leaves)))


def _stacked(trees: Sequence[Trees]) -> SizeTrees:
    count = np.array([len(one.feature) for one in trees], np.int64)
    feature, cut = np.zeros((2, 4, count.max(), DEPTH), np.uint8)
    leaf = np.zeros((4, count.max(), *trees[0].leaf.shape[1:]), np.float32)
    for street, one in enumerate(trees):
        n = count[street]
        feature[street, :n], cut[street, :n], leaf[street, :n] = one
    return SizeTrees(feature, cut, leaf, count)


def is_of_hand(street: int, feature: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether features, by number, depend on the player's hand on a street."""
    return np.isin(feature, [*_OF_HAND, *([F_PAIR_SUITED] if street == 0 else [])])


def _arranged(street: int, public: Trees, trees: Trees) -> tuple[Trees, NDArray[np.int64]]:
    """Trees in the order of `OpponentModel`, and the levels of each that need no hand."""
    feature, cut = (np.concatenate(both) for both in zip(public[:2], trees[:2], strict=True))
    leaf = np.concatenate([public.leaf, trees.leaf])
    of_hand = is_of_hand(street, feature)
    # Levels of the hand go last; the bits of the leaves' numbers follow.
    levels = np.argsort(of_hand, axis=1, kind="stable")
    number = np.arange(1 << DEPTH)
    was = np.zeros((len(levels), 1 << DEPTH), np.int64)
    for place in range(DEPTH):
        was |= (number >> place & 1) << levels[:, place, None]
    feature, cut = (np.take_along_axis(part, levels, 1) for part in (feature, cut))
    leaf = np.take_along_axis(leaf, was[:, :, None], 1)
    shared = DEPTH - of_hand.sum(axis=1)
    order = np.argsort(shared < DEPTH, kind="stable")
    return Trees(feature[order], cut[order], leaf[order]), shared[order]


class Workspace(NamedTuple):
    """Arrays that compiled code reuses for the decisions of one table after the other.

    Packed strengths `known` by seat and street [10, 4] (-1: not computed), and `cards` (hole [2],
    board [5] and counts [3]) to compute them with. `profiles` uint8 [10, PROFILE] of the seats. Of
    one decision: `features` uint8 [COLUMNS], `place` [3] (street, context, opponents), `sums` [3,
    KINDS] of the trees without features of the hand (for unknown cards, for known ones, with the
    hand), the part `leaf` [trees] of the leaves' numbers that is known without the hand, `sizes`
    [sizes] the factors of sizes by their trees, and `chances` [moves].
    """

    known: Any
    cards: Any
    profiles: Any
    features: Any
    place: Any
    sums: Any
    leaf: Any
    sizes: Any
    chances: Any


@njit
def workspace(model: OpponentModel) -> Any:
    """A `Workspace` for a model, with strangers in all seats."""
    known, cards = strength_space()
    profiles = np.empty((MOST_SEATS, PROFILE), np.uint8)
    profiles[:] = model.stranger
    moves = model.grid.shape[3]
    return Workspace(
        known,
        cards,
        profiles,
        np.zeros(COLUMNS, np.uint8),
        np.zeros(3, np.int64),
        np.zeros((3, KINDS)),
        np.zeros(model.feature.shape[1], np.int64),
        np.ones(moves - RAISE),
        np.empty(moves),
    )


@njit(inline="always")
def begin_decision(r: Any, terms: Any, model: OpponentModel, space: Workspace) -> None:
    """Compute what the chances of the actor's moves do not need its hand for."""
    street, raiser = r[STREET], last_to_raise(r)
    space.place[0], space.place[1] = street, context_given_raiser(r, terms, raiser)
    space.place[2] = r[PLAYERS] - 1
    if model.trees[street] or model.sizes.trees[street]:
        features = space.features
        decision_features(r, terms, raiser, np.int64(-1), features)
        features[FEATURES : FEATURES + PROFILE] = space.profiles[r[ACTOR]]
        if raiser >= 0:
            raiser_features(space.profiles[raiser], features[FEATURES + PROFILE :])
        else:
            features[FEATURES + PROFILE :] = 0
    _begin_trees(model, space)


# In the loops below arrays are indexed by numbers only: a slice, or an array taken out of a tuple,
# would cost the counting of a reference each time.


@njit(inline="always")
def _begin_trees(model: OpponentModel, space: Workspace) -> None:
    """Add up trees without the hand, and begin the leaves of those with it, by the features."""
    street, features, sums, begun = space.place[0], space.features, space.sums, space.leaf
    feature, cut, leaf, shared = model.feature, model.cut, model.leaf, model.shared
    public, plain = model.public[street], model.plain[street]
    fold, call, more = 0.0, 0.0, 0.0
    sums[0, FOLD] = sums[0, CALL] = sums[0, RAISE] = 0.0
    for tree in range(model.trees[street]):
        at = 0
        for level in range(shared[street, tree]):
            above = features[feature[street, tree, level]] > cut[street, tree, level]
            at |= int(above) << level
        if tree >= plain:
            begun[tree] = at
        else:
            fold += leaf[street, tree, at, FOLD]
            call += leaf[street, tree, at, CALL]
            more += leaf[street, tree, at, RAISE]
        if tree + 1 == public:
            sums[0, FOLD], sums[0, CALL], sums[0, RAISE] = fold, call, more
    sums[1, FOLD], sums[1, CALL], sums[1, RAISE] = fold, call, more
    if len(space.sizes) > 1:
        _size_factors(street, features, model.sizes, space.sizes)


@njit
def _size_factors(street: Any, features: Any, trees: SizeTrees, out: Any) -> None:
    """What the trees of sizes multiply the chance of each size by, into `out` [sizes]."""
    feature, cut, leaf = trees.feature, trees.cut, trees.leaf
    out[:] = 0.0
    for tree in range(trees.trees[street]):
        at = 0
        for level in range(DEPTH):
            above = features[feature[street, tree, level]] > cut[street, tree, level]
            at |= int(above) << level
        for size in range(len(out)):
            out[size] += leaf[street, tree, at, size]
    for size in range(len(out)):
        out[size] = np.exp(out[size])


@njit(inline="always")
def _add_hand_trees(model: OpponentModel, space: Workspace) -> None:
    """Add the trees with features of the hand to the others, by the features."""
    street, features, sums, begun = space.place[0], space.features, space.sums, space.leaf
    feature, cut, leaf, shared = model.feature, model.cut, model.leaf, model.shared
    fold, call, more = sums[1, FOLD], sums[1, CALL], sums[1, RAISE]
    for tree in range(model.plain[street], model.trees[street]):
        at = begun[tree]
        for level in range(shared[street, tree], DEPTH):
            above = features[feature[street, tree, level]] > cut[street, tree, level]
            at |= int(above) << level
        fold += leaf[street, tree, at, FOLD]
        call += leaf[street, tree, at, CALL]
        more += leaf[street, tree, at, RAISE]
    sums[2, FOLD], sums[2, CALL], sums[2, RAISE] = fold, call, more


@njit(inline="always")
def hand_chances(strength: Any, model: OpponentModel, space: Workspace) -> None:
    """The chance of each move with a hand of this packed strength, into `space.chances`, after
    `begin_decision`; -1 stands for unknown cards."""
    street, at, opponents = space.place
    if strength < 0:
        _shares(model.average[street, at], space.sums[0], space.sizes, space.chances)
    else:
        strength = np.int64(model.shifted[min(street, 1), strength & 255]) | strength & ~255
        hand_features(street, opponents, strength, space.features)
        _add_hand_trees(model, space)
        cell = model.grid[street, at, hand_class(street, strength)]
        _shares(cell, space.sums[2], space.sizes, space.chances)
    if model.calls_raised > 0.0 or model.raises_called > 0.0:
        tilt_raises(space.chances, model.calls_raised, model.raises_called)


@njit(inline="always")
def _shares(cell: Any, log: Any, sizes: Any, out: Any) -> None:
    """Chances of a cell [moves] after trees, into `out`: the `log` [KINDS] of what trees multiply
    folds, calls and raises by, and the factors of sizes."""
    often, weighted = 0.0, 0.0
    for size in range(len(sizes)):
        often += cell[RAISE + size]
        weighted += cell[RAISE + size] * sizes[size]
    out[FOLD] = cell[FOLD] * np.exp(log[FOLD])
    out[CALL] = cell[CALL] * np.exp(log[CALL])
    raising = often * np.exp(log[RAISE])
    total = out[FOLD] + out[CALL] + raising
    out[FOLD] /= total
    out[CALL] /= total
    raising /= total * weighted if weighted > 0.0 else 1.0
    for size in range(len(sizes)):
        out[RAISE + size] = raising * cell[RAISE + size] * sizes[size]


@njit
def move_chances(r: Any, terms: Any, strength: Any, model: OpponentModel, space: Workspace) -> None:
    """The chance of each move of the actor with a hand of this packed strength (-1: unknown), into
    `space.chances`."""
    begin_decision(r, terms, model, space)
    hand_chances(strength, model, space)


@njit
def described_chances(
    place: Any, features: Any, held: Any, model: OpponentModel, space: Any, out: Any
) -> None:
    """Chances of moves [n, moves] of decisions given by street and context, `place` [n, 2], their
    features [n, COLUMNS], and the hand class `held` [n], -1 where the cards are unknown.

    The same numbers as `move_chances` gives at the tables; it serves to test a model on a log."""
    for i in range(len(place)):
        street, at = place[i, 0], place[i, 1]
        space.features[:] = features[i]
        space.place[0], space.place[1] = street, at
        _begin_trees(model, space)
        if held[i] < 0:
            _shares(model.average[street, at], space.sums[0], space.sizes, out[i])
        else:
            _add_hand_trees(model, space)
            _shares(model.grid[street, at, held[i]], space.sums[2], space.sizes, out[i])
