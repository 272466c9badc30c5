"""The soft kernel, weights learned from cases, and predictions for records that are not known."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from cbr.case import CaseType, Feature
from cbr.errors import BadValue, EmptyStage
from cbr.learning.evaluation import evaluate
from cbr.learning.kernel import SoftKernel, fit_constants
from cbr.learning.prediction import (
    Split,
    by_kernel,
    by_rule,
    leave_one_out,
    split_by_time,
    split_in_folds,
)
from cbr.learning.weight_learning import learn
from cbr.measure import Similarity
from cbr.plugging.plugins import default_plugins
from cbr.retrieval.index.base import Reach
from cbr.spec import Spec
from cbr.statistics import clustered_mean
from cbr.store.arrays import Cases
from cbr.store.casebase import Casebase

FEATURES = [Feature(name, range=(0, 1), weight=10) for name in ("tells", "noise", "more_noise")]
TYPE = CaseType("made", FEATURES, ["low", "high"])
LINEAR = Similarity("linear", lambda a, b: 1.0 - abs(a - b), falls=True)
MEASURES = [LINEAR.bind(feature) for feature in FEATURES]
START = np.array([10.0, 10.0, 10.0])


def policy(spec: str = "threshold?above=0.97&cap=100&fallback=20"):
    parsed = Spec.parse(spec)
    return default_plugins().get("retrieval policy", parsed.name).bind(parsed)


def made(count: int, seed: int = 0, per_record: int = 4) -> Cases:
    """What is done depends on the first feature alone."""
    rng = np.random.default_rng(seed)
    values = np.round(rng.random((count, 3)), 2).astype(np.float32)
    solution = (rng.random(count) < 1 / (1 + np.exp(-14 * (values[:, 0] - 0.5)))).astype(np.int64)
    ids = np.arange(1, count + 1)
    return Cases(TYPE, "", values, solution, np.full(count, np.nan), ids, ids // per_record)


class TestSoft:
    def chance(self, cases: Cases, at: int, known: list[int], v: np.ndarray, alpha: float) -> float:
        """As the formula says."""
        prior = np.bincount(cases.solution, minlength=2) / len(cases)
        top, below = alpha * prior[cases.solution[at]], alpha
        for other in known:
            if cases.record[other] != cases.record[at]:
                local = 1.0 - abs(cases.values[other].astype(float) - cases.values[at])
                worth = np.exp((v * local).sum() - v.sum())
                below += worth
                top += worth * (cases.solution[other] == cases.solution[at])
        return float(np.log(top / below))

    def test_likelihood_and_gradient(self) -> None:
        cases = made(60)
        soft = SoftKernel.of(cases, MEASURES)
        asked, known = np.arange(5), np.arange(60)
        v, alpha = np.array([9.0, 2.0, 5.0]), 0.3
        (log, gradient), _ = soft.gradients(asked, known, v, alpha, Reach(), 1.0)
        wanted = [self.chance(cases, at, known.tolist(), v, alpha) for at in range(5)]
        assert log == pytest.approx(np.mean(wanted), abs=1e-4)
        for place in range(4):
            logs = np.log(np.append(v, alpha))
            logs[place] += 1e-4
            up = [
                self.chance(cases, at, known.tolist(), np.exp(logs[:3]), np.exp(logs[3]))
                for at in range(5)
            ]
            slope = (np.mean(up) - np.mean(wanted)) / 1e-4
            assert gradient[place] == pytest.approx(slope, abs=2e-3)

    @pytest.mark.parametrize(
        "reach",
        [
            Reach(0.8, 5.0, 4.0),  # more cases than room: the edge moves with the last of them
            Reach(0.8, 100.0, 4.0),  # a threshold
            Reach(0.999, 100.0, 4.0),  # none beyond it: the nearest
            Reach(0.999, 100.0, 0.0),  # none at all
            Reach(),  # everything
        ],
    )
    def test_retrieval_made_soft(self, reach: Reach) -> None:
        cases = made(60)
        soft = SoftKernel.of(cases, MEASURES)
        asked, known = np.arange(6), np.arange(60)
        weights = np.array([9.0, 2.0, 5.0])
        _, (log, gradient) = soft.gradients(asked, known, weights, 0.3, reach, 1.0)
        assert log == pytest.approx(self.rule(cases, 6, weights, reach), abs=1e-3)
        for place in range(3):
            up, down = weights.copy(), weights.copy()
            up[place] *= np.exp(1e-4)
            down[place] *= np.exp(-1e-4)
            slope = (self.rule(cases, 6, up, reach) - self.rule(cases, 6, down, reach)) / 2e-4
            assert gradient[place] == pytest.approx(slope, rel=0.02, abs=5e-3)

    def rule(self, cases: Cases, asked: int, weights: np.ndarray, reach: Reach) -> float:
        """As the words in `cbr.learning.kernel` say."""
        total, values = 0.0, cases.values.astype(float)
        for at in range(asked):
            other = cases.record != cases.record[at]
            similarity = (1.0 - abs(values[other] - values[at])) @ weights / weights.sum()
            down = np.sort(similarity)[::-1]
            inside = (similarity > reach.above).sum()
            edge = reach.above
            if inside > reach.cap:
                edge = down[int(reach.cap) - 1]
            elif not inside and reach.fallback:
                edge = down[int(reach.fallback) - 1]
            share = 1.0 / (1.0 + np.exp((edge - similarity) / 0.004))
            same = cases.solution[other] == cases.solution[at]
            total += np.log(((share * same).sum() + 1) / (share.sum() + 2))
        return float(total / asked)

    def test_chances(self) -> None:
        cases = made(80)
        soft = SoftKernel.of(cases, MEASURES)
        near = soft.similarities(np.arange(6), np.arange(80), START)
        assert near.chances(20.0, 0.1).sum(axis=1) == pytest.approx(np.ones(6))
        v = 20.0 * START / START.sum()
        wanted = [self.chance(cases, at, list(range(80)), v, 0.1) for at in range(6)]
        [loss] = near.log_losses(20.0, np.array([0.1]))
        assert loss == pytest.approx(-np.mean(wanted), abs=1e-4)
        done = near.chances(20.0, 0.1)[np.arange(6), cases.solution[:6]]
        assert np.log(done) == pytest.approx(wanted, abs=1e-4)

    def test_many_values_are_rounded(self) -> None:
        rng = np.random.default_rng(0)
        values = rng.random((4_000, 3)).astype(np.float32)
        ids = np.arange(4_000)
        cases = Cases(TYPE, "", values, ids % 2, np.full(4_000, np.nan), ids, ids)
        soft = SoftKernel.of(cases, MEASURES)
        assert soft.table.shape[1] <= 256
        found = soft.similarities(np.arange(50), np.arange(50, 4_000), START).similarity
        exact = 1.0 - np.abs(values[:50, None] - values[None, 50:]).mean(axis=2)
        assert np.abs(found - exact).max() < 0.01

    def test_constants_are_better_than_others(self) -> None:
        cases = made(1_500)
        soft = SoftKernel.of(cases, MEASURES)
        known, asked = np.arange(1_000), np.arange(1_000, 1_500)
        found = fit_constants(soft, START, known, asked)
        near = soft.similarities(asked, known, START)
        for beta in (found.beta / 2, found.beta * 2):
            assert near.log_losses(beta, np.array([found.alpha]))[0] > found.loss


class TestLearn:
    @pytest.mark.long
    def test_the_feature_that_tells_gets_the_weight(self) -> None:
        found = learn(made(2_000), MEASURES, policy(), START, steps=120)
        assert found.weights[0] == 100
        assert found.weights[1:].max() < 40
        assert found.after.soft.loss < found.before.soft.loss
        assert found.after.rule < found.before.rule

    def test_the_same_seed_gives_the_same_weights(self) -> None:
        one, two = (
            learn(made(400), MEASURES, policy(), START, steps=20, seed=7).weights.tolist()
            for _ in range(2)
        )
        assert one == two

    @pytest.mark.long
    def test_a_weight_of_nothing_can_grow(self) -> None:
        found = learn(made(2_000), MEASURES, policy(), np.array([0.0, 1.0, 1.0]), steps=150)
        assert found.weights.argmax() == 0

    def test_one_solution_teaches_nothing(self) -> None:
        cases = made(200)
        with pytest.raises(EmptyStage, match="one solution only"):
            learn(cases.take(cases.solution == 0), MEASURES, policy(), START)

    def test_too_few_records(self) -> None:
        with pytest.raises(EmptyStage, match="20 or more"):
            learn(made(30), MEASURES, policy(), START)


class TestSplits:
    def test_no_record_is_on_both_sides(self) -> None:
        cases = made(300)
        for split in [*split_by_time(cases), *split_in_folds(cases, 5, np.random.default_rng(0))]:
            known, asked = cases.record[split.known], cases.record[split.asked]
            assert not set(known) & set(asked)
            assert len(known) + len(asked) == 300

    def test_time_goes_forward(self) -> None:
        cases = made(300)
        [split] = split_by_time(cases, 0.3)
        assert cases.record[split.known].max() < cases.record[split.asked].min()
        assert len(split.asked) == pytest.approx(90, abs=8)

    def test_each_is_asked_once(self) -> None:
        cases = made(120)
        asked = np.concatenate(
            [split.asked for split in split_in_folds(cases, 4, np.random.default_rng(0))]
        )
        assert sorted(asked) == list(range(120))

    @pytest.mark.parametrize("last", [1e-3, 1e-17, 5e-324])
    def test_a_share_below_one_record_is_one(self, last: float) -> None:
        cases = made(40)
        [split] = split_by_time(cases, last)
        assert set(cases.record[split.asked]) == {cases.record.max()}
        assert len(split.known) + len(split.asked) == 40

    @pytest.mark.parametrize("last", [0.0, 1.0, -1.0])
    def test_a_share_that_is_none(self, last: float) -> None:
        with pytest.raises(BadValue, match="between 0 and 1"):
            split_by_time(made(40), last)

    @pytest.mark.parametrize("folds", [1, 0, 99])
    def test_folds_that_are_none(self, folds: int) -> None:
        with pytest.raises(BadValue, match="folds"):
            split_in_folds(made(40), folds, np.random.default_rng(0))


class TestEvaluate:
    def test_leaving_a_record_out_is_having_the_others(self) -> None:
        """One by one gives what a casebase without the record gives."""
        cases = made(200)
        [split] = leave_one_out(cases)
        asked = np.array([3, 50, 120])
        found = by_rule(cases, MEASURES, policy(), START, Split(split.known, asked, True))
        for place, at in enumerate(asked):
            others = np.flatnonzero(cases.record != cases.record[at])
            alone = by_rule(cases, MEASURES, policy(), START, Split(others, np.array([at])))
            assert found[place] == pytest.approx(alone[0])

    def test_good_weights_beat_bad_ones(self) -> None:
        cases = made(3_000)
        sets = {"bad": np.array([0.0, 1.0, 1.0]), "good": np.array([1.0, 0.0, 0.0])}
        found = evaluate(cases, MEASURES, policy(), sets, split_by_time(cases), queries=400)
        by = {(one.weights, one.predictor): one for one in found.judged}
        for predictor in ("rule", "soft"):
            good, bad = by["good", predictor], by["bad", predictor]
            assert good.log_loss.mean < bad.log_loss.mean
            assert good.against_first.mean + good.against_first.ci95 < 0
            assert good.accuracy.mean > 0.85
            assert bad.against_first is None
            total = sum(of["cases"] for of in good.by_solution.values())
            assert total == found.asked == 400

    def test_the_soft_kernel_is_fitted_on_as_many_records_as_it_says(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cases, seen = made(600), []

        def fitted(soft, weights, rest, held, *more):
            seen.append((np.unique(cases.record[rest]), np.unique(cases.record[held])))
            return fit_constants(soft, weights, rest, held, *more)

        monkeypatch.setattr("cbr.learning.prediction.fit_constants", fitted)
        [split] = split_by_time(cases)
        by_kernel(cases, MEASURES, START, split)
        [(rest, held)] = seen
        records = len(np.unique(cases.record[split.known]))
        assert len(held) == int(0.15 * records)
        assert len(rest) == records - len(held)
        assert not set(rest) & set(held)

    def test_one_known_record_fits_nothing(self) -> None:
        cases = made(40)
        one = np.flatnonzero(cases.record == cases.record[0])
        with pytest.raises(EmptyStage, match="of one record"):
            by_kernel(cases, MEASURES, START, Split(one, np.array([39])))

    def test_one_solution_is_nothing_to_predict(self) -> None:
        cases = made(60)
        cases = dataclasses.replace(cases, solution=np.zeros_like(cases.solution))
        with pytest.raises(EmptyStage, match="nothing to predict"):
            evaluate(cases, MEASURES, policy(), {"own": START}, split_by_time(cases))

    def test_an_interval_knows_that_decisions_go_together(self) -> None:
        """Ten copies of each value in one record tell no more than one of them."""
        values, record = np.random.default_rng(0).random(400), np.arange(400)
        one = clustered_mean(values, record)
        ten = clustered_mean(np.repeat(values, 10), np.repeat(record, 10))
        assert (ten.mean, ten.ci95) == pytest.approx((one.mean, one.ci95))
        assert clustered_mean(np.repeat(values, 10), np.arange(4_000)).ci95 < 0.4 * one.ci95


class TestCommands:
    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        from cbr.building.pipeline import build

        root = Path(__file__).parent.parent.parent
        build([root / "casebases" / "sample.phhs"], tmp_path / "sample.db")
        return tmp_path / "sample.db"

    @pytest.mark.long
    def test_learn_then_evaluate(self, cbr, sample: Path, tmp_path: Path) -> None:
        out = tmp_path / "w.json"
        words = ["--stage", "river", "--steps", "10", "--first", "0.8", "--json"]
        learned = cbr("learn-weights", sample, "--out", out, *words).json
        assert set(learned["weights"]) == {"river"}
        kept = json.loads(out.read_text())
        assert kept["format"] == "cbr-weights"
        assert kept["provenance"]["first"] == 0.8
        with Casebase.open(sample) as base:
            assert kept["provenance"]["stages"]["river"]["digest"] == base.digest("river")
        words = ["--stage", "river", "--weights", "hand-picked", "--weights", out, "--json"]
        [stage] = cbr("evaluate", sample, *words).json["stages"]
        assert [(j["weights"], j["predictor"]) for j in stage["judged"]] == [
            ("hand-picked", "rule"),
            ("hand-picked", "soft"),
            (str(out), "rule"),
            (str(out), "soft"),
        ]
        shown = cbr("evaluate", sample, "--stage", "river", "--folds", "3").out
        assert "3 folds of records" in shown

    def test_one_solution_is_nothing_to_predict(self, cbr, tmp_path: Path) -> None:
        """A stage in which nothing varies is said to be one; alone it is an error."""
        features = [Feature("x", range=(0, 100))]
        kinds = [CaseType(f"two/{name}", features, ["yes", "no"]) for name in ("same", "mixed")]
        file = tmp_path / "two.db"
        with Casebase.create(file, kinds) as base, base.transaction():
            for stage, words in (("same", ["yes"]), ("mixed", ["yes", "no"])):
                done = [words[n % len(words)] for n in range(80)]
                base.add(stage, {"x": range(80)}, done, [None] * 80, range(1, 81), [0] * 80)
        answer = cbr("evaluate", file, "--json")
        assert [one["stage"] for one in answer.json["stages"]] == ["mixed"]
        assert "stage 'same' has cases of one solution only ('yes')" in answer.err
        for words in (
            ["evaluate", file, "--stage", "same"],
            ["learn-weights", file, "--stage", "same", "--out", tmp_path / "w.json"],
        ):
            answer = cbr(*words)
            assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
            assert "nothing to predict" in answer.err
        assert not (tmp_path / "w.json").exists()

    @pytest.mark.parametrize("words", [["--first", "0"], ["--first", "1.5"]])
    def test_a_share_that_is_none(self, cbr, sample: Path, tmp_path: Path, words: list) -> None:
        answer = cbr("learn-weights", sample, "--out", tmp_path / "w.json", *words)
        assert answer.code == 2
        assert "--first" in answer.err
