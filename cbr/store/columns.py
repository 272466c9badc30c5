"""Columns of cases converted to values for SQLite."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.case import CaseType, Feature, Value
from cbr.checks import HIGHEST
from cbr.errors import BadValue
from cbr.typing import Flags


def outcomes(column: Iterable[float | None]) -> Iterable[float | None]:
    """Outcomes as values for SQLite: None for an unknown one."""
    if isinstance(column, np.ndarray) and column.dtype == np.float64:
        if (np.abs(column) > HIGHEST).any():
            raise BadValue(f"an outcome is above {HIGHEST:g}")
        found: list[float | None] = column.tolist()
        for place in np.flatnonzero(np.isnan(column)).tolist():
            found[place] = None
        return found
    return map(_earned, column)


def _earned(outcome: Any) -> float | None:
    if outcome is None:
        return None
    if not isinstance(outcome, int | float):
        raise BadValue(f"outcome is {outcome!r}, not a number")
    if abs(outcome) > HIGHEST:
        raise BadValue(f"outcome is {outcome}; it must be a finite number up to {HIGHEST:g}")
    return None if math.isnan(outcome) else float(outcome)


def cells_of(
    case_type: CaseType, name: str, column: Sequence[Value | None] | NDArray[np.generic]
) -> list[Any]:
    """A column as values for SQLite: numbers rounded to the float32 that retrieval compares, None
    where a feature that may be missing is; raises if one is missing that may not be."""
    feature = case_type.feature(name)
    if feature.is_number:
        numbers = np.asarray(column, np.float32) + np.float32(0)
        gaps = np.isnan(numbers)
        if not gaps.any():
            found: list[Any] = numbers.tolist()
            return found
        _verify_may_be_missing(feature)
        return _with_gaps(numbers, gaps)
    texts = column.tolist() if isinstance(column, np.ndarray) else list(column)
    if set(map(type, texts)) <= {str}:
        return texts
    lacks = [feature.lacks(cell) for cell in texts]
    if any(lacks):
        _verify_may_be_missing(feature)
    return [None if gone else str(cell) for cell, gone in zip(texts, lacks, strict=True)]


def all_cells(case_type: CaseType, features: Mapping[str, Any]) -> list[list[Any]]:
    """The columns of all features as values for SQLite."""
    for feature in case_type.features:
        if feature.name not in features:
            raise BadValue(f"no column {feature.name!r} is given; cases need one for each feature")
    return [cells_of(case_type, f.name, features[f.name]) for f in case_type.features]


def _verify_may_be_missing(feature: Feature) -> None:
    if not feature.missing:
        raise BadValue(
            f"{feature.called} is missing, and may not be: its case type has no rule for that"
        )


def open_cells(case_type: CaseType, name: str, column: Any) -> list[Any]:
    """As `cells_of`, with None for an unknown number."""
    if not case_type.feature(name).is_number:
        return cells_of(case_type, name, column)
    numbers = np.asarray(column, np.float32) + np.float32(0)
    return _with_gaps(numbers, ~np.isfinite(numbers))


def _with_gaps(numbers: NDArray[np.float32], gaps: Flags) -> list[Any]:
    cells: list[Any] = numbers.tolist()
    for place in np.flatnonzero(gaps).tolist():
        cells[place] = None
    return cells
