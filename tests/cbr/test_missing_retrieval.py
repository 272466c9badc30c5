"""Retrieval from cases that lack values: every way of it, against the definition in Python."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbr.case import CaseType, Feature
from cbr.plugging.plugins import default_plugins
from cbr.retrieval.index import tree
from cbr.retrieval.index.faiss import FaissIndex, SearchEffort, build_faiss
from cbr.retrieval.index.tree import TreeIndex
from cbr.retrieval.ranking import millionths
from cbr.retrieval.retriever import Retriever, retriever_of
from cbr.retrieval.scoring import Scorer
from cbr.store.arrays import Vectors, group

RULES = ("ignore", "unlike", "expected")
NAN = math.nan
FEATURES = [
    Feature("x", range=(0, 4), missing="ignore"),
    Feature("y", range=(0, 40), missing="expected"),
    Feature("z", values=("a", "b", "c"), missing="unlike"),
]
TYPE = CaseType("gappy", FEATURES, ["no", "yes"])


class _Base:
    """As much of a casebase as a retriever needs."""

    def __init__(self, vectors: Vectors) -> None:
        self.made = vectors

    def stage(self, _: str | None) -> str:
        return "gappy"

    def vectors(self, _: str) -> Vectors:
        return self.made


def made(rows: list[tuple[float | None, ...]]) -> Vectors:
    values = np.array([[NAN if v is None else v for v in row] for row in rows], np.float32)
    count = len(rows)
    solution = np.arange(count) % 2
    return group(TYPE, "", values, solution, np.full(count, NAN), np.arange(1, count + 1))


def retriever(vectors: Vectors, rules: dict[str, str], weights: str, policy: str) -> Retriever:
    options = {"weights": weights, "policy": policy, "missing": rules, "index": "scan"}
    return retriever_of(_Base(vectors), **options)  # type: ignore[arg-type]


def local(place: int, one: float, two: float) -> float:
    if place == 2:
        return float(one == two)
    return max(0.0, 1.0 - abs(one - two) / (4.0, 40.0)[place])


def by_definition(rows, target, weights, rules) -> list[float]:
    """The similarity of each row to a target, read aloud."""
    rows = [[None if v is None else float(np.float32(v)) for v in row] for row in rows]
    found = []
    for row in rows:
        total = weight = 0.0
        for place, (asked, value) in enumerate(zip(target, row, strict=True)):
            if asked is None or not weights[place]:
                continue
            if value is not None:
                here = local(place, asked, value)
            elif rules[place] == "ignore":
                continue
            elif rules[place] == "unlike":
                here = 0.0
            else:
                known = [r[place] for r in rows if r[place] is not None]
                here = sum(local(place, asked, v) for v in known) / len(known) if known else 0.0
            total += weights[place] * here
            weight += weights[place]
        found.append(total / weight if weight else 0.0)
    return found


@pytest.fixture(autouse=True, scope="module")
def _spans() -> Iterator[None]:
    """Trees divide features with more than three values into spans, and are left after the first of
    several targets."""
    default_plugins()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "_DISTINCT", 3)
        patch.setattr(tree, "_SPANS", 3)
        patch.setattr(tree, "_TRIED", 1)
        patch.setattr(tree, "_MET", -1.0)
        yield


number = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 2.0, 3.5, 4.0]))
other = st.one_of(st.none(), st.sampled_from([0.0, 10.0, 11.0, 12.5, 30.0, 40.0]))
word = st.one_of(st.none(), st.sampled_from([0, 1, 2]))
row = st.tuples(number, other, word)


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(row, min_size=1, max_size=25),
    target=row,
    weights=st.tuples(*(st.sampled_from([0.0, 1.0, 2.5]) for _ in range(3))).filter(any),
    rules=st.tuples(*(st.sampled_from(RULES) for _ in range(3))),
    policy=st.sampled_from(
        ["top?k=3", "radius?above=0.6", "threshold?above=0.8&cap=4&fallback=2", "top?k=100"]
    ),
)
def test_every_way_of_retrieving_is_the_definition(rows, target, weights, rules, policy) -> None:
    vectors = made(rows)
    named = {f.name: rule for f, rule in zip(FEATURES, rules, strict=True)}
    told = ",".join(f"{f.name}={w}" for f, w in zip(FEATURES, weights, strict=True))
    scan = retriever(vectors, named, told, policy)
    codes = np.array([[NAN if v is None else v for v in target]], np.float32)
    everything = np.arange(len(vectors))
    scored = scan.score(codes[0], scan.weights, everything)
    # Against the definition, vector by vector.
    wanted = by_definition(rows, target, weights, rules)
    keys = [tuple(NAN if v is None else np.float32(v) for v in row) for row in rows]
    of_row = [_place(vectors, key) for key in keys]
    np.testing.assert_allclose(scored[of_row], wanted, rtol=0, atol=1e-12)
    # Every other way, bit for bit.
    one = scan.many(codes)
    for index in _indices(scan):
        two = Retriever(vectors, scan.measures, scan.weights, scan.policy, index).many(codes)
        for part in ("start", "number", "similarity"):
            assert getattr(one, part).tolist() == getattr(two, part).tolist()
        assert one.share.tolist() == pytest.approx(two.share.tolist(), abs=1e-9)
    # The first target by the tree, the others without it.
    index = TreeIndex(vectors, scan.measures)
    three = Retriever(vectors, scan.measures, scan.weights, scan.policy, index)
    found = three.many(np.tile(codes, (3, 1)))
    for part in ("number", "similarity"):
        assert getattr(found, part).tolist() == 3 * getattr(one, part).tolist()
    if one.weights.any():
        some = one.number
        pairs = Scorer(vectors, scan.measures).pairs(
            one.codes, one.weights, np.zeros_like(some), some
        )
        assert pairs.tolist() == scored[some].tolist()
    level = millionths(one.similarity)
    assert (level[:-1] >= level[1:]).all()


def _place(vectors: Vectors, key: tuple[float, ...]) -> int:
    same = (vectors.values == np.array(key)) | (np.isnan(vectors.values) & np.isnan(key))
    return int(np.flatnonzero(same.all(axis=1))[0])


def _indices(scan: Retriever) -> Iterator[object]:
    yield TreeIndex(scan.vectors, scan.measures)
    built = build_faiss("faiss-flat", scan.vectors, scan.measures, {})
    yield FaissIndex(scan.vectors, scan.measures, built, SearchEffort(fetch=1))
