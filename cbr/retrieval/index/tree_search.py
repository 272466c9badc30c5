"""Search in the tree of `cbr.retrieval.index.tree`, as compiled code.

The similarity that a vector may lose is widened step by step until enough cases are found: in a
crowded neighbourhood the first step visits only a few vectors. Found vectors are positions in the
order of the tree; those of the q-th pending target go from ``start[q]`` to ``start[q + 1]``.
`reach` is what `Reach.numbers` gives: above, cap and fallback.

`score` and `rank` are the definitions of `scoring` and `ranking` in compiled form; tests hold them
to these. All is in one file, because numba caches compiled code by file and does not notice when a
function of another file has changed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Floats, Ints

#: Found vectors that are held at a time, for all targets together.
_IN_HAND = 4_000_000
#: Partial sums are added in another order than scores; they differ by far less than this.
SLACK = 1e-9


class Tree(NamedTuple):
    """Vectors sorted by the features in one order, as nodes under nodes.

    Nodes go level after level, the `top` ones first. Each stands for one `code` of its level's
    feature, and its children are those from `first` to `last`: in the last level, vectors.

    `places` are the features in the order in which they are looked at, the levels first. `codes`
    [m, d] are by feature, and `below` [m, d - levels] those that are looked at behind the levels:
    a search walks along them, so they stand close together. `wide` says of each feature which of
    those that are cut into spans it is, -1 for the others, and `spans` into how many. `number` [m]
    is what a vector is called.
    """

    code: NDArray[np.uint8]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    top: int
    levels: int
    places: Ints
    codes: NDArray[np.uint8]
    below: NDArray[np.uint8]
    wide: Ints
    spans: Ints
    cases: Ints
    number: Ints


class Targets(NamedTuple):
    """Targets: their values [q, d], and weights [q, d] with their sum [q].

    The similarities of a target's value to each code stand in `table` from its place in `rows`
    [q, d] on, and right before them their maximum. The similarity to a span is that to its most
    similar value; behind them all stand those to the least similar.
    """

    values: Floats
    weights: Floats
    weight_sum: Floats
    rows: Ints
    table: Floats


def first_step(reach: tuple[float, float, float]) -> float:
    """How much similarity a vector may lose at first."""
    above, cap, _ = reach
    most = 1.0 - above
    if most <= 0:
        return 0.005
    return most / 4 if math.isfinite(cap) else most + 1e-6


@njit(nogil=True)
def _sufficient(lost, reach):  # type: ignore[no-untyped-def]
    """When a search with this loss is complete: so many cases above so high a similarity.

    The similarity is a millionth inside the loss, so that no vector that ties with them is missed.
    """
    above, cap, fallback = reach
    most = 1.0 - above
    if lost >= 1.0 or (fallback <= 0 and lost >= most):
        return 0.0, 0.0
    if most <= 0 or lost > most + 2e-6:
        return fallback, 1.0 - lost + 1e-6
    if lost < most:
        return cap, 1.0 - lost + 1e-6
    return 1.0, above - 1e-6


@njit(nogil=True)
def _next_loss(lost, held, reach):  # type: ignore[no-untyped-def]
    """How much a vector may lose next, when so many cases were found."""
    above, cap, fallback = reach
    most = 1.0 - above
    if lost < most:
        # What is found grows with a high power of what may be lost, so few now are few next time.
        # The last of these steps is a millionth wider than the threshold, and never a bit narrower.
        return 2.0 * lost if 2.0 * lost < most and 8.0 * held > cap else most + 1e-6
    grown = 1.02 * (fallback / held) ** 0.2 if held else 1.5
    lost *= min(max(grown, 1.04), 1.5 if most <= 0 else 1.25)
    return lost if lost < 1.0 and np.isfinite(fallback) else 2.0


@njit(nogil=True)
def search(tree, targets, pending, lost, reach):  # type: ignore[no-untyped-def]
    """Positions of all vectors that the reach includes for each pending target, and some more.

    Stops early after the target with which more are found than can be held.
    """
    code, first, last, levels = tree.code, tree.first, tree.last, tree.levels
    below, table = tree.below, targets.table
    features = len(tree.places)
    size = 1024
    position = np.empty(size, np.int64)
    start = np.zeros(len(pending) + 1, np.int64)
    here, end = np.empty(levels, np.int64), np.empty(levels, np.int64)
    sofar = np.zeros(levels, np.float64)
    weight, need = np.empty(features), np.empty(features)
    row = np.empty(features, np.int64)
    n = 0
    for q in range(len(pending)):
        target = pending[q]
        for step in range(features):
            weight[step] = targets.weights[target, tree.places[step]]
            row[step] = targets.rows[target, tree.places[step]]
        may = lost
        while True:
            n = start[q]
            enough, inside = _sufficient(may, reach)
            sure = (inside + SLACK) * targets.weight_sum[target]
            # What must have come at each step, so that the features after it can bring the rest.
            least = (1.0 - may - SLACK) * targets.weight_sum[target]
            for step in range(features - 1, -1, -1):
                need[step] = least
                least -= weight[step] * table[row[step] - 1]
            held = 0
            level = 0
            here[0], end[0] = 0, tree.top
            while level >= 0:
                node, stop = here[level], end[level]
                before, factor, at_row = sofar[level], weight[level], row[level]
                least, come = need[level], 0.0
                while node < stop:
                    come = before + factor * table[at_row + code[node]]
                    if come >= least:
                        break
                    node += 1
                if node == stop:
                    level -= 1
                    continue
                here[level] = node + 1
                if level + 1 < levels:
                    level += 1
                    here[level], end[level], sofar[level] = first[node], last[node], come
                    continue
                for at in range(first[node], last[node]):
                    total = come
                    near = True
                    for step in range(levels, features):
                        total += weight[step] * table[row[step] + below[at, step - levels]]
                        if total < need[step]:
                            near = False
                            break
                    if near:
                        if n == size:
                            size *= 2
                            position = _longer(position, size)
                        position[n] = at
                        n += 1
                        if total > sure and total - _unsure(tree, targets, target, at) > sure:
                            held += tree.cases[at]
            if held >= enough:
                break
            may = _next_loss(may, held, reach)
        start[q + 1] = n
        if n > _IN_HAND:
            return start[: q + 2], position[:n]
    return start, position[:n]


@njit(nogil=True)
def _unsure(tree, targets, target, at):  # type: ignore[no-untyped-def]
    """How much lower a vector's weighted sum may be than assumed, because of spans of values."""
    less = 0.0
    for place in range(len(tree.spans)):
        if tree.spans[place]:
            best = targets.rows[target, place] + tree.codes[at, place]
            bits = targets.table[best] - targets.table[best + tree.spans[place]]
            less += targets.weights[target, place] * bits
    return less


@njit(nogil=True)
def _longer(array, size):  # type: ignore[no-untyped-def]
    longer = np.empty(size, array.dtype)
    longer[: len(array)] = array
    return longer


@njit(nogil=True)
def score(start, position, tree, targets, pending, local):  # type: ignore[no-untyped-def]
    """Similarities as `scoring` defines them: summed in feature order.

    `local` [w, n] are the local similarities in the features that are cut into spans.
    """
    weights, rows, table = targets.weights, targets.rows, targets.table
    codes, wide = tree.codes, tree.wide
    similarity = np.empty(len(position))
    for q in range(len(start) - 1):
        target = pending[q]
        for i in range(start[q], start[q + 1]):
            total = 0.0
            for place in range(len(wide)):
                if wide[place] >= 0:
                    total += weights[target, place] * local[wide[place], i]
                else:
                    code = codes[position[i], place]
                    total += weights[target, place] * table[rows[target, place] + code]
            similarity[i] = total / targets.weight_sum[target]
    return similarity


@njit(nogil=True)
def rank(start, position, similarity, tree, reach):  # type: ignore[no-untyped-def]
    """What the reach includes for each target, nearest first, as `ranking.nearest` defines it."""
    above, cap, fallback = reach
    cases, numbers = tree.cases, tree.number
    kept = np.zeros(len(start), np.int64)
    number = np.empty(len(position), np.int64)
    out = np.empty(len(position), np.float64)
    share = np.empty(len(position), np.float64)
    in_hand = np.empty(len(position), np.int64)
    n = 0
    for q in range(len(start) - 1):
        inside = 0
        for i in range(start[q], start[q + 1]):
            inside += similarity[i] > above - 1e-6
        keys = np.empty(inside if inside else start[q + 1] - start[q], np.int64)
        places = np.empty(len(keys), np.int64)
        j = 0
        for i in range(start[q], start[q + 1]):
            if inside == 0 or similarity[i] > above - 1e-6:
                # By similarity in millionths, then by number: one whole number to sort by.
                keys[j] = numbers[position[i]] - (np.int64(np.rint(similarity[i] / 1e-6)) << 40)
                places[j] = i
                j += 1
        room = cap if inside else fallback
        taken, edge = 0, np.int64(0)
        for place in np.argsort(keys):
            i = places[place]
            millionths = np.int64(np.rint(similarity[i] / 1e-6))
            if taken >= room and millionths != edge:
                break
            edge = millionths
            taken += cases[position[i]]
            number[n] = numbers[position[i]]
            out[n] = similarity[i]
            share[n] = 1.0
            in_hand[n] = cases[position[i]]
            n += 1
        if taken > room:
            tied, at = 0, n
            while at > kept[q] and np.int64(np.rint(out[at - 1] / 1e-6)) == edge:
                at -= 1
                tied += in_hand[at]
            share[at:n] = (room - (taken - tied)) / tied
        kept[q + 1] = n
    return kept, number[:n].copy(), out[:n].copy(), share[:n].copy()
