"""Luck taken out of results: its terms are 0 on average, card by card and action by action, the
mean stays, and the interval shrinks."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

import numpy as np
import pytest

from cbr.errors import BadValue, NoSuchName
from cbr.plugging.plugins import Plugins, use_plugins
from cbr_arena import (
    FOLD,
    RAISE,
    TERMS,
    Chance,
    Match,
    Room,
    Sitting,
    Triples,
    all_in,
    difference,
    lines_of,
    play,
    players_of,
    rate_of,
    without_luck,
)
from cbr_arena.bots import decided
from cbr_arena.luck import Luck
from cbr_holdem.situation import Pending
from cbr_holdem.table import ACTOR, BOARD, CALL, HOLE, SEATS, STREET, Game, Table, act, to_call

RIVER = TERMS.index("river")


def on_the_turn(game: Game, stacks: list[int], moves: list[Any]) -> Table:
    table = Table(game, stacks, "Ah Kh Qs Qd 7c 8c", "2h 7h 8d Td 3s")
    for move in moves:
        table.play(*move) if isinstance(move, tuple) else table.play(move)
    assert table.rows[0, STREET] == 2
    return table


def with_every_river(table: Table) -> Any:
    """The table once for each river card that is possible."""
    gone = {*table.rows[0, HOLE : HOLE + 2 * table.seats].tolist()}
    gone |= {*table.rows[0, BOARD : BOARD + 4].tolist()}
    cards = [card for card in range(52) if card not in gone]
    rows = np.repeat(table.rows, len(cards), axis=0)
    rows[:, BOARD + 4] = cards
    return rows


def check_down(rows: Any, game: Game) -> None:
    for row in rows:
        while row[ACTOR] >= 0 and row[STREET] == 2:
            act(row, game.terms, CALL, 0)


LIMIT = Game("limit", 50, 100)
NO_LIMIT = Game("nolimit", 50, 100)
CALLS = ["c"] * 6


class TestTerms:
    def test_a_card_is_no_luck_on_average(self) -> None:
        table = on_the_turn(LIMIT, [10_000] * 3, CALLS)
        rows = with_every_river(table)
        luck = Luck(rows, LIMIT.terms, 1, np.zeros(len(rows), np.int64))
        luck.dealt()
        luck.terms[:] = 0.0
        check_down(rows, LIMIT)
        luck.moved(np.arange(len(rows)))
        river = luck.terms[:, :, RIVER]
        assert np.abs(river).max() > 100  # the pot is 300
        assert river.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)
        assert river.sum(axis=1) == pytest.approx(np.zeros(len(rows)), abs=1e-9)

    @pytest.mark.parametrize("game", [LIMIT, NO_LIMIT])
    @pytest.mark.parametrize("moves", [CALLS, [*CALLS, "r"]])
    def test_a_drawn_action_is_no_luck_on_average(self, game: Game, moves: list[str]) -> None:
        table = on_the_turn(game, [10_000] * 3, moves)
        rows = np.repeat(table.rows, 3, axis=0)
        shares = np.array([0.2, 0.5, 0.3])
        if not to_call(rows[0]):
            shares = np.array([0.0, 0.6, 0.4])
        luck = Luck(rows, game.terms, 1, np.zeros(3, np.int64))
        luck.dealt()
        luck.terms[:] = 0.0
        kind, to = np.arange(3), np.zeros(3, np.int64)
        luck.drew(np.arange(3), np.tile(shares, (3, 1)), kind, to)
        after = luck.terms[:, :, TERMS.index("after")]
        assert np.abs(after).max() > 10
        assert shares @ after == pytest.approx(np.zeros(3), abs=1e-9)

    def test_what_is_certain_is_no_luck(self) -> None:
        table = on_the_turn(LIMIT, [10_000] * 3, CALLS)
        luck = Luck(table.rows, LIMIT.terms, 1, np.zeros(1, np.int64))
        luck.dealt()
        luck.terms[:] = 0.0
        for kind in (FOLD, CALL, RAISE):
            luck.drew(np.array([0]), np.eye(3)[[kind]], np.array([kind]), np.zeros(1, np.int64))
        assert not luck.terms.any()

    @pytest.mark.long
    def test_each_is_0_on_average_over_many_hands(self) -> None:
        match = Match(
            players_of(["random", "triple:0.1,0.5,0.4", "lag"]),
            hands=12_000,
            seed=3,
            duplicate=False,
            adjust="aivat",
        )
        luck = play(match).luck
        assert luck is not None
        z = luck.mean(axis=0) / (luck.std(axis=0) / np.sqrt(len(luck)))
        assert (np.abs(z) < 4.5).all()
        assert (luck.std(axis=0) > 0).all()


class TestAllIn:
    STACKS = ([2_000, 2_000, 2_000], [2_000, 700, 5_000], [600, 2_000, 5_000])

    @pytest.mark.parametrize("stacks", STACKS)
    def test_it_is_the_mean_over_all_rivers(self, stacks: list[int]) -> None:
        """Pots on the side too."""
        table = on_the_turn(NO_LIMIT, stacks, CALLS)
        rows = with_every_river(table)
        for row in rows:
            most = max(stacks[:2]) - 100
            act(row, NO_LIMIT.terms, RAISE, min(stacks[0] - 100, most))
            while row[ACTOR] >= 0 and row[STREET] == 2:
                top = stacks[int(row[ACTOR])] - 100
                raises = row[ACTOR] == 2 and top > stacks[0] - 100 and stacks[0] < 1_000
                act(row, NO_LIMIT.terms, RAISE if raises else CALL, top if raises else 0)
            assert row[ACTOR] < 0
        seats = int(rows[0, SEATS])
        won = np.array([[row[65 + seat] / 2520 for seat in range(seats)] for row in rows])
        counted = all_in(rows, NO_LIMIT.terms, 1, np.zeros(len(rows), np.int64))
        assert won.std(axis=0).max() > 100
        assert counted == pytest.approx(np.tile(won.mean(axis=0), (len(rows), 1)), abs=1e-6)

    def test_without_one_nothing_changes(self) -> None:
        played = play(Match(players_of(["lag", "random", "call"]), hands=300, adjust="all-in"))
        assert played.adjusted == pytest.approx(played.won, abs=1e-9)

    @pytest.mark.long
    def test_it_narrows_the_interval_of_no_limit(self) -> None:
        specs = ["call", "raise?size=all-in"]
        match = Match(
            players_of(specs), hands=2_000, game=NO_LIMIT, duplicate=False, adjust="all-in"
        )
        played = play(match)
        raw, counted = rate_of(played.won[:, 0]), rate_of(played.judged[:, 0])
        assert raw.ci95 is not None
        assert counted.ci95 is not None
        assert counted.ci95 < raw.ci95 / 2
        assert abs(counted.rate) < 2 * counted.ci95  # two hands that see the same showdowns


class TestAivat:
    @pytest.mark.long
    def test_the_interval_holds_what_is_true_in_most(self) -> None:
        inside, narrower = 0, 0
        for seed in range(100):
            match = Match(
                players_of(["random", "random"]),
                hands=300,
                seed=seed,
                duplicate=False,
                adjust="aivat",
            )
            played = play(match)
            raw, rate = rate_of(played.won[:, 0]), rate_of(played.judged[:, 0])
            assert raw.ci95 is not None
            assert rate.ci95 is not None
            inside += abs(rate.rate) <= rate.ci95
            narrower += rate.ci95 < raw.ci95
        assert inside >= 88
        assert narrower >= 98

    @pytest.mark.long
    @pytest.mark.parametrize(
        ("specs", "hands"), [(["miniloki", "call"], 4_000), (["random", "lag*5"], 6_000)]
    )
    def test_the_mean_stays_and_the_interval_shrinks(self, specs: list[str], hands: int) -> None:
        for duplicate in (True, False):
            match = Match(players_of(specs), hands=hands, duplicate=duplicate, adjust="aivat")
            line = lines_of(match, play(match))[0]
            assert line.adjusted is not None
            assert line.ci95 is not None
            assert line.adjusted.ci95 is not None
            assert abs(line.rate - line.adjusted.rate) < 1.5 * line.ci95
            # As if at least half as many hands again were played.
            assert (line.ci95 / line.adjusted.ci95) ** 2 > 1.5

    def test_calling_machines_have_nothing_but_luck(self) -> None:
        match = Match(players_of(["call", "call"]), hands=400, duplicate=False, adjust="aivat")
        played = play(match)
        assert played.won.std() > 0.5
        # Only the first cards' value is an estimate: the rest comes out to the last digit.
        assert played.judged[:, 0].std() < 0.15

    @pytest.mark.long
    def test_the_same_for_any_number_of_workers(self, pool: Executor) -> None:
        match = Match(players_of(["random", "lag"]), hands=8_000, adjust="aivat")
        alone = play(match)
        together = play(match, pool)
        assert np.array_equal(alone.judged, together.judged)

    @pytest.mark.long
    def test_differences(self) -> None:
        a, b = (
            play(Match(players_of(["lag", hero]), hands=2_000, adjust="aivat"))
            for hero in ("miniloki", "call")
        )
        raw = rate_of(a.won[:, 1] - b.won[:, 1])
        better = difference(a, b, 1)
        assert better.ci95 is not None
        assert raw.ci95 is not None
        assert better.ci95 < raw.ci95
        assert better.rate > better.ci95

    def test_factors_come_from_other_blocks(self) -> None:
        """Terms that have nothing to do with the result neither help nor move the mean."""
        rng = np.random.default_rng(5)
        moved = []
        for _ in range(200):
            won, luck = rng.normal(size=60), rng.normal(size=(60, 6))
            moved.append(without_luck(won, luck).mean() - won.mean())
        assert abs(np.mean(moved)) < 3 * np.std(moved) / np.sqrt(200)
        won = rng.normal(size=30)
        assert np.array_equal(without_luck(won, rng.normal(size=(30, 6))), won)

    def test_an_adjustment_that_is_none(self) -> None:
        with pytest.raises(NoSuchName, match="did you mean 'aivat'"):
            Match(players_of(["call", "call"]), adjust="aviat")


class TestTriples:
    def pending(self) -> tuple[Pending, Chance]:
        room = Room(LIMIT, 10_000, 1, [], np.zeros(2, np.int64))
        table = Table(room.game, [10_000] * 2, "Ah Kh Qs Qd", "2h 7h 8d Td 3s")
        table.play("c")
        rows = np.repeat(table.rows, 2_000, axis=0)
        deal = np.arange(len(rows))
        chance = Chance(1, deal, np.zeros_like(deal), np.zeros_like(deal))
        return Pending(rows, LIMIT, deal), chance

    def test_the_arena_draws(self) -> None:
        """The big blind may check: the share of folding goes to that."""
        situations, chance = self.pending()
        done = decided(Triples(np.tile([2.0, 1.0, 1.0], (2_000, 1))), situations, chance)
        assert done.shares is not None
        assert done.shares[0].tolist() == [0.0, 0.75, 0.25]
        assert np.bincount(done.kind, minlength=3)[FOLD] == 0
        assert (done.kind == RAISE).mean() == pytest.approx(0.25, abs=0.04)

    @pytest.mark.parametrize("shares", [[-1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [np.nan, 1.0, 0.0]])
    def test_shares_that_are_none(self, shares: list[float]) -> None:
        situations, chance = self.pending()
        with pytest.raises(BadValue, match="shares"):
            decided(Triples(np.tile(shares, (2_000, 1))), situations, chance)
        with pytest.raises(BadValue, match="shares"):
            decided(Triples(np.ones((3, 3))), situations, chance)

    def test_a_view_bot_may_give_chances(self, plugin_file) -> None:
        text = """
from cbr_arena import bot
@bot("mixed")
class Mixed:
    def act(self, view):
        return {"f": 1, "c": 2, "r": 1}
@bot("wrong")
class Wrong:
    def act(self, view):
        return {"c": -1}
"""
        use_plugins(Plugins().load([plugin_file(text)]))
        match = Match(players_of(["mixed", "wrong", "call"]), hands=90, adjust="aivat")
        played = play(match)
        mixed, wrong, _ = lines_of(match, played)
        assert not mixed.faults
        assert any("not probabilities" in why for why in wrong.faults)
        assert played.luck is not None
        assert played.luck[:, 0, TERMS.index("after")].any()


def test_a_sitting_of_one_table_has_luck_too() -> None:
    match = Match(players_of(["random", "random"]), hands=2, adjust="aivat")
    room = match.room()
    room.begin(1)
    room.play(Sitting(np.array([7]), np.array([[0, 1]]), np.zeros(1, np.int64)))
    assert room.luck is not None
    assert room.luck.terms.shape == (1, 2, len(TERMS))
