"""Switch: plays as one bot after the other, so that what was learned of it does not stay true.

An opponent for experiments with players that adapt. `switch:BOT,BOT,...?every=200` changes to the
next bot after so many hands that it sat in since its session began, and after the last one begins
again with the first.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from cbr import BadValue
from cbr.typing import Ints
from cbr_arena import Nested, bots_inside

#: Most hands as one bot.
_MOST = 1_000_000_000


class Switch(Nested):
    """Plays as each of its bots in turn, for `every` hands."""

    fields: ClassVar = (("hands", np.int64),)

    def __init__(self, bots: str, every: int = 200) -> None:
        if not 1 <= every <= _MOST:
            raise BadValue(f"switch?every={every} must be 1 to {_MOST:,} hands")
        super().__init__(bots_inside("switch", str(bots), 2))
        self.every = every

    def turn(self, memory: Any, count: int) -> Ints:
        turn: Ints = memory["hands"] // self.every % len(self.inner)
        return turn

    def sat(self, memory: Any) -> None:
        memory["hands"] += 1
