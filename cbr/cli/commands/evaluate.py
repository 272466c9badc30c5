"""``cbr evaluate``: how well a casebase predicts solutions, with which weights."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.long_work import progress
from cbr.cli.options import File, Json, OnlyStage, Seed, stages_with_cases
from cbr.cli.output import emit, note, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cbr.cli.app import App
    from cbr.learning.evaluation import Evaluation, Judged
    from cbr.learning.prediction import Split
    from cbr.statistics import Mean
    from cbr.store.arrays import Cases
    from cbr.store.casebase import Casebase

_WeightSets = Annotated[
    list[str] | None,
    typer.Option(
        "--weights",
        metavar="NAME|FILE|F=W,...",
        help="Weights to evaluate; repeat it to compare several.",
    ),
]
_Last = Annotated[
    float | None,
    typer.Option(help="Predict this last share of the records from the rest.", show_default="0.2"),
]
_Folds = Annotated[
    int | None, typer.Option(help="Instead: this many folds, each predicted from the others.")
]
_LeaveOneOut = Annotated[
    bool, typer.Option("--leave-one-out", help="Instead: predict each record from all others.")
]
_Queries = Annotated[int, typer.Option(min=10, help="Predict at most this many cases of a stage.")]
_Policy = Annotated[
    str, typer.Option(metavar="SPEC", help="Retrieval policy of the predictor `rule`.")
]


def add(app: App) -> None:
    app.command(
        "evaluate",
        epilog="Example: cbr evaluate casebases/sample.db --weights hand-picked --weights w.json",
    )(evaluate)


def evaluate(
    file: File,
    stage: OnlyStage = None,
    weights: _WeightSets = None,
    last: _Last = None,
    folds: _Folds = None,
    leave_one_out: _LeaveOneOut = False,
    queries: _Queries = 2_000,
    policy: _Policy = "",
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Measure how well a casebase predicts solutions.

    The cases to predict are split from the known ones by record: by time, in folds, or one record
    at a time. The predictor `rule` is the retrieval policy with one case of each solution added;
    `soft` is a kernel in which every case counts by e^(beta (similarity - 1)), with constants
    fitted on the known cases.
    """
    from cbr.errors import BadValue, EmptyStage
    from cbr.learning.evaluation import evaluate as run
    from cbr.store.casebase import Casebase

    if (last is not None) + (folds is not None) + leave_one_out > 1:
        raise BadValue("cases are split in one way: --last, --folds or --leave-one-out")
    split = partial(_splits, last=last, folds=folds, each_record=leave_one_out, seed=seed)
    found, refused = [], []
    with Casebase.open(file) as base:
        asked = partial(_asked, base, weights=weights or [""], policy=policy, split=split)
        stages = stages_with_cases(base, stage)
        for name in list(stages):  # bad input is refused before anything is computed
            try:
                asked(name)
            except EmptyStage as error:
                refused.append(str(error))
                stages.remove(name)
        if refused and not stages:
            raise EmptyStage(refused[0])
        with progress("predicting", "predictions") as tell:
            for name in stages:
                found.append(run(*asked(name), queries=queries, seed=seed, progress=tell))
    for reason in refused:
        note(reason)
    if json:
        emit({"file": str(file), "stages": [dataclasses.asdict(one) for one in found]})
        return
    for one in found:
        _show(one)


def _asked(
    base: Casebase,
    stage: str,
    weights: Sequence[str],
    policy: str,
    split: Callable[[Cases], tuple[Sequence[Split], str]],
) -> tuple[Any, ...]:
    """What is evaluated of a stage, checked: the arguments of `evaluate` in their order."""
    import numpy as np

    from cbr.learning.prediction import verify_predictable
    from cbr.retrieval.retriever import retriever_of
    from cbr.weights import weights_of

    cases = base.read_cases(stage)
    mine = retriever_of(base, stage, policy=policy, index="scan")
    sets = {
        label or "own": np.asarray(weights_of(cases.case_type, label), np.float64)
        for label in weights
    }
    splits, how = split(cases)
    verify_predictable(cases)
    return cases, mine.measures, mine.policy, sets, splits, how


def _splits(
    cases: Cases, last: float | None, folds: int | None, each_record: bool, seed: int
) -> tuple[Sequence[Split], str]:
    """Which cases are predicted from which, and how that is called."""
    import numpy as np

    from cbr.learning.prediction import leave_one_out, split_by_time, split_in_folds

    if each_record:
        return leave_one_out(cases), "each record by all others"
    if folds is not None:
        rng = np.random.default_rng(seed)
        return split_in_folds(cases, folds, rng), f"{folds} folds of records"
    share = 0.2 if last is None else last
    return split_by_time(cases, share), f"the last {share:.3g} of records"


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
    """A mean with its interval, which a single record does not have."""
    mean = f"{scale * figure.mean:{form}}"
    if figure.ci95 is None:
        return mean
    return f"{mean} ± {abs(scale) * figure.ci95:{form.removeprefix('+')}}"
