"""``cbr evaluate`` and ``cbr learn-weights``: how well a casebase predicts, with which weights."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.options import File, Json, Stage
from cbr.cli.output import emit, lines, progress, table, waiting

if TYPE_CHECKING:
    from cbr.evaluate import Evaluation, Judged

_WeightSets = Annotated[
    list[str] | None,
    typer.Option(
        "--weights", metavar="NAME|FILE|F=W,...", help="Weights to try; may be given several times."
    ),
]
_Last = Annotated[float, typer.Option(help="Ask for this last share of the records, by the rest.")]
_Folds = Annotated[int, typer.Option(help="Instead: so many folds, each asked for by the others.")]
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
    last: _Last = 0.2,
    folds: _Folds = 0,
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

    from cbr import evaluate as engine
    from cbr import predict
    from cbr.casebase import Casebase
    from cbr.retrieve import retriever
    from cbr.weights import weights_of

    found = []
    with (
        Casebase.open(file) as base,
        progress("predicting", "predictions") as tell,
        waiting("compiling what is needed, once on a machine; that takes up to a minute", 6.0),
    ):
        for name in [base.stage(stage)] if stage else [s for s in base.stages if base.count(s)]:
            cases = base.read_cases(name)
            mine = retriever(base, name, policy=policy, index="scan")
            sets = {
                label or "own": np.asarray(weights_of(cases.case_type, label), np.float64)
                for label in weights or [""]
            }
            if leave_one_out:
                splits, how = predict.leave_one_out(cases), "each record by all others"
            elif folds:
                rng = np.random.default_rng(seed)
                splits, how = predict.split_in_folds(cases, folds, rng), f"{folds} folds of records"
            else:
                splits, how = predict.split_by_time(cases, last), f"the last {last:.0%} of records"
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
    heads = ["weights", "predictor", "log-loss", "less than the first", "accuracy", "by solution"]
    rows = [
        (
            one.weights,
            one.predictor,
            f"{one.log_loss.mean:.4f} ± {one.log_loss.ci95:.4f}",
            _against(one),
            f"{100 * one.accuracy.mean:.1f} ± {100 * one.accuracy.ci95:.1f} %",
            ", ".join(f"{name} {100 * of['accuracy']:.0f}" for name, of in one.by_solution.items()),
        )
        for one in found.judged
    ]
    table(title, heads, rows)


def _against(one: Judged) -> str:
    if one.against_first is None:
        return "-"
    return f"{-one.against_first.mean:+.4f} ± {one.against_first.ci95:.4f}"


def learn_weights(
    file: File,
    out: _Out,
    stage: Stage = None,
    first: _First = 1.0,
    steps: _Steps = 300,
    seed: _Seed = 0,
    json: Json = False,
) -> None:
    """Learn feature weights from the cases themselves.

    They are those under which the recorded solutions are likeliest, each case predicted by cases of
    other records. A part of the records is kept apart and decides how far to go from the weights
    that the casebase has.
    """
    import numpy as np

    from cbr.casebase import Casebase
    from cbr.errors import BadValue
    from cbr.learn import learn
    from cbr.retrieve import retriever
    from cbr.weights import Weights

    if not 0.0 < first <= 1.0:
        raise BadValue(f"--first {first:g} must be above 0 and at most 1")
    learned: dict[str, dict[str, float]] = {}
    provenance: dict[str, dict[str, Any]] = {}
    with (
        Casebase.open(file) as base,
        progress("learning", "steps") as tell,
        waiting("compiling what is needed, once on a machine; that takes up to a minute", 6.0),
    ):
        for name in [base.stage(stage)] if stage else [s for s in base.stages if base.count(s)]:
            cases = base.read_cases(name)
            records = np.unique(cases.record)
            edge = records[int(np.ceil(len(records) * first)) - 1]
            mine = retriever(base, name, index="scan")
            found = learn(
                cases.take(cases.record <= edge),
                mine.measures,
                mine.policy,
                mine.weights,
                seed=seed,
                steps=steps,
                progress=tell,
            )
            names = [feature.name for feature in cases.case_type.indexed]
            rounded = [round(weight, 3) for weight in found.weights.tolist()]
            learned[name] = dict(zip(names, rounded, strict=True))
            provenance[name] = {
                "digest": base.digest(name),
                "log_loss": {
                    "soft": {
                        "before": found.before.soft.log_loss,
                        "after": found.after.soft.log_loss,
                    },
                    "rule": {"before": found.before.rule, "after": found.after.rule},
                },
                "beta": found.after.soft.beta,
                "alpha": found.after.soft.alpha,
                "steps": steps,
            }
        made_by = {"made_by": "cbr learn-weights", "casebase": Path(file).name, "seed": seed}
        made = Weights(learned, base.domain, made_by | {"first": first, "stages": provenance})
    made.save(out)
    if json:
        emit({"out": str(out), "weights": learned, "provenance": made.provenance})
        return
    for name, weights in learned.items():
        told = provenance[name]
        table(
            f"{name}: log-loss of records kept apart, soft {_change(told['log_loss']['soft'])}, "
            f"rule {_change(told['log_loss']['rule'])}, {told['steps']} steps",
            ["feature", "weight"],
            [(feature, round(weight, 1)) for feature, weight in weights.items()],
        )
    lines(f"wrote {out}; try it: cbr evaluate {file} --weights {out}")


def _both(before: float, after: float) -> dict[str, float]:
    return {"before": before, "after": after}


def _change(loss: dict[str, float]) -> str:
    return f"{loss['before']:.4f} -> {loss['after']:.4f}"
