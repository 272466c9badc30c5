"""The layout of a table as one row of whole numbers.

Compiled code passes a single array, and a copy of a row is a complete state of the game.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbr_holdem.table.game import MOST_SEATS
from cbr_holdem.table.moves import unpacked

FOLD, CALL, RAISE = 0, 1, 2
#: Actions that a hand's history has room for; when it is nearly full, raises end.
MOST_MOVES = 256
#: Payoffs are in 1/2520 of a chip, so that a pot can be split exactly among up to ten players.
PARTS = 2520

# Columns of a row; where each seat has a value, the first of ten columns:
SEATS, STREET, ACTOR = 0, 1, 2  # number of seats; 0 to 3; the seat to act, -1 when it is over
RAISE_BY = 3  # the largest raise of this street
RAISES = 4  # bets and raises of this street
SHORT = 5  # sum of all-in raises that were not full, one after the other
LEAST_TO = 6  # acpc: the least amount to raise to
MOVES = 7  # actions so far
TOP = 8  # the highest bet of this street
PLAYERS = 9  # number of players who have not folded
# Sets of seats, a bit for each:
FOLDED = 10
PENDING = 11  # have still to act in this round
ACTED = 12  # have acted since the last full raise
LIVE = 13  # win a part of a pot
DEAD = 14  # antes, which are nobody's bet
STACK = 15
BET = 25  # chips put in on this street
PAID = 35  # and in the whole hand
POST = 45  # and before the first action: blinds, and what newcomers post
OVER = 55  # the part of an ante above the least ante: it is in the pot and is never returned
PAYOFF = 65  # parts of chips won or lost, when the hand is over
STRENGTH = 75  # strength of each hand at a showdown
HOLE = 85  # two cards for each seat
BOARD = 105  # all five cards; how many show depends on the street
HISTORY = 110  # the moves, packed (`moves`)
WIDTH = HISTORY + MOST_MOVES


@dataclass(frozen=True)
class Tables:
    """n tables: `rows` [n, WIDTH], and its parts by name."""

    rows: NDArray[np.int64]

    @property
    def actor(self) -> NDArray[np.int64]:
        return self.rows[:, ACTOR]

    @property
    def street(self) -> NDArray[np.int64]:
        return self.rows[:, STREET]

    @property
    def stack(self) -> NDArray[np.int64]:
        return self._seats(STACK)

    @property
    def bet(self) -> NDArray[np.int64]:
        return self._seats(BET)

    @property
    def paid(self) -> NDArray[np.int64]:
        return self._seats(PAID)

    @property
    def folded(self) -> NDArray[np.bool_]:
        return (self.rows[:, FOLDED, None] >> np.arange(MOST_SEATS) & 1).astype(bool)

    @property
    def payoff(self) -> NDArray[np.float64]:
        """Chips won or lost."""
        return self._seats(PAYOFF) / PARTS

    def _seats(self, first: int) -> NDArray[np.int64]:
        return self.rows[:, first : first + MOST_SEATS]

    def history(self, table: int) -> list[tuple[int, int, int, int]]:
        """The actions of a hand: street, seat, kind, and price of a call or total of a raise."""
        moves = self.rows[table, HISTORY : HISTORY + int(self.rows[table, MOVES])].tolist()
        return [unpacked(move) for move in moves]


def new_tables(count: int) -> Tables:
    """`count` tables at which no hand has begun."""
    rows = np.zeros((count, WIDTH), np.int64)
    rows[:, ACTOR] = -1
    return Tables(rows)
