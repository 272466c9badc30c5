"""What CASPER's experiment and that of its heir share: logs, casebases, and who sits at the tables.

Everything is kept in a folder, and what is there is used. A file appears when it is complete.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import NamedTuple

from cbr.build import build
from cbr.casebase import Casebase
from cbr.learn import learn_weights
from cbr.plugins import default_plugins
from cbr_arena.logs import write
from cbr_arena.match import Match, play
from cbr_arena.players import players_of
from cbr_arena.results import Rate
from cbr_holdem.situation.case_types import BETTING
from cbr_holdem.table.game import Game
from cbr_holdem.table.hand_arrays import HandArrays

#: Simulations of `sim` for a decision.
TRIALS = 50
SIM = f"sim?trials={TRIALS}"
#: Who plays the log of the experiment, and with which seed.
TEACHERS, LOGGED = f"loki*6 {SIM}*3", 1


class Setting(NamedTuple):
    """The game that a casebase knows, and the seats of most of its tables."""

    betting: str
    seats: int

    @property
    def game(self) -> Game:
        return Game(self.betting)

    @property
    def strong(self) -> list[str]:
        """The strong opponents: `loki` and some `sim`, which play limit only."""
        others = self.seats - 1
        if self.betting != "limit":
            return [f"miniloki*{others}"]
        loki = -(-3 * others // 4)
        return [f"loki*{loki}", *([f"{SIM}*{others - loki}"] if others > loki else [])]

    @property
    def formula(self) -> str:
        """The strongest bot that plays this game by formulas alone."""
        return "loki" if self.betting == "limit" else "miniloki"

    def all_of(self, bot: str) -> list[str]:
        """A table of one kind of opponents."""
        return [f"{bot}*{self.seats - 1}"]


def setting_of(file: Path) -> Setting:
    with Casebase.open(file) as base:
        sizes: Counter[int] = Counter()
        for _, bodies in base.read_records(1_000):
            sizes.update(HandArrays.read(bodies).seats.tolist())
        return Setting(BETTING[base.domain], max(sizes, key=lambda size: (sizes[size], size)))


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def written(rate: Rate | None) -> str:
    """A rate with its interval."""
    return "-" if rate is None else f"{rate.rate:+.3f} ± {rate.ci95 or 0.0:.3f}"


def logged(log: Path, who: str, hands: int, seed: int, pool: Executor | None) -> Path:
    """A log of hands of some bots, each deal played once."""
    if not log.exists():
        say(f"{who} play {hands:,} hands")
        match = Match(
            players_of(who.split()), hands=hands, seed=seed, duplicate=False, keep_hands=True
        )
        write(play(match, pool).hands, log)
    return log


def teachers_log(out: Path, hands: int, pool: Executor | None) -> Path:
    """The log of the experiment, in a folder."""
    return logged(out / "teachers.phhs", TEACHERS, hands, LOGGED, pool)


def built(logs: Sequence[Path], base: Path, limit: int | None = None) -> Path:
    """A casebase of the hands of some logs, or of the first of them."""
    if not base.exists():
        say(f"building {base}")
        part = base.with_suffix(".part.db")
        build(list(logs), part, plugins=default_plugins(), limit=limit)  # goes on after a kill
        part.rename(base)
    return base


def learned(base: Path, out: Path, pool: Executor | None, first: float = 1.0) -> Path:
    """Weights learned from a share of a casebase."""
    if not out.exists():
        say(f"learning weights from {base}")
        learn_weights(base, first=first, pool=pool)[0].save(out)
    return out
