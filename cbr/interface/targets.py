"""Situations as a program has them (frames, dictionaries) as values and arrays of a case type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.case import CaseType, Value
from cbr.errors import BadValue
from cbr.plugging.plugins import Plugins
from cbr.store.definitions import complete, with_inputs
from cbr.tables.cells import number_in, stands_for_nothing
from cbr.tables.frames import rows_of
from cbr.tables.reading import flat


def target_of(given: Any, case_type: CaseType, plugins: Plugins) -> dict[str, Value]:
    """One situation: a dictionary, or a row of a frame."""
    apart = {case_type.solution_label or "solution", case_type.outcome_label or "outcome"}
    if not isinstance(given, Mapping) and hasattr(given, "to_dict"):  # a row may be a whole case
        row = given.to_dict()
        given = {name: cell for name, cell in row.items() if str(name) not in apart}
    if not isinstance(given, Mapping):
        raise BadValue(
            f"{type(given).__name__} is no situation; give a dictionary of features, or a row"
        )
    for name in given:
        if str(name) in apart and case_type.find(str(name)) is None:
            raise BadValue(f"{str(name)!r} is no part of a question; leave it out")
    values = values_of(given, with_inputs(case_type, plugins), strict=True)
    return complete(case_type, values, plugins)


def values_of(
    row: Mapping[str, Any], case_type: CaseType, *, strict: bool = False
) -> dict[str, Value]:
    """The features that a row gives, without those that are missing. A column that is no feature is
    an error if `strict`, else left out, as the solution of a row is."""
    found: dict[str, Value] = {}
    apart = {"solution", "outcome", case_type.solution_label, case_type.outcome_label}
    for name, cell in row.items():
        if str(name) in apart and not strict:
            continue
        feature = case_type.feature(str(name)) if strict else case_type.find(str(name))
        if feature is None:
            continue
        value = flat(cell)
        if feature.lacks(value) or stands_for_nothing(value, feature):
            continue
        if feature.is_number and isinstance(value, str):
            number = number_in(value)
            value = value if number is None else number
        found[feature.name] = feature.read(value)
    return found


def codes_of(frame: Any, case_type: CaseType) -> NDArray[np.float32]:
    """Situations as an array for `Retriever.many`, [q, d]; NaN where a feature is missing."""
    indexed = case_type.indexed
    rows = [values_of(row, case_type) for row in rows_of(frame)]
    codes = np.full((len(rows), len(indexed)), np.nan, np.float32)
    for place, row in enumerate(rows):
        for column, feature in enumerate(indexed):
            if feature.name in row:
                codes[place, column] = feature.encode(row[feature.name])
    return codes
