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

import numpy as np
from numpy.typing import NDArray

from cbr.case import Batch, CaseType, Feature, Situated, Situations
from cbr.casebase import Casebase
from cbr.digest import record_digest
from cbr.errors import BadValue, CbrError, DifferentRecord, EmptyStage, NoSuchName, PluginFailure
from cbr.plugins import Plugins, default_plugins
from cbr.sources import CaseSource, Record, Skipped, head_of, plain_name, situate_rows

#: Records in one transaction: what a kill can lose.
BATCH = 2_000

#: Called with bytes read so far (whole files), bytes in all, and cases added.
Progress = Callable[[int, int, int], None]


@dataclass
class BuildReport:
    """What a build did."""

    out: str
    records: int = 0
    known: int = 0
    cases: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)


@dataclass
class _Pending:
    """Records and skipped places of one source, waiting for their transaction."""

    source: str
    reader: str
    records: list[tuple[int, Record]] = field(default_factory=list)
    skipped: list[tuple[int, Skipped]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.records) + len(self.skipped)


def case_types_of(domain: str, plugins: Plugins | None = None) -> list[CaseType]:
    """The case types of a domain, or the one named ``domain/stage``."""
    known: dict[str, CaseType] = (plugins or default_plugins()).named("case type")
    if not domain:
        domains = sorted({case_type.domain for case_type in known.values()})
        if len(domains) != 1:
            raise BadValue(
                f"say which type of case to build; there is {', '.join(domains) or 'none'}"
            )
        domain = domains[0]
    found = [t for t in known.values() if domain in (t.domain, t.name)]
    if not found:
        raise NoSuchName("case type", domain, sorted({t.domain for t in known.values()}))
    return found


def build(
    paths: Sequence[str | Path],
    out: str | Path,
    case_types: Sequence[CaseType],
    *,
    reader: str = "",
    options: Mapping[str, Any] | None = None,
    strict: bool = False,
    limit: int | None = None,
    batch: int = BATCH,
    progress: Progress | None = None,
    plugins: Plugins | None = None,
) -> BuildReport:
    """Build a casebase from files (or folders of files), or add what is new to one.

    `options` go to the reader. Without `strict` a record that cannot be used is kept in the table
    `skipped` with its reason; with it, the first one is an error. `limit` is a number of records.
    """
    plugins = plugins or default_plugins()
    builder = _Builder(Path(out), list(case_types), strict)
    with builder:
        files = _files(paths)
        total, done = sum(path.stat().st_size for path in files), 0

        def tell(cases: int) -> None:
            if progress:
                progress(done, total, cases)

        builder.tell = tell
        for path in files:
            source = _source_for(path, case_types, reader, plugins)
            if source is None:
                builder.report.unreadable.append(str(path))
            else:
                builder.take(path, source, dict(options or {}), limit, batch)
            done += path.stat().st_size
            if limit is not None and builder.report.records + builder.report.known >= limit:
                break
    builder.verify_something(paths)
    return builder.report


class _Builder:
    """Writes batches into a casebase that is created with the first case."""

    def __init__(self, out: Path, case_types: list[CaseType], strict: bool) -> None:
        self.out = out
        self.case_types = case_types
        self.strict = strict
        self.report = BuildReport(str(out))
        self.first_reason = ""
        self.base: Casebase | None = None
        self.waiting: list[_Pending] = []
        self.tell: Callable[[int], None] = lambda cases: None
        if out.exists():
            self.base = Casebase.open(out, write=True)
            _verify_same_types(self.base, case_types)

    def __enter__(self) -> _Builder:
        return self

    def __exit__(self, *_: object) -> None:
        if self.base is not None:
            self.base.close()

    def take(
        self,
        path: Path,
        source: CaseSource,
        options: Mapping[str, Any],
        limit: int | None,
        batch: int,
    ) -> None:
        pending = _Pending(plain_name(path), source.name)
        names = {option.name for option in source.options}
        wanted = {name: value for name, value in options.items() if name in names}
        for ordinal, item in enumerate(_guarded(source, path, wanted)):
            if isinstance(item, Skipped):
                pending.skipped.append((ordinal, item))
            else:
                pending.records.append((ordinal, item))
            if len(pending) >= batch:
                self.write(pending)
                self.tell(self.report.cases.total())
                pending = _Pending(pending.source, source.name)
            taken = self.report.records + self.report.known + len(pending.records)
            if limit is not None and taken >= limit:
                break
        self.write(pending)
        self.tell(self.report.cases.total())

    def notice(self, pending: _Pending) -> None:
        """Remember what was skipped first; with `strict`, stop there."""
        pending.skipped.sort(key=lambda item: item[0])
        for _, item in pending.skipped[:1]:
            place = f"{pending.source} line {item.line}: {item.reason}"
            self.first_reason = self.first_reason or place
            if self.strict:
                raise BadValue(place)

    def write(self, pending: _Pending) -> None:
        """One transaction with all that is new in `pending`."""
        if self.base is not None:
            self._drop_known(self.base, pending)
        if not len(pending):
            return
        situated = situate([record.body for _, record in pending.records], self.case_types)
        for place, reason in situated.rejected.items():
            ordinal, record = pending.records[place]
            pending.skipped.append((ordinal, Skipped(record.line, reason)))
        self.notice(pending)
        columns = {
            stage: features_of(self._type(stage), b.situations, len(b.solution))
            for stage, b in situated.batches.items()
        }
        if self.base is None and not situated.batches:
            # Nothing is written before there is a case.
            gone = situated.rejected
            pending.records = [r for place, r in enumerate(pending.records) if place not in gone]
            self.waiting.append(pending)
            return
        if self.base is None:
            self.base = Casebase.create(self.out, self.case_types)
        try:
            with self.base.transaction():
                for earlier in self.waiting:
                    self._insert(self.base, earlier, Situated({}), {})
                self.waiting = []
                self._insert(self.base, pending, situated, columns)
        except sqlite3.IntegrityError:
            raise CbrError(
                f"another build is adding {pending.source} to {self.out}; let it end, then go on"
            ) from None

    def _type(self, stage: str) -> CaseType:
        return next(t for t in self.case_types if t.stage == stage)

    def _insert(
        self,
        base: Casebase,
        pending: _Pending,
        situated: Situated,
        columns: Mapping[str, Mapping[str, NDArray[Any]]],
    ) -> None:
        number = base.source_number(pending.source, pending.reader)
        rejected = set(situated.rejected)
        ids: dict[int, int] = {}
        for place, (ordinal, record) in enumerate(pending.records):
            if place not in rejected:
                ids[place] = base.keep_record(number, ordinal, record.line, record.body)
        base.db.conn.executemany(
            "INSERT INTO skipped (source, ordinal, line, reason) VALUES (?, ?, ?, ?)",
            ((number, ordinal, item.line, item.reason) for ordinal, item in pending.skipped),
        )
        for stage, b in situated.batches.items():
            records = [ids[int(place)] for place in b.record]
            base.add(stage, columns[stage], b.solution, b.outcome, records, map(int, b.step))
            self.report.cases[stage] += len(records)
        self.report.records += len(ids)
        self.report.skipped.update(item.reason for _, item in pending.skipped)

    def _drop_known(self, base: Casebase, pending: _Pending) -> None:
        """Leave out what an earlier build took in; an error if it reads differently now."""
        if not len(pending):
            return
        ordinals = [ordinal for ordinal, _ in [*pending.records, *pending.skipped]]
        source = (pending.source, min(ordinals), max(ordinals))
        within = "source = (SELECT id FROM sources WHERE name = ?) AND ordinal BETWEEN ? AND ?"
        rows = base.db.execute(
            f"SELECT ordinal, digest FROM {base.records} WHERE {within}", source
        ).fetchall()
        known = dict(rows)
        skipped = {
            row[0] for row in base.db.execute(f"SELECT ordinal FROM skipped WHERE {within}", source)
        }
        for ordinal, record in pending.records:
            if ordinal in known and record_digest(record.body) != known[ordinal]:
                raise DifferentRecord(
                    f"{pending.source} line {record.line} was built before with other content; "
                    f"give the changed file another name"
                )
        seen = known.keys() | skipped
        self.report.known += sum(ordinal in known for ordinal, _ in pending.records)
        pending.records = [item for item in pending.records if item[0] not in seen]
        pending.skipped = [item for item in pending.skipped if item[0] not in seen]

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


def situate(bodies: Sequence[str], case_types: Sequence[CaseType]) -> Situated:
    """Situations of records: each function that the case types name is called once."""
    batches: dict[str, Batch] = {}
    rejected: dict[int, str] = {}
    by_function: dict[Any, list[CaseType]] = {}
    for case_type in case_types:
        by_function.setdefault(case_type.situate or situate_rows, []).append(case_type)
    for function, types in by_function.items():
        found = function(bodies, types)
        batches |= found.batches
        rejected |= found.rejected
    return Situated(batches, rejected)


def features_of(
    case_type: CaseType, situations: Situations, count: int
) -> dict[str, NDArray[np.generic]]:
    """Every feature of a batch of situations, checked: [count] values each."""
    return {feature.name: _column(feature, situations, count) for feature in case_type.features}


def _column(feature: Feature, situations: Situations, count: int) -> NDArray[np.generic]:
    try:
        column = feature.of(situations)
    except KeyError as error:
        raise NoSuchName(
            f"column for feature {feature.name!r}", str(error.args[0]), situations
        ) from None
    except CbrError:
        raise
    except Exception as error:
        raise PluginFailure(
            f"feature {feature.name!r} failed: {type(error).__name__}: {error}"
        ) from error
    if column.shape != (count,):
        raise PluginFailure(
            f"feature {feature.name!r} gave an array of shape {column.shape} for {count} situations"
        )
    if not feature.is_number:
        for value in np.unique(column.astype(str)):
            feature.read(value)
        return column.astype(str)
    try:
        numbers = column.astype(np.float32)
    except ValueError as error:
        raise PluginFailure(f"feature {feature.name!r} gave no numbers: {error}") from None
    if not np.isfinite(numbers).all():
        raise PluginFailure(f"feature {feature.name!r} gave {numbers[~np.isfinite(numbers)][0]}")
    return numbers


def _files(paths: Sequence[str | Path]) -> list[Path]:
    """The files named, and those in the folders named; each once, in a fixed order."""
    found: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise BadValue(f"no file or folder {path}")
        inside = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        found += [p for p in inside if p not in found]
    names = Counter(plain_name(path) for path in found)
    for name, times in names.items():
        if times > 1:
            raise BadValue(f"{times} files are called {name}; a source is known by its name")
    return found


def _source_for(
    path: Path, case_types: Sequence[CaseType], reader: str, plugins: Plugins
) -> CaseSource | None:
    if reader:
        named: CaseSource = plugins.get("case source", reader)
        return named
    head = head_of(path)
    for source in plugins.named("case source").values():
        if source.serves(case_types) and source.can_read(path, head):
            found: CaseSource = source
            return found
    return None


def _guarded(
    source: CaseSource, path: Path, options: Mapping[str, Any]
) -> Iterator[Record | Skipped]:
    try:
        yield from source.read(path, **options)
    except CbrError:
        raise
    except Exception as error:
        raise PluginFailure(
            f"reader {source.name!r} failed on {path}: {type(error).__name__}: {error}"
        ) from error


def _verify_same_types(base: Casebase, case_types: Sequence[CaseType]) -> None:
    stored = {t.stage: [f.name for f in t.features] for t in base.case_types}
    wanted = {t.stage: [f.name for f in t.features] for t in case_types}
    if base.domain != case_types[0].domain:
        raise BadValue(f"{base.path} holds {base.domain} cases, not {case_types[0].domain}")
    if stored != wanted:
        raise BadValue(
            f"{base.path} was built with other features; `cbr rebuild` changes the features of a "
            f"casebase, or build under another name"
        )
