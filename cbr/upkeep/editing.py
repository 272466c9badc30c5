"""Editing: cases that are deleted or changed, and the history of what was done to them.

A case that is changed in a feature no longer agrees with the record that it came from, so it is
detached from it: `cbr rebuild` keeps it as it is, and building the table again does not add it.
"""

from __future__ import annotations

import dataclasses
import getpass
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import EllipsisType
from typing import Any

from cbr.case import Case, Value
from cbr.errors import BadValue
from cbr.files.json_text import read_json
from cbr.plugging.plugins import default_plugins
from cbr.store import schema
from cbr.store.casebase import Casebase
from cbr.store.definitions import complete
from cbr.store.schema import case_table, quoted


@dataclass(frozen=True)
class Change:
    """One entry of a case's history: what was done, when and by whom, and the case before it."""

    when: str
    who: str
    what: str
    stage: str
    case: int
    before: dict[str, Any]
    note: str = ""


def delete(
    base: Casebase, stage: str, ids: Sequence[int], *, note: str = "", history: bool = True
) -> int:
    """Delete cases, in one transaction; returns how many. Their records stay, so that building the
    same table again does not add them."""
    ids = list(dict.fromkeys(int(number) for number in ids))
    with base.transaction():
        if history:
            _remember(base, stage, list(base.cases(stage, ids)), "deleted", note)
        base.remove(stage, ids)
    return len(ids)


def change(
    base: Casebase,
    stage: str,
    number: int,
    values: Mapping[str, object] | None = None,
    *,
    solution: object = None,
    outcome: float | EllipsisType | None = ...,
    note: str = "",
    history: bool = True,
) -> Case:
    """Change features, the solution or the outcome of a case, in one transaction; the case as it is
    then. A value of None, and an outcome of None, is a missing one."""
    case_type = base.case_type(stage)
    with base.transaction():
        [old, *_] = [*base.cases(stage, [number]), None]
        if old is None:
            raise BadValue(f"stage {stage!r} has no case {number}")
        given = {case_type.feature(name).name: value for name, value in (values or {}).items()}
        new = dataclasses.replace(
            old,
            values=_changed(base, stage, old.values, given),
            solution=old.solution if solution is None else case_type.read_solution(solution),
            outcome=old.outcome if isinstance(outcome, EllipsisType) else outcome,
        )
        if history:
            _remember(base, stage, [old], "revised", note)
        _replace(base, stage, number, new, detach=bool(given))
        return next(base.cases(stage, [number]))


def _changed(
    base: Casebase, stage: str, old: Mapping[str, Value], given: Mapping[str, object]
) -> dict[str, Value]:
    case_type = base.case_type(stage)
    if not given:
        return dict(old)
    for name in given:
        if case_type.feature(name).computed:
            raise BadValue(f"{name} is computed from other features; change these")
    kept = {
        name: value
        for name, value in old.items()
        if name not in given and not case_type.feature(name).computed
    }
    known = complete(case_type, {**kept, **case_type.read(given)}, default_plugins())
    for feature in case_type.features:
        if feature.name not in known and feature.computed and feature.name in old:
            raise BadValue(
                f"{feature.name} is computed by a plugin that is not loaded; load it with --plugin"
            )
        if feature.name not in known and not feature.missing and not feature.is_text:
            raise BadValue(f"{feature.name} may not be missing")
    return known


def _replace(base: Casebase, stage: str, number: int, new: Case, detach: bool) -> None:
    table = quoted(case_table(stage))
    query = f"SELECT record, step FROM {table} WHERE id = ?"
    record, step = base.db.execute(query, [number]).fetchone()
    base.remove(stage, [number])
    names = [feature.name for feature in base.case_type(stage).features]
    base.add(
        stage,
        {name: [new.values.get(name)] for name in names},
        [new.solution],
        [new.outcome],
        [None if detach else record],
        [step],
        ids=[number],
    )


def _remember(base: Casebase, stage: str, cases: Sequence[Case], what: str, note: str) -> None:
    schema.create_history(base.db)
    now, who = datetime.now(UTC).isoformat(timespec="seconds"), _user()
    base.db.conn.executemany(
        f"INSERT INTO {schema.HISTORY} (at, who, what, stage, case_id, before, note) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (now, who, what, stage, case.id, json.dumps(_plain(case), ensure_ascii=False), note)
            for case in cases
        ),
    )


def _plain(case: Case) -> dict[str, Any]:
    return {**case.values, "solution": case.solution, "outcome": case.outcome}


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"


def history_of(base: Casebase, stage: str, number: int | None = None) -> list[Change]:
    """What was done to a case, or to all cases of a stage, the oldest first."""
    if schema.HISTORY not in base.db.table_names():
        return []
    query = (
        f"SELECT at, who, what, stage, case_id, before, note FROM {schema.HISTORY} "
        "WHERE stage = ? AND (? IS NULL OR case_id = ?) ORDER BY id"
    )
    rows = base.db.execute(query, [base.stage(stage), number, number])
    return [
        Change(at, who, what, stage, case, read_json(before), note)
        for at, who, what, stage, case, before, note in rows
    ]
