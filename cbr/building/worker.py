"""The preparation of a batch in a worker: records are parsed and turned into rows.

A worker gets a `WorkerSetup` (the same for a whole build) and a `RecordBatch`, and returns a
`PreparedBatch`, ready to be written. It needs no casebase.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cbr.building.rows import Prepared, Rows, prepare
from cbr.case import CaseType
from cbr.errors import BadValue, CbrError, DifferentRecord, PluginFailure
from cbr.plugging.guard import guarded, one_line
from cbr.plugging.plugins import Plugins, plugins_with
from cbr.store.definitions import as_loaded
from cbr.store.digest import record_digest, sum_of_rows
from cbr.store.records import CaseSource, Numbered, Raw, Record, Skipped

if TYPE_CHECKING:  # a worker has no casebase, and need not import it
    from cbr.store.casebase import Casebase


@dataclass(frozen=True)
class WorkerSetup:
    """The setup of every worker: plugin files, case types, the domain's options, and those of its
    options that judge records."""

    files: tuple[str, ...]
    case_types: tuple[str, ...]
    options: tuple[tuple[str, Any], ...]
    known_only: bool
    judging: tuple[tuple[str, Any], ...] = ()

    @property
    def selection(self) -> str:
        """The options that select decisions, as written on the command line."""
        words = [f"--{name.replace('_', '-')} {value}" for name, value in self.options]
        return " ".join([*words, *(["--known-only"] if self.known_only else [])])

    def counted_by(self, counted: Mapping[str, int]) -> WorkerSetup:
        """This setup with the sums of a survey, which are passed on like an option."""
        given = (*self.options, ("counted", dict(counted)))
        return dataclasses.replace(self, options=given)


@dataclass
class RecordBatch:
    """Records of one source by ordinal, and places that were skipped.

    `known` are digests of records that an earlier build added, `skipped_before` the ordinals that
    it skipped.
    """

    source: str
    reader: str
    items: list[tuple[int, Record | Raw]] = field(default_factory=list)
    skipped: list[tuple[int, Skipped]] = field(default_factory=list)
    known: dict[int, bytes] = field(default_factory=dict)
    skipped_before: set[int] = field(default_factory=set)
    bytes_read: float = 0.0

    @property
    def read(self) -> int:
        return len(self.items) + len(self.skipped)


@dataclass
class PreparedBatch:
    """The result of a batch: records, rows, and what was skipped or left out.

    `record` of a row is the index of its record in `records`.
    """

    source: str
    reader: str
    read: int
    bytes_read: float
    known: int = 0
    records: list[Numbered] = field(default_factory=list)
    rows: dict[str, Rows] = field(default_factory=dict)
    hidden: dict[str, Rows] = field(default_factory=dict)
    hashes: dict[str, int] = field(default_factory=dict)
    skipped: list[tuple[int, Skipped]] = field(default_factory=list)
    first_skipped: Skipped | None = None
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def is_new(self) -> bool:
        return bool(self.records or self.skipped)

    def put_into(self, base: Casebase) -> None:
        """Write it into a casebase, inside a transaction."""
        number = base.source_number(self.source, self.reader)
        first = base.keep_records(number, self.records)
        base.keep_skipped(number, self.skipped)
        for stage, rows in self.rows.items():
            record, step = (rows.record + first).tolist(), rows.step.tolist()
            columns = (rows.features, rows.solution.tolist(), rows.outcome)
            base.add(stage, *columns, record, step, hashes=self.hashes[stage])
        for stage, rows in self.hidden.items():
            record, step = (rows.record + first).tolist(), rows.step.tolist()
            columns = (rows.features, rows.solution.tolist(), rows.outcome)
            base.add_hidden(base.case_type(stage), *columns, record, step)


def judging(
    case_types: Sequence[CaseType], given: Mapping[str, Any]
) -> tuple[tuple[str, Any], ...]:
    """The options of a domain that judge records, with the values given or their defaults."""
    names = {o.name: o.default for t in case_types for o in t.options if o.judges}
    return tuple((name, given.get(name, default)) for name, default in sorted(names.items()))


def work(setup: WorkerSetup, batch: RecordBatch, plugins: Plugins | None = None) -> PreparedBatch:
    """Parse, situate and check the records of a batch."""
    plugins, case_types = _ready(setup.files, setup.case_types, plugins)
    done = PreparedBatch(batch.source, batch.reader, batch.read, batch.bytes_read)
    parsed = _parsed(plugins, batch, done.skipped)
    fresh = []
    for record in parsed:
        known = batch.known.get(record.ordinal)
        if known is None:
            fresh.append(record)
        elif known != record.digest:
            raise DifferentRecord(
                f"{batch.source} line {record.line} was built before with other content; "
                f"--replace takes the new content of the file in place of the old"
            )
        else:
            done.known += 1
    done.skipped += [item for item in batch.skipped if item[0] not in batch.known]
    options = dict((*setup.options, *setup.judging))
    prepared = prepare([r.body for r in fresh], case_types, options, setup.known_only)
    for place, reason in prepared.rejected.items():
        record = fresh[place]
        done.skipped.append((record.ordinal, Skipped(record.line, reason)))
    done.skipped.sort(key=lambda item: item[0])
    done.first_skipped = done.skipped[0][1] if done.skipped else None
    done.skipped = [item for item in done.skipped if item[0] not in batch.skipped_before]
    done.left_out.update(prepared.left_out.values())
    _keep(done, fresh, prepared)
    for case_type in case_types:
        if case_type.stage in done.rows:
            rows = done.rows[case_type.stage]
            columns = [rows.features[feature.name] for feature in case_type.features]
            done.hashes[case_type.stage] = sum_of_rows(case_type, [*columns, rows.solution])
    return done


def count(setup: WorkerSetup, batch: RecordBatch, plugins: Plugins | None = None) -> Counter[str]:
    """The counts of the domain's survey over the records of a batch."""
    plugins, case_types = _ready(setup.files, setup.case_types, plugins)
    bodies = [record.body for record in _parsed(plugins, batch, [])]
    total: Counter[str] = Counter()
    for survey in {case_type.survey for case_type in case_types if case_type.survey}:
        with guarded(f"survey of {case_types[0].domain!r}"):
            total.update(survey(bodies))
    return total


def _ready(
    files: tuple[str, ...], case_types: tuple[str, ...], plugins: Plugins | None
) -> tuple[Plugins, list[CaseType]]:
    """Plugins and case types with their functions; a worker loads them once."""
    if plugins is None:
        return _loaded(files, case_types)
    return plugins, [as_loaded(CaseType.from_json(text), plugins) for text in case_types]


@lru_cache(maxsize=8)
def _loaded(files: tuple[str, ...], case_types: tuple[str, ...]) -> tuple[Plugins, list[CaseType]]:
    plugins = plugins_with(files)
    return plugins, [as_loaded(CaseType.from_json(text), plugins) for text in case_types]


def _parsed(
    plugins: Plugins, batch: RecordBatch, skipped: list[tuple[int, Skipped]]
) -> list[Numbered]:
    """The records of a batch with their digests; those that cannot be parsed go to `skipped`."""
    found: list[Numbered] = []
    if not batch.items:
        return found
    source: CaseSource = plugins.get("case source", batch.reader)
    for ordinal, piece in batch.items:
        try:  # not in `guarded`, which costs as much as parsing a short record
            body = source.body_of(piece)
            found.append(Numbered(ordinal, piece.line, record_digest(body), body))
        except BadValue as error:
            skipped.append((ordinal, Skipped(piece.line, str(error))))
        except (CbrError, KeyboardInterrupt):
            raise
        except BaseException as error:
            place = f"reader {batch.reader!r} at line {piece.line} of {batch.source}"
            raise PluginFailure(f"{place} failed: {one_line(error)}") from error
    return found


def _keep(done: PreparedBatch, fresh: list[Numbered], prepared: Prepared) -> None:
    """Add the records that are neither rejected nor left out, and their rows with new indices."""
    out = prepared.rejected.keys() | prepared.left_out.keys()
    kept = [place for place in range(len(fresh)) if place not in out]
    done.records = [fresh[place] for place in kept]
    moved = np.full(len(fresh), -1, np.int64)
    moved[kept] = np.arange(len(kept))
    for given, taken in ((prepared.rows, done.rows), (prepared.hidden, done.hidden)):
        for stage, rows in given.items():
            if len(rows):
                taken[stage] = dataclasses.replace(rows, record=moved[rows.record])
