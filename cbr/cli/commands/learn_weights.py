"""``cbr learn-weights``: feature weights learned from the cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli.long_work import progress
from cbr.cli.options import File, Json, OnlyStage, Seed, WeightsOut, Workers, stages_with_cases
from cbr.cli.output import emit, lines, note, table

if TYPE_CHECKING:
    from cbr.cli.app import App

_First = Annotated[float, typer.Option(help="Learn only from this first share of the records.")]
_Steps = Annotated[int, typer.Option(min=1, help="Gradient steps, at most.")]


def add(app: App) -> None:
    app.command(
        "learn-weights",
        epilog="Example: cbr learn-weights casebases/sample.db --first 0.8 --out w.json",
    )(learn_weights)


def learn_weights(
    file: File,
    out: WeightsOut,
    stage: OnlyStage = None,
    first: _First = 1.0,
    steps: _Steps = 300,
    seed: Seed = 0,
    workers: Workers = 1,
    json: Json = False,
) -> None:
    """Learn feature weights from the cases.

    The weights maximise the likelihood of the recorded solutions, each case predicted from cases of
    other records. Some records are held out; they decide how far the weights move away from those
    of the casebase.
    """
    from cbr.learning.weight_learning import learn_weights as run
    from cbr.store.casebase import Casebase
    from cbr.weights import verify_can_save
    from cbr.workers import executor

    verify_can_save(out)
    with Casebase.open(file) as base:
        stages = stages_with_cases(base, stage)
        called = {s: {f.name: f.called for f in base.case_type(s).features} for s in stages}
    with (
        executor(workers) as pool,
        progress("learning", "steps") as tell,
    ):
        made, lessons = run(
            file, stages, first=first, steps=steps, seed=seed, pool=pool, progress=tell
        )
    for lesson in lessons:
        if lesson.refused:
            note(f"{lesson.refused}; it keeps its weights")
    made.save(out)
    if json:
        emit({"out": str(out), "weights": made.stages, "provenance": made.provenance})
        return
    for lesson in lessons:
        if lesson.found is None:
            continue
        figure = "RMSE" if "rmse" in lesson.found else "log-loss"
        loss = lesson.found[figure.lower().replace("-", "_")]
        table(
            f"{lesson.stage}: {figure} of held-out records, soft {_change(loss['soft'])}, "
            f"rule {_change(loss['rule'])}, {steps} steps",
            ["feature", "weight"],
            [(called[lesson.stage][name], round(w, 1)) for name, w in lesson.weights.items()],
        )
    if first < 1.0:
        options = f'--last {1 - first:.3g} --weights "" --weights {out}'
        lines(f"wrote {out}; try it: cbr evaluate {file} {options}")
    else:
        lines(f"wrote {out}; to measure the gain, learn with --first 0.8 and evaluate on the rest")


def _change(loss: dict[str, float]) -> str:
    return f"{loss['before']:.4f} -> {loss['after']:.4f}"
