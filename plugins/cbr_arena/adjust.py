"""Results with the luck taken out of them, as far as it can be told apart from play.

`all-in` counts a hand in which nobody could bet any more as what it was worth on average over the
cards still to come. `aivat` subtracts from that the terms of luck (`cbr_arena.luck`), each times
the factor that leaves the least spread. The factors for one half of the blocks are fitted on the
other half, so that a block has no part in its own, and the mean stays what it was.
"""

from __future__ import annotations

import numpy as np

from cbr.errors import NoSuchName
from cbr.typing import Floats

ADJUSTMENTS = ("none", "all-in", "aivat")
#: With fewer blocks factors are fitted to chance.
_LEAST = 40


def verify_adjustment(name: str) -> None:
    if name not in ADJUSTMENTS:
        raise NoSuchName("adjustment", name, ADJUSTMENTS)


def without_luck(won: Floats, luck: Floats) -> Floats:
    """What was won [blocks], less its luck [blocks, terms]."""
    if len(won) < _LEAST:
        return won
    middle = len(won) // 2
    halves = slice(None, middle), slice(middle, None)
    left = won.copy()
    for mine, other in (halves, halves[::-1]):
        left[mine] -= luck[mine] @ factors_of_luck(won[other], luck[other])
    return left


def factors_of_luck(won: Floats, luck: Floats) -> Floats:
    """Factors [terms] that leave the least spread of what was won [n] less its luck [n, terms], by
    least squares; a term that never differs gets none."""
    factors: Floats = np.linalg.lstsq(luck - luck.mean(axis=0), won - won.mean(), rcond=1e-9)[0]
    return factors
