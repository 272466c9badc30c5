"""The rows of a table file as JSON objects of their columns: CSV, TSV, JSON, Parquet, Excel."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from cbr.errors import BadJson, BadValue, NeedsPackage
from cbr.files.compression import BROKEN, lines_of, open_bytes, plain_name
from cbr.files.json_text import read_json
from cbr.store.records import Record, Skipped
from cbr.tables.cells import plain, with_point
from cbr.tables.dialect import dialect_of


class Row(NamedTuple):
    """A row: its cells by column, where it starts, and the bytes of the file read so far."""

    cells: dict[str, Any]
    line: int
    offset: int = 0


Rows = Iterator[Row | Skipped]


#: The encoding of a table that is UTF-8 but for some bytes, which are read as Windows-1252.
MIXED = "mixed"


@dataclass(frozen=True)
class TableOptions:
    """How a table is read, as far as the user says it; the rest is detected.

    A row with bytes that are not of the encoding is skipped, except with the encoding `MIXED`. `na`
    are words for a missing value, separated by commas, besides the usual ones (`cells.MISSING`).
    """

    delimiter: str = ""
    encoding: str = ""
    decimal: str = ""
    na: str = ""


def is_text(path: Path) -> bool:
    """Whether a table is plain text, by its name."""
    return Path(plain_name(path)).suffix.lower() not in _READERS


def is_table(path: Path, head: bytes) -> bool:
    """Whether a file is a table, by its name."""
    suffix = Path(plain_name(path)).suffix.lower()
    if suffix == ".json":
        return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
    return suffix in _READERS or (suffix in _TEXTS and (b"\0" not in head or head[:2] in _UTF16))


def read_rows(path: Path, options: TableOptions | None = None) -> Rows:
    """The rows of a table file, and what could not be read of it."""
    options = options or TableOptions()
    rows = _READERS.get(Path(plain_name(path)).suffix.lower(), _text)(path, options)
    words = {word.strip().lower() for word in options.na.split(",")} - {""}
    return _without(rows, words) if words else rows


def _without(rows: Rows, words: set[str]) -> Rows:
    """The rows with nothing in the cells that are one of some words."""
    for row in rows:
        if isinstance(row, Row):
            for name, cell in row.cells.items():
                if str(cell).strip().lower() in words:
                    row.cells[name] = ""
        yield row


def read_records(path: Path, options: TableOptions | None = None) -> Iterator[Record | Skipped]:
    """The rows of a table file as records, whose bodies are JSON objects."""
    for item in read_rows(path, options):
        yield item if isinstance(item, Skipped) else _record(item)


def _record(row: Row) -> Record | Skipped:
    body = json.dumps(row.cells, ensure_ascii=False)
    try:
        body.encode("utf-8")
    except UnicodeEncodeError:
        return Skipped(row.line, "bytes that are not UTF-8", row.offset)
    return Record(body, row.line, row.offset)


def _text(path: Path, options: TableOptions) -> Rows:
    mixed = options.encoding == MIXED
    encoding = "" if mixed else options.encoding
    dialect = dialect_of(path, options.delimiter, encoding, options.decimal)
    with open_bytes(path) as (raw, position):
        # An invalid byte becomes a character that no valid row contains, so that only its row is
        # skipped or mended, not the file.
        strange = "surrogateescape" if "utf-8" in dialect.encoding else "replace"
        text = io.TextIOWrapper(raw, dialect.encoding, errors=strange, newline="")
        rows = csv.reader(text, delimiter=dialect.delimiter, strict=True)
        header: list[str] = []
        while True:
            line = rows.line_num + 1
            try:
                cells = next(rows, None)
            except csv.Error as error:
                yield Skipped(line, _why(error), position())
                continue
            except BROKEN as error:
                yield Skipped(line, f"the file breaks off: {error}", position())
                return
            if cells is None:
                return
            if mixed:
                cells = [_mended(cell) for cell in cells]
            if not header:
                if not any(cells):
                    continue
                header = _header(cells)
                for name in sorted({name for name in header if header.count(name) > 1}):
                    yield Skipped(line, f"column {name!r} appears twice; rename one", position())
                    return
                continue
            if not any(cells):
                continue
            if len(cells) != len(header):
                reason = f"{len(cells)} cells under {len(header)} column names"
                yield Skipped(line, reason, position())
                continue
            cells = [cell.strip() for cell in cells]
            if dialect.decimal == ",":
                cells = list(map(with_point, cells))
            yield Row(dict(zip(header, cells, strict=True)), line, position())


def _why(error: csv.Error) -> str:
    if "unexpected end" in str(error):
        return "the quotation mark that begins here is never closed, so the rest is no row"
    return f"not a row of a table: {error}"


#: How a column without a name is called, before its place.
UNNAMED = "unnamed column "


def _header(cells: Iterable[str]) -> list[str]:
    """Names of columns; one without a name is called by its place."""
    return [cell.strip() or f"{UNNAMED}{place}" for place, cell in enumerate(cells, 1)]


def _mended(cell: str) -> str:
    """A cell with bytes that are not UTF-8, read as Windows-1252."""
    if cell.isascii():
        return cell
    try:
        cell.encode("utf-8")
    except UnicodeEncodeError:
        return cell.encode("utf-8", "surrogateescape").decode("cp1252", "replace")
    return cell


def _json_lines(path: Path, options: TableOptions) -> Rows:
    with open_bytes(path) as (raw, position):
        try:
            for line, data in lines_of(raw, 1 << 24):
                if data is None:
                    yield Skipped(line, "the line is too long", position())
                elif data.strip():
                    yield _object(data.decode("utf-8-sig", "surrogateescape"), line, position())
        except BROKEN as error:
            yield Skipped(0, f"the file breaks off: {error}", position())


def _object(text: str, line: int, offset: int) -> Row | Skipped:
    try:
        row = read_json(text, unique=True)
    except BadJson as error:
        return Skipped(line, f"not JSON: {error}", offset)
    if not isinstance(row, dict):
        return Skipped(line, "not a JSON object", offset)
    return Row({name: flat(value) for name, value in row.items()}, line, offset)


def _json_list(path: Path, options: TableOptions) -> Rows:
    """A list of objects as one JSON document."""
    try:
        with open_bytes(path) as (raw, _):
            rows = read_json(raw.read().decode("utf-8-sig", "surrogateescape"), unique=True)
    except BadJson as error:
        yield Skipped(0, f"not JSON: {error}")
        return
    except BROKEN as error:
        yield Skipped(0, f"the file breaks off: {error}")
        return
    for number, row in enumerate(rows, 1):
        if isinstance(row, dict):
            yield Row({name: flat(value) for name, value in row.items()}, number)
        else:
            yield Skipped(number, "not a JSON object")


def flat(value: Any) -> Any:
    """A value of JSON as a cell; lists and objects as their text."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return plain(value)


def _parquet(path: Path, options: TableOptions) -> Rows:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise NeedsPackage("Parquet", "pyarrow") from None
    number = 0
    try:
        with open_bytes(path) as (raw, _):
            file = parquet.ParquetFile(pyarrow.BufferReader(raw.read()))
            for batch in file.iter_batches(batch_size=10_000):
                for row in batch.to_pylist():
                    number += 1
                    yield Row({name: flat(cell) for name, cell in row.items()}, number)
    except (pyarrow.ArrowException, *BROKEN) as error:
        yield Skipped(number + 1, f"not a Parquet file: {' '.join(str(error).split())[:200]}")


def _excel(path: Path, options: TableOptions) -> Rows:
    try:
        import openpyxl
    except ImportError:
        raise NeedsPackage("Excel", "openpyxl") from None
    import zipfile

    broken: tuple[type[Exception], ...] = (zipfile.BadZipFile, KeyError, ValueError, *BROKEN)
    try:
        with open_bytes(path) as (raw, _):
            sheet = openpyxl.load_workbook(
                io.BytesIO(raw.read()), read_only=True, data_only=True
            ).worksheets[0]
            header: list[str] = []
            for line, cells in enumerate(sheet.iter_rows(values_only=True), 1):
                if not any(cell is not None for cell in cells):
                    continue
                if not header:
                    header = _header(str(plain(cell)) for cell in cells)
                    for name in sorted({name for name in header if header.count(name) > 1}):
                        yield Skipped(line, f"column {name!r} appears twice; rename one")
                        return
                    continue
                row = [*cells, *[None] * (len(header) - len(cells))][: len(header)]
                yield Row(dict(zip(header, map(plain, row), strict=True)), line)
    except broken as error:
        yield Skipped(0, f"not an Excel file: {' '.join(str(error).split())[:200]}")


_UTF16 = {b"\xff\xfe", b"\xfe\xff"}
_TEXTS = {".csv", ".tsv", ".tab"}
_READERS: dict[str, Callable[[Path, TableOptions], Rows]] = {
    ".json": _json_list,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
    ".pq": _parquet,
    ".xlsx": _excel,
}


def record_of(row: Row) -> Record:
    """A row as a record; raises `BadValue` if it has a text that is not Unicode."""
    made = _record(row)
    if isinstance(made, Skipped):
        raise BadValue(f"row {row.line} has a text that is not Unicode")
    return made
