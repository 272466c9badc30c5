"""Refine: find cases that mislead, and cases that are redundant.

noise      repeated edited nearest neighbours (RENN; Wilson 1972, Tomek 1976): remove each case
           whose k nearest other cases mostly have another solution, and repeat until none is left.

bbnr       blame-based noise reduction (Delany & Cunningham 2004): remove only cases that do harm.
           Cases that contributed to wrong predictions (their liability) are tested in turn, the
           most harmful first; one is removed if all cases that it helped to solve (its coverage)
           are solved without it.

redundant  condensed nearest neighbours (Hart 1968): keep only the cases without which the nearest
           case would have another solution.

icf        iterative case filtering (Brighton & Mellish 2002): first as `noise`; then remove each
           case that can be solved by more cases (its reachability) than it can solve (its
           coverage), and repeat. A case is solved by those that are nearer than the nearest one
           with another solution, among its 2,000 nearest. The remaining cases lie along the borders
           between solutions.

These functions only list cases; `Casebase.remove` removes them. The last cases of a solution are
always kept. In `noise`, `bbnr` and both accuracies, the votes on a case exclude its own record (see
`neighbours`); `redundant` and the second part of `icf` ask whether one case can represent another,
and there records are ignored. Cases of one vector with one solution are equal and are judged
together, except in `noise`, where they may be of different records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cbr.errors import NoSuchName
from cbr.retrieval.ranking import millionths
from cbr.retrieval.retriever import Retriever
from cbr.store.arrays import Cases
from cbr.typing import Flags, Ints, Progress
from cbr.upkeep import votes
from cbr.upkeep.neighbours import Neighbours
from cbr.upkeep.votes import CONTRADICTED, Remaining

#: The number of nearest cases among which `icf` looks for one with another solution.
_SPHERE = 2000
#: Up to this many vectors, comparing with each is faster than building a longer list.
_FEW = 4000
#: The number of cells whose lists `redundant` extends at a time.
_AHEAD = 1000


@dataclass(frozen=True)
class Refinement:
    """The cases that a method would drop, by number, and the accuracy before and after.

    Accuracy is over all cases: the share whose solution is the most frequent (ties count in part)
    among the k nearest remaining cases, without the case itself and, if `by_record`, the others of
    its record.
    """

    method: str
    k: int
    drop: list[int]
    cases: int
    accuracy_before: float
    accuracy_after: float
    by_record: bool = False


def noise(near: Neighbours) -> Remaining:
    remaining = near.all_cases()
    while True:
        cases = np.flatnonzero(remaining.kept)
        verdict, _ = near.judge(cases, remaining)
        wrong = cases[verdict == CONTRADICTED]
        wrong = wrong[~_last(remaining, near.solution[wrong])[near.solution[wrong]]]
        if not len(wrong):
            return remaining
        remaining.drop(near.table, wrong)


def icf(near: Neighbours) -> Remaining:
    remaining = noise(near)
    while True:
        reach, cover = near.local_sets(remaining, _SPHERE)
        goes = (reach > cover)[near.vector, near.solution] & remaining.kept
        going = np.flatnonzero(goes)
        going = going[~_last(remaining, near.solution[going])[near.solution[going]]]
        if not len(going):
            return remaining
        remaining.drop(near.table, going)


def _last(remaining: Remaining, going: Ints) -> Flags:
    """The solutions of which no case would remain, [s]."""
    total = remaining.counts.sum(axis=0)
    last: Flags = np.bincount(going, minlength=len(total)) >= total
    return last


def redundant(near: Neighbours) -> Remaining:
    counts = near.vectors.counts
    remaining, all_cases = near.no_cases(), near.all_cases()
    cells = np.argwhere(counts > 0)
    near.need(np.arange(len(counts)), all_cases)
    for solution in np.flatnonzero(counts.any(axis=0)):
        remaining.counts[np.argmax(counts[:, solution] > 0), solution] = 1
    filled = remaining.filled
    grown = True
    while grown:
        before, at = int(remaining.counts.sum()), 0
        while (at := votes.condense(cells, at, remaining.counts, filled, near.lists)) < len(cells):
            if filled.sum() > _FEW:
                # The following cells will need longer lists as well; a batch is faster.
                coming = np.unique(cells[at : at + _AHEAD, 0])
                near.extend(coming[votes.without_neighbours(coming, filled, near.lists)], all_cases)
                continue
            vector, solution = cells[at]
            says = _nearest_says(near.retriever, vector, remaining.counts, filled)
            if says[solution] < says.max():
                remaining.counts[vector, solution], filled[vector] = 1, True
            at += 1
        grown = int(remaining.counts.sum()) > before
    # The first case of each remaining cell.
    cell = near.vector * counts.shape[1] + near.solution
    _, first = np.unique(cell, return_index=True)
    remaining.kept[first] = remaining.counts.reshape(-1)[cell[first]] > 0
    return remaining


def _nearest_says(retriever: Retriever, vector: int, counts: Ints, filled: Flags) -> Ints:
    """Cases by solution in the nearest group, [s], found by scoring every remaining vector."""
    remaining = np.flatnonzero(filled)
    target = retriever.vectors.values[vector]
    level = millionths(retriever.score(target, retriever.weights, remaining))
    says: Ints = counts[remaining[level == level.max()]].sum(axis=0)
    return says


def bbnr(near: Neighbours) -> Remaining:
    remaining = near.all_cases()
    verdict, _ = near.judge_all(remaining)
    liability, cell, case = votes.blame(verdict, *near.vote_arrays(remaining))
    order = np.argsort(-liability, kind="stable")[: np.count_nonzero(liability)]
    covered = case[np.argsort(cell, kind="stable")]
    start = np.append(0, np.cumsum(np.bincount(cell, minlength=len(liability))))
    at = 0
    while True:
        at, short = votes.edit(order, at, start, covered, *near.vote_arrays(remaining))
        if short < 0:
            return remaining
        near.extend(np.array([short]), remaining)


METHODS: dict[str, Callable[[Neighbours], Remaining]] = {
    "noise": noise,
    "bbnr": bbnr,
    "redundant": redundant,
    "icf": icf,
}


def refine(
    retriever: Retriever,
    method: str = "noise",
    k: int = 3,
    progress: Progress | None = None,
    cases: Cases | None = None,
) -> Refinement:
    """The cases of a stage that a method would drop.

    `cases` (`Casebase.read_cases`) gives their records; without it each is its own record.
    """
    if method not in METHODS:
        raise NoSuchName("method", method, METHODS)
    near = Neighbours(retriever, k, cases, progress)
    _, before = near.judge_all(near.all_cases())
    remaining = METHODS[method](near)
    _, after = near.judge_all(remaining)
    return Refinement(
        method,
        k,
        np.sort(near.vectors.case_ids[~remaining.kept]).tolist(),
        len(near.vector),
        float(before.mean()),
        float(after.mean()),
        near.by_record,
    )
