"""``cbr history``: what was done to cases by hand."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli.options import File, Json, Stage
from cbr.cli.output import cell, emit, lines, table

if TYPE_CHECKING:
    from cbr.cli.app import App

_Case = Annotated[
    int | None, typer.Argument(metavar="CASE", help="The number of one case.", show_default=False)
]


def add(app: App) -> None:
    app.command("history", epilog="Example: cbr history cars.db 12")(history)


def history(file: File, case: _Case = None, stage: Stage = None, json: Json = False) -> None:
    """Show which cases were revised or deleted, when and by whom.

    What each case was before is told with it.
    """
    from cbr.store.casebase import Casebase
    from cbr.upkeep.editing import history_of

    with Casebase.open(file) as base:
        found = history_of(base, base.stage(stage), case)
    if json:
        emit({"file": str(file), "changes": [dataclasses.asdict(one) for one in found]})
        return
    if not found:
        lines("no case was revised or deleted by hand")
    table(
        "",
        ["when", "who", "what", "case", "before", "note"],
        [
            (
                one.when,
                one.who,
                one.what,
                one.case,
                ", ".join(f"{name}={cell(value)}" for name, value in one.before.items()),
                one.note,
            )
            for one in found
        ],
    )
