"""Whether features, solutions, outcomes and values of a casebase are those of its case types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from cbr.case import CaseType, Feature
from cbr.checks import HIGHEST, HIGHEST_NUMBER, shown
from cbr.errors import BadValue, CbrError
from cbr.store import digest, schema
from cbr.store.casebase import Casebase
from cbr.store.schema import listed, quoted

_ROWS = 10_000


def cell_findings(base: Casebase) -> Iterator[str]:
    for case_type in base.case_types:
        yield from _stage(base, case_type)
        if base.has_hidden:
            yield from _hidden(base, case_type)
    if base.has_hidden:
        yield from _unknown_stages(base, schema.HIDDEN)
    if base.has_values:
        yield from _values(base)
        yield from _unknown_stages(base, schema.VALUES)


def _stage(base: Casebase, case_type: CaseType) -> Iterator[str]:
    """Invalid values of cases, and a count or digest that differs from the cases."""
    stage, cases, total = case_type.stage, 0, 0
    names = [feature.name for feature in case_type.features]
    query = (
        f"SELECT {listed(names)}, solution, outcome, id "
        f"FROM {quoted(schema.case_table(stage))} ORDER BY id"
    )
    cursor = base.db.execute(query)
    while rows := cursor.fetchmany(_ROWS):
        *columns, outcomes, ids = (list(column) for column in zip(*rows, strict=True))
        yield from _wrong(f"of stage {stage!r}", case_type.features, columns, ids)
        yield from _wrong_results(f"of stage {stage!r}", case_type, columns[-1], outcomes, ids)
        # Numbers that are invalid, or too large for float32, are already findings.
        with suppress(TypeError, ValueError), np.errstate(over="ignore"):
            total += digest.sum_of_rows(case_type, columns)
        cases += len(rows)
    if cases != base.count(stage):
        yield f"stage {stage!r} holds {cases} cases, {base.count(stage)} are recorded"
    if _number(base.digest(stage)) != _number(digest.add("", total)):
        yield f"the cases of stage {stage!r} do not have the digest recorded for them"


def _number(text: str) -> int:
    """A digest as a number; -1 if it is none."""
    try:
        return int(text or "0", 16)
    except ValueError:
        return -1


def _hidden(base: Casebase, case_type: CaseType) -> Iterator[str]:
    """Invalid values of hidden decisions; their numbers may be unknown."""
    stage = case_type.stage
    features = [feature for feature in case_type.features if not feature.private]
    names = [*(feature.name for feature in features), "solution", "outcome", "id"]
    query = f"SELECT {listed(names)} FROM {quoted(schema.HIDDEN)} WHERE stage = ? ORDER BY id"
    cursor = base.db.execute(query, [stage])
    while rows := cursor.fetchmany(_ROWS):
        *columns, solutions, outcomes, ids = (list(column) for column in zip(*rows, strict=True))
        for feature, column in zip(features, columns, strict=True):
            if feature.is_number:
                column[:] = [0.0 if cell is None else cell for cell in column]
        yield from _wrong(f"of the hidden decisions of {stage!r}", features, columns, ids)
        yield from _wrong_results(
            f"of the hidden decisions of {stage!r}", case_type, solutions, outcomes, ids
        )


def _wrong(
    where: str, features: Sequence[Feature], columns: list[list[Any]], ids: list[int]
) -> Iterator[str]:
    """Invalid values of features: columns are checked at once, and cell by cell if that fails."""
    for feature, column in zip(features, columns, strict=False):
        cells = list(zip(ids, column, strict=True))
        if feature.missing:
            cells = [(number, cell) for number, cell in cells if cell is not None]
            column = [cell for _, cell in cells]
        if feature.is_number and set(map(type, column)) <= {float, int}:
            if max(map(abs, column), default=0.0) <= _FAR_BELOW:
                continue
        elif (feature.values and set(column) <= set(feature.values)) or (
            feature.is_text and set(map(type, column)) <= {str}
        ):
            continue
        for number, cell in cells:
            try:
                feature.read(_same_kind(feature, cell))
            except CbrError as error:
                yield f"case {number} {where}: {error}"


#: A column of numbers below this needs no closer look; NaN is not below it either.
_FAR_BELOW = 1e38


def _same_kind(feature: Feature, cell: Any) -> Any:
    """The cell, which must be of its feature's kind: `Feature.read` would convert it."""
    if isinstance(cell, int | float if feature.is_number else str):
        return cell
    raise BadValue(
        f"{feature.name} is {shown(cell)}, not a {'number' * feature.is_number or 'text'}"
    )


def _wrong_results(
    where: str, case_type: CaseType, solutions: list[Any], outcomes: list[Any], ids: list[int]
) -> Iterator[str]:
    known = set(case_type.solutions)
    for number, solution, outcome in zip(ids, solutions, outcomes, strict=True):
        good = (
            isinstance(solution, int | float) and abs(solution) <= HIGHEST_NUMBER
            if case_type.numeric
            else solution in known
        )
        if not good:
            yield f"case {number} {where} has solution {shown(solution)}"
        if outcome is not None and not (
            isinstance(outcome, int | float) and abs(outcome) <= HIGHEST
        ):
            yield f"case {number} {where} has outcome {shown(outcome)}"


def _values(base: Casebase) -> Iterator[str]:
    """Estimated values of no case or no solution, or that are no numbers."""
    for case_type in base.case_types:
        stage, solutions = case_type.stage, ",".join("?" * len(case_type.solutions))
        in_stage = f"SELECT COUNT(*) FROM {schema.VALUES} WHERE stage = ? AND "
        unknown = f"solution NOT IN ({solutions})"
        cases = f"SELECT id FROM {quoted(schema.case_table(stage))}"
        for wrong, given, what in (
            (f"case_id NOT IN ({cases})", (), "refer to cases of {} that do not exist"),
            (unknown, case_type.solutions, "in stage {} are of unknown solutions"),
            ("NOT abs(value) <= ?", (HIGHEST,), "in stage {} are not finite"),
            ("NOT (error >= 0 AND error <= ?)", (HIGHEST,), "in stage {} have no valid error"),
        ):
            number = base.db.execute(in_stage + wrong, [stage, *given]).fetchone()[0]
            if number:
                yield f"{number} values of solutions {what.format(repr(stage))}"


def _unknown_stages(base: Casebase, table: str) -> Iterator[str]:
    for (stage,) in base.db.execute(f"SELECT DISTINCT stage FROM {table}").fetchall():
        if stage not in base.stages:
            yield f"table {table!r} has rows of the unknown stage {shown(stage)}"
