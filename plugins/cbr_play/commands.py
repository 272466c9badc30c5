"""The command `cbr play`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli import Json, emit

if TYPE_CHECKING:
    from cbr_play.screen import Screen
    from cbr_play.session import Session
    from cbr_play.talk import Talk

_Bots = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="BOT",
        help="Your opponents: names with options as in `cbr match`; lag*2 for two of one kind.",
        show_default=False,
    ),
]
_Game = Annotated[str, typer.Option(metavar="limit|nolimit", help="The betting.")]
_Stack = Annotated[
    int | None, typer.Option(min=1, help="Stacks in big blinds; 1,000 in limit, 100 in no-limit.")
]
_Hands = Annotated[int, typer.Option(min=0, help="Hands to play; 0: until you quit.")]
_Seed = Annotated[
    int | None,
    typer.Option(min=0, max=2**63 - 1, help="Seed of deals and bots; without it a random one."),
]
_Name = Annotated[str, typer.Option(help="Your name.")]
_Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.phhs", help="Save hands to this file; without it a new one in casebases/."
    ),
]
_Explain = Annotated[
    bool,
    typer.Option(
        "--explain", help="Explain decisions of bots that tell why; key e also during a hand."
    ),
]
_Remember = Annotated[
    str,
    typer.Option(
        metavar="FILE.db",
        help="Keep what was public of the players for later sessions and matches.",
    ),
]

#: The opponents if none are named: bots that need no file.
_DEFAULT = {
    "limit": ("loki*2", "lag*2", "miniloki"),
    "nolimit": ("miniloki?size=3/4*2", "lag?size=1/2*2", "ace1?size=1"),
}


def add(app: typer.Typer) -> None:
    app.command("play", epilog="Example: cbr play cbr:casebases/sample.db 'loki*2' --explain")(play)


def play(
    bots: _Bots = None,
    game: _Game = "limit",
    stack: _Stack = None,
    hands: _Hands = 0,
    seed: _Seed = None,
    name: _Name = "you",
    out: _Out = None,
    explain: _Explain = False,
    remember: _Remember = "",
    json: Json = False,
) -> None:
    """Play against bots in the terminal: ? shows the keys.

    The button moves with each hand, and stacks are refilled as in a match; the table shows the
    total winnings of each player. Each finished hand is saved as PHH with the cards of all players,
    so that `cbr build` makes cases of it. Bots keep their memory until the session ends; --remember
    keeps what a spectator saw of you and of them, which `cbr opponents` shows.

    If stdin is not a terminal, keys are read as lines: c, f, r 400.
    """
    import secrets
    from datetime import datetime

    from cbr import BadValue
    from cbr.cli import console
    from cbr.errors import NoSuchName
    from cbr_arena import GAMES, Match, Notes, Player, known_as, plain_name, players_of
    from cbr_holdem.table import MOST_SEATS, Game, verify_names
    from cbr_play.keys import keyboard
    from cbr_play.saving import Log, fresh_path
    from cbr_play.screen import Screen
    from cbr_play.session import Session
    from cbr_play.talk import Talk

    if game not in GAMES:
        raise NoSuchName("game", game, GAMES)
    players = [Player(name.strip(), ""), *players_of(bots or _DEFAULT[game])]
    if len(players) > MOST_SEATS:
        raise BadValue(f"{len(players)} players with you; a table has 2 to {MOST_SEATS} seats")
    verify_names([plain_name(player.name) for player in players])
    terms = Game(game, 50, 100)
    match = Match(
        players,
        game=terms,
        stack=(stack or 0) * terms.big_blind,
        seed=secrets.randbelow(10**9) if seed is None else seed,
    )
    log = Log(out or fresh_path(datetime.now()))
    named = [known_as(player) for player in players]
    notes = Notes(remember, terms, named, often=1) if remember else None
    screen = Screen(console(), match, hands)
    with keyboard() as keys:
        talk = Talk(keys, screen, explain)
        session = Session(match, talk.turn, log, notes)
        try:
            _play(session, talk, hands)
        except KeyboardInterrupt:
            _farewell(session, screen, json)
            raise
        _farewell(session, screen, json)


def _play(session: Session, talk: Talk, hands: int) -> None:
    """Play hand after hand, until the number of hands is reached or the person leaves."""
    from cbr_play.person import Left

    try:
        while not hands or session.hands < hands:
            ended = session.play()
            talk.after(session, ended, last=session.hands == hands)
    except Left as left:
        if left.__cause__ is not None:
            raise left.__cause__ from None


def _farewell(session: Session, screen: Screen, json: bool) -> None:
    """Show the winnings, and the file that the hands are saved in."""
    match, log = session.match, session.log
    if json:
        won = zip(match.players, session.totals, strict=True)
        emit(
            {
                "file": str(log.path) if log.hands else None,
                "game": match.game.betting,
                "hands": session.hands,
                "seed": match.seed,
                "players": [{"name": player.name, "won": chips} for player, chips in won],
            }
        )
        return
    screen.say("")
    if session.playing:
        screen.say("The unfinished hand does not count.")
    if not session.hands:
        screen.say("No hand was played to its end, so nothing is saved.")
        return
    screen.totals(session.hands, session.totals)
    screen.line(f"Saved in {log.path} (seed {match.seed}). To make cases of it:")
    screen.line(f"cbr build {log.path} --out {log.path.with_suffix('.db')}")
