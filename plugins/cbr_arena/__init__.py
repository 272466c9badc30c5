"""The arena: bots, matches between them, and their results.

A bot is a class with one method, `act`. The short form takes one view and returns one action:

    from cbr_arena import bot

    @bot("shy")
    class Shy:
        \"\"\"Calls small bets.\"\"\"

        def act(self, view):
            return "c" if view["pot_odds"] < 0.2 else "f"

The fast form takes a batch of decisions and returns as many actions: see `Bot`. The modules:

    bots         the two forms of a bot; `hookspecs` is the hook by which plugins add bots
    analysis     what a bot knows of one decision
    advice       what a bot would do in a hand in progress; `advice_text` and `advice_plots` show it
    chance       random numbers for bots, by deal, seat and decision
    guests       bots that are not our own: what they are given
    views        the short form of a bot, wrapped for many tables
    asking       calls of a bot, guarded so that it cannot end a match
    nested       bots that ask other bots
    asked_once   a bot that is called once for identical tables
    apart/       such bots in processes of their own
    players      the players of a match: bots built from specs
    tables       many tables in lockstep
    showing      what each seat sees at the end of a hand, and counts of how it was played
    luck         the luck in a hand, as control variates; `adjust` takes it out of results
    watchers     what is kept of players from match to match; `--remember`
    match        the same deals in every seat, over sessions and processes
    tournament   heads-up matches between all pairs
    results      winnings with their intervals; `report` and `plots` show them
    records      hands of a match as texts; `logs` writes them to files
    acpc/        the protocol of the Annual Computer Poker Competition
    commands     `cbr match` and `cbr bots`; `ask_command` is `cbr ask`
    testing      a check for authors of bots; `starter` is one to begin with

Every command loads this module, so it imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import lazy_loader

from cbr import hook

if TYPE_CHECKING:
    import pluggy
    import typer

# The plugin manager finds hooks with `dir`; a lazy `__dir__` would list the public names only.
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


@hook
def cbr_add_hooks(manager: pluggy.PluginManager) -> Iterable[str]:
    from cbr_arena import hookspecs

    manager.add_hookspecs(hookspecs)
    return ["bot", "watcher"]


@hook
def cbr_starters() -> Mapping[str, tuple[str, str]]:
    from cbr_arena.starter import STARTER, TEST

    return {"bot": (STARTER, TEST)}


@hook
def cbr_commands(app: typer.Typer) -> None:
    from cbr_arena.commands import add

    add(app)
