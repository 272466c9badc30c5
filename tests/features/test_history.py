"""Van der Kleij's features of a decision, worked out by hand on small tables."""

from __future__ import annotations

import numpy as np
import pytest

from cbr_holdem.situation import SIZES, Pending, Situations, size_class, size_of
from cbr_holdem.situation.history import COLUMNS
from cbr_holdem.table import CALL, FOLD, RAISE, Game, Table, deal_all, decks, new_tables, step_all


def after(stacks: list[int], moves: str, betting: str = "limit") -> dict[str, float]:
    deck = list(range(2 * len(stacks) + 5))
    table = Table(Game(betting), stacks, deck[:-5], deck[-5:])
    for move in moves.replace(" ", ""):
        table.play(move)
    situations = Situations.at(table.rows, table.game)
    return {name: float(situations[name][0]) for name in COLUMNS}


def test_bets_and_aggression_by_street() -> None:
    found = after([1000] * 3, "r c c" + "k b r f c" + "k")
    assert [found[f"bets_{s}"] for s in ("preflop", "flop", "turn", "river")] == [2, 2, 0, 0]
    assert found["aggression_preflop"] == pytest.approx(1 / 3)
    assert found["aggression_flop"] == pytest.approx(2 / 4)
    assert (found["aggression_turn"], found["aggression_river"]) == (0, 0)


def test_who_was_the_aggressor() -> None:
    """Seat 2 raises before the flop, seat 1 bets the flop, and seat 2 has to act on the turn."""
    found = after([1000] * 3, "r c c" + "k b c c" + "k k")
    assert (found["was_aggressor_preflop"], found["was_aggressor_flop"]) == (1, 0)
    assert found["behind_aggressor"] == 1
    assert found["own_action"] == 1
    assert after([1000] * 3, "r c c" + "k b c c")["behind_aggressor"] == 0
    assert after([1000] * 3, "")["behind_aggressor"] == -1
    assert after([1000] * 3, "")["own_action"] == -1


def test_players_around_us() -> None:
    found = after([1000] * 4, "f r c")
    assert found["active_ratio"] == 0.75
    assert (found["acted"], found["later"], found["last_of_active"]) == (1, 1, 0)
    assert after([1000] * 4, "c c c k")["acted"] == 0  # a new street
    assert after([1000] * 4, "c c c k" + "k k k")["last_of_active"] == 1


def test_money_against_the_aggressor() -> None:
    """Button raises to 20 with 80 behind; the small blind of 5 has 295 behind: 95 can be lost."""
    found = after([300, 1000, 100], "r", "nolimit")
    assert found["effective_aggressor"] == 9.5
    assert found["implied_odds"] == pytest.approx(15 / (15 + 35 + 95))
    assert found["all_in_call"] == 0
    assert after([20, 1000, 100], "r", "nolimit")["all_in_call"] == 1
    assert after([300, 1000, 100], "c c", "nolimit")["implied_odds"] == 0


def test_our_own_last_bet_by_its_size() -> None:
    """No-limit, blinds 5 and 10; a move may have the amount that it raises to."""
    table = Table(Game("nolimit"), [1000] * 3, range(6), range(6, 11))

    def size() -> float:
        return float(Situations.at(table.rows, table.game)["own_size"][0])

    assert size() == -1
    for move, amount in (("r", 35), ("c", None), ("r", 200), ("f", None)):
        table.play(move, amount)
    assert size() == -1  # the small blind has only called
    table.play("c")
    # On the flop the small blind bets 150 into 435 and is raised to 600 by the big blind.
    table.play("b", 150)
    table.play("r", 600)
    assert SIZES[int(size())] == "1/4"
    # The big blind's own raise before the flop: by 165 into 35 + 35 + 10 + 25 = 105 after calling.
    table = Table(Game("nolimit"), [1000] * 3, range(6), range(6, 11))
    for move, amount in (("r", 35), ("c", None), ("r", 200), ("f", None), ("c", None), ("k", None)):
        table.play(move, amount)
    assert SIZES[int(size())] == "3/2"


@pytest.mark.long
@pytest.mark.parametrize("rules", ["", "acpc"])
def test_our_own_last_size_is_that_of_the_replay(rules: str) -> None:
    """Short stacks, so that raises are all-in for less than the least raise."""
    game, seats, count = Game("nolimit", 5, 10, rules=rules) if rules else Game("nolimit"), 4, 300
    rng, tables = np.random.default_rng(1), new_tables(300)
    deal_all(
        tables.rows, game.terms, seats, rng.integers(20, 500, (count, seats)), decks(4, 0, count)
    )
    sizes = np.full((count, seats), -1)
    compared = 0
    while (tables.actor >= 0).any():
        which = np.flatnonzero(tables.actor >= 0)
        pending = Pending(tables.rows, game, which)
        seat = tables.actor[which]
        np.testing.assert_array_equal(pending["own_size"], sizes[which, seat])
        compared += int((sizes[which, seat] >= 0).sum())
        kind = np.where(
            pending.raise_to > 0, rng.choice([FOLD, CALL, CALL, RAISE], len(which)), CALL
        )
        share = rng.choice([0, 0.3, 0.7, 1.2, 4, np.inf], len(which))
        to = pending.raised_by(share)
        for row, who, what, amount in zip(which, seat, kind, to, strict=True):
            raises = what == RAISE
            sizes[row, who] = size_of(tables.rows[row], game.terms, amount) if raises else -1
        kinds, amounts = np.full(count, CALL), np.zeros(count, np.int64)
        kinds[which], amounts[which] = kind, to
        step_all(tables.rows, game.terms, kinds, amounts)
    assert compared > 100


@pytest.mark.parametrize(
    ("by", "pot", "least", "expected"),
    [
        (10, 100, 10, "min"),
        (15, 100, 10, "min"),  # 10/15 > 15/25
        (16, 100, 10, "1/4"),
        (35, 100, 10, "1/4"),
        (36, 100, 10, "1/2"),
        (100, 100, 10, "1"),
        (244, 100, 10, "2"),  # 200/244 > 244/300
        (245, 100, 10, "3"),
        (387, 100, 10, "3"),
        (388, 100, 10, "5"),
        (707, 100, 10, "5"),
        (708, 100, 10, "10"),
        (9_000, 100, 10, "10"),
        (9_999, 100, 10, "10"),  # a chip less than the stack
        (80, 100, 80, "min"),
        (95, 100, 80, "1"),
        (3, 5, 2, "3/4"),  # classes are in whole chips: 3/4 of 5 is played as 3
    ],
)
def test_classes_of_size(by: int, pot: int, least: int, expected: str) -> None:
    assert SIZES[size_class(by, pot, least, 10_000)] == expected
    assert SIZES[size_class(by, pot, least, by)] == "all-in"


def test_a_raise_of_the_whole_stack_is_all_in_whatever_its_amount() -> None:
    """Blinds 5 and 10; the small blind has 25 chips, the big blind 30 and the button 400."""
    table = Table(Game("nolimit"), [25, 30, 400], range(6), range(6, 11))
    row, terms = table.rows[0], table.game.terms
    assert [SIZES[size_of(row, terms, to)] for to in (20, 35, 399, 400)] == [
        "min",
        "1",
        "10",
        "all-in",
    ]
    table.play("c")
    assert SIZES[size_of(row, terms, 20)] == "min"
    assert SIZES[size_of(row, terms, 25)] == "all-in"
    table.play("r", 25)
    assert SIZES[size_of(row, terms, 30)] == "all-in"  # for less than the least raise, to 40


def test_the_least_raise_is_that_of_the_rules() -> None:
    """After a raise to 100 and an all-in to 120 the ACPC dealer allows a raise to 190, by 70; a
    quarter of the pot of 340 is more than that, and less than the raise by 90 before."""
    table = Table(Game("nolimit", rules="acpc"), [120, 1000, 1000], range(6), range(6, 11))
    table.play("r", 100)
    table.play("r", 120)
    assert table.legal().raise_from == 190
    assert SIZES[size_of(table.rows[0], table.game.terms, 205)] == "1/4"
    table.play("r", 205)
    table.play("r", 600)
    assert SIZES[int(Situations.at(table.rows, table.game)["own_size"][0])] == "1/4"


def test_limit_has_one_size() -> None:
    table = Table(Game("limit"), [1000, 20, 1000], range(6), range(6, 11))
    assert size_of(table.rows[0], table.game.terms, 20) == 0


@pytest.mark.long
@pytest.mark.parametrize("seats", [2, 5, 10])
def test_on_random_hands(seats: int) -> None:
    rng, count, game = np.random.default_rng(seats), 200, Game("nolimit")
    tables = new_tables(count)
    deal_all(
        tables.rows, game.terms, seats, rng.integers(5, 900, (count, seats)), decks(4, 0, count)
    )
    going = True
    while going:
        found, live = Situations.at(tables.rows, game), tables.actor >= 0
        row = {name: found[name][live] for name in COLUMNS}
        assert ((row["active_ratio"] > 0) & (row["active_ratio"] <= 1)).all()
        assert (row["acted"] < seats).all()
        assert ((row["implied_odds"] >= 0) & (row["implied_odds"] <= 0.5)).all()
        assert (row["effective_aggressor"] >= 0).all()
        assert (row["last_of_active"] == (row["later"] == 0)).all()
        kinds = rng.choice([FOLD, CALL, CALL, RAISE], count)
        going = step_all(tables.rows, game.terms, kinds, rng.integers(0, 300, count)) > 0
