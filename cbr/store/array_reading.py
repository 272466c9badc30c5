"""Reads the cases of a stage into arrays.

A file may come from anybody, so a value that does not fit its case type is an error that names
`cbr check`, and memory is taken for the rows that there are, not for those that the file counts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cbr.case import CaseType, Feature
from cbr.checks import HIGHEST
from cbr.errors import EmptyStage, NotACasebase, one_line
from cbr.store import schema
from cbr.store.arrays import Cases, Vectors
from cbr.store.schema import listed, quoted

if TYPE_CHECKING:
    from cbr.store.casebase import Casebase

_ROWS = 50_000


def read_cases(base: Casebase, stage: str) -> Cases:
    """The stage as arrays, case by case in order of their numbers."""
    case_type, table = base.case_type(stage), quoted(schema.case_table(stage))
    names = [feature.name for feature in case_type.indexed]
    count = int(base.db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0])
    if count != base.count(stage):
        raise NotACasebase(
            f"stage {stage!r} of {base.path} has {count:,} cases, not the {base.count(stage):,} "
            "that it counts; restore it, or build it again"
        )
    if not count:
        raise EmptyStage(f"stage {stage!r} of {base.path} has no cases; build some first")
    ids, record, solution = (np.zeros(count, np.int64) for _ in range(3))
    outcome, values = np.empty(count), np.empty((count, len(names)), np.float32)
    codes = [_codes(feature) for feature in case_type.indexed]
    numbers = np.empty(count) if case_type.numeric else None
    solutions = {name: code for code, name in enumerate(case_type.solutions)}
    query = f"SELECT id, record, solution, outcome, {listed(names)} FROM {table} ORDER BY id"
    at = 0
    with _valid(base, stage):
        cursor = base.db.execute(query)
        while rows := cursor.fetchmany(_ROWS):
            part = slice(at, at + len(rows))
            at += len(rows)
            number, source, taken, earned, *columns = zip(*rows, strict=True)
            ids[part] = number
            record[part] = [-n if r is None else r for n, r in zip(number, source, strict=True)]
            if numbers is None:
                solution[part] = [solutions[name] for name in taken]
            else:
                numbers[part] = _known_numbers(taken)
            outcome[part] = _numbers(earned)
            for place, (code, column) in enumerate(zip(codes, columns, strict=True)):
                values[part, place] = _coded(code, column)
        _verify_numbers(case_type, values)
    # Adding 0 turns -0.0 into 0.0: equal values must be one vector.
    values += np.float32(0)
    return Cases(case_type, base.digest(stage), values, solution, outcome, ids, record, numbers)


def read_public(base: Casebase, stage: str) -> Cases:
    """All decisions of a stage with their public features, including hidden decisions."""
    known = read_cases(base, stage)
    case_type = known.case_type.public
    seen = [place for place, f in enumerate(known.case_type.indexed) if not f.private]
    names = [feature.name for feature in case_type.indexed]
    query = (
        f"SELECT record, solution, outcome, {listed(names)} FROM {quoted(schema.HIDDEN)} "
        "WHERE stage = ? ORDER BY id"
    )
    solutions = {name: code for code, name in enumerate(case_type.solutions)}
    with _valid(base, stage):
        rows = base.db.execute(query, [stage]).fetchall() if base.has_hidden else []
        record, taken, earned, *columns = (
            zip(*rows, strict=True) if rows else [()] * (3 + len(seen))
        )
        values = [
            _coded(_codes(feature), column)
            for feature, column in zip(case_type.indexed, columns, strict=True)
        ]
        hidden = np.array(values, np.float32).reshape(len(seen), -1).T
        if np.isinf(hidden).any():
            raise ValueError("a number of a feature is too large")
        return Cases(
            case_type,
            known.digest,
            np.concatenate([known.values[:, seen], hidden + np.float32(0)]),
            np.append(known.solution, [solutions[name] for name in taken]).astype(np.int64),
            np.append(known.outcome, _numbers(earned)),
            np.append(known.ids, -1 - np.arange(len(rows))),
            np.append(known.record, record).astype(np.int64),
            known.numbers,  # a type with numbers as solutions has no private features
        )


def with_values(base: Casebase, vectors: Vectors) -> Vectors:
    """Vectors of a stage, or of some of its cases, with the estimated values of these cases."""
    case_type = vectors.case_type
    codes = {name: code for code, name in enumerate(case_type.solutions)}
    query = f"SELECT case_id, solution, value FROM {quoted(schema.VALUES)} WHERE stage = ?"
    with _valid(base, case_type.stage):
        rows = base.db.execute(query, [case_type.stage]).fetchall() if base.has_values else []
        there = set(vectors.case_ids.tolist()) if rows else set()
        rows = [row for row in rows if row[0] in there]
        if not rows:
            return vectors
        ids, solutions, values = zip(*rows, strict=True)
        solution = np.array([codes[name] for name in solutions])
        return vectors.with_values(np.array(ids), solution, _numbers(values))


@contextmanager
def _valid(base: Casebase, stage: str) -> Iterator[None]:
    """Convert what an invalid value of a stage raises to a `NotACasebase`."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OverflowError, sqlite3.DataError) as error:
        what = f"the unknown value {error}" if isinstance(error, KeyError) else one_line(error)
        raise NotACasebase(
            f"stage {stage!r} of {base.path} has an invalid value ({what}); `cbr check` lists them"
        ) from None


def _known_numbers(column: Sequence[Any]) -> NDArray[np.float64]:
    numbers = _numbers(column)
    if np.isnan(numbers).any():
        raise ValueError("a solution is missing")
    return numbers


def _verify_numbers(case_type: CaseType, values: NDArray[np.float32]) -> None:
    """Raise if a value is infinite, or is missing from a feature that may not be missing."""
    if np.isfinite(values).all():
        return
    may = np.array([bool(feature.missing) for feature in case_type.indexed])
    if np.isinf(values).any() or np.isnan(values[:, ~may]).any():
        raise ValueError("a number of a feature is missing, or too large")


def _codes(feature: Feature) -> dict[str | None, float]:
    gap: dict[str | None, float] = {None: np.nan} if feature.values and feature.missing else {}
    return {value: float(code) for code, value in enumerate(feature.values)} | gap


def _coded(
    codes: dict[str | None, float], column: Sequence[Any]
) -> Sequence[Any] | NDArray[np.float32]:
    """A column as numbers: the codes of a category's values, else the numbers themselves."""
    if codes:
        return [codes[value] for value in column]
    with np.errstate(over="ignore"):  # infinite numbers are found later
        return np.array(_plain(column), np.float64).astype(np.float32)


def _numbers(column: Sequence[Any]) -> NDArray[np.float64]:
    """A column of outcomes or values, NaN where it is NULL."""
    numbers = np.array(_plain(column), np.float64)
    if (np.abs(numbers) > HIGHEST).any():
        raise ValueError(f"a number above {HIGHEST:g}")
    return numbers


def _plain(column: Sequence[Any]) -> Sequence[Any]:
    """The column, which must have numbers only: numpy would read a text as a number."""
    if not set(map(type, column)) <= {int, float, type(None)}:
        raise ValueError("text or bytes in place of a number")
    return column
