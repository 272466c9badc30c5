"""Means with their intervals, paired differences, and what luck alone would show."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cbr.statistics import quantile
from cbr.typing import Floats


@dataclass(frozen=True)
class Mean:
    """A mean over blocks, and half the width of its 95 % interval (None of one block)."""

    mean: float
    ci95: float | None

    def __str__(self) -> str:
        return f"{self.mean:+.4f}" + ("" if self.ci95 is None else f" ± {self.ci95:.4f}")


def error_of(scores: Floats) -> float | None:
    """The standard error of the mean of some blocks; None of one."""
    if len(scores) < 2:
        return None
    return float(scores.std(ddof=1) / math.sqrt(len(scores)))


def mean_of(scores: Floats) -> Mean:
    error = error_of(scores)
    width = None if error is None else error * quantile(len(scores) - 1)
    return Mean(float(scores.mean()), width)


def separation(one: Floats, two: Floats) -> float:
    """By how many standard errors the first is better on the same blocks; 0 if they are equal, or
    of one block. Of few blocks the error itself is unsure, so they count for less, as in Student's
    intervals."""
    difference = one - two
    error = error_of(difference)
    if error is None or not difference.any():
        return 0.0
    if error == 0.0:
        return math.copysign(math.inf, difference.mean())
    return float(difference.mean()) / error * quantile(10**6) / quantile(len(difference) - 1)


#: Average range of so many numbers from one normal distribution, in its standard deviations.
_RANGES = {
    2: 1.128,
    3: 1.693,
    4: 2.059,
    5: 2.326,
    6: 2.534,
    7: 2.704,
    8: 2.847,
    9: 2.970,
    10: 3.078,
}


def luck_of(scores: Floats) -> float | None:
    """The standard error that makes equal rows differ, from scores [n, blocks]; None of one block.

    Rows that play the same deals each for itself have most of their luck in common, and it does not
    make them differ. At one table what one wins the others lose, so they differ by more. Both is in
    what is left of a score without the mean of its row and of its block.
    """
    rows, blocks = scores.shape
    if blocks < 2 or rows < 2:
        return None
    rest = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
    return float(np.sqrt((rest**2).sum() / ((rows - 1) * (blocks - 1) * blocks)))


def range_by_luck(rows: int, luck: float) -> float:
    """The average range of the means of so many equal rows.

    >>> round(range_by_luck(9, 1.0), 2)
    2.97
    """
    known = _RANGES.get(rows)
    if known is None:
        drawn = np.random.default_rng(0).normal(size=(4_000, rows))
        known = float(np.ptp(drawn, axis=1).mean())
    return known * luck
