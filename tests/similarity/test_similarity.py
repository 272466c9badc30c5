"""The measures that ship: each conforms, and gives the values one can work out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cbr_similarity as measures
from cbr.case import Feature
from cbr.errors import BadValue
from cbr.measure import Similarity
from cbr.spec import Spec
from cbr.testing import NUMBERS, check_similarity

ALL = {f.__cbr__.name: f for f in vars(measures).values() if hasattr(f, "__cbr__")}
X = Feature("x", range=(0, 10))
COLOUR = Feature("colour", values=("red", "pink", "orange", "off-white", "sky blue"))

OF_NUMBERS = [
    *("equal", "linear", "linear?span=3", "exponential", "exponential?k=0", "exponential?k=4"),
    *("ranged-exponential", "ranged-exponential?k=1&span=2", "within?reach=2", "within?reach=0"),
    *("groups?cuts=3/5/8", "groups?cuts=4", "cyclic?span=12", "cyclic?span=10.5", "logarithmic"),
    *("logarithmic?span=2", "ratio", "ratio?reach=1.1", "at-most", "at-most?span=2", "at-least"),
    *("at-least?span=0.5", "asymmetric", "asymmetric?below=2&above=5", "asymmetric?below=0"),
    *("asymmetric?below=0&above=0", "asymmetric?above=0.1", "sigmoid?reach=3&width=0.5"),
    *("sigmoid?reach=0.1&width=9", "sigmoid?reach=9&width=0.001", "step?at=1/3&worth=0.8/0.5"),
    *("step?at=1/3/6&worth=0.8/0.5", "step?at=2&worth=0.5", "step?at=0.5/1&worth=1"),
    *("table?pairs=1~2:0.5/2~3:0.25", "table?pairs=0.25~10:1&otherwise=0.1"),
    "table?pairs=-1~9.99:0.3/ 5 ~ 7 : 1e-1 ",
]
OF_WORDS = [
    *("equal", "ordered", "ordered?order=pink/red/off-white/orange/sky blue"),
    *("table?pairs=red~pink:0.7", "table?pairs=red~pink:0.7/off-white~sky blue:0.3&otherwise=0.1"),
]


def parsed(text: str):
    spec = Spec.parse(text)
    return ALL[spec.name], spec


def compiled(text: str, feature: Feature = X):
    """A measure for the feature, and its compiled loops."""
    measure, spec = parsed(text)
    bound = measure.__cbr__.bind(feature, spec)
    return bound, bound.compile(np.array(NUMBERS, np.float32), np.array(NUMBERS, np.float32))


def test_every_measure_is_checked() -> None:
    assert {Spec.parse(text).name for text in OF_NUMBERS + OF_WORDS} == set(ALL)


@pytest.mark.long
@pytest.mark.parametrize("text", OF_NUMBERS)
def test_it_conforms(text: str) -> None:
    measure, spec = parsed(text)
    check_similarity(measure, **spec.parameters)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("text", OF_NUMBERS)
def test_of_numbers_all_can_be_compiled(text: str) -> None:
    """`compile` compares with what is interpreted, and warns where it cannot."""
    assert compiled(text)[1] is not None


@pytest.mark.parametrize("text", OF_WORDS)
def test_it_conforms_for_words(text: str) -> None:
    measure, spec = parsed(text)
    check_similarity(measure, COLOUR.values, **spec.parameters)


@pytest.mark.parametrize("text", OF_NUMBERS)
def test_what_is_said_to_fall_falls(text: str) -> None:
    measure, spec = parsed(text)
    made: Similarity = measure.__cbr__
    bound = made.bind(X, spec)
    values = sorted({*np.linspace(0, 10, 81).tolist(), *NUMBERS})
    for a in values:
        below = [bound.one(a, b) for b in values if b <= a][::-1]
        above = [bound.one(a, b) for b in values if b >= a]
        if made.falls:
            assert below == sorted(below, reverse=True)
            assert above == sorted(above, reverse=True)


def test_a_table_holds_for_numbers_as_arrays_have_them() -> None:
    """0.1 of a casebase is not quite 0.1."""
    bound, _ = compiled("table?pairs=0.1~0.7:0.5")
    code = np.array([0.1, 0.7], np.float32)
    assert bound.grid(code, code).tolist() == [[1.0, 0.5], [0.5, 1.0]]


def test_names_in_a_table_may_hold_anything_but_its_signs() -> None:
    kind = Feature("kind", values=("n/a", "semi-automatic", "box: big", "x"))
    _, spec = parsed("table?pairs=n/a~semi-automatic:0.5/x~box: big:0.25/n/a~x:1")
    bound = ALL["table"].__cbr__.bind(kind, spec)
    assert bound.one("semi-automatic", "n/a") == 0.5
    assert bound.one("box: big", "x") == 0.25
    assert bound.one("x", "n/a") == 1.0
    assert bound.one("x", "semi-automatic") == 0.0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("linear?span=0", "span is 0; it must be above 0"),
        ("exponential?k=-1", "k is -1; it must be 0 or more"),
        ("ratio?reach=1", "reach is 1; it must be above 1"),
        ("within?reach=far", "reach is 'far', not a number"),
        ("within?reach=true", "reach is True, not a number"),
        ("groups?cuts=3/x", "cuts is 'x', not a number"),
        ("groups?cuts=3/inf", "cuts is 'inf'; it must be finite"),
        ("groups?cuts=5/3", "cuts is '5/3'; its numbers must rise"),
        ("asymmetric?below=-1", "below is -1; it must be 0 or more"),
        ("sigmoid?reach=3&width=0", "width is 0; it must be above 0"),
        ("sigmoid?reach=3", "'sigmoid' needs 'width'"),
        ("step?at=1", "'step' needs 'worth'"),
        ("step?at=0/1&worth=0.5", "its distances must be above 0"),
        ("step?at=3/1&worth=0.5/0.2", "at is '3/1'; its numbers must rise"),
        ("step?at=1/3&worth=0.5/0.2/0.1", "give a worth for each distance, or for each but"),
        ("step?at=1/3&worth=0.5/0.8", "worth is '0.5/0.8'; it may not rise with the distance"),
        ("step?at=1&worth=2", "worth is 2; a similarity is between 0 and 1"),
        ("step?at=1&worth=", "worth is '', not a number"),
        ("table?pairs=1-2:0.5", "write ONE~OTHER:WORTH/ONE~OTHER:WORTH"),
        ("table?pairs=", "pairs is empty"),
        ("table?pairs=1~2:0.5/1~3", "pairs has '1~3'; write ONE~OTHER:WORTH"),
        ("table?pairs=1~2:2", "the worth of 1.0~2.0 is 2; a similarity is between 0 and 1"),
        ("table?pairs=1~2:x", "the worth of 1.0~2.0 is 'x', not a number"),
        ("table?pairs=1~1:0.5", "give two different values"),
        ("table?pairs=1~2:0.5/2~1:0.5", "stands twice in pairs"),
        ("table?pairs=red~2:0.5", "x is 'red', not a number"),
        ("table?pairs=1~2:0.5&otherwise=-1", "otherwise is -1; a similarity is between 0 and 1"),
        ("ordered", "it compares categories; for numbers there is linear"),
    ],
)
def test_wrong_parameters_are_one_sentence(text: str, says: str) -> None:
    measure, spec = parsed(text)
    with pytest.raises(BadValue) as error:
        measure.__cbr__.bind(X, spec)
    assert says in str(error.value)
    assert f"'{spec.name}'" in str(error.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("step?at=1&worth=0", "it compares numbers; for categories there is equal, ordered"),
        ("within?reach=1", "it compares numbers"),
        ("table?pairs=red~pnk:0.5", "colour is 'pnk'; it must be one of red, pink"),
        ("ordered?order=red/pink", "order does not have 'orange'; it must name every value"),
        ("ordered?order=red/pink/orange/off-white/sky blue/red", "order has 'red', which"),
    ],
)
def test_wrong_parameters_for_words_are_one_sentence(text: str, says: str) -> None:
    measure, spec = parsed(text)
    with pytest.raises(BadValue, match=r"^similarity '\w+' of feature 'colour': ") as error:
        measure.__cbr__.bind(COLOUR, spec)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (measures.linear(2, 5, span=6), 0.5),
        (measures.linear(0, 50, span=6), 0.0),
        (measures.exponential(2, 3), math.exp(-1)),
        (measures.exponential(2, 3, k=4), math.exp(-4)),
        (measures.ranged_exponential(1, 3, k=4, span=168), math.exp(-8 / 168)),
        (measures.within(2, 4, reach=2), 1.0),
        (measures.groups(5, 7, cuts=(3, 5, 8)), 1.0),
        (measures.groups(2, 3, cuts=(3, 5, 8)), 0.0),
        (measures.within(2, 4.1, reach=2), 0.0),
        (measures.cyclic(23, 1, span=24), 1 - 2 * 2 / 24),
        (measures.cyclic(0, 12, span=24), 0.0),
        (measures.logarithmic(0, 9, span=9), 0.0),
        (measures.logarithmic(9, 9, span=9), 1.0),
        (measures.ratio(5, 10, reach=4), 0.5),
        (measures.ratio(10, 5, reach=4), 0.5),
        (measures.ratio(0, 5), 0.0),
        (measures.at_most(5, 3, span=10), 1.0),
        (measures.at_most(3, 5, span=10), 0.8),
        (measures.at_least(5, 3, span=10), 0.8),
        (measures.at_least(3, 5, span=10), 1.0),
        (measures.asymmetric(5, 4, below=2, above=5), 0.5),
        (measures.asymmetric(5, 6, below=2, above=5), 0.8),
        (measures.asymmetric(5, 4.999, below=0, above=5), 0.0),
        (measures.sigmoid(0, 3, reach=3, width=1), (1 + math.exp(-3)) / 2),
        (measures.sigmoid(4, 4, reach=3, width=1), 1.0),
        (measures.sigmoid(0, 1e9, reach=3, width=1), 0.0),
        (measures.step(0, 2.9, at=(1, 3), worth=(0.8, 0.5)), 0.8),
        (measures.step(0, 300, at=(1, 3), worth=(0.8, 0.5)), 0.5),
        (measures.table("b", "a", pairs=(("a", "b", 0.4),)), 0.4),
        (measures.ordered("c", "b", order="abcde"), 0.75),
    ],
)
def test_worked_values(found: float, expected: float) -> None:
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("apart", "printed"),
    [(1, 0.9765), (2, 0.9535), (3, 0.9311), (5, 0.8878), (10, 0.7881)],
)
def test_the_printed_values_of_the_ranged_exponential(apart: int, printed: float) -> None:
    """Ranks of 169, as CASPER compares hands before the flop."""
    assert measures.ranged_exponential(1, 1 + apart, k=4, span=168) == pytest.approx(
        printed, abs=5e-5
    )
