"""Evaluation: how well a stage predicts the solutions of held-out cases.

The measures are log-loss (minus the logarithm of the probability of the true solution; lower is
better) and accuracy (the share of cases whose most probable solution is the true one); see
`cbr.learning.prediction` for how cases are held out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from cbr.learning.kernel import Constants
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
    by_solution: Mapping[str, Mapping[str, float]]
    against_first: Mean | None = None
    constants: Constants | None = None


@dataclass(frozen=True)
class Evaluation:
    """The results for a stage: one `Judged` for each set of weights and predictor."""

    stage: str
    split: str
    known: int
    asked: int
    judged: list[Judged] = field(default_factory=list)


def evaluate(
    cases: Cases,
    measures: Sequence[Bound],
    policy: RetrievalPolicy,
    weights: Mapping[str, Floats],
    splits: Sequence[Split],
    name: str = "",
    *,
    queries: int = 2_000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate each set of weights with both predictors, on at most `queries` cases in all.

    Intervals are over records, because cases of one record depend on each other. `progress` is
    called with the predictions made, the total, and the predictions made again.
    """
    verify_predictable(cases)
    rng = np.random.default_rng(seed)
    tasks = [
        Split(s.known, some_of(s.asked, queries // len(splits), rng), s.leave_out) for s in splits
    ]
    asked = np.concatenate([task.asked for task in tasks])
    done = 0
    found: list[tuple[str, str, Floats, Constants | None]] = []
    for label, values in weights.items():
        for predictor in ("rule", "soft"):
            chances, constants = [], None
            for task in tasks:
                if predictor == "rule":
                    chances.append(by_rule(cases, measures, policy, values, task))
                else:
                    softly, constants = by_kernel(cases, measures, values, task)
                    chances.append(softly)
                done += len(task.asked)
                if progress:
                    progress(done, 2 * len(weights) * len(asked), done)
            found.append((label, predictor, np.concatenate(chances), constants))
    judged = [_judge(cases, asked, *one, found) for one in found]
    known = len(tasks[0].known) - tasks[0].leave_out
    return Evaluation(cases.case_type.stage, name, known, len(asked), judged)


def _judge(
    cases: Cases,
    asked: Ints,
    label: str,
    predictor: str,
    chances: Floats,
    constants: Constants | None,
    all_found: Sequence[tuple[str, str, Floats, Constants | None]],
) -> Judged:
    mine, record = cases.solution[asked], cases.record[asked]
    over_records = partial(clustered_mean, cluster=record)
    loss = log_loss(chances, mine)
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
    first = next(other for name, kind, other, _ in all_found if kind == predictor)
    against = None if first is chances else over_records(loss - log_loss(first, mine))
    return Judged(
        label,
        predictor,
        over_records(loss),
        over_records(right),
        by_solution,
        against,
        constants,
    )
