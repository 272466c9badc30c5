"""Evaluation: how well a stage predicts the solutions of held-out cases.

The measures are log-loss (minus the logarithm of the probability of the true solution; lower is
better), accuracy (the share of cases whose most probable solution is the true one) and the Brier
score (the sum of squared differences between the probabilities and the truth). For numbers see
`number_evaluation`, and for how cases are held out `prediction`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from cbr.learning.kernel import Constants
from cbr.learning.number_evaluation import JudgedNumbers, judged_numbers
from cbr.learning.number_prediction import (
    PredictedNumbers,
    numbers_by_kernel,
    numbers_by_rule,
)
from cbr.learning.prediction import (
    Split,
    by_kernel,
    by_rule,
    log_loss,
    some_of,
    verify_predictable,
)
from cbr.measure import Bound
from cbr.retrieval.policies import RetrievalPolicy
from cbr.reusing.policies import ReusePolicy, chosen_policy
from cbr.statistics import Mean, clustered_mean
from cbr.store.arrays import Cases
from cbr.typing import Floats, Ints, Progress


@dataclass(frozen=True)
class Judged:
    """The quality of one set of weights with one predictor, in all and by solution.

    `against_first` is its log-loss minus that of the first set of weights, on the same cases.
    """

    weights: str
    predictor: str
    log_loss: Mean
    accuracy: Mean
    brier: Mean
    by_solution: Mapping[str, Mapping[str, float]]
    against_first: Mean | None = None
    constants: Constants | None = None


@dataclass(frozen=True, eq=False)
class Predictions:
    """What one predictor said of the cases asked: `actual` are the codes of their solutions and
    `chances` [q, s] the probabilities of all, by `names`; or numbers, and those predicted."""

    weights: str
    predictor: str
    actual: Any
    chances: Floats | None = None
    numbers: PredictedNumbers | None = None
    names: Sequence[str] = ()


@dataclass(frozen=True)
class Evaluation:
    """The results for a stage: one `Judged` (or `JudgedNumbers`) for each set of weights and
    predictor, the `predictions` behind each, and `notes` on what makes no sense."""

    stage: str
    split: str
    known: int
    asked: int
    judged: Sequence[Judged | JudgedNumbers] = ()
    notes: Sequence[str] = ()
    predictions: Sequence[Predictions] = field(default=(), repr=False, compare=False)

    def plain(self) -> dict[str, Any]:
        """The results as JSON can represent them, without single predictions."""
        return dataclasses.asdict(dataclasses.replace(self, predictions=()))


def evaluate(
    cases: Cases,
    measures: Sequence[Bound],
    policy: RetrievalPolicy,
    weights: Mapping[str, Floats],
    splits: Sequence[Split],
    name: str = "",
    *,
    reuse: ReusePolicy | None = None,
    queries: int = 2_000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate each set of weights with both predictors, on at most `queries` cases in all.

    Intervals are over records, because cases of one record depend on each other. Numbers are
    predicted by the policy `reuse`. `progress` is called with the predictions made, the total, and
    the predictions made again.
    """
    verify_predictable(cases)
    rng = np.random.default_rng(seed)
    tasks = [
        Split(s.known, some_of(s.asked, queries // len(splits), rng), s.leave_out) for s in splits
    ]
    asked = np.concatenate([task.asked for task in tasks])
    predict = partial(_predict, cases, measures, policy, reuse)
    done = 0
    found: list[tuple[Predictions, Constants | None]] = []
    for label, values in weights.items():
        for predictor in ("rule", "soft"):
            parts, constants = [], None
            for task in tasks:
                said, constants = predict(predictor, values, task)
                parts.append(said)
                done += len(task.asked)
                if progress:
                    progress(done, 2 * len(weights) * len(asked), done)
            found.append((_joined(cases, asked, label, predictor, parts), constants))
    all_said = [one for one, _ in found]
    judged = [_judge(cases, asked, *one, _first(all_said, one[0])) for one in found]
    known = len(tasks[0].known) - tasks[0].leave_out
    notes = _notes(cases, asked, tasks)
    return Evaluation(cases.case_type.stage, name, known, len(asked), judged, notes, all_said)


def _predict(
    cases: Cases,
    measures: Sequence[Bound],
    policy: RetrievalPolicy,
    reuse: ReusePolicy | None,
    predictor: str,
    weights: Floats,
    task: Split,
) -> tuple[Floats, Constants | None]:
    """What a predictor says of the cases of a task: chances [q, s], or a number and the ends of its
    interval [q, 3]."""
    if cases.numbers is None:
        if predictor == "rule":
            return by_rule(cases, measures, policy, weights, task), None
        return by_kernel(cases, measures, weights, task)
    if predictor == "rule":
        reuse = reuse or chosen_policy(cases.case_type, "")
        numbers = numbers_by_rule(cases, measures, (policy, reuse), weights, task)
        return np.column_stack(numbers), None
    numbers, constants = numbers_by_kernel(cases, measures, weights, task)
    return np.column_stack(numbers), constants


def _joined(
    cases: Cases, asked: Ints, label: str, predictor: str, parts: Sequence[Floats]
) -> Predictions:
    said = np.concatenate(parts)
    names = cases.case_type.solutions
    if cases.numbers is None:
        return Predictions(label, predictor, cases.solution[asked], said, None, names)
    return Predictions(label, predictor, cases.numbers[asked], None, PredictedNumbers(*said.T))


def _first(said: Sequence[Predictions], one: Predictions) -> Predictions | None:
    """The predictions by the first set of weights; None if these are the ones."""
    first = next(other for other in said if other.predictor == one.predictor)
    return None if first is one else first


def _notes(cases: Cases, asked: Ints, tasks: Sequence[Split]) -> list[str]:
    """Sentences on figures that make no sense."""
    if cases.numbers is not None:
        constant = len(np.unique(cases.numbers[asked])) == 1
        return ["all cases to predict have the same number, so there is no R2"] * constant
    names, mine = cases.case_type.solutions, cases.solution
    found = np.unique(mine[asked])
    notes = []
    if len(found) == 1:
        notes.append(
            f"all cases to predict have the solution {names[found[0]]!r}, so accuracy says little; "
            "split them otherwise (--split stratified)"
        )
    unknown = {
        names[code]
        for task in tasks
        for code in np.setdiff1d(mine[task.asked], mine[task.known]).tolist()
    }
    if unknown:
        notes.append(
            f"no known case has the solution {', '.join(sorted(unknown))} of some cases to "
            "predict; split them otherwise (--split stratified)"
        )
    return notes


def _judge(
    cases: Cases,
    asked: Ints,
    said: Predictions,
    constants: Constants | None,
    first: Predictions | None,
) -> Judged | JudgedNumbers:
    mine, record, chances = cases.solution[asked], cases.record[asked], said.chances
    if said.numbers is not None:
        others = None if first is None else first.numbers
        what = said.weights, said.predictor
        return judged_numbers(what, said.actual, said.numbers, others, record, constants)
    assert chances is not None
    over_records = partial(clustered_mean, cluster=record)
    loss = log_loss(chances, mine)
    truth = np.eye(chances.shape[1])[mine]
    right = (chances.argmax(axis=1) == mine).astype(np.float64)
    by_solution = {
        name: {
            "cases": int((mine == code).sum()),
            "log_loss": float(loss[mine == code].mean()),
            "accuracy": float(right[mine == code].mean()),
        }
        for code, name in enumerate(cases.case_type.solutions)
        if (mine == code).any()
    }
    against = None
    if first is not None and first.chances is not None:
        against = over_records(loss - log_loss(first.chances, mine))
    return Judged(
        said.weights,
        said.predictor,
        over_records(loss),
        over_records(right),
        over_records(((chances - truth) ** 2).sum(axis=1)),
        by_solution,
        against,
        constants,
    )
