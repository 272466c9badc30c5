"""Build: from files to a casebase, batch by batch.

A record is known by its source's plain name, its ordinal there and a digest of its content. So
building again adds only what is new, a moved or compressed file changes nothing, and a build that
was killed goes on where it stopped: each batch is one transaction.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cbr.case import CaseType
from cbr.casebase import Casebase
from cbr.definitions import case_types_of, differences, types_in, wished
from cbr.digest import record_digest
from cbr.errors import (
    AlreadyThere,
    BadValue,
    CbrError,
    DifferentRecord,
    EmptyStage,
    PluginFailure,
)
from cbr.guard import guarded, one_line
from cbr.plugins import Plugins, default_plugins
from cbr.prepare import Rows, prepare
from cbr.sources import CaseSource, Record, Skipped, head_of, plain_name

#: Records in one transaction: what a kill can lose.
BATCH = 2_000
#: Different reasons that a report tells apart; the rest are counted together.
_REASONS = 1_000

#: Called with bytes read so far, bytes in all, and cases added.
Progress = Callable[[int, int, int], None]


@dataclass
class BuildReport:
    """What a build did. `notes` are sentences for the person who asked for it."""

    out: str
    records: int = 0
    known: int = 0
    cases: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)
    features: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def skip(self, reason: str) -> None:
        known = reason in self.skipped or len(self.skipped) < _REASONS
        self.skipped[reason if known else "other reasons"] += 1


@dataclass
class _Pending:
    """Records and skipped places of one source, waiting for their transaction."""

    source: str
    reader: str
    records: list[tuple[int, Record]] = field(default_factory=list)
    skipped: list[tuple[int, Skipped]] = field(default_factory=list)
    skipped_before: set[int] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.records) + len(self.skipped)


def build(
    paths: Sequence[str | Path],
    out: str | Path,
    domain: str = "",
    *,
    features: str = "",
    reader: str = "",
    options: Mapping[str, Any] | None = None,
    strict: bool = False,
    limit: int | None = None,
    batch: int = BATCH,
    progress: Progress | None = None,
    plugins: Plugins | None = None,
) -> BuildReport:
    """Build a casebase of a domain from files (or folders of files), or add what is new to one.

    `features` as ``--features`` takes them; a casebase that is there keeps the ones it has.
    `options` go to the reader. Without `strict` a record that cannot be used is kept in the table
    `skipped` with its reason; with it, the first one is an error. `limit` is a number of records.
    """
    plugins = plugins or default_plugins()
    files = _files(paths)
    with _Builder(Path(out), domain, features, plugins, strict) as builder:
        total, done = sum(path.stat().st_size for path in files), 0
        seen: dict[str, Path] = {}
        for path in files:
            source = _source_for(path, builder.case_types, reader, plugins)
            if source is None:
                builder.report.unreadable.append(str(path))
            elif plain_name(path) in seen:
                raise BadValue(
                    f"{seen[plain_name(path)]} and {path} have one name, by which a source is "
                    f"known; rename one"
                )
            else:
                seen[plain_name(path)] = path
                for offset in builder.take(path, source, dict(options or {}), limit, batch):
                    if progress:
                        progress(done + offset, total, builder.report.cases.total())
            done += path.stat().st_size
            if builder.reached(limit):
                break
        builder.verify_something(paths)
    return builder.report


class _Builder:
    """Writes batches into a casebase; one it created and put no case in is removed again."""

    def __init__(
        self, out: Path, domain: str, features: str, plugins: Plugins, strict: bool
    ) -> None:
        self.out = out
        self.strict = strict
        self.report = BuildReport(str(out))
        self.first_reason = ""
        self.base: Casebase | None = None
        self.created = False
        if out.exists():
            self.base = Casebase.open(out, write=True)
            try:
                self.case_types = self._types_for(self.base, domain, features, plugins)
            except BaseException:
                self.base.close()
                raise
        else:
            self.case_types = wished(case_types_of(domain, plugins), features, plugins)
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

    def __enter__(self) -> _Builder:
        return self

    def __exit__(self, *_: object) -> None:
        if self.base is not None:
            self.base.close()
            if self.created and not self.report.cases:
                for suffix in ("", "-wal", "-shm"):
                    Path(f"{self.out}{suffix}").unlink(missing_ok=True)

    def reached(self, limit: int | None, more: int = 0) -> bool:
        return limit is not None and self.report.records + self.report.known + more >= limit

    def take(
        self,
        path: Path,
        source: CaseSource,
        options: Mapping[str, Any],
        limit: int | None,
        batch: int,
    ) -> Iterator[int]:
        """Take a file in; yields the bytes read after each batch."""
        pending = _Pending(plain_name(path), source.name)
        names = {option.name for option in source.options}
        wanted = {name: value for name, value in options.items() if name in names}
        for ordinal, item in enumerate(_read(source, path, wanted)):
            if isinstance(item, Skipped):
                pending.skipped.append((ordinal, item))
            else:
                pending.records.append((ordinal, item))
            if len(pending) >= batch:
                self.write(pending)
                pending = _Pending(pending.source, source.name)
                yield item.offset
            if self.reached(limit, len(pending.records)):
                break
        self.write(pending)

    def write(self, pending: _Pending) -> None:
        """One transaction with all that is new in `pending`."""
        if self.base is not None:
            self._drop_known(self.base, pending)
        if not len(pending):
            return
        rows, rejected = prepare([record.body for _, record in pending.records], self.case_types)
        for place, reason in rejected.items():
            ordinal, record = pending.records[place]
            pending.skipped.append((ordinal, Skipped(record.line, reason)))
        self._notice(pending)
        pending.skipped = [i for i in pending.skipped if i[0] not in pending.skipped_before]
        if len(rejected) == len(pending.records) and not pending.skipped:
            return  # nothing but what was skipped before
        if self.base is None:
            self.base, self.created = self._created()
        try:
            with self.base.transaction():
                self._insert(self.base, pending, rows, rejected)
        except sqlite3.IntegrityError as error:
            raise CbrError(
                f"{pending.source} cannot be added to {self.out} ({error}): another build is "
                f"adding it; let that end, then go on"
            ) from None

    def _created(self) -> tuple[Casebase, bool]:
        """A new casebase; or the one that another build has made in the meantime."""
        if not self.out.exists():
            try:
                return Casebase.create(self.out, self.case_types), True
            except AlreadyThere:
                pass
        base = Casebase.open(self.out, write=True)
        for stored, wanted in zip(base.case_types, self.case_types, strict=True):
            if differences(stored, wanted)[0]:
                raise AlreadyThere(f"{self.out} was made by another process, for other cases")
        return base, False

    def _notice(self, pending: _Pending) -> None:
        """Remember what was skipped first; with `strict`, stop there."""
        pending.skipped.sort(key=lambda item: item[0])
        for _, item in pending.skipped[:1]:
            place = f"{pending.source} line {item.line}: {item.reason}"
            self.first_reason = self.first_reason or place
            if self.strict:
                raise BadValue(place)

    def _insert(
        self,
        base: Casebase,
        pending: _Pending,
        rows: Mapping[str, Rows],
        rejected: Mapping[int, str],
    ) -> None:
        number = base.source_number(pending.source, pending.reader)
        ids: dict[int, int] = {}
        for place, (ordinal, record) in enumerate(pending.records):
            if place not in rejected:
                ids[place] = base.keep_record(number, ordinal, record.line, record.body)
        base.keep_skipped(number, pending.skipped)
        for stage, cases in rows.items():
            records = [ids[place] for place in cases.record.tolist()]
            step = cases.step.tolist()
            base.add(stage, cases.features, cases.solution, cases.outcome, records, step)
            self.report.cases[stage] += len(cases)
        self.report.records += len(ids)
        for _, item in pending.skipped:
            self.report.skip(item.reason)

    def _drop_known(self, base: Casebase, pending: _Pending) -> None:
        """Leave out what an earlier build took in; an error if it reads differently now.

        A place that was skipped and can be read now is new.
        """
        if not len(pending):
            return
        ordinals = [ordinal for ordinal, _ in [*pending.records, *pending.skipped]]
        span = (min(ordinals), max(ordinals))
        known, pending.skipped_before = base.known_places(pending.source, *span)
        for ordinal, record in pending.records:
            if ordinal in known and record_digest(record.body) != known[ordinal]:
                raise DifferentRecord(
                    f"{pending.source} line {record.line} was built before with other content; "
                    f"give the changed file another name"
                )
        self.report.known += sum(ordinal in known for ordinal, _ in pending.records)
        pending.records = [item for item in pending.records if item[0] not in known]
        pending.skipped = [item for item in pending.skipped if item[0] not in known]

    def verify_something(self, paths: Sequence[str | Path]) -> None:
        if self.report.cases or self.report.known:
            return
        if self.first_reason:
            raise EmptyStage(f"nothing to build: {self.first_reason}")
        if self.report.unreadable:
            raise BadValue(
                f"no reader for {self.report.unreadable[0]}; `cbr plugins` lists the case sources"
            )
        raise EmptyStage(f"nothing to build: {', '.join(map(str, paths))} holds no records")


def _files(paths: Sequence[str | Path]) -> list[Path]:
    """The files named, and those in the folders named; each once, in a fixed order."""
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise BadValue(f"no file or folder {path}")
        inside = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        found |= dict.fromkeys(inside)
    return list(found)


def _source_for(
    path: Path, case_types: Sequence[CaseType], reader: str, plugins: Plugins
) -> CaseSource | None:
    if reader:
        named: CaseSource = plugins.get("case source", reader)
        return named
    head = head_of(path)
    for source in plugins.named("case source").values():
        with guarded(f"reader {source.name!r} at the sight of {path}"):
            fits = source.serves(case_types) and source.can_read(path, head)
        if fits:
            found: CaseSource = source
            return found
    return None


def _read(source: CaseSource, path: Path, options: Mapping[str, Any]) -> Iterator[Record | Skipped]:
    """What a source holds; the reader is under guard, the one who takes it in is not."""
    with guarded(f"reader {source.name!r} on {path}"):
        items = iter(source.read(path, **options))
    while True:
        try:
            with guarded(f"reader {source.name!r} on {path}"):
                item = next(items, None)
        except PluginFailure as error:
            if isinstance(error.__cause__, OSError):
                raise BadValue(f"cannot read {path}: {one_line(error.__cause__)}") from None
            raise
        if item is None:
            return
        if not isinstance(item, Record | Skipped) or not isinstance(item.line, int):
            raise PluginFailure(f"reader {source.name!r} gave {item!r}, which is no record")
        yield item
