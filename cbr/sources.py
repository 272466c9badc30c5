"""Case sources: what reads a file into records, and the plain table of rows as the first of them.

A source turns a file into a stream of `Record` (something whole: a row, a game) and `Skipped`
(something that could not be read, with the reason). One that is meant for long files cuts them into
`Raw` pieces, which its `parse` turns into bodies in worker processes. The case type then turns the
bodies of records into situations. The casebase keeps the bodies, so features can be computed anew
without the file.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import math
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple, cast

from cbr.case import Batch, BuildOption, CaseType, Feature, Situated
from cbr.errors import BadValue, PluginFailure
from cbr.guard import frozen, one_line


class _Zstd(io.RawIOBase):
    """Decompressed bytes, frame after frame; a frame that breaks off is an error, not an end."""

    def __init__(self, raw: IO[bytes]) -> None:
        import zstandard

        self._new = zstandard.ZstdDecompressor
        self._error = zstandard.ZstdError
        self._raw = raw
        self._frame: Any = None
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            given = self._raw.read(1 << 11)  # little may become very much
            if not given:
                if self._frame is not None:
                    raise EOFError("the compressed data ends before its end mark")
                return 0
            self._ready = self._decompressed(given)
        taken = self._ready[: len(buffer)]
        buffer[: len(taken)] = taken
        self._ready = self._ready[len(taken) :]
        return len(taken)

    def _decompressed(self, given: bytes) -> bytes:
        parts = []
        while given:
            self._frame = self._frame or self._new().decompressobj()
            try:
                parts.append(self._frame.decompress(given))
            except self._error as error:
                raise OSError(str(error)) from None
            given = self._frame.unused_data if self._frame.eof else b""
            self._frame = None if self._frame.eof else self._frame
        return b"".join(parts)


def _open_zstd(raw: IO[bytes]) -> Any:
    return io.BufferedReader(_Zstd(raw))


#: What reading a damaged compressed file may raise.
BROKEN: tuple[type[Exception], ...] = (OSError, EOFError, lzma.LZMAError, zlib.error)
#: How compressed files begin.
_OPENERS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": _open_zstd,
}
#: Endings of compressed files, and what is left of them.
_SUFFIXES = {".tgz": ".tar", ".txz": ".tar", ".tbz2": ".tar", ".tzst": ".tar"}
_SUFFIXES |= dict.fromkeys((".gz", ".bz2", ".xz", ".zst"), "")


@dataclass(frozen=True)
class Record:
    """One thing a source holds, in the domain's neutral form; `line` is where it starts.

    `offset` says how many bytes of the file have been read by then, for the progress bar.
    """

    body: str
    line: int
    offset: int = 0


@dataclass(frozen=True)
class Raw:
    """A record that is cut out of its file but not yet read: `CaseSource.parse` does that."""

    data: Any
    line: int
    offset: int = 0


@dataclass(frozen=True)
class Skipped:
    """A place in a source that gave no record, and why in one sentence."""

    line: int
    reason: str
    offset: int = 0


class Numbered(NamedTuple):
    """A record's body with its place in the source, and the digest by which it is known again."""

    ordinal: int
    line: int
    digest: bytes
    body: str


@dataclass(frozen=True)
class CaseSource:
    """A reader of files for some domains (none named: for every domain whose records are rows).

    `can_read(path, head)` decides by the file's name and first bytes (decompressed); it is also
    true of a file that only goes with another (a list of names, say) and gives nothing itself.
    `read(path, **options)` streams what the file holds, in a fixed order. Where that is `Raw`,
    `parse(data)` gives the body of its record, or raises `BadValue` with the reason to skip it.
    `domain_of(body, options)` says which of the domains a record is for; `identity(path)` what a
    file is called in a casebase, if that is not its name. `write(bodies, path)` puts records into
    a file, by default with this `suffix`, and returns how many.
    """

    name: str
    can_read: Callable[[Path, bytes], bool]
    read: Callable[..., Iterator[Record | Skipped | Raw]]
    domains: tuple[str, ...] = ()
    options: tuple[BuildOption, ...] = ()
    meaning: str = ""
    parse: Callable[[Any], str] | None = None
    domain_of: Callable[[str, Mapping[str, Any]], str] | None = None
    identity: Callable[[Path], str] | None = None
    write: Callable[[Iterator[str], Path], int] | None = None
    suffix: str = ""

    kind: ClassVar[str] = "case source"

    def __post_init__(self) -> None:
        for option in self.options:
            if not isinstance(option, BuildOption) or not option.name.isidentifier():
                raise BadValue(f"options of case source {self.name!r} must be named BuildOptions")

    def body_of(self, item: Record | Raw) -> str:
        """The body of a record, parsed where it is raw."""
        if isinstance(item, Record):
            return item.body
        if self.parse is None:
            raise PluginFailure(f"reader {self.name!r} gives raw records and cannot parse them")
        return self.parse(item.data)

    def serves(self, case_types: Sequence[CaseType]) -> bool:
        if not case_types:  # what is to be built is not known yet
            return True
        if self.domains:
            return case_types[0].domain in self.domains
        return case_types[0].situate is None


def plain_name(path: Path) -> str:
    """A file's name without folder and compression suffix: its identity in a casebase.

    >>> plain_name(Path("logs/cars.csv.gz")), plain_name(Path("holdem.199911.tgz"))
    ('cars.csv', 'holdem.199911.tar')
    """
    # A name that is not UTF-8 would find no place in a casebase.
    name = os.fsencode(path.name).decode("utf-8", "backslashreplace")
    suffix = path.suffix
    return name.removesuffix(suffix) + _SUFFIXES[suffix] if suffix in _SUFFIXES else name


@contextmanager
def open_bytes(path: Path) -> Iterator[tuple[IO[bytes], Callable[[], int]]]:
    """The file's bytes, decompressed where they are compressed, and how many were read so far."""
    with path.open("rb") as raw:
        head = raw.read(6)
        raw.seek(0)
        opener = next((o for magic, o in _OPENERS.items() if head.startswith(magic)), None)
        if opener is None:
            yield raw, raw.tell
        else:
            with opener(raw) as stream:
                yield cast(IO[bytes], stream), raw.tell


def lines_of(stream: IO[bytes], longest: int = 1 << 20) -> Iterator[tuple[int, bytes | None]]:
    """The lines of a stream by number from 1, without their ends; None for one that is too long.

    Such a line is passed over in pieces, so it costs no memory.
    """
    number = 0
    while line := stream.readline(longest):
        number += 1
        whole = line.endswith(b"\n") or len(line) < longest
        while not line.endswith(b"\n") and len(line) == longest:
            line = stream.readline(longest)
        yield number, line.rstrip(b"\r\n") if whole else None


def head_of(path: Path, size: int = 4096) -> bytes:
    """The first bytes, decompressed; empty where they cannot be had."""
    try:
        with open_bytes(path) as (file, _):
            return file.read(size)
    except BROKEN:
        return b""


# --- rows -------------------------------------------------------------------------------------


def _is_table(path: Path, head: bytes) -> bool:
    return Path(plain_name(path)).suffix in {".csv", ".tsv"} and b"\0" not in head


def _read_rows(path: Path, delimiter: str = "") -> Iterator[Record | Skipped]:
    """Each row as a JSON object of its columns."""
    if len(delimiter) > 1:
        raise BadValue(f"--delimiter {delimiter!r} must be one character")
    separator = delimiter or ("\t" if plain_name(path).endswith(".tsv") else ",")
    with open_bytes(path) as (raw, position):
        # A bad byte becomes a mark that no JSON body of a good row holds, so that one row is
        # skipped and not the file.
        text = io.TextIOWrapper(raw, "utf-8-sig", errors="surrogateescape", newline="")
        rows = csv.reader(text, delimiter=separator, strict=True)
        header: list[str] = []
        while True:
            line = rows.line_num + 1
            try:
                cells = next(rows, None)
            except csv.Error as error:
                yield Skipped(line, f"not a row of a table: {error}", position())
                continue
            except BROKEN as error:
                yield Skipped(line, f"the file breaks off: {error}", position())
                return
            if cells is None:
                return
            if not header:
                header = [cell.strip() for cell in cells]
                for name in sorted({name for name in header if header.count(name) > 1}):
                    yield Skipped(line, f"column {name!r} stands twice", position())
                    return
                continue
            if not any(cells):
                continue
            yield _row(header, cells, line, position())


def _row(header: list[str], cells: list[str], line: int, offset: int) -> Record | Skipped:
    if len(cells) != len(header):
        return Skipped(line, f"{len(cells)} cells under {len(header)} column names", offset)
    body = json.dumps(
        dict(zip(header, (cell.strip() for cell in cells), strict=True)), ensure_ascii=False
    )
    try:
        body.encode("utf-8")
    except UnicodeEncodeError:
        return Skipped(line, "bytes that are not UTF-8", offset)
    return Record(body, line, offset)


TABLE = CaseSource(
    name="table",
    meaning="CSV or TSV: one row a case, columns named as the features, `solution`, `outcome`",
    can_read=_is_table,
    read=_read_rows,
    options=(BuildOption("delimiter", "Character between the cells of a table.", ""),),
)


def situate_rows(bodies: Sequence[str], case_types: Sequence[CaseType]) -> Situated:
    """Rows (JSON objects) as situations: their columns, numbers where a feature is a number.

    A column ``stage`` says which stage a row belongs to where the domain has several.
    """
    import numpy as np

    by_stage = {case_type.stage: case_type for case_type in case_types}
    rows: dict[str, list[tuple[int, dict[str, Any]]]] = {stage: [] for stage in by_stage}
    rejected: dict[int, str] = {}
    for place, body in enumerate(bodies):
        try:
            row = _object(body)
            stage = next(iter(by_stage)) if len(by_stage) == 1 else str(row.get("stage", ""))
            if stage not in by_stage:
                raise BadValue(f"stage is {stage!r}; it must be one of {', '.join(by_stage)}")
            rows[stage].append((place, _checked(row, by_stage[stage])))
        except BadValue as error:
            rejected[place] = str(error)
    batches = {}
    for stage, kept in rows.items():
        if not kept:
            continue
        features = {f.name: f for f in by_stage[stage].features if not f.computed}
        names = list(dict.fromkeys(name for _, row in kept for name in row))
        columns = {name: [row.get(name, "") for _, row in kept] for name in names}
        batches[stage] = Batch(
            situations={
                name: frozen(_cells(column, features.get(name))) for name, column in columns.items()
            },
            solution=[row["solution"] for _, row in kept],
            outcome=np.array([row["outcome"] for _, row in kept], np.float64),
            record=np.array([place for place, _ in kept]),
            step=np.zeros(len(kept), np.int64),
        )
    return Situated(batches, rejected)


def _object(body: str) -> dict[str, Any]:
    try:
        row = json.loads(body)
    except (ValueError, TypeError, RecursionError) as error:
        raise BadValue(f"the record is no row: {one_line(error)}") from None
    if not isinstance(row, dict):
        raise BadValue("the record is no row of columns")
    return row


def _checked(row: Mapping[str, str], case_type: CaseType) -> dict[str, Any]:
    """The row with its features read; other columns as they are."""
    known = {feature.name: feature for feature in case_type.features}
    read: dict[str, Any] = {}
    for name, text in row.items():
        feature = known.get(name)
        # A computed feature is not read from the column it may share its name with.
        read[name] = feature.read(text) if feature and not feature.computed else text
    for feature in case_type.features:
        if not feature.computed and feature.name not in row:
            raise BadValue(f"column {feature.name!r} is missing")
    if "solution" not in row:
        raise BadValue("column 'solution' is missing")
    solution = str(row["solution"])
    if solution not in case_type.solutions:
        raise BadValue(
            f"solution is {solution!r}; it must be one of {', '.join(case_type.solutions)}"
        )
    return read | {"solution": solution, "outcome": _outcome(row.get("outcome", ""))}


def _outcome(text: Any) -> float:
    """The outcome, NaN where the cell is empty."""
    if text is None or text == "":
        return math.nan
    try:
        amount = float(text)
    except (TypeError, ValueError, OverflowError):
        raise BadValue(f"outcome is {text!r}, not a number") from None
    if not abs(amount) <= 1e100:
        raise BadValue(f"outcome is {text!r}; it must be a finite number up to 1e100, or empty")
    return amount


def _cells(cells: list[Any], feature: Feature | None) -> Any:
    """A column: numbers for a number feature, and where all cells of a column that is no feature
    are numbers or empty (NaN); else texts, as objects, not as wide as the longest of them."""
    import numpy as np

    if feature is not None:
        return np.array(cells, np.float64 if feature.is_number else object)
    try:
        return np.array([float(cell) if cell not in {"", None} else math.nan for cell in cells])
    except (TypeError, ValueError, OverflowError):
        return np.array([str(cell) for cell in cells], object)
