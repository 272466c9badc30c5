"""Best responses, and tables unlike the casebase."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_logs import limit_base

from cbr.store.casebase import Casebase
from cbr_arena import Match, Sitting, players_of
from cbr_arena.showing import as_seen
from cbr_casper.streets import ActionChances, TableBelief
from cbr_casper.values.best_response import best_responses, starts_of
from cbr_casper.values.table_models import TableModels
from cbr_holdem.table import CALL, FOLD, MOST_RAISES, RAISE, STREET, to_call
from cbr_opponents import (
    TILTS,
    OpponentModel,
    actor_strength,
    move_chances,
    replay_decisions,
    workspace,
)
from cbr_opponents.abstraction import shifted_strengths
from cbr_opponents.learning import fit_trees, observe


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return limit_base(tmp_path_factory.mktemp("casper"))


@pytest.fixture(scope="module")
def model(base: Path) -> OpponentModel:
    """How these players act, which no test changes."""
    with Casebase.open(base) as opened:
        return fit_trees(observe(opened), profiles=False, public=False)


@pytest.mark.long
class TestBestResponse:
    def test_it_earns_more_than_the_players_themselves(
        self, base: Path, model: OpponentModel
    ) -> None:
        """Against the same model, dealt anew: its moves are worth more on average."""
        with Casebase.open(base) as opened:
            starts = starts_of(opened)
        first = best_responses(starts, [model], "limit", rounds=1, hands=15_000)
        later = best_responses(starts, [model], "limit", rounds=3, hands=15_000)
        frequencies = model.grid[None]

        def before_the_flop(own, value) -> float:
            return float((own[0, 0] * value[0, 0]).sum(axis=-1).mean())

        assert before_the_flop(first.strategy, first.value) > before_the_flop(
            frequencies, first.value
        )
        assert before_the_flop(later.strategy, later.value) > before_the_flop(
            frequencies, first.value
        )
        assert later.move_rates.sum(axis=-1) == pytest.approx(np.ones(later.move_rates.shape[:-1]))

    def test_without_rounds_it_is_the_players_strategy(
        self, base: Path, model: OpponentModel
    ) -> None:
        with Casebase.open(base) as opened:
            starts = starts_of(opened)
        found = best_responses(starts, [model], "limit", rounds=0)
        np.testing.assert_allclose(found.strategy[0], model.grid, atol=1e-12)
        assert not found.value.any()

    def test_what_is_seen_is_what_was_done(self, base: Path, model: OpponentModel) -> None:
        """Where nobody may raise, no raise is counted, whatever the model says."""
        with Casebase.open(base) as opened:
            starts = starts_of(opened)
        starts.terms[:, MOST_RAISES : MOST_RAISES + 4] = 0
        found = best_responses(starts, [model], "limit", rounds=1, hands=20_000)
        assert found.move_rates[..., RAISE].max() <= 1 / 3  # of contexts that never came up
        common = found.move_rates[0, 0].min(axis=-1) < 0.01
        assert common.any()
        assert (found.move_rates[0, 0][common, RAISE] < 0.01).all()


class TestTableModels:
    @pytest.mark.long
    def test_tilts_are_chances_and_do_what_they_say(self, base: Path, model: OpponentModel) -> None:
        with Casebase.open(base) as opened:
            _, bodies = next(iter(opened.read_records(200)))
        played, terms, _ = replay_decisions(bodies)
        tables, plain = played.tables, acting(played.tables, terms, model)
        free = np.array([to_call(row) == 0 for row in tables])
        faced = {}
        for tilt in TILTS:
            chances = acting(tables, terms, model.tilted(tilt))
            assert chances.sum(axis=-1) == pytest.approx(np.ones(len(tables)))
            assert (chances >= 0).all()
            assert not chances[free, FOLD].any()
            faced[tilt.name] = chances[~free & (tables[:, STREET] == 0)].mean(axis=0)
            if tilt.name == "as logged":
                np.testing.assert_allclose(chances, plain, atol=1e-12)
        assert faced["looser"][FOLD] < faced["as logged"][FOLD] < faced["tighter"][FOLD]
        assert faced["wild"][RAISE] > faced["as logged"][RAISE]
        assert faced["calling"][CALL] > 0.7

    def test_strengths_shifted_by_a_factor_of_two(self) -> None:
        before, after = shifted_strengths(2.0)
        assert (before[:169] >= np.arange(169)).all()
        assert before[168] == 168
        assert after[255] == 255
        assert int(after[128]) == pytest.approx(191, abs=1)  # the better half is the best quarter
        np.testing.assert_array_equal(shifted_strengths(1.0)[1], np.arange(256))
        np.testing.assert_array_equal(shifted_strengths(1.0)[0, :169], np.arange(169))

    @pytest.mark.long
    def test_a_table_is_told_by_what_it_does(self, base: Path) -> None:
        """Hands of callers make the calling model likely, and moves are worth what it says."""
        with Casebase.open(base) as opened:
            models = TableModels.learn(opened, rounds=1, hands=4_000)
        names = [tilt.name for tilt in TILTS]
        found = {}
        for bot in ("call", "raise", "fold"):
            match = Match(players_of([f"{bot}*5"]), hands=1, duplicate=False)
            room = match.room()
            room.begin(1)
            log_likelihood = np.zeros((1, len(models.value)))
            for deal in range(200):
                rows = room.play(sitting(deal, 5))
                models.observe(
                    as_seen(rows, np.zeros(1, int), np.zeros(1, int)),
                    match.game.terms,
                    np.zeros(1, int),
                    log_likelihood,
                )
            posterior = models.posterior(log_likelihood)
            assert posterior.sum() == pytest.approx(1.0)
            found[bot] = dict(zip(names, posterior[0].tolist(), strict=False))
        assert found["call"]["calling"] > 0.9
        assert sum(found["raise"][name] for name in ("as logged", "tighter", "calling")) < 0.1
        assert sum(found["fold"][name] for name in ("calling", "wild")) < 0.1
        start = models.posterior(np.zeros((1, len(models.value))))[0]
        assert start[0] == pytest.approx(0.6)
        rows = room.play(sitting(0, 5))
        calling = names.index("calling")
        there = np.eye(len(models.value))[[calling]]
        [whole] = models.weighted_values(rows * 0, match.game.terms, there)
        assert (models.value[calling] == whole[calling]).all(axis=-1).any()
        assert not np.delete(whole, calling, axis=0).any()
        [half] = models.weighted_values(rows * 0, match.game.terms, 0.5 * there)
        np.testing.assert_allclose(half, 0.5 * whole)

    def test_cases_count_as_far_as_the_table_is_like_theirs(self) -> None:
        def at(alike: float, *worth: list[float], valued: float = 1.0) -> np.ndarray:
            cases = ActionChances(
                np.array([[0.0, 0.2, 0.8]]), *np.zeros((3, 1)), np.full(1, valued)
            )
            belief = TableBelief(np.array([[alike, 1.0 - alike]]), np.array([worth]), 0.1)
            return cases.adapted_to(belief).chances

        # A move without a chance may be worth as much as it will.
        own, other = [90.0, 0.0, 0.1 * np.log(2.0)], [90.0, 0.1 * np.log(3.0), 0.0]
        np.testing.assert_allclose(at(1.0, own, [0.0] * 3), [[0.0, 0.2, 0.8]])
        np.testing.assert_allclose(at(0.0, own, other), [[0.0, 0.75, 0.25]])
        np.testing.assert_allclose(at(0.5, own, other), [[0.0, 0.6, 0.4]])
        # Where no case has a value, the first model's values count too.
        np.testing.assert_allclose(at(0.5, own, other, valued=0.0), [[0.0, 3 / 7, 4 / 7]])

    @pytest.mark.long
    def test_without_best_responses_nobody_adapts(self, base: Path, tmp_path: Path) -> None:
        import shutil

        copy = tmp_path / "plain.db"
        shutil.copy(base, copy)
        with Casebase.open(copy, write=True) as opened, opened.transaction():
            TableModels.learn(opened, rounds=0).save(opened)
            opened.put_learned("worlds.hands", np.array([5_000]))
            assert TableModels.load(opened) is not None
            assert TableModels.for_adaptation(opened) is None
            found = TableModels.learn(opened, rounds=1, hands=2_000)
            found.save(opened)
            opened.put_learned("worlds.hands", np.array([5_000]))
            assert TableModels.for_adaptation(opened) is not None

    @pytest.mark.long
    def test_they_are_kept_in_the_casebase(self, base: Path, tmp_path: Path) -> None:
        import shutil

        copy = tmp_path / "kept.db"
        shutil.copy(base, copy)
        with Casebase.open(copy, write=True) as opened:
            assert TableModels.load(opened) is None
            models = TableModels.learn(opened, rounds=1, hands=5_000)
            with opened.transaction():
                models.save(opened)
        with Casebase.open(copy) as opened:
            again = TableModels.load(opened)
        assert again is not None
        for name, part in models.arrays().items():  # to the last digit, or labels would differ
            np.testing.assert_array_equal(again.arrays()[name], part, err_msg=name)

    @pytest.mark.long
    def test_an_interrupted_search_goes_on(self, base: Path, tmp_path: Path) -> None:
        """After a kill in its second round the result is the same, and no step is played twice."""
        import shutil

        copy = tmp_path / "interrupted.db"
        shutil.copy(base, copy)
        few = {"rounds": 2, "hands": 300, "seed": 5}

        def stop(done: int, total: int, _: int) -> None:
            if done > 0.7 * total:
                raise KeyboardInterrupt

        with Casebase.open(copy, write=True) as opened:
            whole = TableModels.learn(opened, **few)
            with pytest.raises(KeyboardInterrupt):
                TableModels.learn(opened, **few, progress=stop, resume=True)
        told: list[int] = []
        with Casebase.open(copy, write=True) as opened:
            again = TableModels.learn(
                opened,
                **few,
                progress=lambda done, *_: told.append(done),
                resume=True,
            )
            for name, part in whole.arrays().items():
                np.testing.assert_array_equal(again.arrays()[name], part, err_msg=name)
            assert told[0] > max(told) / 2
            other = TableModels.learn(opened, **{**few, "seed": 6}, resume=True)
            assert (other.value != whole.value).any()
            with opened.transaction():
                again.save(opened)
            assert not [name for name in opened.learned_names() if "best_response" in name]


def sitting(deal: int, seats: int) -> Sitting:
    return Sitting(np.array([deal]), np.arange(seats)[None], np.zeros(1, np.int64))


def acting(tables, terms, model) -> np.ndarray:
    """What players would do at tables, each with the hand it has there."""
    space = workspace(model)
    found = np.empty((len(tables), 3))
    for at, row in enumerate(tables):
        space.known[:] = -1
        strength = actor_strength(row, space.known, space.cards)
        move_chances(row, terms[at], strength, model, space)
        found[at] = space.chances
    return found
