"""A bot that is called once for identical tables.

Where several players are compared in one seat on the same deals, most tables are identical for most
of them, and their opponent needs to decide only once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr_arena.bots import Actions, Triples, memory_of
from cbr_arena.chance import Chance
from cbr_holdem.situation import Pending
from cbr_holdem.table import WIDTH

#: Multipliers of a table's columns that give its hash; odd, so that no bits are lost.
_FACTORS = np.random.default_rng(0).integers(0, 2**63, WIDTH, np.uint64) * 2 + 1


class Once:
    """Decides once for each distinct table, and gives all identical tables that answer."""

    memory = None

    def __init__(self, bot: Any) -> None:
        self.bot = bot

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Any:
        # The random state distinguishes deals and seats; the table seen, the course of the hand.
        mark = situations.seen().view(np.uint64) @ _FACTORS + _FACTORS[0] * chance.state
        _, first, which = np.unique(mark, return_index=True, return_inverse=True)
        if len(first) == len(mark):
            return self.bot.act(situations, memory, chance)
        given = self.bot.act(situations.take(first), memory, chance.take(first))
        again = which.reshape(-1)
        if isinstance(given, Triples | Actions):
            parts: list[Any] = [None if part is None else np.asarray(part)[again] for part in given]
            return type(given)(*parts)
        return np.asarray(given)[again]


def once(bot: Any) -> Any:
    """The bot, called once for identical tables; unchanged if it has a memory, since it may then
    decide differently at identical tables."""
    return Once(bot) if memory_of(bot) is None else bot
