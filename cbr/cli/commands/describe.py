"""``cbr describe``: what is in the columns of a table, and the case type that suits it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli.columns import show_columns
from cbr.cli.options import Decimal, Delimiter, Encoding, Json, Na, Outcome, Solution
from cbr.cli.output import count, emit, lines, note

if TYPE_CHECKING:
    from cbr.cli.app import App

_Tables = Annotated[list[Path], typer.Argument(metavar="TABLE...", help="Tables of one kind.")]
_Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE.toml", help="Write the case type to this file (.toml or .json)."),
]


def add(app: App) -> None:
    app.command(
        "describe", epilog="Example: cbr describe iris.csv --solution species --out iris.toml"
    )(describe)


def describe(
    tables: _Tables,
    solution: Solution = "",
    outcome: Outcome = "",
    out: _Out = None,
    delimiter: Delimiter = "",
    encoding: Encoding = "",
    decimal: Decimal = "",
    na: Na = "",
    json: Json = False,
) -> None:
    """Show the columns of a table and the case type proposed.

    The file that --out writes can be edited by hand; `cbr build TABLE --case-type FILE` builds by
    it.
    """
    from cbr.building.from_tables import look_at, proposal_of
    from cbr.files.atomic import verify_place
    from cbr.tables.description import plain_description, write_description
    from cbr.tables.proposal import candidates
    from cbr.tables.reading import TableOptions

    if out is not None:
        verify_place(out)
    look = look_at(tables, TableOptions(delimiter, encoding, decimal, na))
    proposed = proposal_of(look, solution, outcome)
    if out is not None:
        write_description(proposed.fields, out, look.options, look.source)
    if json:
        plain = plain_description(proposed.fields, look.options)
        emit(plain | {"out": None if out is None else str(out)})
        return
    rows = max(column.rows for column in look.columns.values())
    lines(f"{look.source}: {count(rows, 'row')}, {count(len(look.columns), 'column')}")
    show_columns(list(look.columns.values()), proposed.fields)
    for sentence in (*look.notes, *proposed.notes):
        note(sentence)
    if not solution:
        names = ", ".join(column.label for column in candidates(look.columns)[:6])
        lines(f"No solution yet; --solution COLUMN names it. It could be {names}.")
    if out is not None:
        lines(f"wrote {out}; edit it, then: cbr build {tables[0]} --case-type {out}")
