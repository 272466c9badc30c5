"""The SQLite file of a casebase: how it is created, recognised and opened."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database

from cbr.case import CaseType
from cbr.errors import AlreadyThere, BadValue, CasebaseMoved, NoRoom, NotACasebase
from cbr.files.atomic import SQLITE_LOGS, part_of
from cbr.plugging.guard import one_line
from cbr.store import schema
from cbr.store.schema import quoted

#: Tables with their columns, and the kinds of values in each, as SQLite's `typeof` names them.
Layout = Mapping[str, Mapping[str, str]]

#: The most stages of a casebase.
_MOST_STAGES = 100
#: Tables that have a name of their own, which no table of records may have.
_TAKEN = ("stages", "sources", schema.VALUES)
#: The most bytes of one value in a file; a longer one is not read.
_LONGEST_VALUE = 1 << 26
#: Seconds to wait for another process that is writing.
PATIENCE = 60.0


def hindrance(error: Exception) -> str:
    """What keeps SQLite from using a file that may be sound, and the remedy; empty if the file is
    at fault."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return (
            "is locked: another process is writing to it, or its file system has no locks; let "
            "that process end, or copy the file to a local disk"
        )
    if name.startswith(("SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_PROTOCOL", "SQLITE_NOLFS")):
        return (
            f"cannot be used ({one_line(error)}): the disk fails, or its file system has no locks "
            "or shared memory; copy the file to a local disk"
        )
    return ""


def damaged(path: Path, error: Exception) -> NotACasebase:
    if reason := hindrance(error):
        return NotACasebase(f"{path} {reason}")
    return NotACasebase(f"{path} is damaged: {one_line(error)}; restore it, or build it again")


def verify_tables_only(db: Database) -> None:
    """Raise `BadValue` if a SQLite file has anything but plain tables and indices of them.
    Triggers, views, virtual tables and generated columns would run what a stranger wrote."""
    for kind, name, sql in db.execute("SELECT type, name, sql FROM sqlite_master").fetchall():
        if kind not in {"table", "index"}:
            raise BadValue(f"it has the {kind} {name!r}, which no program of ours makes")
        if kind == "table" and not str(sql).lower().startswith("create table"):
            raise BadValue(f"table {name!r} is a virtual one, which no program of ours makes")
    query = (
        "SELECT m.name, x.name FROM sqlite_master m, pragma_table_xinfo(m.name) x WHERE x.hidden"
    )
    for table, column in db.execute(query).fetchall():
        raise BadValue(f"column {column!r} of table {table!r} is a generated one")


def verify_columns(db: Database, layout: Layout, optional: Collection[str] = ()) -> None:
    """Raise `BadValue` if a table or column of the layout is missing."""
    there = set(db.table_names())
    for table, columns in layout.items():
        if table not in there:
            if table in optional:
                continue
            raise BadValue(f"it has no table {table!r}")
        for column in sorted(set(columns) - set(db.table(table).columns_dict)):
            raise BadValue(f"its table {table!r} has no column {column!r}")


def other_kinds(db: Database, layout: Layout) -> Iterator[str]:
    """A sentence for each column with values of another kind than the layout has for it."""
    for table, columns in layout.items():
        for column, kind in columns.items():
            allowed = ", ".join(f"'{word}'" for word in kind.split())
            wrong = f"typeof({quoted(column)}) NOT IN ({allowed})"
            query = f"SELECT COUNT(*) FROM {quoted(table)} WHERE {wrong}"
            number = db.execute(query).fetchone()[0]
            if number:
                must = kind.replace(" ", " or ")
                yield f"{number} values of {column} in {table} are not {must}"


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the casebase if there is no space left for it."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "full" not in str(error):
            raise
        raise NoRoom(
            f"no space is left to write {path}; make room there and run the command again: what "
            f"was written before is complete"
        ) from None


def verify_structure(db: Database, case_types: Sequence[CaseType]) -> None:
    """Raise `BadValue` if a table or column of a casebase is missing, a counter is not a number,
    or one of its few names is not a text."""
    layout = schema.layout(case_types)
    verify_columns(db, layout, schema.OPTIONAL)
    for finding in other_kinds(
        db, {table: layout[table] for table in ("meta", "stages", "sources")}
    ):
        raise BadValue(finding)
    counted = [row["cases"] for row in db.table("stages").rows]
    meta = dict(db.execute("SELECT key, value FROM meta").fetchall())
    counted += [int(meta["write_version"])]
    if not all(isinstance(count, int) and count >= 0 for count in counted):
        raise BadValue(f"it has the counters {counted}")


def verify_stages(case_types: Sequence[CaseType]) -> None:
    """Raise if these case types cannot be stages of one casebase."""
    if not case_types:
        raise BadValue("a casebase needs at least one case type")
    for trait in ("domain", "record"):
        found = sorted({getattr(case_type, trait) for case_type in case_types})
        if len(found) > 1:
            raise BadValue(f"a casebase holds one {trait}, not {' and '.join(found)}")
    stages = [case_type.stage for case_type in case_types]
    if len(set(stages)) != len(stages):
        raise BadValue(f"two case types share a stage among {', '.join(stages)}")
    if len(stages) > _MOST_STAGES:
        raise BadValue(f"a casebase holds at most {_MOST_STAGES} stages, not {len(stages)}")
    taken = schema.HIDDEN, *(schema.case_table(stage) for stage in stages)
    if schema.HIDDEN in stages or case_types[0].record + "s" in {*taken, *_TAKEN}:
        raise BadValue(
            f"a stage called {schema.HIDDEN!r} or records called {case_types[0].record!r} would "
            "share a table with something else; choose another name"
        )
    if schema.has_hidden(case_types):
        shared = schema.public_features(case_types)
        for case_type in case_types:
            for feature in case_type.features:
                other = shared.get(feature.name, feature)
                if other.private != feature.private or other.is_number != feature.is_number:
                    raise BadValue(
                        f"feature {feature.name!r} is of another kind in another stage; stages "
                        f"with hidden decisions share their columns, so rename one"
                    )


def verify_is_casebase(path: Path) -> None:
    """Raise if the file is not marked as a casebase; reads its first 100 bytes only."""
    if path.is_dir():
        raise NotACasebase(f"{path} is a folder, not a casebase")
    if path.exists() and not path.is_file():
        raise NotACasebase(f"{path} is a device or a pipe, not a casebase")
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except FileNotFoundError:
        raise NotACasebase(f"no casebase {path}; `cbr build` makes one") from None
    except OSError as error:
        raise NotACasebase(f"cannot read {path}: {error.strerror}") from None
    if head[:16] != b"SQLite format 3\0":
        raise NotACasebase(f"{path} is not a casebase (no SQLite file); `cbr build` makes one")
    if int.from_bytes(head[68:72], "big") != schema.APPLICATION_ID:
        raise NotACasebase(f"{path} is a SQLite file of another program, not a casebase")


def verify_can_be_made(path: Path) -> None:
    """Raise if no new casebase can be written here."""
    if path.is_symlink():
        raise BadValue(f"{path} is a link that leads nowhere; remove it, or choose another name")
    for leftover in (Path(f"{path}-wal"), Path(f"{path}-journal")):
        if leftover.exists():
            raise BadValue(f"{leftover} is left from a deleted casebase; remove it first")
    if not path.parent.is_dir():
        raise BadValue(f"{path.parent} is no folder; create it, or choose another place")
    if not os.access(path.parent, os.W_OK):
        raise BadValue(f"{path.parent} cannot be written to; check its permissions")


class OpenedFiles:
    """The file of an open casebase and its log, by device and inode.

    Both may be deleted or replaced while a process writes to them; what it writes is then lost.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._files = {suffix: _identity(f"{self.path}{suffix}") for suffix in ("", *SQLITE_LOGS)}

    @property
    def in_place(self) -> bool:
        return _identity(str(self.path)) == self._files[""]

    def verify(self) -> None:
        if not self.in_place:
            what = "replaced" if self.path.exists() else "deleted"
            raise CasebaseMoved(
                f"{self.path} was {what} while it was being written, and what was written is "
                f"lost; run the command again when nothing else touches the file"
            )

    def remove_log(self) -> None:
        """Remove the log of a file that is gone, after closing: SQLite would apply it to another
        file of the same name. Logs that others made in the meantime stay."""
        if not self.in_place:
            for suffix in SQLITE_LOGS:
                log = f"{self.path}{suffix}"
                if self._files[suffix] and _identity(log) == self._files[suffix]:
                    Path(log).unlink(missing_ok=True)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def open_database(path: Path, write: bool) -> Database:
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        if write:
            part_of(path)  # removes what killed processes left beside it
        return connect(path)
    if write:
        raise BadValue(f"{path} cannot be written; check its permissions")
    uri = f"{path.resolve().as_uri()}?mode=ro"
    log = Path(f"{path}-wal")
    if not log.exists():
        # SQLite cannot create its shared-memory files here. Without a log there is no writer, so
        # the file can be opened as immutable.
        uri += "&immutable=1"
    return _guarded(sqlite3.connect(uri, uri=True, timeout=PATIENCE))


def connect(path: Path) -> Database:
    db = _guarded(sqlite3.connect(path, timeout=PATIENCE))
    db.execute("PRAGMA synchronous = NORMAL")  # safe against a kill in WAL mode, and much faster
    return db


def _guarded(connection: sqlite3.Connection) -> Database:
    """A connection that trusts nothing in its file, since that may be anybody's
    (https://www.sqlite.org/security.html)."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False)
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
        connection.execute(f"PRAGMA {pragma}")
    return Database(connection, execute_plugins=False)


def memory_database() -> Database:
    """A database in no file."""
    return _guarded(sqlite3.connect(":memory:"))


@contextmanager
def new_database(path: Path) -> Iterator[Database]:
    """A new SQLite file, created atomically: renamed to `path` when it is complete."""
    part = part_of(path)
    part.unlink(missing_ok=True)
    try:
        db = connect(part)
        db.enable_wal()
        yield db
        db.close()
        _appear(part, path)
    finally:
        for suffix in ("", *SQLITE_LOGS):
            Path(f"{part}{suffix}").unlink(missing_ok=True)


def _appear(part: Path, path: Path) -> None:
    """Rename a finished file, without replacing an existing one."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise AlreadyThere(f"{path} exists already; another process made it") from None
    except OSError:  # a file system without hard links
        part.rename(path)
