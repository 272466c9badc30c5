"""Learners and upkeep compare cases that lack values by the same rules as retrieval."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cbr.case import CaseType, Feature, Number
from cbr.learning.evaluation import evaluate
from cbr.learning.kernel import SoftKernel
from cbr.learning.number_prediction import number_gradient, numbers_of, predicted
from cbr.learning.prediction import leave_one_out, split_in_folds
from cbr.learning.weight_learning import learn
from cbr.retrieval.index.base import Reach
from cbr.retrieval.retriever import Retriever, retriever_of
from cbr.store.arrays import Cases, Vectors
from cbr.upkeep.competence_model import competence
from cbr.upkeep.refinement import refine

RULES = ("ignore", "unlike", "expected")
FEATURES = [Feature(f"f{rule}", range=(0, 1), missing=rule, weight=10) for rule in RULES]
CLASSES = CaseType("gappy", FEATURES, ["low", "high"])
NUMBERS = CaseType("gappy", FEATURES, solution=Number())


class _Base:
    """As much of a casebase as a retriever needs."""

    def __init__(self, vectors: Vectors) -> None:
        self.made = vectors

    def stage(self, _: str | None) -> str:
        return "gappy"

    def vectors(self, _: str) -> Vectors:
        return self.made


def made(count: int, case_type: CaseType = CLASSES, seed: int = 0) -> Cases:
    """The solution depends on the first feature; a fifth of all values is missing."""
    rng = np.random.default_rng(seed)
    values = np.round(rng.random((count, 3)), 2).astype(np.float32)
    truth = values[:, 0] + rng.normal(0, 0.1, count)
    values[rng.random(values.shape) < 0.2] = math.nan
    values[3] = math.nan
    ids = np.arange(1, count + 1)
    numbers = truth if case_type.numeric else None
    solution = np.zeros(count, np.int64) if case_type.numeric else (truth > 0.5).astype(np.int64)
    return Cases(case_type, "", values, solution, np.full(count, math.nan), ids, ids, numbers)


def retriever(cases: Cases, policy: str = "top?k=5", index: str = "scan") -> Retriever:
    return retriever_of(_Base(cases.vectors()), policy=policy, index=index)  # type: ignore[arg-type]


def test_the_kernel_compares_as_retrieval_does() -> None:
    cases = made(80)
    mine = retriever(cases)
    soft = SoftKernel.of(cases, mine.measures)
    weights = np.array([3.0, 1.0, 2.0])
    found = soft.similarities(np.arange(10), np.arange(80), weights).similarity
    vectors = mine.vectors
    order = np.repeat(np.arange(len(vectors)), vectors.cases)[np.argsort(vectors.case_ids)]
    for at in range(10):
        wanted = mine.score(cases.values[at], weights, np.arange(len(vectors)))[order]
        wanted[at] = -1.0  # its own record
        np.testing.assert_allclose(found[at], wanted, atol=2e-6)


@pytest.mark.parametrize("reach", [Reach(0.8, 5.0, 4.0), Reach(0.9, 100.0, 4.0)])
def test_gradients_where_values_are_missing(reach: Reach) -> None:
    cases = made(60)
    soft = SoftKernel.of(cases, retriever(cases).measures)
    asked, known = np.arange(12), np.arange(60)
    scale = np.array([9.0, 2.0, 5.0])

    def logs(at: np.ndarray) -> tuple[float, float]:
        kernel, rule = soft.gradients(asked, known, at, 0.3, reach, 1.0)
        return kernel.log, rule.log

    kernel, rule = soft.gradients(asked, known, scale, 0.3, reach, 1.0)
    for place in range(3):
        step = np.exp(np.where(np.arange(3) == place, 1e-3, 0.0))
        up, down = logs(scale * step), logs(scale / step)
        assert kernel.by[place] == pytest.approx((up[0] - down[0]) / 2e-3, abs=5e-3)
        assert rule.by[place] == pytest.approx((up[1] - down[1]) / 2e-3, rel=0.05, abs=2e-2)


def test_the_gradient_of_numbers() -> None:
    cases = made(60, NUMBERS)
    soft = SoftKernel.of(cases, retriever(cases).measures)
    asked, known = np.arange(12), np.arange(60)
    scale, alpha = np.array([9.0, 2.0, 5.0]), 0.3

    def loss(at: np.ndarray, alpha: float) -> float:
        values = predicted(soft, asked, known, at, float(at.sum()), np.array([alpha]))[0]
        return float(((values - numbers_of(cases)[asked]) ** 2).mean() / cases.numbers.var())

    found = number_gradient(soft, asked, known, scale, alpha)
    for place in range(3):
        step = np.exp(np.where(np.arange(3) == place, 1e-3, 0.0))
        slope = (loss(scale * step, alpha) - loss(scale / step, alpha)) / 2e-3
        assert found[place] == pytest.approx(-slope, abs=2e-3)
    slope = (loss(scale, alpha * math.exp(1e-3)) - loss(scale, alpha * math.exp(-1e-3))) / 2e-3
    assert found[3] == pytest.approx(-slope, abs=2e-3)


@pytest.mark.parametrize("case_type", [CLASSES, NUMBERS])
def test_the_feature_that_tells_gets_the_weight(case_type: CaseType) -> None:
    cases = made(400, case_type)
    mine = retriever(cases, "top?k=10")
    found = learn(cases, mine.measures, mine.policy, mine.weights, steps=60)
    assert found.weights.argmax() == 0
    assert found.after.rule < found.before.rule
    assert ("rmse" in found.gains) == case_type.numeric


@pytest.mark.parametrize("case_type", [CLASSES, NUMBERS])
def test_each_without_itself_is_what_the_others_say(case_type: CaseType) -> None:
    """Leave-one-out by the tree, against a casebase without the case."""
    cases = made(60, case_type)
    mine = retriever(cases, "threshold?above=0.9&cap=6&fallback=3")
    weights = {"own": mine.weights}
    found = evaluate(cases, mine.measures, mine.policy, weights, leave_one_out(cases), queries=60)
    told = found.predictions[0]
    for at in (0, 3, 7, 20, 41):
        others = cases.take(np.arange(60) != at)
        alone = Retriever(
            others.vectors(), mine.measures, mine.weights, mine.policy, retriever(others).index
        )
        many = alone.many(cases.values[[at]])
        if case_type.numeric:
            numbers = dict(zip(others.ids.tolist(), others.numbers, strict=True))
            one = many[0]
            total = weight = 0.0
            for place in range(len(one.number)):
                part = one.share[place] * max(one.similarity[place], 0.0)
                if not one.similarity.any():
                    part = one.share[place]
                for number in one.case_ids(place).tolist():
                    total += part * numbers[number]
                    weight += part
            assert told.numbers is not None
            assert told.numbers.value[at] == pytest.approx(total / weight)
        else:
            taken = many.taken[0] + 1.0
            assert told.chances is not None
            assert told.chances[at] == pytest.approx(taken / taken.sum())


def test_upkeep_with_missing_values() -> None:
    """The tree and the scan agree about which cases mislead, and what others solve."""
    cases = made(150)
    one, two = (retriever(cases, index=index) for index in ("scan", "exact"))
    for method in ("noise", "redundant", "bbnr", "icf"):
        assert refine(one, method, cases=cases) == refine(two, method, cases=cases)
    assert competence(one, cases=cases) == competence(two, cases=cases)


def test_folds_of_cases_with_missing_values() -> None:
    cases = made(100)
    mine = retriever(cases)
    splits = split_in_folds(cases, 4, np.random.default_rng(0), stratified=True)
    held = [np.bincount(cases.solution[split.asked], minlength=2) for split in splits]
    assert np.ptp(held, axis=0).max() <= 1
    found = evaluate(cases, mine.measures, mine.policy, {"own": mine.weights}, splits)
    assert found.asked == 100
    assert all(0.6 < one.accuracy.mean <= 1.0 for one in found.judged)
