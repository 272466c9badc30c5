"""Conditions that choose cases: ``price>7000,fuel=diesel`` is all cases for which both are true."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from cbr.case import CaseType
from cbr.errors import BadValue, CbrError, NoSuchName
from cbr.store.casebase import Casebase
from cbr.store.schema import case_table, quoted

_PART = re.compile(r"\s*(?P<name>[^<>=!]+?)\s*(?P<sign><=|>=|!=|=|<|>)\s*(?P<value>.*?)\s*\Z")
#: SQLite compares a missing value with nothing but IS.
_SIGNS = {"=": "IS", "!=": "IS NOT"}


class Condition(NamedTuple):
    """One comparison of a column with a value; None is a missing value."""

    column: str
    sign: str
    value: Any


def read_conditions(text: str, case_type: CaseType) -> list[Condition]:
    """The comparisons of a text, separated by commas.

    A column is a feature (by name or label), ``solution`` (or its label), ``outcome`` or ``id``. An
    empty value is a missing one: ``age=`` chooses the cases without an age.
    """
    parts = [part for part in text.split(",") if part.strip()]
    if not parts:
        raise BadValue("--where is empty; write for example price>7000,fuel=diesel")
    return [_condition(part, case_type) for part in parts]


def _condition(part: str, case_type: CaseType) -> Condition:
    found = _PART.match(part)
    if found is None:
        raise BadValue(f"{part.strip()!r} is not COLUMN=VALUE; signs are = != < <= > >=")
    name, sign, text = found["name"], found["sign"], found["value"]
    column, value = _column_and_value(name, text, case_type)
    if isinstance(value, str) and sign not in _SIGNS:
        raise BadValue(f"{part.strip()!r} asks for an order of texts; use = or !=")
    if value is None and sign not in _SIGNS:
        raise BadValue(f"{part.strip()!r} names no value to compare with")
    return Condition(column, _SIGNS.get(sign, sign), value)


def _column_and_value(name: str, text: str, case_type: CaseType) -> tuple[str, Any]:
    if name == "id":
        return name, _number(name, text)
    if name.lower() in {"outcome", case_type.outcome_label.lower()}:
        return "outcome", _number(name, text) if text else None
    if name.lower() in {"solution", case_type.solution_label.lower()}:
        return "solution", case_type.read_solution(text)
    try:
        feature = case_type.feature(name)
    except NoSuchName:
        names = [f.name for f in case_type.features]
        raise NoSuchName("column", name, ["id", *names, "solution", "outcome"]) from None
    value = None if feature.lacks(text) else feature.read(text)
    if isinstance(value, float):  # cases keep numbers with 32 bits
        import numpy as np

        value = float(np.float32(value))
    return feature.name, value


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadValue(f"{name} is {text!r}, not a number") from None


def chosen_cases(base: Casebase, stage: str, where: str) -> list[int]:
    """The numbers of the cases of a stage for which all conditions are true."""
    conditions = read_conditions(where, base.case_type(stage))
    clauses = " AND ".join(f"{quoted(one.column)} {one.sign} ?" for one in conditions)
    query = f"SELECT id FROM {quoted(case_table(stage))} WHERE {clauses} ORDER BY id"
    return [row[0] for row in base.db.execute(query, [one.value for one in conditions])]


def named_cases(words: list[str]) -> list[int]:
    """Numbers of cases as people write them: ``3 7-9`` is 3, 7, 8 and 9."""
    found: list[int] = []
    for word in words:
        first, dash, last = word.partition("-")
        try:
            numbers = range(int(first), int(last if dash else first) + 1)
        except ValueError:
            raise CbrError(f"{word!r} is no number of a case, and no range such as 7-9") from None
        if len(numbers) > 1_000_000:
            raise CbrError(f"{word!r} names more than a million cases; use --where")
        found += numbers
    return list(dict.fromkeys(found))
