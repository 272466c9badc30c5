"""``cbr match`` and ``cbr bots``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.options import Json
from cbr.cli.output import cell, emit, lines, note, progress, table, waiting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cbr_arena.match import Match, Played
    from cbr_arena.results import Line, Rate

_Bots = Annotated[
    list[str],
    typer.Argument(
        metavar="BOT [BOT...]",
        help="Who sits at the table: names with options, lag*8 for eight of one.",
        show_default=False,
    ),
]
_Vs = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--vs", metavar="A B", help="Is A better than B in one more seat? Both play the same deals."
    ),
]
_Hands = Annotated[int, typer.Option(min=1, help="Hands to play, rounded up to whole sets.")]
_Game = Annotated[str, typer.Option(metavar="limit|nolimit", help="What is played.")]
_Seats = Annotated[int | None, typer.Option(help="Only checks that there are so many bots.")]
_Stack = Annotated[
    int | None, typer.Option(min=1, help="Stacks in big blinds; 1,000 in limit, 100 in no-limit.")
]
_Session = Annotated[
    int, typer.Option(min=1, help="Deals that bots with a memory play before they forget.")
]
_Independent = Annotated[
    bool, typer.Option("--independent", help="Play each deal once, not once in every seating.")
]
_Until = Annotated[
    float | None,
    typer.Option("--until-width", help="Play on until every interval is at most ± this."),
]
_Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of deals and bots.")]
_Workers = Annotated[int, typer.Option(min=1, help="Processes to play in.")]
_Dask = Annotated[str, typer.Option(metavar="ADDRESS", help="Or a Dask scheduler's workers.")]
_Plot = Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw the bankrolls.")]
_Log = Annotated[
    Path | None, typer.Option(metavar="FILE.phhs|FILE.log", help="Write the hands as PHH or ACPC.")
]

#: With --until-width: an end in case the width is out of reach.
_MOST_HANDS = 1_000_000_000


def add(app: typer.Typer) -> None:
    from cbr_arena.acpc.commands import add as add_acpc

    app.command("match", epilog="Example: cbr match lag call --hands 20000 --plot match.png")(match)
    app.command("bots", epilog="Example: cbr bots --json")(bots)
    add_acpc(app)


def match(
    bots: _Bots,
    vs: _Vs = None,
    hands: _Hands = 10_000,
    game: _Game = "limit",
    seats: _Seats = None,
    stack: _Stack = None,
    session: _Session = 1_000,
    independent: _Independent = False,
    until_width: _Until = None,
    seed: _Seed = 0,
    workers: _Workers = 1,
    dask: _Dask = "",
    plot: _Plot = None,
    log: _Log = None,
    json: Json = False,
) -> None:
    """Let bots play each other, and say who wins how much with its interval.

    Each deal is played once in every seating, so luck of the cards evens out; the mean over these
    hands is one block, and intervals are over blocks. Winnings are in small bets a hand for limit,
    in big blinds a hand for no-limit. Stacks are reset for every hand.
    """
    from cbr.errors import BadValue, NoSuchName
    from cbr.workers import executor
    from cbr_arena.bots import GAMES
    from cbr_arena.match import Match
    from cbr_arena.players import players_of
    from cbr_holdem.table.game import Game

    if game not in GAMES:
        raise NoSuchName("game", game, GAMES)
    if until_width is not None and until_width <= 0:
        raise BadValue(f"--until-width {until_width:g} must be above 0")
    _verify_files(plot, log, vs)
    terms = Game(game, 50, 100)
    tables = [[*bots, hero] for hero in vs] if vs else [bots]
    matches = [
        Match(
            players_of(specs),
            hands=hands,
            game=terms,
            stack=(stack or 0) * terms.big_blind,
            seed=seed,
            session=session,
            duplicate=not independent,
            keep_hands=log is not None,
        )
        for specs in tables
    ]
    if seats is not None and seats != matches[0].seats:
        raise BadValue(f"{matches[0].seats} bots are named, and --seats says {seats}")
    with (
        waiting("compiling what is needed, once on a machine; that takes up to a minute", 6.0),
        executor(workers, dask) as pool,
        progress("playing", "hands") as tell,
    ):
        played = _play(matches, pool, tell, until_width)
    _show(matches, played, vs, json)
    if plot is not None:
        from cbr_arena.plots import draw

        draw(matches, played, plot)
        _tell_file(f"drawn in {plot}", json)
    if log is not None:
        from cbr_arena.logs import write

        _tell_file(f"wrote {write(played[0].hands, log):,} hands to {log}", json)


def _verify_files(plot: Path | None, log: Path | None, vs: object) -> None:
    """What can be known before a long match: whether what it gives can be written."""
    from cbr.errors import BadValue
    from cbr.plots import verify_picture
    from cbr_arena.logs import verify_log

    if plot is not None:
        verify_picture(plot)
    if log is not None:
        verify_log(log)
        if vs:
            raise BadValue("--log writes one match, and --vs plays two; leave out one of them")


def _play(matches: Sequence[Match], pool: Any, tell: Any, width: float | None) -> list[Played]:
    """Play matches side by side, piece by piece; until their intervals are narrow enough."""
    from cbr_arena.match import Played, pieces_played
    from cbr_arena.results import width_of

    parts: list[list[Played]] = [[] for _ in matches]
    streams = [pieces_played(one, pool, endless=width is not None) for one in matches]
    total = sum(one.deals * one.seatings for one in matches)
    done = 0
    for pieces in zip(*streams, strict=False):
        for mine, piece in zip(parts, pieces, strict=True):
            mine.append(piece)
            done += len(piece.won) * matches[0].seatings
        if tell:
            tell(done, max(total, done), done)
        if width is not None:
            now = [Played.together(mine) for mine in parts]
            reached = width_of(now)
            if (done >= total and reached is not None and reached <= width) or done > _MOST_HANDS:
                break
    for stream in streams:
        stream.close()
    return [Played.together(mine) for mine in parts]


def _show(
    matches: Sequence[Match], played: Sequence[Played], vs: tuple[str, str] | None, json: bool
) -> None:
    from cbr_arena.results import difference, lines_of

    first = matches[0]
    found = [lines_of(one, what) for one, what in zip(matches, played, strict=True)]
    better = difference(played[0], played[1], first.seats - 1) if vs else None
    if json:
        document: dict[str, Any] = {
            "game": first.game.betting,
            "seats": first.seats,
            "hands": sum(len(what.won) * first.seatings for what in played),
            "seed": first.seed,
            "bots": [dataclasses.asdict(line) for line in _told(found, vs)],
        }
        if vs and better is not None:
            document["difference"] = {"a": vs[0], "b": vs[1], **dataclasses.asdict(better)}
        emit(document)
        return
    unit = "sb/h" if first.game.betting == "limit" else "bb/h"
    hands = len(played[0].won) * first.seatings
    table(
        f"{first.seats} seats, {first.game.betting}, {hands:,} hands, seed {first.seed}",
        ["bot", unit, "sd", "VPIP", "PFR", "aggression", "showdowns"],
        [_row(line) for line in _told(found, vs)],
    )
    if vs and better is not None:
        lines(f"{vs[0]} less {vs[1]} on the same deals: {_rate(better)} {unit}")
    for line in _told(found, vs):
        for why, times in line.faults.items():
            note(f"{line.name} had {times:,} faults: {why}")


def _told(found: list[list[Line]], vs: object) -> list[Line]:
    """Everybody; with --vs, the two who took turns and what the others did against the first."""
    return [found[0][-1], found[1][-1], *found[0][:-1]] if vs else found[0]


def _row(line: Line) -> tuple[object, ...]:
    return (
        line.name,
        _rate(line),
        f"{line.sd:.2f}",
        f"{line.vpip:.2f}",
        f"{line.pfr:.2f}",
        "-" if line.aggression is None else f"{line.aggression:.2f}",
        f"{line.showdown:.2f}",
    )


def _rate(rate: Line | Rate) -> str:
    return f"{rate.rate:+.3f}" + ("" if rate.ci95 is None else f" ± {rate.ci95:.3f}")


def _tell_file(sentence: str, json: bool) -> None:
    if not json:
        lines(sentence)


def bots(json: Json = False) -> None:
    """The bots that can be named in a match, with their options."""
    import inspect

    from cbr.plugins import default_plugins

    found = []
    for name, kind in sorted(default_plugins().named("bot").items()):
        options = {
            p.name: None if p.default is inspect.Parameter.empty else p.default
            for p in inspect.signature(kind.make).parameters.values()
        }
        entry = {"name": name, "help": kind.help, "games": list(kind.games), "options": options}
        found.append(entry)
    if json:
        emit({"bots": found})
        return
    table(
        "",
        ["bot", "games", "options", "what it does"],
        [
            (
                one["name"],
                ", ".join(one["games"]),
                ", ".join(k if v is None else f"{k}={cell(v)}" for k, v in one["options"].items()),
                one["help"],
            )
            for one in found
        ],
    )
