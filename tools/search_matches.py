"""Matches of the search bot for the experiments: shared by gerritsen.py and baseline.py.

The model of a match was learned without the opponent: `tools/make_prior.py --without BOT`. The
shipped model, which has seen all bots, is measured beside it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import make_prior
from cbr.plots import picture, style_axis, zero_line
from cbr.workers import executor
from cbr_arena import Line, Match, Rate, lines_of, play, players_of
from cbr_holdem.table import Game
from experiment import say, written
from results import Table

#: In a spec, the model that was learned without the opponent.
UNSEEN = "{unseen}"


class Row(NamedTuple):
    """A match to be played heads-up: what it shows, the search bot (`UNSEEN` in its spec is a model
    learned without the opponent), the opponent, the kind of game, and the stack in big blinds.
    `known` are the figures of others: flops, aggression before and after the flop, and won."""

    what: str
    spec: str
    opponent: str
    betting: str = "nolimit"
    stack: int = 0
    known: tuple[str, str, str, str] = ("", "", "", "")


@dataclass(frozen=True)
class Found:
    """A match that was played: the line of the search bot, and its winnings in bets after equal
    parts of the hands, luck included."""

    row: Row
    line: Line
    curve: list[float]

    @property
    def won(self) -> float:
        """Bets a hand, luck subtracted."""
        return self.line.rate if self.line.adjusted is None else self.line.adjusted.rate


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options that both tools have."""
    parser.add_argument("--hands", type=int, default=10_000, help="of each match (10,000)")
    parser.add_argument("--seed", type=int, default=9001, help="of deals that nothing was tuned on")
    parser.add_argument("--prior-hands", type=int, default=15_000, help="games of a model (15,000)")
    parser.add_argument("--out", type=Path, default=Path("casebases/search"), help="a folder")
    parser.add_argument("--only", action="append", metavar="TEXT", help="rows with this text")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def played(rows: Sequence[Row], given: argparse.Namespace) -> list[Found]:
    """Play the rows that `--only` names, or all."""
    found = []
    with executor(given.workers) as pool:
        for row in rows:
            if given.only and not any(text in row.what for text in given.only):
                continue
            spec = row.spec.replace(UNSEEN, f"file:{_unseen(row, given)}")
            say(f"{row.what}: {spec} against {row.opponent}")
            game = Game(row.betting)
            match = Match(
                players_of([spec, row.opponent]),
                given.hands,
                game,
                stack=row.stack * game.big_blind,
                seed=given.seed,
                session=min(1_000, max(1, given.hands // 16)),
                adjust="aivat",
            )
            what = play(match, pool)
            won = np.cumsum(what.won[:, 0]) * match.seatings
            places = np.linspace(0, len(won) - 1, 101).astype(int)[1:]
            found.append(Found(row, lines_of(match, what)[0], won[places].tolist()))
    return found


def _unseen(row: Row, given: argparse.Namespace) -> Path:
    """The file of the model that was learned without a row's opponent."""
    name = row.opponent.partition("?")[0]
    folder = given.out / f"without-{name}-{given.prior_hands}"
    path: Path = folder / f"prior_{row.betting}.npz"
    if not path.exists():
        say(f"learning a model of {row.betting} without {name}")
        folder.mkdir(parents=True, exist_ok=True)
        make_prior.make(row.betting, [name], given.prior_hands, make_prior.SEED, folder)
    return path.resolve()


def table(title: str, found: Sequence[Found], note: str = "") -> Table:
    """The figures of matches as Gerritsen's tables have them, those of others in brackets."""

    def cell(value: float | None, known: str) -> str:
        return ("-" if value is None else f"{value:.2f}") + (f" ({known})" if known else "")

    rows = [
        (
            one.row.what,
            cell(one.line.flops, one.row.known[0]),
            cell(one.line.early_aggression, one.row.known[1]),
            cell(one.line.aggression, one.row.known[2]),
            written(Rate(one.line.rate, one.line.ci95)),
            written(one.line.adjusted) + (f" ({one.row.known[3]})" if one.row.known[3] else ""),
            one.line.hands,
        )
        for one in found
    ]
    columns = ["bot", "flops seen", "raises a call, pre-flop", "later", "won", "without luck"]
    return Table(title, [*columns, "hands"], rows, note)


def as_json(found: Sequence[Found]) -> list[dict[str, Any]]:
    """The matches for scripts."""
    document = []
    for one in found:
        mine, line = one.row._asdict(), one.line
        adjusted = line.adjusted
        document.append(
            {
                "what": mine["what"],
                "opponent": mine["opponent"],
                "hands": line.hands,
                "won": {"rate": line.rate, "ci95": line.ci95},
                "without_luck": adjusted and {"rate": adjusted.rate, "ci95": adjusted.ci95},
                "flops": line.flops,
                "early_aggression": line.early_aggression,
                "aggression": line.aggression,
                "faults": line.faults,
            }
        )
    return document


def bankrolls(path: Path, found: Sequence[Found]) -> None:
    """Draw what the search bot had won after each part of its matches."""
    against = list(dict.fromkeys(one.row.opponent for one in found))
    with picture(path, 9, 4 * len(against)) as figure:
        for place, opponent in enumerate(against):
            axis = figure.add_subplot(len(against), 1, place + 1)
            for one in found:
                if one.row.opponent == opponent:
                    hands = np.linspace(0, one.line.hands, len(one.curve) + 1)
                    axis.plot(hands, [0.0, *one.curve], linewidth=1.2, label=one.row.what)
            zero_line(axis)
            style_axis(axis, f"against {opponent}")
            axis.set_xlabel("hands")
            axis.set_ylabel("bets won, luck included")
            axis.legend(frameon=False, fontsize=8)
