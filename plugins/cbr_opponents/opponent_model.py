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
from cbr.typing import Floats, Ints
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
from cbr_opponents.profiles import OF_PLAYER, PROFILE, RAISER, player_features, situation_of
from cbr_opponents.tilts import Tilt, tilt_raises
from cbr_opponents.tree_bits import MOST_TREES, QuickTrees, known_leaves, late_leaves
from cbr_opponents.tree_code import PAIR, add_leaves

Bytes = NDArray[np.uint8]

#: Kinds of moves: FOLD, CALL, RAISE.
KINDS = RAISE + 1
#: Bytes of a decision: its features, those of the player's profile, those of the last raiser's.
COLUMNS = FEATURES + OF_PLAYER + RAISER
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
    `plain` [4] of them. `sizes` are the trees of sizes in the same form, their
    leaves [.., sizes]. `quick` are all these trees once more, as compiled code evaluates them
    (`quick_trees`). `stranger` [PROFILE] is the profile of a player who was not seen before.

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
    sizes: SizeTrees
    quick: QuickTrees
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
        count, plain = np.zeros((2, 4), np.int64)
        for street, (one, without_hand) in enumerate(together):
            count[street] = n = len(one.feature)
            feature[street, :n], cut[street, :n], leaf[street, :n] = one
            plain[street] = without_hand
        if average is None:
            shares = np.stack([class_shares(street) for street in range(4)])
            average = np.einsum("sc,sxcm->sxm", shares, grid)
        before = np.array([len(one.feature) for one in public or [none] * 4], np.int64)
        of_sizes = _stacked(sizes or [no_trees(grid.shape[-1] - RAISE)] * 4)
        return cls(
            grid,
            average,
            np.zeros(grid.shape[:2]) if support is None else support,
            feature,
            cut,
            leaf,
            count,
            before,
            plain,
            of_sizes,
            quick_trees(feature, cut, leaf, count, of_sizes),
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

    @property
    def reads_hands(self) -> bool:
        """Whether chances depend on the hand at all: search need not compute it otherwise."""
        return bool(np.ptp(self.grid, axis=2).any() or (self.plain < self.trees).any())

    def without_trees(self) -> OpponentModel:
        """The same players by the frequencies of the grid alone."""
        none = np.zeros_like(self.trees)
        sizes = self.sizes._replace(trees=none)
        quick = quick_trees(self.feature, self.cut, self.leaf, none, sizes)
        return self._replace(trees=none, public=none, plain=none, sizes=sizes, quick=quick)

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


def quick_trees(
    feature: Bytes, cut: Bytes, leaf: NDArray[np.float32], trees: Ints, sizes: SizeTrees
) -> QuickTrees:
    """The trees of a model, of which the first `trees` [4] count, as they are evaluated."""
    late = np.stack([is_of_hand(street, np.arange(COLUMNS)) for street in range(4)])
    return QuickTrees.of(feature, cut, leaf, trees, sizes, late)


def is_of_hand(street: int, feature: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether features, by number, depend on the player's hand on a street."""
    return np.isin(feature, [*_OF_HAND, *([F_PAIR_SUITED] if street == 0 else [])])


def _arranged(street: int, public: Trees, trees: Trees) -> tuple[Trees, int]:
    """Trees in the order of `OpponentModel`, and the number of those without a hand's features."""
    feature = np.concatenate([public.feature, trees.feature])
    cut = np.concatenate([public.cut, trees.cut])
    leaf = np.concatenate([public.leaf, trees.leaf])
    of_hand = is_of_hand(street, feature).any(axis=1)
    order = np.argsort(of_hand, kind="stable")
    return Trees(feature[order], cut[order], leaf[order]), int((~of_hand).sum())


class Workspace(NamedTuple):
    """Arrays that compiled code reuses for the decisions of one table after the other.

    Packed strengths `known` by seat and street [10, 4] (-1: not computed), and `cards` (hole [2],
    board [5] and counts [3]) to compute them with. `profiles` uint8 [10, PROFILE] of the seats. Of
    one decision: `features` uint8 [COLUMNS], `place` [3] (street, context, opponents), `leaves`
    uint8 [2, MOST_TREES] of the trees without the hand and with it, `sums` [3, 2] of the trees
    (those for unknown cards, all without features of the hand, all): logarithms of what they
    multiply folds, and raises, by rather than calls, `sizes` [sizes] the factors of sizes by their
    trees, and `chances` [moves].
    """

    known: Any
    cards: Any
    profiles: Any
    features: Any
    place: Any
    leaves: Any
    sums: Any
    sizes: Any
    chances: Any


@njit
def workspace(model: OpponentModel) -> Any:
    """A `Workspace` for a model, with strangers in all seats."""
    known, cards = strength_space()
    profiles = np.empty((MOST_SEATS, PROFILE), np.uint8)
    for seat in range(MOST_SEATS):
        for column in range(PROFILE):  # a slice would bring in numba's messages of shapes
            profiles[seat, column] = model.stranger[column]
    moves = model.grid.shape[3]
    return Workspace(
        known,
        cards,
        profiles,
        np.zeros(COLUMNS, np.uint8),
        np.zeros(3, np.int64),
        np.zeros((2, MOST_TREES), np.uint8),
        np.zeros((3, PAIR)),
        np.ones(moves - RAISE),
        np.empty(moves),
    )


@njit(allocates=False, forceinline=True)
def begin_decision(r: Any, terms: Any, model: OpponentModel, space: Workspace) -> None:
    """Compute what the chances of the actor's moves do not need its hand for."""
    street, raiser = r[STREET], last_to_raise(r)
    space.place[0], space.place[1] = street, context_given_raiser(r, terms, raiser)
    space.place[2] = r[PLAYERS] - 1
    if model.trees[street] or model.sizes.trees[street]:
        features = space.features
        decision_features(r, terms, raiser, np.int64(-1), features)
        player_features(space.profiles, r[ACTOR], raiser, situation_of(r, features), features)
    _begin_trees(model, space)


@njit(allocates=False, forceinline=True)
def _begin_trees(model: OpponentModel, space: Workspace) -> None:
    """Add up the trees without features of the hand."""
    street, sums, leaves = space.place[0], space.sums, space.leaves[0]
    if len(space.sizes) > 1:
        _size_factors(street, space.features, model, leaves, space.sizes)
    known_leaves(street, model.quick.moves, space.features, leaves)
    leaf, public = model.quick.pairs[street], model.public[street]
    sums[0] = 0.0
    add_leaves(leaf, leaves, 0, public, sums[0])
    sums[1, 0], sums[1, 1] = sums[0, 0], sums[0, 1]
    add_leaves(leaf, leaves, public, model.plain[street], sums[1])


@njit(allocates=False)
def _size_factors(street: Any, features: Any, model: OpponentModel, leaves: Any, out: Any) -> None:
    """What the trees of sizes multiply the chance of each size by, into `out` [sizes]; `leaves`
    is working space."""
    known_leaves(street, model.quick.sizes, features, leaves)
    leaf = model.sizes.leaf[street]
    out[:] = 0.0
    for tree in range(model.sizes.trees[street]):
        for size in range(len(out)):
            out[size] += leaf[tree, leaves[tree], size]
    for size in range(len(out)):
        out[size] = np.exp(out[size])


@njit(allocates=False, forceinline=True)
def hand_chances(strength: Any, model: OpponentModel, space: Workspace) -> None:
    """The chance of each move with a hand of this packed strength, into `space.chances`, after
    `begin_decision`; -1 stands for unknown cards."""
    street = space.place[0]
    if strength < 0:
        _unknown_hand_chances(model, space)
    else:
        strength = np.int64(model.shifted[min(street, 1), strength & 255]) | strength & ~255
        if model.plain[street] < model.trees[street]:
            hand_features(street, space.place[2], strength, space.features)
        _known_hand_chances(hand_class(street, strength), model, space)
    if model.calls_raised > 0.0 or model.raises_called > 0.0:
        tilt_raises(space.chances, model.calls_raised, model.raises_called)


@njit(allocates=False, forceinline=True)
def _unknown_hand_chances(model: OpponentModel, space: Workspace) -> None:
    street, at, chances = space.place[0], space.place[1], space.chances
    for move in range(len(chances)):
        chances[move] = model.average[street, at, move]
    _refine(0, space)


@njit(allocates=False, forceinline=True)
def _known_hand_chances(held: Any, model: OpponentModel, space: Workspace) -> None:
    """With a hand of class `held`, whose features are known."""
    street, at, chances, sums = space.place[0], space.place[1], space.chances, space.sums
    sums[2, 0], sums[2, 1] = sums[1, 0], sums[1, 1]
    first, end = model.plain[street], model.trees[street]
    if first < end:
        known, leaves = space.leaves[0], space.leaves[1]
        late_leaves(street, first, model.quick.moves, space.features, known, leaves)
        add_leaves(model.quick.pairs[street], leaves, first, end, sums[2])
    for move in range(len(chances)):
        chances[move] = model.grid[street, at, held, move]
    _refine(2, space)


@njit(allocates=False, forceinline=True)
def _refine(row: Any, space: Workspace) -> None:
    """Refine the chances of a cell by trees: by a row of `sums`, and by the factors of
    sizes."""
    chances, sums, sizes = space.chances, space.sums, space.sizes
    often, weighted = 0.0, 0.0
    for size in range(len(sizes)):
        often += chances[RAISE + size]
        weighted += chances[RAISE + size] * sizes[size]
    fold, call = chances[FOLD] * _factor(sums[row, 0]), chances[CALL]
    raising = often * _factor(sums[row, 1])
    total = fold + call + raising
    chances[FOLD], chances[CALL] = fold / total, call / total
    raising /= total * weighted if weighted > 0.0 else 1.0
    for size in range(len(sizes)):
        chances[RAISE + size] = raising * chances[RAISE + size] * sizes[size]


@njit(allocates=False, forceinline=True)
def _factor(log: Any) -> Any:
    return 1.0 if log == 0.0 else np.exp(log)  # without trees it is 0


@njit(allocates=False, forceinline=True)
def move_chances(r: Any, terms: Any, strength: Any, model: OpponentModel, space: Workspace) -> None:
    """The chance of each move of the actor with a hand of this packed strength (-1: unknown), into
    `space.chances`."""
    begin_decision(r, terms, model, space)
    hand_chances(strength, model, space)


@njit(allocates=False)
def described_chances(
    place: Any, features: Any, held: Any, model: OpponentModel, space: Any, out: Any
) -> None:
    """Chances of moves [n, moves] of decisions given by street and context, `place` [n, 2], their
    features [n, COLUMNS], and the hand class `held` [n], -1 where the cards are unknown.

    The same numbers as `move_chances` gives at the tables; it serves to test a model on a log."""
    for i in range(len(place)):
        for column in range(COLUMNS):
            space.features[column] = features[i, column]
        space.place[0], space.place[1] = place[i, 0], place[i, 1]
        _begin_trees(model, space)
        if held[i] < 0:
            _unknown_hand_chances(model, space)
        else:
            _known_hand_chances(held[i], model, space)
        for move in range(out.shape[1]):
            out[i, move] = space.chances[move]
