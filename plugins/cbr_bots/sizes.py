"""Bet sizes in no-limit games, chosen by an option of bots: `?size=1/2`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cbr.errors import NoSuchName
from cbr_holdem.situation import SHARES, SIZES, Pending


def verify_size(size: str) -> str:
    if str(size) not in SIZES:
        raise NoSuchName("size of bets", str(size), SIZES)
    return str(size)


def size_of(size: str, situations: Pending) -> NDArray[np.int64]:
    """The amount to raise to [n]: a share of the pot after calling, or all in; 0 stands for the
    minimum raise, which is also the only one in limit games."""
    if size == "min" or situations.game.betting == "limit":
        return np.zeros(situations.count, np.int64)
    return situations.raised_by(SHARES[SIZES.index(size)])
