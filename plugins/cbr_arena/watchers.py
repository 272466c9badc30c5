"""Watchers: what is kept of the players at a table, from one match to the next (`--remember FILE`).

A watcher is shown every finished hand as a spectator saw it: all moves, and of the cards those that
were shown at a showdown. Plugins add kinds of watchers through the hook `cbr_watchers`; the arena
uses the kind `opponents`. What earlier matches left is read once, before the first hand, and what
is new is added after the last one. So no deal of a match that is played in several seatings can be
recognised, and results do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from cbr import BadValue
from cbr.plugging import default_plugins
from cbr.typing import Ints
from cbr_arena.players import Player
from cbr_arena.showing import as_seen
from cbr_holdem.table import Game, Table

#: Hands after which a match of unknown length adds what was seen to the file.
_OFTEN = 100


class Watcher(Protocol):
    """What was seen of players by name. It is sent to the processes that play a match."""

    def watch(self, tables: Ints, names: Sequence[Sequence[str]], game: Game) -> None:
        """Count finished hands, in their order: tables [n, WIDTH] and the names of their seats; a
        seat without a name is not counted."""
        ...

    def fresh(self) -> Self:
        """One with the same options that has seen nothing."""
        ...

    def copy(self) -> Self:
        """The same, to go on apart from this one."""
        ...

    def merge(self, later: Self) -> None:
        """Add what another one saw in later hands."""
        ...


class WatcherFile(Protocol):
    """A file of what was seen, to which several processes may add at once."""

    def recall(self, betting: str, names: Sequence[str] | None = None) -> Any:
        """What was seen of some players, or of all, in a kind of game: a `Watcher`."""
        ...

    def add(self, seen: Any) -> None:
        """Add what a `Watcher` saw that was `fresh`."""
        ...


@dataclass(frozen=True)
class WatcherKind:
    """A kind of watcher by name; `open(text)` opens the file that a spec names, and makes one if
    there is none."""

    name: str
    open: Callable[[str], WatcherFile]
    help: str = ""

    kind: ClassVar[str] = "watcher"


def open_watcher(text: str) -> WatcherFile:
    """The file of `--remember`."""
    kinds = default_plugins().named("watcher")
    if "opponents" not in kinds:
        raise BadValue("--remember needs the plugin `opponents`, which is not loaded")
    opened: WatcherFile = kinds["opponents"].open(text)
    return opened


def known_as(player: Player) -> str:
    """The name under which a player is remembered: all players of one spec are the same."""
    return player.spec or player.name


def watch_publicly(watcher: Any, rows: Ints, names: Sequence[Sequence[str]], game: Game) -> None:
    """Show a watcher finished tables [n, WIDTH] as a spectator saw them."""
    every = np.arange(len(rows))
    watcher.watch(as_seen(rows, every, np.full(len(rows), -1)), names, game)


class Notes:
    """What is seen at one table while it is played, added to a file every now and then."""

    def __init__(self, text: str, game: Game, names: Sequence[str], often: int = _OFTEN) -> None:
        self.file, self.game, self.often = open_watcher(text), game, often
        #: What was seen before the match.
        self.known: Any = self.file.recall(game.betting, names)
        self._seen, self._hands = self.known.fresh(), 0

    def hand(self, rows: Ints, names: Sequence[str]) -> None:
        """Watch a finished hand, a table [1, WIDTH]."""
        watch_publicly(self._seen, rows, [names], self.game)
        self._hands += 1
        if self._hands >= self.often:
            self.save()

    def save(self) -> None:
        """Add what was seen since the last time to the file."""
        if self._hands:
            self.file.add(self._seen)
            self._seen, self._hands = self.known.fresh(), 0


@dataclass(frozen=True)
class SeatNotes:
    """The notes of one seat: `names` are those of the others, in the order of seats after it."""

    notes: Notes
    names: Sequence[str]

    def __call__(self, table: Table, seat: int) -> None:
        """Watch a finished hand, in which the seat was this one."""
        others = ["", *self.names]
        self.notes.hand(
            table.rows, [others[(at - seat) % len(others)] for at in range(table.seats)]
        )
