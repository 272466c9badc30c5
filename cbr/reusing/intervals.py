"""Intervals of predicted numbers that hold the true number as often as they say.

They are conformal (Vovk et al. 2005; Lei et al. 2018, normalised): some cases are predicted without
themselves, and their errors are divided by the spread of the numbers that they were predicted from.
The quantile of these ratios, times the spread around a new prediction, is half the width of its
interval: narrow where the retrieved cases agree. If targets are like cases, and cases independent,
the share of intervals that hold the true number is at least the level, on average over targets.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from cbr.retrieval.index.base import Scan
from cbr.retrieval.index.tree import TreeIndex
from cbr.retrieval.left_out import nearest_without, vector_of_case
from cbr.retrieval.retriever import Retriever
from cbr.reusing.numbers import NumbersNear, expected, near_numbers, within_range
from cbr.reusing.policies import ReusePolicy
from cbr.spec import Spec
from cbr.typing import Floats

#: The share of intervals that hold the true number.
LEVEL = 0.9
#: The most cases that are predicted without themselves.
_ASKED = 500
#: The least spread, as a part of the usual one: cases that happen to agree are not certain.
_LEAST = 0.25


@dataclass(frozen=True)
class Interval:
    """An interval that holds the true number with the probability `level`, judged by the errors of
    `cases` predictions."""

    low: float
    high: float
    level: float
    cases: int


@dataclass(frozen=True)
class Errors:
    """Errors of cases that were predicted without themselves, divided by the spread around them, in
    order; `least` is added to every spread."""

    ratios: Floats
    least: float

    def half_width(self, spread: Floats, level: float) -> Floats | None:
        """Half the width of intervals of that level; None if there are too few errors."""
        rank = math.ceil((len(self.ratios) + 1) * level - 1e-9)
        if rank > len(self.ratios):
            return None
        width: Floats = self.ratios[rank - 1] * (spread + self.least)
        return width


_FOUND: WeakKeyDictionary[Retriever, dict[tuple[str, bytes], Errors]] = WeakKeyDictionary()


def errors_of(mine: Retriever, policy: ReusePolicy, weights: Floats) -> Errors:
    """The errors of a policy with these weights [d], found once for a retriever."""
    kept = _FOUND.setdefault(mine, {})
    key = str(Spec(policy.name, policy.settled)), weights.tobytes()
    if key not in kept:
        kept[key] = _errors(mine, policy, weights)
    return kept[key]


def _errors(mine: Retriever, policy: ReusePolicy, weights: Floats) -> Errors:
    vectors = mine.vectors
    count = len(vectors.case_ids)
    nothing = Errors(np.empty(0), 0.0)
    if vectors.case_numbers is None or count < 2 or not mine.policy.takes_all:
        return nothing
    if not isinstance(mine.index, Scan | TreeIndex):
        # Cases that lack features are targets here, which others may refuse.
        mine = dataclasses.replace(mine, index=TreeIndex(vectors, mine.measures))
    place = np.random.default_rng(0).permutation(count)[:_ASKED]
    codes = vectors.values[vector_of_case(vectors)[place]]
    rows = np.tile(weights, (len(place), 1))
    out = [np.array([one]) for one in place.tolist()]
    near, some = near_numbers(mine, codes, rows, nearest_without(mine, codes, rows, out), out)
    if not len(near):
        return nothing
    value = expected(policy, near)
    error, spread = np.abs(vectors.case_numbers[place[some]] - value), near.spread(value)
    least = _LEAST * float(spread.mean()) or float(error.mean()) or 1.0
    return Errors(np.sort(error / (spread + least)), least)


def intervals(
    mine: Retriever,
    policy: ReusePolicy,
    near: NumbersNear,
    value: Floats,
    weights: Floats,
    level: float = LEVEL,
) -> tuple[Floats, Floats, int]:
    """The ends of the interval around each value, NaN if too few cases are known; and the number of
    errors by which they are judged. `weights` [d] are those by which errors are found."""
    errors = errors_of(mine, policy, weights)
    half = errors.half_width(near.spread(value), level)
    if half is None:
        return np.full(len(value), np.nan), np.full(len(value), np.nan), len(errors.ratios)
    low, high = within_range(near.vectors, value - half), within_range(near.vectors, value + half)
    return low, high, len(errors.ratios)
