"""The possible actions of a decision, and the classes of bet and raise sizes."""

from __future__ import annotations

#: Fold, check, call, bet, raise.
ACTIONS = ("f", "k", "c", "b", "r")
#: Sizes of bets and raises (van der Kleij, 4.6): the least that is legal, and shares of the pot.
SIZES = ("min", "1/4", "1/2", "3/4", "1", "3/2", "2")
#: The same sizes as shares of the pot after a call; 0 stands for the least legal raise.
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
