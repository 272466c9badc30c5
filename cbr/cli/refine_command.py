"""``cbr refine``: drop cases that mislead or add nothing, or report what the cases can solve."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli.options import File, Json, Stage, Weights
from cbr.cli.output import count, emit, lines, note, progress, table

if TYPE_CHECKING:
    from cbr.upkeep.competence_model import Competence
    from cbr.upkeep.refinement import Refinement

_Method = Annotated[
    str,
    typer.Option(
        help="Against what misleads: noise (RENN) or bbnr (only cases that do harm). Against what "
        "adds nothing: redundant (condensed neighbours) or icf (only borders stay)."
    ),
]
_K = Annotated[int, typer.Option("-k", min=1, help="How many neighbours vote.")]
_Apply = Annotated[bool, typer.Option("--apply", help="Remove them; without it, only say which.")]
_Report = Annotated[
    bool, typer.Option("--report", help="Drop nothing; report what the cases can solve.")
]
_Plot = Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw the --report.")]


def add(app: typer.Typer) -> None:
    app.command("refine", epilog="Example: cbr refine casebases/cars.db --method noise --apply")(
        refine
    )


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
    """Find cases that mislead or add nothing; with --apply, remove them.

    Both accuracies are over all cases, before and after the removal: the share whose solution is
    the commonest among their k nearest other cases, those of the same record left out; where two
    are equally common, half of it.
    """
    from cbr.errors import BadValue, EmptyStage
    from cbr.store.casebase import Casebase

    if apply and report:
        raise BadValue("--report drops nothing; leave out --apply or --report")
    if plot is not None and not report:
        raise BadValue("--plot draws the --report; give both")
    if plot is not None:
        from cbr.plots.style import verify_picture

        verify_picture(plot)
    with Casebase.open(file, write=apply) as base, progress("comparing", "vectors") as tell:
        from cbr.retrieval.retriever import retriever_of

        chosen = base.stage(stage)
        with base.reading():
            cases, version = base.read_cases(chosen), base.write_version
            if not len(cases):
                raise EmptyStage(f"stage {chosen!r} has no cases to refine; build some")
            mine = retriever_of(base, chosen, weights=weights)
        if report:
            from cbr.upkeep.competence_model import competence

            known = competence(mine, k, tell, cases)
        else:
            from cbr.upkeep.refinement import refine as run

            found = run(mine, method, k, tell, cases)
            if apply and found.drop:
                with base.transaction():
                    if base.write_version != version:
                        raise BadValue(
                            f"{file} was changed by another process meanwhile, so nothing was "
                            "removed; run it again"
                        )
                    base.remove(chosen, found.drop)
    if report:
        if plot is not None:
            from cbr.plots.competence import draw_competence

            draw_competence(known, plot)
        _show_competence(known, chosen, json)
    elif json:
        emit(dataclasses.asdict(found) | {"applied": apply})
    else:
        _show_refinement(found, apply)


def _show_refinement(found: Refinement, applied: bool) -> None:
    what = f"{found.method}: {len(found.drop):,} of {count(found.cases, 'case')}"
    table(
        f"{what} {'removed' if applied else 'to remove'}",
        [_left_out(found.by_record), "share"],
        [
            ("with all cases", round(found.accuracy_before, 4)),
            ("without them", round(found.accuracy_after, 4)),
        ],
    )
    if found.drop:
        first = ", ".join(map(str, found.drop[:20]))
        lines(f"cases {first}{' ...' if len(found.drop) > 20 else ''}")
    if found.accuracy_after < found.accuracy_before:
        note("without these cases the others are predicted less well")
    if found.drop and not applied:
        lines("Nothing was changed; --apply removes them.")


def _left_out(by_record: bool) -> str:
    return f"leave-one-{'record-' if by_record else ''}out accuracy"


def _show_competence(known: Competence, stage: str, json: bool) -> None:
    if json:
        emit({"stage": stage, **dataclasses.asdict(known)})
        return
    heads = ["solution", "cases", "predicted", "pivotal", "idle"]
    heads += ["coverage", "at most", "groups", "largest"]
    table(
        f"{stage}: what the cases solve, as the {known.k} nearest with the same solution",
        heads,
        [dataclasses.astuple(row) for row in (*known.rows, known.all)],
    )
    lines(
        "predicted: share whose solution is the commonest among the nearest; pivotal: share that "
        "no other case solves; idle: share that solve no other;",
        "coverage: how many others a case solves, on average and at most; groups: cases that solve "
        "one another, directly or through others, and the cases of the largest.",
    )
