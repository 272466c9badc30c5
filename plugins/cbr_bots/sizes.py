"""How much to bet or raise in a no-limit game, as an option of bots: `?size=1/2`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cbr.errors import NoSuchName
from cbr_holdem.situation import SHARES, SIZES, Pending

_ALL_IN = "all-in"


def verify_size(size: str) -> str:
    if str(size) not in (*SIZES, _ALL_IN):
        raise NoSuchName("size of bets", str(size), (*SIZES, _ALL_IN))
    return str(size)


def size_of(size: str, situations: Pending) -> NDArray[np.int64]:
    """What a raise goes to [n]: the least that is legal, a share of the pot as it is after calling,
    or all there is; 0, the least, where the game leaves no choice."""
    if size == "min" or situations.game.betting == "limit":
        return np.zeros(situations.count, np.int64)
    if size == _ALL_IN:
        return situations.raise_to
    return situations.raised_by(SHARES[SIZES.index(size)])
