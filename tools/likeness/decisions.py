"""Decisions of named players in logs of limit games, at tables as these players saw them.

A log has the cards of a player only where he showed them, at the end of a hand that he did not
fold. So a decision here is between a check or call and a bet or raise, and the sample is biased to
hands good enough for a showdown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue
from cbr.building import SourceScan, files_in
from cbr.plugging import default_plugins
from cbr.typing import Ints
from cbr_holdem.cards import DECK
from cbr_holdem.situation import ACTIONS, Pending, replay_arrays
from cbr_holdem.table import ACTOR, BET_SIZES, PLAYERS, RAISES, STREET, Game, HandArrays, read_game

_BATCH = 2000
#: Hands in a batch of replayed hands: each of their tables takes 3 kB.
_AT_ONCE = 500
_HOLES, _PLAYERS = 5, 9  # fields of a hand's text
_FOLDED = ACTIONS.index("f")
_RAISED = (ACTIONS.index("b"), ACTIONS.index("r"))
#: The cap on bets of the IRC channels, which did not hold with two players left.
_CAP = 4


@dataclass(frozen=True)
class Decisions:
    """m decisions of one game: `rows` [m, WIDTH] as the player to act saw the table, `raised` [m]
    whether he bet or raised, `street` [m], `due` [m] bets to call (0, 1, 2 or more), `hand` [m] and
    `month` [m], which of `months` it was in."""

    game: Game
    months: list[str]
    rows: Ints
    raised: NDArray[np.bool_]
    street: Ints
    due: Ints
    hand: Ints
    month: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, which: NDArray[Any]) -> Decisions:
        """The decisions at these indices or in this mask."""
        some = (self.rows, self.raised, self.street, self.due, self.hand, self.month)
        return Decisions(self.game, self.months, *(column[which] for column in some))


def decisions_in(
    logs: Sequence[str | Path], players: Collection[str], limit: int | None = None
) -> list[Decisions]:
    """The decisions of these players in which their cards are known and a raise was legal, by game;
    `limit` is the most hands of a month to read."""
    texts: dict[str, list[tuple[str, str]]] = {}
    for month, text in _hands(logs, limit):
        fields = text.split("\t")
        seats = fields[_PLAYERS:]
        holes = fields[_HOLES].split(",")
        if any(name in players and hole for name, hole in zip(seats, holes, strict=True)):
            texts.setdefault(fields[1], []).append((month, text))
    found = [_replayed(read_game(game)[0], given, players) for game, given in texts.items()]
    found = [decisions for decisions in found if len(decisions)]
    if not found:
        raise BadValue(f"no decisions with known cards of {', '.join(players)} in these logs")
    return found


def _hands(logs: Sequence[str | Path], limit: int | None) -> Iterator[tuple[str, str]]:
    """The text of every readable hand, with its month (see `month_of`)."""
    plugins = default_plugins()
    scan = SourceScan(logs, files_in(logs), plugins, "", {}, None, _BATCH)
    read: Counter[str] = Counter()
    with closing(scan.batches()) as jobs:
        for job in jobs:
            left = None if limit is None else max(0, limit - read[job.source])
            read[job.source] += len(job.items)
            for _, item in job.items[:left]:
                try:
                    text = plugins.get("case source", job.reader).body_of(item)
                except BadValue:
                    continue
                yield month_of(job.source), text


def month_of(source: str) -> str:
    """Channel and month of a file of the IRC database; any other source is its own month.

    >>> month_of("irc_pokibots.tar/holdem1/199906/hdb"), month_of("match.log")
    ('holdem1/199906', 'match.log')
    """
    parts = source.split("/")
    return "/".join(parts[-3:-1]) if parts[-1] == "hdb" else source


def _replayed(game: Game, given: Sequence[tuple[str, str]], players: Collection[str]) -> Decisions:
    months = list(dict.fromkeys(month for month, _ in given))
    parts = []
    for first in range(0, len(given), _AT_ONCE):
        some = given[first : first + _AT_ONCE]
        hands = HandArrays.read([text for _, text in some])
        played = replay_arrays(hands, keep_tables=True)
        assert played.tables is not None
        rows = played.tables
        asked = np.isin(hands.players, list(players))
        # `place` is sorted, so binary search finds each hand among those that were read.
        wanted = asked[np.searchsorted(hands.place, played.hand), rows[:, ACTOR]]
        shown = played.situations.hole.max(axis=1, initial=0) < DECK
        pending = Pending(rows, game, np.arange(len(rows)))
        # The replayed games have no cap; the channels had one with more than two players.
        bets = rows[:, RAISES] + (rows[:, STREET] == 0)
        choice = (pending.raise_to > 0) & ((bets < _CAP) | (rows[:, PLAYERS] == 2))
        kept = np.flatnonzero(wanted & shown & choice & (played.action != _FOLDED))
        street = rows[kept, STREET]
        due = -(-pending.call[kept] // game.terms[BET_SIZES + street])
        hand = played.hand[kept]
        parts.append(
            (
                pending.take(kept).seen(),
                np.isin(played.action[kept], _RAISED),
                street,
                np.minimum(due, 2),
                first + hand,
                np.array([months.index(month) for month, _ in some])[hand],
            )
        )
    return Decisions(game, months, *(np.concatenate(column) for column in zip(*parts, strict=True)))
