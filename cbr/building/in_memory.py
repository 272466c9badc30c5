"""Rows that a program has in memory, added to a casebase: all of them or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cbr.building.worker import RecordBatch, WorkerSetup, judging, work
from cbr.errors import BadValue
from cbr.plugging.plugins import default_plugins
from cbr.tables.frames import records_of

if TYPE_CHECKING:
    from cbr.store.casebase import Casebase

#: How rows are called that come from no file.
SOURCE = "python"


def add_rows(
    base: Casebase, rows: Any, *, source: str = "", stage: str | None = None, strict: bool = True
) -> int:
    """Add the rows of a frame as cases, in one transaction; returns how many.

    A row that cannot be a case is an error if `strict`, else it is kept in the table `skipped`.
    """
    types = base.case_types if stage is None else [base.case_type(stage)]
    if len(types) > 1:
        raise BadValue(f"name the stage of these rows; stages are {', '.join(base.stages)}")
    source = source or SOURCE
    records = records_of(rows)
    with base.transaction():
        number = base.source_number(source, "table")
        query = f"SELECT MAX(ordinal) FROM {base.records_table} WHERE source = ?"
        first = (base.db.execute(query, [number]).fetchone()[0] or 0) + 1
        batch = RecordBatch(source, "table", list(enumerate(records, first)))
        setup = WorkerSetup(
            tuple(map(str, default_plugins().files)),
            tuple(case_type.to_json() for case_type in types),
            (),
            False,
            judging(types, {}),
        )
        prepared = work(setup, batch)
        if prepared.first_skipped is not None and (strict or not prepared.records):
            wrong = prepared.first_skipped
            raise BadValue(f"row {wrong.line} cannot be a case: {wrong.reason}")
        prepared.put_into(base)
    return len(prepared.records)
