"""Checks for plugin authors: called in a test, each raises AssertionError with an explanation.

check_similarity(my_measure)
check_feature(my_feature, {"price": [4000, 9000]})
check_retrieval_policy(my_policy)
check_reuse_policy(my_policy)
check_arena(my_arena, dimensions=8)
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.case import CaseType, ExtraFeature, Feature, Number, Value
from cbr.errors import CbrError
from cbr.evolve.arena import Arena, Contest
from cbr.marks import marked
from cbr.measure import Bound, Similarity
from cbr.plugging.plugins import default_plugins
from cbr.retrieval.index.base import NearestVectors, Scan
from cbr.retrieval.policies import RetrievalPolicy
from cbr.retrieval.retriever import Retriever
from cbr.reusing.numbers import expected, near_numbers
from cbr.reusing.policies import ReusePolicy
from cbr.spec import Spec
from cbr.store.arrays import Vectors, group
from cbr.store.casebase import Casebase
from cbr.typing import Floats

#: Numbers to test with: whole and fractional, close together and far apart.
NUMBERS: tuple[float, ...] = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.75, 5.0, 7.0, 9.0, 9.99, 10.0)


def check_similarity(
    function: Callable[..., Any],
    values: Sequence[Value] = NUMBERS,
    *,
    symmetric: bool | None = None,
    **parameters: Any,
) -> None:
    """Check that a function is a local similarity: from 0 to 1, 1 for equal values, symmetric
    unless declared otherwise, never NaN, and equal in the engine's batched and compiled forms.

    `values` are values of a feature that it compares (numbers, or the words of a category).
    """
    name = getattr(function, "__name__", "similarity")
    measure = marked(function) or Similarity(name, function)
    assert isinstance(measure, Similarity), f"{name} is marked as something else"
    symmetric = measure.symmetric if symmetric is None else symmetric
    feature = _feature_for(values)
    bound = measure.bind(feature, Spec(measure.name, parameters))
    for a in values:
        _near(_one(bound, a, a), 1.0, f"{measure.name}({a!r}, {a!r}): a value is like itself")
        for b in values:
            found = _one(bound, a, b)
            if symmetric:
                _near(
                    _one(bound, b, a),
                    found,
                    f"{measure.name}({b!r}, {a!r}): it is declared symmetric "
                    f"(declare symmetric=False if it is not)",
                )
    codes = np.array([feature.encode(value) for value in values], np.float32)
    expected = [[_one(bound, feature.decode(a), feature.decode(b)) for b in codes] for a in codes]
    _near_all(bound.grid(codes, codes), expected, f"{measure.name}: the engine's batched values")
    if feature.is_number:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a measure that numba cannot compile is allowed
            compiled = bound.compile(codes, codes)
        if compiled is not None:
            out = np.empty((len(codes), len(codes)))
            numbers = codes.astype(np.float64)
            compiled.grid(numbers, numbers, bound.settled(), out)
            _near_all(out, expected, f"{measure.name}: the engine's compiled values")


def check_feature(function: Callable[..., Any], situations: Mapping[str, Sequence[Any]]) -> None:
    """Check that a marked function returns a valid value for each situation, and the same one
    whether situations are passed alone or together."""
    extra = marked(function)
    assert isinstance(extra, ExtraFeature), "mark the function with @cbr.feature"
    feature: Feature = extra.feature
    columns = {name: np.asarray(column) for name, column in situations.items()}
    count = len(next(iter(columns.values())))
    together = np.asarray(feature.of(columns))
    assert together.shape == (count,), (
        f"feature {feature.name!r} gave shape {together.shape} for {count} situations"
    )
    for place in range(count):
        feature.read(together[place].item())
        alone = np.asarray(feature.of({n: c[place : place + 1] for n, c in columns.items()}))
        assert alone.tolist() == together[place : place + 1].tolist(), (
            f"feature {feature.name!r} returns another value for situation {place} alone"
        )


def check_retrieval_policy(function: Callable[..., Any], **parameters: Any) -> None:
    """Check that a marked function returns a share for each ranked vector, and that its reach
    leaves out no vector that it would retrieve."""
    policy = _policy(function, RetrievalPolicy, parameters)
    everything = RetrievalPolicy(policy.name, policy.function, policy.parameters)
    # 200 vectors that tie in pairs around a target; targets lie among them and far away.
    vectors = _made_vectors([step / 40 for step in range(200)] + [50.0] * 7)
    for x in (0.0, 2.5, 2.51, 5.0, 50.0, 300.0):
        near, same = (_retriever(vectors, p)({"x": x}) for p in (policy, everything))
        assert near.number.tolist() == same.number.tolist(), _short(policy)
        assert near.share.tolist() == same.share.tolist(), _short(policy)


def _short(policy: RetrievalPolicy) -> str:
    return f"policy {policy.name!r} retrieves other cases from a full ranking: reach is too short"


def check_reuse_policy(function: Callable[..., Any], **parameters: Any) -> None:
    """Check that a marked function returns a score of 0 or more for each solution, not all 0; one
    for numbers, that it returns a finite number for each target, the same in any company."""
    policy = _policy(function, ReusePolicy, parameters)
    if policy.numeric:
        _check_number_policy(policy)
        return
    plugins = default_plugins()
    top = plugins.get("retrieval policy", "top").bind(Spec("top", {"k": 4}))
    with tempfile.TemporaryDirectory() as folder, small_casebase(folder) as base:
        retrieved = _retriever(base.vectors("small"), top)({"x": 2.0})
    scores = np.asarray(policy(retrieved), np.float64)
    assert scores.shape == (3,), f"policy {policy.name!r} gave {scores.shape} for 3 solutions"
    assert np.isfinite(scores).all(), f"policy {policy.name!r} gave {scores}"
    assert (scores >= 0).all(), f"policy {policy.name!r} gave {scores}"
    assert scores.any(), f"policy {policy.name!r} gave every solution 0"


def _check_number_policy(policy: ReusePolicy) -> None:
    x = np.array(NUMBERS, np.float32)[:, None]
    case_type = CaseType("made", [Feature("x", range=(0, 50))], solution=Number())
    count, zeros = len(x), np.zeros(len(x), np.int64)
    unknown, numbers = np.full(count, np.nan), np.linspace(-5.0, 20.0, count) ** 2
    vectors = group(case_type, "", x, zeros, unknown, zeros + np.arange(count), None, numbers)
    top = default_plugins().get("retrieval policy", "top").bind(Spec("top", {"k": 4}))
    mine = _retriever(vectors, top)

    def of(codes: NDArray[np.float32]) -> Floats:
        many = mine.many(codes)
        found = NearestVectors(many.start, many.number, many.similarity, many.share)
        return expected(policy, near_numbers(mine, many.codes, many.weights, found)[0])

    together = of(x)
    for place in range(count):
        alone = of(x[place : place + 1])[0]
        assert np.isclose(together[place], alone), (
            f"policy {policy.name!r} gave {alone} for one target, {together[place]} among others"
        )


def check_arena(
    arena: Arena | Contest, dimensions: int, *, rows: int = 3, blocks: int = 4, seed: int = 1
) -> None:
    """Check the contract of an arena: shape, finite and repeatable scores, independent rows and
    blocks.

    For an arena that is opened for a casebase, pass the `Contest` that it returns. If rows play
    each other (`together`), they need not be independent.
    """
    contest = arena if isinstance(arena, Contest) else arena.contest(Path(), Spec(arena.name))
    name = arena.name if isinstance(arena, Arena) else "the contest"
    weights = np.random.default_rng(seed).uniform(0, 100, (rows, dimensions))
    extra = np.array([gene.start for gene in contest.genes])
    if len(extra):
        weights[:, -len(extra) :] = extra
    scores = np.asarray(contest.play(weights, blocks, seed))
    assert scores.shape == (rows, blocks), f"{name} gave {scores.shape}, not ({rows}, {blocks})"
    assert np.isfinite(scores).all(), f"{name} gave a score that is not finite"
    again = np.asarray(contest.play(weights, blocks, seed))
    assert np.array_equal(again, scores), f"{name} returns other scores for the same seed"
    fewer = np.asarray(contest.play(weights, blocks - 1, seed))
    assert np.array_equal(fewer, scores[:, :-1]), f"{name}: a block depends on later ones"
    if contest.supply is not None:
        whole = sum(contest.supply)
        assert whole >= seed + blocks, f"{name} has {whole} blocks, too few for this check"
        later = np.asarray(contest.play(weights, blocks - 1, seed + 1))
        assert np.array_equal(later, scores[:, 1:]), f"{name}: a seed is not the number of a block"
    if not contest.together:
        alone = np.asarray(contest.play(weights[1:2], blocks, seed))
        assert np.array_equal(alone, scores[1:2]), f"{name}: a row depends on the others"


def small_casebase(folder: str | Path) -> Casebase:
    """Nine cases with one feature `x` and solutions low, middle, high, for tests."""
    case_type = CaseType(
        "small",
        [Feature("x", range=(0, 10))],
        ["low", "middle", "high"],
        retrieval="top?k=3",
    )
    base = Casebase.create(Path(folder) / "small.db", [case_type])
    x = [0, 1, 2, 2, 4, 5, 6, 8, 9]
    solution = ["low"] * 3 + ["middle"] * 4 + ["high"] * 2
    with base.transaction():
        base.add("small", {"x": x}, solution, [float(v) for v in x], [None] * 9, range(9))
    return base


def _made_vectors(x: list[float]) -> Vectors:
    case_type = CaseType("made", [Feature("x", range=(0, 50))], ["low", "middle", "high"])
    number = np.arange(len(x))
    values = np.array(x, np.float32)[:, None]
    return group(case_type, "", values, number % 3, number.astype(np.float64), number)


def _retriever(vectors: Vectors, policy: RetrievalPolicy) -> Retriever:
    measure = Similarity("linear", lambda a, b: max(0.0, 1.0 - abs(a - b) / 50))
    measures = [measure.bind(vectors.case_type.indexed[0])]
    return Retriever(vectors, measures, np.ones(1), policy, Scan(vectors))


def _policy(function: Callable[..., Any], kind: type[Any], parameters: Mapping[str, Any]) -> Any:
    policy = marked(function)
    assert isinstance(policy, kind), f"mark the function with @cbr.{kind.kind.replace(' ', '_')}"
    return policy.bind(Spec(policy.name, parameters))


def _feature_for(values: Sequence[Value]) -> Feature:
    numbers = [value for value in values if not isinstance(value, str)]
    if not numbers:
        return Feature("value", values=tuple(str(value) for value in dict.fromkeys(values)))
    assert len(numbers) == len(values), "values must be all numbers or all words"
    low, high = min(numbers), max(numbers)
    return Feature("value", range=(low, high if high > low else low + 1))


def _one(bound: Bound, a: Value, b: Value) -> float:
    try:
        return bound.one(a, b)
    except CbrError as error:
        raise AssertionError(str(error)) from error


def _near(found: float, expected: float, what: str) -> None:
    assert abs(found - expected) <= 1e-9, f"{what}; got {found}, not {expected}"


def _near_all(found: Any, expected: Any, what: str) -> None:
    assert np.allclose(found, expected, rtol=0, atol=1e-12), f"{what} differ from the function's"
