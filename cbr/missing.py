"""Missing values: what it means for the similarity that cases lack a feature.

A target that lacks a feature is not compared by it, whatever the rule: nothing was asked. A rule
says how a case that lacks a feature compares with a target that gives it:

ignore     the feature is left out of the weighted mean of this case: its weight counts for nothing
unlike     similarity 0
expected   the similarity that is expected: the mean over the stage's cases that have the feature
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

from cbr.errors import NoSuchName

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cbr.typing import Floats, Ints

RULES = ("ignore", "unlike", "expected")

#: A number with more distinct values than this is expected to be at this many even quantiles.
_VALUES = 256


def verify_rule(rule: str) -> None:
    """Raise if no rule for missing values has this name."""
    if rule not in RULES:
        raise NoSuchName("rule for missing values", rule, RULES)


def is_nothing(value: object) -> bool:
    """Whether a value is none at all: None or NaN, numpy's too."""
    if value is None:
        return True
    if isinstance(value, float):
        return value != value
    if isinstance(value, str | int):  # to ask whether a value is Real takes a microsecond
        return False
    return isinstance(value, Real) and value != value


@dataclass(frozen=True, eq=False)
class Gaps:
    """A feature that some cases lack: the rule, and the distribution of the known values, each with
    its share of the cases."""

    rule: str
    values: NDArray[np.float32]
    share: Floats

    @classmethod
    def of(cls, rule: str, column: NDArray[np.float32], cases: Ints, numbers: bool) -> Gaps:
        """Gaps of a column [m] of a stage's vectors that have so many `cases` [m]."""
        import numpy as np

        known = ~np.isnan(column)
        values, place = np.unique(column[known], return_inverse=True)
        held = np.bincount(place.reshape(-1), cases[known], len(values))
        if numbers and len(values) > _VALUES:
            marks = (np.arange(_VALUES) + 0.5) / _VALUES * held.sum()
            places = np.searchsorted(np.cumsum(held), marks)
            some, held = np.unique(places, return_counts=True)
            values = values[some]
        return cls(rule, values, held / max(held.sum(), 1.0))

    @property
    def ignored(self) -> bool:
        return self.rule == "ignore"
