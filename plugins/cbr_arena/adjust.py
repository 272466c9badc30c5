"""Variance reduction: results less the luck that can be measured.

`all-in` counts a hand in which nobody could bet any more as its mean payoff over the cards still to
come. `aivat` then subtracts the luck terms (`cbr_arena.luck`), which are control variates, each
times the factor that minimises the variance. The factors for one half of the blocks are fitted on
the other half: no block influences its own factors, so the mean is not biased.
"""

from __future__ import annotations

import numpy as np

from cbr.errors import NoSuchName
from cbr.typing import Floats

ADJUSTMENTS = ("none", "all-in", "aivat")
#: Least number of blocks; with fewer, factors would be fitted to noise.
_LEAST = 40


def verify_adjustment(name: str) -> None:
    if name not in ADJUSTMENTS:
        raise NoSuchName("adjustment", name, ADJUSTMENTS)


def without_luck(won: Floats, luck: Floats) -> Floats:
    """Winnings [blocks] less their luck [blocks, terms], times fitted factors."""
    if len(won) < _LEAST:
        return won
    middle = len(won) // 2
    halves = slice(None, middle), slice(middle, None)
    left = won.copy()
    for mine, other in (halves, halves[::-1]):
        left[mine] -= luck[mine] @ factors_of_luck(won[other], luck[other])
    return left


def factors_of_luck(won: Floats, luck: Floats) -> Floats:
    """Factors [terms] that minimise the variance of winnings [n] less luck [n, terms], by least
    squares; a constant term gets the factor 0."""
    factors: Floats = np.linalg.lstsq(luck - luck.mean(axis=0), won - won.mean(), rcond=1e-9)[0]
    return factors
