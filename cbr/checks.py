"""Checks of names, texts and numbers in definitions, which may come out of anybody's file.

Names become names of tables, columns and files, so only plain ones are accepted, and everything has
a limit that no honest definition comes near.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

from cbr.errors import BadValue

#: Weights and outcomes above this would overflow in sums.
HIGHEST = 1e100
#: Numbers of features, and of their ranges, are compared as float32, which ends here.
HIGHEST_NUMBER = 3e38
#: The most features and solutions of a case type, and values of a feature.
MOST_FEATURES, MOST_SOLUTIONS, MOST_VALUES = 1_000, 1_000, 65_536
#: The most characters of a text that is not a name.
_LONGEST = 10_000

NAME = re.compile(r"[a-z][a-z0-9_]{0,79}\Z")
TYPE_NAME = re.compile(r"[a-z][a-z0-9_-]{0,79}(/[a-z][a-z0-9_]{0,79})?\Z")


def shown(value: object) -> str:
    """A value as a message shows it, shortened: whoever wrote it may have made it very long."""
    return reprlib.repr(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def verify_fields(
    what: str,
    one: object,
    texts: Sequence[str] = (),
    flags: Sequence[str] = (),
    numbers: Sequence[str] = (),
) -> None:
    """Raise `BadValue` if a field of an object does not have its type."""

    def is_text(value: object) -> bool:
        return isinstance(value, str) and len(value) <= _LONGEST

    for names, fits, must_be in (
        (texts, is_text, f"a text of at most {_LONGEST:,} characters"),
        (flags, lambda value: isinstance(value, bool), "true or false"),
        (numbers, _is_number, "a number"),
    ):
        for name in names:
            value = getattr(one, name)
            if not fits(value):
                raise BadValue(f"{name} of {what} is {shown(value)}; it must be {must_be}")


def texts_of(what: str, given: Iterable[Any], most: int) -> tuple[str, ...]:
    """Texts of a definition, checked."""
    texts = tuple(given)
    if len(texts) > most:
        raise BadValue(f"there are {len(texts):,} {what}, and {most:,} are the most")
    for text in texts:
        if not isinstance(text, str) or len(text) > _LONGEST:
            raise BadValue(
                f"{what} must be texts of at most {_LONGEST:,} characters, not {shown(text)}"
            )
    return texts


def range_of(name: str, given: Sequence[Any]) -> tuple[float, float]:
    """The range of a feature, checked."""
    low, high = given if len(given) == 2 and all(map(_is_number, given)) else (0.0, 0.0)
    if not (low < high and max(abs(low), abs(high)) <= HIGHEST_NUMBER):
        raise BadValue(
            f"range of {name!r} must be two finite numbers, low < high, up to {HIGHEST_NUMBER:g}"
        )
    return float(low), float(high)


def in_any_case(text: str, names: Iterable[str]) -> str | None:
    """The name that is this text but for upper and lower case and spaces around it; None if there
    is none, or several.

    >>> in_any_case(" Setosa", ["setosa", "virginica"])
    'setosa'
    """
    word = text.strip().casefold()
    same = [name for name in names if name.strip().casefold() == word]
    return same[0] if len(same) == 1 else None


_UNIT = re.compile(r"\s*[(\[]([^()\[\]]{1,20})[)\]]\s*\Z")


def unit_in(label: str) -> str:
    """The unit in brackets at the end of a label; empty if there is none.

    >>> unit_in("petal length (cm)")
    'cm'
    """
    found = _UNIT.search(label)
    return found[1].strip() if found else ""


def without_unit(label: str) -> str:
    """A label without the unit in brackets at its end.

    >>> without_unit("petal length (cm)")
    'petal length'
    """
    return _UNIT.sub("", label)


def with_unit(label: str, unit: str) -> str:
    """A label with a unit, unless it names that already.

    >>> with_unit("price", "EUR"), with_unit("petal length (cm)", "cm")
    ('price (EUR)', 'petal length (cm)')
    """
    return label if not unit or unit_in(label) == unit else f"{label} ({unit})"
