"""Ended hands: the cards that each seat sees, payoffs, and counts of how they were played."""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
from cbr.typing import Ints
from cbr_holdem.cards import UNKNOWN
from cbr_holdem.table import (
    BOARD,
    BOARD_CARDS,
    CALL,
    FOLD,
    FOLDED,
    HISTORY,
    HOLE,
    MOST_SEATS,
    MOVES,
    PAID,
    PAYOFF,
    PLAYERS,
    RAISE,
    SEATS,
    STREET,
    WIDTH,
    unpacked,
)

#: What is counted for each seat of a hand. Early raises and calls are those before the flop, the
#: others those after it.
COUNTS = (
    "hands",
    "vpip",
    "pfr",
    "raises",
    "calls",
    "showdown",
    "flops",
    "early_raises",
    "early_calls",
)
_HANDS, _VPIP, _PFR, _RAISES, _CALLS, _SHOWDOWN, _FLOPS, _EARLY_RAISES, _EARLY_CALLS = range(
    len(COUNTS)
)


def as_seen(rows: Ints, table: Ints, seat: Ints) -> Ints:
    """Ended tables as a seat saw them [n, WIDTH]: with others' cards only if they were shown."""
    out = np.empty((len(table), WIDTH), np.int64)
    _as_seen(rows, np.array(table), np.array(seat), out)
    return out


@njit
def _as_seen(rows: Any, table: Any, seat: Any, out: Any) -> None:
    for i in range(len(table)):
        r, seen = rows[table[i]], out[i]
        for column in range(WIDTH):
            seen[column] = r[column]
        showdown = r[PLAYERS] > 1
        for other in range(MOST_SEATS):
            shown = showdown and not r[FOLDED] >> other & 1
            if other != seat[i] and not shown:
                seen[HOLE + 2 * other] = UNKNOWN
                seen[HOLE + 2 * other + 1] = UNKNOWN
        if not showdown:
            for card in range(BOARD_CARDS[r[STREET]], 5):
                seen[BOARD + card] = UNKNOWN


def payoffs(rows: Ints, seats: int) -> Ints:
    """What each seat won or lost, in parts of a chip, [n, seats]."""
    return rows[:, PAYOFF : PAYOFF + seats]


def pots(rows: Ints) -> Ints:
    """How many hands there are, how many came to a showdown, and the chips in all pots, [3]."""
    return np.array([len(rows), (rows[:, PLAYERS] > 1).sum(), rows[:, PAID : PAID + 10].sum()])


def counted(rows: Ints, player: Ints, players: int) -> Ints:
    """`COUNTS` summed over hands for each player, [players, counts]; `player` [n, seats]."""
    out = np.zeros((players, len(COUNTS)), np.int64)
    _count(rows, player, out)
    return out


@njit
def _count(rows: Any, player: Any, out: Any) -> None:
    for i in range(len(rows)):
        r = rows[i]
        # Seats that did so before the flop, as bits.
        paid, raised, folded = np.int64(0), np.int64(0), np.int64(0)
        for m in range(r[MOVES]):
            street, seat, kind, amount = unpacked(r[HISTORY + m])
            raises, calls = kind == RAISE, kind == CALL and amount > 0
            if street == 0:
                paid |= (raises or calls) << seat
                raised |= raises << seat
                folded |= (kind == FOLD) << seat
                out[player[i, seat], _EARLY_RAISES] += raises
                out[player[i, seat], _EARLY_CALLS] += calls
            else:
                out[player[i, seat], _RAISES] += raises
                out[player[i, seat], _CALLS] += calls
        for seat in range(r[SEATS]):
            who = player[i, seat]
            out[who, _HANDS] += 1
            out[who, _VPIP] += paid >> seat & 1
            out[who, _PFR] += raised >> seat & 1
            out[who, _SHOWDOWN] += r[PLAYERS] > 1 and not r[FOLDED] >> seat & 1
            out[who, _FLOPS] += r[STREET] > 0 and not folded >> seat & 1
