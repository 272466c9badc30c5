"""``cbr revise``: a case changed in a feature, in its solution or in its outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli.options import File, Json, NoHistory, Note, Stage
from cbr.cli.output import cell, emit, table

if TYPE_CHECKING:
    from cbr.cli.app import App

_Case = Annotated[int, typer.Argument(metavar="CASE", help="The number of the case.")]
_Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="K=V,...", help="Features that change; K= for a missing one."),
]
_Solution = Annotated[str | None, typer.Option(help="The solution that it should have.")]
_Outcome = Annotated[float | None, typer.Option(help="The outcome that it had after all.")]


def add(app: App) -> None:
    app.command("revise", epilog="Example: cbr revise cars.db 12 --set price=6500 --solution buy")(
        revise
    )


def revise(
    file: File,
    case: _Case,
    set: _Set = None,
    solution: _Solution = None,
    outcome: _Outcome = None,
    stage: Stage = None,
    note: Note = "",
    no_history: NoHistory = False,
    json: Json = False,
) -> None:
    """Change a case that is in the casebase, in one transaction.

    `cbr history` shows what it was before, unless --no-history. A case with a changed feature no
    longer follows its row: `cbr rebuild` keeps it as it is.
    """
    from cbr.errors import BadValue
    from cbr.spec import pairs
    from cbr.store.casebase import Casebase
    from cbr.upkeep.editing import change

    values: dict[str, str] = {}
    for text in set or ():
        values |= pairs(text, "--set")
    if not values and solution is None and outcome is None:
        raise BadValue("nothing to change: give --set FEATURE=VALUE, --solution or --outcome")
    with Casebase.open(file, write=True) as base:
        chosen = base.stage(stage)
        before = next(base.cases(chosen, [case]), None)
        labels = {f.name: f.heading for f in base.case_type(chosen).features}
        labels["solution"] = base.case_type(chosen).solution_heading
        after = change(
            base,
            chosen,
            case,
            values,
            solution=solution,
            outcome=... if outcome is None else outcome,
            note=note,
            history=not no_history,
        )
    assert before is not None
    if json:
        emit({"stage": chosen, "case": case, "before": _plain(before), "after": _plain(after)})
        return
    old, new = _plain(before), _plain(after)
    rows = [
        (labels.get(n, n), cell(old.get(n)), cell(new.get(n)))
        for n in old | new
        if old.get(n) != new.get(n)
    ]
    table(f"case {case}", ["", "before", "after"], rows or [("nothing changed", "", "")])


def _plain(case: object) -> dict[str, object]:
    from cbr.case import Case

    assert isinstance(case, Case)
    return {**case.values, "solution": case.solution, "outcome": case.outcome}
