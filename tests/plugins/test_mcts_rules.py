"""Rules of the search and its options."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from cbr import BadValue
from cbr.errors import NoSuchName, PluginFailure
from cbr.marks import marked
from cbr.plugging import default_plugins
from cbr_mcts import SearchBot, SearchOptions, backup_rule, selection_rule
from cbr_mcts.backup import max_distribution, maximum, mean, weighted
from cbr_mcts.selection import puct, ucb1, ucb1_tuned, uct_plus
from cbr_mcts.testing import check_search_rule


def test_selection_rules_are_the_published_formulas():
    assert ucb1(0.5, 9.0, 4.0, 100.0, 0.0, 2.0) == pytest.approx(2.645966, abs=1e-6)
    often = math.log(100) / 4
    bound = min(0.25, 0.04 + math.sqrt(2 * often))
    assert ucb1_tuned(0.5, 0.04, 4.0, 100.0, 0.0, 1.0) == pytest.approx(
        0.5 + math.sqrt(often * bound)
    )
    assert uct_plus(0.5, 9.0, 16.0, 100.0, 0.0, 2.0) == pytest.approx(0.5 + 2 * 0.75)
    assert puct(0.5, 9.0, 4.0, 100.0, 0.3, 2.0) == pytest.approx(0.5 + 2 * 0.3 * 10 / 5)
    assert puct(0.5, 9.0, 0.0, 100.0, 0.3, 2.0) == pytest.approx(0.5 + 2 * 0.3 * 10)
    assert ucb1(0.0, 0.0, 0.0, 9.0, 0.0, 1.0) == math.inf


def test_a_mean_by_the_chances_to_be_best_goes_from_the_mean_to_the_maximum():
    """D'Eramo et al. (2016): of two moves the better one is best with chance Phi(d / width)."""
    visits, values = np.array([9.0, 0.0, 9.0]), np.array([1.0, 7.0, 2.0])
    for error, best in ((1e9, 0.5), (1.0, 0.7602499), (0.01, 1.0)):
        found = weighted(visits, values, np.full(3, error))
        assert found == pytest.approx(1.0 + best, abs=1e-6)
    # The error of one visit is not known.
    assert weighted(np.array([9.0, 1.0, 9.0]), values, np.ones(3)) == pytest.approx(1.7602499)
    assert weighted(np.array([1.0, 1.0, 0.0]), values, np.zeros(3)) == pytest.approx(7.0)


def test_back_up_by_sampling_frequency_is_unbiased_and_by_chances_is_not():
    """Two moves of values 0 and 1 with chances .1 and .9, two samples: .9 on average; weighting the
    moves seen by their chances gives .972."""
    chances, by_frequency, by_chance = np.array([0.1, 0.9]), 0.0, 0.0
    values, errors = np.array([0.0, 1.0]), np.zeros(2)
    for samples in product((0, 1), repeat=2):
        visits = np.bincount(samples, minlength=2).astype(np.float64)
        likely = chances[list(samples)].prod()
        by_frequency += likely * mean(visits, values, errors)
        seen = np.where(visits > 0, chances, 0.0)
        by_chance += likely * (seen * values).sum() / seen.sum()
    assert by_frequency == pytest.approx(0.9)
    assert by_chance == pytest.approx(0.972)


def test_max_distribution_is_the_mean_of_the_greatest():
    rng = np.random.default_rng(1)
    for values, errors in [([0.0, 0.0], [1.0, 1.0]), ([1.0, 0.5, -3.0], [0.2, 0.9, 0.1])]:
        draws = rng.normal(values, errors, (400_000, len(values))).max(axis=1)
        found = max_distribution(np.ones(len(values)), np.array(values), np.array(errors))
        assert found == pytest.approx(draws.mean(), abs=0.012)
    untried = max_distribution(np.array([0.0, 3.0]), np.array([9.0, 2.0]), np.array([1.0, 1.0]))
    assert untried == 2.0
    assert maximum(np.array([0.0, 3.0]), np.array([9.0, 2.0]), np.zeros(2)) == 2.0


@pytest.mark.parametrize("name", sorted(default_plugins().named("search rule")))
def test_rules_that_ship_pass_the_check(name):
    check_search_rule(default_plugins().get("search rule", name))


def test_the_check_finds_what_is_wrong():
    @selection_rule("odd")
    def odd(value, variance, visits, all_visits, prior, c):
        return -value

    with pytest.raises(AssertionError, match="odd scores"):
        check_search_rule(odd)

    @selection_rule("nan")
    def nan(value, variance, visits, all_visits, prior, c):
        return math.sqrt(-1.0 - value * value)

    with pytest.raises((AssertionError, ValueError), match=r"nan gives|math domain"):
        check_search_rule(nan)

    @backup_rule("beyond")
    def beyond(visits, values, errors):
        return 1000.0

    with pytest.raises(AssertionError, match="outside"):
        check_search_rule(beyond)
    with pytest.raises(AssertionError, match="not marked"):
        check_search_rule(print)


def test_a_rule_with_other_arguments_or_that_cannot_be_compiled_is_refused():
    with pytest.raises(BadValue, match="must take"):
        marked(selection_rule("short")(lambda value: value))

    @selection_rule("text")
    def text(value, variance, visits, all_visits, prior, c):
        return str(value).encode()[0:1].hex()

    with pytest.raises(PluginFailure, match="cannot be compiled"):
        _ = text.__cbr__.compiled


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"iterations": 0}, "iterations=0 must be 1"),
        ({"ms": -1.0}, "ms=-1"),
        ({"ms": 5.0, "iterations": 10}, "both given"),
        ({"select": "ucb2"}, "ucb2"),
        ({"backup": "ucb1"}, "back-up rule"),
        ({"board": "flop"}, "board of mcts"),
        ({"sizes": "1,7"}, "size of mcts"),
        ({"trust": 0.2}, "opponents=mixed"),
        ({"temperature": 2.0}, "softmax"),
        ({"own": "call", "playout": "call"}, "playout=model"),
        ({"model": "none", "opponents": "mixed"}, "without a model"),
        ({"forget": 0.0}, "forget=0"),
        ({"forget": 0.9, "learn": False}, "learns"),
        ({"prior": "call", "select": "uct+"}, "reads a prior"),
        ({"style": "poki"}, "style of mcts"),
        ({"c": -3.0}, "c=-3"),
    ],
)
def test_wrong_and_contradictory_options_are_refused(options, reason):
    with pytest.raises((BadValue, NoSuchName), match=reason):
        SearchOptions(**options)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("no-such", "no-such"),
        ("file:no-such.npz", "no model file"),
        ("trees", "trees:FILE.db"),
        ("uniform,," + "uniform," * 13, "models"),
    ],
)
def test_models_that_cannot_be_had_are_named(model, reason):
    with pytest.raises((BadValue, NoSuchName), match=reason):
        SearchBot(model=model)


def test_styles_set_what_is_not_given():
    thesis = SearchOptions(style="gerritsen", model="none", random=7)
    settings = thesis.settings(True)
    assert (settings.c, settings.random_visits, settings.trust) == (2.0, 7, 0.0)
    assert (thesis.board, thesis.scale, thesis.playout, thesis.sizes) == (
        "none",
        "none",
        "call",
        "1",
    )
    assert SearchOptions(prior="call").select == "puct"
