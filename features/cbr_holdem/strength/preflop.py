"""The 169 classes of starting hands: ranks, groups, and odds against random hands.

The odds are estimates: tools/make_preflop.py sampled 2,000,000 deals for each value, so a value is
within 0.0007 of the exact one in 19 of 20 cases.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue
from cbr_holdem.cards.numbering import HANDS
from cbr_holdem.cards.ranges import CLASSES, hand_class

#: The classes from best (1) to worst (169) as CASPER ranks them (appendix B).
RANKED = """
    AA KK QQ JJ AKs AQs TT KQs AJs AKo KJs ATs QJs KTs AQo 99 QTs JTs KQo A9s AJo K9s 88 KJo A8s
    Q9s T9s QJo J9s ATo A7s A5s KTo A4s A6s QTo A3s K8s JTo 77 A2s T8s Q8s K7s J8s 98s K6s 66
    K5s A9o 87s K4s Q7s T7s 97s K9o J7s K3s T9o Q6s A8o 55 J9o Q9o K2s 76s Q5s 86s Q4s A7o 44
    65s 96s A5o T6s J6s Q3s Q2s 75s A4o 54s J5s A6o K8o 33 T8o 85s J4s A3o 98o 22 64s J8o Q8o
    J3s 95s K7o T5s J2s 53s A2o T4s 74s T3s 43s K6o 84s 87o T2s 63s K5o 97o 94s T7o 52s Q7o 93s
    J7o K4o 73s 92s 42s 76o K3o 83s Q6o 62s 86o 32s 82s K2o 65o Q5o 96o 72s T6o Q4o 54o 75o J6o
    Q3o J5o 85o 64o Q2o J4o 95o 53o J3o T5o 74o T4o J2o 43o T3o 84o 63o T2o 94o 52o 93o 73o 42o
    92o 83o 62o 32o 82o 72o
""".split()

#: The groups of Sklansky and Malmuth, from 1; classes in none of them are group 9.
GROUPS = tuple(
    line.split(",")
    for line in """
    AA,KK,QQ,JJ,AKs
    AQs,TT,KQs,AJs,AKo
    KJs,ATs,QJs,AQo,99,JTs
    KTs,QTs,KQo,AJo,88,T9s,J9s,98s
    A9s,KJo,A8s,Q9s,QJo,A7s,A5s,A4s,A6s,A3s,JTo,77,A2s,T8s,87s,97s,76s,65s
    K9s,ATo,KTo,QTo,J8s,66,55,86s,75s,54s
    K8s,Q8s,K7s,K6s,K5s,K4s,T7s,K3s,T9o,J9o,K2s,44,33,98o,22,64s,53s,43s
    A9o,K9o,J7s,Q9o,96s,T8o,85s,J8o,74s,87o,42s,76o,32s,65o,54o
    """.split()
)


@cache
def hand_ranks() -> NDArray[np.uint8]:
    """CASPER's rank of each hand of `HANDS`, [1326]."""
    rank = {name: place for place, name in enumerate(RANKED, 1)}
    return np.array([rank[hand_class(int(a), int(b))] for a, b in HANDS], np.uint8)


def group_of(name: str) -> int:
    """The group of a class, 1 to 9.

    >>> group_of("AKo"), group_of("72o")
    (2, 9)
    """
    return next((number for number, group in enumerate(GROUPS, 1) if name in group), 9)


@cache
def _table() -> NDArray[np.float32]:
    with np.load(Path(__file__).with_name("preflop.npz")) as file:
        return file["table"]


def preflop_odds(name: str, opponents: int) -> tuple[float, float, float]:
    """Chances to win alone and to tie, and the equity, of a class against 1 to 9 random hands.

    >>> round(preflop_odds("AA", 1)[2], 2)
    0.85
    """
    if name not in CLASSES:
        raise BadValue(f"{name!r} is not a class of hands; write it as AA, AKs or AKo")
    if not 1 <= opponents <= 9:
        raise BadValue(f"{opponents} opponents; the table has 1 to 9")
    win, tie, equity = _table()[CLASSES.index(name), opponents - 1].tolist()
    return win, tie, equity


def income_rate(name: str, players: int) -> int:
    """Mean profit of a class with `players` in the pot, in thousandths of what each put in."""
    return round(1000 * (players * preflop_odds(name, players - 1)[2] - 1))
