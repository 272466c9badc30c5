"""What CASPER's table 5.1 tells of a bot: how similar its cases were, and how many."""

from __future__ import annotations

import numpy as np

from cbr_arena import Figure
from cbr_casper.streets import Answer


class Figures:
    """Sums over decisions, by name; the arena takes them away with `take`."""

    def __init__(self) -> None:
        self._sums: dict[str, Figure] = {}

    def add(self, street: str, answer: Answer) -> None:
        """Count the decisions of an answer."""
        retrieved = answer.retrieved
        times = np.bincount(answer.which, minlength=len(retrieved))
        shares = retrieved.share * retrieved.vectors.cases[retrieved.number]
        target = np.repeat(np.arange(len(retrieved)), np.diff(retrieved.start))
        cases = np.bincount(target, shares, len(retrieved))
        alike = np.bincount(target, shares * retrieved.similarity, len(retrieved))
        mean = alike / np.maximum(cases, 1e-300)
        above = retrieved.retriever.policy.looks.above
        below = ~(retrieved.most_similar > above - 1e-6)
        for name, values in (
            (f"{street} similarity", mean),
            (f"{street} cases", cases),
            (f"{street} below threshold", below),
        ):
            self._add(name, float((times * values).sum()), float(times.sum()))

    def _add(self, name: str, total: float, weight: float) -> None:
        before = self._sums.get(name, Figure(0.0, 0.0))
        self._sums[name] = Figure(before.total + total, before.weight + weight)

    def take(self) -> dict[str, Figure]:
        """What was counted since the last time."""
        found, self._sums = self._sums, {}
        return found
