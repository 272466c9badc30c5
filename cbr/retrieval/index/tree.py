"""The exact index: a tree over the features, searched by branch and bound.

Vectors are sorted lexicographically by their features, so each node of the tree is a run of vectors
that agree in the first features. A branch is pruned where its features have already lost more
similarity than is allowed. The features that usually lose most come first. A feature with many
values is divided into spans of values, and its bound is the similarity to the nearest end of a
span; its true values are compared for the vectors that remain. A missing value is a value of its
own, or a span of its own.

Where cases are sparse, little can be pruned. If the first targets of many meet most vectors, the
others are compared with all of them (`tree_search.scan`), which is then several times as fast.

Vectors that are found are scored as `scoring` defines it, in float64 and in feature order, so the
result is the same as that of scoring every vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cbr.errors import PluginFailure
from cbr.measure import Bound
from cbr.retrieval.index import tree_search
from cbr.retrieval.index.base import NearestVectors, Reach, joined
from cbr.retrieval.index.tree_search import Targets, Tree
from cbr.store.arrays import Vectors
from cbr.typing import Floats, Ints

#: A feature with more distinct values than this is divided into spans; a code is a byte.
_DISTINCT = 256
#: The number of spans, with about as many vectors in each.
_SPANS = 64
#: The tree ends where nodes have about this many vectors: comparing each is then as fast.
_LEAF = 4
#: The most similarities that are cached, 8 bytes each.
_REMEMBERED = 8_000_000
#: Pairs of vectors from which the similarity that a feature usually loses is estimated.
_JUDGED = 300


#: After so many targets the search may go on without the tree,
_TRIED = 24
#: if it met more than this part of all vectors, on average, some of them again and again.
_MET = 0.5


Places = NDArray[np.int32]


class TreeIndex:
    """An index with the same result as scoring every vector."""

    def __init__(self, vectors: Vectors, measures: Sequence[Bound]) -> None:
        self.vectors = vectors
        self.measures = list(measures)
        features = range(len(self.measures))
        wide = [p for p in features if len(vectors.columns[p][0]) > _DISTINCT]
        self.ends = {place: self._cut(place) for place in wide}
        codes = np.column_stack([self._codes(place) for place in features])
        self.ignored = np.array([self._ignored(place) for place in features], np.int64)
        # Expected loss of similarity for each binary branching. A query may have other weights than
        # the features' own, so these are mixed with their mean.
        weights = np.array([bound.feature.weight for bound in self.measures])
        power = np.array([self._loss(place) for place in features]) * (weights + 3 * weights.mean())
        power /= np.log2(codes.max(axis=0) + 2.0)
        self.tree = self._grow(codes, np.argsort(-power, kind="stable"))
        self.true_values = {
            place: vectors.values[self.tree.number, place].astype(np.float64) for place in wide
        }
        self.table = _Table(self.measures, [distinct for distinct, _ in vectors.columns], self.ends)

    def _cut(self, place: int) -> tuple[Floats, Floats]:
        """The lower and upper ends of a feature's spans; a single span if its measure does not
        fall with distance."""
        distinct, of_vector = self.vectors.columns[place]
        known = np.count_nonzero(~np.isnan(distinct))
        if self.measures[place].measure.falls:
            self._verify_falls(place)
            of_known = np.sort(of_vector[of_vector < known])
            marks = np.linspace(0, len(of_known), _SPANS, endpoint=False).astype(int)
            low = np.unique(of_known[marks])
        else:
            low = np.zeros(1, np.int64)
        high = np.append(low[1:] - 1, known - 1)
        if known < len(distinct):
            low, high = np.append(low, known), np.append(high, known)
        return distinct[low].astype(np.float64), distinct[high].astype(np.float64)

    def _verify_falls(self, place: int) -> None:
        """Check on a sample that similarity does not rise with distance, as declared."""
        bound, distinct = self.measures[place], self.vectors.columns[place][0]
        distinct = distinct[~np.isnan(distinct)]
        spread = distinct[np.linspace(0, len(distinct) - 1, 16).astype(int)]
        for at, row in enumerate(bound.grid(spread, spread)):
            if (np.diff(row[at:]) > 1e-9).any() or (np.diff(row[: at + 1]) < -1e-9).any():
                raise PluginFailure(
                    f"similarity {bound.measure.name!r} is declared to fall with distance, but "
                    f"rises at {float(spread[at])} of {bound.feature.name!r}"
                )

    def _codes(self, place: int) -> NDArray[np.uint8]:
        """The code of each vector's value, or of the span that holds it, [m]."""
        distinct, of_vector = self.vectors.columns[place]
        if place not in self.ends:
            return of_vector.astype(np.uint8)
        span = np.searchsorted(self.ends[place][0], distinct.astype(np.float64), "right") - 1
        return span[of_vector].astype(np.uint8)

    def _ignored(self, place: int) -> int:
        """The code of a missing value that does not count; -1 where there is none."""
        if not self.measures[place].ignores:
            return -1
        return (
            len(self.ends[place][0] if place in self.ends else self.vectors.columns[place][0]) - 1
        )

    def _loss(self, place: int) -> float:
        """The mean of 1 - similarity in this feature, over random pairs of vectors that have it."""
        bound = self.measures[place]
        some = np.random.default_rng(0).integers(0, len(self.vectors), (2, _JUDGED))
        pairs = self.vectors.values[some, place].T
        pairs = pairs[~np.isnan(pairs).any(axis=1)]
        decode = bound.feature.decode
        lost = [1.0 - bound.one(decode(a), decode(b)) for a, b in pairs.tolist()]
        return float(np.mean(lost)) if lost else 0.0

    def _grow(self, codes: NDArray[np.uint8], places: Ints) -> Tree:
        order = np.lexsort([codes[:, place] for place in places[::-1]])
        codes = np.ascontiguousarray(codes[order])
        nodes = _nodes(codes[:, places])
        wide, spans = np.full(len(places), -1), np.zeros(len(places), np.int64)
        wide[list(self.ends)] = np.arange(len(self.ends))
        spans[list(self.ends)] = [len(low) for low, _ in self.ends.values()]
        return Tree(
            *nodes,
            places=places,
            codes=codes,
            below=np.ascontiguousarray(codes[:, places[nodes[-1] :]]),
            wide=wide,
            spans=spans,
            ignored=self.ignored,
            cases=self.vectors.cases[order],
            number=order,
        )

    def candidates(
        self, targets: NDArray[np.float32], weights: Floats, reach: Reach
    ) -> Sequence[Ints]:
        found = self.nearest(targets, weights, reach)
        return np.split(found.number, found.start[1:-1])

    def nearest(self, codes: NDArray[np.float32], weights: Floats, reach: Reach) -> NearestVectors:
        """The vectors within `reach` of each target, nearest first; `codes`, `weights` [q, d]."""
        # Arrays of a single query are read-only, and slices of one row contiguous, for which numba
        # would compile the search again.
        values, weights = np.array(codes, np.float64, order="C"), np.array(weights, order="C")
        weight_sum = np.ascontiguousarray(weights.cumsum(axis=1)[:, -1])
        rows = np.ascontiguousarray(self.table.rows(values))
        targets = Targets(values, weights, weight_sum, rows, self.table.similarity)
        numbers = reach.numbers
        parts: list[NearestVectors] = []
        pending = np.arange(len(codes))
        scanned = False
        while len(pending) or not parts:
            if scanned:
                start, position = tree_search.scan(self.tree, targets, pending, numbers)
            else:
                some = pending if len(pending) < 2 * _TRIED or parts else pending[:_TRIED]
                step = tree_search.first_step(numbers)
                start, position, met = tree_search.search(self.tree, targets, some, step, numbers)
                scanned = met > _MET * (len(start) - 1) * len(self.vectors)
            similarity = self._scored(targets, pending, start, position)
            parts.append(
                NearestVectors(*tree_search.rank(start, position, similarity, self.tree, numbers))
            )
            pending = pending[len(start) - 1 :]
        return joined(parts)

    def _scored(self, targets: Targets, pending: Ints, start: Ints, position: Ints) -> Floats:
        local = np.empty((len(self.true_values), len(position)))
        for number, (place, values) in enumerate(self.true_values.items()):
            target = np.repeat(targets.values[pending[: len(start) - 1], place], np.diff(start))
            local[number] = self.measures[place].pairs(target, values[position])
        similarity: Floats = tree_search.score(start, position, self.tree, targets, pending, local)
        return similarity


class _Table:
    """Cached similarities of targets' values to the values or spans of the tree's codes."""

    def __init__(
        self,
        measures: Sequence[Bound],
        distinct: Sequence[NDArray[np.float32]],
        ends: dict[int, tuple[Floats, Floats]],
    ) -> None:
        self.measures, self.distinct, self.ends = measures, distinct, ends
        self.similarity = np.empty(1 << 12)
        self._forget()

    def _forget(self) -> None:
        self._at: list[dict[float, int]] = [{} for _ in self.measures]
        self._used = 0

    def rows(self, values: Floats) -> Ints:
        """Positions in the table [q, d] at which the similarities of each target's value begin;
        their maximum precedes them."""
        if self._used > _REMEMBERED:
            self._forget()
        rows = []
        for place, column in enumerate(values.T.tolist()):
            if place in self.ends:
                rows.append([0] * len(column))
                continue
            at = self._at[place]
            for value in set(column).difference(at):
                self._remember(place, value)
            rows.append([at[value] for value in column])
        found = np.array(rows, np.int64).T
        # Similarities to spans follow the cached ones, for this call only.
        used = self._used
        for place, (low, high) in self.ends.items():
            similarity = self._of_spans(place, low, high, values[:, place, None])
            self._room(used + similarity.size)
            self.similarity[used : used + similarity.size] = similarity.reshape(-1)
            found[:, place] = used + 1 + similarity.shape[1] * np.arange(len(values))
            used += similarity.size
        return found

    def _of_spans(self, place: int, low: Floats, high: Floats, target: Floats) -> Floats:
        """Similarities of targets [q, 1] to spans, after their maximum: to the most similar value
        of each, then to the least similar, [q, 1 + 2 * spans]."""
        bound, spans = self.measures[place], len(low)
        similarity = np.ones((len(target), 1 + 2 * spans))
        if bound.measure.falls:
            ends = np.broadcast_to(np.append(low, high), (len(target), 2 * spans)).reshape(-1)
            local = bound.pairs(np.repeat(target, 2 * spans), ends).reshape(-1, 2, spans)
            outside = (target < low) | (target > high)
            similarity[:, 1 : 1 + spans] = np.where(outside, local.max(axis=1), 1.0)
            similarity[:, 1 + spans :] = local.min(axis=1)
        else:
            similarity[:, 1 + spans :] = 0.0
        if np.isnan(low[-1]):
            missing = bound.when_missing(target[:, 0].astype(np.float32))
            similarity[:, [spans, 2 * spans]] = missing[:, None]
        return similarity

    def _remember(self, place: int, value: float) -> None:
        row = self.measures[place].grid(np.array([value], np.float32), self.distinct[place])[0]
        at = self._used + 1
        self._used = at + len(row)
        self._room(self._used)
        self.similarity[at - 1] = np.max(row, initial=0.0, where=~np.isnan(row))
        self.similarity[at : self._used] = row
        self._at[place][value] = at

    def _room(self, size: int) -> None:
        if size > len(self.similarity):
            larger = np.empty(max(2 * len(self.similarity), size))
            larger[: len(self.similarity)] = self.similarity
            self.similarity = larger


def _nodes(codes: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], Places, Places, int, int]:
    """All nodes, level by level: code, first and last child; the number of top nodes and of levels.

    Children of a node of the last level are vectors.
    """
    count = len(codes)
    new = np.zeros(count, bool)
    new[0] = True
    starts: list[Ints] = []
    values = []
    for column in codes.T:
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
    first_, last_ = (np.concatenate(ends).astype(np.int32) for ends in (first, last))
    return np.concatenate(values), first_, last_, len(starts[0]), len(starts)
