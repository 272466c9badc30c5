"""Constants of the formula player: the published ones, and those chosen for this program."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from cbr.errors import NoSuchName


@dataclass(frozen=True)
class Constants:
    """Constants of the rules in `triples` and `weight_tables`. [S] is published, [O] ours."""

    make1: float = 0.50  #: [S] EHS' from which it bets, and calls a bet
    make2: float = 0.85  #: [S] EHS' from which it raises a bet
    make4: float = 0.90  #: [O] EHS' from which it raises again; published rules then only call
    width: float = 0.05  #: [O] half-width of the smoothing of make1
    width2: float = 0.05  #: [O] half-width of the smoothing of make2
    width4: float = 0.025  #: [O] half-width of the smoothing of make4
    odds_width: float = 0.04  #: [O] half-width where potential or strength is compared with odds
    income_width: float = 60.0  #: [O] half-width where income rates are compared
    semi_bluff: float = 0.6  #: [O] probability of the semi-bluff of rule 3; published: always
    barrel: float = 0.35  #: [O] probability to bet again without a hand after betting last street
    bluff: float = 0.01  #: [O] probability to bet without a hand where nobody has bet
    showdown: float = 1.0  #: [O] bets expected on each later street in the showdown odds (rule 5)
    trap: float = 0.0  #: [O] probability to check a hand above make2, to raise; published: never
    slip: float = 0.004  #: [O] share of each triple that is spread over the legal actions
    slip_raise: float = 0.33  #: [O] share of raises in `slip`; the rest is half folds, half calls
    wait: float = 0.6  #: [S] probability that a player who has yet to act enters the pot
    floor: float = 0.01  #: [S] lower bound of weights
    doubt: float = 0.15  #: [O] probability that a bet or raise does not depend on the hand
    doubt_call: float = 0.4  #: [O] the same for a call
    doubt_check: float = 0.7  #: [O] the same for a check; 1 would be Loki-1, 0 Loki-2
    station: float = 0.1  #: [O] prior probability that a player only checks and calls
    sigma: float = 0.2  #: [S] spread of a threshold after the flop, with Loki-1's frequencies
    sigma_income: float = 330.0  #: [S] the same before the flop, in income rate

    def numbers(self) -> NDArray[np.float64]:
        """The constants as an array for compiled code, indexed by the names below."""
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


#: Named sets of constants. `usual` is tuned to win: its [O] values were chosen by matches against
#: `lag`, `miniloki` and `call`. `poki` imitates the real programs, and wins less: its [O] values
#: predict best the actions of loki2b and pokibot1 with hands they showed on the IRC channel holdem1
#: in June 1999 (`tools/loki_likeness.py LOG --tune holdem1/199906 --constants usual --search`). The
#: values were fitted on that month only; the choice of constants was made on three months.
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
