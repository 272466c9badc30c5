"""CASPER's two genetic algorithms as plans, with the figures of the thesis (Rubin 2007).

Profits there are in dollars over 5,000 hands with a small bet of $10: $1,000 are 0.02 sb/h.
"""

from __future__ import annotations

from cbr.evolve import Generational

#: A dollar of profit in a generation, in small bets a hand.
_DOLLAR = 1 / (10 * 5_000)

SELF_PLAY = Generational(
    "casper-self-play",
    "CASPER's self-play: nine at one table, 5,000 hands a generation, nine runs and their winners",
    population=9,
    generations=10,
    trials=5_000,
    runs=9,
    copies=3,
    pairs=3,
    mutations=1,
    arena="holdem?style=casper",
    together=True,
    published={
        "by": "CASPER (Rubin 2007), in small bets a hand at $10",
        "range, first generation": 9_655.95 * _DOLLAR,
        "range, last generation": 6_518.19 * _DOLLAR,
        "rates": {"evolved": -0.06, "hand-picked": 0.004, "random": -0.11},
    },
)

OPPONENTS = Generational(
    "casper-opponents",
    "CASPER's second: three individuals and six opponents, nine runs to three to one",
    population=3,
    generations=5,
    trials=5_000,
    runs=9,
    copies=1,
    pairs=1,
    mutations=0,
    mutation_chance=0.01,
    arena="holdem?against=loki*6&style=casper",
    together=True,
    published={
        "by": "CASPER (Rubin 2007), in small bets a hand at $10",
        "rates": {"evolved": 0.006, "hand-picked": 0.004, "random": -0.11},
    },
)

PLANS = (SELF_PLAY, OPPONENTS)
