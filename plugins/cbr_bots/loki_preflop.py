"""Before the flop: strategies by income rate (Papp 1998).

A hand's income rate is looked up for 2, 3 to 4, or 5 and more expected players. The most aggressive
strategy whose threshold (base + increment x position) it reaches is played:

    make4  raises to the cap        make2  raises while there are fewer than two bets, else calls
    call2  calls                    make1  calls one bet, and more once it has put money in
    call1  as make1                 else   checks or folds

call1 and call2 are the small blind's, who has half a bet in. "Two bets" are those to call.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from cbr.errors import NoSuchName
from cbr.typing import Floats
from cbr_holdem.cards import CLASSES, HANDS, hand_class
from cbr_holdem.strength import income_rate

#: Places in a style: [group of expected players, strategy, base and increment].
MAKE1_, MAKE2_, MAKE4_, CALL1_, CALL2_ = range(5)

# Published: tight, 3-4 players, make2 [200, 50]; moderate, 3-4 players, at the button make4 580,
# make2 200, make1 50. The rest is ours, for a share of hands played of 15, 20 and 25 % at ten.
# The last group are tables for two, where the blinds come round at once: it has IR2 with
# thresholds of its own.
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
    """Income rate of each class in each group: with 2, 4, 7 and 2 players, [4, 169]."""
    return np.array([[income_rate(name, n) for name in CLASSES] for n in (2, 4, 7, 2)], np.float64)


@cache
def sorted_incomes() -> Floats:
    """IR7 of the 1326 hands from the worst on: a percentile is a place in it."""
    return np.sort(income_rates()[2][class_of_hand()])


def income_at(percentile: float) -> float:
    """The income rate that this part of all hands is below.

    >>> 115 < income_at(0.7) < 122
    True
    """
    values = sorted_incomes()
    return float(values[min(int(percentile * len(values)), len(values) - 1)])
