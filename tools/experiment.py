"""Shared parts of the experiments with CASPER and the CBR bot: logs, casebases and tables.

All files are kept in one folder and reused. A file gets its final name when it is complete.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

from cbr import BadValue, Casebase, CbrError
from cbr.building import build
from cbr.cli import main as cbr_main
from cbr.learning import learn_weights
from cbr.plugging import default_plugins
from cbr_arena import Match, Rate, play, players_of, write_log
from cbr_holdem.situation import BETTING
from cbr_holdem.table import Game, HandArrays
from results import add_option

#: Simulations of `sim` for a decision.
TRIALS = 50
SIM = f"sim?trials={TRIALS}"
#: The bots that play the log of the experiment, and the seed of its deals.
TEACHERS, LOGGED = f"loki*6 {SIM}*3", 1


class Setting(NamedTuple):
    """The game of a casebase, and the most common number of seats in its hands."""

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


def options(description: str, tool: str) -> argparse.ArgumentParser:
    """A parser with the options that both experiments have."""
    parser = argparse.ArgumentParser(
        description=description,
        epilog=f"Example: python tools/{tool}.py --quick --out casebases/quick",
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the hands")
    parser.add_argument("--source", help="a log to learn from, instead of those of our bots")
    parser.add_argument("--out", type=Path, help="a folder; casebases/casper, or after the log")
    parser.add_argument("--hands", type=_some, help="hands of each match; 36,000")
    parser.add_argument("--workers", type=_some, default=2)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_option(parser)
    return parser


def _some(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return int(text)


def run(main: Callable[[], None]) -> None:
    """Run an experiment; an error is one sentence on stderr."""
    try:
        main()
    except (CbrError, OSError) as error:
        say(f"Error: {error}")
        sys.exit(2)


def cbr_output(*words: object) -> str:
    """What a command `cbr ...` prints. It runs in this process; if it fails, so does this."""
    out = io.StringIO()
    with redirect_stdout(out):
        try:
            cbr_main([str(word) for word in words])
        except SystemExit as stop:
            if stop.code:
                raise
    return out.getvalue()


def folder(given: argparse.Namespace) -> Path:
    """The output folder. Its files are reused, so `BadValue` if they are from other hands."""
    if given.source and not Path(given.source).exists():
        raise BadValue(f"no file or folder {given.source} to learn from")
    name = Path(given.source).name.split(".")[0] if given.source else "casper"
    out: Path = given.out or Path("casebases") / f"{name}{'-quick' if given.quick else ''}"
    source = Path(given.source).resolve() if given.source else TEACHERS
    made_of = f"{source}{', quick' if given.quick else ''}"
    folder_of(out)
    mark = out / "made_of.txt"
    was = mark.read_text("utf-8") if mark.exists() else made_of
    if was != made_of:
        raise BadValue(f"{out} was made of {was} and not of {made_of}; give another --out")
    mark.write_text(made_of, "utf-8")
    return out


def folder_of(out: Path) -> None:
    """Make the output folder."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadValue(f"cannot write into {out}: {error.strerror}; give another --out") from None


def page_name(tool: str, given: argparse.Namespace) -> str:
    """The name of a tool's page of results: a separate one for each --source."""
    return f"{tool}-{Path(given.source).name.split('.')[0]}" if given.source else tool


def setting_of(file: Path) -> Setting:
    with Casebase.open(file) as base:
        sizes: Counter[int] = Counter()
        for _, bodies in base.read_records(1_000):
            sizes.update(HandArrays.read(bodies).seats.tolist())
        return Setting(BETTING[base.domain], max(sizes, key=lambda size: (sizes[size], size)))


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def written(rate: Rate | None) -> str:
    """A rate with its interval, if it has one (that takes more than one session)."""
    if rate is None:
        return "-"
    return f"{rate.rate:+.3f}" + ("" if rate.ci95 is None else f" ± {rate.ci95:.3f}")


def logged(log: Path, who: str, hands: int, seed: int, pool: Executor | None) -> Path:
    """A log of hands of some bots, each deal played once."""
    if not log.exists():
        say(f"{who} play {hands:,} hands")
        match = Match(
            players_of(who.split()), hands=hands, seed=seed, duplicate=False, keep_hands=True
        )
        write_log(play(match, pool).hands, log)
    return log


def teachers_log(out: Path, hands: int, pool: Executor | None) -> Path:
    """The log of the experiment, in a folder."""
    return logged(out / "teachers.phhs", TEACHERS, hands, LOGGED, pool)


def built(logs: Sequence[Path], base: Path, limit: int | None = None) -> Path:
    """A casebase of the hands of some logs, at most `limit` hands."""
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
