"""Gradient-boosted trees for chances of moves (Friedman 2001).

Trees are oblivious, as CatBoost's: all nodes of one level compare the same feature with the same
cut. A leaf is then found without branches, and a sum of many trees is quick enough for simulated
play. Each leaf has a number for every move, which is added to the logarithm of the move's chance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Floats, Ints

Bytes = NDArray[np.uint8]

#: Levels of a tree, and the learning rate.
DEPTH, _RATE = 5, 0.2
#: Regularisation: curvature added to that of each leaf, which shrinks it towards 0.
_SHRINKAGE = 20.0
#: Fitting stops after this number of trees without an improvement of the held-out loss.
_PATIENCE = 8


class Trees(NamedTuple):
    """`feature` and `cut` [trees, DEPTH]: at each level, a feature above the cut sets a bit of the
    leaf's number; `leaf` [trees, 2^DEPTH, moves]."""

    feature: Bytes
    cut: Bytes
    leaf: Floats


def fit(features: Bytes, move: Ints, start: Floats, held: NDArray[np.bool_], most: int) -> Trees:
    """Trees for decisions with `features` [n, f] and moves [n], boosted from the logarithms of
    chances `start` [n, moves]: at most `most`, and as many as predict the `held`-out decisions [n]
    best."""
    moves = start.shape[1]
    learned, tested = np.flatnonzero(~held), np.flatnonzero(held)
    log = start.copy()
    found: list[tuple[Bytes, Bytes, Floats]] = []
    best, kept = log_loss(log[tested], move[tested]), 0
    mine, bins = np.ascontiguousarray(features[learned]), int(features.max(initial=0)) + 1
    while len(found) < most and len(found) < kept + _PATIENCE:
        now = log[learned]
        gradient, curve = _derivatives(now, move[learned])
        feature, cut = np.zeros(DEPTH, np.uint8), np.zeros(DEPTH, np.uint8)
        _grow(mine, gradient, curve, bins, feature, cut)
        leaf = np.zeros((1 << DEPTH, moves))
        _fill(mine, gradient, curve, feature, cut, leaf)
        _add(features, feature, cut, leaf, log)
        found.append((feature, cut, leaf))
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
    for feature, cut, leaf in zip(*trees, strict=True):
        _add(features, feature, cut, leaf, log)
    return log


def log_loss(log: Floats, move: Ints) -> float:
    """Mean log-loss of moves [n] by logarithms of chances [n, moves], which need not be
    normalised."""
    if not len(move):
        return 0.0
    top = log.max(axis=1)
    total = top + np.log(np.exp(log - top[:, None]).sum(axis=1))
    return float((total - log[np.arange(len(move)), move]).mean())


def _derivatives(log: Floats, move: Ints) -> tuple[Floats, Floats]:
    """Gradient of the log-likelihood and its curvature, [n, moves] each."""
    chances = np.exp(log - log.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    gradient = -chances
    gradient[np.arange(len(move)), move] += 1.0
    return gradient, chances * (1.0 - chances)


@njit
def _grow(features: Any, gradient: Any, curve: Any, bins: Any, feature: Any, cut: Any) -> None:
    """Choose feature and cut of each level of a tree, those with the largest gain."""
    n, count = features.shape
    moves = gradient.shape[1]
    leaf = np.zeros(n, np.int64)
    for level in range(DEPTH):
        leaves = 1 << level
        best = -1.0
        for which in range(count):
            sums = np.zeros((leaves, bins, 2 * moves))
            for i in range(n):
                cell = sums[leaf[i], features[i, which]]
                for m in range(moves):
                    cell[m] += gradient[i, m]
                    cell[moves + m] += curve[i, m]
            gain = np.zeros(bins)
            for at in range(leaves):
                whole = np.zeros(2 * moves)
                for b in range(bins):
                    whole += sums[at, b]
                left = np.zeros(2 * moves)
                for b in range(bins - 1):
                    left += sums[at, b]
                    for m in range(moves):
                        low, high = left[m], whole[m] - left[m]
                        here, there = left[moves + m], whole[moves + m] - left[moves + m]
                        gain[b] += low * low / (here + _SHRINKAGE) + high * high / (
                            there + _SHRINKAGE
                        )
            for b in range(bins - 1):
                if gain[b] > best:
                    best, feature[level], cut[level] = gain[b], which, b
        for i in range(n):
            leaf[i] |= np.int64(features[i, feature[level]] > cut[level]) << level


@njit
def leaf_of(features: Any, feature: Any, cut: Any) -> Any:
    """The leaf of one decision in a tree."""
    leaf = 0
    for level in range(DEPTH):
        leaf |= int(features[feature[level]] > cut[level]) << level
    return leaf


@njit
def _fill(features: Any, gradient: Any, curve: Any, feature: Any, cut: Any, leaf: Any) -> None:
    """Fill in what the leaves add to the logarithms of chances: a Newton step."""
    weight = np.zeros_like(leaf)
    for i in range(len(features)):
        at = leaf_of(features[i], feature, cut)
        leaf[at] += gradient[i]
        weight[at] += curve[i]
    leaf *= _RATE / (weight + _SHRINKAGE)


@njit
def _add(features: Any, feature: Any, cut: Any, leaf: Any, log: Any) -> None:
    """Add a tree to the logarithms of chances [n, moves]."""
    for i in range(len(features)):
        log[i] += leaf[leaf_of(features[i], feature, cut)]
