"""Build: from files to a casebase, batch by batch.

A record is known by its source's plain name, its ordinal there and a digest of its content. So
building again adds only what is new, a moved or compressed file changes nothing, and a build that
was killed goes on where it stopped: each batch is one transaction.

This process cuts the files into batches and writes; what lies between (parsing, features, checks)
is a pure function of a batch and may be done by worker processes.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from cbr.building.archives import files_in
from cbr.building.scan import Reading, no_reader
from cbr.building.worker import Done, Job, Setup, count, work
from cbr.case import CaseType
from cbr.errors import AlreadyThere, BadValue, CbrError, EmptyStage
from cbr.plugging.plugins import Plugins, default_plugins
from cbr.store.casebase import Casebase
from cbr.store.connection import verify_can_be_made
from cbr.store.definitions import case_types_of, differences, types_in, wished
from cbr.typing import Progress
from cbr.workers import in_order

#: Records in one transaction: what a kill can lose. With workers fewer, so that the last ones to
#: finish do not keep the others waiting.
BATCH = 2_000
WORKER_BATCH = 1_000
#: Different reasons that a report tells apart; the rest are counted together.
_REASONS = 1_000

#: Called with bytes read so far, bytes in all, and records done.


@dataclass
class BuildReport:
    """What a build did. `notes` are sentences for the person who asked for it."""

    out: str
    record: str = "record"
    records: int = 0
    known: int = 0
    cases: Counter[str] = field(default_factory=Counter)
    hidden: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)
    features: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def skip(self, reason: str) -> None:
        known = reason in self.skipped or len(self.skipped) < _REASONS
        self.skipped[reason if known else "other reasons"] += 1


def build(
    paths: Sequence[str | Path],
    out: str | Path,
    domain: str = "",
    *,
    features: str = "",
    reader: str = "",
    options: Mapping[str, Any] | None = None,
    known_only: bool = False,
    strict: bool = False,
    limit: int | None = None,
    batch: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    plugins: Plugins | None = None,
) -> BuildReport:
    """Build a casebase of a domain from files, folders and archives, or add what is new to one.

    `features` as ``--features`` takes them; a casebase that is there keeps the ones it has.
    `options` go to the reader and to the domain. With `known_only` decisions whose private features
    are not known are left out. Without `strict` a record that cannot be used is kept in the table
    `skipped` with its reason; with it, the first one is an error. `limit` is a number of records
    to read. Without an `executor` this process does all the work.
    """
    plugins = plugins or default_plugins()
    files = files_in(paths)
    size = batch or (WORKER_BATCH if executor else BATCH)
    reading = Reading(paths, files, plugins, reader, dict(options or {}), limit, size)
    jobs = reading.jobs()
    if not domain and not Path(out).exists():
        domain, jobs = reading.domain(jobs)
    with _Writer(Path(out), domain, features, plugins, strict) as writer:
        reading.case_types = writer.case_types
        setup = reading.setup(known_only)
        writer.select(setup)
        if any(name in reading.options for name in _surveys(writer.case_types)):
            setup = setup.counted_by(_survey(reading, setup, executor))
        total, done = sum(path.stat().st_size for path in files), 0
        run = partial(work, setup, plugins=None if executor else plugins)
        marked = map(writer.marked, jobs)
        with closing(jobs), closing(in_order(executor, run, marked)) as results:
            for result in results:
                writer.write(result)
                done += result.read
                if progress:
                    progress(result.bytes_read, total, done)
        writer.report.unreadable = reading.unreadable
        writer.report.notes += reading.idle_options()
        writer.finish(paths)
    return writer.report


def _surveys(case_types: Sequence[CaseType]) -> set[str]:
    return {option.name for t in case_types for option in t.options if option.survey}


def _survey(reading: Reading, setup: Setup, executor: Executor | None) -> Counter[str]:
    """A first reading of all files, in which the domain counts what it needs to know before."""
    total: Counter[str] = Counter()
    run = partial(count, setup, plugins=None if executor else reading.plugins)
    for found in in_order(executor, run, reading.jobs()):
        total.update(found)
    return total


class _Writer:
    """Writes batches into a casebase; one it created and put nothing in is removed again."""

    def __init__(
        self, out: Path, domain: str, features: str, plugins: Plugins, strict: bool
    ) -> None:
        self.out = out
        self.strict = strict
        self.report = BuildReport(str(out))
        self.first_reason = ""
        self.base: Casebase | None = None
        self.created = self.known_only = False
        self.selection = ""
        if out.exists():
            self.base = Casebase.open(out, write=True)
            try:
                self.case_types = self._types_for(self.base, domain, features, plugins)
            except BaseException:
                self.base.close()
                raise
        else:
            verify_can_be_made(out)
            self.case_types = wished(case_types_of(domain, plugins), features, plugins)
        self.report.record = self.case_types[0].record
        self.report.features = {t.stage: [f.name for f in t.features] for t in self.case_types}

    def _types_for(
        self, base: Casebase, domain: str, features: str, plugins: Plugins
    ) -> list[CaseType]:
        """The types that the casebase has, if the cases to add fit them."""
        if domain and domain.partition("/")[0] != base.domain:
            raise BadValue(f"{base.path} holds {base.domain} cases, not {domain}")
        types = types_in(base, features, plugins)
        for stored, wanted in zip(base.case_types, types, strict=True):
            serious, slight = differences(stored, wanted)
            if serious:
                raise BadValue(
                    f"{base.path} has {serious[0]}; `cbr rebuild` changes a casebase, or build "
                    f"under another name"
                )
            self.report.notes += [
                f"{base.path} keeps its own definition of {what}; `cbr rebuild` takes the plugin's"
                for what in slight
            ]
        return types

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        if self.base is not None:
            self.base.close()
            if self.created and not self.report.cases and not self.report.hidden:
                for suffix in ("", "-wal", "-shm"):
                    Path(f"{self.out}{suffix}").unlink(missing_ok=True)

    def select(self, setup: Setup) -> None:
        """Remember which decisions are taken in: from one casebase all must be selected alike."""
        self.known_only = setup.known_only
        self.selection = setup.selection
        if self.base is not None and self.base.selection != self.selection:
            raise BadValue(
                f"{self.out} was built with {self.base.selection or 'no such option'}, and what it "
                f"knows would lack decisions; build with the same, or under another name"
            )

    def marked(self, job: Job) -> Job:
        """A job that knows what of it an earlier build took in, or skipped."""
        if self.base is not None and not self.created:
            ordinals = [ordinal for ordinal, _ in [*job.items, *job.skipped]]
            span = (min(ordinals), max(ordinals))
            job.known, job.skipped_before = self.base.known_places(job.source, *span)
        return job

    def write(self, done: Done) -> None:
        """One transaction with all that is new in a batch."""
        self.report.known += done.known
        self.report.left_out.update(done.left_out)
        self._notice(done)
        if not done.is_new:
            return
        if self.base is None:
            self.base, self.created = self._created()
        try:
            with self.base.transaction():
                done.put_into(self.base)
        except sqlite3.IntegrityError as error:
            raise CbrError(
                f"{done.source} cannot be added to {self.out} ({error}): another build is "
                f"adding it; let that end, then go on"
            ) from None
        self.report.records += len(done.records)
        self.report.cases.update({stage: len(rows) for stage, rows in done.rows.items()})
        self.report.hidden.update({stage: len(rows) for stage, rows in done.hidden.items()})
        for _, item in done.skipped:
            self.report.skip(item.reason)

    def _created(self) -> tuple[Casebase, bool]:
        """A new casebase; or the one that another build has made in the meantime."""
        if not self.out.exists():
            try:
                return Casebase.create(self.out, self.case_types, self.selection), True
            except AlreadyThere:
                pass
        base = Casebase.open(self.out, write=True)
        for stored, wanted in zip(base.case_types, self.case_types, strict=True):
            if differences(stored, wanted)[0]:
                raise AlreadyThere(f"{self.out} was made by another process, for other cases")
        return base, False

    def _notice(self, done: Done) -> None:
        """Remember what was skipped first; with `strict`, stop there."""
        if done.first_skipped is not None:
            item = done.first_skipped
            place = f"{done.source} line {item.line}: {item.reason}"
            self.first_reason = self.first_reason or place
            if self.strict:
                raise BadValue(place)

    def finish(self, paths: Sequence[str | Path]) -> None:
        """Say what is lacking; an error if there is nothing at all."""
        report = self.report
        if not (report.cases or report.hidden or report.known):
            if self.first_reason:
                raise EmptyStage(f"nothing to build: {self.first_reason}")
            if report.left_out:
                raise EmptyStage(f"nothing to build: {next(iter(report.left_out))}")
            if report.unreadable:
                raise no_reader(report.unreadable[0])
            raise EmptyStage(f"nothing to build: {', '.join(map(str, paths))} holds no records")
        if self.base is not None:
            report.notes += _missing(self.base, self.case_types, self.known_only)


def _missing(base: Casebase, case_types: Sequence[CaseType], known_only: bool) -> Iterator[str]:
    """A sentence for each solution that stages should have and have not."""
    lacking: dict[tuple[str, str], list[str]] = {}
    for case_type in case_types:
        if case_type.if_missing and base.count(case_type.stage):
            for solution, meaning in case_type.if_missing.items():
                if not base.has_solution(case_type.stage, solution):
                    lacking.setdefault((solution, meaning), []).append(case_type.stage)
    for (solution, meaning), stages in lacking.items():
        apart = any(base.has_hidden_solution(stage, solution) for stage in stages)
        seen = " (hidden decisions have)" if apart else ""
        if not apart and not known_only:
            continue  # nobody did that
        yield f"no case of {', '.join(stages)} has solution {solution!r}{seen}: {meaning}"
