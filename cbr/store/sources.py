"""What came from one source of a casebase: to replace it, or to find it under two names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cbr.store import schema
from cbr.store.schema import quoted

if TYPE_CHECKING:
    from cbr.store.casebase import Casebase

#: Cases that are removed in one step, as their values are read for the digest.
_AT_ONCE = 10_000


def remove_source(base: Casebase, name: str) -> int:
    """Remove all that came from a source, inside a transaction: its records, their cases with
    values, hidden decisions, and what was skipped. Returns how many records it had."""
    base.verify_writing()
    row = base.db.execute("SELECT id FROM sources WHERE name = ?", [name]).fetchone()
    if row is None:
        return 0
    of_source = f"record IN (SELECT id FROM {base.records_table} WHERE source = ?)"
    for stage in base.stages:
        query = f"SELECT id FROM {quoted(schema.case_table(stage))} WHERE {of_source}"
        ids = [number for (number,) in base.db.execute(query, row)]
        for at in range(0, len(ids), _AT_ONCE):
            base.remove(stage, ids[at : at + _AT_ONCE])
    if base.has_hidden:
        base.db.execute(f"DELETE FROM {quoted(schema.HIDDEN)} WHERE {of_source}", row)
    base.db.execute("DELETE FROM skipped WHERE source = ?", row)
    removed = base.db.execute(f"DELETE FROM {base.records_table} WHERE source = ?", row)
    base.db.execute("DELETE FROM sources WHERE id = ?", row)
    return int(removed.rowcount)


def same_records(base: Casebase, names: Iterable[str]) -> dict[str, str]:
    """Of these new sources, those whose records are all in another one too, with its name."""
    own = {n: s for s, n in base.db.execute("SELECT name, id FROM sources") if s in set(names)}
    first = f"SELECT digest FROM {base.records_table} WHERE source = ? LIMIT 1"
    probes: dict[bytes, list[int]] = {}
    for number in own:
        for (mark,) in base.db.execute(first, [number]):
            probes.setdefault(mark, []).append(number)
    likely = {
        (number, other)
        for other, mark in base.db.execute(f"SELECT source, digest FROM {base.records_table}")
        for number in probes.get(mark, ())
        if number != other and not (other in own and other > number)
    }
    other_than = (
        f"SELECT 1 FROM {base.records_table} WHERE source = ? AND digest NOT IN "
        f"(SELECT digest FROM {base.records_table} WHERE source = ?) LIMIT 1"
    )
    called = dict(base.db.execute("SELECT id, name FROM sources").fetchall())
    return {
        own[number]: called[other]
        for number, other in sorted(likely, reverse=True)
        if base.db.execute(other_than, [number, other]).fetchone() is None
    }
