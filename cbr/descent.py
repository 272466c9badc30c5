"""Descent: the search in the tree of `cbr.trie`, as compiled code.

How much similarity may be lost is widened step by step until enough is found: in a crowded
neighbourhood the first step sees a few vectors only. Found vectors are positions in the order of
the tree; those of the q-th target that was asked about go from ``start[q]`` to ``start[q + 1]``.
`reach` is what `Reach.numbers` gives: above, cap and fallback.

All of it is in one file, because numba keeps what it compiled by file, and does not see when a
function of another file has changed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cbr.vectors import Floats, Ints

#: Vectors that may be in hand at a time, for all targets together.
_IN_HAND = 4_000_000
#: Partial sums are in another order than the scores; this is far more than they can differ by.
SLACK = 1e-9


class Tree(NamedTuple):
    """Vectors sorted by the features in one order, as nodes under nodes.

    Nodes go level after level, the `top` ones first. Each stands for one `code` of its level's
    feature, and its children are those from `first` to `last`: in the last level, vectors.

    `places` are the features in the order in which they are looked at, the levels first. `codes`
    [m, d] are in that order, and `exact` [m, d] by feature: there `wide` says for each which of
    those that are cut into spans it is; -1 for the others. `number` [m] is what a vector is called.
    """

    code: NDArray[np.int32]
    first: Ints
    last: Ints
    top: int
    levels: int
    places: Ints
    codes: NDArray[np.int32]
    exact: NDArray[np.int32]
    wide: Ints
    cases: Ints
    number: Ints


class Asked(NamedTuple):
    """Targets: their values, and weights with the sum of them.

    Similarities of a target's value to each code stand in the `table` from its place in `rows` on,
    and in front of them one that none exceeds.
    """

    values: Floats
    weights: Floats
    whole: Floats
    rows: Ints
    table: Floats


def first_step(reach: tuple[float, float, float]) -> float:
    """How much similarity may be lost at first."""
    above, cap, _ = reach
    most = 1.0 - above
    if most <= 0:
        return 0.005
    return most / 4 if math.isfinite(cap) else most + 1e-6


@njit(cache=True, nogil=True)
def _goal(lost, reach):  # type: ignore[no-untyped-def]
    """When that much was enough: so many cases above a similarity.

    It lies a millionth inside what may be lost, so that none is missed that ties with them.
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


@njit(cache=True, nogil=True)
def _wider(lost, held, reach):  # type: ignore[no-untyped-def]
    """How much may be lost next, when so many cases were found."""
    above, _, fallback = reach
    most = 1.0 - above
    if lost < most:
        # The last of these steps is a millionth wider than the threshold, and never a bit narrower.
        return 2.0 * lost if 2.0 * lost < most else most + 1e-6
    # What is found grows with a high power of what may be lost.
    grown = 1.02 * (fallback / held) ** 0.2 if held else 1.5
    lost *= min(max(grown, 1.04), 1.5 if most <= 0 else 1.25)
    return lost if lost < 1.0 and np.isfinite(fallback) else 2.0


@njit(cache=True, nogil=True)
def find(tree, asked, now, lost, reach):  # type: ignore[no-untyped-def]
    """All at once, where every feature's similarities are looked up."""
    start, position, _ = descend(tree, asked, now, lost, True, reach)
    similarity = score(start, position, tree, asked, now, np.empty((0, 0)))
    return rank(start, position, similarity, tree, np.ones(len(start) - 1, np.bool_), reach)


@njit(cache=True, nogil=True)
def descend(tree, asked, now, lost, until_enough, reach):  # type: ignore[no-untyped-def]
    """Positions that may come near enough, and how far they have come, for the targets `now`.

    With `until_enough` more is allowed to be lost until the reach has what it wants. Ends after the
    target with which there are more than can be held.
    """
    code, first, last, levels = tree.code, tree.first, tree.last, tree.levels
    codes, table = tree.codes, asked.table
    features = codes.shape[1]
    size = 1024
    position = np.empty(size, np.int64)
    part = np.empty(size, np.float64)
    start = np.zeros(len(now) + 1, np.int64)
    here, end = np.empty(levels, np.int64), np.empty(levels, np.int64)
    sofar = np.zeros(levels, np.float64)
    weight, rest = np.empty(features), np.empty(features)
    row = np.empty(features, np.int64)
    n = 0
    for q in range(len(now)):
        target = now[q]
        come = 0.0
        for step in range(features - 1, -1, -1):
            place = tree.places[step]
            weight[step] = asked.weights[target, place]
            row[step] = asked.rows[target, place]
            rest[step] = come  # what the features after it can still bring
            come += weight[step] * table[row[step] - 1]
        may = lost[q]
        while True:
            n = start[q]
            limit = (1.0 - may - SLACK) * asked.whole[target]
            enough, inside = _goal(may, reach)
            sure = (inside + SLACK) * asked.whole[target]
            held = 0
            level = 0
            here[0], end[0] = 0, tree.top
            while level >= 0:
                if here[level] == end[level]:
                    level -= 1
                    continue
                node = here[level]
                here[level] += 1
                come = sofar[level] + weight[level] * table[row[level] + code[node]]
                if come + rest[level] < limit:
                    continue
                if level + 1 < levels:
                    level += 1
                    here[level], end[level], sofar[level] = first[node], last[node], come
                    continue
                for at in range(first[node], last[node]):
                    total = come
                    near = True
                    for step in range(levels, features):
                        total += weight[step] * table[row[step] + codes[at, step]]
                        if total + rest[step] < limit:
                            near = False
                            break
                    if near:
                        if n == size:
                            size *= 2
                            position = _longer(position, size)
                            part = _longer(part, size)
                        position[n] = at
                        part[n] = total
                        n += 1
                        if total > sure:
                            held += tree.cases[at]
            if not until_enough or held >= enough:
                break
            may = _wider(may, held, reach)
        start[q + 1] = n
        if n > _IN_HAND:
            return start[: q + 2], position[:n], part[:n]
    return start, position[:n], part[:n]


@njit(cache=True, nogil=True)
def _longer(array, size):  # type: ignore[no-untyped-def]
    longer = np.empty(size, array.dtype)
    longer[: len(array)] = array
    return longer


@njit(cache=True, nogil=True)
def of_spans(start, position, tree, asked, now, step):  # type: ignore[no-untyped-def]
    """What the feature of a step was taken to bring, because only its span was known."""
    place, codes, table = tree.places[step], tree.codes, asked.table
    brought = np.empty(len(position))
    for q in range(len(start) - 1):
        weight, row = asked.weights[now[q], place], asked.rows[now[q], place]
        for i in range(start[q], start[q + 1]):
            brought[i] = weight * table[row + codes[position[i], step]]
    return brought


@njit(cache=True, nogil=True)
def score(start, position, tree, asked, now, local):  # type: ignore[no-untyped-def]
    """Similarities as they are defined: summed in feature order.

    `local` [w, n] are those in the features that are cut into spans.
    """
    weights, rows, table = asked.weights, asked.rows, asked.table
    exact, wide = tree.exact, tree.wide
    similarity = np.empty(len(position))
    for q in range(len(start) - 1):
        target = now[q]
        for i in range(start[q], start[q + 1]):
            total = 0.0
            for place in range(len(wide)):
                if wide[place] >= 0:
                    total += weights[target, place] * local[wide[place], i]
                else:
                    code = exact[position[i], place]
                    total += weights[target, place] * table[rows[target, place] + code]
            similarity[i] = total / asked.whole[target]
    return similarity


@njit(cache=True, nogil=True)
def judge(start, position, similarity, tree, lost, reach):  # type: ignore[no-untyped-def]
    """Whether each target has enough, and how much may be lost next."""
    sure = np.zeros(len(start) - 1, np.bool_)
    wider = np.empty(len(sure))
    for q in range(len(sure)):
        enough, inside = _goal(lost[q], reach)
        held = 0
        for i in range(start[q], start[q + 1]):
            if similarity[i] > inside:
                held += tree.cases[position[i]]
        sure[q] = held >= enough
        wider[q] = _wider(lost[q], held, reach)
    return sure, wider


@njit(cache=True, nogil=True)
def rank(start, position, similarity, tree, chosen, reach):  # type: ignore[no-untyped-def]
    """What the chosen targets have, each nearest first and cut where the reach ends, as `Found`."""
    above, cap, fallback = reach
    cases, numbers = tree.cases, tree.number
    kept = np.zeros(chosen.sum() + 1, np.int64)
    number = np.empty(len(position), np.int64)
    out = np.empty(len(position), np.float64)
    share = np.empty(len(position), np.float64)
    in_hand = np.empty(len(position), np.int64)
    n, row = 0, 0
    for q in range(len(chosen)):
        if not chosen[q]:
            continue
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
            while at > kept[row] and np.int64(np.rint(out[at - 1] / 1e-6)) == edge:
                at -= 1
                tied += in_hand[at]
            share[at:n] = (room - (taken - tied)) / tied
        row += 1
        kept[row] = n
    return kept, number[:n].copy(), out[:n].copy(), share[:n].copy()
