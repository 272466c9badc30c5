"""``cbr retain``: revise a decision by its outcome, and keep it as a case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli.options import CASE, File, Json, Stage, situation
from cbr.cli.output import cell, emit, lines

if TYPE_CHECKING:
    from cbr.cli.app import App
    from cbr.upkeep.revision import Revision

_Case = Annotated[list[str], CASE]
_Solution = Annotated[str, typer.Option(help="The solution that was chosen.")]
_Outcome = Annotated[float | None, typer.Option(help="What it earned, if known.")]
_Rule = Annotated[
    str,
    typer.Option(
        metavar="SPEC", help="When to keep it: always, novel?above=0.999 or earned?above=0."
    ),
]


def add(app: App) -> None:
    app.command(
        "retain",
        epilog="Example: cbr retain casebases/cars.db --solution buy --outcome 4.5 "
        "--case price=7000,age=6,mileage=90,power=90,fuel=diesel,owners=1",
    )(retain)


def retain(
    file: File,
    case: _Case,
    solution: _Solution,
    outcome: _Outcome = None,
    stage: Stage = None,
    rule: _Rule = "always",
    json: Json = False,
) -> None:
    """Revise a decision by its outcome, and keep it as a case.

    The outcome is compared with that of the retrieved cases; a solution that is a number with the
    number that they make expected. Features that may be missing need not be given. The rule may
    keep the decision only if no case is much like it (novel), or only if it earned enough (earned).
    """
    from cbr.retrieval.retriever import retrieve
    from cbr.store.casebase import Casebase
    from cbr.upkeep.retention import retain as run
    from cbr.upkeep.revision import revise

    with Casebase.open(file, write=True) as base:
        chosen = base.stage(stage)
        target = situation(case, base.case_type(chosen))
        with base.transaction():  # so that no other process retains the same case in between
            revision = revise(retrieve(base, chosen, target), solution, outcome)
            number = run(base, chosen, revision, rule)
    if json:
        emit(
            {
                "case": number,
                "retained": number is not None,
                "expected": revision.expected,
                "surprise": revision.surprise,
                "most_similar": revision.most_similar,
            }
        )
        return
    lines(
        f"retained as case {number}" if number is not None else f"not retained: rule {rule}",
        _compared(revision),
    )


def _compared(revision: Revision) -> str:
    """The decision beside what the retrieved cases made expect."""
    numeric = not isinstance(revision.case.solution, str)
    if not numeric and not revision.most_similar:
        return "no retrieved case has this solution"
    said = f"the nearest case{'' if numeric else ' with this solution'} has similarity "
    said += f"{revision.most_similar:.4f}"
    if revision.expected is None:
        return said
    what = "number" if numeric else "outcome"
    surprise = f", surprise {cell(revision.surprise)}" if revision.surprise is not None else ""
    return f"expected {what} {cell(revision.expected)}{surprise}; {said}"
