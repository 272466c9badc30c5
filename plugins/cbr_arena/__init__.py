"""The arena: bots at tables, matches, and what they show.

A bot is a class with one method, `act`. The short way sees one view and gives one action:

    from cbr_arena import bot

    @bot("shy")
    class Shy:
        \"\"\"Calls small bets.\"\"\"

        def act(self, view):
            return "c" if view["pot_odds"] < 0.2 else "f"

The fast way takes a batch of decisions and gives as many actions: see `Bot`. Its modules:

    bots         what a bot is, in its two forms; `hookspecs` is the hook by which plugins add bots
    chance       random numbers for bots, by deal, seat and decision
    views        the short form of a bot, wrapped for many tables
    asking       a bot asked so that nothing it does can end a match
    asked_once   a bot asked once for tables that are the same
    players      who sits at the table: bots built from specs
    tables       many tables in lockstep
    showing      what the end of a hand shows, and figures of how it was played
    luck         what was luck in a hand; `adjust` takes it out of results
    match        the same deals in every seat, over sessions and processes
    tournament   everybody heads-up against everybody
    results      winnings with their intervals; `report` and `plots` show them
    records      hands of a match as texts; `logs` writes them to files
    acpc/        the protocol of the Annual Computer Poker Competition
    commands     `cbr match` and `cbr bots`

Every command loads this module, so it imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import lazy_loader

from cbr import hook

if TYPE_CHECKING:
    import pluggy
    import typer

# Plugins are searched for hooks with `dir`, which must list what stands here: no lazy `__dir__`.
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


@hook
def cbr_add_hooks(manager: pluggy.PluginManager) -> Iterable[str]:
    from cbr_arena import hookspecs

    manager.add_hookspecs(hookspecs)
    return ["bot"]


@hook
def cbr_commands(app: typer.Typer) -> None:
    from cbr_arena.commands import add

    add(app)
