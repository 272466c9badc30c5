"""Features and case types say what they mean, and refuse what makes no sense."""

from __future__ import annotations

import pytest

from cbr.case import CaseType, ExtraFeature, Feature
from cbr.errors import BadValue, CbrError, NoSuchName
from cbr.store.feature_choice import choose_features

X = Feature("x", range=(0, 10))
COLOUR = Feature("colour", values=("red", "blue"))
NOTE = Feature("note", indexed=False)
TYPE = CaseType("thing", [X, COLOUR, NOTE], ["a", "b"], feature_set="plain")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (dict(name="Big"), "lower-case"),
        (dict(name="id"), "none of"),
        (dict(name="x", range=(3, 3)), "low < high"),
        (dict(name="x", range=(0, float("inf"))), "finite"),
        (dict(name="x", range=(0, 1), values=("a",)), "give one"),
        (dict(name="x", values=("a", "a")), "must be distinct"),
        (dict(name="x"), "text"),
        (dict(name="x", range=(0, 1), weight=-1), "0 or more"),
        (dict(name="x", range=(0, 1), weight=float("nan")), "0 or more"),
    ],
)
def test_a_feature_that_makes_no_sense_is_refused(wrong: dict, says: str) -> None:
    with pytest.raises(BadValue, match=says):
        Feature(**wrong)


def test_values_are_read_as_the_feature_holds_them() -> None:
    assert X.read("4.5") == 4.5
    assert X.read("12") == 12  # outside the range: kept as it is
    assert COLOUR.read("red") == "red"
    assert NOTE.read(7) == "7"
    for feature, value in [(X, "much"), (X, "nan"), (X, "1e39"), (X, None), (COLOUR, "green")]:
        with pytest.raises(BadValue, match=feature.name):
            feature.read(value)


@pytest.mark.parametrize("feature", [X, COLOUR])
def test_codes_stand_for_values(feature: Feature) -> None:
    value = feature.values[1] if feature.values else 4.0
    assert feature.decode(feature.encode(value)) == value


def test_measures_have_defaults_by_kind() -> None:
    assert (X.similarity, COLOUR.similarity, NOTE.similarity) == ("linear", "equal", "")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (dict(name="Car"), "domain"),
        (dict(name="a/b/c"), "domain"),
        (dict(features=[X, X]), "twice"),
        (dict(features=[NOTE]), "no indexed"),
        (dict(solutions=[]), "solutions"),
        (dict(solutions=["a", "a"]), "solutions"),
        (dict(record="a b"), "record name"),
    ],
)
def test_a_case_type_that_makes_no_sense_is_refused(wrong: dict, says: str) -> None:
    with pytest.raises(BadValue, match=says):
        CaseType(**{"name": "thing", "features": [X], "solutions": ["a"]} | wrong)


def test_a_name_gives_domain_and_stage() -> None:
    flop = CaseType("hold-em/flop", [X], ["a"])
    assert (flop.domain, flop.stage) == ("hold-em", "flop")
    assert (TYPE.domain, TYPE.stage) == ("thing", "thing")


def test_a_case_type_survives_json() -> None:
    assert CaseType.from_json(TYPE.to_json()) == TYPE


def test_features_can_be_added_replaced_and_left_out() -> None:
    y = ExtraFeature(Feature("y", range=(0, 1)), "thing")
    better = ExtraFeature(Feature("better_x", range=(0, 1)), "thing", replaces="x")
    other = ExtraFeature(Feature("z", range=(0, 1)), "elsewhere")

    def names(wish: str) -> list[str]:
        [chosen] = choose_features([TYPE], wish, [y, better, other])
        return [feature.name for feature in chosen.features]

    assert names("") == names("plain") == ["x", "colour", "note"]
    assert names("plain,+y") == ["x", "colour", "note", "y"]
    assert names("+better_x,-note") == ["better_x", "colour"]
    assert names("+better_x,+better_x") == ["better_x", "colour", "note"]
    for wish, says in [
        ("plane", "feature set 'plane'"),
        ("+q", "extra feature 'q'"),
        ("-q", "no feature 'q'"),
        ("+z", "is for case type elsewhere"),
    ]:
        with pytest.raises(CbrError, match=says):
            names(wish)


def test_names_that_are_nearly_right_get_a_hint() -> None:
    with pytest.raises(NoSuchName, match="did you mean 'colour'"):
        TYPE.feature("color")
