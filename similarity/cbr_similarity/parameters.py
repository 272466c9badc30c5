"""Checks of the parameters of measures, and lists of numbers in specs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from cbr import BadValue, Feature


def numbers(feature: Feature) -> None:
    """Refuse a feature that does not hold numbers."""
    if not feature.is_number:
        raise BadValue("it compares numbers; for categories there is equal, ordered and table")


def at_least(**lowest: float) -> Callable[..., Mapping[str, Any]]:
    """A check for a measure of numbers: these parameters may not be lower than the given limits."""

    def prepare(feature: Feature, **given: Any) -> Mapping[str, Any]:
        numbers(feature)
        for name, low in lowest.items():
            value = as_number(name, given[name])
            if value < low:
                raise BadValue(f"{name} is {value:g}; it must be {low:g} or more")
        return given

    return prepare


def above(**limits: float) -> Callable[..., Mapping[str, Any]]:
    """A check for a measure of numbers: these parameters must be higher than the given limits."""

    def prepare(feature: Feature, **given: Any) -> Mapping[str, Any]:
        numbers(feature)
        for name, limit in limits.items():
            value = as_number(name, given[name])
            if value <= limit:
                raise BadValue(f"{name} is {value:g}; it must be above {limit:g}")
        return given

    return prepare


def as_number(name: str, value: object) -> float:
    try:
        if isinstance(value, bool):
            raise ValueError
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise BadValue(f"{name} is {value!r}, not a number") from None
    if not math.isfinite(number):
        raise BadValue(f"{name} is {value!r}; it must be finite")
    return number


def listed(name: str, text: object) -> tuple[float, ...]:
    """The numbers of a list, which are separated by / in a spec.

    >>> listed("at", "1/3.5"), listed("at", 2)
    ((1.0, 3.5), (2.0,))
    """
    return tuple(as_number(name, part.strip()) for part in str(text).split("/"))


def rising(name: str, text: object) -> tuple[float, ...]:
    """The numbers of a list, each higher than the one before it."""
    found = listed(name, text)
    if any(low >= high for low, high in pairwise(found)):
        raise BadValue(f"{name} is {text!r}; its numbers must rise")
    return found


def as_worth(name: str, value: object) -> float:
    """A similarity given in a spec, checked to be from 0 to 1."""
    worth = as_number(name, value)
    if not 0.0 <= worth <= 1.0:
        raise BadValue(f"{name} is {worth:g}; a similarity is between 0 and 1")
    return worth
