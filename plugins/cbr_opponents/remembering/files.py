"""What was seen of opponents, kept in a SQLite file between matches (`--remember FILE`).

settings    version, widths of what is counted, and how much is forgotten in a hand
opponents   a row for each player and game: hands, showdowns, and the counts of `profiles`
shown       how often a player made a move in a cell with cards that it showed

Several processes may add to a file at once: each adds what it saw alone, in one transaction, to
what is there at that moment. The file may be anybody's, so it is opened defensively, and all that
is read is checked.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from cbr.errors import AlreadyThere, BadValue, CbrError, one_line
from cbr.files import verify_place
from cbr.spec import Spec, settle
from cbr.store import (
    hindrance,
    new_database,
    open_database,
    other_kinds,
    verify_can_be_made,
    verify_columns,
    verify_tables_only,
    writing,
)
from cbr.typing import Floats
from cbr_holdem.table import RAISE
from cbr_opponents.abstraction import CLASSES, CONTEXTS, RAISE_SIZES
from cbr_opponents.profiles import SEEN
from cbr_opponents.remembering.memory import Opponent, OpponentMemory, verify_forget

#: Marks the file as a memory of opponents ("CBRo" in ASCII).
APPLICATION_ID = 0x4342526F
#: To be raised when a count gets another meaning and none of the widths changes.
VERSION = 3
_WIDTHS = {
    "version": VERSION,
    "counts": SEEN,
    "contexts": CONTEXTS,
    "classes": CLASSES,
    **{f"{game} moves": RAISE + len(sizes) for game, sizes in RAISE_SIZES.items()},
}
_LAYOUT = {
    "settings": {"name": "text", "value": "real"},
    "opponents": {"id": "integer", "name": "text", "game": "text", "hands": "integer"}
    | {"showdowns": "integer", "seen": "blob"},
    "shown": {"opponent": "integer", "cell": "integer", "count": "real"},
}
_TABLES = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value REAL NOT NULL);
CREATE TABLE opponents (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, game TEXT NOT NULL, hands INTEGER NOT NULL,
    showdowns INTEGER NOT NULL, seen BLOB NOT NULL, UNIQUE (name, game)
);
CREATE TABLE shown (
    opponent INTEGER NOT NULL, cell INTEGER NOT NULL, count REAL NOT NULL,
    PRIMARY KEY (opponent, cell)
);
"""
#: The highest count, and the most characters of a name.
_HIGHEST, _LONGEST = 1e12, 400
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def open_memory(text: str) -> MemoryFile:
    """The file that a spec names (`FILE` or `FILE?forget=0.99`), checked, and made if there is
    none. What a file forgets in a hand is decided when it is made."""
    spec = Spec.parse(text)
    given = settle(lambda forget=1.0: None, 0, spec)["forget"]
    verify_forget(given)
    path = Path(spec.name)
    if not path.exists():
        with suppress(AlreadyThere):  # another process was faster
            _create(path, float(given))
    made = MemoryFile(path)
    if "forget" in spec.parameters and made.forget != given:
        raise BadValue(
            f"{path} forgets by {made.forget:g} in a hand, not by {given:g}; leave out forget, or "
            "name another file"
        )
    return made


class MemoryFile:
    """A file of what was seen of opponents. It is open only while it is read or written."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        with self._opened() as db:
            self.forget = _forget(db)

    def recall(self, betting: str, names: Sequence[str] | None = None) -> OpponentMemory:
        """What was seen of some players, or of all, in a game."""
        memory = OpponentMemory(betting, self.forget)
        for name in names or ():
            if name:
                verify_name(name)
        with self._opened() as db:
            query = "SELECT name FROM opponents WHERE game = ? ORDER BY name"
            there = [name for (name,) in db.execute(query, [betting]).fetchall()]
            wanted = set(there if names is None else names)
            for name in there:
                if name in wanted:
                    found = _row(db, name, betting, memory)
                    assert found is not None
                    memory.opponents[name] = found[1]
        return memory

    def add(self, seen: OpponentMemory) -> None:
        """Add what was seen in further hands, all of it or nothing."""
        if seen.forget != self.forget:
            raise BadValue(f"{self.path} forgets by {self.forget:g} in a hand")
        acted = {name: one for name, one in seen.opponents.items() if one.hands}
        for name in acted:
            verify_name(name)
        with writing(self.path), self._opened(write=True) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                for name, one in acted.items():
                    _add(db, name, one, seen)
                db.execute("COMMIT")
            except BaseException:
                db.execute("ROLLBACK")
                raise

    @contextmanager
    def _opened(self, write: bool = False) -> Iterator[sqlite3.Connection]:
        """The connection to the file, whose structure is checked."""
        if not self.path.is_file():
            raise BadValue(f"no file of opponents {self.path}; `cbr match --remember` makes one")
        with _undamaged(self.path):
            db = open_database(self.path, write)
            try:
                db.conn.isolation_level = None
                mark = db.conn.execute("PRAGMA application_id").fetchone()[0]
                if mark != APPLICATION_ID:
                    raise _Foreign("is no file of opponents of `--remember`")
                verify_tables_only(db)
                verify_columns(db, _LAYOUT)
                for finding in other_kinds(db, _LAYOUT):
                    raise BadValue(finding)
                _forget(db.conn)
                yield db.conn
            finally:
                db.close()


class _Foreign(CbrError):
    """The file is of another program or version."""


@contextmanager
def _undamaged(path: Path) -> Iterator[None]:
    """Convert what a damaged file raises to one sentence that names it."""
    try:
        yield
    except _Foreign as error:
        raise BadValue(f"{path} {error}") from None
    except (BadValue, ValueError, UnicodeError, sqlite3.DatabaseError) as error:
        if "full" in str(error) and isinstance(error, sqlite3.OperationalError):
            raise
        why = hindrance(error) or f"is damaged: {one_line(error)}; remove it, or name another"
        raise BadValue(f"{path} {why}") from None


def _create(path: Path, forget: float) -> None:
    verify_place(path)
    verify_can_be_made(path)
    with new_database(path) as db:
        db.conn.executescript(_TABLES)
        with db.conn:
            rows = {**_WIDTHS, "forget": forget}
            db.conn.executemany("INSERT INTO settings VALUES (?, ?)", rows.items())
        db.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _forget(db: sqlite3.Connection) -> float:
    """How much a file forgets in a hand, if it is of this version."""
    settings = dict(db.execute("SELECT name, value FROM settings").fetchall())
    forget = settings.pop("forget", None)
    if settings != _WIDTHS:
        raise _Foreign("is of another version of this program; name another file")
    verify_forget(forget)
    return float(forget)


def _row(
    db: sqlite3.Connection, name: str, betting: str, memory: OpponentMemory
) -> tuple[int, Opponent] | None:
    """The number and the counts of a player, checked; None if it was not seen before."""
    query = "SELECT id, hands, showdowns, seen FROM opponents WHERE name = ? AND game = ?"
    rows = db.execute(query, [name, betting]).fetchall()
    if not rows:
        return None
    if len(rows) > 1:
        raise BadValue(f"it has {name!r:.60} twice")
    number, hands, showdowns, blob = rows[0]
    verify_name(name)
    shown = db.execute("SELECT cell, count FROM shown WHERE opponent = ?", [number]).fetchall()
    cells = dict(shown)
    most = int(np.prod(memory.cells))
    right = 0 < hands <= _HIGHEST and 0 <= showdowns <= hands and len(cells) == len(shown)
    right = right and all(0 <= cell < most for cell in cells)
    if not right or not all(0.0 <= count <= _HIGHEST for count in cells.values()):
        raise BadValue(f"the counts of {name!r:.60} are not possible")
    return number, Opponent(_read_counts(blob, name), hands, showdowns, cells)


def _read_counts(blob: bytes, name: str) -> Floats:
    if len(blob) != 8 * SEEN:
        raise BadValue(f"{name!r:.60} has {len(blob)} bytes of counts")
    seen = np.frombuffer(blob, "<f8").astype(np.float64)
    if not ((seen >= 0.0) & (seen <= _HIGHEST)).all():
        raise BadValue(f"the counts of {name!r:.60} are not possible")
    return seen


def _add(db: sqlite3.Connection, name: str, later: Opponent, memory: OpponentMemory) -> None:
    """Add what was seen of a player, inside a transaction."""
    found = _row(db, name, memory.betting, memory)
    number, before = found or (None, Opponent())
    now = before.then(later, memory.forget)
    values: list[Any] = [now.hands, now.showdowns, now.seen.astype("<f8").tobytes()]
    if number is None:
        query = "INSERT INTO opponents (hands, showdowns, seen, name, game) VALUES (?, ?, ?, ?, ?)"
        number = db.execute(query, [*values, name, memory.betting]).lastrowid
    else:
        query = "UPDATE opponents SET hands = ?, showdowns = ?, seen = ? WHERE id = ?"
        db.execute(query, [*values, number])
    changed = now.shown if memory.forget < 1.0 else later.shown
    db.executemany(
        "INSERT OR REPLACE INTO shown (opponent, cell, count) VALUES (?, ?, ?)",
        [(number, cell, now.shown[cell]) for cell in changed],
    )


def verify_name(name: str) -> None:
    """Raise if a player of this name cannot be remembered."""
    if not name or len(name) > _LONGEST or _CONTROL.search(name):
        raise BadValue(
            f"an opponent is called {name!r:.60}, which is empty, long or holds control characters"
        )
