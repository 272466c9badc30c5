"""Situations in which players differ: oblivious trees, found once for all clusters.

A tree splits the decisions of a street into 32 situations. Its cuts are those after which the moves
of single players, each with an effect of its own in each situation, are explained best: the gain of
a cut is the sum over players of G^2 / (H + shrinkage), G and H being gradient and curvature of the
log-likelihood of the player's moves in a situation. So the trees do not tell how people play, which
the shared model knows already, but where they part. Clusters then differ in the effects alone: a
number for each move in each leaf.

What holds for moves (fold, call, raise) holds for the sizes of raises: both are `Choices`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Floats, Ints
from cbr_opponents import DEPTH

#: Leaves of a tree.
LEAVES = 1 << DEPTH
#: Players by whom the situations are found: those with the most decisions of a street.
_PLAYERS = 250
#: Most decisions that one tree is fitted to, and the fewest that trees are fitted to at all.
_ROWS, _FEWEST = 120_000, 300
#: Most classes of values of a feature between which cuts are tried.
_BINS = 24
#: Curvature added to that of a player in a situation, which shrinks its effect towards 0.
_SHRINKAGE = 12.0


class Choices(NamedTuple):
    """Choices among several moves on one street: `features` [n, columns], the one that was `made`
    [n], the `player` [n], and the logarithms of their chances by a shared model, `log` [n, m]."""

    features: NDArray[np.uint8]
    made: Ints
    player: Ints
    log: Floats

    def take(self, places: NDArray[Any]) -> Choices:
        """The choices at these places, or where a mask is true."""
        parts: list[Any] = [part[places] for part in self]
        return Choices(*parts)


class Situations(NamedTuple):
    """Trees: at each level a `feature` above the `cut` [trees, DEPTH] sets a bit of the leaf."""

    feature: NDArray[np.uint8]
    cut: NDArray[np.uint8]

    def leaves(self, features: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The leaf of each decision in each tree, [n, trees]."""
        out = np.zeros((len(features), len(self.feature)), np.uint8)
        _leaves(features, self.feature, self.cut, out)
        return out


def differences(choices: Choices, usable: Ints, trees: int) -> Situations:
    """The situations in which the players of some choices differ most, by so many trees that split
    on the `usable` features."""
    none = np.zeros((0, DEPTH), np.uint8)
    often = np.argsort(-np.bincount(choices.player), kind="stable")[:_PLAYERS]
    some = choices.take(np.flatnonzero(np.isin(choices.player, often)))
    if len(some.made) < _FEWEST:
        return Situations(none, none)
    if len(some.made) > _ROWS:
        chosen = np.random.default_rng(0).choice(len(some.made), _ROWS, replace=False)
        some = some.take(np.sort(chosen))
    some = some.take(np.argsort(some.player, kind="stable"))
    first = np.flatnonzero(np.diff(some.player, prepend=-1))
    bounds = np.append(first, len(some.made)).astype(np.int64)
    cuts = [_cuts(some.features[:, which]) for which in usable]
    binned = np.empty((len(usable), len(some.made)), np.uint8)
    for at, (which, cut) in enumerate(zip(usable, cuts, strict=True)):
        binned[at] = np.searchsorted(cut, some.features[:, which])
    bins = np.array([len(cut) + 1 for cut in cuts], np.int64)
    if not (bins > 1).any():
        return Situations(none, none)
    log = some.log.copy()
    feature, cut = np.zeros((2, trees, DEPTH), np.uint8)
    for tree in range(trees):
        place = np.zeros(len(log), np.int64)
        found = np.zeros((2, DEPTH), np.int64)
        gradient, curve = derivatives(log, some.made)
        _grow(binned, bins, bounds, gradient, curve, place, found)
        _add_effects(bounds, gradient, curve, place, log)
        feature[tree] = usable[found[0]]
        cut[tree] = [cuts[f][c] if len(cuts[f]) else 255 for f, c in found.T]
    return Situations(feature, cut)


def derivatives(log: Floats, made: Ints) -> tuple[Floats, Floats]:
    """Gradient and curvature of the log-likelihood, [n, m] each, by logarithms of relative
    chances [n, m]."""
    gradient, curve = np.empty_like(log), np.empty_like(log)
    _derivatives(log, made, gradient, curve)
    return gradient, curve


def _cuts(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Values of a feature above which cuts are tried, ascending."""
    different = np.unique(values)
    if len(different) > _BINS:
        different = np.unique(np.quantile(values, np.linspace(0, 1, _BINS), method="lower"))
    return different[:-1].astype(np.uint8)


@njit(nogil=True)
def _derivatives(log: Any, made: Any, gradient: Any, curve: Any) -> None:
    moves = log.shape[1]
    for i in range(len(log)):
        top, total = log[i].max(), 0.0
        for m in range(moves):
            gradient[i, m] = np.exp(log[i, m] - top)
            total += gradient[i, m]
        for m in range(moves):
            chance = gradient[i, m] / total
            gradient[i, m] = int(m == made[i]) - chance
            curve[i, m] = chance * (1.0 - chance)


@njit(nogil=True)
def _grow(
    binned: Any, bins: Any, bounds: Any, gradient: Any, curve: Any, place: Any, found: Any
) -> None:
    """Find the feature and the bin of each level, [2, DEPTH], and the leaf of each choice."""
    moves = gradient.shape[1]
    sums = np.zeros((LEAVES, _BINS + 1, 2 * moves))
    gain = np.zeros(_BINS + 1)
    for level in range(DEPTH):
        best, leaves = -1.0, 1 << level
        for which in range(len(binned)):
            count = bins[which]
            if count < 2:
                continue
            gain[:] = 0.0
            column = binned[which]
            for player in range(len(bounds) - 1):
                for i in range(bounds[player], bounds[player + 1]):
                    cell = sums[place[i], column[i]]
                    for m in range(moves):
                        cell[m] += gradient[i, m]
                        cell[moves + m] += curve[i, m]
                for leaf in range(leaves):
                    _add_gains(sums[leaf], count, moves, gain)
                    sums[leaf, :count] = 0.0
            for b in range(count - 1):
                if gain[b] > best:
                    best, found[0, level], found[1, level] = gain[b], which, b
        chosen = binned[found[0, level]]
        for i in range(len(place)):
            place[i] |= np.int64(chosen[i] > found[1, level]) << level


@njit(nogil=True)
def _add_gains(sums: Any, bins: Any, moves: Any, gain: Any) -> None:
    """Add what cuts above each bin gain for one player in one leaf, from sums [bins, 2 moves]."""
    for m in range(moves):
        whole, weight = 0.0, 0.0
        for b in range(bins):
            whole += sums[b, m]
            weight += sums[b, moves + m]
        if weight == 0.0:
            continue
        left, here = 0.0, 0.0
        for b in range(bins - 1):
            left += sums[b, m]
            here += sums[b, moves + m]
            rest = whole - left
            gain[b] += left * left / (here + _SHRINKAGE)
            gain[b] += rest * rest / (weight - here + _SHRINKAGE)


@njit(nogil=True)
def _add_effects(bounds: Any, gradient: Any, curve: Any, place: Any, log: Any) -> None:
    """Add each player's own effects in the leaves to the logarithms of the chances of its moves."""
    moves = gradient.shape[1]
    rate = (moves - 1.0) / moves  # as in LogitBoost: a move's chance is at the cost of the others
    sums = np.zeros((2, LEAVES, moves))
    for player in range(len(bounds) - 1):
        sums[:] = 0.0
        for i in range(bounds[player], bounds[player + 1]):
            for m in range(moves):
                sums[0, place[i], m] += gradient[i, m]
                sums[1, place[i], m] += curve[i, m]
        for i in range(bounds[player], bounds[player + 1]):
            for m in range(moves):
                effect = sums[0, place[i], m] / (sums[1, place[i], m] + _SHRINKAGE)
                log[i, m] += rate * effect


@njit(nogil=True)
def _leaves(features: Any, feature: Any, cut: Any, out: Any) -> None:
    for i in range(len(features)):
        for tree in range(len(feature)):
            at = 0
            for level in range(DEPTH):
                at |= int(features[i, feature[tree, level]] > cut[tree, level]) << level
            out[i, tree] = at
