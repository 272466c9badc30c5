"""Playing: a person against bots in the terminal.

    words      actions and amounts in words
    cards      cards as a person reads them
    keys       single keys where stdin is a terminal, lines elsewhere
    person     a person as the arena sees one: a bot that asks
    watching   what bots that can explain themselves were asked
    saving     the session as a log
    session    hand after hand at one table
    screen     what is shown
    talk       what is asked, and what each key does
    commands   `cbr play`

Every command loads this module, so it imports nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cbr import hook

if TYPE_CHECKING:
    import typer


@hook
def cbr_commands(app: typer.Typer) -> None:
    from cbr_play.commands import add

    add(app)
