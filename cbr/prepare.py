"""From records to rows: situations, features and checks, for one batch and without a casebase.

A pure function of picklable things, so that a worker process can do it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.case import Batch, CaseType, Feature, Situated, Situations
from cbr.errors import BadValue, PluginFailure
from cbr.guard import guarded
from cbr.sources import situate_rows

Column = NDArray[np.generic]


@dataclass(frozen=True)
class Rows:
    """Cases of one stage, ready to be written: feature columns and what goes with them.

    `record[i]` is the place, among the records given, of the record that case i came from.
    """

    features: Mapping[str, Column]
    solution: Sequence[str]
    outcome: NDArray[np.float64]
    record: NDArray[np.int64]
    step: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.solution)


def prepare(
    bodies: Sequence[str], case_types: Sequence[CaseType]
) -> tuple[dict[str, Rows], dict[int, str]]:
    """Rows by stage, and the reason for each record that gives none; a record is whole or out."""
    situated = _situate(bodies, case_types)
    rejected = dict(situated.rejected)
    by_stage = {case_type.stage: case_type for case_type in case_types}
    ready: dict[str, Rows] = {}
    for stage, batch in situated.batches.items():
        rows = _verified(stage, batch, by_stage, len(bodies), rejected)
        columns, wrong = _columns(by_stage[stage], batch.situations, len(rows))
        for place, reason in wrong.items():
            rejected.setdefault(int(rows.record[place]), reason)
        ready[stage] = Rows(columns, rows.solution, rows.outcome, rows.record, rows.step)
    out = np.array(sorted(rejected), np.int64)
    return {stage: _without(rows, out) for stage, rows in ready.items()}, rejected


def feature_columns(case_type: CaseType, situations: Situations, count: int) -> dict[str, Column]:
    """Every feature of a batch of situations, where each must have a good value."""
    columns, wrong = _columns(case_type, situations, count)
    for reason in wrong.values():
        raise BadValue(reason)
    return columns


def _columns(
    case_type: CaseType, situations: Situations, count: int
) -> tuple[dict[str, Column], dict[int, str]]:
    columns: dict[str, Column] = {}
    wrong: dict[int, str] = {}
    for feature in case_type.features:
        columns[feature.name], reasons = _column(feature, situations, count)
        wrong = reasons | wrong
    return columns, wrong


def _situate(bodies: Sequence[str], case_types: Sequence[CaseType]) -> Situated:
    """Each function that the case types name is called once, for the types that name it."""
    batches: dict[str, Batch] = {}
    rejected: dict[int, str] = {}
    by_function: dict[Any, list[CaseType]] = {}
    for case_type in case_types:
        by_function.setdefault(case_type.situate or situate_rows, []).append(case_type)
    for function, types in by_function.items():
        with guarded(f"situations of {types[0].domain!r} from its records"):
            found = function(bodies, types)
            batches |= found.batches
            rejected |= found.rejected
    return Situated(batches, rejected)


def _verified(
    stage: str,
    batch: Batch,
    by_stage: Mapping[str, CaseType],
    bodies: int,
    rejected: Mapping[int, str],
) -> Rows:
    """The batch as rows without features, if it keeps its word."""
    if stage not in by_stage:
        raise PluginFailure(f"records gave situations of stage {stage!r}, which was not asked for")
    case_type, count = by_stage[stage], len(batch.solution)
    outcome = np.asarray(batch.outcome, np.float64)
    record, step = np.asarray(batch.record, np.int64), np.asarray(batch.step, np.int64)
    strange = sorted(set(batch.solution) - set(case_type.solutions))
    keys = set(zip(record.tolist(), step.tolist(), strict=True))
    wrong = (
        f"solution {strange[0]!r}"
        if strange
        else "columns of different lengths"
        if not len(outcome) == len(record) == len(step) == count
        else "an infinite outcome"
        if np.isinf(outcome).any()
        else "a record that was not given, or was rejected"
        if not all(0 <= r < bodies and r not in rejected for r in record.tolist())
        else "two decisions of one record and step"
        if len(keys) != count
        else ""
    )
    if wrong:
        raise PluginFailure(f"records gave situations of stage {stage!r} with {wrong}")
    return Rows({}, batch.solution, outcome, record, step)


def _column(feature: Feature, situations: Situations, count: int) -> tuple[Column, dict[int, str]]:
    """A feature's values, and the reason for each place where it has none."""
    with guarded(f"feature {feature.name!r}"):
        try:
            column = feature.of(situations)
        except KeyError as error:
            if not error.args or str(error.args[0]) in situations:
                raise
            columns = ", ".join(sorted(situations))
            raise BadValue(
                f"feature {feature.name!r} asks for column {error}; there is {columns}"
            ) from None
    if column.shape != (count,):
        raise PluginFailure(
            f"feature {feature.name!r} gave an array of shape {column.shape} for {count} situations"
        )
    if not feature.is_number:
        # An array of objects: one of fixed width would make every cell as wide as the longest.
        words = np.array([str(cell) for cell in column.tolist()], object)
        good = set(feature.values) if feature.values else None
        reasons = {
            place: f"{feature.name} is {word!r}; it must be one of {', '.join(feature.values)}"
            for place, word in enumerate(words.tolist())
            if good is not None and word not in good
        }
        return words, reasons
    with guarded(f"feature {feature.name!r} as numbers"), np.errstate(over="ignore"):
        numbers = column.astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(numbers))
    reasons = {int(p): f"{feature.name} is {numbers[p]}; it must be a finite number" for p in bad}
    return numbers, reasons


def _without(rows: Rows, rejected: NDArray[np.int64]) -> Rows:
    keep = ~np.isin(rows.record, rejected)
    if keep.all():
        return rows
    places = np.flatnonzero(keep)
    return Rows(
        {name: column[places] for name, column in rows.features.items()},
        [rows.solution[int(place)] for place in places],
        rows.outcome[places],
        rows.record[places],
        rows.step[places],
    )
