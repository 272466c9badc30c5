"""The commands ``cbr match`` and ``cbr bots``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli import Json, cell, emit, lines, progress, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cbr_arena.match import Match, Played
    from cbr_arena.players import Player

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
        "--vs", metavar="A B", help="Compare A with B in one more seat, on the same deals."
    ),
]
_Hands = Annotated[int, typer.Option(min=1, help="Hands to play, rounded up to whole sets.")]
_Game = Annotated[str, typer.Option(metavar="limit|nolimit", help="The betting structure.")]
_Seats = Annotated[int | None, typer.Option(help="Only checks the number of bots at the table.")]
_Stack = Annotated[
    int | None, typer.Option(min=1, help="Stacks in big blinds; 1,000 in limit, 100 in no-limit.")
]
_Session = Annotated[
    int,
    typer.Option(min=1, max=100_000, help="Deals that bots with a memory play before they forget."),
]
_Independent = Annotated[
    bool, typer.Option("--independent", help="Play each deal once, not once in every seating.")
]
_Until = Annotated[
    float | None,
    typer.Option(
        "--until-width", help="After --hands, play on until every interval is at most ± this."
    ),
]
_Adjust = Annotated[
    str,
    typer.Option(
        metavar="none|all-in|aivat", help="Also give rates with some of the luck subtracted."
    ),
]
_Tournament = Annotated[
    bool, typer.Option("--tournament", help="Play a heads-up match between every two bots.")
]
_Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of deals and bots.")]
_Workers = Annotated[int, typer.Option(min=1, help="Processes to play in.")]
_Isolate = Annotated[
    bool,
    typer.Option(
        "--isolate", help="Run bots of others (not of this package) in processes of their own."
    ),
]
_BotTimeout = Annotated[
    float | None,
    typer.Option(
        "--bot-timeout",
        metavar="SECONDS",
        help="Time for a call of an isolated bot; implies --isolate.  [default: 600]",
        show_default=False,
    ),
]
_Dask = Annotated[str, typer.Option(metavar="ADDRESS", help="Dask scheduler to play on.")]
_Plot = Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw the bankrolls.")]
_Log = Annotated[
    Path | None, typer.Option(metavar="FILE.phhs|FILE.log", help="Write the hands as PHH or ACPC.")
]
_Remember = Annotated[
    str,
    typer.Option(
        metavar="FILE.db",
        help="Keep what was public of the players from match to match; FILE.db?forget=0.999 to "
        "forget old hands.",
    ),
]

#: Most hands with --until-width, in case the width cannot be reached.
_MOST_HANDS = 1_000_000_000


def add(app: typer.Typer) -> None:
    from cbr_arena.acpc.commands import add as add_acpc
    from cbr_arena.ask_command import add as add_ask

    app.command(
        "match",
        epilog="Example: cbr match lag call --hands 20000 --plot match.png; with a stranger's bot: "
        "cbr match theirs.py:shy lag --bot-timeout 10",
    )(match)
    app.command("bots", epilog="Example: cbr bots --json")(bots)
    add_ask(app)
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
    adjust: _Adjust = "none",
    tournament: _Tournament = False,
    seed: _Seed = 0,
    workers: _Workers = 1,
    dask: _Dask = "",
    isolate: _Isolate = False,
    bot_timeout: _BotTimeout = None,
    plot: _Plot = None,
    log: _Log = None,
    remember: _Remember = "",
    json: Json = False,
) -> None:
    """Play bots against each other, and show what they win.

    Each deal is played once in every seating, so the luck of the cards evens out; the mean over
    these hands is one block, and intervals are over blocks. Winnings are in small bets a hand for
    limit, in big blinds a hand for no-limit. Stacks are reset for every hand.

    --tournament plays --hands heads-up between every two bots, on the same deals. --adjust reduces
    the variance without a bias: all-in counts all-ins by their mean payoff; aivat also subtracts
    the luck of the cards, and of actions drawn by the probabilities that bots give.

    --isolate is for bots that you do not trust with the match: each plays in a process of its own,
    a fresh one for every seating, so it sees no deal twice and no memory but its own. If its
    process ends or hangs, it folds. Honest bots get the same results, more slowly.

    --remember adds what a spectator saw to a file: how often each player folded, called and raised,
    and its moves with cards that it showed. Bots that ask for it are told before the first hand
    what the file had then; `cbr opponents` shows it.
    """
    from cbr.errors import BadValue
    from cbr.workers import executor
    from cbr_arena.bots import CALL_LIMIT
    from cbr_arena.match import Match
    from cbr_arena.tournament import Tournament
    from cbr_arena.watchers import known_as, open_watcher
    from cbr_holdem.table import Game

    _verify_options(game, vs, tournament, until_width)
    _verify_files(plot, log, "--tournament" if tournament else ("--vs" if vs else ""))
    players, line_ups = _line_ups(bots, vs, tournament)
    terms = Game(game, 50, 100)
    matches = [
        Match(
            seated,
            hands=hands,
            game=terms,
            stack=(stack or 0) * terms.big_blind,
            seed=seed,
            session=session,
            duplicate=not independent,
            keep_hands=log is not None,
            adjust=adjust,
            isolate=isolate or bot_timeout is not None,
            bot_timeout=CALL_LIMIT if bot_timeout is None else bot_timeout,
        )
        for seated in line_ups
    ]
    if dask and matches[0].isolate:
        raise BadValue("--isolate starts processes on this machine; leave out --dask")
    if seats is not None and seats != matches[0].seats:
        raise BadValue(f"{matches[0].seats} bots play at a table, and --seats is {seats}")
    file = open_watcher(remember) if remember else None
    names = [known_as(one) for one_match in matches for one in one_match.players]
    known = file.recall(game, names) if file else None
    with (
        executor(workers, dask) as pool,
        progress("playing", "hands") as tell,
    ):
        played = _play(matches, pool, tell, until_width, known)
    if file and known is not None:
        seen = known.fresh()
        for one in played:
            seen.merge(one.seen)
        file.add(seen)
    from cbr_arena import report

    found = Tournament.of(players, matches, played) if tournament else None
    if found:
        report.show_tournament(matches, played, found, json)
    else:
        report.show(matches, played, vs, json)
    if plot is not None:
        from cbr_arena.plots import draw_match, draw_tournament

        if found:
            draw_tournament(found, report.unit_of(matches[0]), plot)
        else:
            draw_match(matches, played, plot)
        _tell_file(f"drawn in {plot}", json)
    if log is not None:
        from cbr_arena.logs import write_log

        _tell_file(f"wrote {write_log(played[0].hands, log):,} hands to {log}", json)
    if remember:
        _tell_file(f"remembered in {remember.partition('?')[0]}", json)


def _tell_file(sentence: str, json: bool) -> None:
    if not json:
        lines(sentence)


def _verify_options(
    game: str, vs: tuple[str, str] | None, tournament: bool, until_width: float | None
) -> None:
    """Check options, also against each other."""
    from cbr.errors import BadValue, NoSuchName
    from cbr_arena.bots import GAMES
    from cbr_arena.players import players_of

    if game not in GAMES:
        raise NoSuchName("game", game, GAMES)
    if until_width is not None and not 0 < until_width < float("inf"):
        raise BadValue(f"--until-width {until_width:g} must be above 0")
    for hero in vs or ():
        if len(players_of([hero])) != 1:
            raise BadValue(f"--vs compares two bots, and {hero!r} is several")
    if tournament and (vs or until_width):
        other = "--vs" if vs else "--until-width"
        raise BadValue(f"--tournament plays every pair for --hands; leave out {other}")


def _line_ups(
    bots: Sequence[str], vs: tuple[str, str] | None, tournament: bool
) -> tuple[list[Player], list[list[Player]]]:
    """All players, and those of each match: one, two with --vs, every pair's with --tournament."""
    from cbr_arena.players import players_of
    from cbr_arena.tournament import pairs_of

    players = players_of([*bots, *([vs[0]] if vs else [])])
    if vs:
        return players, [players, players_of([*bots, vs[1]])]
    if tournament:
        return players, [[players[a], players[b]] for a, b in pairs_of(players)]
    return players, [players]


def _verify_files(plot: Path | None, log: Path | None, several: str) -> None:
    """Check before a long match that its files can be written."""
    from cbr import BadValue
    from cbr.plots import verify_picture
    from cbr_arena.logs import verify_log

    if plot is not None:
        verify_picture(plot)
    if log is not None:
        verify_log(log)
        if several:
            raise BadValue(
                f"--log writes one match, and {several} plays several; leave out one of them"
            )


def _play(
    matches: Sequence[Match], pool: Any, tell: Any, width: float | None, known: Any = None
) -> list[Played]:
    """Play matches side by side, piece by piece; with a width, until their intervals have it."""
    from cbr_arena.match import Played, pieces_played
    from cbr_arena.results import width_of

    parts: list[list[Played]] = [[] for _ in matches]
    # Pieces of one size, with whole sessions if a bot has a memory.
    size = max((one.piece for one in matches if one.remembers), default=matches[0].piece)
    streams = [pieces_played(one, pool, width is not None, size, known) for one in matches]
    total = sum(one.deals * one.seatings for one in matches)
    done, look = 0, 1
    for pieces in zip(*streams, strict=True):
        for mine, piece in zip(parts, pieces, strict=True):
            mine.append(piece)
            done += len(piece.won) * matches[0].seatings
        if tell:
            tell(done, max(total, done), done)
        if width is not None and done >= total and len(parts[0]) >= look:
            # Rarely enough that computing intervals costs little compared with playing.
            look = len(parts[0]) + 1 + len(parts[0]) // 20
            reached = width_of([Played.together(mine) for mine in parts])
            if (reached is not None and reached <= width) or done > _MOST_HANDS:
                break
    for stream in streams:
        stream.close()
    return [Played.together(mine) for mine in parts]


def bots(json: Json = False) -> None:
    """The bots that can be named in a match, with their options."""
    import inspect

    from cbr.plugging import default_plugins

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
