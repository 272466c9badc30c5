"""Feature weights learned from the cases by gradient ascent.

They maximise the likelihood of the recorded solutions, each case predicted without its own record:
the sum of the log-likelihoods by the soft kernel and by smooth retrieval (see `kernel`). The two
prefer somewhat different weights, because the kernel has a bandwidth of its own and retrieval a
fixed threshold. Where solutions are numbers, the squared error of kernel regression is minimised
instead (Weinberger & Tesauro 2007). Steps follow the gradient (Adam) on random batches. Some
records are held out for validation and determine the number of steps: neither predictor may get
worse on them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cbr.errors import BadValue, EmptyStage
from cbr.learning.kernel import Constants, SoftKernel, fit_constants
from cbr.learning.number_prediction import fit_number_constants, number_gradient
from cbr.learning.prediction import log_loss, verify_predictable
from cbr.measure import Bound
from cbr.plugging.plugins import default_plugins, plugins_with
from cbr.retrieval.index.base import NearestVectors
from cbr.retrieval.index.tree import TreeIndex
from cbr.retrieval.policies import RetrievalPolicy
from cbr.retrieval.retrieved import RetrievedMany
from cbr.retrieval.retriever import Retriever, retriever_of
from cbr.reusing.numbers import expected, near_numbers
from cbr.reusing.policies import chosen_policy
from cbr.store.arrays import Cases
from cbr.store.casebase import Casebase
from cbr.typing import Floats, Ints, Progress
from cbr.weights import Weights
from cbr.workers import in_order

#: Cases to predict in one step, and the most cases to predict them from.
_ASKED, _KNOWN = 64, 60_000
#: Share of the records held out for validation, and the most cases of these that are used.
_HELD_OUT, _VALIDATED = 0.2, 5_000
#: The most of these cases on which the soft kernel is fitted.
_FITTED = 1_500
#: The weights are validated after these shares of the steps.
_VALIDATED_AFTER = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)

#: The most gradient steps.
STEPS = 300


@dataclass(frozen=True)
class Predicted:
    """How well weights predict held-out records: the soft kernel with its constants and loss, and
    the loss of the retrieval rule: log-losses, or mean squared errors of numbers."""

    soft: Constants
    rule: float


@dataclass(frozen=True)
class Learned:
    """Weights, scaled so that the highest is 100, and their predictions of held-out records before
    and after."""

    weights: Floats
    before: Predicted
    after: Predicted
    numeric: bool = False

    @property
    def gains(self) -> dict[str, Any]:
        """Log-losses (or root mean squared errors) and constants for the provenance in a weights
        file."""
        before, after = self.before, self.after
        name, of = ("rmse", math.sqrt) if self.numeric else ("log_loss", float)
        soft = {"before": of(before.soft.loss), "after": of(after.soft.loss)}
        rule = {"before": of(before.rule), "after": of(after.rule)}
        constants = {"beta": after.soft.beta, "alpha": after.soft.alpha}
        return {name: {"soft": soft, "rule": rule}, **constants}


def learn(
    cases: Cases,
    measures: Sequence[Bound],
    policy: RetrievalPolicy,
    start: Floats,
    *,
    seed: int = 0,
    steps: int = STEPS,
    progress: Progress | None = None,
) -> Learned:
    """Learn weights for some cases, beginning with `start`."""
    rng = np.random.default_rng([seed, len(cases)])
    soft = SoftKernel.of(cases, measures)
    train, held_out = _train_and_validation(cases, rng)
    validation = _Validation(cases, measures, policy, soft, train, held_out)
    first = validation.of(start)
    # A weight of 0 has no gradient in its logarithm, so it begins as a small one.
    begin = np.maximum(start, 0.02 * start.max())
    kernel = first.predicted.soft
    ascent = _Adam(np.log(np.append(kernel.beta * begin / begin.sum(), kernel.alpha)), steps)
    looks = {max(1, round(share * steps)) for share in _VALIDATED_AFTER}
    candidates = []
    for taken in range(1, steps + 1):
        asked = rng.choice(train, min(_ASKED, len(train)), replace=False)
        known = rng.choice(train, min(_KNOWN, len(train)), replace=False)
        ascent.step(_gradient(soft, policy, asked, known, np.exp(ascent.at), train, taken / steps))
        if taken in looks:
            candidates.append(validation.of(np.exp(ascent.mean[:-1] - ascent.mean[:-1].max())))
        if progress:
            progress(taken, steps, taken)
    best = _best_for_both(first, candidates)
    learned = 100.0 * best.weights / best.weights.max()
    return Learned(learned, first.predicted, best.predicted, cases.numbers is not None)


def _gradient(
    soft: SoftKernel,
    policy: RetrievalPolicy,
    asked: Ints,
    known: Ints,
    at: Floats,
    train: Ints,
    done: float,
) -> Floats:
    """The derivatives of what is learned by the logarithms of the scales and alpha, which are `at`;
    `done` is the part of all steps that is done."""
    scale, alpha, drawn = at[:-1], float(at[-1]), len(known) / len(train)
    if soft.cases.numbers is not None:
        return number_gradient(soft, asked, known, scale, alpha * drawn)
    by_kernel, by_rule = soft.gradients(asked, known, scale, alpha, policy.looks, drawn)
    # The kernel finds the informative features. The rule alone might settle on any one of them,
    # because its threshold is easier to reach with few features, so it is phased in.
    found: Floats = by_kernel.by + min(1.0, 2.0 * done) * by_rule.by
    return found


class StageWeights(NamedTuple):
    """Weights of one stage by feature, with provenance, or the reason why none were learned."""

    stage: str
    weights: dict[str, float]
    found: dict[str, Any] | None
    refused: str = ""


def learn_weights(
    file: Path,
    stages: Sequence[str] = (),
    *,
    first: float = 1.0,
    steps: int = STEPS,
    seed: int = 0,
    until: int | None = None,
    pool: Executor | None = None,
    progress: Progress | None = None,
) -> tuple[Weights, list[StageWeights]]:
    """Weights for some stages of a casebase (none: all that have cases), learned from the share
    `first` of its records, or from those up to the record `until`. A stage with too few cases keeps
    its weights. Each worker of `pool` learns one stage at a time."""
    if not 0.0 < first <= 1.0:
        raise BadValue(f"--first {first:g} must be above 0 and at most 1")
    with Casebase.open(file) as base:
        domain = base.domain
        stages = list(stages) or [stage for stage in base.stages if base.count(stage)]
    lessons: list[StageWeights] = []

    def tell(done: float, _of: float = 0.0, _count: int = 0) -> None:
        if progress:
            so_far = steps * len(lessons) + done
            progress(so_far, steps * len(stages), int(so_far))

    work = partial(
        _learn_stage,
        file=Path(file),
        first=first,
        until=until,
        steps=steps,
        seed=seed,
        plugin_files=tuple(map(str, default_plugins().files)),
        progress=tell if pool is None else None,
    )
    for lesson in in_order(pool, work, stages):
        lessons.append(lesson)
        tell(0.0)
    told = {lesson.stage: lesson.found for lesson in lessons if lesson.found is not None}
    if not told:
        why = "; ".join(lesson.refused for lesson in lessons) or "it has no cases"
        raise EmptyStage(f"nothing can be learned from {file}: {why}")
    made_by = {"made_by": "cbr learn-weights", "casebase": Path(file).name, "seed": seed}
    weights = {lesson.stage: lesson.weights for lesson in lessons}
    return Weights(weights, domain, made_by | {"first": first, "stages": told}), lessons


def _learn_stage(
    stage: str,
    *,
    file: Path,
    first: float,
    until: int | None,
    steps: int,
    seed: int,
    plugin_files: tuple[str, ...],
    progress: Progress | None,
) -> StageWeights:
    plugins_with(plugin_files)
    with Casebase.open(file) as base:
        cases, digest = base.read_cases(stage), base.digest(stage)
        mine = retriever_of(base, stage, index="scan")
    records = np.unique(cases.record)
    edge = records[max(1, int(len(records) * first)) - 1]  # as in `prediction.split_by_time`
    if until is not None:
        edge = until
    names = [feature.name for feature in cases.case_type.indexed]
    weights, told, refused = mine.weights, None, ""
    try:
        found = learn(
            cases.take(cases.record <= edge),
            mine.measures,
            mine.policy,
            weights,
            seed=seed,
            steps=steps,
            progress=progress,
        )
        weights, told = found.weights, {"digest": digest, "steps": steps, **found.gains}
    except EmptyStage as error:
        refused = str(error)
    rounded = [round(weight, 3) for weight in weights.tolist()]
    return StageWeights(stage, dict(zip(names, rounded, strict=True)), told, refused)


class _Adam:
    """Gradient ascent by Adam with decreasing steps."""

    def __init__(self, at: Floats, steps: int) -> None:
        self.at, self.steps, self.taken = at, steps, 0
        #: A running mean of the positions, to average out the noise of random batches.
        self.mean = at
        self._moment, self._square = np.zeros(len(at)), np.zeros(len(at))

    def step(self, gradient: Floats) -> None:
        self.taken += 1
        self._moment = 0.9 * self._moment + 0.1 * gradient
        self._square = 0.99 * self._square + 0.01 * gradient**2
        moment = self._moment / (1.0 - 0.9**self.taken)
        square = self._square / (1.0 - 0.99**self.taken)
        size = 0.06 * (1.0 - 0.9 * self.taken / self.steps)
        self.at = self.at + size * moment / (np.sqrt(square) + 1e-8)
        self.mean = 0.95 * self.mean + 0.05 * self.at


class _Candidate(NamedTuple):
    weights: Floats
    predicted: Predicted


class _Validation:
    """Evaluates weights by how well they predict the held-out records."""

    def __init__(
        self,
        cases: Cases,
        measures: Sequence[Bound],
        policy: RetrievalPolicy,
        soft: SoftKernel,
        train: Ints,
        held_out: Ints,
    ) -> None:
        vectors = cases.take(train).vectors()
        none = np.ones(len(measures))
        self.mine = Retriever(vectors, measures, none, policy, TreeIndex(vectors, measures))
        self.soft, self.train, self.held_out = soft, train, held_out
        self.asked, self.done = cases.values[held_out], cases.solution[held_out]
        self.cases = cases
        self.kernel: Constants | None = None

    def of(self, weights: Floats) -> _Candidate:
        # Constants change little between validations, so the search begins with the last ones.
        fit = fit_constants if self.cases.numbers is None else fit_number_constants
        fitted = self.held_out[:_FITTED]
        self.kernel = fit(self.soft, weights, self.train, fitted, start=self.kernel)
        many = self.mine.many(self.asked, np.broadcast_to(weights, self.asked.shape))
        return _Candidate(weights, Predicted(self.kernel, self._rule(many)))

    def _rule(self, many: RetrievedMany) -> float:
        """The loss of the retrieval rule."""
        if self.cases.numbers is None:
            taken = many.taken + 1.0
            loss = log_loss(taken / taken.sum(axis=1, keepdims=True), self.done)
            return float(loss.mean())
        found = NearestVectors(many.start, many.number, many.similarity, many.share)
        near, some = near_numbers(self.mine, many.codes, many.weights, found)
        value = np.full(len(many), self.cases.numbers[self.train].mean())
        value[some] = expected(chosen_policy(self.cases.case_type, ""), near)
        return float(((value - self.cases.numbers[self.held_out]) ** 2).mean())


def _best_for_both(first: _Candidate, candidates: Sequence[_Candidate]) -> _Candidate:
    """The candidate whose smaller gain of the two predictors is largest, each gain measured as a
    share of that predictor's largest; the first weights if no candidate improves both."""
    gains = np.array([_losses(first) - _losses(one) for one in candidates])
    most = gains.max(axis=0)
    if (most <= 0.0).any():
        return first
    least = (gains / most).min(axis=1)
    return candidates[int(least.argmax())] if least.max() > 0.0 else first


def _losses(candidate: _Candidate) -> Floats:
    return np.array([candidate.predicted.soft.loss, candidate.predicted.rule])


def _train_and_validation(cases: Cases, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Cases to learn from, and cases to validate on, of different records."""
    records = np.unique(cases.record)
    verify_predictable(cases)
    if len(records) < 20:
        raise EmptyStage(
            f"stage {cases.case_type.stage!r} has cases of {len(records)} records; weights can be "
            f"learned from 20 or more"
        )
    chosen = rng.choice(records, max(2, int(_HELD_OUT * len(records))), replace=False)
    held = np.isin(cases.record, chosen)
    looked_at = np.flatnonzero(held)
    return np.flatnonzero(~held), rng.permutation(looked_at)[:_VALIDATED]
