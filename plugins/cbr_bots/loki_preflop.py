"""Preflop strategies of the formula player, chosen by income rate (Papp 1998).

A hand's income rate is looked up for 2, 3 to 4, or 5 and more expected players. It plays the most
aggressive strategy whose threshold (base + increment x position) it reaches:

    make4  raises to the cap        make2  raises while there are fewer than two bets, else calls
    call2  calls                    make1  calls one bet, and more once it has put money in
    call1  as make1                 else   checks or folds

Only the small blind, with half a bet in, uses call1 and call2. "Two bets" are bets to call.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from cbr.errors import NoSuchName
from cbr.typing import Floats
from cbr_holdem.cards import CLASSES, HANDS, hand_class
from cbr_holdem.strength import income_rate

#: Strategies, the second index of a style [group of expected players, strategy, (base, increment)].
MAKE1_, MAKE2_, MAKE4_, CALL1_, CALL2_ = range(5)

# Published: tight, 3-4 players, make2 [200, 50]; moderate, 3-4 players, at the button make4 580,
# make2 200, make1 50. The rest is ours, chosen so that 15, 20 and 25 % of hands are played at a
# table of ten. The last group is for heads-up tables, where a blind is due in every hand: it uses
# the income rates for two players with its own thresholds.
_STYLES = {
    "tight": (
        ((120, 40), (160, 40), (300, 40), (50, 0), (160, 0)),
        ((185, 50), (200, 50), (620, 50), (120, 0), (200, 0)),
        ((310, 30), (420, 30), (700, 30), (150, 0), (400, 0)),
        ((-100, 0), (40, 0), (240, 0), (-220, 0), (40, 0)),
    ),
    "moderate": (
        ((40, 35), (90, 35), (260, 35), (-30, 0), (90, 0)),
        ((50, 50), (200, 50), (580, 50), (0, 0), (200, 0)),
        ((205, 25), (320, 25), (620, 25), (80, 0), (300, 0)),
        ((-130, 0), (0, 0), (220, 0), (-250, 0), (0, 0)),
    ),
    "loose": (
        ((0, 30), (60, 30), (220, 30), (-80, 0), (60, 0)),
        ((20, 40), (150, 40), (540, 40), (-40, 0), (150, 0)),
        ((130, 20), (280, 25), (580, 25), (20, 0), (250, 0)),
        ((-160, 0), (-30, 0), (200, 0), (-280, 0), (-30, 0)),
    ),
}
STYLES = tuple(_STYLES)


def thresholds(style: str) -> Floats:
    """The thresholds of a style, [4, 5, 2]."""
    if style not in _STYLES:
        raise NoSuchName("style of loki", style, _STYLES)
    return np.array(_STYLES[style], np.float64)


@cache
def class_of_hand() -> NDArray[np.int64]:
    """The class of each hand, [1326]."""
    number = {name: place for place, name in enumerate(CLASSES)}
    return np.array([number[hand_class(int(a), int(b))] for a, b in HANDS])


@cache
def class_sizes() -> Floats:
    """How many hands are in each class, [169]."""
    return np.bincount(class_of_hand()).astype(np.float64)


@cache
def income_rates() -> Floats:
    """Income rate of each class in each group [4, 169]; groups use rates of 2, 4, 7, 2 players."""
    return np.array([[income_rate(name, n) for name in CLASSES] for n in (2, 4, 7, 2)], np.float64)


@cache
def sorted_incomes() -> Floats:
    """Income rates of the 1326 hands with 7 players, ascending [1326]; used for percentiles."""
    return np.sort(income_rates()[2][class_of_hand()])


def income_at(percentile: float) -> float:
    """The income rate at a percentile (0 to 1) of all hands.

    >>> 115 < income_at(0.7) < 122
    True
    """
    values = sorted_incomes()
    return float(values[min(int(percentile * len(values)), len(values) - 1)])
