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
