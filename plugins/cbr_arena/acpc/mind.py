"""One of our bots in one seat of a dealer, deciding one situation at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cbr.plugging import frozen
from cbr_arena.asking import NOT_LEGAL, ask, begin, recall, tell
from cbr_arena.chance import Chance
from cbr_arena.players import build
from cbr_holdem.table import MOVES, Game, Table, legal_action

_ONE = frozen(np.zeros(1, np.int64))


@dataclass(eq=False)
class Mind:
    """A bot with its memory of a match. It decides as it does in `cbr match`, given the same seed,
    hand, seat and cards. `faults` are counted by reason. `bot` is built from the spec if it is not
    given; minds may share one, because its memory is held here."""

    spec: str
    game: Game
    seed: int
    bot: Any = None
    faults: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if self.bot is None:
            self.bot = build(self.spec, self.game.betting)
        self.forget()

    def forget(self) -> None:
        """Clear memory and faults, as before the first hand."""
        self.faults.clear()
        self._memory = begin(self.bot, 1)

    def recall(self, opponents: Any, names: Sequence[str]) -> None:
        """Tell the bot what was seen of the players in earlier matches; `names` are in the order of
        seats, its own first."""
        faults = recall(self.bot, opponents, names, self._memory)
        self.faults.update(reason for _, reason in faults)

    def act(self, table: Table, hand: int) -> tuple[int, int]:
        """The bot's action, kind and amount; a check or fold if it fails or is not legal."""
        chance = Chance(self.seed, np.array([hand]), table.tables.actor, table.rows[:, MOVES])
        answer = ask(self.bot, table.rows, self.game, _ONE, self._memory, chance)
        self.faults.update(reason for _, reason in answer.faults)
        wanted = int(answer.kind[0]), int(answer.to[0])
        kind, to, legal = legal_action(table.rows[0], table.terms, *wanted)
        if not legal:
            self.faults[NOT_LEGAL] += 1
        return int(kind), int(to)

    def remember(self, table: Table, seat: int) -> None:
        """Show the bot how a hand ended, as its seat saw it."""
        if self._memory is not None and hasattr(self.bot, "remember"):
            faults = tell(self.bot, table.rows, _ONE, np.array([seat]), self._memory)
            self.faults.update(reason for _, reason in faults)
