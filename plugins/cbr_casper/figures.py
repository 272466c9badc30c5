"""Figures of CASPER's table 5.1: mean similarity and number of the cases retrieved."""

from __future__ import annotations

from cbr_arena import Figure
from cbr_casper.streets import ActionChances


class Figures:
    """Sums over decisions, by name; the arena collects them with `take`."""

    def __init__(self) -> None:
        self._sums: dict[str, Figure] = {}

    def add(self, street: str, decided: ActionChances) -> None:
        """Add the decisions of a street."""
        for name, values in (
            (f"{street} similarity", decided.similarity),
            (f"{street} cases", decided.cases),
            (f"{street} below threshold", decided.below),
        ):
            self._add(name, float(values.sum()), float(len(values)))

    def _add(self, name: str, total: float, weight: float) -> None:
        before = self._sums.get(name, Figure(0.0, 0.0))
        self._sums[name] = Figure(before.total + total, before.weight + weight)

    def take(self) -> dict[str, Figure]:
        """The figures since the last call; counting starts again from zero."""
        found, self._sums = self._sums, {}
        return found
