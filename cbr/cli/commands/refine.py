"""``cbr refine``: remove cases that mislead or are redundant, or report what the cases solve."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli.long_work import progress
from cbr.cli.options import File, Json, Stage, Weights
from cbr.cli.output import count, emit, lines, note, table

if TYPE_CHECKING:
    from cbr.cli.app import App
    from cbr.store.casebase import Casebase
    from cbr.upkeep.competence_model import Competence
    from cbr.upkeep.refinement import Refinement

_Method = Annotated[
    str,
    typer.Option(
        help="For cases that mislead: noise (RENN) or bbnr (only cases that do harm). For "
        "redundant cases: redundant (condensed nearest neighbours) or icf (keeps the borders)."
    ),
]
_K = Annotated[int, typer.Option("-k", min=1, help="Number of neighbours that vote.")]
_Apply = Annotated[
    bool, typer.Option("--apply", help="Remove the cases; without it they are only listed.")
]
_Report = Annotated[
    bool, typer.Option("--report", help="Remove nothing; report which cases the others solve.")
]
_Plot = Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw the --report.")]


def add(app: App) -> None:
    app.command("refine", epilog="Example: cbr refine casebases/cars.db --method noise")(refine)


def refine(
    file: File,
    stage: Stage = None,
    method: _Method = "noise",
    k: _K = 3,
    weights: Weights = "",
    apply: _Apply = False,
    report: _Report = False,
    plot: _Plot = None,
    json: Json = False,
) -> None:
    """Find cases that mislead or are redundant, and remove them.

    Two accuracies are shown, with all cases and without those to remove: the share of all cases
    whose solution is the most frequent among their k nearest other cases, those of the same record
    left out. Where several solutions are equally frequent, each counts in part.
    """
    from cbr.errors import BadValue, EmptyStage
    from cbr.plots.competence import draw_competence
    from cbr.plots.style import verify_picture
    from cbr.retrieval.retriever import retriever_of
    from cbr.store.casebase import Casebase
    from cbr.upkeep.competence_model import competence
    from cbr.upkeep.refinement import refine as run

    if apply and report:
        raise BadValue("--report removes nothing; leave out --apply or --report")
    if plot is not None and not report:
        raise BadValue("--plot draws the --report; give both")
    if plot is not None:
        verify_picture(plot)
    with Casebase.open(file, write=apply) as base, progress("comparing", "vectors") as tell:
        chosen = base.stage(stage)
        with base.reading():
            cases, version = base.read_cases(chosen), base.write_version
            if not len(cases):
                raise EmptyStage(f"stage {chosen!r} has no cases to refine; build some")
            retriever = retriever_of(base, chosen, weights=weights)
        if report:
            competences = competence(retriever, k, tell, cases)
        else:
            found = run(retriever, method, k, tell, cases)
            if apply and found.drop:
                _remove(base, chosen, found.drop, version)
    if report:
        if plot is not None:
            draw_competence(competences, plot)
        _show_competence(competences, chosen, json)
    elif json:
        emit(dataclasses.asdict(found) | {"applied": apply})
    else:
        _show_refinement(found, apply)


def _remove(base: Casebase, stage: str, cases: Sequence[int], version: int) -> None:
    """Remove cases from a stage that is still as it was when they were found."""
    from cbr.errors import BadValue

    with base.transaction():
        if base.write_version != version:
            raise BadValue(
                f"{base.path} was changed by another process meanwhile, so nothing was "
                "removed; run it again"
            )
        base.remove(stage, cases)


def _show_refinement(found: Refinement, applied: bool) -> None:
    what = f"{found.method}: {len(found.drop):,} of {count(found.cases, 'case')}"
    table(
        f"{what} {'removed' if applied else 'to remove'}",
        [_accuracy(found.by_record), "share"],
        [
            ("with all cases", round(found.accuracy_before, 4)),
            ("without them", round(found.accuracy_after, 4)),
        ],
    )
    if found.drop:
        first = ", ".join(map(str, found.drop[:20]))
        lines(f"cases {first}{' ...' if len(found.drop) > 20 else ''}")
    if found.accuracy_after < found.accuracy_before:
        note("without these cases, the solutions of all cases are predicted less well")
    if found.drop and not applied:
        lines("Nothing was changed; --apply removes them.")


def _accuracy(by_record: bool) -> str:
    return f"leave-one-{'record-' if by_record else ''}out accuracy"


def _show_competence(found: Competence, stage: str, json: bool) -> None:
    if json:
        emit({"stage": stage, **dataclasses.asdict(found)})
        return
    heads = ["solution", "cases", "predicted", "pivotal", "idle"]
    heads += ["coverage", "at most", "groups", "largest"]
    table(
        f"{stage}: a case is solved by those of its {found.k} nearest that have its solution",
        heads,
        [dataclasses.astuple(row) for row in (*found.rows, found.all)],
    )
    lines(
        "predicted: share whose solution is the most frequent among the nearest; pivotal: share "
        "that no other case solves; idle: share that solve no other case;",
        "coverage: how many others a case solves, on average and at most; groups: sets of cases "
        "connected by solving one another, and the size of the largest.",
    )
