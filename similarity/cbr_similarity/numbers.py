"""Local similarity measures for numbers, by their distance and, if asymmetric, its direction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import cbr
from cbr import FEATURE_SPAN, BadValue, Feature
from cbr_similarity import parameters


@cbr.similarity("linear", falls=True, prepare=parameters.above(span=0))
def linear(a: float, b: float, span: float = FEATURE_SPAN) -> float:
    """Falls linearly with the distance, to 0 at `span` (the feature's range)."""
    return max(0.0, 1.0 - abs(a - b) / span)


@cbr.similarity("exponential", falls=True, prepare=parameters.at_least(k=0))
def exponential(a: float, b: float, k: float = 1.0) -> float:
    """e^(-k distance): falls fast at small distances, and never reaches 0."""
    return math.exp(-k * abs(a - b))


@cbr.similarity("ranged-exponential", falls=True, prepare=parameters.above(k=0, span=0))
def ranged_exponential(a: float, b: float, k: float = 4.0, span: float = FEATURE_SPAN) -> float:
    """e^(-k distance / span): `exponential` with the distance as a part of the range."""
    return math.exp(-k * abs(a - b) / span)


@cbr.similarity("sigmoid", falls=True, prepare=parameters.above(reach=0, width=0))
def sigmoid(a: float, b: float, reach: float, width: float) -> float:
    """A soft threshold: near 1 up to a distance of about `reach`, near 0 some `width`s further.

    1 / (1 + e^((distance - reach) / width)), scaled to be 1 for equal values.

    >>> [round(sigmoid(0.0, b, reach=4.0, width=0.5), 2) for b in (0.0, 2.0, 4.0, 6.0)]
    [1.0, 0.98, 0.5, 0.02]
    """
    beyond = (abs(a - b) - reach) / width
    if beyond > 700.0:  # e to that power overflows
        return 0.0
    return min(1.0, (1.0 + math.exp(-reach / width)) / (1.0 + math.exp(beyond)))


@cbr.similarity("within", falls=True, prepare=parameters.at_least(reach=0))
def within(a: float, b: float, reach: float) -> float:
    """1 up to a distance of `reach`, else 0."""
    return 1.0 if abs(a - b) <= reach else 0.0


def _steps(feature: Feature, at: object, worth: object) -> Mapping[str, Any]:
    parameters.numbers(feature)
    distances, worths = parameters.rising("at", at), parameters.listed("worth", worth)
    if distances[0] <= 0.0:
        raise BadValue(
            f"at is {at!r}; its distances must be above 0, since equal values have similarity 1"
        )
    if len(worths) == len(distances) - 1:
        worths = (*worths, 0.0)
    if len(worths) != len(distances):
        raise BadValue(
            f"at is {at!r} and worth is {worth!r}; give a worth for each distance, or for each "
            f"but the last, whose worth is then 0"
        )
    before = 1.0
    for each in worths:
        if parameters.as_worth("worth", each) > before:
            raise BadValue(f"worth is {worth!r}; it may not rise with the distance")
        before = each
    return {"at": distances, "worth": worths}


@cbr.similarity("step", falls=True, prepare=_steps)
def step(a: float, b: float, at: tuple[float, ...], worth: tuple[float, ...]) -> float:
    """1 below the first distance of `at`, and from each of them on the `worth` beside it.

    In a spec, the last distance may have no worth, which means 0: ``step?at=1/3/6&worth=0.8/0.5``.

    >>> [step(0, b, at=(1, 3, 6), worth=(0.8, 0.5, 0)) for b in (0, 0.9, 1, 2, 3, 5, 6)]
    [1.0, 1.0, 0.8, 0.8, 0.5, 0.5, 0]
    """
    found, apart = 1.0, abs(a - b)
    for place in range(len(at)):
        if apart >= at[place]:
            found = worth[place]
    return found


def _groups(feature: Feature, cuts: object) -> Mapping[str, Any]:
    parameters.numbers(feature)
    return {"cuts": parameters.rising("cuts", cuts)}


@cbr.similarity("groups", falls=True, prepare=_groups)
def groups(a: float, b: float, cuts: tuple[float, ...]) -> float:
    """1 for values of one group, else 0; `cuts` are where new groups begin, in a spec 3/5/8.

    >>> groups(5, 7, cuts=(3, 5, 8)), groups(2, 3, cuts=(3, 5, 8))
    (1.0, 0.0)
    """
    for cut in cuts:
        if (a >= cut) != (b >= cut):
            return 0.0
    return 1.0


@cbr.similarity("cyclic", prepare=parameters.above(span=0))
def cyclic(a: float, b: float, span: float = FEATURE_SPAN) -> float:
    """Linear on a circle whose circumference is `span`: hours, months, compass points."""
    apart = abs(a - b) % span
    return 1.0 - 2.0 * min(apart, span - apart) / span


@cbr.similarity("logarithmic", falls=True, prepare=parameters.above(span=0))
def logarithmic(a: float, b: float, span: float = FEATURE_SPAN) -> float:
    """Linear in log(1 + value): a ratio matters, not a difference. For values of 0 and above."""
    apart = abs(math.log1p(max(0.0, a)) - math.log1p(max(0.0, b)))
    return max(0.0, 1.0 - apart / math.log1p(span))


@cbr.similarity("ratio", falls=True, prepare=parameters.above(reach=1))
def ratio(a: float, b: float, reach: float = 2.0) -> float:
    """Falls linearly with |log(b / a)|, to 0 where one value is `reach` times the other."""
    if a <= 0.0 or b <= 0.0:
        return 1.0 if a == b else 0.0
    return max(0.0, 1.0 - abs(math.log(a / b)) / math.log(reach))


@cbr.similarity("at-most", symmetric=False, falls=True, prepare=parameters.above(span=0))
def at_most(a: float, b: float, span: float = FEATURE_SPAN) -> float:
    """1 if the case's value `b` is no higher than the target's `a`, else linear: for prices."""
    return 1.0 if b <= a else max(0.0, 1.0 - (b - a) / span)


@cbr.similarity("at-least", symmetric=False, falls=True, prepare=parameters.above(span=0))
def at_least(a: float, b: float, span: float = FEATURE_SPAN) -> float:
    """1 if the case's value `b` is no lower than the target's `a`, else linear: for room, power."""
    return 1.0 if b >= a else max(0.0, 1.0 - (a - b) / span)


@cbr.similarity(
    "asymmetric", symmetric=False, falls=True, prepare=parameters.at_least(below=0, above=0)
)
def asymmetric(
    a: float, b: float, below: float = FEATURE_SPAN, above: float = FEATURE_SPAN
) -> float:
    """Linear to 0 at a distance of `below` under the target `a`, or of `above` over it; with a
    distance of 0, any value on that side has similarity 0.

    >>> asymmetric(10, 9, below=2, above=5), asymmetric(10, 11, below=2, above=5)
    (0.5, 0.8)
    >>> asymmetric(10, 9, below=0, above=5)
    0.0
    """
    if a == b:
        return 1.0
    span, apart = (below, a - b) if b < a else (above, b - a)
    return max(0.0, 1.0 - apart / span) if span > 0.0 else 0.0
