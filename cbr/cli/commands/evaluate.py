"""``cbr evaluate``: how well a casebase predicts solutions, with which weights."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.long_work import progress
from cbr.cli.options import (
    File,
    Json,
    MissingValues,
    OnlyStage,
    Seed,
    rules,
    stages_with_cases,
)
from cbr.cli.output import cell, emit, lines, note, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cbr.cli.app import App
    from cbr.learning.evaluation import Evaluation, Judged
    from cbr.learning.number_evaluation import JudgedNumbers
    from cbr.learning.prediction import Split
    from cbr.reusing.policies import ReusePolicy
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
_Stratified = Annotated[
    str,
    typer.Option(
        metavar="random|stratified",
        help="How records are dealt to folds: stratified gives each the same share of each "
        "solution (and makes 5 folds unless --folds says otherwise).",
    ),
]
_Group = Annotated[
    str,
    typer.Option(
        metavar="FEATURE", help="Keep cases with the same value of this feature together."
    ),
]
_Repeats = Annotated[int, typer.Option(min=1, help="Deal the folds anew this many times.")]
_Plot = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.png", help="Draw calibration and confusion, or residuals of numbers."
    ),
]
_Queries = Annotated[int, typer.Option(min=10, help="Predict at most this many cases of a stage.")]
_Policy = Annotated[
    str, typer.Option(metavar="SPEC", help="Retrieval policy of the predictor `rule`.")
]
_Reuse = Annotated[
    str, typer.Option(metavar="SPEC", help="Reuse policy of `rule` for numbers, e.g. median.")
]
_SPLITS = ("random", "stratified")
#: Folds that are dealt by solution if their number is not given.
_FOLDS = 5


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
    split: _Stratified = "random",
    group: _Group = "",
    repeats: _Repeats = 1,
    queries: _Queries = 2_000,
    policy: _Policy = "",
    reuse: _Reuse = "",
    missing_values: MissingValues = None,
    seed: Seed = 0,
    plot: _Plot = None,
    json: Json = False,
) -> None:
    """Measure how well a casebase predicts solutions.

    The cases to predict are split from the known ones by record: by time, in folds, or one record
    at a time. The predictor `rule` is the retrieval policy with one case of each solution added;
    `soft` is a kernel in which every case counts by e^(beta (similarity - 1)), with constants
    fitted on the known cases. For numbers, `rule` is the retrieval policy with the reuse policy,
    and `soft` the mean by that kernel.
    """
    from cbr.errors import EmptyStage
    from cbr.learning.evaluation import evaluate as run
    from cbr.plots.style import verify_picture
    from cbr.store.casebase import Casebase

    parts = _Splits(last, folds, leave_one_out, split, repeats, seed)
    if plot is not None:
        verify_picture(plot)
    found, refused = [], []
    with Casebase.open(file) as base:
        asked = partial(
            _asked,
            base,
            weights=weights or [""],
            policy=(policy, reuse),
            missing=rules(missing_values),
            split=parts,
            group=group,
        )
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
                given, by = asked(name)
                found.append(run(*given, reuse=by, queries=queries, seed=seed, progress=tell))
    if plot is not None:
        from cbr.plots.evaluation import draw_evaluations

        draw_evaluations(found, plot)
    for reason in (*refused, *(f"{one.stage}: {each}" for one in found for each in one.notes)):
        note(reason)
    if json:
        drawn = {"plot": None if plot is None else str(plot)}
        emit({"file": str(file), "stages": [one.plain() for one in found]} | drawn)
        return
    for one in found:
        _show(one)
    if plot is not None:
        lines(f"drawn in {plot}")


@dataclasses.dataclass(frozen=True)
class _Splits:
    """How cases are split, as the options say."""

    last: float | None
    folds: int | None
    each_record: bool
    split: str
    repeats: int
    seed: int

    def __post_init__(self) -> None:
        from cbr.errors import BadValue, NoSuchName

        if (self.last is not None) + (self.folds is not None) + self.each_record > 1:
            raise BadValue("cases are split in one way: --last, --folds or --leave-one-out")
        if self.split not in _SPLITS:
            raise NoSuchName("way with --split", self.split, _SPLITS)
        in_folds = self.folds is not None or self.stratified
        if self.stratified and (self.last is not None or self.each_record):
            raise BadValue("--split stratified deals records to folds; give --folds or nothing")
        if self.repeats > 1 and not in_folds:
            raise BadValue("--repeats deals folds anew; give --folds or --split stratified")

    @property
    def stratified(self) -> bool:
        return self.split == "stratified"

    def of(self, cases: Cases, word: str) -> tuple[Sequence[Split], str]:
        """Which cases are predicted from which, and how that is called; `word` is for a record."""
        import numpy as np

        from cbr.learning.prediction import leave_one_out, split_by_time, split_in_folds

        if self.each_record:
            return leave_one_out(cases), f"each {word} by all others"
        if self.folds is None and not self.stratified:
            share = 0.2 if self.last is None else self.last
            return split_by_time(cases, share), f"the last {share:.3g} of {word}s"
        rng = np.random.default_rng(self.seed)
        folds = _FOLDS if self.folds is None else self.folds
        made = [split_in_folds(cases, folds, rng, self.stratified) for _ in range(self.repeats)]
        name = f"{folds} {'stratified ' * self.stratified}folds of {word}s"
        name += f", {self.repeats} times" * (self.repeats > 1)
        return [part for parts in made for part in parts], name


def _asked(
    base: Casebase,
    stage: str,
    weights: Sequence[str],
    policy: tuple[str, str],
    missing: str | dict[str, str],
    split: _Splits,
    group: str,
) -> tuple[tuple[Any, ...], ReusePolicy | None]:
    """What is evaluated of a stage, checked: the arguments of `evaluate` in their order, and the
    reuse policy for numbers."""
    import numpy as np

    from cbr.errors import BadValue
    from cbr.learning.prediction import grouped, sorted_by_solution, verify_predictable
    from cbr.retrieval.retriever import retriever_of
    from cbr.reusing.policies import chosen_policy
    from cbr.weights import weights_of

    cases = base.read_cases(stage)
    mine = retriever_of(base, stage, policy=policy[0], missing=missing, index="scan")
    sets = {
        label or "own": np.asarray(weights_of(cases.case_type, label), np.float64)
        for label in weights
    }
    by = chosen_policy(cases.case_type, policy[1]) if cases.case_type.numeric else None
    if policy[1] and by is None:
        raise BadValue("--reuse is for solutions that are numbers; classes are predicted by share")
    word = "record"
    if group:
        cases, word = grouped(cases, base.column(stage, group)), "group"
    splits, how = split.of(cases, word)
    verify_predictable(cases)
    if len(splits) == 1 and not splits[0].leave_out and sorted_by_solution(cases):
        note(
            f"the cases of {stage!r} are sorted by their solution, so the last are unlike the "
            "others; --split stratified mixes them"
        )
    return (cases, mine.measures, mine.policy, sets, splits, how), by


def _show(found: Evaluation) -> None:
    from cbr.learning.evaluation import Judged

    title = (
        f"{found.stage}: {found.asked:,} cases predicted ({found.split}), each from {found.known:,}"
    )
    classes = [one for one in found.judged if isinstance(one, Judged)]
    heads = ["weights", "predictor", "log-loss", "gain over first", "accuracy", "Brier"]
    table(title, [*heads, "by solution"], [_of_classes(one) for one in classes])
    numbers = [one for one in found.judged if not isinstance(one, Judged)]
    heads = ["weights", "predictor", "MAE", "RMSE", "R2", "gain over first", "in 90 % interval"]
    table(title, [*heads, "width"], [_of_numbers(one) for one in numbers])
    lines("rule: by the cases retrieved; soft: by all cases, the more the more similar they are.")


def _of_classes(one: Judged) -> tuple[object, ...]:
    by_solution = (f"{name} {100 * of['accuracy']:.0f}" for name, of in one.by_solution.items())
    return (
        one.weights,
        one.predictor,
        _figure(one.log_loss),
        _against(one.against_first),
        _figure(one.accuracy, 100.0, ".1f") + " %",
        _figure(one.brier),
        ", ".join(by_solution),
    )


def _of_numbers(one: JudgedNumbers) -> tuple[object, ...]:
    return (
        one.weights,
        one.predictor,
        _figure(one.mae, form=".4g"),
        _figure(one.rmse, form=".4g"),
        "-" if one.r2 is None else _figure(one.r2, form=".3f"),
        "-" if one.against_first is None else _figure(one.against_first, -1.0, "+.4g"),
        "-" if one.coverage is None else _figure(one.coverage, 100.0, ".1f") + " %",
        "-" if one.width is None else cell(one.width),
    )


def _against(gain: Mean | None) -> str:
    return "-" if gain is None else _figure(gain, -1.0, "+.4f")


def _figure(figure: Mean, scale: float = 1.0, form: str = ".4f") -> str:
    """A mean with its interval, which a single record does not have."""
    mean = f"{scale * figure.mean:{form}}"
    if figure.ci95 is None:
        return mean
    return f"{mean} ± {abs(scale) * figure.ci95:{form.removeprefix('+')}}"
