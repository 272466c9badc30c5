"""The commands ``cbr acpc`` and ``cbr dealer``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli import Json, emit, lines, note, progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cbr_arena.acpc.client import Visit
    from cbr_arena.acpc.dealer import Outcome
    from cbr_arena.acpc.mind import Mind
    from cbr_arena.acpc.seats import Seat
    from cbr_arena.watchers import SeatNotes
    from cbr_holdem.table import Game
    from cbr_logs import GameDef

_LONGEST_WAIT = 1_000_000

_Bot = Annotated[str, typer.Option(help="The bot: a name with options (cbr bots).")]
_Game = Annotated[
    str,
    typer.Option(metavar="FILE.game", help="The game's definition: a file, or a shipped one."),
]
_Host = Annotated[str, typer.Option(help="Host of the dealer.")]
_Port = Annotated[int, typer.Option(min=1, max=65_535, help="The dealer's port for our bot.")]
_Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the bot.")]
_Connect = Annotated[
    float, typer.Option("--connect-timeout", min=0.0, help="Seconds to try to reach the dealer.")
]
_Timeout = Annotated[
    float, typer.Option(min=0.001, help="Seconds that the dealer may be silent between two lines.")
]
_Remember = Annotated[
    str,
    typer.Option(
        metavar="FILE.db",
        help="Keep what was public of the opponents for later matches; needs --opponents.",
    ),
]
_Opponents = Annotated[
    str,
    typer.Option(
        metavar="A,B,...",
        help="Names of the opponents, in the order of seats after the bot's own.",
    ),
]

_Definition = Annotated[
    str,
    typer.Argument(
        metavar="FILE.game",
        help="The game's definition: a file, or a shipped one.",
        show_default=False,
    ),
]
_Hands = Annotated[int, typer.Option(min=1, max=2**32 - 1, help="Hands to play.")]
_Deals = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of deals and bots.")]
_Names = Annotated[
    str, typer.Option(metavar="A,B,...", help="Names of the players in the log; p1,p2,...")
]
_Bots = Annotated[
    list[str] | None,
    typer.Option(
        "--bot", help="One of our bots in one of the last seats, lag*8 for eight. Repeatable."
    ),
]
_Listen = Annotated[str, typer.Option(help="Address to listen at; by default this machine only.")]
_First = Annotated[
    int,
    typer.Option(
        min=0, max=65_535, help="Port of the first player, the next has the next; 0: any."
    ),
]
_Start = Annotated[
    float, typer.Option("--start-timeout", min=0.001, help="Seconds for all players to connect.")
]
_Response = Annotated[
    float, typer.Option("--response-limit", min=0.001, help="Seconds for an answer.")
]
_HandLimit = Annotated[
    float, typer.Option("--hand-limit", min=0.001, help="Seconds for a player's answers in a hand.")
]
_Average = Annotated[
    float,
    typer.Option("--average-limit", min=0.001, help="Seconds a hand, on average over the match."),
]
_Log = Annotated[Path | None, typer.Option(metavar="FILE.log", help="Write the match log.")]
_Show = Annotated[bool, typer.Option("--show", help="Print the game's definition and exit.")]


def add(app: typer.Typer) -> None:
    app.command(
        "acpc",
        epilog="Example: cbr acpc --bot lag --port 20001 --game holdem.limit.3p.game",
    )(acpc)
    app.command(
        "dealer",
        epilog="Example: cbr dealer holdem.limit.3p.game --hands 3000 --port 20001 --bot lag "
        "--log match.log",
    )(dealer)


def acpc(
    bot: _Bot,
    port: _Port,
    game: _Game,
    host: _Host = "127.0.0.1",
    seed: _Seed = 0,
    connect_timeout: _Connect = 10.0,
    timeout: _Timeout = 1_200.0,
    remember: _Remember = "",
    opponents: _Opponents = "",
    json: Json = False,
) -> None:
    """Play a bot at a dealer of the poker competition (ACPC).

    It speaks version 2.0.0 of the protocol until the dealer ends the match. The bot decides as in
    cbr match, given the same cards, seat and seed. If it fails, a check or fold is sent.

    --remember adds what was public of the opponents to a file, as in cbr match. The protocol tells
    no names, so --opponents gives them.
    """
    from cbr import BadValue
    from cbr_arena.acpc.client import connect, visit
    from cbr_arena.acpc.games import load_game
    from cbr_arena.acpc.mind import Mind

    _verify_seconds(connect_timeout, timeout)
    definition = load_game(game)
    notes = _notes(remember, opponents, definition)
    mind = Mind(bot, definition.game, seed)
    _warm(mind, definition)
    if notes:
        mind.recall(notes.notes.known, ["", *notes.names])
    try:
        found = visit(connect(host, port, connect_timeout), mind, definition, timeout, notes)
    finally:
        if notes:
            notes.notes.save()
    _tell_visit(found, bot, definition.game, f"{host} port {port}", json)
    if not found.whole:
        raise BadValue(
            f"the dealer closed the connection in the middle of a hand, after {found.hands:,}"
        )


def _notes(remember: str, opponents: str, definition: GameDef) -> SeatNotes | None:
    """What the bot's seat notes of its opponents, if that is wanted."""
    from cbr import BadValue
    from cbr_arena.watchers import Notes, SeatNotes
    from cbr_holdem.table import verify_names

    if bool(remember) != bool(opponents):
        raise BadValue("--remember FILE and --opponents A,B,... go together; give both")
    if not remember:
        return None
    names = [name.strip() for name in opponents.split(",")]
    verify_names(names)
    if len(names) != len(definition.posts) - 1:
        raise BadValue(
            f"--opponents has {len(names)} names, and the game has {len(definition.posts) - 1} "
            "other seats"
        )
    return SeatNotes(Notes(remember, definition.game, names), names)


def _warm(mind: Mind, definition: GameDef) -> None:
    """Let the bot decide on every street, so that its code is compiled before the clock runs."""
    from cbr_arena.acpc.dealer import dealt

    table = dealt(definition, 0, 0)
    while not table.over:
        mind.act(table, 0)
        table.play("c")
    mind.remember(table, 0)
    mind.forget()


def _tell_visit(found: Visit, bot: str, game: Game, place: str, json: bool) -> None:
    rate = found.won / game.big_blind / found.hands if found.hands else None
    if json:
        document = {
            "bot": bot,
            "dealer": place,
            "game": game.betting,
            "hands": found.hands,
            "won": found.won,
            "rate": rate,
            "whole": found.whole,
            "decisions": len(found.seconds),
            "seconds": found.seconds_used,
            "faults": dict(found.faults),
        }
        emit(document)
    else:
        unit = "sb/h" if game.betting == "limit" else "bb/h"
        per_hand = "" if rate is None else f", {rate:+.3f} {unit}"
        lines(f"{bot} at {place}: {found.hands:,} hands, {found.won:+,.10g} chips{per_hand}")
        if used := found.seconds_used:
            lines(
                f"{len(found.seconds):,} decisions in {1000 * used['mean']:.1f} ms on average, "
                f"99 % of them in {1000 * used['p99']:.1f} ms, the longest in "
                f"{1000 * used['most']:.1f} ms"
            )
    for why, times in found.faults.items():
        note(f"{bot} had {times:,} faults: {why}")


def dealer(
    definition: _Definition,
    hands: _Hands = 1_000,
    seed: _Deals = 0,
    bot: _Bots = None,
    names: _Names = "",
    host: _Listen = "127.0.0.1",
    port: _First = 0,
    start_timeout: _Start = 300.0,
    response_limit: _Response = 600.0,
    hand_limit: _HandLimit = 600.0,
    average_limit: _Average = 7.0,
    log: _Log = None,
    show: _Show = False,
    json: Json = False,
) -> None:
    """Deal a match to programs of the poker competition (ACPC).

    They speak version 2.0.0 of the protocol, at a port for each. The ports are printed first, in
    the order of the players, and the score at the end. An illegal answer is played as a call and
    noted in the log. A player that is too slow or closes the connection ends the match.
    """
    from cbr import BadValue
    from cbr_arena.acpc.dealer import play_match
    from cbr_arena.acpc.door import close_all, listen, welcome
    from cbr_arena.acpc.games import definition_text, load_game
    from cbr_arena.acpc.log import match_log
    from cbr_arena.acpc.mind import Mind
    from cbr_arena.acpc.seats import House, Limits, Remote
    from cbr_arena.players import build, players_of

    _verify_seconds(start_timeout, response_limit, hand_limit, average_limit)
    game = load_game(definition)
    if show:
        print(definition_text(definition), end="")
        return
    count, ours = len(game.posts), players_of(bot or [])
    if len(ours) > count:
        raise BadValue(f"{len(ours)} bots are named, and the game has {count} seats")
    away = count - len(ours)
    players = _names(names, [one.name for one in ours], count)
    limits = Limits(response_limit, hand_limit, average_limit)
    # Programs may connect while our bots are loaded. The log is opened last, so that the one of an
    # earlier match is kept if a port is taken or a bot cannot play.
    listening = listen(host, port, away)
    try:
        if listening:
            print(*(server.getsockname()[1] for server in listening), flush=True)
        bots = {one.spec: build(one.spec, game.game.betting) for one in ours}
        minds = [Mind(one.spec, game.game, seed, bots[one.spec]) for one in ours]
        for mind in minds:
            _warm(mind, game)
        with match_log(log, game, hands, seed, limits) as book:
            connections = welcome(listening, players, start_timeout)
            seats: list[Seat] = [
                *(Remote(one, limits, hands) for one in connections),
                *map(House, minds),
            ]
            with progress("dealing", "hands") as tell:
                outcome = play_match(game, seats, players, hands, seed, book, tell)
    finally:
        close_all(listening)
    faults = {
        name: dict(mind.faults)
        for name, mind in zip(players[away:], minds, strict=True)
        if mind.faults
    }
    _tell_outcome(outcome, game.game, faults, json)
    if outcome.ended:
        raise BadValue(
            f"the match ended after {outcome.hands:,} of {hands:,} hands: {outcome.ended}"
        )


def _verify_seconds(*seconds: float) -> None:
    from cbr import BadValue

    for limit in seconds:
        if not 0 <= limit <= _LONGEST_WAIT:
            raise BadValue(f"a limit is {limit:g} s; give at most {_LONGEST_WAIT:,} s")


def _names(given: str, bots: Sequence[str], count: int) -> list[str]:
    """Names of the players: as given, else p1, p2 ... and the specs of our bots."""
    from cbr import BadValue
    from cbr_arena.logs import plain_name
    from cbr_holdem.table import verify_names

    if given:
        found = [name.strip() for name in given.split(",")]
    else:
        found = [f"p{place + 1}" for place in range(count - len(bots))]
        found += [plain_name(name) for name in bots]
    if len(found) != count:
        raise BadValue(f"--names has {len(found)} names, and the game has {count} seats")
    verify_names(found)
    for name in found:
        if ":" in name or "|" in name or " " in name:
            raise BadValue(f"{name!r} cannot be a name in a match log; leave out :, | and blanks")
    return found


def _tell_outcome(
    outcome: Outcome, game: Game, faults: dict[str, dict[str, int]], json: bool
) -> None:
    if json:
        players = [
            {
                "name": name,
                "won": won,
                "rate": won / game.big_blind / outcome.hands if outcome.hands else None,
                "warnings": {
                    what: times for (of, what), times in outcome.warnings.items() if of == place
                },
                "faults": faults.get(name, {}),
            }
            for place, (name, won) in enumerate(zip(outcome.players, outcome.totals, strict=True))
        ]
        emit(
            {
                "game": game.betting,
                "hands": outcome.hands,
                "ended": outcome.ended or None,
                "players": players,
            }
        )
    elif not outcome.ended:
        print(outcome.score, flush=True)
    for (place, what), times in outcome.warnings.items():
        note(f"{outcome.players[place]} sent {times:,} times {what}")
    for name, reasons in faults.items():
        for why, times in reasons.items():
            note(f"{name} had {times:,} faults: {why}")
