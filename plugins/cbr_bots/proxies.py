"""LAG-G and MiniLoki: small formula players, stand-ins for bots whose rules were never published.

Before the flop they use CASPER's rank of the hand (1 is best), later h, the probability to be ahead
of all opponents now. Where their description leaves a choice open, ours is the one that comes
closest to the figures that were published with them (tests/plugins/test_arena_figures.py):

- Before the flop the ranks "heads-up" are for tables of two, those of the ring for all others.
- "Facing two bets" means having to put in two bets or more: the big blind and a player who has
  called one bet face one bet after a raise. LAG-G calls two bets with the hands that call one.
- LAG-G raises and re-raises later streets from the same h; MiniLoki re-raises from 0.95.
- A hand good enough to raise calls where no more raise is legal.
- A bluff is a bet where a check is free, by a hand that would check.
- In no-limit games a bet is that of `size`, and the rules are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.errors import NoSuchName
from cbr.typing import Floats
from cbr_arena import CALL, FOLD, RAISE, Actions, Chance
from cbr_bots.sizes import size_of, verify_size
from cbr_holdem.situation import Pending, Situations

Kinds = NDArray[np.int64]


@dataclass(frozen=True)
class Ranks:
    """The worst ranks that raise, that call, and that call two bets or more."""

    raises: int
    calls: int
    calls_two: int


@dataclass(frozen=True)
class Style:
    """Preflop ranks (`ring`, `heads_up`); for later streets the h from which it raises, raises
    again after any number of raises, and bets, and the probability of a bluff."""

    ring: Ranks
    heads_up: Ranks
    raises: float = 0.85
    raises_again: float = 0.95
    bets: float = 0.5
    bluffs: float = 0.05


TIGHT = Style(Ranks(18, 40, 22), Ranks(70, 130, 100))
LOOSE = Style(Ranks(18, 40, 22), Ranks(85, 145, 120))
LAG = Style(
    Ranks(60, 110, 110),
    Ranks(110, 165, 165),
    raises=0.65,
    raises_again=0.65,
    bets=0.38,
    bluffs=0.15,
)
STYLES = {"tight": TIGHT, "loose": LOOSE}


class Proxy:
    """Plays a style."""

    memory = None

    def __init__(self, style: Style, size: str = "min") -> None:
        self.style, self.size = style, verify_size(size)

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Actions:
        kind = np.empty(situations.count, np.int64)
        first = situations.street == 0
        kind[first] = self._before_flop(situations.take(np.flatnonzero(first)))
        later = np.flatnonzero(~first)
        kind[later] = self._after_flop(situations.take(later), chance.random()[later])
        # An illegal raise becomes a call.
        kind[(kind == RAISE) & (situations.raise_to == 0)] = CALL
        return Actions(kind, size_of(self.size, situations))

    def _before_flop(self, situations: Situations) -> Kinds:
        ring, two = self.style.ring, self.style.heads_up
        heads_up = situations["seats"] == 2
        rank, bets = situations["hand_rank"], situations["bets"]
        raises = np.where(heads_up, two.raises, ring.raises)
        calls = np.where(heads_up, two.calls, ring.calls)
        calls_two = np.where(heads_up, two.calls_two, ring.calls_two)
        goes_on = rank <= np.where(situations["to_call"] >= 2, calls_two, calls)
        kind = np.where(goes_on | (rank <= raises), CALL, FOLD)
        # From three bets on, only the best quarter of the raising hands raises again.
        again = (bets < 3) | (rank <= raises / 4)
        return np.where((rank <= raises) & again, RAISE, kind)

    def _after_flop(self, situations: Situations, drawn: Floats) -> Kinds:
        style = self.style
        ahead = situations.standing() ** situations["opponents"]
        bets, odds = situations["bets"], situations["pot_odds"]
        free = situations["to_call"] == 0
        surprised = situations["to_call"] >= 2
        strong, good = ahead >= style.raises, ahead >= style.bets
        return np.select(
            [
                strong & ((bets < 2) | (ahead >= style.raises_again)),
                strong,
                good & (bets == 0),
                good & ~surprised,
                good & (ahead >= odds) & (bets < 3),
                ~good & ~free & (ahead >= odds),
                ~good & free & (drawn < style.bluffs),
            ],
            [RAISE, CALL, RAISE, CALL, CALL, CALL, RAISE],
            FOLD,
        )


def lag(size: str = "min") -> Proxy:
    return Proxy(LAG, size)


def miniloki(style: str = "tight", size: str = "min") -> Proxy:
    if style not in STYLES:
        raise NoSuchName("style of miniloki", style, STYLES)
    return Proxy(STYLES[style], size)
