"""Results of a match: winnings with their intervals, and statistics of each bot's play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cbr.statistics import clustered_mean
from cbr.typing import Floats, Ints
from cbr_arena.match import Match, Played
from cbr_arena.showing import COUNTS


@dataclass(frozen=True)
class Rate:
    """A mean per hand, and half the width of its 95 % interval over blocks."""

    rate: float
    ci95: float | None


@dataclass(frozen=True)
class Line:
    """The results of one bot. `sd` is of single hands; `vpip` and `pfr`: share of hands in which it
    voluntarily put money in before the flop, and in which it raised there; `aggression`: bets and
    raises for each call on later streets, None where it never called, and `early_aggression` the
    same before the flop; `flops` and `showdown`: share of hands in which it came to one; `faults`:
    how often it failed, by reason; `adjusted`: the rate after variance reduction, if there is any.
    """

    name: str
    rate: float
    ci95: float | None
    sd: float
    hands: int
    vpip: float
    pfr: float
    aggression: float | None
    early_aggression: float | None
    flops: float
    showdown: float
    faults: dict[str, int]
    adjusted: Rate | None = None


def rate_of(won: Floats, session: Ints | None = None) -> Rate:
    """The rate of blocks [b]; those of one session are a cluster, as they are not independent."""
    cluster = np.arange(len(won)) if session is None else session
    found = clustered_mean(won, cluster)
    return Rate(found.mean, found.ci95)


def lines_of(match: Match, played: Played) -> list[Line]:
    found = []
    for place, player in enumerate(match.players):
        count = dict(zip(COUNTS, played.counts[place].tolist(), strict=True))
        hands = count["hands"]
        rate = rate_of(played.won[:, place], played.session)
        found.append(
            Line(
                player.name,
                rate.rate,
                rate.ci95,
                float(np.sqrt(max(0.0, played.squares[place] / hands - rate.rate**2))),
                hands,
                count["vpip"] / hands,
                count["pfr"] / hands,
                count["raises"] / count["calls"] if count["calls"] else None,
                count["early_raises"] / count["early_calls"] if count["early_calls"] else None,
                count["flops"] / hands,
                count["showdown"] / hands,
                {why: n for (who, why), n in played.faults.items() if who == place},
                None
                if played.adjusted is None
                else rate_of(played.adjusted[:, place], played.session),
            )
        )
    return found


def difference(a: Played, b: Played, place: int) -> Rate:
    """How much more was won in one player's place in match a than in b, on the same deals."""
    blocks = min(len(a.won), len(b.won))
    together = a.session if a.session is not None else b.session
    session = None if together is None else together[:blocks]
    return rate_of(a.judged[:blocks, place] - b.judged[:blocks, place], session)


def width_of(played: Sequence[Played]) -> float | None:
    """The widest interval of a match's bots; for two matches, that of the last bots' difference."""
    if len(played) == 2:
        return difference(played[0], played[1], played[0].won.shape[1] - 1).ci95
    one = played[0]
    widths = [rate_of(one.judged[:, at], one.session).ci95 for at in range(one.won.shape[1])]
    return None if None in widths else max(width for width in widths if width is not None)
