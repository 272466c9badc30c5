"""Answers to habits, and tables unlike the casebase."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_logs import limit_base

from cbr.store.casebase import Casebase
from cbr_arena import Match, Sitting, players_of
from cbr_arena.showing import as_seen
from cbr_casper.streets import Chances, Here
from cbr_casper.values.best_response import answers, starts_of
from cbr_casper.values.table_models import TILTS, Worlds
from cbr_holdem.table.game import MOST_RAISES
from cbr_holdem.table.rules import CALL, FOLD, RAISE, STREET, to_call
from cbr_opponents.abstraction import mark_of, taken_for
from cbr_opponents.frequencies import count_moves, replay_bodies
from cbr_opponents.opponent_model import chances, rooms


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return limit_base(tmp_path_factory.mktemp("casper"))


class TestAnswers:
    def test_an_answer_earns_more_than_habit(self, base: Path) -> None:
        """Against the same habits, dealt anew: an answer's moves are worth more on average."""
        with Casebase.open(base) as opened:
            players, starts = count_moves(opened).players(), starts_of(opened)
        first = answers(starts, [players], "limit", rounds=1, hands=40_000)
        later = answers(starts, [players], "limit", rounds=3, hands=40_000)
        habits = players.grid[None]

        def before_the_flop(own, value) -> float:
            return float((own[0, 0] * value[0, 0]).sum(axis=-1).mean())

        assert before_the_flop(first.own, first.value) > before_the_flop(habits, first.value)
        assert before_the_flop(later.own, later.value) > before_the_flop(habits, first.value)
        assert later.seen.sum(axis=-1) == pytest.approx(np.ones(later.seen.shape[:-1]))

    def test_no_rounds_are_habits(self, base: Path) -> None:
        with Casebase.open(base) as opened:
            players, starts = count_moves(opened).players(), starts_of(opened)
        found = answers(starts, [players], "limit", rounds=0)
        np.testing.assert_allclose(found.own[0], players.grid, atol=1e-12)
        assert not found.value.any()

    def test_what_is_seen_is_what_was_done(self, base: Path) -> None:
        """Where nobody may raise, nobody is seen to, whatever habits say."""
        with Casebase.open(base) as opened:
            players, starts = count_moves(opened).players(), starts_of(opened)
        starts.terms[:, MOST_RAISES : MOST_RAISES + 4] = 0
        found = answers(starts, [players], "limit", rounds=1, hands=20_000)
        assert found.seen[..., RAISE].max() <= 1 / 3  # of contexts that never came up
        common = found.seen[0, 0].min(axis=-1) < 0.01
        assert common.any()
        assert (found.seen[0, 0][common, RAISE] < 0.01).all()


class TestWorlds:
    def test_tilts_are_chances_and_do_what_they_say(self, base: Path) -> None:
        with Casebase.open(base) as opened:
            players = count_moves(opened).players()
            _, bodies = next(iter(opened.read_records(200)))
        played, terms, _ = replay_bodies(bodies)
        tables, plain = played.tables, acting(played.tables, terms, players)
        free = np.array([to_call(row) == 0 for row in tables])
        faced = {}
        for tilt in TILTS:
            chances = acting(tables, terms, players.tilted(tilt.loose, tilt.push, tilt.ease))
            assert chances.sum(axis=-1) == pytest.approx(np.ones(len(tables)))
            assert (chances >= 0).all()
            assert not chances[free, FOLD].any()
            faced[tilt.name] = chances[~free & (tables[:, STREET] == 0)].mean(axis=0)
            if tilt.name == "as logged":
                np.testing.assert_allclose(chances, plain, atol=1e-12)
        assert faced["looser"][FOLD] < faced["as logged"][FOLD] < faced["tighter"][FOLD]
        assert faced["wild"][RAISE] > faced["as logged"][RAISE]
        assert faced["calling"][CALL] > 0.7

    def test_taken_for_twice_as_good(self) -> None:
        before, after = taken_for(2.0)
        assert (before[:169] >= np.arange(169)).all()
        assert before[168] == 168
        assert after[255] == 255
        assert int(after[128]) == pytest.approx(191, abs=1)  # the better half is the best quarter
        np.testing.assert_array_equal(taken_for(1.0)[1], np.arange(256))
        np.testing.assert_array_equal(taken_for(1.0)[0, :169], np.arange(169))

    def test_a_table_is_told_by_what_it_does(self, base: Path) -> None:
        """Hands of callers make the calling world likely, and moves are worth what it says."""
        with Casebase.open(base) as opened:
            worlds = Worlds.find(opened, rounds=1, hands=20_000)
        names = [tilt.name for tilt in TILTS]
        found = {}
        for bot in ("call", "raise", "fold"):
            match = Match(players_of([f"{bot}*5"]), hands=1, duplicate=False)
            room = match.room()
            room.begin(1)
            told = np.zeros((1, len(worlds.value)))
            for deal in range(200):
                rows = room.play(sitting(deal, 5))
                worlds.listen(
                    as_seen(rows, np.zeros(1, int), np.zeros(1, int)),
                    match.game.terms,
                    np.zeros(1, int),
                    told,
                )
            likely = worlds.likely(told)
            assert likely.sum() == pytest.approx(1.0)
            found[bot] = dict(zip(names, likely[0].tolist(), strict=False))
        assert found["call"]["calling"] > 0.9
        assert sum(found["raise"][name] for name in ("as logged", "tighter", "calling")) < 0.1
        assert sum(found["fold"][name] for name in ("calling", "wild")) < 0.1
        start = worlds.likely(np.zeros((1, len(worlds.value))))[0]
        assert start[0] == pytest.approx(0.6)
        rows = room.play(sitting(0, 5))
        calling = names.index("calling")
        there = np.eye(len(worlds.value))[[calling]]
        [whole] = worlds.worth(rows * 0, match.game.terms, there)
        assert (worlds.value[calling] == whole[calling]).all(axis=-1).any()
        assert not np.delete(whole, calling, axis=0).any()
        [half] = worlds.worth(rows * 0, match.game.terms, 0.5 * there)
        np.testing.assert_allclose(half, 0.5 * whole)

    def test_cases_count_as_far_as_the_table_is_like_theirs(self) -> None:
        def at(alike: float, *worth: list[float], valued: float = 1.0) -> np.ndarray:
            cases = Chances(np.array([[0.0, 0.2, 0.8]]), *np.zeros((3, 1)), np.full(1, valued))
            return cases.at(Here(np.array([[alike, 1.0 - alike]]), np.array([worth]), 0.1)).chances

        # A move without a chance may be worth as much as it will.
        own, other = [90.0, 0.0, 0.1 * np.log(2.0)], [90.0, 0.1 * np.log(3.0), 0.0]
        np.testing.assert_allclose(at(1.0, own, [0.0] * 3), [[0.0, 0.2, 0.8]])
        np.testing.assert_allclose(at(0.0, own, other), [[0.0, 0.75, 0.25]])
        np.testing.assert_allclose(at(0.5, own, other), [[0.0, 0.6, 0.4]])
        # Where no case has a value, the grid says what moves are worth in the own world too.
        np.testing.assert_allclose(at(0.5, own, other, valued=0.0), [[0.0, 3 / 7, 4 / 7]])

    def test_without_answers_nobody_adapts(self, base: Path, tmp_path: Path) -> None:
        import shutil

        copy = tmp_path / "plain.db"
        shutil.copy(base, copy)
        with Casebase.open(copy, write=True) as opened, opened.transaction():
            Worlds.find(opened, rounds=0).save(opened)
            opened.put_learned("worlds.hands", np.array([5_000]))
            assert Worlds.load(opened) is not None
            assert Worlds.to_adapt_by(opened) is None
            found = Worlds.find(opened, rounds=1, hands=2_000)
            found.save(opened)
            opened.put_learned("worlds.hands", np.array([5_000]))
            assert Worlds.to_adapt_by(opened) is not None

    def test_they_are_kept_in_the_casebase(self, base: Path, tmp_path: Path) -> None:
        import shutil

        copy = tmp_path / "kept.db"
        shutil.copy(base, copy)
        with Casebase.open(copy, write=True) as opened:
            assert Worlds.load(opened) is None
            worlds = Worlds.find(opened, rounds=1, hands=5_000)
            with opened.transaction():
                worlds.save(opened)
        with Casebase.open(copy) as opened:
            again = Worlds.load(opened)
        assert again is not None
        for name, part in worlds.parts().items():  # to the last digit, or labels would differ
            np.testing.assert_array_equal(again.parts()[name], part, err_msg=name)


def sitting(deal: int, seats: int) -> Sitting:
    return Sitting(np.array([deal]), np.arange(seats)[None], np.zeros(1, np.int64))


def acting(tables, terms, players) -> np.ndarray:
    """What players would do at tables, each with the hand it has there."""
    known, space, codes, out = rooms(3)
    found = np.empty((len(tables), 3))
    for at, row in enumerate(tables):
        known[:] = -1
        chances(row, terms[at], mark_of(row, known, space), players, codes, out)
        found[at] = out
    return found
