"""``cbr export``: the cases as tables, or the records that they came from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli.options import File, Json
from cbr.cli.output import emit, table

if TYPE_CHECKING:
    from cbr.cli.app import App

_To = Annotated[
    str, typer.Option(help="csv, parquet, or the name of a case source that can write (phh).")
]
_Out = Annotated[
    Path | None,
    typer.Option(help="Folder for csv and parquet, else a file; default: beside the casebase."),
]


def add(app: App) -> None:
    app.command("export", epilog="Example: cbr export casebases/cars.db --to csv")(export)


def export(file: File, to: _To, out: _Out = None, json: Json = False) -> None:
    """Write the cases as tables, or their records as a log."""
    from cbr.store.exports import export as run

    files = run(file, to, out)
    if json:
        emit({"file": str(file), "to": to, "files": files})
        return
    table("", ["file", "rows"], files.items())
