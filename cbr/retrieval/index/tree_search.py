"""Search in the tree of `cbr.retrieval.index.tree`, as compiled code.

The loss of similarity (1 - similarity) that a vector may have is increased step by step until
enough cases are found: in a dense neighbourhood the first step visits only a few vectors. Found
vectors are positions in the order of the tree; those of the q-th pending target go from
``start[q]`` to ``start[q + 1]``. `reach` is `Reach.numbers`: above, cap and fallback.

`score` and `rank` implement the definitions of `scoring` and `ranking`; tests compare them. All
functions are in one file, because numba caches compiled code by file and does not notice when a
function of another file has changed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Floats, Ints

#: The most found vectors in memory at a time, for all targets together.
_IN_HAND = 4_000_000
#: Tolerance of sums in float32, and of the rounding by which similarities tie.
_MARGIN = 2e-5
#: Bins of similarity, in which those that seem nearest are found.
_BINS = 4096
#: Tolerance of partial sums, which are added in another order than scores; they differ by far less.
SLACK = 1e-9


class Tree(NamedTuple):
    """A tree of nodes over vectors that are sorted lexicographically by their features.

    Nodes are stored level by level, the `top` ones first. Each has one `code` of its level's
    feature, and its children are those from `first` to `last`: in the last level, vectors.

    `places` are the features in search order, those of the levels first. `codes` [m, d] are in
    feature order, `below` [m, d - levels] those of the features after the levels, in search order
    and contiguous for speed. `wide` numbers the features that are divided into spans, -1 for the
    others, and `spans` is the number of spans of each. `ignored` is the code of each feature's
    missing value that does not count, -1 if there is none. `number` [m] maps positions in the tree
    to numbers of vectors.
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
    ignored: Ints
    cases: Ints
    number: Ints


class Targets(NamedTuple):
    """Targets: their values [q, d], and weights [q, d] with their sum [q].

    The similarities of a target's value to each code are in `table`, beginning at its position in
    `rows` [q, d]; the entry before them is their maximum. The similarity to a span is that to its
    most similar value; those to the least similar value of each span follow.
    """

    values: Floats
    weights: Floats
    weight_sum: Floats
    rows: Ints
    table: Floats


# A missing value that does not count changes the sum of weights. But a mean over the other features
# is at least the similarity wanted if and only if the mean over all is, in which the missing value
# has just this similarity. So the search enters it in the table, for each target and step.


def first_step(reach: tuple[float, float, float]) -> float:
    """The loss of similarity that is allowed in the first step."""
    above, cap, _ = reach
    most = 1.0 - above
    if most <= 0:
        return 0.005
    return most / 4 if math.isfinite(cap) else most + 1e-6


@njit(nogil=True)
def _sufficient(lost, reach):  # type: ignore[no-untyped-def]
    """When a search with this loss is complete: a number of cases above a similarity.

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
    """The loss allowed in the next step, after `held` cases were found."""
    above, cap, fallback = reach
    most = 1.0 - above
    if lost < most:
        # The number found grows with a high power of the loss. If few were found, go directly to
        # the threshold, a millionth wider so that rounding cannot make it narrower.
        return 2.0 * lost if 2.0 * lost < most and 8.0 * held > cap else most + 1e-6
    grown = 1.02 * (fallback / held) ** 0.2 if held else 1.5
    lost *= min(max(grown, 1.04), 1.5 if most <= 0 else 1.25)
    return lost if lost < 1.0 and np.isfinite(fallback) else 2.0


@njit(nogil=True)
def search(tree, targets, pending, lost, reach):  # type: ignore[no-untyped-def]
    """Positions of all vectors within the reach of each pending target, and some beyond it; and how
    many vectors were met.

    Stops early, after the target with which the found vectors exceed the memory limit.
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
    n, met = 0, 0
    ignoring = tree.ignored.max() >= 0
    for q in range(len(pending)):
        target = pending[q]
        for step in range(features):
            weight[step] = targets.weights[target, tree.places[step]]
            row[step] = targets.rows[target, tree.places[step]]
        may = lost
        while True:
            n = start[q]
            enough, inside = _sufficient(may, reach)
            if ignoring:
                inside = max(inside, _enter_ignored(tree, targets, target, may))
            sure = (inside + SLACK) * targets.weight_sum[target]
            # The least partial sum after each step: later features add at most their maxima.
            least = (1.0 - may - SLACK) * targets.weight_sum[target]
            for step in range(features - 1, -1, -1):
                need[step] = least
                most = table[row[step] - 1]
                if ignoring and tree.ignored[tree.places[step]] >= 0:
                    most = max(most, 1.0 - may)
                least -= weight[step] * most
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
                met += last[node] - first[node]
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
            return start[: q + 2], position[:n], met
    return start, position[:n], met


@njit(nogil=True)
def _enter_ignored(tree, targets, target, may):  # type: ignore[no-untyped-def]
    """Give missing values that do not count the similarity that a step of the search asks for;
    returns the similarity above which found cases are sure to be inside."""
    for place in range(len(tree.ignored)):
        if tree.ignored[place] >= 0:
            at = targets.rows[target, place] + tree.ignored[place]
            targets.table[at] = 1.0 - may
            targets.table[at + tree.spans[place]] = 1.0 - may
    return 1.0 - may if may < 1.0 else 0.0


@njit(nogil=True)
def scan(tree, targets, pending, reach):  # type: ignore[no-untyped-def]
    """As `search`, without the tree: all vectors are compared by their codes, which tell a little
    more similarity than they have. Faster where cases are so sparse that little is pruned.

    Of the vectors that seem nearest, enough are surely as similar as is then asked of all others.
    """
    above, cap, fallback = reach
    size = 1024
    position = np.empty(size, np.int64)
    start = np.zeros(len(pending) + 1, np.int64)
    seem = np.empty(len(tree.codes), np.float32)
    n = 0
    for q in range(len(pending)):
        target = pending[q]
        weight = targets.weight_sum[target]
        most = _seeming(tree, targets, target, seem) / weight
        room = max(cap if above < 1.0 else 0.0, fallback)
        sure = _surely(tree, targets, target, seem, room)
        least = np.inf
        if most > above - _MARGIN:
            least = max(above, _nth(sure, cap))
        if fallback > 0 and not (len(sure) and sure[0] > above):
            least = min(least, _nth(sure, fallback))
        least = (least - _MARGIN) * weight
        for at in range(len(seem)):
            if seem[at] >= least:
                if n == size:
                    size *= 2
                    position = _longer(position, size)
                position[n] = at
                n += 1
        start[q + 1] = n
        if n > _IN_HAND:
            return start[: q + 2], position[:n]
    return start, position[:n]


@njit(nogil=True)
def _seeming(tree, targets, target, seem):  # type: ignore[no-untyped-def]
    """The most that the weighted sum of each vector may be by its codes, and the largest of all."""
    features = len(tree.spans)
    worth = np.zeros((features, 256), np.float32)
    for place in range(features):
        row = targets.rows[target, place]
        for code in range(min(256, len(targets.table) - row)):
            worth[place, code] = targets.weights[target, place] * targets.table[row + code]
        if tree.ignored[place] >= 0:
            worth[place, tree.ignored[place]] = targets.weights[target, place]
    most = np.float32(0.0)
    for at in range(len(seem)):
        total = np.float32(0.0)
        for place in range(features):
            total += worth[place, tree.codes[at, place]]
        seem[at] = total
        most = max(most, total)
    return most


@njit(nogil=True)
def _surely(tree, targets, target, seem, room):  # type: ignore[no-untyped-def]
    """The least similarity of vectors that seem nearest, at least `room` of them, in descending
    order; none if there is room for all."""
    if not room < len(seem):
        return np.empty(0)
    weight = targets.weight_sum[target]
    held = np.zeros(_BINS + 1, np.int64)
    for at in range(len(seem)):
        held[min(int(seem[at] / weight * _BINS), _BINS)] += 1
    cut, taken = _BINS, held[_BINS]
    while taken < room and cut > 0:
        cut -= 1
        taken += held[cut]
    found, n = np.empty(taken), 0
    for at in range(len(seem)):
        if min(int(seem[at] / weight * _BINS), _BINS) >= cut:
            found[n] = _least(tree, targets, target, at)
            n += 1
    return -np.sort(-found[:n])


@njit(nogil=True)
def _least(tree, targets, target, at):  # type: ignore[no-untyped-def]
    """The least similarity that a vector may have by its codes."""
    total, counted = 0.0, 0.0
    for place in range(len(tree.spans)):
        code = tree.codes[at, place]
        if code != tree.ignored[place]:
            worst = targets.rows[target, place] + tree.spans[place] + code
            total += targets.weights[target, place] * targets.table[worst]
            counted += targets.weights[target, place]
    return total / counted if counted > 0.0 else 0.0


@njit(nogil=True)
def _nth(descending, rank):  # type: ignore[no-untyped-def]
    """The number of this rank from the top, rounded up; -1 if there are not so many."""
    place = np.ceil(rank) - 1.0
    return descending[int(place)] if 0 <= place < len(descending) else -1.0


@njit(nogil=True)
def _unsure(tree, targets, target, at):  # type: ignore[no-untyped-def]
    """The most by which spans of values may overestimate a vector's weighted sum."""
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
    for at in range(len(array)):
        longer[at] = array[at]
    return longer


@njit(nogil=True)
def score(start, position, tree, targets, pending, local):  # type: ignore[no-untyped-def]
    """Similarities as `scoring` defines them: summed in feature order.

    `local` [w, n] are the local similarities in the features that are divided into spans.
    """
    weights, rows, table = targets.weights, targets.rows, targets.table
    codes, wide = tree.codes, tree.wide
    if tree.ignored.max() >= 0:
        return _score_known(start, position, tree, targets, pending, local)
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
def _score_known(start, position, tree, targets, pending, local):  # type: ignore[no-untyped-def]
    """`score` where missing values do not count: the sum of weights depends on the vector."""
    weights, rows, table = targets.weights, targets.rows, targets.table
    similarity = np.empty(len(position))
    for q in range(len(start) - 1):
        target = pending[q]
        for i in range(start[q], start[q + 1]):
            total, counted = 0.0, 0.0
            for place in range(len(tree.wide)):
                code = tree.codes[position[i], place]
                if code == tree.ignored[place]:
                    continue
                if tree.wide[place] >= 0:
                    total += weights[target, place] * local[tree.wide[place], i]
                else:
                    total += weights[target, place] * table[rows[target, place] + code]
                counted += weights[target, place]
            similarity[i] = total / counted if counted > 0.0 else 0.0
    return similarity


@njit(nogil=True)
def rank(start, position, similarity, tree, reach):  # type: ignore[no-untyped-def]
    """The vectors within the reach of each target, nearest first, as `ranking.nearest` defines."""
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
                # One integer as sort key: similarity in millionths, then number.
                keys[j] = numbers[position[i]] - (np.int64(np.rint(similarity[i] / 1e-6)) << 40)
                places[j] = i
                j += 1
        room = cap if inside else fallback
        taken, edge = 0, np.int64(-1)
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
