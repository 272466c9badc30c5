"""State of the betting in a hand, updated move by move, and the decision features derived from it.

A line is an integer array [LINE] that `take` updates with each move; `describe` computes the
features that the rules of the formula player use, amounts in chips.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
from cbr_bots.loki_constants import WAIT
from cbr_holdem.table import BET_SIZES, DEAD, FOLD, MOST_RAISES, POST, RAISE, SEATS, unpacked

# Fields of a line:
SEATS_, STREET_, TOP_, POT_ = 0, 1, 2, 3
RAISES_ = 4  # bets and raises of this street, the big blind not counted
IN_ = 5  # bit set of the seats that have not folded; the next three are bit sets of seats, too
ACTED_ = 6  # have acted on this street
PAID_ = 7  # have put money in before the flop voluntarily
FIRST_ = 8  # have decided before the flop
AGGRESSOR_, BEFORE_ = 9, 10  # who bet or raised last on this street, and on the one before; or -1
BET_, GROUP_, POSITION_ = 11, 21, 31  # ten fields by seat: chips of this street; GROUP; POSITION
SMALL_ = 41  # the seat that posted less than the highest blind, or -1
LINE = 42

# Features of a decision, as `describe` writes them:
STREET, BETS, TO_CALL, POT, SIZE = 0, 1, 2, 3, 4
COMMITTED = 5  # whether we have put in chips on this street voluntarily
OPPONENTS, MAY_RAISE = 6, 7
LED = 8  # whether we made the last bet or raise of the street before
LATER = 9  # sum of one bet on each later street
GROUP, POSITION = 10, 11  # preflop: group of expected players, seats after ours up to the button
SMALL_BLIND = 12
DESCRIBED = 13


@njit
def begin(line: Any, r: Any) -> None:
    """Set `line` to the state of table row `r` before the first move."""
    line[:] = 0
    n = r[SEATS]
    line[SEATS_] = n
    line[POT_] = r[DEAD]
    line[IN_] = (1 << n) - 1
    line[AGGRESSOR_] = line[BEFORE_] = -1
    for seat in range(n):
        line[BET_ + seat] = r[POST + seat]
        line[POT_] += r[POST + seat]
        line[TOP_] = max(line[TOP_], r[POST + seat])
    # Logs of heads-up games disagree on which seat is the small blind.
    line[SMALL_] = -1
    for seat in range(n):
        if 0 < r[POST + seat] < line[TOP_] and line[SMALL_] < 0:
            line[SMALL_] = seat


@njit
def on_street(line: Any, street: Any) -> None:
    """Advance the line to a street, if it is not there yet."""
    while line[STREET_] < street:
        line[STREET_] += 1
        line[TOP_] = line[RAISES_] = line[ACTED_] = 0
        line[BEFORE_] = line[AGGRESSOR_]
        line[AGGRESSOR_] = -1
        line[BET_ : BET_ + 10] = 0


@njit
def take(line: Any, move: Any) -> None:
    """Update the line with one move, packed as in the history of a table."""
    street, seat, kind, amount = unpacked(move)
    on_street(line, street)
    line[ACTED_] |= 1 << seat
    if kind == FOLD:
        line[IN_] &= ~(1 << seat)
        return
    put = amount
    if kind == RAISE:
        put = amount - line[BET_ + seat]
        line[RAISES_] += 1
        line[TOP_] = amount
        line[AGGRESSOR_] = seat
    line[BET_ + seat] += put
    line[POT_] += put
    if put and line[STREET_] == 0:
        line[PAID_] |= 1 << seat


@njit
def _decide_first(line: Any, seat: Any, wait: Any) -> None:
    """Set group and position of a seat at its first decision; they choose its preflop strategy."""
    n = line[SEATS_]
    expected = 1.0
    for other in range(n):
        if other != seat and line[IN_] >> other & 1:
            expected += 1.0 if line[ACTED_] >> other & 1 else wait
    line[FIRST_] |= 1 << seat
    line[GROUP_ + seat] = 0 if expected < 2.5 else (1 if expected < 4.5 else 2)
    if n == 2:
        line[GROUP_ + seat] = 3
    # The blinds act last, so no seat acts between them and the button.
    line[POSITION_ + seat] = n - 1 - seat if seat > 1 else 0


@njit
def describe(line: Any, seat: Any, terms: Any, k: Any, out: Any) -> None:
    """Write the features of a seat's decision into out [DESCRIBED]."""
    street = line[STREET_]
    out[STREET] = street
    out[BETS] = line[RAISES_] + (street == 0)
    out[TO_CALL] = line[TOP_] - line[BET_ + seat]
    out[POT] = line[POT_]
    out[SIZE] = terms[BET_SIZES + street]
    out[MAY_RAISE] = line[RAISES_] < terms[MOST_RAISES + street]
    opponents = 0
    for other in range(line[SEATS_]):
        opponents += other != seat and line[IN_] >> other & 1
    out[OPPONENTS] = opponents
    out[LED] = line[BEFORE_] == seat
    later = np.int64(0)
    for s in range(street + 1, 4):
        later += terms[BET_SIZES + s]
    out[LATER] = later
    if street:
        out[COMMITTED] = line[BET_ + seat] > 0
        return
    if not line[FIRST_] >> seat & 1:
        _decide_first(line, seat, k[WAIT])
    out[COMMITTED] = line[PAID_] >> seat & 1
    out[GROUP], out[POSITION] = line[GROUP_ + seat], line[POSITION_ + seat]
    out[SMALL_BLIND] = line[SMALL_] == seat
