"""Gradient-boosted trees for chances of moves (Friedman 2001).

Trees are oblivious, as CatBoost's: all nodes of one level compare the same feature with the same
cut. A leaf is then found without branches, and a sum of many trees is quick enough for simulated
play. Each leaf has a number for every move, which is added to the logarithm of the move's chance:
one tree serves all moves, where a library with a tree for each move would need as many times more.

Each tree is fitted to a random part of the decisions (Friedman 2002), so that the time of a tree
does not grow with the length of the log. It may split on a random part of the features (Ho 1998),
so that trees differ more from each other and several slow steps do not repeat one another.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Floats, Ints

Bytes = NDArray[np.uint8]

#: Levels of a tree.
DEPTH = 5
#: Regularisation: curvature added to that of each leaf, which shrinks it towards 0.
_SHRINKAGE = 20.0
#: Fitting stops after this number of trees without an improvement of the held-out loss.
_PATIENCE = 20
#: Most classes of values of a feature between which cuts are tried.
_BINS = 64
#: Most decisions that one tree is fitted to.
_ROWS = 60_000


class Pace(NamedTuple):
    """The learning rate, and the share of the features that each tree may split on."""

    rate: float
    share: float


#: Few trees that learn fast, and more that learn slowly and predict better.
QUICK, CAREFUL = Pace(0.2, 1.0), Pace(0.1, 0.5)


class Trees(NamedTuple):
    """`feature` and `cut` [trees, DEPTH]: at each level, a feature above the cut sets a bit of the
    leaf's number; `leaf` [trees, 2^DEPTH, moves]."""

    feature: Bytes
    cut: Bytes
    leaf: Floats


def fit(
    features: Bytes,
    move: Ints,
    start: Floats,
    held: NDArray[np.bool_],
    most: int,
    pace: Pace = CAREFUL,
    stopped: Callable[[], bool] = bool,
) -> Trees:
    """Trees for decisions with `features` [n, f] and moves [n], boosted from the logarithms of
    chances `start` [n, moves]: at most `most`, and as many as predict the `held`-out decisions [n]
    best. Same decisions, same trees. No further tree is fitted once `stopped` returns True."""
    moves = start.shape[1]
    learned, tested = np.flatnonzero(~held), np.flatnonzero(held)
    log = start.copy()
    found: list[tuple[Bytes, Bytes, Floats]] = []
    best, kept = log_loss(log[tested], move[tested]), 0
    columns = np.ascontiguousarray(features.T)
    cuts = [_cuts(np.bincount(column[learned], minlength=256)) for column in columns]
    binned = np.empty_like(columns)
    for which, cut in enumerate(cuts):
        binned[which] = np.searchsorted(cut, np.arange(256)).astype(np.uint8)[columns[which]]
    bins = np.array([len(cut) + 1 for cut in cuts], np.int64)
    chance = np.random.default_rng(0)
    if not (bins > 1).any():  # nothing to split on
        most = 0
    while len(found) < min(most, kept + _PATIENCE) and not stopped():
        some = learned
        if len(some) > _ROWS:
            some = np.sort(chance.choice(some, _ROWS, replace=False))
        gradient, curve = _derivatives(log[some], move[some])
        feature, cut = np.zeros(DEPTH, np.uint8), np.zeros(DEPTH, np.uint8)
        usable = np.arange(len(bins))
        if pace.share < 1.0:
            usable = np.sort(chance.choice(usable, math.ceil(pace.share * len(bins)), False))
        place = np.zeros(len(some), np.int64)
        packed = np.concatenate([gradient, curve], axis=1)
        _grow(binned[np.ix_(usable, some)], packed, bins[usable], feature, cut, place)
        feature = usable[feature].astype(np.uint8)
        leaf = np.zeros((1 << DEPTH, moves))
        _fill(place, gradient, curve, pace.rate, leaf)
        _add(binned, feature, cut, leaf, log)
        # From bins to values: above the greatest value of the bin.
        value = np.array([cuts[f][c] for f, c in zip(feature, cut, strict=True)], np.uint8)
        found.append((feature, value, leaf))
        loss = log_loss(log[tested], move[tested])
        if loss < best - 1e-6:
            best, kept = loss, len(found)
    return Trees(
        np.array([tree[0] for tree in found[:kept]], np.uint8).reshape(-1, DEPTH),
        np.array([tree[1] for tree in found[:kept]], np.uint8).reshape(-1, DEPTH),
        np.array([tree[2] for tree in found[:kept]]).reshape(-1, 1 << DEPTH, moves),
    )


def refined(trees: Trees, features: Bytes, start: Floats) -> Floats:
    """The logarithms of chances `start` [n, moves] of decisions with `features` [n, f] after trees;
    the chances are not normalised."""
    log = start.copy()
    columns = np.ascontiguousarray(features.T)
    for feature, cut, leaf in zip(*trees, strict=True):
        _add(columns, feature, cut, leaf, log)
    return log


def log_loss(log: Floats, move: Ints) -> float:
    """Mean log-loss of moves [n] by logarithms of chances [n, moves], which need not be
    normalised."""
    if not len(move):
        return 0.0
    top = log.max(axis=1)
    total = top + np.log(np.exp(log - top[:, None]).sum(axis=1))
    return float((total - log[np.arange(len(move)), move]).mean())


def _cuts(count: Ints) -> Bytes:
    """Values of a feature, ascending, above which cuts are tried: all but the greatest if they are
    few, else quantiles; `count` [256] is how often each value is there."""
    different = np.flatnonzero(count)
    if len(different) > _BINS:
        place = np.linspace(0, 1, _BINS) * (count.sum() - 1)
        different = np.unique(np.searchsorted(count.cumsum(), place.astype(np.int64), "right"))
    return different[:-1].astype(np.uint8)


def _derivatives(log: Floats, move: Ints) -> tuple[Floats, Floats]:
    """Gradient of the log-likelihood and its curvature, [n, moves] each."""
    chances = np.exp(log - log.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    gradient = -chances
    gradient[np.arange(len(move)), move] += 1.0
    return gradient, chances * (1.0 - chances)


@njit(nogil=True)
def _grow(binned: Any, packed: Any, bins_of: Any, feature: Any, cut: Any, leaf: Any) -> None:
    """Choose feature and cut of each level of a tree, those with the largest gain; `packed`
    [n, 2 moves] are gradient and curvature, `leaf` [n] becomes the leaf of each decision."""
    count, n = binned.shape
    most, width = bins_of.max(), packed.shape[1]
    sums = np.zeros((1 << DEPTH - 1, count, most, width))
    half = np.zeros((1 << DEPTH - 2, count, most, width))
    gain = np.empty(most)
    _add_up(binned, np.arange(n), leaf, packed, sums)
    for level in range(DEPTH):
        best = -1.0
        for which in range(count):
            _gains(sums[: 1 << level, which], bins_of[which], gain)
            for b in range(bins_of[which] - 1):
                if gain[b] > best:
                    best, feature[level], cut[level] = gain[b], which, b
        chosen = binned[feature[level]]
        for i in range(n):
            leaf[i] |= np.int64(chosen[i] > cut[level]) << level
        if level + 1 < DEPTH:
            _split_sums(level, binned, leaf, packed, sums, half)


@njit
def _add_up(binned: Any, rows: Any, leaf: Any, packed: Any, sums: Any) -> None:
    """Add the derivatives [n, 2 moves] of some rows to the sums [leaves, features, bins, 2 moves]
    of their leaves."""
    width = np.uint64(packed.shape[1])
    # Unsigned numbers need no test for indices below 0, which would take half the time.
    for which in range(np.uint64(len(binned))):
        for place in range(np.uint64(len(rows))):
            i = np.uint64(rows[place])
            at, b = np.uint64(leaf[i]), np.uint64(binned[which, i])
            if width == 6:  # the case of fold, call and raise; unrolled, it is twice as fast
                for m in range(np.uint64(6)):
                    sums[at, which, b, m] += packed[i, m]
            else:
                for m in range(width):
                    sums[at, which, b, m] += packed[i, m]


@njit
def _split_sums(level: Any, binned: Any, leaf: Any, packed: Any, sums: Any, half: Any) -> None:
    """Turn the sums of the leaves before a level into those after it: only the smaller part of
    each leaf is added up, into `half`; the rest is the difference."""
    bit = 1 << level
    size = np.zeros(2 * bit, np.int64)
    for at in leaf:
        size[at] += 1
    whole, rows, count = np.empty_like(leaf), np.empty_like(leaf), 0
    for i in range(len(leaf)):
        whole[i] = leaf[i] & bit - 1
        upper = size[whole[i]] > size[whole[i] + bit]
        rows[count] = i
        count += (leaf[i] >= bit) == upper
    half[:bit] = 0.0
    _add_up(binned, rows[:count], whole, packed, half)
    old, small = sums.reshape(len(sums), -1), half.reshape(len(half), -1)
    for at in range(bit):
        upper = size[at] > size[at + bit]
        for cell in range(small.shape[1]):
            rest = old[at, cell] - small[at, cell]
            old[at, cell] = rest if upper else small[at, cell]
            old[at + bit, cell] = small[at, cell] if upper else rest


@njit
def _gains(sums: Any, bins: Any, gain: Any) -> None:
    """The gain of a cut above each bin of a feature, from sums [leaves, bins, 2 moves]."""
    moves = sums.shape[2] // 2
    gain[:bins] = 0.0
    whole, left = np.empty(2 * moves), np.empty(2 * moves)
    for at in range(len(sums)):
        whole[:] = left[:] = 0.0
        for b in range(bins):
            for m in range(2 * moves):
                whole[m] += sums[at, b, m]
        for b in range(bins - 1):
            for m in range(2 * moves):
                left[m] += sums[at, b, m]
            for m in range(moves):
                low, high = left[m], whole[m] - left[m]
                here, there = left[moves + m], whole[moves + m] - left[moves + m]
                gain[b] += low * low / (here + _SHRINKAGE) + high * high / (there + _SHRINKAGE)


@njit
def _fill(place: Any, gradient: Any, curve: Any, rate: Any, leaf: Any) -> None:
    """Fill in what the leaves add to the logarithms of chances: a Newton step."""
    weight = np.zeros_like(leaf)
    for i in range(len(place)):
        leaf[place[i]] += gradient[i]
        weight[place[i]] += curve[i]
    leaf *= rate / (weight + _SHRINKAGE)


@njit(nogil=True)
def _add(columns: Any, feature: Any, cut: Any, leaf: Any, log: Any) -> None:
    """Add a tree to the logarithms of chances [n, moves]; `columns` [f, n]."""
    for i in range(len(log)):
        at = 0
        for level in range(DEPTH):
            at |= int(columns[feature[level], i] > cut[level]) << level
        log[i] += leaf[at]
