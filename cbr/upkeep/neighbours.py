"""The nearest other cases of every case of a stage, while cases are removed.

Each distinct vector has one list of its nearest vectors, found in batches by the exact index and
somewhat longer than needed. To count the votes on a case, its list is traversed, skipping cases
that have been removed. A list that is too short is built again: longer, or from an index of the
remaining cases only.

A case does not vote on itself, and neither do the others of its record, because decisions of one
record depend on each other. Shares of a tied group are as `ranking` defines them, but in whole
numbers, so that no rounding error decides a comparison.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from cbr.errors import BadValue
from cbr.retrieval.index.base import NearestVectors, Reach
from cbr.retrieval.ranking import millionths
from cbr.retrieval.retriever import Retriever
from cbr.store.arrays import Cases, Vectors
from cbr.typing import Floats, Ints, Progress
from cbr.upkeep import votes
from cbr.upkeep.votes import SHORT, CaseTable, NeighbourLists, Remaining

#: The number of cases in a list: the first number times k, plus the second.
_SPARE = (4, 20)
#: Targets for which the index is searched at a time.
_AT_ONCE = 2000


class Neighbours:
    """Lists of nearest vectors, built when they are needed.

    A case is identified by its index in `Vectors.case_ids`. `progress` is called with the vectors
    compared, the number planned so far, and the vectors compared again.
    """

    def __init__(
        self,
        retriever: Retriever,
        k: int = 3,
        cases: Cases | None = None,
        progress: Progress | None = None,
    ) -> None:
        vectors = retriever.vectors
        if vectors.case_numbers is not None:
            raise BadValue(
                f"solutions of stage {vectors.case_type.stage!r} are numbers; refinement and "
                "competence ask whether cases have the same class"
            )
        self.retriever, self.vectors, self.k = retriever, vectors, k
        self.solution = vectors.case_solutions
        self.vector = np.repeat(np.arange(len(vectors)), vectors.cases)
        record = _record_of(vectors, cases)
        #: Whether the other cases of a case's record are left out with it.
        self.by_record = record is not None
        if record is None:
            record = np.arange(len(self.vector))
        own = np.lexsort((self.vector, record))
        own_start = np.append(0, np.cumsum(np.bincount(record)))
        cases_of = (self.vector, self.solution, record, vectors.start)
        self.table = CaseTable(*cases_of, own, own_start, self.vector[own])
        first, last = np.zeros((2, len(vectors)), np.int64)
        number, level = np.empty((2, 0), np.int32)
        self.lists = NeighbourLists(first, last, np.zeros(len(vectors), bool), number, level)
        self._used = 0
        #: The number of cases requested for each list; 0 if it was not built from the present pool.
        self._asked = np.zeros(len(vectors), np.int64)
        self._pool, self._in_pool = retriever, np.arange(len(vectors))
        self._progress, self._done, self._planned = progress, 0, 0

    def all_cases(self) -> Remaining:
        return Remaining(np.ones(len(self.vector), bool), self.vectors.counts.copy())

    def no_cases(self) -> Remaining:
        return Remaining(np.zeros(len(self.vector), bool), np.zeros_like(self.vectors.counts))

    @property
    def _usual(self) -> int:
        """The usual number of cases in a list."""
        return _SPARE[0] * self.k + _SPARE[1]

    def vote_arrays(self, remaining: Remaining) -> tuple[NeighbourLists, CaseTable, Remaining, int]:
        """The arguments of the functions of `cbr.upkeep.votes`."""
        return self.lists, self.table, remaining, self.k

    def judge(self, cases: Ints, remaining: Remaining) -> tuple[NDArray[np.int8], Floats]:
        """The verdict of the k nearest remaining others on each case (given by index).

        SOLVED if its solution is the most frequent or tied, CONTRADICTED if another is more
        frequent, NOTHING if there are no others. Also the chance that they predict it: 1 if its
        solution is the most frequent, a half if it is tied with another, and so on.
        """
        verdict, chance = np.full(len(cases), SHORT, np.int8), np.zeros(len(cases))
        while len(short := np.flatnonzero(verdict == SHORT)):
            self.need(self.vector[cases[short]], remaining)
            verdict[short], chance[short] = votes.judge(cases[short], *self.vote_arrays(remaining))
            again = short[verdict[short] == SHORT]
            self.extend(np.unique(self.vector[cases[again]]), remaining)
        return verdict, chance

    def judge_all(self, remaining: Remaining) -> tuple[NDArray[np.int8], Floats]:
        """`judge` for every case, after which all lists are long enough."""
        return self.judge(np.arange(len(self.vector)), remaining)

    def need(self, vectors: Ints, remaining: Remaining) -> None:
        """Build the lists that do not exist yet."""
        there = np.zeros(len(self.vectors), bool)
        there[vectors] = True
        self.extend(np.flatnonzero(there & (self.lists.last == 0)), remaining)

    def extend(self, vectors: Ints, remaining: Remaining) -> None:
        """Build lists again that were too short: longer, or without cases that were removed.

        Cases that are not in `remaining` must not be restored later.
        """
        if not len(vectors):
            return
        filled = remaining.filled
        if 2 * int(filled.sum()) < len(self._in_pool):
            self._pool = retriever_of_remaining(self.retriever, self.vectors, remaining)
            self._in_pool = np.flatnonzero(filled)
            self._asked[:] = 0
        wanted = np.maximum(4 * self._asked[vectors], self._usual)
        for size in np.unique(wanted):
            some = vectors[wanted == size]
            self._plan(len(some))
            for part in np.array_split(some, -(-len(some) // _AT_ONCE)):
                self._keep(part, nearest(self._pool, self.vectors.values[part], int(size)))
                self._tell(len(part))
            self._asked[some] = size
            self.lists.complete[some] = size >= self._pool.vectors.cases.sum()

    def _keep(self, vectors: Ints, found: NearestVectors) -> None:
        begin, end = self._used, self._used + len(found.number)
        _, _, _, number, level = self.lists
        if end > len(number):
            room = max(end, 2 * len(number), 32 * len(self.vectors))
            number, level = _longer(number, room), _longer(level, room)
            self.lists = self.lists._replace(number=number, level=level)
        number[begin:end] = self._in_pool[found.number]
        level[begin:end] = millionths(found.similarity)
        self.lists.first[vectors] = begin + found.start[:-1]
        self.lists.last[vectors] = begin + found.start[1:]
        self._used = end

    def _plan(self, vectors: int) -> None:
        self._planned += vectors

    def _tell(self, vectors: int) -> None:
        self._done += vectors
        if self._progress:
            self._progress(self._done, self._planned, self._done)

    def local_sets(self, remaining: Remaining, most: int) -> tuple[Ints, Ints]:
        """Reachability and coverage of each cell, in cases, [m, s] both.

        The reachable set of a case (those that can solve it) are the cases nearer than the nearest
        one with another solution; a case covers those in whose reachable sets it is. Only the
        nearest `most` cases are considered.
        """
        reach, cover = np.zeros_like(remaining.counts), np.zeros_like(remaining.counts)
        pending = inside = np.flatnonzero(remaining.filled)
        among = retriever_of_remaining(self.retriever, self.vectors, remaining)
        size, total = self._usual, int(remaining.counts.sum())
        while len(pending):
            self._plan(len(pending))
            short = []
            for part in np.array_split(pending, -(-len(pending) // _AT_ONCE)):
                found = nearest(among, self.vectors.values[part], size)
                lists = (found.start, inside[found.number], millionths(found.similarity))
                end = size >= min(most, total)
                short.append(
                    part[votes.add_local_sets(part, *lists, remaining.counts, end, reach, cover)]
                )
                self._tell(len(part))
            pending, size = np.concatenate(short), min(4 * size, max(most, size))
        return reach, cover


def nearest(retriever: Retriever, targets: NDArray[np.float32], cases: int) -> NearestVectors:
    """The nearest vectors of each target that have at least this many cases together."""
    weights = np.tile(retriever.weights, (len(targets), 1))
    return retriever.nearest(targets, weights, Reach(2.0, fallback=cases))


def retriever_of_remaining(
    retriever: Retriever, vectors: Vectors, remaining: Remaining
) -> Retriever:
    """A retriever over the remaining cases only."""
    from cbr.retrieval.index.base import Scan
    from cbr.retrieval.index.tree import TreeIndex

    some = np.flatnonzero(remaining.filled)
    counts = remaining.counts[some]
    among = dataclasses.replace(
        vectors,
        values=vectors.values[some],
        counts=counts,
        outcome_sum=np.zeros(counts.shape),
        outcome_count=np.zeros_like(counts),
        case_ids=vectors.case_ids[remaining.kept],
        case_solutions=vectors.case_solutions[remaining.kept],
        start=np.append(0, np.cumsum(counts.sum(axis=1))),
        estimates=None,
        beside=None,
    )
    index = (Scan if isinstance(retriever.index, Scan) else TreeIndex)(among, retriever.measures)
    return Retriever(among, retriever.measures, retriever.weights, retriever.policy, index)


def _record_of(vectors: Vectors, cases: Cases | None) -> Ints | None:
    """The record of each case, numbered from 0; None if each case is its own record."""
    if cases is None:
        return None
    order = np.argsort(cases.ids)
    place = order[np.searchsorted(cases.ids, vectors.case_ids, sorter=order)]
    distinct, record = np.unique(cases.record[place], return_inverse=True)
    # If all cases are of one record, leaving it out would leave no neighbours.
    return record.reshape(-1) if 1 < len(distinct) < len(record) else None


def _longer(array: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    longer = np.empty(size, np.int32)
    longer[: len(array)] = array
    return longer
