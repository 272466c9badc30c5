"""The free constants of the formula player in one place: what was published, and what is ours."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from cbr.errors import NoSuchName


@dataclass(frozen=True)
class Constants:
    """What the rules of `triples` and `weight_tables` compare with. [S] is published, [O] ours."""

    make1: float = 0.50  #: [S] EHS' from which it bets, and calls a bet
    make2: float = 0.85  #: [S] EHS' from which it raises a bet
    make4: float = 0.90  #: [O] EHS' from which it raises again; published rules then only call
    width: float = 0.05  #: [O] make1 is smoothed by so much to either side
    width2: float = 0.05  #: [O] the same for make2
    width4: float = 0.025  #: [O] and for make4
    odds_width: float = 0.04  #: [O] the same for potential and hand strength against odds
    income_width: float = 60.0  #: [O] the same for income rates
    semi_bluff: float = 0.6  #: [O] how often a draw with the odds of rule 3 is bet; rules: always
    barrel: float = 0.35  #: [O] how often a bet of the street before is followed up without a hand
    bluff: float = 0.01  #: [O] how often nothing is bet into nobody's bet
    showdown: float = 1.0  #: [O] bets expected on each later street in the showdown odds (rule 5)
    trap: float = 0.0  #: [O] how often a hand from make2 on is checked, to raise; rules: never
    slip: float = 0.004  #: [O] share of each triple that is spread over what is legal
    slip_raise: float = 0.33  #: [O] how much of that are raises; the rest is half folds, half calls
    wait: float = 0.6  #: [S] how much of a player who has still to act is expected in the pot
    floor: float = 0.01  #: [S] no weight falls below this
    doubt: float = 0.15  #: [O] how much of a bet or raise says nothing about the hand
    doubt_call: float = 0.4  #: [O] the same of a call
    doubt_check: float = 0.7  #: [O] and of a check; Loki-1 learns nothing from one, Loki-2 all
    station: float = 0.1  #: [O] how likely a player is one who only checks and calls, unseen
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
    WIDTH2,
    WIDTH4,
    ODDS_WIDTH,
    INCOME_WIDTH,
    SEMI_BLUFF,
    BARREL,
    BLUFF,
    SHOWDOWN,
    TRAP,
    SLIP,
    SLIP_RAISE,
    WAIT,
    FLOOR,
    DOUBT,
    DOUBT_CALL,
    DOUBT_CHECK,
    STATION,
    SIGMA,
    SIGMA_INCOME,
) = range(23)


#: Constants by name. `usual` are for winning: ours were chosen by matches with `lag`, `miniloki`
#: and `call`. `poki` are for being like the real programs, and win less: ours are those that guess
#: best what loki2b and pokibot1 did with hands they showed on the IRC channel holdem1 in June 1999
#: (`tools/loki_likeness.py LOG --tune holdem1/199906 --constants usual --search`). No other month
#: had a part in their values; which constants there are was decided with three months in view.
SETTINGS = {
    "usual": Constants(),
    "poki": Constants(
        make4=0.8,
        width=0.338,
        width2=0.7,
        width4=0.7,
        odds_width=0.202,
        income_width=100.5,
        semi_bluff=0.75,
        barrel=0.52,
        bluff=0.115,
        showdown=1.22,
        trap=0.0,
        slip=0.107,
        slip_raise=0.05,
        doubt=0.9,
        doubt_call=0.216,
        doubt_check=0.6,
    ),
}


def constants_of(setting: str) -> Constants:
    """The constants of a setting."""
    if setting not in SETTINGS:
        raise NoSuchName("setting of loki's constants", setting, SETTINGS)
    return SETTINGS[setting]
