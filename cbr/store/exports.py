"""Export of a casebase: tables of cases, or the records that they came from.

Every file is written atomically: it appears under its name only when it is complete.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from cbr.errors import BadValue, NeedsPackage, NoSuchName
from cbr.files.atomic import whole_file
from cbr.plugging.guard import guarded
from cbr.plugging.plugins import Plugins, default_plugins
from cbr.store import schema
from cbr.store.casebase import Casebase
from cbr.store.records import CaseSource
from cbr.store.schema import quoted

_ROWS = 50_000
Rows = Iterator[Sequence[tuple[Any, ...]]]


def export(
    path: str | Path, to: str, out: str | Path | None = None, *, plugins: Plugins | None = None
) -> dict[str, int]:
    """Write a casebase in the format `to`: csv or parquet (a folder with a file for each stage, and
    one for the hidden decisions), or a case source that can write records (one file).

    Returns the files by name, with the number of rows or records in each.
    """
    plugins = plugins or default_plugins()
    writers = {s.name: s for s in plugins.named("case source").values() if s.write is not None}
    if to not in _TABLES and to not in writers:
        raise NoSuchName("format to export to", to, [*_TABLES, *writers])
    with Casebase.open(path) as base, base.reading():
        if to in _TABLES:
            folder = Path(out) if out else base.path.with_name(f"{base.path.stem}-{to}")
            return _tables(base, to, folder)
        suffix = writers[to].suffix or f".{to}"
        file = Path(out) if out else base.path.with_suffix(suffix)
        if out is None and file.exists():
            # The existing file may be the log that the casebase was built from.
            raise BadValue(f"{file} exists already; name another file with --out")
        return {str(file): _records(base, writers[to], file)}


def _records(base: Casebase, source: CaseSource, file: Path) -> int:
    assert source.write is not None
    query = f"SELECT body FROM {base.records_table} ORDER BY id"
    bodies = (row[0] for row in base.db.execute(query))
    first = next(bodies, None)
    if first is None:
        raise BadValue(f"{base.path} keeps no {base.records} to export")
    with guarded(f"writer {source.name!r}"):
        return source.write(chain([first], bodies), file)


def _tables(base: Casebase, to: str, folder: Path) -> dict[str, int]:
    if folder.exists() and not folder.is_dir():
        raise BadValue(f"{folder} is a file; --out names a folder for {to}")
    folder.mkdir(parents=True, exist_ok=True)
    tables = {stage: schema.case_table(stage) for stage in base.stages}
    if base.has_hidden:
        tables[schema.HIDDEN] = schema.HIDDEN
    found = {}
    for name, table in tables.items():
        file = folder / f"{name}.{to}"
        columns = {c.name: c.type for c in base.db.table(table).columns}
        with whole_file(file) as part:
            _TABLES[to](part, columns, _rows(base, table))
        found[str(file)] = int(
            base.db.execute(f"SELECT COUNT(*) FROM {quoted(table)}").fetchone()[0]
        )
    return found


def _rows(base: Casebase, table: str) -> Rows:
    cursor = base.db.execute(f"SELECT * FROM {quoted(table)} ORDER BY id")
    while rows := cursor.fetchmany(_ROWS):
        yield rows


def _write_csv(path: Path, columns: dict[str, str], rows: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for some in rows:
            writer.writerows(some)


def _write_parquet(path: Path, columns: dict[str, str], rows: Rows) -> None:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise NeedsPackage("Parquet", "pyarrow") from None
    kinds = {"INTEGER": arrow.int64(), "TEXT": arrow.string()}
    fields = [(name, kinds.get(kind, arrow.float64())) for name, kind in columns.items()]
    layout = arrow.schema(fields)
    with parquet.ParquetWriter(path, layout) as writer:
        for some in rows:
            arrays = [
                arrow.array(column, kind)
                for column, (_, kind) in zip(zip(*some, strict=True), fields, strict=True)
            ]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=layout))


_TABLES: dict[str, Callable[[Path, dict[str, str], Rows], None]] = {
    "csv": _write_csv,
    "parquet": _write_parquet,
}
