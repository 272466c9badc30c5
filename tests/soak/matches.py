"""Matches one after another: whether memory, descriptors, files or processes add up.

They are of many kinds, in one process as in a long match. `SOAK_SECONDS` sets how long a piece
plays; more shows what grows more slowly.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from cbr.plugging import Plugins, default_plugins, use_plugins
from cbr_arena import Match, play, players_of
from cbr_holdem.table import Game
from soak.part import Found

#: A bot of each form that is not our own, and one that ends its process now and then.
GUESTS = """
import os
import numpy as np
from cbr_arena import Actions, bot

@bot("soak_fast")
class Fast:
    memory = np.dtype([("n", np.int64)])
    def act(self, situations, memory, chance):
        memory["n"] += 1
        return Actions(np.where(chance.random() < 0.7, 1, 2 * (situations.raise_to > 0)))
    def remember(self, tables, seats, memory):
        pass

@bot("soak_view")
class View:
    def act(self, view):
        return "r" if view.raise_to and view["pot_odds"] < 0.2 else "c"

@bot("soak_crash")
class Crash:
    memory = None
    def act(self, situations, memory, chance):
        if (chance.random() < 0.05).any():
            os._exit(1)
        return np.ones(situations.count, np.int64)
"""
#: Seconds of a piece.
_SECONDS = float(os.environ.get("SOAK_SECONDS", "20"))
#: Who sits together; the last ones play in processes of their own.
TABLES = (
    ["lag", "call"],
    ["miniloki", "lag", "random", "ace1"],
    ["waterman", "random"],
    ["loki", "triple:0.1,0.5,0.4"],
    ["soak_fast", "soak_view", "lag"],
    ["soak_fast", "call"],
    ["soak_crash", "soak_view", "random"],
)
_APART = 5
#: Betting that every bot of these tables plays.
_NO_LIMIT = (0, 4, 5, 6)
#: Growth of memory that is no growth: what an allocator keeps.
_SLACK = 32 << 20


@dataclass(frozen=True)
class Reading:
    """Bytes of memory, and numbers of descriptors, temporary files, threads and child processes."""

    rss: int
    fds: int
    files: int
    threads: int
    children: int


@dataclass
class Level:
    """The readings after each round of all tables, the first two left out, and what was played."""

    rounds: int = 0
    hands: int = 0
    readings: list[Reading] = field(default_factory=list)

    @property
    def grew(self) -> list[str]:
        """What was more in the last third than in the first, as sentences."""
        if len(self.readings) < 3:
            return []
        third = max(1, len(self.readings) // 3)
        found = []
        for name, slack in (
            ("rss", _SLACK),
            ("fds", 0),
            ("files", 0),
            ("threads", 0),
            ("children", 0),
        ):
            values = [getattr(one, name) for one in self.readings]
            first, last = median(values[:third]), median(values[-third:])
            if last > first + slack:
                found.append(f"{name} grew from {first:,.0f} to {last:,.0f}")
        return found


def level(seconds: float, seed: int) -> Level:
    """Play for so long, at least three rounds; random matches of the seed."""
    rng, found = random.Random(seed), Level()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "soak_guests.py"
        path.write_text(GUESTS, "utf-8")
        before = default_plugins()
        use_plugins(Plugins().load([path]))
        try:
            end = time.monotonic() + seconds
            for number in itertools.count():
                if number >= 5 and time.monotonic() >= end:
                    return found
                for match in _round(rng, many=seconds > 60):
                    found.hands += int(play(match).pots[0])
                found.rounds += 1
                if number >= 2:  # until then compiled code is loaded, and caches fill
                    found.readings.append(reading())
        finally:
            use_plugins(before)
    raise AssertionError


def _round(rng: random.Random, many: bool) -> Iterator[Match]:
    for place, table in enumerate(TABLES):
        no_limit = place in _NO_LIMIT and rng.random() < 0.5
        yield Match(
            players_of(table),
            hands=rng.choice([60, 600]) if many else 12,
            game=Game("nolimit" if no_limit else "limit", 50, 100),
            seed=rng.getrandbits(62),
            session=rng.choice([3, 50]),
            adjust=rng.choice(["none", "all-in", "aivat"]),
            keep_hands=rng.random() < 0.3,
            isolate=place >= _APART,
        )


def reading() -> Reading:
    """What this process has now; 0 where the system does not tell."""
    statm, fds = Path("/proc/self/statm"), Path("/proc/self/fd")
    pages = int(statm.read_text().split()[1]) if statm.exists() else 0
    return Reading(
        pages * os.sysconf("SC_PAGE_SIZE"),
        len(list(fds.iterdir())) if fds.exists() else 0,
        len(list(Path(tempfile.gettempdir()).iterdir())),
        threading.active_count(),
        len(multiprocessing.active_children()),
    )


def piece(seed: int, number: int, folder: Path) -> Found:
    """Some rounds of matches."""
    found = level(_SECONDS, 1_000_003 * seed + number)
    return Found(found.hands, wrong=found.grew)
