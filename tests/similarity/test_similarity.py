"""The measures that ship: each conforms, and gives the values one can work out by hand."""

from __future__ import annotations

import math

import pytest

import cbr_similarity as measures
from cbr.testing import check_similarity

ALL = [f for f in vars(measures).values() if hasattr(f, "__cbr__")]


@pytest.mark.parametrize("measure", ALL, ids=lambda f: f.__cbr__.name)
def test_it_conforms(measure) -> None:
    given = {"within": {"reach": 2.0}, "groups": {"cuts": "3/5/8"}}
    values = [float(v) for v in range(11)]
    if measure is measures.cyclic:
        values = values[:-1]  # the ends of a circle are one point
    check_similarity(measure, values, **given.get(measure.__name__, {}))


def test_words_are_equal_or_not() -> None:
    check_similarity(measures.equal, ["petrol", "diesel"])


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (measures.linear(2, 5, span=6), 0.5),
        (measures.linear(0, 50, span=6), 0.0),
        (measures.exponential(2, 3), math.exp(-1)),
        (measures.exponential(2, 3, k=4), math.exp(-4)),
        (measures.ranged_exponential(1, 3, k=4, span=168), math.exp(-8 / 168)),
        (measures.within(2, 4, reach=2), 1.0),
        (measures.groups(5, 7, cuts="3/5/8"), 1.0),
        (measures.groups(2, 3, cuts="3/5/8"), 0.0),
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
