"""Whether the tables of a casebase are those that this program writes.

They are compared with the tables of a new casebase with the same case types: a column, constraint
or index of another kind would stop a command in the middle of its work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlite_utils import Database

from cbr.store import schema
from cbr.store.casebase import Casebase
from cbr.store.connection import other_kinds
from cbr.store.schema import quoted

#: All words of SQL, but for names, that define our tables and indices.
_WORDS = set("CREATE TABLE INTEGER TEXT FLOAT REAL BLOB PRIMARY KEY NOT NULL FOREIGN".split())
_WORDS |= set("REFERENCES UNIQUE INDEX ON".split())
_QUOTED = re.compile(r"\"(?:[^\"]|\"\")*\"|\[[^\]]*\]|`(?:[^`]|``)*`")


def structure_findings(base: Casebase) -> Iterator[str]:
    steps = [applied.name for applied in schema.MIGRATIONS.applied(base.db)]
    if len(steps) != schema.SCHEMA_VERSION:
        yield f"{len(steps)} schema steps are recorded, version {schema.SCHEMA_VERSION} has more"
    yield from _definitions(base)
    yield from other_kinds(base.db, _there(base))


def _there(base: Casebase) -> dict[str, dict[str, str]]:
    """The tables of the layout that the casebase has, with the kinds of values in each column."""
    there = set(base.db.table_names())
    return {table: k for table, k in schema.layout(base.case_types).items() if table in there}


def _definitions(base: Casebase) -> Iterator[str]:
    """Tables and indices that are defined in another way than in a new casebase."""
    new = Database(memory=True)
    schema.create(new, base.case_types)
    schema.create_values(new)
    schema.create_learned(new)
    schema.create_history(new)
    for table in _there(base):
        mine, theirs = (_columns(db, table) for db in (base.db, new))
        for column in sorted(mine.keys() | theirs.keys()):
            if mine.get(column) != theirs.get(column):
                yield f"column {column!r} of table {table!r} is of another kind than it is written"
        if _indices(base.db, table) != _indices(new, table):
            yield f"table {table!r} has other indices than it is written with"
    new.close()
    for name, table, sql in base.db.execute("SELECT name, tbl_name, sql FROM sqlite_master"):
        words = set(re.findall(r"\w+", _QUOTED.sub(" ", sql or "").upper()))
        if table in _there(base) and words - _WORDS:
            yield f"{name!r} is defined with {min(words - _WORDS)}, which is never written"
        if name in {f"{schema.NEW}{stage}" for stage in (*base.stages, schema.HIDDEN)}:
            yield f"table {name!r} is in the way of `cbr rebuild`; drop it"


def _columns(db: Database, table: str) -> dict[str, tuple[object, ...]]:
    """Each column's affinity, whether it may be NULL, its default, and its place in the key."""
    rows = db.execute(f"PRAGMA table_xinfo({quoted(table)})").fetchall()
    return {name: (kind.upper().replace("FLOAT", "REAL"), *rest) for _, name, kind, *rest in rows}


def _indices(db: Database, table: str) -> list[tuple[object, ...]]:
    """The indices of a table: whether each is unique, its origin, and its columns."""
    found = []
    for _, name, *kind in db.execute(f"PRAGMA index_list({quoted(table)})").fetchall():
        columns = db.execute(f"PRAGMA index_xinfo({quoted(name)})").fetchall()
        found.append((*kind, *(tuple(column[1:]) for column in columns)))
    return sorted(found, key=str)
