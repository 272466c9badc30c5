"""Replays the hands of a log to their decisions, and maps each decision to a move of the grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.typing import Ints
from cbr_holdem.situation import Replayed, replay_arrays
from cbr_holdem.table import CALL, FOLD, RAISE, HandArrays

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
