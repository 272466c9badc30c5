"""A bot that is asked once for tables that are the same.

Where several players are tried in one seat with the same deals, most tables stay the same for most
of them: whoever sits opposite need decide only once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr_arena.asking import memory_of
from cbr_arena.bots import Actions, Triples
from cbr_arena.chance import Chance
from cbr_holdem.situation import Pending
from cbr_holdem.table import WIDTH

#: Numbers that make a table's mark from what stands on it: odd ones, so nothing is lost.
_FACTORS = np.random.default_rng(0).integers(0, 2**63, WIDTH, np.uint64) * 2 + 1


class Once:
    """Decides for each different table, and gives every table like it the same answer."""

    memory = None

    def __init__(self, bot: Any) -> None:
        self.bot = bot

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Any:
        # The luck of a decision tells deals and seats apart, what is seen how it came to be.
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
    """The bot, asked once for equal tables; itself if it remembers, as equal tables may differ in
    what it knows."""
    return Once(bot) if memory_of(bot) is None else bot
