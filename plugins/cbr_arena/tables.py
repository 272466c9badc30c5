"""Many tables in lockstep: in each step a bot decides at once for all tables where it is to act."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Ints
from cbr_arena.asking import NOT_LEGAL, ask, begin, recall, remembered, tell
from cbr_arena.bots import Wrapper, memory_of
from cbr_arena.chance import Chance
from cbr_arena.luck import Luck
from cbr_holdem.table import (
    ACTOR,
    MOVES,
    Game,
    act,
    deal_all,
    decks,
    legal_action,
    new_tables,
)

#: Reasons of faults that are counted separately for a player.
_REASONS = 20


@dataclass(frozen=True)
class Sitting:
    """Hands to be played at once: the deal of each [n], the player in each seat [n, seats], and the
    session of each [n], from 0."""

    deal: Ints
    player: Ints
    session: Ints


@dataclass(eq=False)
class Room:
    """The players of a match with their memories: `memory` has an array [sessions] for each player.

    A bot is built once and decides together for all players that have its spec. `faults` are
    counted by player and reason. With `follow_luck`, `luck` is that of the hands last played.
    `opponents` is what was seen of the players, who are called `names`, in earlier matches.
    """

    game: Game
    stack: int
    seed: int
    bots: Sequence[Any]
    bot_of: Ints
    follow_luck: bool = False
    luck: Luck | None = None
    memory: list[NDArray[Any] | None] = field(default_factory=list)
    faults: Counter[tuple[int, str]] = field(default_factory=Counter)
    #: Whether any bot kept something in sessions that are over.
    kept: bool = False
    opponents: Any = None
    names: Sequence[str] = ()

    def reset(self) -> None:
        """Forget faults and memories."""
        self.faults, self.memory, self.kept = Counter(), [], False

    def begin(self, sessions: int) -> None:
        """Begin sessions, with empty memories."""
        self.kept = self.remembered
        self.memory = [begin(self.bots[bot], sessions) for bot in self.bot_of.tolist()]
        for player, bot in enumerate(self.bot_of.tolist()):
            around = [*self.names[player:], *self.names[:player]]
            for _, reason in recall(self.bots[bot], self.opponents, around, self.memory[player]):
                self.fault(player, reason)

    def end(self) -> None:
        """End the processes of bots that have their own; `begin` starts others."""
        for bot in self.bots:
            if isinstance(bot, Wrapper):
                bot.end()

    @property
    def apart(self) -> bool:
        """Whether any bot has a process of its own."""
        return any(isinstance(bot, Wrapper) and bot.apart for bot in self.bots)

    @property
    def remembers(self) -> bool:
        """Whether any bot may keep something from hand to hand."""
        return any(memory_of(bot) is not None for bot in self.bots)

    @property
    def remembered(self) -> bool:
        """Whether any bot kept something in the sessions that were played."""
        found = [
            remembered(self.bots[bot], kept)
            for bot, kept in zip(self.bot_of.tolist(), self.memory, strict=False)
            if kept is not None
        ]
        return self.kept or any(found)

    def fault(self, player: int, reason: str) -> None:
        """Count a fault of a player; if there are many reasons, the later ones together."""
        if (player, reason) not in self.faults:
            reasons = sum(1 for who, _ in self.faults if who == player)
            reason = reason if reasons < _REASONS else "other faults"
        self.faults[player, reason] += 1

    def play(self, sitting: Sitting) -> Ints:
        """Play the hands to their end; returns the tables [n, WIDTH]."""
        count, seats = sitting.player.shape
        rows = new_tables(count).rows
        terms = self.game.terms
        cards = _cards_of(self.seed, sitting.deal, 2 * seats + 5)
        deal_all(rows, terms, seats, np.full((count, seats), self.stack, np.int64), cards)
        kind, to = np.empty(count, np.int64), np.zeros(count, np.int64)
        self.luck = Luck(rows, terms, self.seed, sitting.deal) if self.follow_luck else None
        if self.luck:
            self.luck.dealt()
        going = np.flatnonzero(rows[:, ACTOR] >= 0)
        while len(going):
            player = sitting.player[going, rows[going, ACTOR]]
            bot = self.bot_of[player]
            for number in range(len(self.bots)) if len(self.bots) > 1 else (0,):
                mine = bot == number
                which, who = (going[mine], player[mine]) if len(self.bots) > 1 else (going, player)
                if len(which):
                    self._ask(number, rows, which, who, sitting, kind, to)
            wrong = _step(rows, terms, going, kind, to)
            if self.luck:
                self.luck.moved(going)
            if wrong.any():
                for one in player[wrong].tolist():
                    self.fault(one, NOT_LEGAL)
            going = going[rows[going, ACTOR] >= 0]
        self._remember(rows, sitting)
        return rows

    def _ask(
        self,
        number: int,
        rows: Ints,
        which: Ints,
        who: Ints,
        sitting: Sitting,
        kind: Ints,
        to: Ints,
    ) -> None:
        """Write one bot's actions at the tables where it is to act into `kind` and `to`."""
        bot, session = self.bots[number], sitting.session[which]
        chance = Chance(self.seed, sitting.deal[which], rows[which, ACTOR], rows[which, MOVES])
        memory = None if memory_of(bot) is None else self._of(who, session, bot)
        answer = ask(bot, rows, self.game, which, memory, chance)
        kind[which], to[which] = answer.kind, answer.to
        if self.luck and answer.shares is not None:
            self.luck.drew(which, answer.shares, kind, to)
        for at, reason in answer.faults:
            self.fault(int(who[at]), reason)
        if memory is not None:
            self._keep(who, session, memory)

    def _of(self, who: Ints, session: Ints, bot: Any) -> NDArray[Any]:
        gathered = np.empty(len(who), memory_of(bot))
        for player in np.unique(who).tolist():
            mine, kept = who == player, self.memory[player]
            if kept is not None:
                gathered[mine] = kept[session[mine]]
        return gathered

    def _keep(self, who: Ints, session: Ints, memory: NDArray[Any]) -> None:
        for player in np.unique(who).tolist():
            mine, kept = who == player, self.memory[player]
            if kept is not None:
                kept[session[mine]] = memory[mine]

    def _remember(self, rows: Ints, sitting: Sitting) -> None:
        """Show each bot with a memory how the hands ended, as its seats saw them."""
        for number, bot in enumerate(self.bots):
            if memory_of(bot) is None or not hasattr(bot, "remember"):
                continue
            table, seat = np.nonzero(self.bot_of[sitting.player] == number)
            who, session = sitting.player[table, seat], sitting.session[table]
            memory = self._of(who, session, bot)
            for at, reason in tell(bot, rows, table, seat, memory):
                self.fault(int(who[at]), reason)
            self._keep(who, session, memory)


def _cards_of(seed: int, deal: Ints, need: int) -> NDArray[np.uint8]:
    """The deck of each deal, [n, 52], of which the first `need` cards are shuffled."""
    single, again = np.unique(deal, return_inverse=True)
    first, last = int(single[0]), int(single[-1])
    if last - first < 4 * len(single):
        return decks(seed, first, last - first + 1, need)[deal - first]
    return np.concatenate([decks(seed, int(one), 1, need) for one in single])[again]


@njit
def _step(rows: Any, terms: Any, going: Any, kind: Any, to: Any) -> Any:
    """Play one action at each table; returns where a check or fold replaced an illegal one."""
    wrong = np.zeros(len(going), np.bool_)
    for i in range(len(going)):
        r = rows[going[i]]
        what, amount, legal = legal_action(r, terms, kind[going[i]], to[going[i]])
        wrong[i] = not legal
        act(r, terms, what, amount)
    return wrong
