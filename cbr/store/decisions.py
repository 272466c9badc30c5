"""Single decisions of a casebase: situation, solution and outcome.

A decision is a case, or a hidden decision, whose private features are unknown. To predict it from
the other cases, its whole record is left out, because the decisions before and after would reveal
the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cbr.case import CaseType, Solution, Value
from cbr.errors import BadValue, EmptyStage
from cbr.store import schema
from cbr.store.arrays import Vectors
from cbr.store.casebase import Casebase
from cbr.store.schema import listed, quoted

#: The most decisions that a message lists.
_MOST = 40


@dataclass(frozen=True)
class Decision:
    """One decision of a record; `known` is true for a case, false for a hidden decision."""

    record: int
    step: int
    stage: str
    known: bool
    values: dict[str, Value]
    solution: Solution
    outcome: float | None


def decisions_of(base: Casebase, record: int) -> list[Decision]:
    """All decisions of a record in order."""
    found = [made for case_type in base.case_types for made in _of_stage(base, case_type, record)]
    return sorted(found, key=lambda made: made.step)


def decision_of(
    base: Casebase, record: int, step: int | None = None, stage: str | None = None
) -> Decision:
    """The decision of a record at a step; the only one if no step is named."""
    word = base.case_types[0].record
    found = decisions_of(base, record)
    if not found:
        raise BadValue(_none_there(base, record))
    wanted = base.stage(stage) if stage is not None else None
    fitting = [
        made
        for made in found
        if (step is None or made.step == step) and (wanted is None or made.stage == wanted)
    ]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        choose = "--decision" if step is None else "--stage"
        many = f"{len(fitting)} decisions" + ("" if step is None else f" of step {step}")
        raise BadValue(f"{word} {record} has {many}; choose by {choose}: {_listed(fitting)}")
    what = "" if step is None else f" {step}"
    where = "" if wanted is None else f" of stage {wanted!r}"
    raise BadValue(f"{word} {record} has no decision{what}{where}; it has {_listed(found)}")


def vectors_without(base: Casebase, stage: str, record: int) -> Vectors:
    """The stage as arrays, without the cases of this record."""
    cases = base.read_cases(stage)
    others = cases.record != record
    if not others.any():
        word = cases.case_type.record
        raise EmptyStage(
            f"stage {stage!r} of {base.path} has no cases but those of {word} {record}; build more"
        )
    return base.with_values(cases.take(others).vectors())


def _of_stage(base: Casebase, case_type: CaseType, record: int) -> Iterator[Decision]:
    """The cases of a record, then its hidden decisions, which have fewer features."""
    stage = case_type.stage
    for known in (True, False) if base.has_hidden else (True,):
        names = [feature.name for feature in case_type.features if known or not feature.private]
        table = quoted(schema.case_table(stage) if known else schema.HIDDEN)
        query = f"SELECT step, solution, outcome, {listed(names)} FROM {table} WHERE record = ?"
        given: list[int | str] = [record]
        if not known:
            query += " AND stage = ?"
            given.append(stage)
        for step, solution, outcome, *cells in base.db.execute(query, given):
            filled = zip(names, cells, strict=True)
            values = {name: value for name, value in filled if value is not None}
            yield Decision(record, step, stage, known, values, solution, outcome)


def _none_there(base: Casebase, record: int) -> str:
    word = base.case_types[0].record
    query = f"SELECT COUNT(*), MIN(id), MAX(id), SUM(id = ?) FROM {base.records_table}"
    count, first, last, there = base.db.execute(query, [record]).fetchone()
    if there:
        return f"{word} {record} is in {base.path} without any decision; choose another"
    if not count:
        return f"{base.path} keeps no {word}s; give the situation by --case"
    return f"no {word} {record} in {base.path}; they are numbered {first} to {last}"


def _listed(found: Sequence[Decision]) -> str:
    each = [
        f"{made.step} ({made.stage} {made.solution}{'' if made.known else ', hidden'})"
        for made in found[:_MOST]
    ]
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return ", ".join(each) + more
