"""Exact search that leaves out what cannot be near: a tree over the features.

Vectors are sorted by feature after feature, so each node of the tree is a run of vectors that agree
in the first ones. A branch is cut where the similarity already lost is more than may be lost. The
features by which most is lost come first. One with many values is cut into spans of them, where the
similarity to a span is that to its nearest end; its true values are compared in what is left.

How much may be lost is widened step by step until enough is found: in a crowded neighbourhood the
first step sees a few vectors only. What is found is scored like everything else, in float64 and in
feature order, so the result is the same as that of comparing every vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cbr.errors import PluginFailure
from cbr.index import Found, Reach
from cbr.measure import Bound
from cbr.vectors import Floats, Ints, Vectors

#: A feature with more distinct values than this is cut into spans of values.
_DISTINCT = 256
#: So many, with about as many vectors in each.
_SPANS = 32
#: The tree ends where its nodes hold so few vectors that looking at each costs no more.
_LEAF = 2
#: Numbers of 8 bytes that remembered similarities may take.
_REMEMBERED = 8_000_000
#: Vectors that may be in hand at a time, for all targets together.
_IN_HAND = 4_000_000
#: Partial sums are in another order than the scores; this is far more than they can differ by.
_SLACK = 1e-9
#: Pairs of vectors by which it is judged how much similarity a feature usually loses.
_JUDGED = 300


class Trie:
    """An index that finds exactly what comparing every vector finds."""

    def __init__(self, vectors: Vectors, measures: Sequence[Bound]) -> None:
        self.vectors = vectors
        self.measures = list(measures)
        features = range(len(self.measures))
        self.wide = [p for p in features if len(vectors.columns[p][0]) > _DISTINCT]
        self.ends = {place: self._cut(place) for place in self.wide}
        codes = np.column_stack([self._codes(place) for place in features])
        # What a feature costs for each branching in two. Its own weight and any other may be asked
        # for.
        weights = np.array([bound.feature.weight for bound in self.measures])
        power = np.array([self._loss(place) for place in features]) * (weights + 3 * weights.mean())
        power /= np.log2(codes.max(axis=0) + 2)
        self.tree = _Tree(self, codes, np.argsort(-power, kind="stable"))
        self.table = np.empty(1 << 12)
        self.forget()

    def _cut(self, place: int) -> tuple[Floats, Floats]:
        """The ends of the spans into which a feature's values are cut; one if it must be."""
        distinct, of_vector = self.vectors.columns[place]
        if not self.measures[place].measure.falls:
            return distinct[:1].astype(np.float64), distinct[-1:].astype(np.float64)
        self._verify_falls(place)
        marks = np.linspace(0, len(of_vector), _SPANS, endpoint=False).astype(int)
        low = np.unique(np.sort(of_vector)[marks])
        high = np.append(low[1:] - 1, len(distinct) - 1)
        return distinct[low].astype(np.float64), distinct[high].astype(np.float64)

    def _verify_falls(self, place: int) -> None:
        """A look at the author's word that similarity does not rise with distance."""
        bound, distinct = self.measures[place], self.vectors.columns[place][0]
        spread = distinct[np.linspace(0, len(distinct) - 1, 16).astype(int)]
        for at, row in enumerate(bound.grid(spread, spread)):
            if (np.diff(row[at:]) > 1e-9).any() or (np.diff(row[: at + 1]) < -1e-9).any():
                raise PluginFailure(
                    f"similarity {bound.measure.name!r} is said to fall with distance, and rises "
                    f"at {float(spread[at])} of {bound.feature.name!r}"
                )

    def _codes(self, place: int) -> NDArray[np.int32]:
        """Which value, or which span of values, each vector has."""
        distinct, of_vector = self.vectors.columns[place]
        if place not in self.ends:
            return of_vector
        span = np.searchsorted(self.ends[place][0], distinct.astype(np.float64), "right") - 1
        return span[of_vector].astype(np.int32)

    def _loss(self, place: int) -> float:
        """How much similarity this feature costs two vectors, on average."""
        bound = self.measures[place]
        some = np.random.default_rng(0).integers(0, len(self.vectors), (2, _JUDGED))
        one, two = (self.vectors.values[s, place].tolist() for s in some)
        decode = bound.feature.decode
        lost = [1.0 - bound.one(decode(a), decode(b)) for a, b in zip(one, two, strict=True)]
        return float(np.mean(lost))

    def candidates(
        self, targets: NDArray[np.float32], weights: Floats, reach: Reach
    ) -> Sequence[Ints]:
        found = self.nearest(targets, weights, reach)
        return np.split(found.number, found.start[1:-1])

    def nearest(self, codes: NDArray[np.float32], weights: Floats, reach: Reach) -> Found:
        """What `reach` includes for each target, nearest first: `codes` and `weights` [q, d]."""
        rows, most = self._rows(codes)
        asked = _Asked(codes, weights, weights.cumsum(axis=1)[:, -1], rows, weights * most)
        lost = np.full(len(codes), _first_step(*reach.numbers))
        parts: list[tuple[Ints, Found]] = []
        pending = np.arange(len(codes))
        while len(pending):
            pending = self.tree.search(asked, pending, lost, reach.numbers, parts)
        return _joined(parts, len(codes))

    def forget(self) -> None:
        """Drop the similarities that are remembered."""
        self._at: list[dict[float, int]] = [{} for _ in self.measures]
        self._most: list[dict[float, float]] = [{} for _ in self.measures]
        self._used = 0

    def _rows(self, codes: NDArray[np.float32]) -> tuple[Ints, Floats]:
        """Where in the table the similarities of each target's values stand, and their maxima."""
        if self._used > _REMEMBERED:
            self.forget()
        rows, most = [], []
        for place, column in enumerate(codes.T.tolist()):
            at, highest = self._at[place], self._most[place]
            if place in self.ends:
                rows.append([0] * len(column))
                most.append([1.0] * len(column))
                continue
            for value in set(column).difference(at):
                self._remember(place, value)
            rows.append([at[value] for value in column])
            most.append([highest[value] for value in column])
        found = np.array(rows).T
        # Those of spans stand behind what is remembered, for this once.
        used = self._used
        for place in self.wide:
            low, high = self.ends[place]
            target = codes[:, place].astype(np.float64)[:, None]
            nearest = np.clip(target, low, high)
            if self.measures[place].measure.falls:
                flat = np.broadcast_to(target, nearest.shape).reshape(-1)
                similarity = self.measures[place].pairs(flat, nearest.reshape(-1))
            else:
                similarity = np.ones(nearest.size)
            self._room(used + len(similarity))
            self.table[used : used + len(similarity)] = similarity
            found[:, place] = used + len(low) * np.arange(len(codes))
            used += len(similarity)
        return found, np.array(most).T

    def _remember(self, place: int, value: float) -> None:
        distinct = self.vectors.columns[place][0]
        row = self.measures[place].grid(np.array([value], np.float32), distinct)[0]
        at = self._used
        self._used += len(row)
        self._room(self._used)
        self.table[at : self._used] = row
        self._at[place][value] = at
        self._most[place][value] = float(row.max())

    def _room(self, size: int) -> None:
        if size > len(self.table):
            larger = np.empty(max(2 * len(self.table), size))
            larger[: len(self.table)] = self.table
            self.table = larger


class _Asked(NamedTuple):
    """Targets: codes, weights and their sum, rows of similarities, and what a feature can bring."""

    codes: NDArray[np.float32]
    weights: Floats
    whole: Floats
    rows: Ints
    best: Floats


class _Tree:
    """Vectors sorted by the features in one order, as nodes under nodes.

    `places` are the features in the order in which they are looked at, the levels first.
    """

    def __init__(self, trie: Trie, codes: NDArray[np.int32], places: Ints) -> None:
        vectors = trie.vectors
        self.trie = trie
        self.places = places
        self.order = np.lexsort([codes[:, place] for place in self.places[::-1]])
        self.codes = np.ascontiguousarray(codes[self.order][:, self.places])
        self.code, self.first, self.last, self.top, self.levels = self._nodes()
        self.exact = np.column_stack([column for _, column in vectors.columns])[self.order]
        self.values = {
            place: vectors.values[self.order, place].astype(np.float64) for place in trie.wide
        }
        #: For each feature, which of those that are cut into spans it is; -1 for the others.
        self.of_wide = np.full(len(places), -1)
        self.of_wide[trie.wide] = np.arange(len(trie.wide))
        self.cases = vectors.cases[self.order]

    def _nodes(self) -> tuple[NDArray[np.int32], Ints, Ints, int, int]:
        """All nodes, level after level: what each stands for, its children; and how many levels.

        Children of a node of the last level are vectors.
        """
        count = len(self.codes)
        new = np.zeros(count, bool)
        new[0] = True
        starts: list[Ints] = []
        values = []
        for column in self.codes.T:
            if starts and len(starts[-1]) * _LEAF > count:
                break
            new[1:] |= column[1:] != column[:-1]
            starts.append(np.flatnonzero(new))
            values.append(column[starts[-1]])
        offset = np.cumsum([0, *map(len, starts)])
        first, last = [], []
        for level, start in enumerate(starts):
            end = np.append(start[1:], count)
            if level + 1 < len(starts):
                below = starts[level + 1]
                start, end = (offset[level + 1] + np.searchsorted(below, s) for s in (start, end))
            first.append(start)
            last.append(end)
        nodes = np.concatenate(values), np.concatenate(first), np.concatenate(last)
        return *nodes, len(starts[0]), len(starts)

    def search(
        self,
        asked: _Asked,
        pending: Ints,
        lost: Floats,
        reach: tuple[float, float, float],
        parts: list[tuple[Ints, Found]],
    ) -> Ints:
        """Look for pending targets and add what was found to `parts`; those that need more.

        `lost` is how much similarity each target may lose, and is raised where that was too little.
        """
        left: list[Ints] = []
        at = 0
        while at < len(pending):
            now = pending[at:]
            if not self.values:
                given = (*self._tree, *asked[1:], now, lost[now], *self._score, *reach)
                found = _find(*given)
                now = now[: len(found[0]) - 1]
                at += len(now)
                parts.append((now, Found(*found)))
                continue
            start, position = self._within(asked, now, lost[now], reach)
            now = now[: len(start) - 1]
            at += len(now)
            similarity = self._scored(asked, now, start, position)
            sure, wider = _judge(start, position, similarity, self.cases, lost[now], *reach)
            lost[now] = wider
            left.append(now[~sure])
            given = (start, position, similarity, self.order, self.cases, sure)
            parts.append((now[sure], Found(*_order(*given, *reach))))
        return np.concatenate(left) if left else pending[:0]

    @property
    def _tree(self) -> tuple[Any, ...]:
        nodes = (self.code, self.first, self.last, self.top, self.levels)
        return *nodes, self.codes, self.cases, self.places, self.trie.table

    @property
    def _score(self) -> tuple[Any, ...]:
        return self.exact, self.of_wide, self.order

    def _within(
        self, asked: _Asked, now: Ints, lost: Floats, reach: tuple[float, float, float]
    ) -> tuple[Ints, Ints]:
        """Positions that come so near, for the first targets."""
        # Their true values come later, and before that it cannot be told whether it is enough.
        given = (*self._tree, *asked[1:], now, lost, False, *reach)
        start, position, part = _descend(*given)
        now = now[: len(start) - 1]
        for place, values in self.values.items():
            step = int(np.flatnonzero(self.places == place)[0])
            rows, weights = asked.rows[now, place], asked.weights[now, place]
            brought = _of_spans(start, position, self.codes, step, self.trie.table, rows, weights)
            start, position, part = self.trie.measures[place].narrow(
                start,
                position,
                part - brought,
                values,
                asked.codes[now, place].astype(np.float64),
                weights,
                (1.0 - lost[: len(now)] - _SLACK) * asked.whole[now],
            )
        return start, position

    def _scored(self, asked: _Asked, now: Ints, start: Ints, position: Ints) -> Floats:
        """Similarities as they are defined: summed in feature order."""
        local = np.empty((len(self.values), len(position)))
        for number, (place, values) in enumerate(self.values.items()):
            target = np.repeat(asked.codes[now, place].astype(np.float64), np.diff(start))
            local[number] = self.trie.measures[place].pairs(target, values[position])
        given = (*asked[1:4], now, self.exact, self.trie.table, self.of_wide, local)
        similarity: Floats = _sums(start, position, *given)
        return similarity


def _first_step(above: float, cap: float, fallback: float) -> float:
    """How much similarity may be lost at first."""
    most = 1.0 - above
    if most <= 0:
        return 0.005
    return most / 4 if np.isfinite(cap) else most + 1e-6


@njit(cache=True, nogil=True)
def _goal(lost, above, cap, fallback):  # type: ignore[no-untyped-def]
    """When that much was enough: so many cases above a similarity.

    It lies a millionth inside what may be lost, so that none is missed that ties with them.
    """
    most = 1.0 - above
    if lost >= 1.0 or (fallback <= 0 and lost >= most):
        return 0.0, 0.0
    if most <= 0 or lost > most + 2e-6:
        return fallback, 1.0 - lost + 1e-6
    if lost < most:
        return cap, 1.0 - lost + 1e-6
    return 1.0, above - 1e-6


@njit(cache=True, nogil=True)
def _wider(lost, held, above, fallback):  # type: ignore[no-untyped-def]
    """How much may be lost next, when so many cases were found."""
    most = 1.0 - above
    if lost < most:
        # The last of these steps is a millionth wider than the threshold, and never a bit narrower.
        return 2.0 * lost if 2.0 * lost < most else most + 1e-6
    # What is found grows with a high power of what may be lost.
    grown = 1.02 * (fallback / held) ** 0.2 if held else 1.5
    lost *= min(max(grown, 1.04), 1.5 if most <= 0 else 1.25)
    return lost if lost < 1.0 and np.isfinite(fallback) else 2.0


@njit(cache=True, nogil=True)
def _find(  # type: ignore[no-untyped-def]
    code,
    first,
    last,
    top,
    levels,
    codes,
    cases,
    places,
    table,
    weights,
    whole,
    rows,
    best,
    now,
    lost,
    exact,
    of_wide,
    order,
    above,
    cap,
    fallback,
):
    """All at once, where every feature's similarities are looked up."""
    tree = (code, first, last, top, levels, codes, cases, places, table)
    asked = (weights, whole, rows, best, now, lost)
    start, position, _ = _descend(*tree, *asked, True, above, cap, fallback)
    local = np.empty((0, 0))
    given = (weights, whole, rows, now, exact, table, of_wide, local)
    similarity = _sums(start, position, *given)
    chosen = np.ones(len(start) - 1, np.bool_)
    return _order(start, position, similarity, order, cases, chosen, above, cap, fallback)


@njit(cache=True, nogil=True)
def _descend(  # type: ignore[no-untyped-def]
    code,
    first,
    last,
    top,
    levels,
    codes,
    cases,
    places,
    table,
    weights,
    whole,
    rows,
    best,
    now,
    lost,
    until_enough,
    above,
    cap,
    fallback,
):
    """Positions that may come near enough, and how far they have come, for the targets `now`.

    With `until_enough` more is allowed to be lost until the reach has what it wants. Ends after the
    target with which there are more than can be held.
    """
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
        for place in range(features - 1, -1, -1):
            weight[place] = weights[target, places[place]]
            row[place] = rows[target, places[place]]
            rest[place] = come  # what the features after it can still bring
            come += best[target, places[place]]
        may = lost[q]
        while True:
            n = start[q]
            limit = (1.0 - may - _SLACK) * whole[target]
            enough, inside = _goal(may, above, cap, fallback)
            sure = (inside + _SLACK) * whole[target]
            held = 0
            level = 0
            here[0], end[0] = 0, top
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
                    for place in range(levels, features):
                        total += weight[place] * table[row[place] + codes[at, place]]
                        if total + rest[place] < limit:
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
                            held += cases[at]
            if not until_enough or held >= enough:
                break
            may = _wider(may, held, above, fallback)
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
def _of_spans(start, position, codes, step, table, rows, weights):  # type: ignore[no-untyped-def]
    """What a feature was taken to bring, because only its span was known."""
    brought = np.empty(len(position))
    for q in range(len(start) - 1):
        for i in range(start[q], start[q + 1]):
            brought[i] = weights[q] * table[rows[q] + codes[position[i], step]]
    return brought


@njit(cache=True, nogil=True)
def _sums(  # type: ignore[no-untyped-def]
    start, position, weights, whole, rows, now, codes, table, of_wide, local
):
    similarity = np.empty(len(position))
    for q in range(len(start) - 1):
        target = now[q]
        for i in range(start[q], start[q + 1]):
            total = 0.0
            for place in range(len(of_wide)):
                if of_wide[place] >= 0:
                    total += weights[target, place] * local[of_wide[place], i]
                else:
                    code = codes[position[i], place]
                    total += weights[target, place] * table[rows[target, place] + code]
            similarity[i] = total / whole[target]
    return similarity


@njit(cache=True, nogil=True)
def _judge(  # type: ignore[no-untyped-def]
    start, position, similarity, cases, lost, above, cap, fallback
):
    """Whether each span holds enough, and how much may be lost next."""
    sure = np.zeros(len(start) - 1, np.bool_)
    wider = np.empty(len(sure))
    for q in range(len(sure)):
        enough, inside = _goal(lost[q], above, cap, fallback)
        held = 0
        for i in range(start[q], start[q + 1]):
            if similarity[i] > inside:
                held += cases[position[i]]
        sure[q] = held >= enough
        wider[q] = _wider(lost[q], held, above, fallback)
    return sure, wider


@njit(cache=True, nogil=True)
def _order(  # type: ignore[no-untyped-def]
    start, position, similarity, order, cases, chosen, above, cap, fallback
):
    """The chosen spans, each nearest first and cut where the reach ends."""
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
                keys[j] = order[position[i]] - (np.int64(np.rint(similarity[i] / 1e-6)) << 40)
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
            number[n] = order[position[i]]
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


def _joined(parts: list[tuple[Ints, Found]], count: int) -> Found:
    """Spans that were found at different steps, in the order of their targets."""
    if len(parts) == 1 and len(parts[0][0]) == count:
        return parts[0][1]
    size = np.zeros(count, np.int64)
    for asked, found in parts:
        size[asked] = np.diff(found.start)
    start = np.append(0, np.cumsum(size))
    number = np.empty(start[-1], np.int64)
    similarity, share = np.empty(start[-1]), np.empty(start[-1])
    for asked, found in parts:
        lengths = np.diff(found.start)
        place = np.repeat(start[asked] - found.start[:-1], lengths) + np.arange(len(found.number))
        number[place] = found.number
        similarity[place], share[place] = found.similarity, found.share
    return Found(start, number, similarity, share)
