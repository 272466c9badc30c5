"""Replays hands: those of a log to their decisions with the moves of the grid, and that of a table
from its beginning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Ints
from cbr_holdem.situation import Replayed, replay_arrays
from cbr_holdem.table import (
    BOARD,
    CALL,
    DEAD,
    FOLD,
    HOLE,
    MOST_SEATS,
    OVER,
    PAID,
    POST,
    RAISE,
    SEATS,
    STACK,
    HandArrays,
    deal_posted,
)

#: Hands in a batch of replayed hands.
BATCH = 400
#: FOLD, CALL or RAISE for each of `cbr_holdem.situation.actions.ACTIONS`.
_KINDS = np.array([FOLD, CALL, CALL, RAISE, RAISE])


def replay_decisions(bodies: Sequence[str]) -> tuple[Replayed, Ints, NDArray[Any]]:
    """The decisions of some hands with their tables, the terms of each one's game [m, ..], and the
    name of each one's player [m]."""
    hands = HandArrays.read(bodies)
    played = replay_arrays(hands, keep_tables=True)
    place = np.zeros(len(bodies), np.int64)
    place[hands.place] = np.arange(len(hands.place))
    at = place[played.hand]
    return played, hands.terms[at], hands.players[at, played.situations.place[:, 1]]


def logged_moves(played: Replayed, moves: int) -> Ints:
    """The move of the grid (an index below `moves`) of each decision, [m]."""
    kind = _KINDS[played.action]
    sized: Ints = kind + np.where((kind == RAISE) & (moves > 3), np.maximum(played.size, 0), 0)
    return sized


@njit
def begin_again(r: Any, end: Any, terms: Any) -> None:
    """Set the table `r` to the beginning of the hand of the table `end`, from where its moves can
    be played once more."""
    seats = end[SEATS]
    antes = np.zeros(MOST_SEATS, np.int64)
    over = np.int64(0)
    for seat in range(seats):
        over += end[OVER + seat]
    for seat in range(seats):
        antes[seat] = (end[DEAD] - over) // seats + end[OVER + seat]
    stacks = end[STACK : STACK + MOST_SEATS] + end[PAID : PAID + MOST_SEATS]
    deal_posted(r, terms, seats, stacks, end[POST:], antes, end[HOLE:])
    for place in range(5):
        r[BOARD + place] = end[BOARD + place]
