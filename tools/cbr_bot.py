"""Measures the win rate of the CBR bot and the gain of each part: `python tools/cbr_bot.py`.

At nine seats it learns from the hands that strong bots logged for CASPER's experiment, and plays
among eight `loki` and among eight `lag`; also with casebases of several sizes. Heads-up it learns
from a log of pairs of bots, and plays against `call`, `lag` and `loki`. Compared with it on the
same deals are `style=casper` and the CBR bot with one part removed or added: hand-picked weights,
no adaptation to the table, labels without a best response, extra features, retained cases. Deals of
the matches are neither those of a log nor those on which constants were tuned.

With --source it learns from any log that `cbr build` reads, and plays at tables of that game and
number of seats. The casebase that remains in --out has labels and learned weights: play it anywhere
as cbr:FILE.db.

All rows take more than an hour on two cores; --only NAME, which may be repeated, plays only the
named rows (and `style=casper`, as the baseline; to see the gain of one part, also name the row
without it). What was learned is kept in --out, so that other rows can be played later.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cbr import Casebase
from cbr.building import rebuild
from cbr.errors import NoSuchName
from cbr.plots import DARK_BLUE, RED, picture, style_axis, zero_line
from cbr.store import set_weights
from cbr.workers import executor
from cbr_arena import Match, Played, Rate, difference, play, players_of, rate_of
from cbr_casper import HANDS, ROUNDS, TableModels, label, unlabelled
from experiment import (
    SIM,
    Setting,
    built,
    folder,
    learned,
    logged,
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
    from matplotlib.axes import Axes

#: Seeds of the log of the first pair, and of the matches.
PAIRED, PLAYED = 21, 3
PAIRS = [
    f"loki {SIM}",
    *(f"{strong} {weak}" for weak in ("lag", "call") for strong in ("loki", SIM)),
]


class Scale(NamedTuple):
    """How much is logged, labelled, simulated in each round of a best response, and played."""

    logged: int
    cases: int
    rounds: int
    simulated: int
    hands: int


FULL = Scale(20_000, 20_000, ROUNDS, HANDS, 36_000)
QUICK = Scale(3_000, 1_000, 2, 20_000, 3_600)
#: The CBR bot with hand-picked weights, and the same without adaptation to the table.
PLAIN = "cbr, hand-picked weights"
RIGID = f"{PLAIN}, not adapting"
#: For each row, the row from which it differs in one part.
ONE_PART = {
    "cbr, extra features": "cbr",
    "cbr, retaining": "cbr",
    "cbr, by values": "cbr",
    PLAIN: "cbr",
    RIGID: PLAIN,
    f"{PLAIN}, labels without a best response": RIGID,
    f"heads-up {PLAIN}": "heads-up cbr",
    f"heads-up {RIGID}": f"heads-up {PLAIN}",
}
#: Features that CASPER's case lacks, on every street after the first.
EXTRA = "casper,+log_pot,+led,+suits,+ranks"
#: Deals of a session; memories of bots are cleared after it.
SESSION = 200
#: Factor in hands for tables of `lag`, whose results vary more, for an equally narrow interval.
_WILD = 4.0


class Seats(NamedTuple):
    """Bots by row name, built when they play, and their opponents. All are compared with the first
    bot."""

    bots: dict[str, Callable[[], str]]
    setting: Setting
    opponents: Sequence[str]


@dataclass(frozen=True)
class Figure:
    """The win rate of a bot at a table, the gain over `style=casper` on the same deals, and the
    gain over the bot from which it differs in `one_part`, if that was played."""

    bot: str
    table: str
    spec: str
    hands: int
    won: Rate
    more: Rate | None
    one_part: str
    part: Rate | None


def main() -> None:
    given = _arguments()
    out = folder(given)
    with executor(given.workers) as pool:
        if given.source:
            tables = [_from_log(Path(given.source), out, given, pool)]
        else:
            tables = [_nine(out, given, pool), _two(out, given, pool)]
        rows = [name for one in tables for name in one.bots]
        for name in given.only or ():
            if name not in rows:
                raise NoSuchName("row", name, rows)
        figures = [figure for one in tables for figure in _seated(one, given, pool)]
    if not given.source and _sizes(given.logged).keys() <= {figure.bot for figure in figures}:
        _draw_sizes(figures, out / "sizes.png", given.logged)
    page = _page(page_name("cbr-bot", given), figures, out / "sizes.png")
    if given.write_results:
        write(page)
    if given.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=2))
    else:
        show(page)


def _page(name: str, figures: Sequence[Figure], picture: Path) -> Page:
    won = Table(
        "Winnings with luck subtracted, small bets (big blinds) a hand; how much more than "
        "style=casper, and than the bot from which it differs in one part",
        ["bot", "table", "hands", "wins", "more", "by one part", "from"],
        [
            (f.bot, f.table, f.hands, written(f.won), written(f.more), written(f.part), f.one_part)
            for f in figures
        ],
    )
    about = (
        "What the CBR bot wins and what each of its parts contributes. It learns from the log of "
        "CASPER's experiment, or heads-up from a log of pairs of bots; deals of the matches are "
        "neither those of the logs nor those by which constants were chosen. Sessions have "
        f"{SESSION} deals, after which bots forget. Intervals are 95 %, with variance reduction."
    )
    drawn = picture if picture.exists() else None
    return Page(name, "What the CBR bot wins", about, [won], PLAYED, drawn)


def _arguments() -> argparse.Namespace:
    parser = options("What the CBR bot wins.", "cbr_bot")
    parser.add_argument("--only", action="append", metavar="NAME", help="play the row of this name")
    given = parser.parse_args()
    scale = QUICK if given.quick else FULL
    given.logged, given.cases, given.rounds, given.simulated, hands = scale
    given.hands = given.hands or hands
    return given


def _nine(out: Path, given: argparse.Namespace, pool: Executor | None) -> Seats:
    def base(name: str, rounds: int | None = None, limit: int | None = None) -> Path:
        log = teachers_log(out, given.logged, pool)
        return _labelled([log], out / name, given, pool, rounds, limit)

    def extra(base: Path) -> Path:
        return _with_extra_features(base, out / "extra.db")

    plain = "cbr:{base}?weights=hand-picked"
    bots = {
        "style=casper": lambda: f"cbr:{base('labelled.db')}?style=casper",
        "cbr": lambda: f"cbr:{_with_learned_weights(base('labelled.db'), pool)}",
        "cbr, extra features": lambda: (
            f"cbr:{_with_learned_weights(extra(base('labelled.db')), pool)}"
        ),
        "cbr, retaining": lambda: (
            f"cbr:{_with_learned_weights(base('labelled.db'), pool)}?retain=session"
        ),
        PLAIN: lambda: plain.format(base=base("labelled.db")),
        RIGID: lambda: plain.format(base=base("labelled.db")) + "&adapt=false",
        f"{PLAIN}, labels without a best response": lambda: (
            plain.format(base=base("plain.db", rounds=0)) + "&adapt=false"
        ),
    }
    for row, size in _sizes(given.logged).items():
        if row != PLAIN:
            bots[row] = lambda size=size: (  # type: ignore[misc]
                plain.format(base=base(f"labelled-{size}.db", limit=size))
            )
    return Seats(bots, Setting("limit", 9), ("loki", "lag"))


def _two(out: Path, given: argparse.Namespace, pool: Executor | None) -> Seats:
    def base() -> Path:
        logs = [
            logged(out / f"pair-{at}.phhs", pair, given.logged // 5, PAIRED + at, pool)
            for at, pair in enumerate(PAIRS)
        ]
        # With one opponent the decisions vary less, so fewer labels suffice.
        return _labelled(logs, out / "heads-up.db", given, pool, cases=given.cases // 2)

    bots = {
        "heads-up style=casper": lambda: f"cbr:{base()}?style=casper",
        "heads-up cbr": lambda: f"cbr:{_with_learned_weights(base(), pool)}",
        f"heads-up {PLAIN}": lambda: f"cbr:{base()}?weights=hand-picked",
        f"heads-up {RIGID}": lambda: f"cbr:{base()}?weights=hand-picked&adapt=false",
    }
    return Seats(bots, Setting("limit", 2), ("call", "lag", "loki"))


def _from_log(log: Path, out: Path, given: argparse.Namespace, pool: Executor | None) -> Seats:
    """The table for a casebase of another log (--source)."""
    limit = given.logged if given.quick else None
    base = _labelled([log], out / "labelled.db", given, pool, limit=limit)
    setting = setting_of(base)
    bots = {
        "style=casper": lambda: f"cbr:{base}?style=casper",
        "cbr": lambda: f"cbr:{_with_learned_weights(base, pool)}",
    }
    if setting.betting == "nolimit":  # where the default is to imitate
        bots["cbr, by values"] = lambda: f"cbr:{base}?reuse=worth?temperature=4"
    others = ("call", setting.formula, "lag") if setting.seats == 2 else (setting.formula, "lag")
    return Seats(bots, setting, others)


def _labelled(
    logs: list[Path],
    base: Path,
    given: argparse.Namespace,
    pool: Executor | None,
    rounds: int | None = None,
    limit: int | None = None,
    cases: int = 0,
) -> Path:
    """A labelled casebase of some logs."""
    if not base.exists():
        part = built(logs, base.with_suffix(".bare.db"), limit)
        say(f"labelling {base}")
        with Casebase.open(part, write=True) as opened:
            turns = given.rounds if rounds is None else rounds
            models = TableModels.learn(opened, rounds=turns, hands=given.simulated, pool=pool)
            with opened.transaction():
                models.save(opened)
            label(opened, unlabelled(opened, cases or given.cases), models, pool=pool)
        part.rename(base)
    return base


def _with_learned_weights(base: Path, pool: Executor | None) -> Path:
    """A casebase whose default weights are learned from it."""
    weights = learned(base, base.with_suffix(".weights.json"), pool)
    with Casebase.open(base, write=True) as opened:
        set_weights(opened, str(weights))
    return base


def _with_extra_features(base: Path, other: Path) -> Path:
    """The same cases with the same labels and extra features."""
    if not other.exists():
        say(f"adding features to the cases of {base}")
        part = other.with_suffix(".part.db")
        shutil.copyfile(base, part)
        rebuild(part, EXTRA)
        part.rename(other)
    return other


def _seated(seats: Seats, given: argparse.Namespace, pool: Executor | None) -> list[Figure]:
    """Play each wanted bot against each kind of opponents."""
    bots, setting, opponents = seats
    figures = []
    first = next(iter(bots))
    found: dict[tuple[str, str], Played] = {}
    wanted = [name for name in bots if not given.only or name in given.only]
    for name, make in bots.items() if wanted else ():
        if name not in wanted and name != first:
            continue
        spec = make()
        for other in opponents:
            others = setting.all_of(other)
            times = _WILD if other == "lag" and setting.seats > 2 else 1.0
            match = Match(
                players_of([spec, *others]),
                hands=int(times * given.hands),
                game=setting.game,
                seed=PLAYED,
                session=SESSION,
                adjust="aivat",
            )
            played = found[name, other] = play(match, pool)
            won = rate_of(played.judged[:, 0], played.session)
            more, part = (
                difference(played, found[than, other], 0)
                if than != name and (than, other) in found
                else None
                for than in (first, ONE_PART.get(name, name))
            )
            said = Figure(
                name,
                others[0],
                spec,
                int(played.pots[0]),
                won,
                more,
                ONE_PART.get(name, "") if part else "",
                part,
            )
            figures.append(said)
            parts = f", by one part {written(part)} (from {said.one_part})" if part else ""
            say(f"{name} among {others[0]}: {written(won)}, more {written(more)}{parts}")
    return figures


def _sizes(logged: int) -> dict[str, int]:
    """The rows that differ only in the size of the casebase, with its number of hands."""
    smaller = {f"{PLAIN}, {size:,} hands": size for size in (logged // 20, logged // 4)}
    return {**smaller, PLAIN: logged}


def _draw_sizes(figures: Sequence[Figure], path: Path, logged: int) -> None:
    """Win rate against the hands of the casebase, for each table."""
    sizes = _sizes(logged)
    with picture(path, 8, 4.5) as drawing:
        _draw_rates(drawing.subplots(), figures, sizes)
    say(f"drawn in {path}")


def _draw_rates(axis: Axes, figures: Sequence[Figure], sizes: Mapping[str, int]) -> None:
    for where, color in (("loki*8", DARK_BLUE), ("lag*8", RED)):
        mine = sorted(
            (sizes[figure.bot], figure.won)
            for figure in figures
            if figure.table == where and figure.bot in sizes
        )
        axis.errorbar(
            [size for size, _ in mine],
            [won.rate for _, won in mine],
            yerr=[won.ci95 or 0.0 for _, won in mine],
            fmt="o-",
            color=color,
            capsize=3,
            label=f"among {where}",
        )
    zero_line(axis)
    axis.set_xscale("log")
    axis.set_xticks(sorted(sizes.values()), [f"{one:,}" for one in sorted(sizes.values())])
    axis.minorticks_off()
    axis.set_xlabel("hands in the casebase")
    axis.set_ylabel("sb/h, 95 %")
    style_axis(axis, "What the CBR bot wins")
    axis.legend(frameon=False)


if __name__ == "__main__":
    run(main)
