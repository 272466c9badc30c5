"""Honest river: plays as another bot, but never bluffs the river.

An opponent for experiments with players that learn what a bet means. On the river the better half
are the hands whose strength against one random hand, exact and with ties counting half, is 0.5 or
more on this board. With the others it neither bets nor raises: what the bot inside would bet it
checks, and what it would raise it calls. All else is the bot's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr import BadValue
from cbr.typing import Floats
from cbr_arena import CALL, RAISE, Nested, bots_inside

_RIVER = 3
#: The least strength of the better half.
_HALF = 0.5


class HonestRiver(Nested):
    """Plays as a bot that bets and raises the river only with the better half of its hands."""

    def __init__(self, bot: str) -> None:
        inner = bots_inside("honest-river", str(bot), 1)
        if len(inner) > 1:
            raise BadValue(
                f"honest-river:{bot} names {len(inner)} bots; it plays as one, and one with a "
                "comma stands in parentheses: honest-river:(triple:0.2,0.5,0.3)"
            )
        super().__init__(inner)

    def changed(self, situations: Any, shares: Floats) -> Floats:
        places = np.flatnonzero((situations.street == _RIVER) & (shares[:, RAISE] > 0.0))
        if len(places):
            weak = places[situations.take(places).standing() < _HALF]
            shares[weak, CALL] += shares[weak, RAISE]
            shares[weak, RAISE] = 0.0
        return shares
