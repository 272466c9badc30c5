"""The possible actions of a decision, and the classes of bet and raise sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cbr.typing import Flags

#: Fold, check, call, bet, raise.
ACTIONS = ("f", "k", "c", "b", "r")
#: Sizes of bets and raises (after van der Kleij, 4.6): the least that is legal, shares of the pot,
#: and the player's whole stack. Everything that classifies or plays a size uses these.
SIZES = ("min", "1/4", "1/2", "3/4", "1", "3/2", "2", "3", "5", "10", "all-in")
#: The same sizes as shares of the pot after a call; 0 stands for the least legal raise, infinity
#: for the whole stack.
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, math.inf)


def legal_solutions(
    solutions: Sequence[str], free: Flags, may_raise: Flags, preflop: Flags | bool
) -> Flags:
    """Which solutions are legal in each decision, [n, solutions]; `free` [n] is true where there is
    nothing to call, `may_raise` [n] where a bet or raise is legal."""
    # The big blind counts as a bet, so before the flop there are raises but no bets.
    opens = free & ~np.asarray(preflop)
    by_letter = {
        "f": ~free,
        "k": free,
        "c": ~free,
        "b": opens & may_raise,
        "r": ~opens & may_raise,
    }
    return np.stack([by_letter[solution[0]] for solution in solutions], axis=1)
