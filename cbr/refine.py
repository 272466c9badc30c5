"""Refine: cases that mislead, and cases that add nothing.

`noise` is repeated edited nearest neighbour (RENN, Tomek 1976): a case whose k nearest other cases
mostly have another solution goes out, again and again until none does. `redundant` keeps only the
cases without which the nearest one would have another solution (condensed nearest neighbour, Hart
1968). Both only name cases; `Casebase.remove` acts.

Cases of one vector with one solution are alike, so the work is done by cell [vector, solution].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from cbr.errors import NoSuchName
from cbr.ranking import capped, millionths
from cbr.retrieve import Retriever
from cbr.vectors import Floats, Ints

#: Called with 0, 0 (how long it will take is not known) and the cases compared so far.
Progress = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Refinement:
    """What a method would drop: case numbers, and how well the stage predicts before and after.

    Accuracy is leave-one-out over all cases: the share whose solution is commonest (or equal
    first) among the k nearest other cases that are left.
    """

    method: str
    k: int
    drop: list[int]
    cases: int
    accuracy_before: float
    accuracy_after: float


class _Votes:
    """What the nearest cases say, when only some cases are left: `counts` [m, s]."""

    def __init__(self, retriever: Retriever, progress: Progress | None = None) -> None:
        self.retriever = retriever
        self.progress = progress
        self.asked = 0

    def __call__(self, vector: int, counts: Ints, k: int) -> Floats:
        """Cases by solution among the k nearest, [s], by the cap rule of retrieval."""
        self.asked += 1
        if self.progress and self.asked % 100 == 0:
            self.progress(0, 0, self.asked)
        left = np.flatnonzero(counts.any(axis=1))
        target = self.retriever.vectors.values[vector]
        similarity = self.retriever.score(target, self.retriever.weights, left)
        rounded = millionths(similarity)
        order = np.lexsort((left, -rounded))
        held = counts[left[order]]
        votes: Floats = capped(rounded[order], held.sum(axis=1), k) @ held
        return votes

    def agree(self, vector: int, solution: int, counts: Ints, k: int) -> bool:
        """Whether the others agree with a case of this cell; it has no say itself."""
        others = counts.copy()
        others[vector, solution] = max(0, others[vector, solution] - 1)
        votes = self(vector, others, k)
        return bool(votes[solution] >= votes.max())


def noise(votes: _Votes, counts: Ints, k: int) -> Ints:
    """The cells that are left, [m, s]."""
    left = counts.copy()
    while True:
        wrong = [cell for cell in _cells(left) if not votes.agree(*cell, left, k)]
        # The last cases of a solution are all that is known of it.
        total = left.sum(axis=0)
        gone = np.zeros_like(total)
        for vector, solution in wrong:
            gone[solution] += left[vector, solution]
        wrong = [cell for cell in wrong if gone[cell[1]] < total[cell[1]]]
        if not wrong:
            return left
        for cell in wrong:
            left[cell] = 0


def redundant(votes: _Votes, counts: Ints, k: int) -> Ints:
    """The cells that are left, with one case each, [m, s]."""
    left = np.zeros_like(counts)
    for solution in np.flatnonzero(counts.any(axis=0)):
        left[np.argmax(counts[:, solution] > 0), solution] = 1
    grown = True
    while grown:
        grown = False
        for vector, code in _cells(counts):
            if not left[vector, code]:
                near = votes(vector, left, 1)
                if near[code] < near.max():
                    left[vector, code] = 1
                    grown = True
    return left


METHODS: dict[str, Callable[[_Votes, Ints, int], Ints]] = {"noise": noise, "redundant": redundant}


def refine(
    retriever: Retriever, method: str = "noise", k: int = 3, progress: Progress | None = None
) -> Refinement:
    """Which cases of a stage a method would drop. Time grows with the square of the vectors."""
    if method not in METHODS:
        raise NoSuchName("method", method, METHODS)
    vectors, votes = retriever.vectors, _Votes(retriever, progress)
    left = METHODS[method](votes, vectors.counts, k)
    drop: list[int] = []
    for vector, solution in _cells(vectors.counts):
        inside = slice(vectors.start[vector], vectors.start[vector + 1])
        mine = vectors.case_ids[inside][vectors.case_solutions[inside] == solution]
        drop += mine[left[vector, solution] :].tolist()
    return Refinement(
        method,
        k,
        sorted(drop),
        int(vectors.counts.sum()),
        _accuracy(votes, vectors.counts, vectors.counts, k),
        _accuracy(votes, vectors.counts, left, k),
    )


def _accuracy(votes: _Votes, cases: Ints, left: Ints, k: int) -> float:
    right = sum(int(cases[c]) for c in _cells(cases) if votes.agree(*c, left, k))
    return right / int(cases.sum())


def _cells(counts: Ints) -> Iterator[tuple[int, int]]:
    for vector, solution in np.argwhere(counts > 0):
        yield int(vector), int(solution)
