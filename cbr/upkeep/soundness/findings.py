"""Check: whether a casebase is sound. Each finding is a sentence; no finding means sound."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from cbr.building.rows import situate
from cbr.case import CaseType
from cbr.errors import CbrError, NewerSchema
from cbr.plugging.guard import one_line
from cbr.plugging.plugins import Plugins, default_plugins
from cbr.retrieval.index.saved import State, states
from cbr.store import digest, schema
from cbr.store.casebase import Casebase
from cbr.store.connection import verify_is_casebase
from cbr.store.definitions import as_loaded


def check(path: str | Path, *, plugins: Plugins | None = None) -> list[str]:
    """Findings about one state of a casebase; an empty list if it is sound."""
    verify_is_casebase(Path(path))
    found: list[str] = []
    try:
        _write_log_back(Path(path))
        with Casebase.open(path) as base, base.reading():
            damage = [row[0] for row in base.db.execute("PRAGMA integrity_check(20)")]
            if damage != ["ok"]:
                return [f"SQLite: {sentence}" for sentence in damage]
            found.extend(_findings(base, plugins or default_plugins()))
    except NewerSchema:
        raise
    except Exception as error:  # any failure is a finding
        found.append(f"it cannot be read to the end: {one_line(error)}")
    return found


def _write_log_back(path: Path) -> None:
    """Checkpoint the log that a killed process left, if the file is writable."""
    if Path(f"{path}-wal").exists() and os.access(path, os.W_OK):
        Casebase.open(path, write=True).close()


def _findings(base: Casebase, plugins: Plugins) -> Iterator[str]:
    steps = [applied.name for applied in schema.MIGRATIONS.applied(base.db)]
    if len(steps) != schema.SCHEMA_VERSION:
        yield f"{len(steps)} schema steps are recorded, version {schema.SCHEMA_VERSION} has more"
    for table, column, other in _references(base):
        lost = base.db.execute(
            f'SELECT COUNT(*) FROM "{table}" WHERE {column} IS NOT NULL '
            f'AND {column} NOT IN (SELECT id FROM "{other}")'
        ).fetchone()[0]
        if lost:
            yield f"{lost} rows of {table} refer to {other} that do not exist"
    yield from _lost_values(base)
    yield from _changed_records(base)
    yield from _useless_records(base, plugins)
    for case_type in base.case_types:
        yield from _stage_findings(base, case_type)
    for saved in index_states(base, plugins):
        if saved.state == "damaged":  # a stale one is simply not used
            again = f"`cbr index {base.path} --stage {saved.stage} --kind {saved.kind}`"
            yield f"{saved.file} is {saved.state}: {saved.reason}; {again} builds it again"


def _lost_values(base: Casebase) -> Iterator[str]:
    """Estimated values whose case does not exist."""
    for stage in base.stages if base.has_values else ():
        lost = base.db.execute(
            f"SELECT COUNT(*) FROM {schema.VALUES} WHERE stage = ? "
            f"AND case_id NOT IN (SELECT id FROM [{schema.case_table(stage)}])",
            [stage],
        ).fetchone()[0]
        if lost:
            yield f"{lost} values of solutions refer to cases of {stage!r} that do not exist"


def index_states(base: Casebase, plugins: Plugins) -> list[State]:
    """The indices that are saved beside a casebase, and whether they can be used."""
    digests = {stage: base.digest(stage) for stage in base.stages}
    return list(states(base.path, base.case_types, digests, plugins))


def _references(base: Casebase) -> Iterator[tuple[str, str, str]]:
    yield base.records, "source", "sources"
    yield "skipped", "source", "sources"
    for stage in base.stages:
        yield schema.case_table(stage), "record", base.records
    if base.has_hidden:
        yield schema.HIDDEN, "record", base.records


def _changed_records(base: Casebase) -> Iterator[str]:
    rows = base.db.execute(f"SELECT id, digest, body FROM {base.records_table}")
    changed = [number for number, mark, body in rows if digest.record_digest(body) != mark]
    if changed:
        yield f"{len(changed)} {base.records} differ from their digest, the first is {changed[0]}"


def _useless_records(base: Casebase, plugins: Plugins) -> Iterator[str]:
    """Records that no longer turn into situations, if the domain's plugin is loaded."""
    known = plugins.named("case type")
    if not all(case_type.name in known for case_type in base.case_types):
        return
    types = [as_loaded(case_type, plugins) for case_type in base.case_types]
    for numbers, bodies in base.read_records(2_000):
        for place, reason in sorted(situate(bodies, types).rejected.items()):
            yield f"{base.records[:-1]} {numbers[place]}: {reason}"


def _wrong_cells(
    case_type: CaseType, columns: list[list[Any]], outcomes: list[Any], ids: list[int]
) -> Iterator[str]:
    """Invalid values in some cases: columns are checked at once, and case by case if that fails."""
    stage = case_type.stage
    for feature, column in zip(case_type.features, columns, strict=False):
        if feature.is_number and set(map(type, column)) <= {float, int}:
            if math.isfinite(sum(map(abs, column))):
                continue
        elif (feature.values and set(column) <= set(feature.values)) or (
            feature.is_text and set(map(type, column)) <= {str}
        ):
            continue
        for number, cell in zip(ids, column, strict=True):
            try:
                feature.read(cell)
            except CbrError as error:
                yield f"case {number} of stage {stage!r}: {error}"
    for number, solution, outcome in zip(ids, columns[-1], outcomes, strict=True):
        if solution not in case_type.solutions:
            yield f"case {number} of stage {stage!r} has solution {solution!r}"
        if outcome is not None and not (
            isinstance(outcome, int | float) and math.isfinite(outcome)
        ):
            yield f"case {number} of stage {stage!r} has outcome {outcome}"


def _stage_findings(base: Casebase, case_type: CaseType) -> Iterator[str]:
    """Invalid values of features, and a count or digest that differs from the cases."""
    stage, cases, total = case_type.stage, 0, 0
    there = set(base.db.table(schema.case_table(stage)).columns_dict)
    for name in sorted({f.name for f in case_type.features} - there):
        yield f"the table of stage {stage!r} has no column {name!r}"
        return
    names = [feature.name for feature in case_type.features]
    wanted = ", ".join(f"[{name}]" for name in names)
    query = f"SELECT {wanted}, solution, outcome, id FROM [{schema.case_table(stage)}] ORDER BY id"
    cursor = base.db.execute(query)
    while rows := cursor.fetchmany(10_000):
        *columns, outcomes, ids = (list(column) for column in zip(*rows, strict=True))
        yield from _wrong_cells(case_type, columns, outcomes, ids)
        with suppress(TypeError, ValueError):  # invalid numbers are already findings
            total += digest.sum_of_rows(case_type, columns)
        cases += len(rows)
    if cases != base.count(stage):
        yield f"stage {stage!r} holds {cases} cases, {base.count(stage)} are recorded"
    if digest.add("", total) != (base.digest(stage) or digest.add("", 0)):
        yield f"the cases of stage {stage!r} do not have the digest recorded for them"
