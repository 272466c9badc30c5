"""Boosted trees: chances of moves, made better step by step by small trees.

A tree asks the same question at each of its levels whatever came before (are some codes above some
cut?), so its leaf is found without branches, and a sum of many is quick enough for simulated play.
Each leaf has a number for every move, added to the logarithms of its chances (Friedman 2001; trees
of this form are CatBoost's).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cbr.typing import Floats, Ints

Codes = NDArray[np.uint8]

#: Questions of a tree, and how far each tree goes towards what it finds.
DEPTH, _RATE = 5, 0.2
#: What a leaf leans on: decisions that say nothing.
_LEAN = 20.0
#: Trees after which it ends if what is held out was predicted no better.
_PATIENCE = 8


class Trees(NamedTuple):
    """`feature` and `cut` [trees, DEPTH]: a code above the cut is a bit of the leaf's number;
    `leaf` [trees, 2^DEPTH, moves]."""

    feature: Codes
    cut: Codes
    leaf: Floats


def fit(codes: Codes, move: Ints, start: Floats, held: NDArray[np.bool_], most: int) -> Trees:
    """At most so many trees for decisions with codes [n, f] that were moves [n], where chances are
    known before as logarithms `start` [n, moves]; as many as predict those best that are `held` out
    [n]."""
    moves = start.shape[1]
    learned, tested = np.flatnonzero(~held), np.flatnonzero(held)
    log = start.copy()
    found: list[tuple[Codes, Codes, Floats]] = []
    best, kept = log_loss(log[tested], move[tested]), 0
    mine, bins = np.ascontiguousarray(codes[learned]), int(codes.max(initial=0)) + 1
    while len(found) < most and len(found) < kept + _PATIENCE:
        now = log[learned]
        gradient, curve = _slopes(now, move[learned])
        feature, cut = np.zeros(DEPTH, np.uint8), np.zeros(DEPTH, np.uint8)
        _grow(mine, gradient, curve, bins, feature, cut)
        leaf = np.zeros((1 << DEPTH, moves))
        _fill(mine, gradient, curve, feature, cut, leaf)
        _add(codes, feature, cut, leaf, log)
        found.append((feature, cut, leaf))
        loss = log_loss(log[tested], move[tested])
        if loss < best - 1e-6:
            best, kept = loss, len(found)
    return Trees(
        np.array([tree[0] for tree in found[:kept]], np.uint8).reshape(-1, DEPTH),
        np.array([tree[1] for tree in found[:kept]], np.uint8).reshape(-1, DEPTH),
        np.array([tree[2] for tree in found[:kept]]).reshape(-1, 1 << DEPTH, moves),
    )


def refined(trees: Trees, codes: Codes, start: Floats) -> Floats:
    """Logarithms of chances [n, moves] of decisions with codes [n, f] after trees; not in sum 1."""
    log = start.copy()
    for feature, cut, leaf in zip(*trees, strict=True):
        _add(codes, feature, cut, leaf, log)
    return log


def log_loss(log: Floats, move: Ints) -> float:
    """Mean log-loss of moves [n] by logarithms of chances [n, moves], not in sum 1."""
    if not len(move):
        return 0.0
    top = log.max(axis=1)
    total = top + np.log(np.exp(log - top[:, None]).sum(axis=1))
    return float((total - log[np.arange(len(move)), move]).mean())


def _slopes(log: Floats, move: Ints) -> tuple[Floats, Floats]:
    """Gradient of the log-likelihood and its curvature, [n, moves] each."""
    chances = np.exp(log - log.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    gradient = -chances
    gradient[np.arange(len(move)), move] += 1.0
    return gradient, chances * (1.0 - chances)


@njit(cache=True)
def _grow(codes: Any, gradient: Any, curve: Any, bins: Any, feature: Any, cut: Any) -> None:
    """Choose the questions of a tree, one level after the other."""
    n, features = codes.shape
    moves = gradient.shape[1]
    leaf = np.zeros(n, np.int64)
    for level in range(DEPTH):
        leaves = 1 << level
        best = -1.0
        for which in range(features):
            sums = np.zeros((leaves, bins, 2 * moves))
            for i in range(n):
                cell = sums[leaf[i], codes[i, which]]
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
                        gain[b] += low * low / (here + _LEAN) + high * high / (there + _LEAN)
            for b in range(bins - 1):
                if gain[b] > best:
                    best, feature[level], cut[level] = gain[b], which, b
        for i in range(n):
            leaf[i] |= np.int64(codes[i, feature[level]] > cut[level]) << level


@njit(cache=True)
def leaf_of(codes: Any, feature: Any, cut: Any) -> Any:
    """The leaf of one decision in a tree."""
    leaf = 0
    for level in range(DEPTH):
        leaf |= int(codes[feature[level]] > cut[level]) << level
    return leaf


@njit(cache=True)
def _fill(codes: Any, gradient: Any, curve: Any, feature: Any, cut: Any, leaf: Any) -> None:
    """What the leaves of a tree add to the logarithms of chances."""
    weight = np.zeros_like(leaf)
    for i in range(len(codes)):
        at = leaf_of(codes[i], feature, cut)
        leaf[at] += gradient[i]
        weight[at] += curve[i]
    leaf *= _RATE / (weight + _LEAN)


@njit(cache=True)
def _add(codes: Any, feature: Any, cut: Any, leaf: Any, log: Any) -> None:
    for i in range(len(codes)):
        log[i] += leaf[leaf_of(codes[i], feature, cut)]
