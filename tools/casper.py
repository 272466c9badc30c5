"""CASPER's experiment in one command: `python tools/casper.py [--quick] [--source LOG]`.

Strong bots play nine-seat limit hands that are logged and built into a small and a large casebase.
The CBR bot (`style=casper`) then sits down at a table of the same bots and at one of loose and
aggressive ones, with each of CASPER's weight sets, with learned and with random weights; a random
player is the baseline. What the thesis found stands beside it (Rubin 2007, chapter 5).

With --source the casebase comes from any log that `cbr build` reads. Deals of the matches are never
those of the log: they have another seed. Everything is kept in --out, and what is there is used.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path

from cbr.build import build
from cbr.cli.output import table
from cbr.plugins import default_plugins
from cbr.workers import executor
from cbr_arena.logs import write
from cbr_arena.match import Match, Played, play
from cbr_arena.players import players_of
from cbr_arena.results import Rate, rate_of

#: Simulations of `sim` for a decision.
TRIALS = 50
STRONG = f"loki*6 sim?trials={TRIALS}*2"
LAG = "lag*8"
TEACHERS = f"loki*6 sim?trials={TRIALS}*3"
#: Seeds of the log and of the matches.
LOGGED, PLAYED = 1, 2

#: What the thesis found, sb/h, by bot and table.
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
    """One bot at one table, and what came of it."""

    name: str
    table: str
    spec: str
    hands: int
    won: Rate
    without_luck: Rate
    thesis: float | None
    figures: dict[str, float]


def main() -> None:
    given = _arguments()
    out: Path = given.out
    out.mkdir(parents=True, exist_ok=True)
    with executor(given.workers) as pool:
        log = Path(given.source) if given.source else teachers_log(out, given.logged, pool)
        bases = {
            "small": _built(log, out / "small.db", given.small),
            "large": _built(log, out / "large.db", None if given.source else given.logged),
        }
        seats = [
            _seat(name, spec, where, others, given.hands, pool)
            for where, others in (("strong", STRONG), ("lag", LAG))
            for name, spec in _bots(bases)
        ]
    _plot(seats, out / "casper.png")
    say(f"drawn in {out / 'casper.png'}")
    if given.json:
        print(json.dumps([asdict(seat) for seat in seats], indent=2))
    else:
        _show(seats)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="CASPER's experiment.",
        epilog="Example: python tools/casper.py --quick --out casebases/casper",
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the hands")
    parser.add_argument("--source", help="a log to learn from, instead of one of our bots")
    parser.add_argument("--out", type=Path, default=Path("casebases/casper"), help="a folder")
    parser.add_argument("--hands", type=int, help="hands of each match; 36,000")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    given = parser.parse_args()
    given.logged, given.small = (3_000, 1_000) if given.quick else (20_000, 7_000)
    given.hands = given.hands or (3_600 if given.quick else 36_000)
    return given


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def logged(log: Path, who: str, hands: int, seed: int, pool: Executor | None) -> Path:
    """A log of hands of some bots, each deal played once; what is there is used."""
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


def _built(log: Path, base: Path, hands: int | None) -> Path:
    if not base.exists():
        say(f"building {base}")
        build([log], base, plugins=default_plugins(), limit=hands)
    return base


def _bots(bases: dict[str, Path]) -> list[tuple[str, str]]:
    small, large = bases["small"], bases["large"]
    sets = ("hand-picked", "general", "opponent")
    return [
        ("small, hand-picked", f"cbr:{small}?style=casper&weights=hand-picked"),
        *((f"large, {name}", f"cbr:{large}?style=casper&weights={name}") for name in sets),
        ("large, random weights", f"cbr:{large}?style=casper&weights=random:1"),
        ("random player", "random"),
    ]


def _seat(name: str, spec: str, where: str, others: str, hands: int, pool: Executor | None) -> Seat:
    say(f"{name} at the {where} table")
    match = Match(players_of([spec, *others.split()]), hands=hands, seed=PLAYED, adjust="aivat")
    played = play(match, pool)
    return Seat(
        name,
        where,
        spec,
        int(played.pots[0]),
        rate_of(played.won[:, 0]),
        rate_of(played.judged[:, 0]),
        THESIS.get((name, where)),
        _figures(played, spec),
    )


def _figures(played: Played, spec: str) -> dict[str, float]:
    return {
        name: figure.total / figure.weight
        for (of, name), figure in played.figures.items()
        if of == spec and figure.weight
    }


def _show(seats: Sequence[Seat]) -> None:
    table(
        "What the first bot wins, sb/h",
        ["bot", "table", "won", "without luck", "thesis"],
        [
            (
                seat.name,
                seat.table,
                written(seat.won),
                written(seat.without_luck),
                _plain(seat.thesis),
            )
            for seat in seats
        ],
    )
    rows = [
        (
            seat.table,
            street,
            f"{seat.figures[f'{street} similarity']:.4f} ({similarity:.4f})",
            f"{seat.figures[f'{street} cases']:.1f} ({cases:.1f})",
            f"{seat.figures[f'{street} below threshold']:.1%}",
        )
        for seat in seats
        if seat.name == "large, hand-picked"
        for street, (similarity, cases) in SIMILAR[seat.table].items()
    ]
    heads = ["table", "street", "similarity (thesis)", "cases (thesis)", "below 97 %"]
    table("Retrieved by the large casebase with hand-picked weights", heads, rows)


def written(rate: Rate | None) -> str:
    """A rate with its interval."""
    return "-" if rate is None else f"{rate.rate:+.3f} ± {rate.ci95 or 0.0:.3f}"


def _plain(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"


def _plot(seats: Sequence[Seat], path: Path) -> None:
    """Ours beside the thesis, for each table."""
    from matplotlib.figure import Figure

    from cbr.plots import save

    shown = [seat for seat in seats if seat.name != "random player"]
    tables = list(dict.fromkeys(seat.table for seat in shown))
    figure = Figure(figsize=(10, 5), dpi=110, layout="constrained")
    for axis, where in zip(figure.subplots(1, len(tables), sharey=True), tables, strict=True):
        mine = [seat for seat in shown if seat.table == where]
        at = range(len(mine))
        axis.errorbar(
            [seat.without_luck.rate for seat in mine],
            at,
            xerr=[seat.without_luck.ci95 or 0.0 for seat in mine],
            fmt="o",
            color="#2f5f98",
            label="ours, 95 %",
        )
        known = [(seat.thesis, place) for place, seat in enumerate(mine) if seat.thesis is not None]
        axis.plot(*zip(*known, strict=True), "D", color="#ee6677", label="thesis")
        axis.axvline(0, color="#999999", linewidth=0.8)
        axis.set_yticks(list(at), [seat.name for seat in mine])
        axis.set_title(f"{where} table", loc="left", fontsize=11)
        axis.set_xlabel("sb/h")
        axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize=9)
    axis.invert_yaxis()
    save(figure, path)


if __name__ == "__main__":
    main()
