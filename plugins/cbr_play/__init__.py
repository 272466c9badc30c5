"""Playing: a person against bots in the terminal.

This module is loaded by every command, so it imports nothing heavy.
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
