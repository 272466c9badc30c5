"""``cbr delete``: cases taken out of a casebase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli.options import File, Json, NoHistory, Note, Stage
from cbr.cli.output import count, emit, lines

if TYPE_CHECKING:
    from cbr.cli.app import App

_Cases = Annotated[
    list[str] | None,
    typer.Argument(metavar="CASES...", help="Numbers of cases, such as 3 7-9.", show_default=False),
]
_Where = Annotated[
    str,
    typer.Option(metavar="K>V,...", help="Instead: all cases for which every condition is true."),
]
_Try = Annotated[bool, typer.Option("--dry-run", help="Only say which cases would be deleted.")]


def add(app: App) -> None:
    app.command("delete", epilog="Example: cbr delete cars.db 3 7-9")(delete)


def delete(
    file: File,
    cases: _Cases = None,
    where: _Where = "",
    stage: Stage = None,
    note: Note = "",
    no_history: NoHistory = False,
    dry_run: _Try = False,
    json: Json = False,
) -> None:
    """Delete cases, by number or by condition.

    All are deleted or none. `cbr history` shows what was deleted, unless --no-history. The records
    stay, so the cases do not come back when their table is built again; `cbr build --replace`
    brings them back.
    """
    from cbr.errors import BadValue
    from cbr.store.casebase import Casebase
    from cbr.upkeep.conditions import chosen_cases, named_cases
    from cbr.upkeep.editing import delete as run

    if bool(cases) == bool(where):
        raise BadValue("name the cases to delete by their numbers, or choose them with --where")
    with Casebase.open(file, write=not dry_run) as base:
        chosen = base.stage(stage)
        ids = named_cases(cases or []) if cases else chosen_cases(base, chosen, where)
        if not dry_run and ids:
            run(base, chosen, ids, note=note, history=not no_history)
    if json:
        emit({"stage": chosen, "cases": ids, "deleted": not dry_run})
        return
    first = f": {', '.join(map(str, ids[:20]))}{' ...' if len(ids) > 20 else ''}" if ids else ""
    lines(f"{count(len(ids), 'case')} {'to delete' if dry_run else 'deleted'}{first}")
