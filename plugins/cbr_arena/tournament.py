"""Everybody heads-up against everybody else, and the two ways in which the ACPC names a winner.

Total bankroll adds up what a bot won from all others: it rewards whoever takes most from the weak.
Instant run-off drops the bot with the least total and counts again among those who are left, until
one is: it rewards whoever is hard to beat. All pairs play the same deals, so a total's interval is
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
    """Who plays whom, by number."""
    if not 2 <= len(players) <= _MOST:
        raise BadValue(f"{len(players)} bots; a tournament has 2 to {_MOST}")
    return list(combinations(range(len(players)), 2))


@dataclass(frozen=True, eq=False)
class Tournament:
    """What came of it: `won` [blocks, bots, bots], what a bot won a hand from another."""

    names: Sequence[str]
    won: Floats
    #: Sessions of the blocks of a pair in which something was remembered.
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
