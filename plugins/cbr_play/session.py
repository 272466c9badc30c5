"""A session: hand after hand at one table of the arena, dealt and guarded as in a match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from cbr_arena import Match, Notes, Room, Sitting, build, known_as, plain_name, texts
from cbr_holdem.situation import Move, View
from cbr_holdem.table import Hand, Table
from cbr_play.person import Done, Person
from cbr_play.saving import Log
from cbr_play.watching import Decision, Watched

#: The number of the person among the players.
ME = 0


@dataclass(frozen=True, eq=False)
class Ended:
    """A finished hand: the player of each seat, and the faults of bots by player."""

    hand: Hand
    seats: list[int]
    faults: list[tuple[int, str]]

    @cached_property
    def table(self) -> Table:
        return Table.of(self.hand)

    @property
    def moves(self) -> tuple[Move, ...]:
        return View(self.table.rows, self.hand.game).moves

    @property
    def won(self) -> list[float]:
        """Chips won or lost by each seat."""
        return self.table.payoffs

    @property
    def uncalled(self) -> list[int]:
        """The uncalled part of each seat's bets, which is returned and not part of the pot."""
        paid = self.table.tables.paid[0, : self.table.seats].tolist()
        most, next_most = sorted(paid)[-1], sorted(paid)[-2]
        return [most - next_most if chips == most else 0 for chips in paid]

    @property
    def pot(self) -> int:
        return self.table.pot - max(self.uncalled)

    @property
    def taken(self) -> dict[int, float]:
        """Chips that each winning seat took out of the pot."""
        paid = self.table.tables.paid[0, : self.table.seats].tolist()
        rows = zip(self.won, paid, self.uncalled, strict=True)
        found = {seat: won + chips - back for seat, (won, chips, back) in enumerate(rows)}
        return {seat: chips for seat, chips in found.items() if chips > 0}


class Session:
    """A person, player `ME` of the match, and bots that keep their memory from hand to hand."""

    def __init__(
        self,
        match: Match,
        ask: Callable[[Session, View], Done],
        log: Log,
        notes: Notes | None = None,
    ) -> None:
        """With `notes`, what is public of each hand is kept for later matches."""
        self.match, self.log, self.notes = match, log, notes
        self.decisions: list[Decision] = []
        self.hands = 0
        self.playing = False
        self.totals = [0.0] * match.seats
        others = [player.spec for player in match.players[ME + 1 :]]
        specs = list(dict.fromkeys(others))
        bots = [build(spec, match.game.betting) for spec in specs]
        self.explains = any(hasattr(bot, "explain") for bot in bots)
        self.room = Room(
            match.game,
            match.stack,
            match.seed,
            [
                Person(partial(ask, self)),
                *(Watched(bot, self.decisions) if hasattr(bot, "explain") else bot for bot in bots),
            ],
            np.array([0, *(1 + specs.index(spec) for spec in others)]),
        )
        self.room.names = [known_as(player) for player in match.players]
        self.room.opponents = notes.known if notes else None
        self.room.begin(1)

    @property
    def seats(self) -> list[int]:
        """The player of each seat in the current hand, or in the next if none is being played."""
        return self._seating()[0].tolist()  # type: ignore[no-any-return]

    def play(self) -> Ended:
        """Play a hand, and save it."""
        self.decisions.clear()
        self.playing = True
        before = Counter(self.room.faults)
        sitting = Sitting(np.array([self.hands]), self._seating(), np.zeros(1, np.int64))
        rows = self.room.play(sitting)
        names = [plain_name(player.name) for player in self.match.players]
        [text] = texts(rows, sitting, self.match.game, names)
        ended = Ended(Hand.read(text), self.seats, list(self.room.faults - before))
        self.log.add(text)
        if self.notes:
            self.notes.hand(rows, [self.room.names[player] for player in ended.seats])
        for player, won in zip(ended.seats, ended.won, strict=True):
            self.totals[player] += won
        self.hands += 1
        self.playing = False
        return ended

    def _seating(self) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        return self.match.seating(np.array([self.hands]), np.zeros(1, np.int64))
