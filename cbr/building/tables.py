"""The engine's own case source: CSV and TSV tables, one case per row."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cbr.case import Batch, BuildOption, CaseType, Feature, Situated, Solution
from cbr.checks import HIGHEST
from cbr.errors import BadJson, BadValue
from cbr.files.compression import BROKEN, open_bytes, plain_name
from cbr.files.json_text import read_json
from cbr.plugging.guard import frozen
from cbr.store.records import CaseSource, Record, Skipped


def _is_table(path: Path, head: bytes) -> bool:
    return Path(plain_name(path)).suffix in {".csv", ".tsv"} and b"\0" not in head


def _read_rows(path: Path, delimiter: str = "") -> Iterator[Record | Skipped]:
    """Each row as a JSON object of its columns."""
    if len(delimiter) > 1:
        raise BadValue(f"--delimiter {delimiter!r} must be one character")
    separator = delimiter or ("\t" if plain_name(path).endswith(".tsv") else ",")
    with open_bytes(path) as (raw, position):
        # An invalid byte becomes a character that no valid row contains, so that only its row is
        # skipped, not the file.
        text = io.TextIOWrapper(raw, "utf-8-sig", errors="surrogateescape", newline="")
        rows = csv.reader(text, delimiter=separator, strict=True)
        header: list[str] = []
        while True:
            line = rows.line_num + 1
            try:
                cells = next(rows, None)
            except csv.Error as error:
                yield Skipped(line, f"not a row of a table: {error}", position())
                continue
            except BROKEN as error:
                yield Skipped(line, f"the file breaks off: {error}", position())
                return
            if cells is None:
                return
            if not header:
                header = [cell.strip() for cell in cells]
                for name in sorted({name for name in header if header.count(name) > 1}):
                    yield Skipped(line, f"column {name!r} appears twice", position())
                    return
                continue
            if not any(cells):
                continue
            yield _row(header, cells, line, position())


def _row(header: list[str], cells: list[str], line: int, offset: int) -> Record | Skipped:
    if len(cells) != len(header):
        return Skipped(line, f"{len(cells)} cells under {len(header)} column names", offset)
    body = json.dumps(
        dict(zip(header, (cell.strip() for cell in cells), strict=True)), ensure_ascii=False
    )
    try:
        body.encode("utf-8")
    except UnicodeEncodeError:
        return Skipped(line, "bytes that are not UTF-8", offset)
    return Record(body, line, offset)


TABLE = CaseSource(
    name="table",
    meaning="CSV or TSV: one case per row, columns named as the features, `solution`, `outcome`",
    can_read=_is_table,
    read=_read_rows,
    options=(BuildOption("delimiter", "Character between the cells of a table.", ""),),
)


def situate_rows(bodies: Sequence[str], case_types: Sequence[CaseType]) -> Situated:
    """Rows (JSON objects) as situations: their columns, numbers where a feature is a number. An
    empty cell is missing, where the feature may be.

    A column ``stage`` names the stage of a row, if the domain has several.
    """
    import numpy as np

    by_stage = {case_type.stage: case_type for case_type in case_types}
    rows: dict[str, list[tuple[int, dict[str, Any]]]] = {stage: [] for stage in by_stage}
    rejected: dict[int, str] = {}
    for place, body in enumerate(bodies):
        try:
            row = _object(body)
            stage = next(iter(by_stage)) if len(by_stage) == 1 else str(row.get("stage", ""))
            if stage not in by_stage:
                raise BadValue(f"stage is {stage!r}; it must be one of {', '.join(by_stage)}")
            rows[stage].append((place, _checked(row, by_stage[stage])))
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


def _checked(row: Mapping[str, str], case_type: CaseType) -> dict[str, Any]:
    """The row with its features converted; other columns unchanged."""
    known = {feature.name: feature for feature in case_type.features}
    read: dict[str, Any] = {}
    for name, text in row.items():
        feature = known.get(name)
        # A computed feature is not read from a column of the same name.
        if feature is None or feature.computed:
            read[name] = text
        elif feature.missing and feature.lacks(text):
            read[name] = None
        else:
            read[name] = feature.read(text)
    for feature in case_type.features:
        if not feature.computed and feature.name not in row:
            raise BadValue(f"column {feature.name!r} is missing")
    if "solution" not in row:
        raise BadValue("column 'solution' is missing")
    return read | {
        "solution": _solution(row["solution"], case_type),
        "outcome": _outcome(row.get("outcome", "")),
    }


def _solution(text: Any, case_type: CaseType) -> Solution:
    if case_type.solution is not None:
        return case_type.solution.read(text)
    if str(text) not in case_type.solutions:
        raise BadValue(
            f"solution is {str(text)!r}; it must be one of {', '.join(case_type.solutions)}"
        )
    return str(text)


def _outcome(text: Any) -> float:
    """The outcome, NaN where the cell is empty."""
    if text is None or text == "":
        return math.nan
    try:
        amount = float(text)
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
