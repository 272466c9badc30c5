"""Repeats CASPER's experiment: `python tools/casper.py [--quick] [--source LOG]`.

Strong bots play nine-seat limit hands that are logged and built into a small and a large casebase.
The CBR bot (`style=casper`) then plays at a table of the same bots and at one of loose and
aggressive ones, with each of CASPER's weight sets, with learned and with random weights. A random
player is the baseline, and the bots of the log play among the loose ones too. Our figures are shown
with those of the thesis (Rubin 2007, chapter 5), and how well the cases predict the last fifth of
the hands.

With --source the casebase comes from any log that `cbr build` reads, and tables have its game and
number of seats. Deals of the matches differ from those of the log by their seed. All files are kept
in --out and reused.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cbr import Casebase
from cbr.plots import DARK_BLUE, RED, picture, style_axis, zero_line
from cbr.workers import executor
from cbr_arena import Match, Played, Rate, play, players_of, rate_of
from experiment import (
    SIM,
    Setting,
    built,
    cbr_output,
    folder,
    learned,
    options,
    page_name,
    run,
    say,
    setting_of,
    teachers_log,
    written,
)
from results import Page, Table, show, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Seed of the matches.
PLAYED = 2
#: The table at which CASPER's figures are comparable.
NINE = Setting("limit", 9)
#: Weights are learned from this share of the hands; the rest is predicted.
_FIRST = 0.8

#: Win rates of the thesis in sb/h, by bot and table.
THESIS = {
    ("small, hand-picked", "strong"): -0.009,
    ("large, hand-picked", "strong"): 0.004,
    ("large, general", "strong"): -0.06,
    ("large, opponent", "strong"): 0.006,
    ("large, random weights", "strong"): -0.11,
    ("random player", "strong"): -1.67,
    ("small, hand-picked", "lag"): -0.09,
    ("large, hand-picked", "lag"): 0.03,
    ("large, general", "lag"): -0.02,
    ("large, random weights", "lag"): -0.11,
    ("random player", "lag"): -1.49,
    ("loki", "lag"): 0.08,
    ("sim", "lag"): -0.09,
}
#: Its table 5.1: average similarity and number of cases, by table and street.
SIMILAR = {
    "strong": {
        "preflop": (0.9885, 92.4),
        "flop": (0.9822, 94.7),
        "turn": (0.9789, 89.3),
        "river": (0.9829, 93.2),
    },
    "lag": {
        "preflop": (0.9885, 90.1),
        "flop": (0.9817, 85.3),
        "turn": (0.9783, 88.7),
        "river": (0.9824, 90.2),
    },
}


@dataclass(frozen=True)
class Seat:
    """One bot at one table with its results; `curve` are its cumulative winnings after equal parts
    of the hands, luck included."""

    name: str
    table: str
    spec: str
    hands: int
    won: Rate
    without_luck: Rate
    thesis: float | None
    figures: dict[str, float]
    curve: list[float]


def main() -> None:
    given = _arguments()
    out = folder(given)
    with executor(given.workers) as pool:
        log = Path(given.source) if given.source else teachers_log(out, given.logged, pool)
        large = built([log], out / "large.db", given.logged)
        with Casebase.open(large) as base:
            hands = base.count_records()
        fewer = given.small if given.small and given.small < hands else max(1, hands // 3)
        small = built([log], out / "small.db", fewer)
        weights = learned(large, out / "learned.json", pool, _FIRST)
        predicted = _predicted(large, weights)
        setting = setting_of(large)
        seats = [
            _seat(name, spec, where, others, setting, given.hands, pool)
            for where, others in (("strong", setting.strong), ("lag", setting.all_of("lag")))
            for name, spec in [
                *_bots(setting, small, large, weights),
                *(_teachers(setting) if where == "lag" else []),
            ]
        ]
    _plot(seats, out / "casper.png")
    say(f"drawn in {out / 'casper.png'}")
    page = _page(page_name("casper", given), seats, setting, predicted, out / "casper.png")
    if given.write_results:
        write(page)
    if given.json:
        told = {"bots": [asdict(seat) for seat in seats], "predicted": predicted}
        print(json.dumps(told, indent=2))
    else:
        show(page)


def _arguments() -> argparse.Namespace:
    given = options("CASPER's experiment.", "casper").parse_args()
    given.logged, given.small = (3_000, 1_000) if given.quick else (20_000, 7_000)
    if given.source and not given.quick:
        given.logged = given.small = None  # all of them, and a third
    given.hands = given.hands or (3_600 if given.quick else 36_000)
    return given


def _bots(setting: Setting, small: Path, large: Path, weights: Path) -> list[tuple[str, str]]:
    """Bots by name. CASPER's weight sets are for limit; in no-limit the casebase's own are used."""
    sets = ["hand-picked", "general", "opponent"] if setting.betting == "limit" else [""]
    named = [(name or "own weights", f"&weights={name}" if name else "") for name in sets]
    return [
        (f"small, {named[0][0]}", f"cbr:{small}?style=casper{named[0][1]}"),
        *((f"large, {name}", f"cbr:{large}?style=casper{option}") for name, option in named),
        ("large, learned weights", f"cbr:{large}?style=casper&weights={weights}"),
        ("large, random weights", f"cbr:{large}?style=casper&weights=random:1"),
        ("random player", "random"),
    ]


def _teachers(setting: Setting) -> list[tuple[str, str]]:
    """The bots whose hands were logged, as in figure 5.3 of the thesis."""
    return [("loki", "loki"), ("sim", SIM)] if setting.betting == "limit" else []


def _predicted(file: Path, weights: Path) -> list[dict[str, Any]]:
    """How well the first hands of a casebase predict its last ones, by street and weights."""
    given = ["--last", f"{1 - _FIRST:.3g}", "--weights", "", "--weights", str(weights), "--json"]
    found: list[dict[str, Any]] = json.loads(cbr_output("evaluate", file, *given))["stages"]
    return found


def _seat(
    name: str,
    spec: str,
    where: str,
    others: Sequence[str],
    setting: Setting,
    hands: int,
    pool: Executor | None,
) -> Seat:
    say(f"{name} at the {where} table: {', '.join(others)}")
    match = Match(
        players_of([spec, *others]), hands=hands, game=setting.game, seed=PLAYED, adjust="aivat"
    )
    played = play(match, pool)
    return Seat(
        name,
        where,
        spec,
        int(played.pots[0]),
        rate_of(played.won[:, 0]),
        rate_of(played.judged[:, 0]),
        THESIS.get((name, where)) if setting == NINE else None,
        _figures(played, spec),
        _curve(played),
    )


def _curve(played: Played, parts: int = 100) -> list[float]:
    """Cumulative winnings of the first bot after each part, in bets."""
    hands = int(played.pots[0]) / len(played.won)
    won = np.cumsum(played.won[:, 0]) * hands
    return [float(won[at]) for at in np.linspace(0, len(won) - 1, parts + 1).astype(int)[1:]]


def _figures(played: Played, spec: str) -> dict[str, float]:
    return {
        name: figure.total / figure.weight
        for (of, name), figure in played.figures.items()
        if of == spec and figure.weight
    }


def _page(
    name: str,
    seats: Sequence[Seat],
    setting: Setting,
    predicted: Sequence[dict[str, Any]],
    picture: Path,
) -> Page:
    tables = [
        _winnings(seats, setting),
        _retrieved(seats, thesis=setting == NINE),
        _predictions(predicted),
    ]
    about = (
        "Strong bots play and log hands; `style=casper` plays from a small and a large casebase of "
        "them at a table of the same bots and at one of loose and aggressive ones, with each set "
        "of weights. Intervals are 95 %. The loose table of the thesis (Jagbots) was not "
        "published; `lag` is a stand-in."
    )
    return Page(name, "CASPER's experiment", about, tables, PLAYED, picture)


def _winnings(seats: Sequence[Seat], setting: Setting) -> Table:
    unit = "sb/h" if setting.betting == "limit" else "bb/h"
    thesis = setting == NINE
    return Table(
        f"What the first bot wins at tables of {setting.seats}, {unit}",
        ["bot", "table", "won", "luck subtracted", *(["thesis"] if thesis else [])],
        [
            (
                seat.name,
                seat.table,
                written(seat.won),
                written(seat.without_luck),
                *([_plain(seat.thesis)] if thesis else []),
            )
            for seat in seats
        ],
    )


def _retrieved(seats: Sequence[Seat], thesis: bool) -> Table:
    rows = []
    for seat in (
        seat for seat in seats if seat.name in {"large, hand-picked", "large, own weights"}
    ):
        for street, (similarity, cases) in SIMILAR[seat.table].items():
            theirs = (f" ({similarity:.4f})", f" ({cases:.1f})") if thesis else ("", "")
            rows.append(
                (
                    seat.table,
                    street,
                    f"{seat.figures[f'{street} similarity']:.4f}{theirs[0]}",
                    f"{seat.figures[f'{street} cases']:.1f}{theirs[1]}",
                    f"{seat.figures[f'{street} below threshold']:.1%}",
                )
            )
    beside = " (thesis)" if thesis else ""
    heads = ["table", "street", f"similarity{beside}", f"cases{beside}", "below threshold"]
    return Table("Retrieved by the large casebase with hand-picked or own weights", heads, rows)


def _predictions(found: Sequence[dict[str, Any]]) -> Table:
    rows = []
    for street in found:
        for one in street["judged"]:
            if one["predictor"] == "rule":
                loss, right = one["log_loss"], one["accuracy"]
                rows.append(
                    (
                        street["stage"],
                        "learned" if one["weights"].endswith(".json") else "the casebase's own",
                        street["asked"],
                        f"{loss['mean']:.3f} ± {loss['ci95'] or 0.0:.3f}",
                        f"{right['mean']:.1%} ± {right['ci95'] or 0.0:.1%}",
                    )
                )
    return Table(
        "The last fifth of the hands, predicted by the cases of the others",
        ["street", "weights", "decisions", "log-loss", "right"],
        rows,
    )


def _plain(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"


def _plot(seats: Sequence[Seat], path: Path) -> None:
    """For each table plot our figures with those of the thesis, and the winnings over the hands."""
    with picture(path, 12, 9) as figure:
        _draw(figure, seats)


def _draw(figure: Figure, seats: Sequence[Seat]) -> None:
    shown = [seat for seat in seats if seat.name != "random player"]
    tables = list(dict.fromkeys(seat.table for seat in shown))
    axes = figure.subplots(2, len(tables), squeeze=False)
    for (above, below), where in zip(axes.T, tables, strict=True):
        mine = [seat for seat in shown if seat.table == where]
        at = range(len(mine))
        above.errorbar(
            [seat.without_luck.rate for seat in mine],
            at,
            xerr=[seat.without_luck.ci95 or 0.0 for seat in mine],
            fmt="o",
            color=DARK_BLUE,
            label="ours, 95 %",
        )
        known = [(seat.thesis, place) for place, seat in enumerate(mine) if seat.thesis is not None]
        if known:
            above.plot(*zip(*known, strict=True), "D", color=RED, label="thesis")
        zero_line(above, of="x")
        above.set_yticks(list(at), [seat.name for seat in mine])
        above.invert_yaxis()
        style_axis(above, f"{where} table")
        above.set_xlabel("bets a hand, luck subtracted")
        above.legend(frameon=False, fontsize=9)
        for seat in mine:
            hands = np.linspace(0, seat.hands, len(seat.curve) + 1)
            below.plot(hands, [0.0, *seat.curve], linewidth=1.2, label=seat.name)
        zero_line(below)
        below.set_xlabel("hands")
        below.set_ylabel("bets won, luck included")
        below.legend(frameon=False, fontsize=8)
        style_axis(below)


if __name__ == "__main__":
    run(main)
