"""The arena: bots at tables, honest matches, and what they show.

A bot is a class with one method, `act`. The short way sees one view and gives one action:

    from cbr_arena import bot

    @bot("shy")
    class Shy:
        \"\"\"Calls small bets.\"\"\"

        def act(self, view):
            return "c" if view["pot_odds"] < 0.2 else "f"

The fast way takes a batch of decisions and gives as many actions: see `Bot`. This module is loaded
by every command, so it imports nothing heavy.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from cbr import hook

if TYPE_CHECKING:
    import pluggy
    import typer

    from cbr_arena.adjust import factors_of_luck as factors_of_luck
    from cbr_arena.adjust import verify_adjustment as verify_adjustment
    from cbr_arena.asked_once import once as once
    from cbr_arena.bots import CALL as CALL
    from cbr_arena.bots import FOLD as FOLD
    from cbr_arena.bots import GAMES as GAMES
    from cbr_arena.bots import RAISE as RAISE
    from cbr_arena.bots import Actions as Actions
    from cbr_arena.bots import Bot as Bot
    from cbr_arena.bots import BotKind as BotKind
    from cbr_arena.bots import Figure as Figure
    from cbr_arena.bots import Triples as Triples
    from cbr_arena.bots import bot as bot
    from cbr_arena.chance import Chance as Chance
    from cbr_arena.logs import plain_name as plain_name
    from cbr_arena.luck import TERMS as TERMS
    from cbr_arena.luck import all_in as all_in
    from cbr_arena.match import Match as Match
    from cbr_arena.match import play as play
    from cbr_arena.players import Player as Player
    from cbr_arena.players import build as build
    from cbr_arena.players import players_of as players_of
    from cbr_arena.records import text_of as text_of
    from cbr_arena.records import texts as texts
    from cbr_arena.showing import payoffs as payoffs
    from cbr_arena.tables import Room as Room
    from cbr_arena.tables import Sitting as Sitting

_HOME = {
    **dict.fromkeys(
        ("FOLD", "CALL", "RAISE", "Actions", "Triples", "Bot", "BotKind", "Figure", "bot"), "bots"
    ),
    "GAMES": "bots",
    "Chance": "chance",
    "plain_name": "logs",
    "Match": "match",
    "play": "match",
    **dict.fromkeys(("factors_of_luck", "verify_adjustment"), "adjust"),
    **dict.fromkeys(("TERMS", "all_in"), "luck"),
    "once": "asked_once",
    "payoffs": "showing",
    **dict.fromkeys(("Player", "build", "players_of"), "players"),
    **dict.fromkeys(("text_of", "texts"), "records"),
    **dict.fromkeys(("Room", "Sitting"), "tables"),
}

__all__ = [*_HOME]


@hook
def cbr_add_hooks(manager: pluggy.PluginManager) -> Iterable[str]:
    from cbr_arena import hookspecs

    manager.add_hookspecs(hookspecs)
    return ["bot"]


@hook
def cbr_commands(app: typer.Typer) -> None:
    from cbr_arena.commands import add

    add(app)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'cbr_arena' has no attribute {name!r}")
    return getattr(importlib.import_module(f"cbr_arena.{_HOME[name]}"), name)
