"""The files of a build, divided into batches of records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cbr.building.archives import Place, is_archive, places
from cbr.building.worker import RecordBatch, WorkerSetup, judging
from cbr.case import CaseType
from cbr.errors import BadValue, CbrError, EmptyStage, PluginFailure
from cbr.files.compression import MOST_UNPACKED, head_of, plain_name
from cbr.plugging.guard import guarded, one_line
from cbr.plugging.plugins import Plugins
from cbr.store.records import CaseSource, Raw, Record, Skipped

Batches = Generator[RecordBatch, None, None]
_ITEMS = (Record, Skipped, Raw)


@dataclass
class SourceScan:
    """The files of a build, divided into batches of records."""

    given: Sequence[str | Path]
    files: Sequence[Path]
    plugins: Plugins
    reader: str
    options: dict[str, Any]
    limit: int | None
    batch: int
    case_types: Sequence[CaseType] = ()
    max_unpacked: int = MOST_UNPACKED
    unreadable: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    sources: set[str] = field(default_factory=set)

    def domain(self, batches: Batches) -> tuple[str, Batches]:
        """The domain of the first record, if its reader can tell; and all the batches."""
        types = list(self.plugins.named("case type").values())
        if len({t.domain for t in types}) < 2:
            return "", batches
        seen: list[RecordBatch] = []
        reason = ""
        for batch in batches:
            seen.append(batch)
            for _, skipped in batch.skipped[:1]:
                reason = reason or f"{batch.source} line {skipped.line}: {skipped.reason}"
            if batch.items:
                domain, why = self._domain_of(batch, types)
                reason = reason or why
                if domain or not why:
                    return domain, _again(seen, batches)
        if reason:
            raise EmptyStage(f"nothing to build: {reason}")
        if self.unreadable:
            raise no_reader(self.unreadable[0])
        raise EmptyStage(f"nothing to build: {', '.join(map(str, self.given))} holds no records")

    def _domain_of(self, batch: RecordBatch, types: Sequence[CaseType]) -> tuple[str, str]:
        """The domain of a batch of records; or, if none can be read, the reason for the first."""
        source: CaseSource = self.plugins.get("case source", batch.reader)
        if source.domain_of is None:
            served = {t.domain for t in types if source.serves([t])}
            return (served.pop() if len(served) == 1 else ""), ""
        reason = ""
        for _, item in batch.items:
            try:
                with guarded(f"reader {source.name!r} at line {item.line} of {batch.source}"):
                    return source.domain_of(source.body_of(item), self.options), ""
            except BadValue as error:
                reason = reason or f"{batch.source} line {item.line}: {error}"
        return "", reason

    def setup(self, known_only: bool) -> WorkerSetup:
        selecting = {o.name for t in self.case_types for o in t.options if not o.judges}
        given = tuple((n, v) for n, v in sorted(self.options.items()) if n in selecting)
        types = tuple(case_type.to_json() for case_type in self.case_types)
        files = tuple(map(str, self.plugins.files))
        return WorkerSetup(files, types, given, known_only, judging(self.case_types, self.options))

    def batches(self) -> Batches:
        """The content of all files, in batches."""
        self.unreadable.clear()
        self._verify_names()
        seen: dict[str, str] = {}
        taken, before = 0, 0.0
        for place in places(self.files, self.max_unpacked):
            if place.problems:
                lost = [(at, Skipped(0, reason)) for at, reason in enumerate(place.problems)]
                yield RecordBatch(place.plain, "archive", skipped=lost)
                continue
            if place.archive and is_archive(place.path):
                lost = [(0, Skipped(0, "an archive in an archive; unpack it first"))]
                yield RecordBatch(place.named(place.plain), "archive", skipped=lost)
                continue
            problem = _not_readable(place.path)
            if problem:
                yield RecordBatch(place.plain, "file", skipped=[(0, Skipped(0, problem))])
                continue
            source = self._source(place)
            if source is None:
                self.unreadable.append(place.named(place.inside) or str(place.path))
                continue
            name = self._name(place, source)
            self._note(seen, place, name)
            self.used.add(source.name)
            self.sources.add(name)
            size = place.path.stat().st_size or 1
            left = None if self.limit is None else self.limit - taken
            for batch in self._cut(place, source, name, left):
                batch.bytes_read = before + place.share * min(1.0, batch.bytes_read / size)
                taken += len(batch.items)
                yield batch
            before += place.share
            if self.limit is not None and taken >= self.limit:
                return

    def _verify_names(self) -> None:
        """Raise now if two files have one name, as far as that is visible, not after long work."""
        names = Counter(map(plain_name, self.files))
        seen: dict[str, str] = {}
        for path in self.files:
            if names[plain_name(path)] > 1 and not is_archive(path):
                place = Place(path, 0)
                source = self._source(place)
                if source is not None:
                    self._note(seen, place, self._name(place, source))

    def _note(self, seen: dict[str, str], place: Place, name: str) -> None:
        shown = place.named(place.inside) if place.archive else str(place.path)
        if name in seen:
            raise BadValue(
                f"{seen[name]} and {shown} have one name, which identifies a source; rename one"
            )
        seen[name] = shown

    def idle_options(self) -> Iterator[str]:
        """A sentence for each option whose reader read nothing."""
        domain = {option.name for t in self.case_types for option in t.options}
        for name in self.options.keys() - domain:
            readers = [
                source.name
                for source in self.plugins.named("case source").values()
                if name in {option.name for option in source.options}
            ]
            if readers and not self.used.intersection(readers):
                flag = "--" + name.replace("_", "-")
                yield f"{flag} is for the reader {' and '.join(readers)}, which read no file here"

    def _cut(
        self, place: Place, source: CaseSource, name: str, left: int | None
    ) -> Iterator[RecordBatch]:
        batch = RecordBatch(name, source.name)
        for ordinal, item in enumerate(_read(source, place.path, self._for(source))):
            if isinstance(item, Skipped):
                batch.skipped.append((ordinal, item))
            else:
                batch.items.append((ordinal, item))
                left = None if left is None else left - 1
            batch.bytes_read = item.offset
            if batch.read >= self.batch or left == 0:
                yield batch
                batch = RecordBatch(name, source.name)
            if left == 0:
                return
        if batch.read:
            batch.bytes_read = place.path.stat().st_size
            yield batch

    def _name(self, place: Place, source: CaseSource) -> str:
        if source.identity is None:
            return place.named(place.plain)
        with guarded(f"reader {source.name!r} at the name of {place.path}"):
            return place.named(source.identity(place.path))

    def _for(self, source: CaseSource) -> dict[str, Any]:
        """The options of this source."""
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


def _not_readable(path: Path) -> str:
    try:
        with path.open("rb"):
            return ""
    except OSError as error:
        return f"the file cannot be read: {error.strerror}"


def no_reader(path: str) -> BadValue:
    if Path(path).suffix.lower() in {".csv", ".tsv", ".tab"}:
        return BadValue(f"{path} is no text, though its name says so: it has bytes that are 0")
    return BadValue(f"no reader for {path}; `cbr plugins` lists the case sources")


def _again(seen: list[RecordBatch], batches: Batches) -> Batches:
    """The batches already seen, then the rest."""
    yield from seen
    yield from batches


def _read(
    source: CaseSource, path: Path, options: Mapping[str, Any]
) -> Iterator[Record | Skipped | Raw]:
    """The items of a source; exceptions of the reader are guarded, not those of the consumer."""
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
            raise PluginFailure(f"reader {source.name!r} gave {item!r}, which is not a record")
        yield item
