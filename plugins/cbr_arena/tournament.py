"""Round-robin tournaments of heads-up matches, with the two rankings of the ACPC.

Total bankroll ranks bots by their winnings from all others, which rewards exploiting weak bots.
Instant run-off eliminates the bot with the lowest total among those left until one remains, which
rewards bots that are hard to beat. All pairs play the same deals, so the interval of a total is
over deals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from cbr import BadValue
from cbr.typing import Floats, Ints
from cbr_arena.match import Match, Played
from cbr_arena.players import Player
from cbr_arena.results import Rate, rate_of

_MOST = 40


def pairs_of(players: Sequence[Player]) -> list[tuple[int, int]]:
    """The pairs that play each other, by the players' numbers."""
    if not 2 <= len(players) <= _MOST:
        raise BadValue(f"{len(players)} bots; a tournament has 2 to {_MOST}")
    return list(combinations(range(len(players)), 2))


@dataclass(frozen=True, eq=False)
class Tournament:
    """The result: `won` [blocks, bots, bots] is what the first bot won a hand from the second."""

    names: Sequence[str]
    won: Floats
    #: The session of each block [blocks], for pairs in which a bot used its memory.
    sessions: Mapping[tuple[int, int], Ints] = field(default_factory=dict)

    @classmethod
    def of(
        cls, players: Sequence[Player], matches: Sequence[Match], played: Sequence[Played]
    ) -> Tournament:
        """From the matches of `pairs_of`, in that order."""
        count, blocks = len(players), len(played[0].won)
        won = np.zeros((blocks, count, count))
        for (a, b), what in zip(pairs_of(players), played, strict=True):
            won[:, a, b], won[:, b, a] = what.judged.T
        sessions = {
            pair: what.session
            for (a, b), what in zip(pairs_of(players), played, strict=True)
            if what.session is not None
            for pair in ((a, b), (b, a))
        }
        return cls([player.name for player in players], won, sessions)

    def against(self, a: int, b: int) -> Rate:
        return rate_of(self.won[:, a, b], self.sessions.get((a, b)))

    def total(self, bot: int, others: Sequence[int] | None = None) -> Rate:
        """What a bot won a hand on average over its opponents."""
        chosen = [other for other in others or range(len(self.names)) if other != bot]
        mine = [self.sessions[bot, other] for other in chosen if (bot, other) in self.sessions]
        return rate_of(self.won[:, bot, chosen].mean(axis=1), mine[0] if mine else None)

    @property
    def by_total(self) -> list[int]:
        """The bots by total bankroll, best first."""
        return sorted(range(len(self.names)), key=lambda bot: -self.total(bot).rate)

    def run_off(self) -> list[tuple[int, Rate]]:
        """The bots in the order in which they are dropped, the winner last, each with its total
        among those who were left then."""
        left = list(range(len(self.names)))
        dropped: list[tuple[int, Rate]] = []
        while len(left) > 1:
            rates = {bot: self.total(bot, left) for bot in left}
            worst = min(left, key=lambda bot: rates[bot].rate)
            dropped.append((worst, rates[worst]))
            left.remove(worst)
            last = rates[left[0]]
        return [*dropped, (left[0], last)]
