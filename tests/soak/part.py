"""What a part of the soak is: a module of this folder with a function

    def piece(seed: int, number: int, folder: Path) -> Found

It tries something for about ten seconds. What it does depends on `seed` and `number` only, so that
a fault can be repeated; `folder` is empty, its own, and removed afterwards. A part is called by the
name of its module, and the first line of the module's docstring says what it tries.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass
class Found:
    """What a piece found: how much it tried, and a sentence for each fault."""

    #: How many were tried: kills, mutated hands, games.
    items: int = 0
    #: What was stored and is gone, or differs from what an undisturbed run stores.
    lost: list[str] = field(default_factory=list)
    #: Tracebacks, signals, hangs.
    crashed: list[str] = field(default_factory=list)
    #: Results that are wrong and pass for right.
    wrong: list[str] = field(default_factory=list)
    #: Why this cannot be tried here, if so.
    skipped: str = ""

    @property
    def faults(self) -> list[str]:
        return [*self.lost, *self.crashed, *self.wrong]


def dice(part: str, seed: int, number: int) -> random.Random:
    """The random numbers of a piece."""
    return random.Random(f"{part} {seed} {number}")
