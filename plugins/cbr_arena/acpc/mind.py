"""One of our bots in one seat, asked for one decision at a time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cbr.plugging import frozen, one_line
from cbr_arena.bots import decided
from cbr_arena.chance import Chance
from cbr_arena.players import build
from cbr_arena.showing import as_seen
from cbr_arena.tables import Room, drain
from cbr_holdem.situation import Pending
from cbr_holdem.table import CALL, FOLD, MOVES, RAISE, Game, Table

_ONE = frozen(np.zeros(1, np.int64))


@dataclass(eq=False)
class Mind:
    """A bot with what it remembers over a match. It decides as it does in `cbr match`, given the
    same seed, hand, seat and cards. `faults` counts what it did wrong. `bot` is that of the spec;
    minds may have one in common, as it remembers nothing itself."""

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
        """As before the first hand."""
        self.faults.clear()
        room = Room(self.game, 0, self.seed, [self.bot], _ONE)
        room.begin(1)
        self._memory = room.memory[0]

    def act(self, table: Table, hand: int) -> tuple[int, int]:
        """What it does now, kind and amount; where that fails, a check or fold."""
        seat, decision = table.tables.actor, table.rows[:, MOVES]
        chance = Chance(self.seed, np.array([hand]), seat, decision)
        kind, to = FOLD, 0
        try:
            now = Pending(table.rows, self.game, _ONE)
            given = self.bot.act(now, self._memory, chance)
            done = decided(given, Pending(table.rows, self.game, _ONE), chance.for_draws())
            kind, to = _one(done.kind), _one(done.to)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a bot cannot end the match
            self.faults[one_line(error)] += 1
        for _, reason in drain(self.bot):
            self.faults[reason] += 1
        return self._legal(table, kind, to)

    def _legal(self, table: Table, kind: int, to: int) -> tuple[int, int]:
        legal = table.legal()
        if kind == RAISE:
            to = to or legal.raise_from
            if legal.raise_to and legal.raise_from <= to <= legal.raise_to:
                return RAISE, to
        if kind not in (FOLD, CALL):
            self.faults["an action that is not legal"] += 1
            kind = FOLD
        return (CALL if kind == FOLD and not legal.fold else kind), 0

    def remember(self, table: Table, seat: int) -> None:
        """Show it how a hand ended, as its seat saw it."""
        if self._memory is None or not hasattr(self.bot, "remember"):
            return
        seats = np.array([seat])
        try:
            self.bot.remember(as_seen(table.rows, _ONE, seats), seats, self._memory)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.faults[one_line(error)] += 1


def _one(given: Any) -> int:
    [found] = np.asarray(given).reshape(-1)
    return int(found)
