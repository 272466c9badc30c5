"""Means with 95 % intervals: of independent blocks, of clusters, and of paired differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cbr.typing import Floats, Ints

#: The 97.5 % quantile of the normal distribution.
NORMAL = 1.96
#: Student's for 1 to 10 degrees of freedom.
_FEW = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


def quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t for any degrees of freedom, to a thousandth.

    >>> [round(quantile(freedom), 3) for freedom in (1, 10, 20, 1000)]
    [12.706, 2.228, 2.086, 1.962]
    """
    if freedom <= len(_FEW):
        return _FEW[freedom - 1]
    return NORMAL + 2.373 / freedom + 2.8 / freedom**2


@dataclass(frozen=True)
class Mean:
    """A mean, and half the width of its 95 % interval (None for a single block or cluster)."""

    mean: float
    ci95: float | None

    def __str__(self) -> str:
        return f"{self.mean:+.4f}" + ("" if self.ci95 is None else f" ± {self.ci95:.4f}")


def standard_error(scores: Floats) -> float | None:
    """The standard error of the mean of independent blocks; None for a single block."""
    if len(scores) < 2:
        return None
    return float(scores.std(ddof=1) / math.sqrt(len(scores)))


def mean_of(scores: Floats) -> Mean:
    """The mean of independent blocks, with Student's interval."""
    error = standard_error(scores)
    width = None if error is None else error * quantile(len(scores) - 1)
    return Mean(float(scores.mean()), width)


def clustered_error(values: Floats, cluster: Ints) -> float | None:
    """The standard error of a mean whose values are dependent within clusters; None for a single
    cluster."""
    off = _off(values, cluster)
    if len(off) < 2:
        return None
    return math.sqrt((off**2).sum() * len(off) / (len(off) - 1)) / len(values)


def clustered_mean(values: Floats, cluster: Ints) -> Mean:
    """The mean of all values, with Student's interval over clusters."""
    mean, error = float(values.mean()), clustered_error(values, cluster)
    if error is None:
        return Mean(mean, None)
    return Mean(mean, quantile(len(_off(values, cluster)) - 1) * error)


def _off(values: Floats, cluster: Ints) -> Floats:
    """The sum of the deviations from the overall mean, for each cluster."""
    import numpy as np

    _, place = np.unique(cluster, return_inverse=True)
    return np.bincount(place.reshape(-1), values - values.mean()).astype(np.float64)


def separation(one: Floats, two: Floats) -> float:
    """The mean of the paired differences one - two over the same blocks, in standard errors; 0 if
    they are equal, or for a single block. For few blocks it is scaled down as Student's t is wider
    than the normal distribution, because the standard error itself is uncertain."""
    difference = one - two
    error = standard_error(difference)
    if error is None or not difference.any():
        return 0.0
    if error == 0.0:
        return math.copysign(math.inf, difference.mean())
    return float(difference.mean()) / error * quantile(10**6) / quantile(len(difference) - 1)
