"""Win rate of learning bots during a session: `python tools/learning_curve.py [TABLE ...]`.

Each table is played in many sessions, every deal once. The curve is the win rate of the first bot
in each part of a session, averaged over sessions, with 95 % intervals and luck subtracted. Tables
with the same opponents are played on the same deals, and the paired difference of their first bots
is shown.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, pairwise
from pathlib import Path

import numpy as np

from cbr import CbrError
from cbr.plots import COLOURS, picture, style_axis, verify_picture, zero_line
from cbr.typing import Floats
from cbr_arena import Match, Played, Rate, pieces_played, players_of, rate_of
from cbr_holdem.table import Game
from results import Page, Table, add_option, show, write

TABLES = ("cbr:empty call", "cbr:empty lag", "cbr:empty call*5")
#: Sessions that are played in lockstep.
_AT_ONCE = 32


@dataclass(frozen=True)
class Curve:
    """Win rate of the first bot of a table per hand, `won` [sessions, parts]."""

    name: str
    won: Floats

    @property
    def rates(self) -> list[Rate]:
        return [rate_of(part) for part in self.won.T]

    @property
    def risen(self) -> Rate:
        """How much more it won in the last part than in the first."""
        return rate_of(self.won[:, -1] - self.won[:, 0])


def curve_of(text: str, sessions: int, session: int, parts: int, seed: int, game: Game) -> Curve:
    """Play a table."""
    match = Match(
        players_of(text.split()),
        hands=sessions * session,
        game=game,
        seed=seed,
        session=session,
        duplicate=False,
        adjust="aivat",
    )
    at_once = min(_AT_ONCE, sessions) * session
    played = Played.together(list(pieces_played(match, piece=at_once)))
    faults = [why for who, why in played.faults if who == 0]
    if faults:
        print(f"{text}: {faults[0]}", file=sys.stderr)
    won = played.judged[:, 0].reshape(sessions, parts, -1).mean(axis=2)
    return Curve(text, won)


def differences(curves: Sequence[Curve]) -> list[Curve]:
    """Curves of the difference between the first bots of tables with the same opponents."""
    found = []
    for place, curve in enumerate(curves):
        bot, _, others = curve.name.partition(" ")
        for before in curves[:place]:
            if before.name.partition(" ")[2] == others:
                name = f"{bot} less {before.name.partition(' ')[0]}, {others}"
                found.append(Curve(name, curve.won - before.won))
    return found


def page_of(curves: Sequence[Curve], session: int, unit: str, seed: int, picture: Path) -> Page:
    parts = curves[0].won.shape[1]
    edges = [session * part // parts for part in range(parts + 1)]
    tables = []
    for curve in curves:
        hands = [f"{low + 1:,} to {high:,}" for low, high in pairwise(edges)]
        rates = [*curve.rates, curve.risen]
        shown = [f"{rate.rate:+.3f} ± {rate.ci95 or 0.0:.3f}" for rate in rates]
        rows = list(zip([*hands, "last less first"], shown, strict=True))
        tables.append(Table(curve.name, ["hands", unit], rows))
    about = (
        "What the first bot of a table wins in each part of a session: mean over "
        f"{len(curves[0].won)} sessions with 95 % intervals, with variance reduction."
    )
    return Page("learning-curve", "Learning while playing", about, tables, seed, picture)


def draw(curves: Sequence[Curve], session: int, unit: str, path: Path) -> None:
    with picture(path, 9, 5.5) as figure:
        axis = figure.subplots()
        for curve, colour in zip(curves, cycle(COLOURS), strict=False):
            parts = curve.won.shape[1]
            middle = (np.arange(parts) + 0.5) * session / parts
            mean = np.array([rate.rate for rate in curve.rates])
            width = np.array([rate.ci95 or 0.0 for rate in curve.rates])
            axis.plot(middle, mean, color=colour, marker="o", markersize=3, label=curve.name)
            axis.fill_between(middle, mean - width, mean + width, color=colour, alpha=0.15, lw=0)
        zero_line(axis)
        axis.set_xlim(0, session)
        axis.set_xlabel("hands of the session")
        axis.set_ylabel(f"the first bot wins, {unit}")
        sessions = len(curves[0].won)
        title = f"means of {sessions} sessions, luck subtracted; bands: 95 % intervals"
        style_axis(axis, title)
        axis.legend(frameon=False, fontsize=9)


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Win rate against hands of the session.",
        epilog="Example: python tools/learning_curve.py 'cbr:empty call*5' --sessions 64",
    )
    parser.add_argument("tables", nargs="*", default=TABLES, help="bots of a table, between blanks")
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--session", type=int, default=2_000, help="hands of each")
    parser.add_argument("--parts", type=int, default=8, help="points of a curve")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nolimit", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("learning.png"), help="the picture")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="8 sessions of 400 hands")
    add_option(parser)
    options = parser.parse_args(given)
    sessions, session = (8, 400) if options.quick else (options.sessions, options.session)
    if sessions < 2 or options.parts < 1 or session % options.parts:
        parser.error("there must be 2 sessions or more, with hands that divide into --parts")
    game = Game("nolimit", 50, 100) if options.nolimit else Game()
    unit = "bb/h" if options.nolimit else "sb/h"
    try:
        verify_picture(options.out)
        curves = [
            curve_of(text, sessions, session, options.parts, options.seed, game)
            for text in options.tables
        ]
        draw(curves, session, unit, options.out)
    except CbrError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    every = [*curves, *differences(curves)]
    page = page_of(every, session, unit, options.seed, options.out)
    if options.write_results:
        write(page)
    if options.json:
        found = [
            {"table": c.name, "rates": [vars(rate) for rate in c.rates], "risen": vars(c.risen)}
            for c in every
        ]
        print(json.dumps({"sessions": sessions, "session": session, "curves": found}))
    else:
        show(page)
        print(f"{options.out} has the picture.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
