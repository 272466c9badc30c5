"""What CASPER's heir wins, and what each part of it gains: `python tools/heir.py [--quick]`.

At nine seats it learns from the hands that strong bots logged for CASPER's experiment, and sits
down among eight `loki` and among eight `lag`; with casebases of several sizes too. Heads-up it
learns from a log of pairs of bots, and meets `call`, `lag` and `loki`. On the same deals stand
`style=casper` and the heir with a part taken away or put in: weights picked by hand, no adapting to
the table, labels without an answer to habits, retained cases. Deals of the matches are never those
of a log, nor those by which constants were chosen.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from casper import TRIALS, logged, say, teachers_log, written
from cbr.build import build
from cbr.casebase import Casebase
from cbr.cli.output import table
from cbr.plugins import default_plugins
from cbr.workers import executor
from cbr_arena.match import Match, Played, play
from cbr_arena.players import players_of
from cbr_arena.results import Rate, difference, rate_of
from cbr_casper.answers import HANDS, ROUNDS
from cbr_casper.label import label, unlabelled
from cbr_casper.worlds import Worlds

#: Seeds of the log of the first pair, and of the matches.
PAIRED, PLAYED = 21, 3
SIM = f"sim?trials={TRIALS}"
PAIRS = [
    f"loki {SIM}",
    *(f"{strong} {weak}" for weak in ("lag", "call") for strong in ("loki", SIM)),
]
#: The heir with the weights that CASPER's author picked.
PLAIN = "heir, hand-picked weights"
#: Deals of a session: bots that remember begin anew after them.
SESSION = 200
#: Tables, and how many times the hands of a match they need for an interval as narrow as others'.
TABLES = {"eight loki": (["loki*8"], 1.0), "eight lag": (["lag*8"], 4.0)}
HEADS_UP = {"call": (["call"], 1.0), "lag": (["lag"], 1.0), "loki": (["loki"], 1.0)}


@dataclass(frozen=True)
class Figure:
    """What a bot won at a table, and how much more than `style=casper` on the same deals."""

    bot: str
    table: str
    spec: str
    hands: int
    won: Rate
    more: Rate | None


def main() -> None:
    given = _arguments()
    out: Path = given.out
    out.mkdir(parents=True, exist_ok=True)
    with executor(given.workers) as pool:
        figures = [*_nine(out, given, pool), *_two(out, given, pool)]
    whole = f"{PLAIN}, {given.logged:,} hands"
    sizes = [figure for figure in figures if figure.bot.endswith(" hands")]
    sizes += [replace(figure, bot=whole) for figure in figures if figure.bot == PLAIN]
    _plot(sizes, out / "sizes.png")
    say(f"drawn in {out / 'sizes.png'}")
    if given.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=2))
        return
    table(
        "What the bot wins without luck, sb/h, and how much more than style=casper",
        ["bot", "table", "hands", "wins", "more"],
        [(f.bot, f.table, f.hands, written(f.won), written(f.more)) for f in figures],
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="What CASPER's heir wins.",
        epilog="Example: python tools/heir.py --quick --out casebases/casper",
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the hands")
    parser.add_argument("--out", type=Path, default=Path("casebases/casper"), help="a folder")
    parser.add_argument("--hands", type=int, help="hands of each match; 36,000")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    given = parser.parse_args()
    given.logged = 2_000 if given.quick else 20_000
    given.cases = 1_000 if given.quick else 20_000
    given.rounds, given.answered = (2, 20_000) if given.quick else (ROUNDS, HANDS)
    given.hands = given.hands or (3_600 if given.quick else 36_000)
    return given


def _nine(out: Path, given: argparse.Namespace, pool: Executor | None) -> list[Figure]:
    log = teachers_log(out, given.logged, pool)

    def base(name: str, rounds: int | None = None, limit: int | None = None) -> Path:
        return _labelled([log], out / name, given, pool, rounds, limit)

    def learned() -> str:
        return f"cbr:{base('heir.db')}?weights={_weights(base('heir.db'), out / 'weights.json')}"

    bots = {
        "style=casper": lambda: f"cbr:{base('heir.db')}?style=casper",
        "heir": learned,
        "heir, retaining": lambda: f"{learned()}&retain=session",
        PLAIN: lambda: f"cbr:{base('heir.db')}",
        f"{PLAIN}, not adapting": lambda: f"cbr:{base('heir.db')}?adapt=false",
        f"{PLAIN}, labels without an answer": lambda: (
            f"cbr:{base('plain.db', rounds=0)}?adapt=false"
        ),
    }
    for size in (given.logged // 20, given.logged // 4):
        name = f"heir-{size}.db"
        bots[f"{PLAIN}, {size:,} hands"] = lambda name=name, size=size: (  # type: ignore[misc]
            f"cbr:{base(name, limit=size)}"
        )
    return _seated(bots, TABLES, given, pool)


def _two(out: Path, given: argparse.Namespace, pool: Executor | None) -> list[Figure]:
    def base() -> Path:
        logs = [
            logged(out / f"pair-{at}.phhs", pair, given.logged // 5, PAIRED + at, pool)
            for at, pair in enumerate(PAIRS)
        ]
        # With one opponent there are fewer kinds of decisions to know.
        return _labelled(logs, out / "heads-up.db", given, pool, cases=given.cases // 2)

    bots = {
        "heads-up style=casper": lambda: f"cbr:{base()}?style=casper",
        "heads-up heir": lambda: f"cbr:{base()}",
        "heads-up heir, not adapting": lambda: f"cbr:{base()}?adapt=false",
    }
    return _seated(bots, HEADS_UP, given, pool)


def _labelled(
    logs: list[Path],
    base: Path,
    given: argparse.Namespace,
    pool: Executor | None,
    rounds: int | None = None,
    limit: int | None = None,
    cases: int = 0,
) -> Path:
    """A casebase of some logs with labels; what is there is used."""
    if not base.exists():
        say(f"building and labelling {base}")
        part = base.with_suffix(".part.db")
        part.unlink(missing_ok=True)
        build(logs, part, plugins=default_plugins(), limit=limit)
        with Casebase.open(part, write=True) as opened:
            turns = given.rounds if rounds is None else rounds
            worlds = Worlds.find(opened, rounds=turns, hands=given.answered, pool=pool)
            with opened.transaction():
                worlds.save(opened)
            label(opened, unlabelled(opened, cases or given.cases), worlds, pool=pool)
        shutil.move(part, base)
    return base


def _weights(base: Path, out: Path) -> Path:
    if not out.exists():
        say(f"learning weights from {base}")
        cbr = Path(sys.executable).with_name("cbr")
        subprocess.run([cbr, "learn-weights", base, "--out", out], check=True, capture_output=True)
    return out


def _seated(
    bots: dict[str, Callable[[], str]],
    tables: dict[str, tuple[list[str], float]],
    given: argparse.Namespace,
    pool: Executor | None,
) -> list[Figure]:
    """Every bot at every table; the first is what others are compared with."""
    figures = []
    first: dict[str, Played] = {}
    for name, make in bots.items():
        spec = make()
        for where, (others, times) in tables.items():
            match = Match(
                players_of([spec, *others]),
                hands=int(times * given.hands),
                seed=PLAYED,
                session=SESSION,
                adjust="aivat",
            )
            played = play(match, pool)
            more = difference(played, first[where], 0) if where in first else None
            first.setdefault(where, played)
            won = rate_of(played.judged[:, 0], played.session)
            figures.append(Figure(name, where, spec, int(played.pots[0]), won, more))
            say(f"{name} among {where}: {written(won)}, more {written(more)}")
    return figures


def _plot(figures: Sequence[Figure], path: Path) -> None:
    """Win rate against the hands of the casebase, for each table."""
    from matplotlib.figure import Figure as Drawing

    from cbr.plots import save

    drawing = Drawing(figsize=(8, 4.5), dpi=110, layout="constrained")
    axis = drawing.subplots()
    for where, color in zip(TABLES, ("#2f5f98", "#ee6677"), strict=True):
        mine = [figure for figure in figures if figure.table == where]
        size = [int(figure.bot.split()[-2].replace(",", "")) for figure in mine]
        axis.errorbar(
            size,
            [figure.won.rate for figure in mine],
            yerr=[figure.won.ci95 or 0.0 for figure in mine],
            fmt="o-",
            color=color,
            capsize=3,
            label=f"among {where}",
        )
    axis.axhline(0, color="#999999", linewidth=0.8)
    axis.set_xscale("log")
    axis.set_xticks(size, [f"{one:,}" for one in size])
    axis.minorticks_off()
    axis.set_xlabel("hands in the casebase")
    axis.set_ylabel("sb/h, 95 %")
    axis.set_title("What the heir wins", loc="left", fontsize=11)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False)
    save(drawing, path)


if __name__ == "__main__":
    main()
