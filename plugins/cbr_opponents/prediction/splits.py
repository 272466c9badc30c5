"""Splits of observed decisions: what a model is fitted to, and what it is tested on.

Never by hand: decisions of one player are alike, and a model that knows him would look better than
it is among strangers. Programs play the same cards in several matches (forward and reversed, and
one pair of players after the other), so their hands are split by the number of the match.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cbr.errors import BadValue, NoSuchName
from cbr.store import Casebase
from cbr.typing import Flags, Ints
from cbr_opponents.learning import Observed

SPLITS = ("players", "time", "leave-player-out", "matches")
#: The share of players, of matches, or of the last hands, that a model is tested on.
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


def matches_of(base: Casebase, observed: Observed) -> Ints:
    """The number of the match of each decision [n]: the last number in the name of the file that
    its hand was read from. Files without a number are matches of their own."""
    names = dict(base.db.execute("SELECT id, name FROM sources ORDER BY id").fetchall())
    keys: dict[str, int] = {}
    match = {}
    for source, name in names.items():
        numbers = re.findall(r"\d+", name.rsplit("/", 1)[-1])
        match[source] = keys.setdefault(numbers[-1] if numbers else name, len(keys))
    rows = base.db.execute(f"SELECT id, source FROM {base.records_table} ORDER BY id").fetchall()
    record, source = np.array(rows, np.int64).T
    of = np.array([match[one] for one in source.tolist()], np.int64)
    return of[np.searchsorted(record, observed.hand)]


def splits_of(
    observed: Observed, how: str, seed: int = 0, base: Casebase | None = None
) -> Iterator[Split]:
    """The splits of some decisions by a way of `SPLITS`; `matches` needs the casebase too."""
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
    in_match = np.ones(len(observed), bool)
    if how == "matches":
        in_match = _held_matches(observed, seed, base)
    often = players[np.argsort(-np.bincount(observed.player)[players], kind="stable")]
    for player in often[:_LEFT_OUT]:
        mine = observed.player == player
        tested = mine & in_match
        others = ~mine if how == "leave-player-out" else ~mine & ~in_match
        if tested.any() and others.any():
            yield Split(others, tested, observed.names[player])


def _held_matches(observed: Observed, seed: int, base: Casebase | None) -> Flags:
    """The decisions of a fifth of the matches, drawn at random."""
    assert base is not None
    match = matches_of(base, observed)
    there = np.unique(match)
    if len(there) < 2:
        raise BadValue(
            f"{base.path} has one match only; build files whose names end in different numbers, "
            "or use --split players"
        )
    held = np.random.default_rng(seed).permutation(there)[: max(1, round(_TESTED * len(there)))]
    found: Flags = np.isin(match, held)
    return found


def _shuffled(name: str, seed: int) -> bytes:
    """A key that orders names at random, the same in any log."""
    return hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest()
