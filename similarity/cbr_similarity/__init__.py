"""Local similarity measures: plain functions of two values, from 0 (unlike) to 1 (alike).

>>> linear(3.0, 4.0, span=9.0)
0.8888888888888888
"""

from __future__ import annotations

import math

import cbr
from cbr import FEATURE_SPAN


@cbr.similarity("equal", falls=True)
def equal(a: object, b: object) -> float:
    """1 for the same value, else 0."""
    return 1.0 if a == b else 0.0


@cbr.similarity("linear", falls=True)
def linear(a: float, b: float, span: float = FEATURE_SPAN) -> float:
    """Falls evenly with the distance, to 0 at `span` (the feature's range)."""
    return max(0.0, 1.0 - abs(a - b) / span)


@cbr.similarity("exponential", falls=True)
def exponential(a: float, b: float, k: float = 1.0) -> float:
    """e^(-k distance): steep near 0, never quite 0."""
    return math.exp(-k * abs(a - b))


@cbr.similarity("ranged-exponential", falls=True)
def ranged_exponential(a: float, b: float, k: float = 4.0, span: float = FEATURE_SPAN) -> float:
    """e^(-k distance / span): `exponential` with the distance as a part of the range."""
    return math.exp(-k * abs(a - b) / span)


@cbr.similarity("within", falls=True)
def within(a: float, b: float, reach: float) -> float:
    """1 up to a distance of `reach`, else 0."""
    return 1.0 if abs(a - b) <= reach else 0.0


@cbr.similarity("groups", falls=True)
def groups(a: float, b: float, cuts: str) -> float:
    """1 for values of one group, else 0; `cuts` are where new groups begin, as 3/5/8."""
    borders = [float(cut) for cut in str(cuts).split("/")]
    return 1.0 if sum(a >= c for c in borders) == sum(b >= c for c in borders) else 0.0


@cbr.similarity("cyclic")
def cyclic(a: float, b: float, span: float = FEATURE_SPAN) -> float:
    """Linear on a circle whose circumference is `span`: hours, months, compass points."""
    apart = abs(a - b) % span
    return 1.0 - 2.0 * min(apart, span - apart) / span


@cbr.similarity("logarithmic", falls=True)
def logarithmic(a: float, b: float, span: float = FEATURE_SPAN) -> float:
    """Linear in log(1 + value): a ratio matters, not a difference. For values of 0 and above."""
    apart = abs(math.log1p(max(0.0, a)) - math.log1p(max(0.0, b)))
    return max(0.0, 1.0 - apart / math.log1p(span))


@cbr.similarity("ratio", falls=True)
def ratio(a: float, b: float, reach: float = 2.0) -> float:
    """Falls evenly with the logarithm of b / a, to 0 where one is `reach` times the other."""
    if a <= 0.0 or b <= 0.0:
        return 1.0 if a == b else 0.0
    return max(0.0, 1.0 - abs(math.log(a / b)) / math.log(reach))


@cbr.similarity("at-most", symmetric=False, falls=True)
def at_most(a: float, b: float, span: float = FEATURE_SPAN) -> float:
    """1 if the case's value `b` is no higher than the target's `a`, else linear: for prices."""
    return 1.0 if b <= a else max(0.0, 1.0 - (b - a) / span)
