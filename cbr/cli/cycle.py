"""``cbr retain``: what comes after a proposal, on one casebase."""

from __future__ import annotations

from typing import Annotated

import typer

from cbr.cli.options import CaseValues, File, Json, Stage, situation
from cbr.cli.output import cell, emit, lines

_Solution = Annotated[str, typer.Option(help="What was done.")]
_Outcome = Annotated[float | None, typer.Option(help="What it earned.")]
_Rule = Annotated[
    str, typer.Option(metavar="SPEC", help="Keep it: always, novel?above=0.999, earned?above=0.")
]


def add(app: typer.Typer) -> None:
    app.command(
        "retain",
        epilog="Example: cbr retain casebases/cars.db --case price=7000,age=6,... "
        "--solution buy --outcome 4.5 --rule novel",
    )(retain)


def retain(
    file: File,
    case: CaseValues,
    solution: _Solution,
    outcome: _Outcome = None,
    stage: Stage = None,
    rule: _Rule = "always",
    json: Json = False,
) -> None:
    """Score a decision by what it earned, and keep it as a case if the rule says so."""
    from cbr.retrieval.retriever import retrieve
    from cbr.store.casebase import Casebase
    from cbr.upkeep.retention import retain as keep
    from cbr.upkeep.revision import revise

    with Casebase.open(file, write=True) as base:
        chosen = base.stage(stage)
        target = situation(case, base.case_type(chosen))
        with base.transaction():  # so that nobody else retains the same between the two
            revision = revise(retrieve(base, chosen, target), solution, outcome)
            number = keep(base, chosen, revision, rule)
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
        f"expected outcome {cell(revision.expected)}, surprise {cell(revision.surprise)}; the "
        f"nearest case with this solution has similarity {revision.most_similar:.4f}",
    )
