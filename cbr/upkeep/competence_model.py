"""Competence: which cases of a stage the others can solve (Smyth & Keane 1995).

A case solves another if it is among its k nearest (its own record left out) and has the same
solution. Its **coverage** is the number of cases it solves, its **reachability** the number of
cases that solve it; where cases tie for the last of the k places, each counts by its share. A case
that no other solves is **pivotal**: without it, its situation could not be solved. A **group** is a
set of cases connected by solving one another (Smyth & McKenna 1998), all with one solution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cbr.retrieval.retriever import Retriever
from cbr.store.arrays import Cases
from cbr.typing import Floats, Ints, Progress
from cbr.upkeep import votes
from cbr.upkeep.neighbours import Neighbours


@dataclass(frozen=True)
class Row:
    """Figures for the cases of one solution.

    `predicted`: share whose solution is the most frequent among their k nearest (ties count in
    part); `pivotal`: share that no other case solves; `idle`: share that solve no other case;
    `coverage` and `most_coverage`: how many cases one solves, on average and at most; `groups`: the
    number of groups; `largest`: the cases of the largest.
    """

    solution: str
    cases: int
    predicted: float
    pivotal: float
    idle: float
    coverage: float
    most_coverage: float
    groups: int
    largest: int


@dataclass(frozen=True)
class Competence:
    """A report on a stage: a row for each solution that has cases, and one for `all` of them."""

    k: int
    by_record: bool
    rows: list[Row]
    all: Row


def competence(
    retriever: Retriever,
    k: int = 3,
    progress: Progress | None = None,
    cases: Cases | None = None,
) -> Competence:
    """The competence of a stage. `cases` gives their records; without it each is its own record."""
    near = Neighbours(retriever, k, cases, progress)
    remaining = near.all_cases()
    _, predicted = near.judge_all(remaining)
    solved_by, solves, group = votes.coverage_and_groups(*near.vote_arrays(remaining))
    counts = near.vectors.counts.reshape(-1)
    cell = near.vector * near.vectors.counts.shape[1] + near.solution
    coverage: Floats = (solves / np.maximum(counts, 1))[cell]

    def row(name: str, mine: Ints) -> Row:
        size = np.bincount(np.unique(group[cell[mine]], return_inverse=True)[1])
        return Row(
            name,
            len(mine),
            float(predicted[mine].mean()),
            float((solved_by[mine] == 0).mean()),
            float((coverage[mine] == 0).mean()),
            float(coverage[mine].mean()),
            float(coverage[mine].max()),
            len(size),
            int(size.max()),
        )

    names = near.vectors.case_type.solutions
    taken = [np.flatnonzero(near.solution == code) for code in range(len(names))]
    rows = [row(name, mine) for name, mine in zip(names, taken, strict=True) if len(mine)]
    return Competence(k, near.by_record, rows, row("all", np.arange(len(near.vector))))
