"""Columns of cases converted to values for SQLite."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.case import CaseType, Value
from cbr.checks import HIGHEST
from cbr.errors import BadValue


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
    case_type: CaseType, name: str, column: Sequence[Value] | NDArray[np.generic]
) -> list[Any]:
    """A column as values for SQLite: numbers rounded to the float32 that retrieval compares."""
    if case_type.feature(name).is_number:
        numbers: list[Any] = (np.asarray(column, np.float32) + np.float32(0)).tolist()
        return numbers
    texts = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return texts if set(map(type, texts)) <= {str} else [str(cell) for cell in texts]


def open_cells(case_type: CaseType, name: str, column: Any) -> list[Any]:
    """As `cells_of`, with None for an unknown number."""
    cells = cells_of(case_type, name, column)
    if case_type.feature(name).is_number:
        for place in np.flatnonzero(~np.isfinite(np.asarray(column, np.float32))).tolist():
            cells[place] = None
    return cells
