"""Classes of sizes of bets and raises, found in a log: those to which its sizes are nearest.

The abstraction has the same classes for every game. Van der Kleij's outlook (7.2.2) is to take them
from the data: here the classes of least squared distance on a logarithmic scale, exact by dynamic
programming over a histogram.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cbr.errors import BadValue
from cbr.typing import Floats

#: Cells of the histogram, and the least and the most share of the pot that are told apart.
_CELLS, _LEAST, _MOST = 400, 0.05, 20.0


class SizeClass(NamedTuple):
    """Bets or raises from `low` to `high`, as shares of the pot after a call, their geometric
    `mean`, and their `share` of all."""

    low: float
    high: float
    mean: float
    share: float


def size_classes(sizes: Floats, count: int) -> list[SizeClass]:
    """At most so many classes of sizes [n], shares of the pot above 0."""
    if count < 1:
        raise BadValue(f"{count} classes of sizes; there must be 1 or more")
    sizes = sizes[np.isfinite(sizes) & (sizes > 0.0)]
    if not len(sizes):
        return []
    logs = np.log(np.clip(sizes, _LEAST, _MOST))
    cell = ((logs - np.log(_LEAST)) / np.log(_MOST / _LEAST) * (_CELLS - 1)).round().astype(int)
    used, place, often = np.unique(cell, return_inverse=True, return_counts=True)
    middle = np.bincount(place, logs) / often
    bounds = _split(middle, often.astype(np.float64), min(count, len(used)))
    found = []
    for first, end in pairwise(bounds):
        mine = sizes[(place >= first) & (place < end)]
        mean = float(np.exp(np.log(mine).mean()))
        found.append(SizeClass(float(mine.min()), float(mine.max()), mean, len(mine) / len(sizes)))
    return found


def _split(value: Floats, weight: Floats, count: int) -> list[int]:
    """The bounds of so many runs of ascending values with the least weighted squared distance to
    the means of their runs."""
    zero = np.zeros(1)
    w, s, q = (np.append(zero, np.cumsum(weight * value**power)) for power in (0, 1, 2))
    n = len(value)

    best = np.full((count + 1, n + 1), np.inf)
    best[0, 0] = 0.0
    came = np.zeros((count + 1, n + 1), int)
    for k in range(1, count + 1):
        for end in range(k, n + 1):
            first = slice(k - 1, end)
            within = q[end] - q[first] - (s[end] - s[first]) ** 2 / (w[end] - w[first])
            costs = best[k - 1, first] + within
            at = int(np.argmin(costs))
            best[k, end], came[k, end] = costs[at], k - 1 + at
    bounds = [n]
    for k in range(count, 0, -1):
        bounds.append(int(came[k, bounds[-1]]))
    return bounds[::-1]
