"""Reuse of numbers: from retrieved cases whose solutions are numbers to the one that is expected.

A policy gets the retrieved cases of many targets at once (`NumbersNear`) and returns a number for
each. Cases count by their similarity, times the share with which they were retrieved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cbr.errors import BadValue, PluginFailure
from cbr.marks import mark
from cbr.retrieval.index.base import NearestVectors
from cbr.retrieval.retriever import Retriever
from cbr.reusing.policies import ReusePolicy
from cbr.store.arrays import Vectors
from cbr.typing import Flags, Floats, Ints

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False)
class NumbersNear:
    """The cases retrieved for q targets, at least one for each.

    Those of target t are ``[start[t]:start[t + 1]]`` of `number`, the solutions, and `weight`,
    which sums to 1 for each target; `vector` are their vectors. `codes` and `weights` [q, d] are
    the targets.
    """

    vectors: Vectors
    codes: NDArray[np.float32]
    weights: Floats
    start: Ints
    vector: Ints
    number: Floats
    weight: Floats

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def target(self) -> Ints:
        """The target of each case."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def total(self, by_case: Floats) -> Floats:
        """The sum over the cases of each target, [q]."""
        return np.asarray(np.add.reduceat(by_case, self.start[:-1]))

    def spread(self, value: Floats) -> Floats:
        """The root mean square of the differences between the cases and a value of each target."""
        off = self.number - value[self.target]
        spread: Floats = np.sqrt(np.asarray(self.total(self.weight * off * off)))
        return spread

    def offsets(self, target: int) -> Floats:
        """How the cases of a target differ from it, [c, d]: in numbers as a part of the range, in
        categories by 1, times the root of the feature's part of the weights. A missing value does
        not differ."""
        weight = self.weights[target] / max(self.weights[target].sum(), 1e-300)
        places = np.flatnonzero(weight)
        cases = self.vector[self.start[target] : self.start[target + 1]]
        values = self.vectors.values[np.ix_(cases, places)].astype(np.float64)
        away = np.nan_to_num(values - self.codes[target, places])
        for column, place in enumerate(places.tolist()):
            limits = self.vectors.case_type.indexed[place].range
            if limits is None:
                away[:, column] = away[:, column] != 0
            else:
                away[:, column] /= limits[1] - limits[0]
        offsets: Floats = away * np.sqrt(weight[places])
        return offsets


def near_numbers(
    retriever: Retriever,
    codes: NDArray[np.float32],
    weights: Floats,
    found: NearestVectors,
    out: Sequence[Ints] | None = None,
) -> tuple[NumbersNear, Flags]:
    """The retrieved cases of targets, and which targets [q] have any: the others are left out of
    the first. `out` are cases to leave out for each target, as for `nearest_without`."""
    vectors = retriever.vectors
    if vectors.case_numbers is None:
        raise BadValue(f"solutions of {vectors.case_type.stage!r} are classes, not numbers")
    target = np.repeat(np.arange(len(codes)), np.diff(found.start))
    held = vectors.cases[found.number]
    row = np.repeat(np.arange(len(held)), held)
    before = np.cumsum(held) - held
    place = vectors.start[found.number][row] + np.arange(len(row)) - before[row]
    of_case = target[row]
    if out is not None:
        gone = np.repeat(np.arange(len(out)), [len(places) for places in out])
        keys = gone * len(vectors.case_ids) + np.concatenate([*out, np.empty(0, np.int64)])
        kept = ~np.isin(of_case * len(vectors.case_ids) + place, keys.astype(np.int64))
        row, place, of_case = row[kept], place[kept], of_case[kept]
    size = np.bincount(of_case, minlength=len(codes))
    some = size > 0
    start = np.append(0, np.cumsum(size[some]))
    near = NumbersNear(
        vectors,
        codes[some],
        weights[some],
        start,
        found.number[row],
        vectors.case_numbers[place],
        _weights(found.share[row], found.similarity[row], start),
    )
    return near, some


def _weights(share: Floats, similarity: Floats, start: Ints) -> Floats:
    """Share times similarity, scaled to a sum of 1; the share alone where no case is similar."""
    if not len(share):
        return share
    size = np.diff(start)
    weight = share * similarity
    alike = np.repeat(np.add.reduceat(weight, start[:-1]) > 1e-12, size)
    weight = np.where(alike, weight, share)
    scaled: Floats = weight / np.repeat(np.add.reduceat(weight, start[:-1]), size)
    return scaled


def number_policy(name: str) -> Callable[[F], F]:
    """Make ``f(near, **parameters) -> numbers [q]`` a reuse policy for numbers of this name."""

    return mark(lambda function: ReusePolicy(name, function, numeric=True))


@number_policy("mean")
def mean(near: NumbersNear) -> Floats:
    """The mean of the retrieved numbers, each weighted by its similarity."""
    return near.total(near.weight * near.number)


@number_policy("median")
def median(near: NumbersNear) -> Floats:
    """The median of the retrieved numbers, each weighted by its similarity."""
    order = np.lexsort((near.number, near.target))
    number, weight = near.number[order], near.weight[order]
    upto = np.cumsum(weight) - np.repeat(np.arange(len(near)), np.diff(near.start))
    last = near.start[1:] - 1

    def first(over: Flags) -> Ints:
        places = np.where(over, np.arange(len(over)), len(over))
        return np.minimum(np.minimum.reduceat(places, near.start[:-1]), last)

    low, high = number[first(upto >= 0.5 - 1e-9)], number[first(upto > 0.5 + 1e-9)]
    middle: Floats = low / 2 + high / 2
    return middle


@number_policy("local-linear")
def local_linear(near: NumbersNear, ridge: float = 0.03) -> Floats:
    """The value at the target of a plane through the retrieved numbers, fitted by weighted least
    squares; `ridge` holds it flat where few cases tell its slope.

    The penalty is `ridge` times the sum of squares of the cases' offsets.
    """
    if not ridge > 0:
        raise BadValue(f"ridge is {ridge}; it must be above 0")
    return np.array([_at_target(near, target, ridge) for target in range(len(near))])


def _at_target(near: NumbersNear, target: int, ridge: float) -> float:
    span = slice(near.start[target], near.start[target + 1])
    weight, number, away = near.weight[span], near.number[span], near.offsets(target)
    centre, level = weight @ away, float(weight @ number)
    root = np.sqrt(weight)[:, None]
    rows, rest = root * (away - centre), root[:, 0] * (number - level)
    penalty = ridge * float((rows**2).sum())
    if penalty <= 0.0:
        return level
    # In as many unknowns as there are cases or features, whichever is less.
    if len(rows) <= rows.shape[1]:
        slope = rows.T @ np.linalg.solve(rows @ rows.T + penalty * np.eye(len(rows)), rest)
    else:
        square = rows.T @ rows + penalty * np.eye(rows.shape[1])
        slope = np.linalg.solve(square, rows.T @ rest)
    return level - float(centre @ slope)


def expected(policy: ReusePolicy, near: NumbersNear) -> Floats:
    """What a policy makes of the retrieved numbers, [q], within the range of the solution."""
    found: Floats = policy(near) if len(near) else np.empty(0)
    if found.shape != (len(near),) or not np.isfinite(found).all():
        raise PluginFailure(
            f"reuse policy {policy.name!r} must return a finite number for each of the "
            f"{len(near)} targets"
        )
    return within_range(near.vectors, found)


def within_range(vectors: Vectors, numbers: Floats) -> Floats:
    """Numbers in the range that the solution has, if it has one."""
    solution = vectors.case_type.solution
    if solution is None or solution.range is None:
        return numbers
    return numbers.clip(*solution.range)
