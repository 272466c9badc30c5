"""Build: from files to a casebase, batch by batch.

A record is identified by its source's plain name, its ordinal there and a digest of its content. So
building again adds only new records, a moved or compressed file changes nothing, and a build that
was killed continues where it stopped: each batch is one transaction.

This process divides the files into batches and writes the results; the work between (parsing,
features, checks) is a pure function of a batch and may be done by worker processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from cbr.building.append import Appender, fitting_types
from cbr.building.archives import files_in
from cbr.building.scan import SourceScan, no_reader
from cbr.building.worker import PreparedBatch, RecordBatch, WorkerSetup, count, work
from cbr.case import CaseType
from cbr.errors import AlreadyThere, BadValue, EmptyStage
from cbr.files.atomic import SQLITE_LOGS
from cbr.files.compression import MOST_UNPACKED
from cbr.plugging.plugins import Plugins, default_plugins
from cbr.store.casebase import Casebase
from cbr.store.connection import verify_can_be_made
from cbr.store.definitions import case_types_of, differences, wished
from cbr.store.sources import remove_source, same_records
from cbr.typing import Progress
from cbr.workers import in_order

#: Records in one transaction, the most that a kill can lose. Fewer with workers, so that at the end
#: they finish at about the same time.
BATCH = 2_000
WORKER_BATCH = 1_000
#: The most distinct reasons in a report; others are counted together.
_REASONS = 1_000


@dataclass
class BuildReport:
    """The result of a build. `notes` are sentences for the user."""

    out: str
    record: str = "record"
    records: int = 0
    known: int = 0
    replaced: int = 0
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
    case_types: Sequence[CaseType] = (),
    reader: str = "",
    options: Mapping[str, Any] | None = None,
    known_only: bool = False,
    strict: bool = False,
    replace: bool = False,
    limit: int | None = None,
    max_unpacked: int = MOST_UNPACKED,
    batch: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    plugins: Plugins | None = None,
) -> BuildReport:
    """Build a casebase of a domain from files, folders and archives, or add what is new to one.

    `features` is as in ``--features``; an existing casebase keeps its features. A new one is of
    these `case_types`, if given, instead of those that plugins have for the domain. `options` are
    passed to the reader and to the domain. With `known_only` decisions whose private features are
    unknown are left out. A record that cannot be used is listed in the table `skipped` with its
    reason; with `strict` the first one is an error. With `replace` the content of these files takes
    the place of what the casebase has of files of the same names, in one transaction. `limit` is
    the most records to read, `max_unpacked` the most bytes that a compressed file or an archive may
    hold. Without an `executor` this process does all the work. `progress` is called with the bytes
    read, the total bytes, and the records done.
    """
    plugins = plugins or default_plugins()
    files = files_in(paths)
    size = batch or (WORKER_BATCH if executor else BATCH)
    scan = SourceScan(paths, files, plugins, reader, dict(options or {}), limit, size)
    scan.max_unpacked = max_unpacked
    batches = scan.batches()
    if not case_types and not domain and not Path(out).exists():
        domain, batches = scan.domain(batches)
    wanted = _Wanted(domain, features, tuple(case_types))
    with _Writer(Path(out), wanted, plugins, strict) as writer, writer.whole(replace):
        scan.case_types = writer.case_types
        setup = scan.setup(known_only)
        writer.select(setup)
        if any(name in scan.options for name in _surveys(writer.case_types)):
            setup = setup.counted_by(_survey(scan, setup, executor))
        total, done = sum(path.stat().st_size for path in files), 0
        run = partial(work, setup, plugins=None if executor else plugins)
        marked = map(writer.marked, batches)
        with closing(batches), closing(in_order(executor, run, marked)) as results:
            for result in results:
                writer.write(result)
                done += result.read
                if progress:
                    progress(result.bytes_read, total, done)
        writer.report.unreadable = scan.unreadable
        writer.replace(scan.sources)
        writer.report.notes += scan.idle_options()
        writer.finish(paths)
    if writer.appender.base is not None:
        writer.appender.base.verify_in_place()
    return writer.report


def _surveys(case_types: Sequence[CaseType]) -> set[str]:
    return {option.name for t in case_types for option in t.options if option.survey}


def _survey(scan: SourceScan, setup: WorkerSetup, executor: Executor | None) -> Counter[str]:
    """A first pass over all files, in which the domain counts what it needs to select decisions."""
    total: Counter[str] = Counter()
    run = partial(count, setup, plugins=None if executor else scan.plugins)
    for found in in_order(executor, run, scan.batches()):
        total.update(found)
    return total


class _Wanted(NamedTuple):
    """The case types that a casebase is built for: a domain's, or those given."""

    domain: str
    features: str
    case_types: Sequence[CaseType]

    def types(self, plugins: Plugins) -> list[CaseType]:
        own = self.case_types or case_types_of(self.domain, plugins)
        return wished(own, self.features, plugins)


class _Writer:
    """Writes batches into a casebase; one that it created is removed if it stays empty."""

    def __init__(self, out: Path, wanted: _Wanted, plugins: Plugins, strict: bool) -> None:
        self.out = out
        self.strict = strict
        self.report = BuildReport(str(out))
        self.first_reason = ""
        self.known_only = False
        self.replacing = False
        self.replaced: set[str] = set()
        self.new_sources: set[str] = set()
        if out.exists():
            base = Casebase.open(out, write=True)
            try:
                types, self.report.notes = fitting_types(
                    base, wanted.domain, wanted.features, plugins
                )
            except BaseException:
                base.close()
                raise
            self.appender = Appender(out, types, base=base)
        else:
            verify_can_be_made(out)
            self.appender = Appender(out, wanted.types(plugins))
        self.case_types = self.appender.case_types
        self.report.record = self.case_types[0].record
        self.report.features = {t.stage: [f.name for f in t.features] for t in self.case_types}

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        base = self.appender.base
        if base is not None:
            base.close()
            empty = not self.report.cases and not self.report.hidden
            if self.appender.created and empty and base.in_place:
                for suffix in ("", *SQLITE_LOGS):
                    Path(f"{self.out}{suffix}").unlink(missing_ok=True)

    def select(self, setup: WorkerSetup) -> None:
        """Set the options that select decisions, and check them against the casebase."""
        self.known_only = setup.known_only
        self.appender.selection = setup.selection
        if self.appender.base is not None:
            self.appender.verify_selection(self.appender.base)

    @contextmanager
    def whole(self, replace: bool) -> Iterator[None]:
        """With `replace`, all that is written in the block is one transaction, and takes the place
        of what the casebase has of the same sources."""
        self.replacing = replace and self.appender.base is not None
        if self.replacing and self.appender.base is not None:
            with self.appender.base.transaction():
                yield
        else:
            yield

    def replace(self, sources: Iterable[str]) -> None:
        """Remove what the casebase has of these sources, unless that was done before."""
        if self.replacing and self.appender.base is not None:
            for name in set(sources) - self.replaced:
                self.report.replaced += remove_source(self.appender.base, name)
                self.replaced.add(name)

    def marked(self, batch: RecordBatch) -> RecordBatch:
        """The batch with marks for records that an earlier build added or skipped."""
        self.replace([batch.source])
        return batch if self.appender.created else self.appender.mark(batch)

    def write(self, done: PreparedBatch) -> None:
        """Write all that is new in a batch."""
        self.report.known += done.known
        self.report.left_out.update(done.left_out)
        self._notice(done)
        if not done.is_new:
            return
        if self.appender.base is None:
            self._open()
        self.appender.write(done)
        if done.records and not done.known:
            self.new_sources.add(done.source)
        self.report.records += len(done.records)
        self.report.cases.update({stage: len(rows) for stage, rows in done.rows.items()})
        self.report.hidden.update({stage: len(rows) for stage, rows in done.hidden.items()})
        for _, item in done.skipped:
            self.report.skip(item.reason)

    def _open(self) -> None:
        """Create the casebase; one that another build has created meanwhile must fit the cases."""
        for stored, wanted in zip(self.appender.open().case_types, self.case_types, strict=True):
            if differences(stored, wanted)[0]:
                raise AlreadyThere(f"{self.out} was created by another process, for other cases")

    def _notice(self, done: PreparedBatch) -> None:
        """Keep the first reason for skipping a record; with `strict`, raise it."""
        if done.first_skipped is not None:
            item = done.first_skipped
            place = f"{done.source} line {item.line}: {item.reason}"
            self.first_reason = self.first_reason or place
            if self.strict:
                raise BadValue(place)

    def finish(self, paths: Sequence[str | Path]) -> None:
        """Note solutions that are missing; raise if nothing at all was built."""
        report = self.report
        if not (report.cases or report.hidden or report.known):
            if self.first_reason:
                raise EmptyStage(f"nothing to build: {self.first_reason}")
            if report.left_out:
                raise EmptyStage(f"nothing to build: {next(iter(report.left_out))}")
            if report.unreadable:
                raise no_reader(report.unreadable[0])
            raise EmptyStage(f"nothing to build: {', '.join(map(str, paths))} holds no records")
        if self.appender.base is not None:
            report.notes += _missing(self.appender.base, self.case_types, self.known_only)
            same = same_records(self.appender.base, self.new_sources)
            report.notes += [
                f"{name} has the same {report.record}s as {other}, so they count twice; if it is "
                f"an edited copy, remove the casebase and build the right one alone"
                for name, other in same.items()
            ]


def _missing(base: Casebase, case_types: Sequence[CaseType], known_only: bool) -> Iterator[str]:
    """A sentence for each solution that is missing from a stage although it was taken."""
    missing: dict[tuple[str, str], list[str]] = {}
    for case_type in case_types:
        if case_type.if_missing and base.count(case_type.stage):
            for solution, meaning in case_type.if_missing.items():
                if not base.has_solution(case_type.stage, solution):
                    missing.setdefault((solution, meaning), []).append(case_type.stage)
    for (solution, meaning), stages in missing.items():
        apart = any(base.has_hidden_solution(stage, solution) for stage in stages)
        seen = " (hidden decisions have)" if apart else ""
        if not apart and not known_only:
            continue  # no decision has this solution
        yield f"no case of {', '.join(stages)} has solution {solution!r}{seen}: {meaning}"
