"""From records to rows: situations, features and checks, for one batch and without a casebase.

These are pure functions of picklable values, so that worker processes can run them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.building.tables import situate_rows
from cbr.case import Batch, CaseType, Feature, Situated, Situations
from cbr.checks import HIGHEST_NUMBER
from cbr.errors import BadValue, NoSuchName, PluginFailure
from cbr.plugging.guard import guarded
from cbr.typing import Flags, Floats, Ints

Column = NDArray[np.generic]


@dataclass(frozen=True)
class Rows:
    """Cases of one stage, ready to be written: feature columns, solutions, outcomes and origins. A
    missing value is NaN in a column of numbers, else None.

    `record[i]` is the index, among the records given, of the record that case i came from.
    """

    features: Mapping[str, Column]
    solution: NDArray[np.object_] | Floats
    outcome: Floats
    record: Ints
    step: Ints

    def __len__(self) -> int:
        return len(self.solution)


@dataclass(frozen=True)
class Prepared:
    """The rows of some records by stage, with hidden decisions (unknown private features) apart.

    `rejected` and `left_out` have the reason for each record without rows, by its index.
    """

    rows: Mapping[str, Rows]
    hidden: Mapping[str, Rows]
    rejected: Mapping[int, str]
    left_out: Mapping[int, str]


def prepare(
    bodies: Sequence[str],
    case_types: Sequence[CaseType],
    options: Mapping[str, Any] | None = None,
    known_only: bool = False,
) -> Prepared:
    """Rows of some records: of each record all rows or none; `options` are those of the domain."""
    situated = situate(bodies, case_types, options)
    rejected = dict(situated.rejected)
    by_stage = {case_type.stage: case_type for case_type in case_types}
    ready: dict[str, Rows] = {}
    hidden: dict[str, Rows] = {}
    no_rows = situated.rejected.keys() | situated.left_out.keys()
    for stage, batch in situated.batches.items():
        rows = _verified(stage, batch, by_stage, len(bodies), no_rows)
        case_type = by_stage[stage]
        columns, wrong, unknown = _columns(case_type, batch.situations, len(rows))
        for place, reason in wrong.items():
            rejected.setdefault(int(rows.record[place]), reason)
        whole = Rows(columns, rows.solution, rows.outcome, rows.record, rows.step)
        ready[stage] = _taken(whole, ~unknown) if unknown.any() else whole
        if unknown.any() and not known_only:
            hidden[stage] = _public(case_type, _taken(whole, unknown))
    out = np.array(sorted(rejected), np.int64)
    return Prepared(
        {stage: _without(rows, out) for stage, rows in ready.items()},
        {stage: _without(rows, out) for stage, rows in hidden.items()},
        rejected,
        situated.left_out,
    )


def _public(case_type: CaseType, rows: Rows) -> Rows:
    """Rows without their private features."""
    open_ones = {f.name for f in case_type.features if not f.private}
    columns = {name: column for name, column in rows.features.items() if name in open_ones}
    return Rows(columns, rows.solution, rows.outcome, rows.record, rows.step)


def feature_columns(case_type: CaseType, situations: Situations, count: int) -> dict[str, Column]:
    """Every feature of a batch of situations; raises if a value is invalid or unknown."""
    columns, wrong, unknown = _columns(case_type, situations, count)
    for reason in wrong.values():
        raise BadValue(reason)
    if unknown.any():
        raise BadValue("a private feature is not known")
    return columns


def _columns(
    case_type: CaseType, situations: Situations, count: int
) -> tuple[dict[str, Column], dict[int, str], Flags]:
    """All features, reasons for invalid values by index, and where a private one is unknown."""
    columns: dict[str, Column] = {}
    unknown = np.zeros(count, bool)
    reasons: list[dict[int, str]] = []
    for feature in case_type.features:
        columns[feature.name], wrong, missing = _column(feature, situations, count)
        reasons.append(wrong)
        if feature.private:
            unknown |= missing
    wrong = {}
    for found in reversed(reasons):
        # Where a private feature is unknown, features computed from it may be invalid too.
        wrong |= {place: reason for place, reason in found.items() if not unknown[place]}
    return columns, wrong, unknown


def situate(
    bodies: Sequence[str],
    case_types: Sequence[CaseType],
    options: Mapping[str, Any] | None = None,
) -> Situated:
    """Situations of records; each `situate` function is called once, for all types that use it."""
    batches: dict[str, Batch] = {}
    rejected: dict[int, str] = {}
    left_out: dict[int, str] = {}
    by_function: dict[Any, list[CaseType]] = {}
    for case_type in case_types:
        by_function.setdefault(case_type.situate or situate_rows, []).append(case_type)
    for function, types in by_function.items():
        with guarded(f"situations of {types[0].domain!r} from its records"):
            found = function(bodies, types, **(options or {}))
            batches |= found.batches
            rejected |= found.rejected
            left_out |= found.left_out
    return Situated(batches, rejected, left_out)


def _verified(
    stage: str,
    batch: Batch,
    by_stage: Mapping[str, CaseType],
    bodies: int,
    out: Set[int],
) -> Rows:
    """The batch as rows without features, after checking the contract of `situate`."""
    if stage not in by_stage:
        raise PluginFailure(f"records gave situations of stage {stage!r}, which is not being built")
    case_type, count = by_stage[stage], len(batch.solution)
    outcome = np.asarray(batch.outcome, np.float64)
    record, step = np.asarray(batch.record, np.int64), np.asarray(batch.step, np.int64)
    solution = np.array(batch.solution, np.float64 if case_type.numeric else object)
    strange = _strange(case_type, batch.solution, solution)
    wrong = (
        f"solution {strange[0]!r}"
        if strange
        else "columns of different lengths"
        if not len(outcome) == len(record) == len(step) == count
        else "an infinite outcome"
        if np.isinf(outcome).any()
        else "a record that was not given, or was rejected"
        if not all(0 <= r < bodies and r not in out for r in np.unique(record).tolist())
        else "two decisions of one record and step"
        if len(np.unique(record * (step.max(initial=0) + 1) + step)) != count
        else ""
    )
    if wrong:
        raise PluginFailure(f"records gave situations of stage {stage!r} with {wrong}")
    return Rows({}, solution, outcome, record, step)


def _strange(case_type: CaseType, given: Sequence[Any], solution: NDArray[Any]) -> list[Any]:
    """Solutions that are none of the case type."""
    if case_type.numeric:
        return list(solution[~(np.abs(solution) <= HIGHEST_NUMBER)].tolist())
    return sorted(set(given) - set(case_type.solutions))


def _column(
    feature: Feature, situations: Situations, count: int
) -> tuple[Column, dict[int, str], Flags]:
    """A feature's values, the reason for each invalid one by index, and where it is missing."""
    with guarded(f"feature {feature.name!r}"):
        try:
            column = feature.of(situations)
        except NoSuchName as error:
            raise BadValue(f"feature {feature.name!r}: {error}") from None
        except KeyError as error:
            if not error.args or str(error.args[0]) in situations:
                raise
            columns = ", ".join(sorted(situations))
            raise BadValue(
                f"feature {feature.name!r} needs column {error}; there is {columns}"
            ) from None
    if column.shape != (count,):
        raise PluginFailure(
            f"feature {feature.name!r} gave an array of shape {column.shape} for {count} situations"
        )
    may = bool(feature.missing)
    if not feature.is_number:
        texts = column.tolist()
        absent = {p for p, cell in enumerate(texts) if feature.lacks(cell)} if may else set()
        if set(map(type, texts)) - {str}:
            texts = [str(cell) for cell in texts]
        # An array of objects: in one of fixed width every cell is as wide as the longest.
        words = np.array(texts, object)
        good = set(feature.values) if feature.values else None
        reasons = {
            place: f"{feature.name} is {word!r}; it must be one of {', '.join(feature.values)}"
            for place, word in enumerate(texts if good is not None else ())
            if good is not None and word not in good and place not in absent
        }
        words[list(absent)] = None
        missing = words == "" if feature.private else np.zeros(count, bool)
        return words, reasons, missing
    with guarded(f"feature {feature.name!r} as numbers"), np.errstate(over="ignore"):
        numbers = column.astype(np.float32)
    missing = ~np.isfinite(numbers)
    # A private feature may be missing; one with a rule may be missing, but not infinite.
    wrong = np.isinf(numbers) if may else missing
    bad = [] if feature.private else np.flatnonzero(wrong).tolist()
    reasons = {
        p: f"{feature.name} is {numbers[p]}; it must be a finite number, up to 3e38" for p in bad
    }
    return numbers, reasons, missing


def _without(rows: Rows, rejected: Ints) -> Rows:
    if not len(rejected):
        return rows
    return _taken(rows, ~np.isin(rows.record, rejected))


def _taken(rows: Rows, keep: Flags) -> Rows:
    places = np.flatnonzero(keep)
    return Rows(
        {name: column[places] for name, column in rows.features.items()},
        rows.solution[places],
        rows.outcome[places],
        rows.record[places],
        rows.step[places],
    )
