"""Rebuild: features computed again from the stored records of a casebase, without the files.

It also adopts the plugins' present definitions of similarities, weights, ranges and solutions.
Where a case type has other solutions now, what the records say is the solution of their cases, and
values and arrays that were found with the old solutions are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.building.rows import Rows, feature_columns, prepare
from cbr.case import CaseType, Feature
from cbr.errors import BadValue
from cbr.plugging.plugins import Plugins, default_plugins
from cbr.store import digest, schema
from cbr.store.casebase import Casebase
from cbr.store.definitions import types_in
from cbr.store.schema import quoted

_BATCH = 5_000


class Rebuilt(NamedTuple):
    """What a rebuild did: the names of the `features` that each stage has now, and a sentence for
    each thing that was `dropped` because it no longer fits."""

    features: dict[str, list[str]]
    dropped: list[str]


def rebuild(
    path: str | Path, features: str = "", *, plugins: Plugins | None = None, batch: int = _BATCH
) -> Rebuilt:
    """Compute all features again, in one transaction; `features` may add some and remove others.

    Cases, their numbers and outcomes stay the same, and so do solutions unless their case type has
    others now. A retained case may have no record: its features are computed from those it has, and
    its solution stays.
    """
    with Casebase.open(path, write=True) as base, base.transaction():
        types = types_in(base, features, plugins or default_plugins())
        changed = {t.stage for t in types if t.solved_otherwise(base.case_type(t.stage))}
        for case_type in types:
            schema.create_cases(base.db, case_type, _new(case_type))
        had_hidden = base.has_hidden
        if schema.has_hidden(types):
            schema.create_hidden(base.db, types, _NEW_HIDDEN)
        sums = {t.stage: 0 for t in types}
        for ids, bodies in base.read_records(batch):
            ready = prepare(bodies, types)
            if ready.rejected:
                place, reason = min(ready.rejected.items())
                raise BadValue(f"{base.case_types[0].record} {ids[place]}: {reason}")
            for case_type in types:
                if case_type.stage in ready.rows:
                    rows = ready.rows[case_type.stage]
                    solve = case_type.stage in changed
                    sums[case_type.stage] += _put(base, case_type, ids, rows, solve)
            _put_hidden(base, types, ids, ready.hidden)
        for case_type in types:
            sums[case_type.stage] += _put_without_record(base, case_type)
            _swap(base, case_type, sums[case_type.stage])
        _swap_hidden(base, had_hidden)
        names = {t.stage: [feature.name for feature in t.features] for t in types}
        return Rebuilt(names, _drop(base, changed))


def _drop(base: Casebase, stages: set[str]) -> list[str]:
    """Drop what was found with other solutions than these stages have now: their values, and all
    learned arrays, since only the plugin that learned one knows its stages."""
    dropped = []
    for stage in sorted(stages, key=base.stages.index):
        if valued := len(base.valued(stage)):
            base.db.execute(f"DELETE FROM {schema.VALUES} WHERE stage = ?", [stage])
            dropped.append(
                f"the estimated values of {valued:,} cases of stage {stage!r} were dropped: its "
                "solutions are others now"
            )
    if stages and (names := base.learned_names()):
        base.db.execute(f"DELETE FROM {schema.LEARNED}")
        dropped.append(
            f"the learned arrays {', '.join(names)} were dropped: they were learned with other "
            "solutions than there are now"
        )
    return dropped


_NEW_HIDDEN = f"{schema.NEW}{schema.HIDDEN}"


def _put_hidden(
    base: Casebase, types: Sequence[CaseType], ids: Sequence[int], hidden: Mapping[str, Rows]
) -> None:
    """Write the hidden decisions of some records into the new table, if the old one has them."""
    if not hidden:
        return
    query = f"SELECT record, step, id FROM {schema.HIDDEN} WHERE record BETWEEN ? AND ?"
    there = base.db.execute(query, [ids[0], ids[-1]]).fetchall() if base.has_hidden else []
    old = {(record, step): number for record, step, number in there}
    by_stage = {case_type.stage: case_type for case_type in types}
    for stage, rows in hidden.items():
        keys = [(ids[r], s) for r, s in zip(rows.record.tolist(), rows.step.tolist(), strict=True)]
        kept = [place for place, key in enumerate(keys) if key in old]
        base.add_hidden(
            by_stage[stage],
            {name: column[kept] for name, column in rows.features.items()},
            [rows.solution[place] for place in kept],
            rows.outcome[kept].tolist(),
            [keys[place][0] for place in kept],
            [keys[place][1] for place in kept],
            [old[keys[place]] for place in kept],
            _NEW_HIDDEN,
        )


def _swap_hidden(base: Casebase, had: bool) -> None:
    if had:
        base.db.execute(f"DROP TABLE {schema.HIDDEN}")
    if _NEW_HIDDEN in base.db.table_names():
        base.db.execute(f"ALTER TABLE {_NEW_HIDDEN} RENAME TO {schema.HIDDEN}")


def _new(case_type: CaseType) -> str:
    return f"{schema.NEW}{case_type.stage}"


def _put(base: Casebase, case_type: CaseType, ids: Sequence[int], rows: Rows, solve: bool) -> int:
    """Write the cases of some records into the new table; returns the sum of their hashes. With
    `solve` they take the solutions of the records; else theirs stay, since one may be revised."""
    table = quoted(schema.case_table(case_type.stage))
    cases = base.db.execute(
        f"SELECT record, step, id, solution, outcome FROM {table} WHERE record BETWEEN ? AND ?",
        [ids[0], ids[-1]],
    )
    old = {(record, step): tuple(rest) for record, step, *rest in cases}
    keys = [(ids[r], s) for r, s in zip(rows.record.tolist(), rows.step.tolist(), strict=True)]
    kept = [place for place, key in enumerate(keys) if key in old]  # others were removed by refine
    if len(kept) != len(old):
        raise BadValue(f"the records of stage {case_type.stage!r} no longer give all its cases")
    found = [old[keys[place]] for place in kept]
    solution = rows.solution[kept].tolist() if solve else [case[1] for case in found]
    columns = base.insert_cases(
        case_type,
        _new(case_type),
        {name: column[kept] for name, column in rows.features.items()},
        solution,
        [case[2] for case in found],
        [keys[place][0] for place in kept],
        [keys[place][1] for place in kept],
        [case[0] for case in found],
    )
    return digest.sum_of_rows(case_type, [*columns, solution])


def _put_without_record(base: Casebase, case_type: CaseType) -> int:
    stage = case_type.stage
    table = quoted(schema.case_table(stage))
    query = f"SELECT id, step FROM {table} WHERE record IS NULL ORDER BY id"
    steps = dict(base.db.execute(query).fetchall())
    cases = list(base.cases(stage, list(steps))) if steps else []
    if not cases:
        return 0
    lost = [f.name for f in base.case_type(stage).features if not f.computed]
    lost = [name for name in lost if name not in {f.name for f in case_type.features}]
    if lost:
        raise BadValue(
            f"{len(cases)} retained case{'s' * (len(cases) > 1)} of {stage!r} would lose "
            f"{lost[0]!r}, which no record keeps; remove them first, or leave the feature in"
        )
    columns: dict[str, Any] = {
        f.name: _column(f, [case.values.get(f.name) for case in cases])
        for f in base.case_type(stage).features
    }
    written = base.insert_cases(
        case_type,
        _new(case_type),
        feature_columns(case_type, columns, len(cases)),
        [case.solution for case in cases],
        [case.outcome for case in cases],
        [None] * len(cases),
        [steps[case.id] for case in cases if case.id is not None],
        [case.id for case in cases],
    )
    return digest.sum_of_rows(case_type, [*written, [case.solution for case in cases]])


def _column(feature: Feature, cells: list[Any]) -> NDArray[Any]:
    return np.array(cells, np.float64 if feature.is_number else object)


def _swap(base: Casebase, case_type: CaseType, hashes: int) -> None:
    """Replace the old table by the new one, if it has as many cases."""
    stage, table = case_type.stage, quoted(schema.case_table(case_type.stage))
    new = quoted(_new(case_type))
    there = base.db.execute(f"SELECT COUNT(*) FROM {new}").fetchone()[0]
    if there != base.count(stage):
        raise BadValue(f"the records give {there} of the {base.count(stage)} cases of {stage!r}")
    # Numbers were checked when they were written.
    strange = (
        not case_type.numeric
        and base.db.execute(
            f"SELECT DISTINCT solution FROM {new} WHERE solution NOT IN "
            f"({','.join('?' * len(case_type.solutions))})",
            list(case_type.solutions),
        ).fetchone()
    )
    if strange:
        raise BadValue(
            f"stage {stage!r} has cases with solution {strange[0]!r}, which its case type lacks"
        )
    base.db.execute(f"DROP TABLE {table}")
    base.db.execute(f"ALTER TABLE {new} RENAME TO {table}")
    base.redefine(case_type, digest.add("", hashes))
