"""`cbr play`: a person against bots in the terminal.

    words      actions and amounts in words
    cards      cards with suit signs and colours, names of hands
    keys       keyboard input: single keys on a terminal, else lines
    person     the bot that asks a person for its actions
    watching   records decisions of bots that can explain them
    saving     saves the session as a log
    session    plays hand after hand at one table
    screen     output on the terminal
    talk       prompts, and what each key does
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
