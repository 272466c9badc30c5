"""What the files of a folder hold, so that two folders can be compared."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from cbr.errors import CbrError
from cbr.evolve.runfile import RunFile
from cbr.upkeep.soundness import check

#: What may differ between two runs with the same result.
_VOLATILE = {"generations": ("seconds",), "_sqlite_migrations": ("applied_at",)}


class State(NamedTuple):
    """The contents of all files by name, and a sentence for each file that is not as it should."""

    files: dict[str, str]
    problems: list[str]


def state_of(folder: Path) -> State:
    """The contents of a folder; a SQLite file's are its rows, whatever pages they lie in."""
    files, problems = {}, []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(path.relative_to(folder))
        if path.suffix != ".db":
            if path.exists():  # opening a SQLite file may remove its log
                files[name] = _digest(path.read_bytes())
            continue
        problems += [f"{name} is not sound: {finding}" for finding in _findings(path)]
        files[name] = _rows(path) if not problems else ""
    return State(files, problems)


def _findings(path: Path) -> list[str]:
    try:
        if path.name.endswith(".run.db"):
            with RunFile.open(path) as run:
                list(run.generations())
            return []
        return check(path)
    except (CbrError, sqlite3.Error) as error:
        return [str(error)]


def _rows(path: Path) -> str:
    """A digest of all rows of a SQLite file, but for what counts writing and time."""
    found = []
    with closing(sqlite3.connect(path)) as db:
        query = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        for (table,) in db.execute(query).fetchall():
            columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
            columns = [name for name in columns if name not in _VOLATILE.get(table, ())]
            listed = ", ".join(f'"{name}"' for name in columns)
            rows = db.execute(f'SELECT {listed} FROM "{table}"').fetchall()
            rows = [row for row in rows if table != "meta" or row[0] != "write_version"]
            found.append(f"{table} {sorted(map(repr, rows))}")
    return _digest("\n".join(found).encode())


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=12).hexdigest()
