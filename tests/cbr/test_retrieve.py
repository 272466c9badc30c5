"""The retrieved set as it is defined, against a direct reading of the definition."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import cbr
from cbr.case import CaseType, Feature
from cbr.errors import BadValue, BadWeights, EmptyStage, NoSuchName, PluginFailure
from cbr.measure import Similarity
from cbr.plugging.plugins import Plugins, default_plugins
from cbr.retrieval.index.base import IndexKind, Reach, Scan
from cbr.retrieval.index.tree import TreeIndex
from cbr.retrieval.retriever import Retriever, retrieve, retriever_of
from cbr.reusing.proposal import reuse
from cbr.spec import Spec
from cbr.store.arrays import group
from cbr.store.casebase import Casebase
from cbr.testing import check_retrieval_policy, check_reuse_policy, small_casebase

FEATURES = [Feature("x", range=(0, 4)), Feature("y", range=(0, 4)), Feature("z", range=(0, 1))]
TYPE = CaseType("made", FEATURES, ["f", "c", "r"])


def given_by(hook: str, thing: object) -> ModuleType:
    """A plugin that gives one thing."""
    module = ModuleType("made_plugin")
    setattr(module, hook, cbr.hook(lambda: [thing]))
    return module


def made(rows: list[tuple[float, float, float, int]]) -> tuple:
    table = np.array(rows, np.float64)
    ids = np.arange(1, len(rows) + 1)
    values = table[:, :3].astype(np.float32)
    return group(TYPE, "", values, table[:, 3].astype(int), np.full(len(rows), np.nan), ids)


def by_definition(rows, target, weights, above, cap, fallback) -> dict[tuple, float]:
    """Share of each distinct vector: design.md read aloud, in plain Python."""
    spans = [4.0, 4.0, 1.0]
    count: dict[tuple, int] = {}
    for row in rows:
        key = tuple(float(np.float32(v)) for v in row[:3])
        count[key] = count.get(key, 0) + 1
    scored = []
    for key in sorted(count):
        total = 0.0
        for w, a, b, span in zip(weights, target, key, spans, strict=True):
            total += w * max(0.0, 1.0 - abs(float(np.float32(a)) - b) / span)
        scored.append((total / sum(weights), key))
    inside = [(s, k) for s, k in scored if s > above - 1e-6]
    chosen, room = (inside, cap) if inside else (scored, fallback)
    groups: dict[int, list[tuple]] = {}
    for similarity, key in chosen:
        groups.setdefault(round(similarity * 1e6), []).append(key)
    shares: dict[tuple, float] = {}
    for rounded in sorted(groups, reverse=True):
        size = sum(count[key] for key in groups[rounded])
        part = min(1.0, room / size)
        if part <= 0:
            break
        shares |= dict.fromkeys(groups[rounded], part)
        room -= size
    return shares


cell = st.tuples(
    st.integers(0, 4), st.integers(0, 4), st.sampled_from([0, 0.1, 0.5, 0.97, 1]), st.integers(0, 2)
)


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@example([(0, 0, 0, 0), (0, 0, 0.1, 0)], (0, 0, 0, 0), (0.0, 0.0, 1.0), 0.9, 2, 1, True)
@given(
    rows=st.lists(cell, min_size=1, max_size=60),
    target=cell,
    weights=st.tuples(*[st.sampled_from([0.0, 1.0, 5.0, 80.0])] * 3).filter(any),
    above=st.sampled_from([0.0, 0.5, 0.9, 0.97, 1.0]),
    cap=st.integers(1, 30),
    fallback=st.integers(1, 10),
    tree=st.booleans(),
)
def test_the_retrieved_set_is_as_defined(rows, target, weights, above, cap, fallback, tree) -> None:
    policy = default_plugins().get("retrieval policy", "threshold")
    spec = Spec("threshold", {"above": above, "cap": cap, "fallback": fallback})
    linear = Similarity("linear", lambda a, b, span: max(0.0, 1.0 - abs(a - b) / span))
    measures = [linear.bind(f, Spec("linear", {"span": f.range[1]})) for f in FEATURES]
    vectors = made(rows)
    index = TreeIndex(vectors, measures) if tree else Scan(vectors)
    mine = Retriever(vectors, measures, np.array(weights), policy.bind(spec), index)
    got = mine(dict(zip("xyz", target[:3], strict=True)))
    found = {
        tuple(mine.vectors.values[n].tolist()): share
        for n, share in zip(got.number, got.share, strict=True)
    }
    expected = by_definition(rows, target[:3], weights, above, cap, fallback)
    assert found == pytest.approx(expected)
    assert got.cases == pytest.approx(
        sum(s * mine.vectors.cases[n] for n, s in zip(got.number, got.share, strict=True))
    )
    order = list(zip(-np.rint(got.similarity * 1e6), got.number, strict=True))
    assert order == sorted(order)


@pytest.fixture
def small(tmp_path: Path):
    with small_casebase(tmp_path) as base:
        yield base


def taken(base, x: float, **options) -> list[tuple[float, float]]:
    got = retrieve(base, "small", {"x": x}, **options)
    values = got.vectors.values[got.number, 0].tolist()
    return [(v, round(float(s), 4)) for v, s in zip(values, got.share, strict=True)]


def test_policies(small) -> None:
    assert taken(small, 5, policy="top?k=3") == [(5, 1), (4, 1), (6, 1)]
    assert taken(small, 5, policy="top?k=2") == [(5, 1), (4, 0.5), (6, 0.5)]
    assert taken(small, 2, policy="top?k=1") == [(2, 0.5)]  # two cases share the one place
    assert taken(small, 5, policy="radius?above=0.9") == [(5, 1), (4, 1), (6, 1)]
    assert taken(small, 7, policy="radius?above=1") == []
    assert taken(small, 7, policy="threshold?above=1&fallback=2") == [(6, 1), (8, 1)]
    assert taken(small, 5, policy="threshold?above=0.8&cap=2") == [(5, 1), (4, 0.5), (6, 0.5)]


def test_a_similarity_at_the_threshold_is_in(tmp_path: Path) -> None:
    """0.97 from float32 features is not quite 0.97; the tolerance makes it in."""
    thing = CaseType("thing", [Feature("x", range=(0, 1))], ["a"])
    with Casebase.create(tmp_path / "t.db", [thing]) as base:
        with base.transaction():
            base.add("thing", {"x": [0.33, 0.3301]}, ["a", "a"], [None] * 2, [None] * 2, [0, 1])
        got = retrieve(base, "thing", {"x": 0.3}, policy="radius?above=0.97")
        assert got.similarity[0] != 0.97
        assert got.vectors.values[got.number].tolist() == [[np.float32(0.33)]]


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        (dict(policy="topp"), NoSuchName, "did you mean 'top'"),
        (dict(policy="top?j=3"), NoSuchName, "parameter of 'top'"),
        (dict(policy="top?k=many"), BadValue, "not a number"),
        (dict(weights={"x": 0}), BadWeights, "all weights"),
        (dict(weights={"x": -1}), BadWeights, "0 or more"),
        (dict(weights={"x": float("nan")}), BadWeights, "finite"),
        (dict(weights={"x": "much"}), BadWeights, "not a number"),
        (dict(weights={"q": 1}), NoSuchName, "'q'"),
        (dict(weights="nowhere.json"), BadWeights, "nowhere.json"),
        (dict(similarity={"q": "linear"}), NoSuchName, "'q'"),
        (dict(similarity={"x": "liner"}), BadValue, "feature 'x': .* did you mean 'linear'"),
        (dict(index="exact?m=3"), NoSuchName, "parameter of 'exact'"),
        (dict(policy="top?k=2.5"), BadValue, "whole number"),
        (dict(policy="threshold?above=inf"), BadValue, "finite"),
        (dict(index="exakt"), NoSuchName, "did you mean 'exact'"),
    ],
)
def test_what_makes_no_sense_is_refused(small, options, error, says: str) -> None:
    with pytest.raises(error, match=says):
        retriever_of(small, "small", **options)


@pytest.mark.parametrize("policy", ["top?k=0", "top?k=-3", "threshold?above=0.1&cap=0"])
def test_nothing_is_no_number_of_cases(small, policy: str) -> None:
    with pytest.raises(BadValue, match="it must be 1 or more"):
        retrieve(small, "small", {"x": 1}, policy=policy)


def test_a_target_must_say_something(small) -> None:
    with pytest.raises(BadValue, match="give one of x"):
        retrieve(small, "small", {})
    with pytest.raises(NoSuchName, match="'q'"):
        retrieve(small, "small", {"q": 1})
    with pytest.raises(BadValue, match="finite"):
        retrieve(small, "small", {"x": "nan"})


def test_a_feature_not_given_does_not_count(cars) -> None:
    got = retrieve(cars, "car", {"age": 5}, policy="top?k=1")
    assert got.similarity[0] == 1.0
    assert np.isnan(got.local()[0]).sum() == 5


def test_an_index_proposes_and_the_engine_scores(small, plugins: Plugins) -> None:
    asked = []

    class Few:
        def __init__(self, vectors, measures, many=2):
            self.many = many
            assert [bound.measure.name for bound in measures] == ["linear"]

        def candidates(self, targets, weights, reach):
            asked.append((targets.tolist(), weights.tolist(), reach))
            return [np.array([7, 1, 0, 1, 0])[-self.many :] for _ in targets]

    plugins.add(given_by("cbr_indices", IndexKind("few", Few)), "few")
    got = retrieve(small, "small", {"x": 1.0}, index="few", policy="top?k=5", plugins=plugins)
    assert got.number.tolist() == [1, 0]
    assert got.similarity.tolist() == [1.0, 0.9]
    assert asked == [([[1.0]], [[1.0]], Reach(2.0, fallback=5))]
    got = retrieve(
        small, "small", {"x": 1.0}, index="few?many=5", policy="top?k=9", plugins=plugins
    )
    assert got.number.tolist() == [1, 0, 7]
    assert got.similarity.tolist() == pytest.approx([1.0, 0.9, 0.2])


def test_all_candidates_in_any_order_keep_their_scores(small, plugins: Plugins) -> None:
    """As FAISS would propose them: nearest first, or not sorted at all."""

    class Backwards:
        def __init__(self, vectors, measures):
            self.count = len(vectors)

        def candidates(self, targets, weights, reach):
            return [np.arange(self.count)[::-1] for _ in targets]

    plugins.add(given_by("cbr_indices", IndexKind("backwards", Backwards)), "backwards")
    options = dict(policy="radius?above=0", plugins=plugins)
    for x in (0.0, 3.0, 9.0):
        same = retrieve(small, "small", {"x": x}, **options)
        got = retrieve(small, "small", {"x": x}, index="backwards", **options)
        assert got.number.tolist() == same.number.tolist()
        assert got.similarity.tolist() == same.similarity.tolist()


@pytest.mark.parametrize("number", [-1, 8])
def test_an_index_that_proposes_nonsense_is_named(small, plugins: Plugins, number: int) -> None:
    class Odd:
        def __init__(self, vectors, measures): ...

        def candidates(self, targets, weights, reach):
            return [[0, number]]

    plugins.add(given_by("cbr_indices", IndexKind("odd", Odd)), "odd")
    with pytest.raises(PluginFailure, match=f"proposes vector {number}; there are 0 to 7"):
        retrieve(small, "small", {"x": 1.0}, index="odd", plugins=plugins)


@pytest.mark.parametrize("name", ["threshold", "top", "radius"])
def test_built_in_retrieval_policies_conform(name: str) -> None:
    check_retrieval_policy(default_plugins().get("retrieval policy", name).function)


def test_a_policy_whose_reach_hides_cases_is_found() -> None:
    from cbr.retrieval.policies import retrieval_policy

    @retrieval_policy("blind", reach=lambda: Reach(2.0, fallback=1))
    def blind(ranking):
        return np.ones(len(ranking))

    with pytest.raises(AssertionError, match="reach is too short"):
        check_retrieval_policy(blind)


@pytest.mark.parametrize("shares", [[1.0], [2.0] * 8, [float("nan")] * 8])
def test_a_policy_must_give_shares(small, shares) -> None:
    from cbr.retrieval.policies import RetrievalPolicy

    mine = retriever_of(small, "small")
    mine.policy = RetrievalPolicy("odd", lambda ranking: np.array(shares))
    with pytest.raises(PluginFailure, match="'odd' must return a share"):
        mine({"x": 1})


class TestReuse:
    def probabilities(self, base, x: float, reuse_policy: str, **options) -> dict[str, float]:
        got = retrieve(base, "small", {"x": x}, policy=options.pop("policy", "top?k=4"))
        found = reuse(got, reuse_policy, **options).probabilities
        return {name: round(p, 4) for name, p in found.items() if p}

    def test_proportional(self, small) -> None:
        assert self.probabilities(small, 2, "proportional") == {"low": 0.625, "middle": 0.375}

    def test_majority(self, small) -> None:
        assert self.probabilities(small, 2, "majority") == {"low": 1.0}

    def test_similarity_weighted(self, small) -> None:
        low = 1.0 + 0.9 + 0.8 / 2
        middle = 1.0 + 0.8 / 2
        found = self.probabilities(small, 2, "similarity-weighted")
        assert found == {
            "low": round(low / (low + middle), 4),
            "middle": round(middle / (low + middle), 4),
        }

    def test_best_outcome(self, small) -> None:
        assert self.probabilities(small, 2, "best-outcome") == {"middle": 1.0}

    def test_only_what_is_allowed(self, small) -> None:
        for policy in ("proportional", "majority", "best-outcome", "similarity-weighted"):
            assert self.probabilities(small, 2, policy, allowed=["low"]) == {"low": 1.0}
        assert self.probabilities(small, 2, "majority", allowed=["high"]) == {"high": 1.0}
        with pytest.raises(NoSuchName, match="'hih'; did you mean 'high'"):
            self.probabilities(small, 2, "majority", allowed=["hih"])

    def test_a_tie_goes_to_the_better_outcome_and_is_said(self, small) -> None:
        def at_two():
            return reuse(retrieve(small, "small", {"x": 2}, policy="radius?above=1"), "majority")

        assert (at_two().solution, at_two().probabilities["low"]) == ("low", 0.5)
        assert at_two().reason.endswith("tied with middle")
        with small.transaction():
            small.db.execute("UPDATE cases_small SET outcome = 9 WHERE id = 4")
        assert at_two().solution == "middle"

    def test_nothing_retrieved_is_said(self, small) -> None:
        with pytest.raises(EmptyStage, match="no case was retrieved"):
            self.probabilities(small, 7, "majority", policy="radius?above=1")

    def test_outcomes_must_be_known(self, small) -> None:
        with small.transaction():
            small.db.execute("UPDATE cases_small SET outcome = NULL")
        with pytest.raises(BadValue, match="no case has a known outcome"):
            self.probabilities(small, 2, "best-outcome")

    def test_a_draw_follows_the_probabilities(self, small) -> None:
        got = reuse(retrieve(small, "small", {"x": 2}, policy="top?k=4"), "proportional")
        rng = np.random.default_rng(5)
        drawn = [got.draw(rng) for _ in range(4000)]
        assert drawn.count("low") / 4000 == pytest.approx(0.625, abs=0.03)

    @pytest.mark.parametrize(
        "name", ["proportional", "majority", "similarity-weighted", "best-outcome"]
    )
    def test_built_in_policies_conform(self, name: str) -> None:
        check_reuse_policy(default_plugins().get("reuse policy", name).function)

    @pytest.mark.parametrize("scores", [[1.0], [-1, 1, 1], [float("nan"), 1, 1], [0, 0, 0]])
    def test_a_policy_must_give_scores(self, small, plugins: Plugins, scores) -> None:
        from cbr.reusing.proposal import ReusePolicy

        odd = ReusePolicy("odd", lambda retrieved: scores)
        plugins.add(given_by("cbr_reuse_policies", odd), "odd")
        with pytest.raises(PluginFailure, match="'odd'"):
            reuse(retrieve(small, "small", {"x": 2}), "odd", plugins=plugins)
