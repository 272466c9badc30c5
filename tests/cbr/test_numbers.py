"""Solutions that are numbers: what retrieved cases make expected, and the interval around it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import cbr
from cbr.building.pipeline import build
from cbr.case import CaseType, Feature, Number
from cbr.errors import BadValue, EmptyStage, PluginFailure
from cbr.plugging.plugins import Plugins, use_plugins
from cbr.retrieval.retriever import Retriever, retriever_of
from cbr.reusing.explanation import explain
from cbr.reusing.numbers import local_linear, mean, median
from cbr.reusing.proposal import reuse, reuse_many, reuse_numbers
from cbr.store.arrays import Vectors, group
from cbr.store.casebase import Casebase
from cbr.testing import check_reuse_policy
from cbr.upkeep.refinement import refine
from cbr.upkeep.revision import revise

FEATURES = [Feature("x", range=(0, 1)), Feature("z", range=(0, 1)), Feature("w", values=("a", "b"))]
TYPE = CaseType("made", FEATURES, solution=Number(unit="EUR"))


class _Base:
    """As much of a casebase as a retriever needs."""

    def __init__(self, vectors: Vectors) -> None:
        self.made = vectors

    def stage(self, _: str | None) -> str:
        return "made"

    def vectors(self, _: str) -> Vectors:
        return self.made


def of(rows: list[tuple[float, ...]], policy: str = "top?k=3", kind: CaseType = TYPE) -> Retriever:
    """A retriever from rows of x, z, w and the number."""
    table = np.array(rows, np.float64)
    count, unknown = len(table), np.full(len(table), math.nan)
    values = table[:, :3].astype(np.float32)
    zeros, ids = np.zeros(count, np.int64), np.arange(1, count + 1)
    vectors = group(kind, "", values, zeros, unknown, ids, numbers=table[:, 3])
    return retriever_of(_Base(vectors), policy=policy, index="scan")  # type: ignore[arg-type]


def drawn(count: int, seed: int) -> list[tuple[float, ...]]:
    """Numbers with more noise where z is large."""
    rng = np.random.default_rng(seed)
    x, z, w = rng.random(count), rng.random(count), rng.integers(0, 2, count)
    y = 10 * x + 2 * w + rng.normal(0, 1, count) * (0.2 + 2 * z)
    return list(zip(x, z, w, y, strict=True))


ROWS = [(0.5, 0.5, 0, 10.0), (0.5, 0.5, 0, 14.0), (0.6, 0.5, 0, 20.0), (0.9, 0.1, 1, 90.0)]


class TestPolicies:
    def test_the_mean_is_weighted_by_similarity(self) -> None:
        found = reuse(of(ROWS)({"x": 0.5, "z": 0.5, "w": "a"}))
        near = 1.0 - 0.1 / 3
        assert found.solution == pytest.approx((10 + 14 + near * 20) / (2 + near), abs=1e-5)
        assert found.probabilities == {}
        assert found.interval is None  # four cases are too few
        assert "too few cases" in found.reason

    def test_the_median(self) -> None:
        target = {"x": 0.5, "z": 0.5, "w": "a"}
        assert reuse(of(ROWS)(target), "median").solution == 14.0
        assert (
            reuse(of(ROWS, "top?k=2")(target), "median").solution == 12.0
        )  # two are in the middle
        assert reuse(of(ROWS[:1])(target), "median").solution == 10.0

    def test_a_plane_through_numbers_on_a_plane(self) -> None:
        rng = np.random.default_rng(1)
        x, z, w = rng.random(200), rng.random(200), rng.integers(0, 2, 200)
        mine = of(list(zip(x, z, w, 5 + 3 * x - 2 * z + w, strict=True)), "top?k=20")
        target = {"x": 0.99, "z": 0.01, "w": "b"}  # in a corner, where a mean is biased
        wanted = 5 + 3 * 0.99 - 2 * 0.01 + 1
        exact = reuse(mine(target), "local-linear?ridge=1e-9").solution
        assert exact == pytest.approx(wanted, abs=1e-3)
        some = reuse(mine(target), "local-linear").solution
        mean = reuse(mine(target), "mean").solution
        assert abs(some - wanted) < abs(mean - wanted) / 3

    def test_more_features_than_cases(self) -> None:
        mine = of(ROWS, "top?k=2")
        found = reuse(mine({"x": 0.55, "z": 0.4, "w": "a"}), "local-linear").solution
        assert 10 <= found <= 20

    def test_no_prediction_leaves_the_range(self) -> None:
        kind = CaseType("made", FEATURES, solution=Number(range=(0, 12)))
        rows = [(x / 40, 0.5, 0, 12.0 * x / 40) for x in range(41)]
        found = reuse(of(rows, "top?k=5", kind)({"x": 1.5, "z": 0.5, "w": "a"}), "local-linear")
        assert found.solution == 12.0
        assert found.interval is not None
        assert found.interval.high == 12.0

    def test_many_are_as_each(self) -> None:
        mine = of(drawn(120, 3), "threshold?above=0.9&cap=9&fallback=4")
        codes = np.array([row[:3] for row in drawn(4, 4)], np.float32)
        many = mine.many(codes)
        for policy in ("mean", "median", "local-linear"):
            numbers = reuse_numbers(many, policy)
            for at in range(len(codes)):
                one = reuse(many[at], policy)
                assert numbers.value[at] == pytest.approx(one.solution)
                assert one.interval is not None
                assert numbers.low[at] == pytest.approx(one.interval.low)

    def test_nothing_retrieved(self) -> None:
        mine = of(ROWS, "radius?above=0.999")
        with pytest.raises(EmptyStage, match="no case was retrieved"):
            reuse(mine({"x": 0.1, "z": 0.9}))
        codes = np.array([[0.1, 0.9, 1], [0.5, 0.5, 0]], np.float32)
        assert np.isnan(reuse_numbers(mine.many(codes)).value).tolist() == [True, False]

    @pytest.mark.parametrize("policy", [mean, median, local_linear])
    def test_built_in_policies_conform(self, policy: Callable) -> None:
        check_reuse_policy(policy)

    def test_policies_fit_the_kind_of_solution(self) -> None:
        mine = of(ROWS)
        retrieved = mine({"x": 0.5})
        with pytest.raises(BadValue, match="choose one of local-linear, mean, median"):
            reuse(retrieved, "majority")
        with pytest.raises(BadValue, match="reuse_numbers"):
            reuse_many(mine.many(np.zeros((1, 3), np.float32)))
        with pytest.raises(BadValue, match="none can be allowed"):
            reuse(retrieved, allowed=["a"])
        with pytest.raises(BadValue, match="ridge"):
            reuse(retrieved, "local-linear?ridge=0")
        with pytest.raises(BadValue, match="level"):
            reuse_numbers(mine.many(np.zeros((1, 3), np.float32)), level=1.0)
        with pytest.raises(BadValue, match="no probability"):
            reuse(retrieved).draw(np.random.default_rng(0))

    @pytest.mark.parametrize("at", ["first", "nothing"])
    def test_a_policy_of_a_plugin(self, at: str) -> None:
        @cbr.number_policy("odd")
        def odd(near):
            return near.number[near.start[:-1]] if at == "first" else [math.nan]

        plugins = Plugins()
        plugins.load([])
        module = ModuleType("made_plugin")
        module.cbr_reuse_policies = cbr.hook(lambda: [odd])
        plugins.add(module, "odd")
        retrieved = of(ROWS)({"x": 0.5, "z": 0.5, "w": "a"})
        if at == "first":
            assert reuse(retrieved, "odd", plugins=plugins).solution == 10.0
        else:
            with pytest.raises(PluginFailure, match="finite number"):
                reuse(retrieved, "odd", plugins=plugins)


class TestIntervals:
    @pytest.mark.parametrize("policy", ["mean", "median", "local-linear"])
    def test_they_hold_as_often_as_they_say(self, policy: str) -> None:
        """Over data sets drawn anew, on targets that were not known; exactly so only on average."""
        held = []
        for seed in range(6):
            mine = of(drawn(250, seed), "top?k=12")
            targets = np.array(drawn(400, 100 + seed))
            many = mine.many(targets[:, :3].astype(np.float32))
            found = reuse_numbers(many, policy)
            held.append(((found.low <= targets[:, 3]) & (targets[:, 3] <= found.high)).mean())
        assert 0.87 < np.mean(held) < 0.94

    def test_they_are_wider_where_cases_differ(self) -> None:
        mine = of(drawn(400, 1), "top?k=12")
        targets = np.array([(x / 20, z, 0) for z in (0.05, 0.95) for x in range(20)], np.float32)
        found = reuse_numbers(mine.many(targets))
        width = (found.high - found.low).reshape(2, 20).mean(axis=1)
        assert width[1] > 1.7 * width[0]

    def test_a_higher_level_is_wider(self) -> None:
        many = of(drawn(200, 2)).many(np.array([[0.5, 0.5, 0]], np.float32))
        some, most = (reuse_numbers(many, level=level) for level in (0.5, 0.98))
        assert most.low[0] < some.low[0] < some.high[0] < most.high[0]
        assert np.isnan(reuse_numbers(many, level=0.9999).low[0])  # too few cases are known

    def test_constant_solutions(self) -> None:
        mine = of([(x / 30, x % 7 / 7, x % 2, 5.0) for x in range(30)])
        for policy in ("mean", "median", "local-linear"):
            found = reuse(mine({"x": 0.5}), policy)
            assert found.interval is not None
            assert (found.solution, found.interval.low, found.interval.high) == (5.0, 5.0, 5.0)

    def test_huge_numbers(self) -> None:
        mine = of([(x / 30, x % 7 / 7, x % 2, 3e38 * (-1) ** x) for x in range(30)])
        for policy in ("mean", "median", "local-linear"):
            found = reuse(mine({"x": 0.5}), policy)
            assert abs(found.solution) <= 3.1e38
            assert found.interval is not None


@pytest.fixture
def priced(tmp_path: Path) -> Path:
    """A casebase of prices, in which every tenth value is missing."""
    (tmp_path / "priced.py").write_text(PLUGIN)
    use_plugins(Plugins().load([tmp_path / "priced.py"]))
    lines = ["x,z,w,shop,solution"]
    for place, (x, z, w, price) in enumerate(drawn(150, 9)):
        cells = [f"{x:.3f}", f"{z:.3f}", "ab"[w], f"shop{place % 7}"]
        cells[place % 3] = "" if place % 10 == 0 else cells[place % 3]
        lines.append(",".join([*cells, f"{price:.3f}"]))
    (tmp_path / "priced.csv").write_text("\n".join(lines) + "\n")
    build([tmp_path / "priced.csv"], tmp_path / "priced.db", "made")
    return tmp_path / "priced.db"


PLUGIN = """
import cbr

@cbr.hook
def cbr_case_types():
    features = [
        cbr.Feature("x", range=(0, 1), missing="expected"),
        cbr.Feature("z", range=(0, 1)),
        cbr.Feature("w", values=("a", "b")),
        cbr.Feature("shop", indexed=False),
    ]
    price = cbr.Number(unit="EUR")
    return [cbr.CaseType("made", features, solution=price, missing="ignore", retrieval="top?k=9")]
"""


class TestCommands:
    def test_query(self, cbr: Callable, priced: Path, tmp_path: Path) -> None:
        asked = ["query", priced, "--case", "x=0.4,w=a", "--show", 150, "--policy", "top?k=150"]
        answer = cbr(*asked, "--plot", tmp_path / "q.png")
        assert answer.code == 0, answer.err
        for word in ("expected", "90 % interval", "missing", "ignored", "0.", "mean over", "EUR"):
            assert word in answer.out
        assert "not given, so not compared: z" in answer.err
        found = cbr(*asked, "--json").json
        assert found["interval"]["low"] < found["solution"] < found["interval"]["high"]
        assert found["missing"] == {"x": "expected", "z": "ignore", "w": "ignore"}
        other = cbr(*asked, "--json", "--missing-values", "unlike").json
        assert set(other["missing"].values()) == {"unlike"}
        one = cbr(*asked, "--json", "--missing-values", "x=unlike").json
        assert one["missing"]["x"] == "unlike"

    def test_contributions_sum_to_the_similarity(self, priced: Path) -> None:
        with Casebase.open(priced) as base:
            retrieved = retriever_of(base, policy="top?k=150")({"x": 0.4, "z": 0.5, "w": "a"})
            answer = explain(retrieved, reuse(retrieved), most=150, base=base)
        assert any("x" not in near.values for near in answer.neighbours)
        for near in answer.neighbours:
            assert sum(near.contribution.values()) == pytest.approx(near.similarity)

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["--missing-values", "guess"], "no rule for missing values 'guess'"),
            (["--missing-values", "x=guess"], "no rule for missing values 'guess'"),
            (["--missing-values", "a", "--missing-values", "b"], "is not FEATURE=RULE"),
            (["--missing-values", "y=ignore"], "'y'"),
            (["--reuse", "majority"], "does not fit"),
            (["--allow", "a"], "none can be allowed"),
        ],
    )
    def test_wrong_options(self, cbr: Callable, priced: Path, words: list[str], says: str) -> None:
        answer = cbr("query", priced, "--case", "x=0.4", *words)
        assert answer.code == 2
        assert says in answer.err

    def test_a_decision_is_predicted_from_others(self, cbr: Callable, priced: Path) -> None:
        answer = cbr("query", priced, "--record", 11)
        assert answer.code == 0, answer.err
        assert "Actual solution" in answer.out
        assert "from the expected" in answer.out

    def test_info_and_check(self, cbr: Callable, priced: Path) -> None:
        found = cbr("info", priced, "--json").json["stages"]["made"]
        assert found["solution"]["unit"] == "EUR"
        assert found["solutions"] == {}
        assert sum(feature["lacking"] for feature in found["features"]) == 15
        answer = cbr("info", priced)
        assert "EUR, mean" in answer.out
        assert "5 cases (expected)" in answer.out
        assert cbr("check", priced).code == 0

    def test_evaluate(self, cbr: Callable, priced: Path, tmp_path: Path) -> None:
        words = ["evaluate", priced, "--split", "stratified", "--reuse", "local-linear"]
        answer = cbr(*words, "--json", "--plot", tmp_path / "e.png")
        assert answer.code == 0, answer.err
        rule, soft = answer.json["stages"][0]["judged"]
        assert rule["rmse"]["mean"] >= rule["mae"]["mean"] > 0
        assert 0.6 < rule["r2"]["mean"] < 1.0
        assert 0.8 < rule["coverage"]["mean"] <= 1.0
        assert soft["coverage"] is None
        assert (tmp_path / "e.png").stat().st_size > 10_000
        shown = cbr("evaluate", priced, "--folds", 3, "--repeats", 2, "--group", "shop")
        assert "3 folds of groups, 2 times" in shown.out
        assert "RMSE" in shown.out

    def test_rows_in_order_of_their_numbers(self, cbr: Callable, priced: Path) -> None:
        head, *rows = priced.with_suffix(".csv").read_text().splitlines()
        rows.sort(key=lambda row: float(row.rpartition(",")[2]))
        (priced.parent / "ordered.csv").write_text("\n".join([head, *rows]) + "\n")
        build([priced.parent / "ordered.csv"], priced.parent / "ordered.db", "made")
        answer = cbr("evaluate", priced.parent / "ordered.db", "--queries", 20)
        assert "are sorted by their solution" in answer.err
        assert "are sorted" not in cbr("evaluate", priced, "--queries", 20).err

    def test_learn_weights(self, cbr: Callable, priced: Path, tmp_path: Path) -> None:
        answer = cbr("learn-weights", priced, "--out", tmp_path / "w.json", "--steps", 5)
        assert answer.code == 0, answer.err
        assert "RMSE of held-out records" in answer.out
        told = json.loads((tmp_path / "w.json").read_text())["provenance"]["stages"]["made"]
        assert set(told["rmse"]) == {"soft", "rule"}

    def test_retain_what_is_known(self, cbr: Callable, priced: Path) -> None:
        before = cbr("info", priced, "--json").json["cases"]["made"]
        answer = cbr("retain", priced, "--case", "x=0.5", "--solution", "6.5", "--json").json
        assert answer["surprise"] == pytest.approx(6.5 - answer["expected"])
        assert answer["case"] == before + 1
        assert cbr("check", priced).code == 0
        wrong = cbr("retain", priced, "--case", "x=0.5", "--solution", "nan")
        assert wrong.code == 2
        assert "solution is 'nan'" in wrong.err

    @pytest.mark.parametrize(
        "words", [["refine"], ["refine", "--report"], ["evolve", "--arena", "accuracy"]]
    )
    def test_what_compares_classes_says_so(
        self, cbr: Callable, priced: Path, words: list[str], tmp_path: Path
    ) -> None:
        out = ["--out", tmp_path / "run"] if words[0] == "evolve" else []
        answer = cbr(words[0], priced, *words[1:], *out)
        assert answer.code == 2
        assert "numbers" in answer.err

    def test_rebuild_and_export(self, cbr: Callable, priced: Path, tmp_path: Path) -> None:
        with Casebase.open(priced) as base:
            digest = base.digest("made")
        assert cbr("retain", priced, "--case", "w=a", "--solution", "1").code == 0
        assert cbr("rebuild", priced).code == 0
        assert cbr("check", priced).code == 0
        assert cbr("export", priced, "--to", "csv", "--out", tmp_path / "csv").code == 0
        with Casebase.open(priced, write=True) as base:
            with base.transaction():
                base.remove("made", [151])
            assert base.digest("made") == digest

    def test_all_values_missing(self, cbr: Callable, priced: Path) -> None:
        """A column that no case has, and cases that have nothing."""
        rows = ["x,z,w,shop,solution", *(f",,,s,{n}" for n in range(12)), "0.5,,,s,3"]
        (priced.parent / "bare.csv").write_text("\n".join(rows) + "\n")
        build([priced.parent / "bare.csv"], priced.parent / "bare.db", "made")
        answer = cbr(
            "query", priced.parent / "bare.db", "--case", "z=0.5,w=a", "--policy", "top?k=13"
        )
        assert answer.code == 0, answer.err
        assert "none is similar" in answer.out
        answer = cbr("evaluate", priced.parent / "bare.db", "--leave-one-out", "--json")
        assert answer.code == 0, answer.err
        assert answer.json["stages"][0]["asked"] == 13

    @pytest.mark.parametrize("kind", ["faiss-flat", "faiss-hnsw"])
    def test_saved_indices(self, cbr: Callable, priced: Path, kind: str) -> None:
        assert cbr("index", priced, "--kind", kind).code == 0
        asked = ["query", priced, "--case", "x=0.4,z=0.5,w=a", "--json"]
        found = cbr(*asked, "--index", kind)
        assert "stale" not in found.err
        exact = cbr(*asked, "--index", "exact").json
        # An index built for one set of weights may miss a case; no similarity is ever another.
        assert found.json["interval"] is not None
        known = {tuple(n["case_ids"]): n["similarity"] for n in exact["neighbours"]}
        for near in found.json["neighbours"]:
            assert near["similarity"] == known.get(tuple(near["case_ids"]), near["similarity"])
        if kind == "faiss-flat":
            assert found.json == exact
            assert cbr("index", priced, "--measure", "--queries", 20).code == 0

    def test_revision_of_a_number(self, priced: Path) -> None:
        with Casebase.open(priced) as base:
            retrieved = retriever_of(base)({"x": 0.5})
        revision = revise(retrieved, "7.25")
        assert revision.case.solution == 7.25
        assert revision.surprise == pytest.approx(7.25 - reuse(retrieved).solution)
        with pytest.raises(BadValue, match="not a number"):
            revise(retrieved, "dear")
        with pytest.raises(BadValue, match="are numbers"):
            refine(retriever_of(_Base(retrieved.vectors)))  # type: ignore[arg-type]
