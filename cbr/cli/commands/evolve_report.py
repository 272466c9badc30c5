"""``cbr evolve-report``: what happened in a run of ``cbr evolve``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli.options import Json
from cbr.cli.output import emit, lines, table

if TYPE_CHECKING:
    from cbr.cli.app import App

_RunFile = Annotated[
    Path, typer.Argument(metavar="RUN.db", help="A run of `cbr evolve`.", show_default=False)
]
_Plot = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Draw pictures into this folder, as PNG.")
]


def add(app: App) -> None:
    app.command(
        "evolve-report", epilog="Example: cbr evolve-report evolved.run.db --plot pictures"
    )(evolve_report)


def evolve_report(file: _RunFile, plot: _Plot = None, json: Json = False) -> None:
    """Show what happened in a run of `cbr evolve`.

    Each generation is shown with its scores and their range, beside the range that chance alone
    would give. If the plan was published, the published figures are shown too.
    """
    from cbr.evolve.report import report_of
    from cbr.evolve.runfile import RunFile

    with RunFile.open(file) as run:
        found = report_of(run)
        drawn = []
        if plot is not None:
            from cbr.plots.evolution import draw_evolution

            drawn = draw_evolution(run, found, plot)
    if json:
        emit({**asdict(found), "drawn": [str(path) for path in drawn]})
        return
    for title, heads, rows in found.tables():
        table(title, heads, rows)
    lines(*(f"wrote {path}" for path in drawn))
