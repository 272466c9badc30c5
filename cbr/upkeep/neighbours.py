"""Neighbours: the nearest other cases of every case of a stage, while cases come and go.

Each distinct vector gets one list of its nearest vectors, found many at a time by the exact index
and somewhat longer than it need be. What the neighbours of a case say is then a walk along its
list, past the cases that are out. A list that ends too early is made anew: longer, or from an index
of those cases only that are left.

A case has no say on itself, and neither have the others of its record (decisions of one game know
too much of each other). Shares of a tied group are as `ranking` says, in whole numbers: they
are compared, and a rounding error is not to decide.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from cbr.retrieval.index.base import Found, Reach
from cbr.retrieval.ranking import millionths
from cbr.retrieval.retriever import Retriever
from cbr.store.arrays import Cases, Vectors
from cbr.typing import Floats, Ints, Progress
from cbr.upkeep import votes as polls
from cbr.upkeep.votes import SHORT, Left, Lists, Whose

#: Called with the vectors compared, how many are to be as far as is known, and the former again.

#: How many cases a list holds: so many times k, and so many more.
_SPARE = (4, 20)
#: Targets for which the index is asked at a time.
_AT_ONCE = 2000


class Neighbours:
    """Lists of nearest vectors, made as they are needed.

    Cases are known by place, in the order of `Vectors.case_ids`.
    """

    def __init__(
        self,
        retriever: Retriever,
        k: int = 3,
        cases: Cases | None = None,
        progress: Progress | None = None,
    ) -> None:
        vectors = retriever.vectors
        self.retriever, self.vectors, self.k = retriever, vectors, k
        self.solution = vectors.case_solutions
        self.vector = np.repeat(np.arange(len(vectors)), vectors.cases)
        record = _record_of(vectors, cases)
        #: Whether other cases than the case itself are left out with it.
        self.by_record = record is not None
        if record is None:
            record = np.arange(len(self.vector))
        own = np.lexsort((self.vector, record))
        own_start = np.append(0, np.cumsum(np.bincount(record)))
        cases_of = (self.vector, self.solution, record, vectors.start)
        self.whose = Whose(*cases_of, own, own_start, self.vector[own])
        first, last = np.zeros((2, len(vectors)), np.int64)
        number, level = np.empty((2, 0), np.int32)
        self.lists = Lists(first, last, np.zeros(len(vectors), bool), number, level)
        self._used = 0
        #: How many cases each list was to hold; 0 if it was not made from the pool of today.
        self._asked = np.zeros(len(vectors), np.int64)
        self._pool, self._in_pool = retriever, np.arange(len(vectors))
        self._progress, self._done, self._planned = progress, 0, 0

    def everything(self) -> Left:
        return Left(np.ones(len(self.vector), bool), self.vectors.counts.copy())

    def nothing(self) -> Left:
        return Left(np.zeros(len(self.vector), bool), np.zeros_like(self.vectors.counts))

    @property
    def _usual(self) -> int:
        """How many cases a list is to hold."""
        return _SPARE[0] * self.k + _SPARE[1]

    def given(self, left: Left) -> tuple[Lists, Whose, Left, int]:
        """What the functions of `cbr.upkeep.votes` go by."""
        return self.lists, self.whose, left, self.k

    def judge(self, cases: Ints, left: Left) -> tuple[NDArray[np.int8], Floats]:
        """What the k nearest others that are left say of each case (given by place).

        SOLVED if its solution is the commonest or equal first, CONTRADICTED if another is more
        common, NOTHING if there are no others. And the chance that they predict it: 1 if its
        solution is the commonest, a half if another is as common, and so on.
        """
        verdict, chance = np.full(len(cases), SHORT, np.int8), np.zeros(len(cases))
        while len(short := np.flatnonzero(verdict == SHORT)):
            self.need(self.vector[cases[short]], left)
            verdict[short], chance[short] = polls.judge(cases[short], *self.given(left))
            again = short[verdict[short] == SHORT]
            self.extend(np.unique(self.vector[cases[again]]), left)
        return verdict, chance

    def judge_all(self, left: Left) -> tuple[NDArray[np.int8], Floats]:
        """The same of every case; all lists are long enough then."""
        return self.judge(np.arange(len(self.vector)), left)

    def need(self, vectors: Ints, left: Left) -> None:
        """Make the lists that are not there yet."""
        there = np.zeros(len(self.vectors), bool)
        there[vectors] = True
        self.extend(np.flatnonzero(there & (self.lists.last == 0)), left)

    def extend(self, vectors: Ints, left: Left) -> None:
        """Make lists anew that were too short, longer or without cases that are out.

        What is out must not come back, once this has been called with it.
        """
        if not len(vectors):
            return
        filled = left.filled
        if 2 * int(filled.sum()) < len(self._in_pool):
            self._pool = pool(self.retriever, self.vectors, left)
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
            self.lists.whole[some] = size >= self._pool.vectors.cases.sum()

    def _keep(self, vectors: Ints, found: Found) -> None:
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

    def local_sets(self, left: Left, most: int) -> tuple[Ints, Ints]:
        """Reachability and coverage of each cell, in cases, [m, s] both.

        A case reaches (can be solved by) the cases that are nearer than the nearest one with
        another solution; a case covers those that reach it. Seen as far as the nearest `most`.
        """
        reach, cover = np.zeros_like(left.counts), np.zeros_like(left.counts)
        pending = inside = np.flatnonzero(left.filled)
        among = pool(self.retriever, self.vectors, left)
        size, everything = self._usual, int(left.counts.sum())
        while len(pending):
            self._plan(len(pending))
            short = []
            for part in np.array_split(pending, -(-len(pending) // _AT_ONCE)):
                found = nearest(among, self.vectors.values[part], size)
                given = (found.start, inside[found.number], millionths(found.similarity))
                end = size >= min(most, everything)
                short.append(part[polls.local(part, *given, left.counts, end, reach, cover)])
                self._tell(len(part))
            pending, size = np.concatenate(short), min(4 * size, max(most, size))
        return reach, cover


def nearest(retriever: Retriever, targets: NDArray[np.float32], cases: int) -> Found:
    """The nearest vectors of each target, with so many cases or more."""
    weights = np.tile(retriever.weights, (len(targets), 1))
    return retriever.nearest(targets, weights, Reach(2.0, fallback=cases))


def pool(retriever: Retriever, vectors: Vectors, left: Left) -> Retriever:
    """A retriever of those cases only that are left."""
    from cbr.retrieval.index.base import Scan
    from cbr.retrieval.index.tree import Trie

    some = np.flatnonzero(left.filled)
    counts = left.counts[some]
    among = dataclasses.replace(
        vectors,
        values=vectors.values[some],
        counts=counts,
        outcome_sum=np.zeros(counts.shape),
        outcome_count=np.zeros_like(counts),
        case_ids=vectors.case_ids[left.kept],
        case_solutions=vectors.case_solutions[left.kept],
        start=np.append(0, np.cumsum(counts.sum(axis=1))),
        estimates=None,
        beside=None,
    )
    index = (Scan if isinstance(retriever.index, Scan) else Trie)(among, retriever.measures)
    return Retriever(among, retriever.measures, retriever.weights, retriever.policy, index)


def _record_of(vectors: Vectors, cases: Cases | None) -> Ints | None:
    """The record of each case, numbered from 0; None where that is each case by itself."""
    if cases is None:
        return None
    order = np.argsort(cases.ids)
    place = order[np.searchsorted(cases.ids, vectors.case_ids, sorter=order)]
    distinct, record = np.unique(cases.record[place], return_inverse=True)
    # All cases of one record would leave none to ask.
    return record.reshape(-1) if 1 < len(distinct) < len(record) else None


def _longer(array: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    longer = np.empty(size, np.int32)
    longer[: len(array)] = array
    return longer
