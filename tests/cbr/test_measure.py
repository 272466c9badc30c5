"""A plain function is enough: the engine evaluates, checks and compiles it."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import cbr
from cbr import measure
from cbr.case import Feature
from cbr.errors import BadValue, CbrError, PluginFailure
from cbr.measure import Similarity
from cbr.spec import Spec
from cbr.testing import check_similarity

X = Feature("x", range=(0, 10))
COLOUR = Feature("colour", values=("red", "blue"))


def near(a, b, *, reach=cbr.FEATURE_SPAN, power=1):
    return max(0.0, 1.0 - (abs(a - b) / reach) ** power)


def test_parameters_come_from_the_spec_the_feature_and_the_defaults() -> None:
    near_ = Similarity("near", near)
    assert near_.bind(X).parameters == {"reach": 10.0, "power": 1}
    assert near_.bind(X, Spec.parse("near?reach=4&power=2")).parameters == {"reach": 4, "power": 2}
    with pytest.raises(CbrError, match="'rich'; did you mean 'reach'"):
        near_.bind(X, Spec.parse("near?rich=4"))
    with pytest.raises(BadValue, match="not a number"):
        near_.bind(X, Spec.parse("near?power=much"))
    with pytest.raises(BadValue, match="'colour' does not have"):
        near_.bind(COLOUR)
    needy = Similarity("needy", lambda a, b, k: 1.0)
    with pytest.raises(BadValue, match=r"needs 'k': write needy\?k=VALUE"):
        needy.bind(X)


def listed(feature, cuts, scale=2.0):
    if not feature.is_number:
        raise BadValue("cuts are numbers")
    return {"cuts": tuple(float(cut) for cut in str(cuts).split("/"))}


def cut(a, b, cuts, scale=2.0):
    apart = 0
    for c in cuts:
        apart += (a >= c) != (b >= c)
    return 1.0 / (1.0 + scale * apart)


def test_parameters_can_be_prepared_and_still_be_compiled() -> None:
    made = Similarity("cut", cut, prepare=listed)
    bound = made.bind(X, Spec.parse("cut?cuts=1/5"))
    assert bound.parameters == {"cuts": "1/5", "scale": 2.0}
    assert bound.prepared == {"cuts": (1.0, 5.0), "scale": 2.0}
    assert bound.settled() == ((1.0, 5.0), 2.0)
    codes = np.arange(8, dtype=np.float32)
    assert bound.compile(codes, codes) is not None
    assert bound.one(0, 7) == 1 / 5
    with pytest.raises(BadValue, match="similarity 'cut' of feature 'colour': cuts are numbers"):
        made.bind(COLOUR, Spec.parse("cut?cuts=1"))
    with pytest.raises(PluginFailure, match="similarity 'cut' of feature 'x' failed: ValueError"):
        made.bind(X, Spec.parse("cut?cuts=much"))


@pytest.mark.long
@pytest.mark.parametrize("worth", [0, 10**9])
@pytest.mark.parametrize("spec", ["near", "near?reach=3", "near?power=2"])
def test_compiled_and_interpreted_agree(
    monkeypatch: pytest.MonkeyPatch, worth: int, spec: str
) -> None:
    monkeypatch.setattr(measure, "_WORTH_COMPILING", worth)
    bound = Similarity("near", near).bind(X, Spec.parse(spec))
    a = np.linspace(0, 10, 7, dtype=np.float32)
    b = np.linspace(-2, 12, 50, dtype=np.float32)
    grid = bound.grid(a, b)
    assert (bound._compiled is not None) == (worth == 0)
    expected = [[near(x, y, **bound.parameters) for y in b.tolist()] for x in a.tolist()]
    assert grid.tolist() == expected


def test_what_numba_cannot_compile_is_evaluated_with_a_notice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measure, "_WORTH_COMPILING", 0)
    odd = {0.0: 0.5}
    bound = Similarity("odd", lambda a, b: odd.get(abs(a - b) - 1, float(a == b))).bind(X)
    values = np.arange(3, dtype=np.float32)
    with pytest.warns(UserWarning, match="'odd' is evaluated in Python"):
        grid = bound.grid(values, values)
    assert grid.tolist() == [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bound.grid(values, values)  # said once


def test_a_compiled_measure_that_disagrees_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "_WORTH_COMPILING", 0)
    real = measure._loops

    def wrong(function):
        loops = real(function)

        def off(a, b, parameters, out):
            loops.grid(a, b, parameters, out)
            out *= 0.5

        return loops._replace(grid=off)

    monkeypatch.setattr(measure, "_loops", wrong)
    bound = Similarity("near", near).bind(X)
    values = np.arange(3, dtype=np.float32)
    with pytest.warns(UserWarning, match="other values"):
        assert bound.grid(values, values)[0, 0] == 1.0


@pytest.mark.parametrize("worth", [0, 10**9])
@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda a, b: 1.0 - abs(a - b), "between 0 and 1"),
        (lambda a, b: 1.0 + abs(a - b), "between 0 and 1"),
        (lambda a, b: math.nan if a != b else 1.0, "between 0 and 1"),
        (lambda a, b: 1 / (a - b), "ZeroDivisionError"),
        (lambda a, b: "alike", "ValueError"),
    ],
)
def test_a_bad_measure_is_named(
    monkeypatch: pytest.MonkeyPatch, worth: int, function, says: str
) -> None:
    monkeypatch.setattr(measure, "_WORTH_COMPILING", worth)
    bound = Similarity("bad", function).bind(X)
    values = np.arange(4, dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(PluginFailure, match=f"'bad'.*{says}"):
            bound.grid(values, values)


def test_categories_are_compared_by_their_words() -> None:
    seen = []

    def words(a, b):
        seen.append((a, b))
        return float(a == b)

    grid = (
        Similarity("words", words)
        .bind(COLOUR)
        .grid(np.array([0, 1], np.float32), np.array([1], np.float32))
    )
    assert grid.tolist() == [[0.0], [1.0]]
    assert seen == [("red", "blue"), ("blue", "blue")]


class TestConformanceCheck:
    """`check_similarity` passes what is right and names what is wrong."""

    def test_good_ones_pass(self) -> None:
        check_similarity(near)
        check_similarity(near, power=2)
        check_similarity(lambda a, b: float(a == b), ["red", "blue"])
        check_similarity(lambda a, b: 1.0 if b <= a else 0.5, symmetric=False)

    @pytest.mark.parametrize(
        ("function", "says"),
        [
            (lambda a, b: 0.9, "like itself"),
            (lambda a, b: 1.0 if b <= a else 0.5, "symmetric"),
            (lambda a, b: 1.0 - abs(a - b), "between 0 and 1"),
            (lambda a, b: math.nan if a != b else 1.0, "between 0 and 1"),
            (lambda a, b: 1 / 0, "ZeroDivisionError"),
        ],
    )
    def test_bad_ones_are_named(self, function, says: str) -> None:
        with pytest.raises(AssertionError, match=says):
            check_similarity(function)

    def test_the_batched_path_is_checked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        real = measure.Bound.grid
        monkeypatch.setattr(measure.Bound, "grid", lambda *given: real(*given) * 0.9)
        with pytest.raises(AssertionError, match="batched"):
            check_similarity(near)
