"""Records the decisions of bots that can explain them, for the hand being played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from cbr_arena import Advice, advice_lines, advice_of, analyse
from cbr_holdem.situation import Pending, View
from cbr_holdem.table import MOVES, Game


@dataclass(frozen=True, eq=False)
class Decision:
    """A decision of a bot: the table as its seat saw it [1, WIDTH], its memory then, and its random
    numbers from their beginning."""

    bot: Any
    seen: NDArray[np.int64]
    game: Game
    memory: Any
    chance: Any

    @property
    def move(self) -> int:
        """The index of the move in the hand, from 0."""
        return int(self.seen[0, MOVES])

    @cached_property
    def view(self) -> View:
        """The table as the bot's seat saw it."""
        return View(self.seen, self.game)

    @cached_property
    def advice(self) -> Advice:
        """The bot's explanation; if it fails, a sentence with the error."""
        situations = Pending(self.seen, self.game, np.zeros(1, np.int64))
        analysis = analyse(self.bot, situations, self.memory, self.chance)
        return advice_of(analysis, self.seen[0], self.game)

    def why(self, names: Sequence[str]) -> list[Text]:
        """The explanation in lines; `names` are those of the players by seat. A text of the bot has
        a table of its own, unless the bot searched."""
        searched = any(one.visits is not None for one in self.advice.choices)
        table = searched or not self.advice.why
        return advice_lines(self.advice, self.seen[0], names, choices=table)


class Watched:
    """Wraps a bot and appends its decisions to a list."""

    def __init__(self, bot: Any, decisions: list[Decision]) -> None:
        self._bot, self._decisions = bot, decisions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bot, name)

    def act(self, situations: Pending, memory: Any, chance: Any) -> Any:
        kept = None if memory is None else memory.copy()
        seen = situations.seen()
        self._decisions += [
            Decision(
                self._bot,
                seen[at : at + 1],
                situations.game,
                None if kept is None else kept[at : at + 1],
                chance.take(np.array([at])),
            )
            for at in range(situations.count)
        ]
        return self._bot.act(situations, memory, chance)
