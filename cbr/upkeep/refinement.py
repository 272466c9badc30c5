"""Refine: cases that mislead, and cases that add nothing.

noise      repeated edited nearest neighbours (RENN; Wilson 1972, Tomek 1976): a case whose k
           nearest other cases mostly have another solution goes out, again and again until none
           does.
bbnr       blame-based noise reduction (Delany & Cunningham 2004): only cases that do harm go. Those
           that helped to mislead others (their liability) are tried in turn, the most harmful
           first; one goes if all cases that it helped to solve (its coverage) are solved without
           it.
redundant  condensed nearest neighbours (Hart 1968): only the cases stay without which the nearest
           one would have another solution.
icf        iterative case filtering (Brighton & Mellish 2002): first as `noise`; then a case goes if
           it can be solved by more cases (its reachability) than it can solve (its coverage), again
           and again. A case is solved by those that are nearer than the nearest one with another
           solution, as far as its 2,000 nearest. What is left lies along the borders between
           solutions.

All only name cases; `Casebase.remove` acts. The last cases of a solution always stay: they are all
that is known of it. What others say of a case is without its own record, in `noise` and `bbnr` and
in both accuracies (see `neighbours`); `redundant` and the second part of `icf` are about what
stands for what, and there records do not count. Cases of one vector with one solution are alike: in
all methods but `noise`, where they may be of different records, they are judged together.
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

#: Cases as far as which the second part of `icf` looks for one with another solution.
_SPHERE = 2000
#: Up to so many vectors it is quicker to compare with each than to look along a longer list.
_FEW = 4000
#: Cells for which lists are made longer at a time, in `redundant`.
_AHEAD = 1000


@dataclass(frozen=True)
class Refinement:
    """What a method would drop: case numbers, and how well the stage predicts before and after.

    Accuracy is over all cases: the share whose solution is commonest (or equal first) among the k
    nearest cases that are left, without the case itself and, `by_record`, the others of its record.
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
                # The next ones will need it as well, and many at once are quicker.
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
    """Cases by solution in the nearest group, [s], by comparing with every vector that remains."""
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
    """Which cases of a stage a method would drop.

    With `cases` (`Casebase.read_cases`) it is known which are of one record.
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
