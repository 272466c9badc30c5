"""``cbr evaluate`` and ``cbr learn-weights``: how well a casebase predicts, with which weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.options import File, Json, Stage, Workers
from cbr.cli.output import emit, lines, note, progress, table, waiting

if TYPE_CHECKING:
    from cbr.learning.evaluation import Evaluation, Judged
    from cbr.statistics import Mean
    from cbr.store.casebase import Casebase

_WeightSets = Annotated[
    list[str] | None,
    typer.Option(
        "--weights", metavar="NAME|FILE|F=W,...", help="Weights to try; may be given several times."
    ),
]
_Last = Annotated[
    float | None,
    typer.Option(help="Ask for this last share of the records, by the rest.", show_default="0.2"),
]
_Folds = Annotated[
    int | None, typer.Option(help="Instead: so many folds, each asked for by the others.")
]
_LeaveOneOut = Annotated[
    bool, typer.Option("--leave-one-out", help="Instead: each record asked for by all others.")
]
_Queries = Annotated[int, typer.Option(min=10, help="At most so many cases of a stage are asked.")]
_Policy = Annotated[str, typer.Option(metavar="SPEC", help="Retrieval policy of the rule.")]
_Seed = Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")]
_Out = Annotated[Path, typer.Option(metavar="W.json", help="Where to write the weights.")]
_First = Annotated[
    float, typer.Option(help="Learn from this first share of the records only, in their order.")
]
_Steps = Annotated[int, typer.Option(min=1, help="Steps along the gradient, at most.")]


def add(app: typer.Typer) -> None:
    app.command(
        "evaluate",
        epilog="Example: cbr evaluate casebases/sample.db --weights hand-picked --weights w.json",
    )(evaluate)
    app.command(
        "learn-weights",
        epilog="Example: cbr learn-weights casebases/sample.db --first 0.8 --out w.json",
    )(learn_weights)


def evaluate(
    file: File,
    stage: Stage = None,
    weights: _WeightSets = None,
    last: _Last = None,
    folds: _Folds = None,
    leave_one_out: _LeaveOneOut = False,
    queries: _Queries = 2_000,
    policy: _Policy = "",
    seed: _Seed = 0,
    json: Json = False,
) -> None:
    """How well a casebase predicts the solutions of cases it has not seen.

    Cases are parted by record, never by decision: by time, in folds, or one by one. `rule` is the
    retrieval policy with one case of each solution added, `soft` a kernel in which every case
    counts by e^(beta similarity), its constants fitted on what is known.
    """
    import numpy as np

    from cbr.errors import BadValue
    from cbr.learning import evaluation as engine
    from cbr.learning import prediction as predict
    from cbr.retrieval.retriever import retriever_of
    from cbr.store.casebase import Casebase
    from cbr.weights import weights_of

    if (last is not None) + (folds is not None) + leave_one_out > 1:
        raise BadValue("cases are parted in one way: --last, --folds or --leave-one-out")
    found = []
    with Casebase.open(file) as base, _long_work("predicting", "predictions") as tell:
        for name in _stages(base, stage):
            cases = base.read_cases(name)
            mine = retriever_of(base, name, policy=policy, index="scan")
            sets = {
                label or "own": np.asarray(weights_of(cases.case_type, label), np.float64)
                for label in weights or [""]
            }
            if leave_one_out:
                splits, how = predict.leave_one_out(cases), "each record by all others"
            elif folds is not None:
                rng = np.random.default_rng(seed)
                splits, how = predict.split_in_folds(cases, folds, rng), f"{folds} folds of records"
            else:
                share = 0.2 if last is None else last
                splits, how = (
                    predict.split_by_time(cases, share),
                    f"the last {share:.3g} of records",
                )
            found.append(
                engine.evaluate(
                    cases,
                    mine.measures,
                    mine.policy,
                    sets,
                    splits,
                    name=how,
                    queries=queries,
                    seed=seed,
                    progress=tell,
                )
            )
    if json:
        emit({"file": str(file), "stages": [dataclasses.asdict(one) for one in found]})
        return
    for one in found:
        _show(one)


def _show(found: Evaluation) -> None:
    title = f"{found.stage}: {found.asked:,} cases of {found.split}, by {found.known:,} known"
    heads = ["weights", "predictor", "log-loss", "gain over first", "accuracy", "by solution"]
    rows = [
        (
            one.weights,
            one.predictor,
            _figure(one.log_loss),
            _against(one),
            _figure(one.accuracy, 100.0, ".1f") + " %",
            ", ".join(f"{name} {100 * of['accuracy']:.0f}" for name, of in one.by_solution.items()),
        )
        for one in found.judged
    ]
    table(title, heads, rows)


def _against(one: Judged) -> str:
    return "-" if one.against_first is None else _figure(one.against_first, -1.0, "+.4f")


def _figure(figure: Mean, scale: float = 1.0, form: str = ".4f") -> str:
    """A mean with its interval; of one record there is none."""
    mean = f"{scale * figure.mean:{form}}"
    if figure.ci95 is None:
        return mean
    return f"{mean} ± {abs(scale) * figure.ci95:{form.removeprefix('+')}}"


def _stages(base: Casebase, stage: str | None) -> list[str]:
    """The stage that is asked for, or all that have cases."""
    return [base.stage(stage)] if stage else [s for s in base.stages if base.count(s)]


@contextmanager
def _long_work(doing: str, unit: str) -> Iterator[Any]:
    """Progress, and a word where the machine has not compiled this yet."""
    with (
        progress(doing, unit) as tell,
        waiting("compiling what is needed, once on a machine; that takes up to a minute", 6.0),
    ):
        yield tell


def learn_weights(
    file: File,
    out: _Out,
    stage: Stage = None,
    first: _First = 1.0,
    steps: _Steps = 300,
    seed: _Seed = 0,
    workers: Workers = 1,
    json: Json = False,
) -> None:
    """Learn feature weights from the cases themselves.

    They are those under which the recorded solutions are likeliest, each case predicted by cases of
    other records. A part of the records is kept apart and decides how far to go from the weights
    that the casebase has.
    """
    from cbr.learning.weight_learning import learn_weights as learn
    from cbr.store.casebase import Casebase
    from cbr.weights import verify_can_save
    from cbr.workers import executor

    verify_can_save(out)
    with Casebase.open(file) as base:
        stages = _stages(base, stage)
    with executor(workers) as pool, _long_work("learning", "steps") as tell:
        made, lessons = learn(
            file, stages, first=first, steps=steps, seed=seed, pool=pool, progress=tell
        )
    for lesson in lessons:
        if lesson.refused:
            note(f"{lesson.refused}; it keeps the weights it has")
    made.save(out)
    if json:
        emit({"out": str(out), "weights": made.stages, "provenance": made.provenance})
        return
    for lesson in lessons:
        if lesson.found is None:
            continue
        loss = lesson.found["log_loss"]
        table(
            f"{lesson.stage}: log-loss of records kept apart, soft {_change(loss['soft'])}, "
            f"rule {_change(loss['rule'])}, {steps} steps",
            ["feature", "weight"],
            [(feature, round(weight, 1)) for feature, weight in lesson.weights.items()],
        )
    if first < 1.0:
        asked = f'--last {1 - first:.3g} --weights "" --weights {out}'
        lines(f"wrote {out}; try it: cbr evaluate {file} {asked}")
    else:
        lines(f"wrote {out}; to see what it gains, learn with --first 0.8 and evaluate the rest")


def _change(loss: dict[str, float]) -> str:
    return f"{loss['before']:.4f} -> {loss['after']:.4f}"
