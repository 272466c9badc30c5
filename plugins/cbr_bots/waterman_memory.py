"""Memory of Waterman's player: counts of the opponents' actions in earlier hands of the session.

Seats change with every hand but the order of the players does not, so an opponent is identified by
how many seats after us he sits. Frequencies are estimated with a prior: `HABITS` are the prior
frequencies, with the weight of `TRUST` observed actions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
from cbr_holdem.table import (
    ACTOR,
    CALL,
    FOLD,
    FOLDED,
    HISTORY,
    MOST_SEATS,
    MOVES,
    POST,
    RAISE,
    SEATS,
    STREET,
    unpacked,
)

#: Counts for each opponent: his actions, his bets and raises; how often he faced a bet after the
#: flop, and how often he folded to it.
ACTS, RAISES, FACED, FOLDS = range(4)
MEMORY = np.dtype([("seen", np.int64, (MOST_SEATS, 4))])

#: Columns of the output of `recall`.
ALL_FOLD, BETS_NOW, CONSERVATIVE = range(3)

#: Prior share of actions that are bets or raises, and of bets that are folded to; prior weight.
HABITS = (0.2, 0.3)
TRUST = 10


@njit
def learn(tables: Any, seats: Any, seen: Any) -> None:
    """Count the opponents' actions in finished hands, into seen [n, 10, 4]."""
    for i in range(len(tables)):
        r, own = tables[i], seats[i]
        bets = r[POST : POST + MOST_SEATS].copy()
        street = 0
        for m in range(r[MOVES]):
            when, who, kind, amount = unpacked(r[HISTORY + m])
            if when != street:
                street = when
                bets[:] = 0
            if who != own:
                count = seen[i, (who - own) % r[SEATS]]
                count[ACTS] += 1
                count[RAISES] += kind == RAISE
                if street and bets.max() > bets[who]:
                    count[FACED] += 1
                    count[FOLDS] += kind == FOLD
            if kind == RAISE:
                bets[who] = amount
            elif kind == CALL:
                bets[who] += amount


@njit
def _share(part: Any, whole: Any, habit: Any) -> Any:
    return (part + TRUST * habit) / (whole + TRUST)


@njit
def recall(tables: Any, seen: Any, out: Any) -> Any:
    """For the opponents still in at tables [n, WIDTH]: write the probability that all of them fold
    to a bet, the number of their bets and raises of this round, and how conservative they are into
    out [n, 3]; return the number of opponents [n].

    Conservatism is the share of actions that are not bets or raises: that of the opponent who bet
    or raised last in this hand, else the mean over opponents.
    """
    opponents = np.zeros(len(tables), np.int64)
    for i in range(len(tables)):
        r = tables[i]
        own, last = r[ACTOR], np.int64(-1)
        out[i, ALL_FOLD], out[i, BETS_NOW], out[i, CONSERVATIVE] = 1.0, 0.0, 0.0
        for m in range(r[MOVES]):
            when, who, kind, _amount = unpacked(r[HISTORY + m])
            if kind == RAISE and who != own and not r[FOLDED] >> who & 1:
                last = who
                out[i, BETS_NOW] += when == r[STREET]
        for other in range(r[SEATS]):
            if other != own and not r[FOLDED] >> other & 1:
                count = seen[i, (other - own) % r[SEATS]]
                opponents[i] += 1
                out[i, ALL_FOLD] *= _share(count[FOLDS], count[FACED], HABITS[1])
                out[i, CONSERVATIVE] += 1.0 - _share(count[RAISES], count[ACTS], HABITS[0])
        out[i, CONSERVATIVE] /= opponents[i]
        if last >= 0:
            count = seen[i, (last - own) % r[SEATS]]
            out[i, CONSERVATIVE] = 1.0 - _share(count[RAISES], count[ACTS], HABITS[0])
    return opponents
