"""How much equal individuals of a population differ by chance."""

from __future__ import annotations

import numpy as np

from cbr.typing import Floats

#: Expected range of n numbers from one normal distribution, in standard deviations, by n.
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
    """The standard error of differences between equal rows, from scores [n, blocks]; None for a
    single row or block.

    Rows that play the same trials separately share most of their luck, which does not make them
    differ. At one table, one row's gain is the others' loss, so they differ more. Both effects are
    in the residuals, after the means of rows and of blocks are subtracted from the scores.
    """
    rows, blocks = scores.shape
    if blocks < 2 or rows < 2:
        return None
    rest = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
    return float(np.sqrt((rest**2).sum() / ((rows - 1) * (blocks - 1) * blocks)))


def range_by_luck(rows: int, luck: float) -> float:
    """The expected range of the means of this many equal rows.

    >>> round(range_by_luck(9, 1.0), 2)
    2.97
    """
    known = _RANGES.get(rows)
    if known is None:
        drawn = np.random.default_rng(0).normal(size=(4_000, rows))
        known = float(np.ptp(drawn, axis=1).mean())
    return known * luck
