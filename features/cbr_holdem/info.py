"""What `cbr info` says of a casebase of hold'em beyond what it says of any."""

from __future__ import annotations

from collections import Counter

from cbr.store import Casebase
from cbr_holdem.table.hand import players_in


def actions(casebase: Casebase) -> dict[str, dict[str, dict[str, int]]]:
    """How often each action was taken on each street, where the cards are known and where not."""
    known = {street: casebase.solutions(street) for street in casebase.stages}
    return {"known": known, "hidden": casebase.hidden()}


def players(casebase: Casebase) -> dict[str, int]:
    """In how many hands each player sits, the most frequent first."""
    found: Counter[str] = Counter()
    for (body,) in casebase.db.execute(f"SELECT body FROM {casebase.records_table}"):
        found.update(players_in(body))
    return dict(found.most_common())
