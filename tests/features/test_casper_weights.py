"""CASPER's weights: the figures that were printed, for the features that its cases have."""

from __future__ import annotations

from pathlib import Path

import pytest

from cbr.plugging.plugins import Plugins
from cbr.store.casebase import Casebase
from cbr.store.definitions import set_weights
from cbr.weights import find_weights, weights_of
from cbr_holdem.situation import SETS, case_types, casper_weights

LIMIT = {case_type.stage: case_type for case_type in case_types() if case_type.domain == "holdem"}

#: Of each set the weights of each street, in the order of the case type's features.
PRINTED = {
    "hand-picked": {
        "preflop": [5, 10, 10, 5, 5, 10, 5, 50],
        "flop": [5, 10, 5, 5, 5, 10, 10, 5, 5, 80, 80, 80],
        "turn": [5, 5, 5, 5, 5, 20, 20, 5, 5, 80, 80, 80],
        "river": [5, 5, 5, 5, 5, 10, 10, 15, 40, 80],
    },
    "general": {
        "preflop": [15, 61, 54, 62, 53, 83, 93, 94],
        "flop": [9, 23, 62, 45, 54, 82, 70, 52, 39, 99, 74, 51],
        "turn": [26, 14, 22, 15, 16, 55, 7, 35, 32, 96, 72, 71],
        "river": [38, 1, 55, 37, 6, 98, 99, 1, 26, 98],
    },
    "opponent": {
        "preflop": [97, 62, 82, 78, 49, 3, 42, 73],
        "flop": [71, 56, 32, 93, 53, 5, 34, 85, 3, 39, 45, 18],
        "turn": [46, 1, 73, 22, 41, 55, 100, 93, 27, 32, 33, 13],
        "river": [36, 7, 6, 4, 79, 94, 98, 55, 52, 69],
    },
}


@pytest.mark.parametrize("street", LIMIT)
@pytest.mark.parametrize("name", SETS)
def test_the_printed_figures(name: str, street: str) -> None:
    assert weights_of(LIMIT[street], name, Plugins().load()) == PRINTED[name][street]


@pytest.mark.parametrize("name", SETS)
def test_a_set_names_every_feature_and_no_other(name: str) -> None:
    stages = casper_weights(name).stages
    assert {street: set(weights) for street, weights in stages.items()} == {
        street: {feature.name for feature in case_type.indexed}
        for street, case_type in LIMIT.items()
    }


def test_the_hand_picked_are_the_default() -> None:
    for street, case_type in LIMIT.items():
        assert weights_of(case_type) == PRINTED["hand-picked"][street]
    assert sum(PRINTED["hand-picked"]["preflop"]) == 100
    assert sum(PRINTED["hand-picked"]["flop"]) == 300


def test_they_say_where_they_come_from() -> None:
    plugins = Plugins().load()
    for name in SETS:
        found = find_weights(name, plugins=plugins)
        assert (found.domain, found.name) == ("holdem", f"holdem.{name}")
        assert "CASPER" in found.provenance["made_by"]


def test_one_becomes_the_default_of_a_casebase(tmp_path: Path) -> None:
    with Casebase.create(tmp_path / "h.db", list(LIMIT.values())) as base:
        assert set_weights(base, "hand-picked") == []
        assert set_weights(base, "opponent") == ["preflop", "flop", "turn", "river"]
        assert weights_of(base.case_type("turn")) == PRINTED["opponent"]["turn"]
