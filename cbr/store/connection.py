"""The SQLite file of a casebase: how it is created, recognised and opened."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database

from cbr.case import CaseType
from cbr.errors import AlreadyThere, BadValue, NotACasebase
from cbr.plugging.guard import one_line
from cbr.store import schema

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


def verify_structure(db: Database, case_types: Sequence[CaseType]) -> None:
    """Raise `ValueError` if a table of a casebase is missing, or a counter is not a number."""
    if not case_types:
        raise ValueError("it has no stages")
    wanted = {"meta", "sources", "skipped", case_types[0].record + "s"}
    wanted |= {schema.case_table(case_type.stage) for case_type in case_types}
    wanted |= {schema.HIDDEN} if schema.has_hidden(case_types) else set()
    for table in sorted(wanted - set(db.table_names())):
        raise ValueError(f"it has no table {table!r}")
    counted = [row["cases"] for row in db.table("stages").rows]
    meta = dict(db.execute("SELECT key, value FROM meta").fetchall())
    counted += [int(meta["write_version"])]
    if not all(isinstance(count, int) and count >= 0 for count in counted):
        raise ValueError(f"it has the counters {counted}")


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


def open_database(path: Path, write: bool) -> Database:
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return connect(path)
    if write:
        raise BadValue(f"{path} cannot be written; check its permissions")
    uri = f"{path.resolve().as_uri()}?mode=ro"
    log = Path(f"{path}-wal")
    if not log.exists():
        # SQLite cannot create its shared-memory files here. Without a log there is no writer, so
        # the file can be opened as immutable.
        uri += "&immutable=1"
    return Database(sqlite3.connect(uri, uri=True, timeout=PATIENCE), execute_plugins=False)


def connect(path: Path) -> Database:
    db = Database(sqlite3.connect(path, timeout=PATIENCE), execute_plugins=False)
    db.execute("PRAGMA synchronous = NORMAL")  # safe against a kill in WAL mode, and much faster
    return db


@contextmanager
def new_database(path: Path) -> Iterator[Database]:
    """A new SQLite file, created atomically: renamed to `path` when it is complete."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        db = connect(part)
        db.enable_wal()
        yield db
        db.close()
        _appear(part, path)
    finally:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{part}{suffix}").unlink(missing_ok=True)


def _appear(part: Path, path: Path) -> None:
    """Rename a finished file, without replacing an existing one."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise AlreadyThere(f"{path} exists already; another process made it") from None
    except OSError:  # a file system without hard links
        part.rename(path)
