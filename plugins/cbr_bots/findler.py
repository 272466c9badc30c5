"""Findler's player (1977), after the lecture on poker programs: pot price against hand value.

Only the quantities it compares are published. Some of his players bet by

    RH = TABLEPOT / (LIVE x (RAISECOUNT + 1) x FOLLOWERS x RAISE)

with the pot, the players still in, the raises of this round, the players who come after us and so
can raise, and what it costs to stay in: the larger RH, the better the price. Hands are valued by
playing them out. It was made for five-card draw. Our choices, where nothing is published:

- Amounts are in small bets (big blinds in no-limit), so nothing depends on the stakes. FOLLOWERS
  and RAISE count at least 1, also for half a bet of the small blind.
- LIVE includes ourselves. A bet counts as a raise, the blinds do not. FOLLOWERS are the players who
  must still act if we call.
- The value of a hand is its equity against one random hand, ties counting half: from the preflop
  table, later enumerated over all run-outs. The number of opponents enters RH only.
- The hand value needed to stay falls from one bound to another as RH grows (`needed`). A hand that
  exceeds it by a margin, and is well ahead of an average hand, bets or raises. The numbers were
  tuned in matches.
- It has no memory, is deterministic and never bluffs. In no-limit games `size` is its bet size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.typing import Floats
from cbr_arena import CALL, FOLD, RAISE, Actions, Chance
from cbr_bots.sizes import size_of, verify_size
from cbr_bots.two_cards import equities
from cbr_holdem.situation import Pending
from cbr_holdem.table import BET_SIZES

#: Hand value needed to stay at the worst price and at the best, and the RH half-way between.
DEAR, CHEAP, HALF = 0.65, 0.32, 0.4
#: A raise needs a hand of at least this value, and this margin above the value needed to stay.
RAISES, MARGIN = 0.6, 0.1


def rh_of(table_pot: Any, live: Any, raise_count: Any, followers: Any, raise_: Any) -> Any:
    """RH as published; FOLLOWERS and RAISE count at least 1.

    >>> float(rh_of(12, 3, 1, 2, 1))
    1.0
    """
    least = np.maximum(1, followers) * np.maximum(1, raise_)
    return table_pot / (live * (raise_count + 1) * least)


def needed(rh: Any) -> Any:
    """The hand value needed to stay in at price RH.

    >>> needed(0.0), round(needed(HALF), 3)
    (0.65, 0.485)
    """
    return CHEAP + (DEAR - CHEAP) / (1.0 + rh / HALF)


class Findler:
    memory = None

    def __init__(self, size: str = "min") -> None:
        self.size = verify_size(size)
        self.before_flop = equities()

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Actions:
        value, needs = self.value(situations), needed(price(situations))
        kind = np.where(value >= needs, CALL, FOLD)
        raises = (value >= np.maximum(RAISES, needs + MARGIN)) & (situations.raise_to > 0)
        return Actions(np.where(raises, RAISE, kind), size_of(self.size, situations))

    def value(self, situations: Pending) -> Floats:
        """Equity against one random hand, [n]."""
        one, two = situations.hole.T
        found: Floats = self.before_flop[one, two]
        later = np.flatnonzero(situations.street > 0)
        if len(later):
            found[later] = situations.take(later)["e_hs"]
        return found


def price(situations: Pending) -> Floats:
    """RH of staying in, [n]."""
    small = situations.game.terms[BET_SIZES]
    found: Floats = rh_of(
        table_pot=situations.chips / small,
        live=situations["opponents"] + 1,
        raise_count=situations["bets"] - (situations.street == 0),
        followers=situations["yet_to_act"],
        raise_=situations.call / small,
    )
    return found
