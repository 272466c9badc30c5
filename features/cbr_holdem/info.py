"""Statistics that `cbr info` adds for casebases of hold'em: actions by street, and players."""

from __future__ import annotations

from collections import Counter

from cbr.store import Casebase
from cbr_holdem.table.hand import players_in


def actions(casebase: Casebase) -> dict[str, dict[str, dict[str, int]]]:
    """How often each action was taken on each street, with known and with hidden cards."""
    known = {street: casebase.solutions(street) for street in casebase.stages}
    return {"known": known, "hidden": casebase.hidden()}


def players(casebase: Casebase) -> dict[str, int]:
    """The number of hands of each player, the most frequent first."""
    found: Counter[str] = Counter()
    for (body,) in casebase.db.execute(f"SELECT body FROM {casebase.records_table}"):
        found.update(players_in(body))
    return dict(found.most_common())
