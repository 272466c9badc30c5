"""How much equal individuals of a population differ by luck alone."""

from __future__ import annotations

import numpy as np

from cbr.typing import Floats

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
