"""What CASPER's table 5.1 tells of a bot: how similar its cases were, and how many."""

from __future__ import annotations

from cbr_arena import Figure
from cbr_casper.streets import Chances


class Figures:
    """Sums over decisions, by name; the arena takes them away with `take`."""

    def __init__(self) -> None:
        self._sums: dict[str, Figure] = {}

    def add(self, street: str, answer: Chances) -> None:
        """Count the decisions of an answer."""
        for name, values in (
            (f"{street} similarity", answer.similarity),
            (f"{street} cases", answer.cases),
            (f"{street} below threshold", answer.below),
        ):
            self._add(name, float(values.sum()), float(len(values)))

    def _add(self, name: str, total: float, weight: float) -> None:
        before = self._sums.get(name, Figure(0.0, 0.0))
        self._sums[name] = Figure(before.total + total, before.weight + weight)

    def take(self) -> dict[str, Figure]:
        """What was counted since the last time."""
        found, self._sums = self._sums, {}
        return found
