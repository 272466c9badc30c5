"""The free constants of the formula player in one place: what was published, and what is ours."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Constants:
    """What the rules of `triples` and `weight_tables` compare with. [S] is published, [O] ours."""

    make1: float = 0.50  #: [S] EHS' from which it bets, and calls a bet
    make2: float = 0.85  #: [S] EHS' from which it raises a bet
    make4: float = 0.97  #: [O] EHS' from which it raises again; published rules then only call
    width: float = 0.05  #: [O] EHS' thresholds are smoothed by so much to either side
    odds_width: float = 0.04  #: [O] the same for potential and hand strength against odds
    income_width: float = 60.0  #: [O] the same for income rates
    semi_bluff: float = 1.0  #: [O] how often a draw with the odds of rule 3 is bet; rules: always
    barrel: float = 0.35  #: [O] how often a bet of the street before is followed up without a hand
    bluff: float = 0.03  #: [O] how often nothing is bet into nobody's bet
    showdown: float = 1.0  #: [O] bets expected on each later street in the showdown odds (rule 5)
    slip: float = 0.01  #: [O] share of each triple that is spread evenly over what is legal
    wait: float = 0.6  #: [S] how much of a player who has still to act is expected in the pot
    floor: float = 0.01  #: [S] no weight falls below this
    doubt: float = 0.15  #: [O] how much of a bet or raise says nothing about the hand
    doubt_call: float = 0.4  #: [O] the same of a call
    doubt_check: float = 0.7  #: [O] and of a check; Loki-1 learns nothing from one, Loki-2 all
    sigma: float = 0.2  #: [S] spread of a threshold after the flop, by frequencies
    sigma_income: float = 330.0  #: [S] and before it, in income rate

    def numbers(self) -> NDArray[np.float64]:
        """As compiled code takes them, in the order of the names below."""
        return np.array(astuple(self))


(
    MAKE1,
    MAKE2,
    MAKE4,
    WIDTH,
    ODDS_WIDTH,
    INCOME_WIDTH,
    SEMI_BLUFF,
    BARREL,
    BLUFF,
    SHOWDOWN,
    SLIP,
    WAIT,
    FLOOR,
    DOUBT,
    DOUBT_CALL,
    DOUBT_CHECK,
    SIGMA,
    SIGMA_INCOME,
) = range(18)
