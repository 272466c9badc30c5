"""Splits of observed decisions: what a model is fitted to, and what it is tested on.

Never by hand: decisions of one player are alike, and a model that knows him would look better than
it is among strangers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cbr.errors import BadValue, NoSuchName
from cbr.typing import Flags
from cbr_opponents.learning import Observed

SPLITS = ("players", "time", "leave-player-out")
#: The share of players, or of the last hands, that a model is tested on.
_TESTED = 0.2
#: Most players that are left out one after the other: those with the most decisions.
_LEFT_OUT = 10


class Split(NamedTuple):
    """Decisions that a model is fitted to and tested on, masks [n]; `left_out` names the player."""

    known: Flags
    tested: Flags
    left_out: str = ""


def verify_split(how: str) -> None:
    """Raise if there is no such way to split."""
    if how not in SPLITS:
        raise NoSuchName("split", how, SPLITS)


def splits_of(observed: Observed, how: str, seed: int = 0) -> Iterator[Split]:
    """The splits of some decisions by a way of `SPLITS`."""
    verify_split(how)
    players = np.unique(observed.player)
    if how == "time":
        hands = np.unique(observed.hand)
        if len(hands) < 2:
            raise BadValue("one hand cannot be split by time; build more hands")
        tested = observed.hand >= np.quantile(hands, 1.0 - _TESTED, method="nearest")
        yield Split(~tested, tested)
        return
    if len(players) < 2:
        raise BadValue(
            f"{observed.names[players[0]]!r} is the only player, so nobody can be held out; use "
            "--split time"
        )
    if how == "players":
        ranked = sorted(players.tolist(), key=lambda at: _shuffled(observed.names[at], seed))
        held = ranked[: max(1, round(_TESTED * len(ranked)))]
        tested = np.isin(observed.player, held)
        yield Split(~tested, tested)
        return
    often = players[np.argsort(-np.bincount(observed.player)[players], kind="stable")]
    for player in often[:_LEFT_OUT]:
        tested = observed.player == player
        yield Split(~tested, tested, observed.names[player])


def _shuffled(name: str, seed: int) -> bytes:
    """A key that orders names at random, the same in any log."""
    return hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest()
