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
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from cbr.archives import Place, files_in, is_archive, places
from cbr.batches import Done, Job, Setup, count, work
from cbr.case import CaseType
from cbr.casebase import Casebase
from cbr.definitions import case_types_of, differences, types_in, wished
from cbr.errors import AlreadyThere, BadValue, CbrError, EmptyStage, PluginFailure
from cbr.guard import guarded, one_line
from cbr.plugins import Plugins, default_plugins
from cbr.sources import CaseSource, Raw, Record, Skipped, head_of
from cbr.workers import in_order

#: Records in one transaction: what a kill can lose. With workers fewer, so that the last ones to
#: finish do not keep the others waiting.
BATCH = 2_000
WORKER_BATCH = 1_000
#: Different reasons that a report tells apart; the rest are counted together.
_REASONS = 1_000

_ITEMS = (Record, Skipped, Raw)

Jobs = Generator[Job, None, None]

#: Called with bytes read so far, bytes in all, and records done.
Progress = Callable[[float, float, int], None]


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
    reading = _Reading(paths, files, plugins, reader, dict(options or {}), limit, size)
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
        writer.finish(paths)
    return writer.report


def _surveys(case_types: Sequence[CaseType]) -> set[str]:
    return {option.name for t in case_types for option in t.options if option.survey}


def _survey(reading: _Reading, setup: Setup, executor: Executor | None) -> Counter[str]:
    """A first reading of all files, in which the domain counts what it needs to know before."""
    total: Counter[str] = Counter()
    run = partial(count, setup, plugins=None if executor else reading.plugins)
    for found in in_order(executor, run, reading.jobs()):
        total.update(found)
    return total


@dataclass
class _Reading:
    """The files of a build, and how they are cut into jobs."""

    given: Sequence[str | Path]
    files: Sequence[Path]
    plugins: Plugins
    reader: str
    options: dict[str, Any]
    limit: int | None
    batch: int
    case_types: Sequence[CaseType] = ()
    unreadable: list[str] = field(default_factory=list)

    def domain(self, jobs: Jobs) -> tuple[str, Jobs]:
        """The domain that the first record is for, if its reader can tell; and all the jobs."""
        types = list(self.plugins.named("case type").values())
        if len({t.domain for t in types}) < 2:
            return "", jobs
        seen: list[Job] = []
        reason = ""
        for job in jobs:
            seen.append(job)
            for _, skipped in job.skipped[:1]:
                reason = reason or f"{job.source} line {skipped.line}: {skipped.reason}"
            if job.items:
                domain, why = self._domain_of(job, types)
                reason = reason or why
                if domain or not why:
                    return domain, _again(seen, jobs)
        if reason:
            raise EmptyStage(f"nothing to build: {reason}")
        if self.unreadable:
            raise _no_reader(self.unreadable[0])
        raise EmptyStage(f"nothing to build: {', '.join(map(str, self.given))} holds no records")

    def _domain_of(self, job: Job, types: Sequence[CaseType]) -> tuple[str, str]:
        """The domain of a job's records; and if none of them can be read, why the first cannot."""
        source: CaseSource = self.plugins.get("case source", job.reader)
        if source.domain_of is None:
            served = {t.domain for t in types if source.serves([t])}
            return (served.pop() if len(served) == 1 else ""), ""
        reason = ""
        for _, item in job.items:
            try:
                with guarded(f"reader {source.name!r} at line {item.line} of {job.source}"):
                    return source.domain_of(source.body_of(item), self.options), ""
            except BadValue as error:
                reason = reason or f"{job.source} line {item.line}: {error}"
        return "", reason

    def setup(self, known_only: bool) -> Setup:
        domain = {option.name for t in self.case_types for option in t.options}
        given = tuple((n, v) for n, v in sorted(self.options.items()) if n in domain)
        types = tuple(case_type.to_json() for case_type in self.case_types)
        return Setup(tuple(map(str, self.plugins.files)), types, given, known_only)

    def jobs(self) -> Jobs:
        """All that the files hold, in batches."""
        self.unreadable.clear()
        seen: dict[str, str] = {}
        taken, before = 0, 0.0
        for place in places(self.files):
            if place.problems:
                lost = [(at, Skipped(0, reason)) for at, reason in enumerate(place.problems)]
                yield Job(place.plain, "archive", skipped=lost)
                continue
            if place.archive and is_archive(place.path):
                lost = [(0, Skipped(0, "an archive in an archive; unpack it first"))]
                yield Job(place.named(place.plain), "archive", skipped=lost)
                continue
            source = self._source(place)
            if source is None:
                self.unreadable.append(place.named(place.inside) or str(place.path))
                continue
            name = self._name(place, source)
            shown = place.named(place.inside) if place.archive else str(place.path)
            if name in seen:
                raise BadValue(
                    f"{seen[name]} and {shown} have one name, by which a source is known; "
                    f"rename one"
                )
            seen[name] = shown
            size = place.path.stat().st_size or 1
            left = None if self.limit is None else self.limit - taken
            for job in self._cut(place, source, name, left):
                job.bytes_read = before + place.share * min(1.0, job.bytes_read / size)
                taken += len(job.items)
                yield job
            before += place.share
            if self.limit is not None and taken >= self.limit:
                return

    def _cut(self, place: Place, source: CaseSource, name: str, left: int | None) -> Iterator[Job]:
        job = Job(name, source.name)
        for ordinal, item in enumerate(_read(source, place.path, self._for(source))):
            if isinstance(item, Skipped):
                job.skipped.append((ordinal, item))
            else:
                job.items.append((ordinal, item))
                left = None if left is None else left - 1
            job.bytes_read = item.offset
            if job.read >= self.batch or left == 0:
                yield job
                job = Job(name, source.name)
            if left == 0:
                return
        if job.read:
            job.bytes_read = place.path.stat().st_size
            yield job

    def _name(self, place: Place, source: CaseSource) -> str:
        if source.identity is None:
            return place.named(place.plain)
        with guarded(f"reader {source.name!r} at the name of {place.path}"):
            return place.named(source.identity(place.path))

    def _for(self, source: CaseSource) -> dict[str, Any]:
        """The options that are this source's."""
        names = {option.name for option in source.options}
        return {name: value for name, value in self.options.items() if name in names}

    def _source(self, place: Place) -> CaseSource | None:
        if self.reader:
            named: CaseSource = self.plugins.get("case source", self.reader)
            return named
        head = head_of(place.path)
        for source in self.plugins.named("case source").values():
            with guarded(f"reader {source.name!r} at the sight of {place.path}"):
                fits = source.serves(self.case_types) and source.can_read(place.path, head)
            if fits:
                found: CaseSource = source
                return found
        return None


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
                raise _no_reader(report.unreadable[0])
            raise EmptyStage(f"nothing to build: {', '.join(map(str, paths))} holds no records")
        if self.base is not None:
            report.notes += _missing(self.base, self.case_types, self.known_only)


def _no_reader(path: str) -> BadValue:
    return BadValue(f"no reader for {path}; `cbr plugins` lists the case sources")


def _missing(base: Casebase, case_types: Sequence[CaseType], known_only: bool) -> Iterator[str]:
    """A sentence for each solution that stages should have and have not."""
    lacking: dict[tuple[str, str], list[str]] = {}
    for case_type in case_types:
        if case_type.if_missing and base.count(case_type.stage):
            for solution, meaning in case_type.if_missing.items():
                if not base.has_solution(case_type.stage, solution):
                    lacking.setdefault((solution, meaning), []).append(case_type.stage)
    hidden = base.hidden() if lacking else {}
    for (solution, meaning), stages in lacking.items():
        apart = sum(hidden[stage].get(solution, 0) for stage in stages)
        seen = f" ({apart:,} hidden decisions have)" if apart else ""
        if not apart and not known_only:
            continue  # nobody did that
        yield f"no case of {', '.join(stages)} has solution {solution!r}{seen}: {meaning}"


def _again(seen: list[Job], jobs: Jobs) -> Jobs:
    """All jobs from the first on, some of which have been looked at."""
    yield from seen
    yield from jobs


def _read(
    source: CaseSource, path: Path, options: Mapping[str, Any]
) -> Iterator[Record | Skipped | Raw]:
    """What a source holds; the reader is under guard, the one who takes it in is not."""
    with guarded(f"reader {source.name!r} on {path}"):
        items = iter(source.read(path, **options))
    while True:
        try:
            item = next(items)  # not in `guarded`, which would cost more than reading a line
        except StopIteration:
            return
        except OSError as error:
            raise BadValue(f"cannot read {path}: {one_line(error)}") from None
        except (CbrError, KeyboardInterrupt):
            raise
        except BaseException as error:
            what = f"reader {source.name!r} on {path} failed: {one_line(error)}"
            raise PluginFailure(what) from error
        if not isinstance(item, _ITEMS) or not isinstance(item.line, int):
            raise PluginFailure(f"reader {source.name!r} gave {item!r}, which is no record")
        yield item
