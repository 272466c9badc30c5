"""The engine's own case source: tables, one case per row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cbr.case import Batch, BuildOption, CaseType, Feature, Situated, Solution, Value
from cbr.checks import HIGHEST, in_any_case
from cbr.errors import BadJson, BadValue
from cbr.files.json_text import read_json
from cbr.plugging.guard import frozen
from cbr.store.records import CaseSource, Record, Skipped
from cbr.tables.cells import is_missing, number_in, stands_for_nothing
from cbr.tables.reading import TableOptions, is_table, read_records

Items = Iterator[Record | Skipped]


def _read(
    path: Path, delimiter: str = "", encoding: str = "", decimal: str = "", na: str = ""
) -> Items:
    """Each row as a JSON object of its columns."""
    return read_records(path, TableOptions(delimiter, encoding, decimal, na))


TABLE = CaseSource(
    name="table",
    meaning="CSV, TSV, JSON, Parquet or Excel: one case per row",
    can_read=is_table,
    read=_read,
    options=(
        BuildOption("delimiter", "Character between the cells of a table; default: detected.", ""),
        BuildOption(
            "encoding", "Encoding of a table, e.g. cp1252 or mixed; default: detected.", ""
        ),
        BuildOption("decimal", "Decimal mark of a table, . or ,; default: detected.", ""),
        BuildOption("na", "Words for a missing value in a table, besides the usual ones.", ""),
    ),
)


def situate_rows(bodies: Sequence[str], case_types: Sequence[CaseType]) -> Situated:
    """Rows (JSON objects) as situations: their columns, numbers where a feature is a number. An
    empty cell is missing, where the feature may be.

    A column ``stage`` names the stage of a row, if the domain has several.
    """
    import numpy as np

    by_stage = {case_type.stage: case_type for case_type in case_types}
    labels = {t.stage: _labels(t) for t in case_types}
    rows: dict[str, list[tuple[int, dict[str, Any]]]] = {stage: [] for stage in by_stage}
    rejected: dict[int, str] = {}
    for place, body in enumerate(bodies):
        try:
            row = _object(body)
            stage = next(iter(by_stage)) if len(by_stage) == 1 else str(row.get("stage", ""))
            if stage not in by_stage:
                raise BadValue(f"stage is {stage!r}; it must be one of {', '.join(by_stage)}")
            rows[stage].append((place, _checked(row, by_stage[stage], labels[stage])))
        except BadValue as error:
            rejected[place] = str(error)
    batches = {}
    for stage, kept in rows.items():
        if not kept:
            continue
        features = {f.name: f for f in by_stage[stage].features if not f.computed}
        names = list(dict.fromkeys(name for _, row in kept for name in row))
        columns = {name: [row.get(name, "") for _, row in kept] for name in names}
        batches[stage] = Batch(
            situations={
                name: frozen(_cells(column, features.get(name))) for name, column in columns.items()
            },
            solution=[row["solution"] for _, row in kept],
            outcome=np.array([row["outcome"] for _, row in kept], np.float64),
            record=np.array([place for place, _ in kept]),
            step=np.zeros(len(kept), np.int64),
        )
    return Situated(batches, rejected)


def _object(body: str) -> dict[str, Any]:
    try:
        row = read_json(body)
    except BadJson as error:
        raise BadValue(f"the record is not a row: {error}") from None
    if not isinstance(row, dict):
        raise BadValue("the record is not a row: it is not a JSON object")
    return row


def _labels(case_type: CaseType) -> set[str]:
    """Columns that are read under another name than their own."""
    labels = {feature.label for feature in case_type.features if not feature.computed}
    return labels | {case_type.solution_label, case_type.outcome_label}


def _checked(row: Mapping[str, Any], case_type: CaseType, labels: set[str]) -> dict[str, Any]:
    """The row with its features converted, by their names; other columns unchanged."""
    read = {name: cell for name, cell in row.items() if name not in labels}
    may_lack = bool(case_type.missing)
    for feature in case_type.features:
        if not feature.computed:  # one that is computed is not read from a column
            read[feature.name] = _value(row, feature, may_lack)
    solution = _cell(row, "solution", case_type.solution_label)
    outcome = row.get(case_type.outcome_label or "outcome", "")
    return read | {"solution": _solution(solution, case_type), "outcome": _outcome(outcome)}


def _cell(row: Mapping[str, Any], name: str, label: str) -> Any:
    """The cell of the column that has this label, if there is one, or else this name."""
    if label and label in row:
        return row[label]
    if name not in row:
        raise BadValue(f"column {(label or name)!r} is missing")
    return row[name]


def _value(row: Mapping[str, Any], feature: Feature, may_lack: bool) -> Value | None:
    """The value of a feature in a row; None if it may be missing and is. Rows that `may_lack`
    features may lack texts too, which are empty then."""
    if feature.label not in row and feature.name not in row:
        if feature.missing:  # rows of JSON leave out what they lack
            return None
        if may_lack and feature.is_text:
            return ""
    cell = _cell(row, feature.name, feature.label)
    if feature.missing and (feature.lacks(cell) or stands_for_nothing(cell, feature)):
        return None
    if feature.is_number and isinstance(cell, str):
        number = number_in(cell)
        return feature.read(cell if number is None else number)
    return feature.read(cell)


def _solution(cell: Any, case_type: CaseType) -> Solution:
    label = case_type.solution_label or "solution"
    if case_type.solution is not None:
        if is_missing(cell):
            raise BadValue(f"{label} is missing")
        number = number_in(cell)
        return case_type.solution.read(cell if number is None else number)
    found = str(cell) if str(cell) in case_type.solutions else None
    if found is None and is_missing(cell):
        raise BadValue(f"{label} is missing")
    found = found or in_any_case(str(cell), case_type.solutions)
    if found is not None:
        return found
    raise BadValue(f"{label} is {str(cell)!r}; it must be one of {', '.join(case_type.solutions)}")


def _outcome(text: Any) -> float:
    """The outcome, NaN where the cell is empty."""
    if is_missing(text):
        return math.nan
    try:
        amount = number_in(text)
        amount = float(text) if amount is None else amount
    except (TypeError, ValueError, OverflowError):
        raise BadValue(f"outcome is {text!r}, not a number") from None
    if not abs(amount) <= HIGHEST:
        raise BadValue(
            f"outcome is {text!r}; it must be a finite number up to {HIGHEST:g}, or empty"
        )
    return amount


def _cells(cells: list[Any], feature: Feature | None) -> Any:
    """A column as an array: of numbers for a number feature, or if all cells of a column that is
    not a feature are numbers or empty (NaN); else of texts, as objects."""
    import numpy as np

    if feature is not None:
        return np.array(cells, np.float64 if feature.is_number else object)
    try:
        return np.array([float(cell) if cell not in {"", None} else math.nan for cell in cells])
    except (TypeError, ValueError, OverflowError):
        return np.array([str(cell) for cell in cells], object)
