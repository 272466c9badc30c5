"""The tree finds what comparing every vector finds, to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cbr import measure
from cbr.case import CaseType, Feature
from cbr.errors import BadValue, BadWeights, PluginFailure
from cbr.measure import Similarity
from cbr.plugging.plugins import default_plugins
from cbr.retrieval.index.base import Scan
from cbr.retrieval.index.tree import TreeIndex
from cbr.retrieval.retrieved import RetrievedMany
from cbr.retrieval.retriever import Retriever
from cbr.spec import Spec
from cbr.store.arrays import Vectors, group

FEATURES = [
    Feature("few", range=(0, 5), weight=10),
    Feature("kind", values=("red", "green", "blue"), weight=5),
    Feature("fine", range=(0, 1), weight=80),
    Feature("hour", range=(0, 24), weight=20),
    Feature("price", range=(0, 9), weight=5),
]
TYPE = CaseType("made", FEATURES, ["x", "y"])
MEASURES = [
    Similarity("linear", lambda a, b: 1.0 - abs(a - b) / 5.0, falls=True),
    Similarity("equal", lambda a, b: 1.0 if a == b else 0.0),
    Similarity("steep", lambda a, b: math.exp(-4.0 * abs(a - b)), falls=True),
    # Rises again with distance, so it cannot be cut into spans.
    Similarity("cyclic", lambda a, b: 1.0 - min(abs(a - b) % 24, 24 - abs(a - b) % 24) / 12.0),
    Similarity("dear", lambda a, b: 1.0 if b <= a else max(0.0, 1.0 - (b - a) / 3.0), falls=True),
]


def draw(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    columns = [
        rng.integers(0, 6, count),
        rng.integers(0, 3, count),
        rng.beta(2, 5, count),
        rng.random(count) * 24,
        rng.integers(0, 10, count),
    ]
    return np.column_stack(columns).astype(np.float32)


def made(count: int, seed: int = 1) -> Vectors:
    values = draw(count, seed)
    values[: count // 3] = values[count // 3 : 2 * (count // 3)]  # some stand twice
    solution = np.random.default_rng(seed).integers(0, 2, count)
    return group(TYPE, "", values, solution, np.full(count, np.nan), np.arange(1, count + 1))


def both(vectors: Vectors, policy: str) -> tuple[Retriever, Retriever]:
    spec = Spec.parse(policy)
    chosen = default_plugins().get("retrieval policy", spec.name).bind(spec)
    bound = [m.bind(f) for m, f in zip(MEASURES, FEATURES, strict=True)]
    weights = np.array([f.weight for f in FEATURES], np.float64)
    indices = (TreeIndex(vectors, bound), Scan(vectors, bound))
    tree, scan = (Retriever(vectors, bound, weights, chosen, index) for index in indices)
    return tree, scan


def assert_same(one: RetrievedMany, two: RetrievedMany) -> None:
    for name in ("start", "number", "similarity", "share"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name


POLICIES = [
    "threshold?above=0.97&cap=100&fallback=20",
    "threshold?above=0.999&cap=3&fallback=40",
    "threshold?above=0.5&cap=7&fallback=1",
    "top?k=1",
    "top?k=33",
    "radius?above=0.9",
    "radius?above=1",
]


@pytest.mark.long
@pytest.mark.parametrize("worth", [0, 10**9])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_as_comparing_every_vector(policy: str, worth: int, monkeypatch) -> None:
    monkeypatch.setattr(measure, "_WORTH_COMPILING", worth)
    tree, scan = both(made(900 if worth else 3_000), policy)
    rng = np.random.default_rng(2)
    codes = np.concatenate([draw(20, 5), tree.vectors.values[:20]])
    codes[0, 2] = 3.0  # far outside
    assert_same(tree.many(codes), scan.many(codes))
    weights = rng.integers(0, 4, codes.shape).astype(np.float64) * [1, 1, 30, 1, 1]
    weights[~weights.any(axis=1), 0] = 1.0
    assert_same(tree.many(codes, weights), scan.many(codes, weights))


def test_one_by_one_is_the_same_as_at_once() -> None:
    tree, _ = both(made(2_000), POLICIES[0])
    codes = draw(10, 3)
    many = tree.many(codes)
    for place, row in enumerate(codes):
        target = {
            feature.name: feature.decode(float(code))
            for feature, code in zip(FEATURES, row, strict=True)
        }
        one = tree(target)
        again = many[place]
        assert one.number.tolist() == again.number.tolist()
        assert one.similarity.tolist() == again.similarity.tolist()
        assert one.taken.tolist() == many.taken[place].tolist()
        assert one.weighted.tolist() == pytest.approx(many.weighted[place].tolist())
        assert dict(again.target) == dict(one.target)


def test_what_is_not_given_does_not_count() -> None:
    tree, scan = both(made(1_500), POLICIES[0])
    codes = draw(6, 4)
    codes[2, 2] = codes[3, :3] = np.nan
    assert_same(tree.many(codes), scan.many(codes))
    assert tree.many(codes)[3].target.keys() == {"hour", "price"}
    # Of which nothing is known, all cases are alike.
    codes[4] = np.nan
    assert_same(tree.many(codes), scan.many(codes))
    assert tree.many(codes)[4].similarity.max() == 0.0
    with pytest.raises(BadWeights, match="all weights of a target are 0"):
        tree.many(codes, np.zeros(5))
    with pytest.raises(BadWeights, match="below 0"):
        tree.many(codes, -np.ones(5))
    with pytest.raises(BadValue, match=r"must be \[q, 5\]"):
        tree.many(codes[:, :3])


def test_nothing_is_asked() -> None:
    tree, scan = both(made(50), POLICIES[0])
    for mine in (tree, scan):
        assert len(mine.many(np.empty((0, 5)))) == 0


@pytest.mark.long
def test_more_than_can_be_held_is_found_in_parts() -> None:
    tree, _ = both(made(3_000), "radius?above=-1")
    codes = draw(2_500, 6)
    many = tree.many(codes)
    assert len(many.number) > 4_000_000  # as many are in hand at a time
    assert np.diff(many.start).tolist() == [len(tree.vectors)] * len(codes)
    assert many[2_499].number.tolist() == tree.many(codes[2_499:])[0].number.tolist()


def test_a_measure_that_does_not_fall_as_said_is_named() -> None:
    wrong = Similarity("wrong", MEASURES[3].function, falls=True)
    measures = [*MEASURES[:3], wrong, MEASURES[4]]
    bound = [m.bind(f) for m, f in zip(measures, FEATURES, strict=True)]
    with pytest.raises(PluginFailure, match="'wrong' is declared to fall with distance, but rises"):
        TreeIndex(made(2_000), bound)


def test_weights_for_each_target() -> None:
    """A batch in which every target has its own weights is the same as one after the other."""
    tree, _ = both(made(2_000), POLICIES[0])
    codes = np.repeat(draw(1, 8), 12, axis=0)
    weights = np.random.default_rng(9).integers(1, 100, codes.shape).astype(np.float64)
    many = tree.many(codes, weights)
    for place in range(len(codes)):
        one = tree.many(codes[place : place + 1], weights[place : place + 1])
        span = slice(many.start[place], many.start[place + 1])
        assert one.number.tolist() == many.number[span].tolist()
        assert one.share.tolist() == many.share[span].tolist()
