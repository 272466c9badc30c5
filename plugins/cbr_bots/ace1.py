"""ACE1 (Gerritsen, table 5.1), a bot that uses only its hole cards and the street.

Where its table says fold and a check is free, it checks. Hand groups are those of Sklansky and
Malmuth; hands in none of their eight groups are group 9.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr_arena import CALL, FOLD, RAISE, Actions, Chance
from cbr_bots.sizes import size_of, verify_size
from cbr_holdem.cards import HANDS, hand_class
from cbr_holdem.situation import Pending
from cbr_holdem.strength import group_of

#: Thresholds by street to bet or raise, and to call. Before the flop the value is minus the group,
#: later the sum of the ranks.
_RAISES = np.array([-3, 16, 20, 22])
_CALLS = np.array([-8, 12, 16, 20])


class Ace1:
    memory = None

    def __init__(self, size: str = "min") -> None:
        self.size = verify_size(size)
        self.group = np.zeros((52, 52), np.int64)
        for one, two in HANDS.tolist():
            group = group_of(hand_class(one, two))
            self.group[one, two] = self.group[two, one] = group

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Actions:
        one, two = situations.hole.T
        street = situations.street
        # The deuce counts 0 and the ace 12.
        worth = np.where(street == 0, -self.group[one, two], (one >> 2) + (two >> 2))
        kind = np.where(worth >= _CALLS[street], CALL, FOLD)
        raises = (worth >= _RAISES[street]) & (situations.raise_to > 0)
        return Actions(np.where(raises, RAISE, kind), size_of(self.size, situations))
