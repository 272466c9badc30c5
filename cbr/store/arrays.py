"""A stage as arrays: each distinct feature vector once, with counts and outcomes of its cases.

Cases that agree in every indexed feature are one vector with counts. Retrieval ranks vectors, so
its cost depends on the number of distinct situations, not on the number of cases. A missing value
is NaN: it agrees with another missing value, and comes after all others in order.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.case import CaseType
from cbr.plugging.guard import frozen
from cbr.typing import Floats, Ints


class Estimates(NamedTuple):
    """Estimated values of solutions over the cases of each vector: sum and count, [m, s] each."""

    total: Floats
    number: Floats


@dataclass(frozen=True, eq=False)
class Vectors:
    """m distinct vectors of d indexed features, s solutions and n cases.

    `values` float32 [m, d] (a category as its code, a missing value as NaN), in lexicographic
    order, so a vector's number does not depend on the order of the cases. `counts` [m, s] cases
    with each solution; `outcome_sum`, `outcome_count` [m, s] over the cases whose outcome is known.
    Cases of vector v are ``case_ids[start[v]:start[v + 1]]``, with solution codes in
    `case_solutions` likewise. Where solutions are numbers, these are in `case_numbers` [n], and all
    have the one code 0.
    `estimates` are over cases for which a solution's value was estimated, whether it was taken or
    not; None where there is no such case.
    `beside` is the file they were read from: an index may be saved beside it.
    """

    case_type: CaseType
    digest: str
    values: NDArray[np.float32]
    counts: Ints
    outcome_sum: Floats
    outcome_count: Ints
    case_ids: Ints
    case_solutions: Ints
    start: Ints
    beside: Path | None = None
    estimates: Estimates | None = None
    case_numbers: Floats | None = None

    def with_values(self, case_ids: Ints, solution: Ints, value: Floats) -> Vectors:
        """These vectors with the estimated values of solutions in some cases."""
        vector = np.repeat(np.arange(len(self)), self.cases)
        order = np.argsort(self.case_ids)
        place = order[np.searchsorted(self.case_ids, case_ids, sorter=order)]
        cell = vector[place] * self.counts.shape[1] + solution
        parts = (
            frozen(np.bincount(cell, part, self.counts.size).reshape(self.counts.shape))
            for part in (value, np.ones(len(cell)))
        )
        return dataclasses.replace(self, estimates=Estimates(*parts))

    @cached_property
    def cases(self) -> Ints:
        """Number of cases of each vector, [m]."""
        return np.diff(self.start)

    @cached_property
    def columns(self) -> list[tuple[NDArray[np.float32], NDArray[np.int32]]]:
        """Per feature: its distinct values, and for each vector which of them it has."""
        pairs = (np.unique(column, return_inverse=True) for column in self.values.T)
        return [(distinct, inverse.reshape(-1).astype(np.int32)) for distinct, inverse in pairs]

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Cases:
    """A stage case by case, from which `Vectors` are grouped.

    `solution` is the code of each case's solution; where solutions are numbers, it is 0, and they
    are in `numbers` [n]. `record` is the number of the record that a case came from; a case without
    one has a unique number below 0.
    """

    case_type: CaseType
    digest: str
    values: NDArray[np.float32]
    solution: Ints
    outcome: Floats
    ids: Ints
    record: Ints
    numbers: Floats | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, places: NDArray[np.generic]) -> Cases:
        """Some of the cases, by index or by a mask."""
        parts = (self.values, self.solution, self.outcome, self.ids, self.record, self.numbers)
        some = (None if part is None else part[places] for part in parts)
        return Cases(self.case_type, "", *some)  # type: ignore[arg-type]

    def vectors(self, beside: Path | None = None) -> Vectors:
        """The cases grouped by distinct vector."""
        rows = (self.values, self.solution, self.outcome, self.ids)
        return group(self.case_type, self.digest, *rows, beside, self.numbers)


def group(
    case_type: CaseType,
    digest: str,
    values: NDArray[np.float32],
    solution: Ints,
    outcome: Floats,
    case_ids: Ints,
    beside: Path | None = None,
    numbers: Floats | None = None,
) -> Vectors:
    """Vectors of n cases: `values` [n, d] (NaN missing), `solution` codes [n], `outcome` [n] (NaN
    unknown), and where solutions are numbers `numbers` [n]."""
    # One lexicographic sort by all columns, ties by case id, then cut where a row changes.
    order = np.lexsort((case_ids, *values.T[::-1]))
    values, solution = values[order], solution[order]
    outcome, case_ids = outcome[order], case_ids[order]
    new = np.ones(len(values), bool)
    differ = values[1:] != values[:-1]
    if (gaps := np.isnan(values)).any():
        differ &= ~(gaps[1:] & gaps[:-1])
    new[1:] = differ.any(axis=1)
    first = np.flatnonzero(new)
    vector = np.cumsum(new) - 1
    shape = (len(first), len(case_type.solutions) or 1)
    cell = vector * shape[1] + solution
    known = ~np.isnan(outcome)

    def tally(cells: Ints, weights: Floats | None = None) -> NDArray[np.generic]:
        return np.bincount(cells, weights, minlength=shape[0] * shape[1]).reshape(shape)

    return Vectors(
        case_type=case_type,
        digest=digest,
        values=frozen(np.ascontiguousarray(values[first])),
        counts=frozen(tally(cell).astype(np.int64)),
        outcome_sum=frozen(tally(cell[known], outcome[known]).astype(np.float64)),
        outcome_count=frozen(tally(cell[known]).astype(np.int64)),
        case_ids=frozen(case_ids),
        case_solutions=frozen(solution),
        start=frozen(np.append(first, len(values)).astype(np.int64)),
        beside=beside,
        case_numbers=None if numbers is None else frozen(numbers[order]),
    )
