"""Ponsen's model: a prior from all players, corrected for one by its earlier hands."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from made_logs import limit_base, made, no_limit_base, with_folds_hidden

from cbr import BadValue, Casebase
from cbr.errors import NoSuchName
from cbr_holdem.table import CALL, FOLD, RAISE
from cbr_opponents import SequentialModel, model_maker
from cbr_opponents.corrective import PUBLIC, Corrective, Moves, observe_in_order
from cbr_opponents.learning import Observed, PonsenModel, observe
from cbr_opponents.learning.ponsen import prior_chances
from cbr_opponents.opponent_model import COLUMNS
from cbr_opponents.prediction import compare, evaluate
from cbr_opponents.testing import check_player_model

SPEC = "ponsen?prior=frequencies"


@pytest.fixture(scope="module")
def limit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return limit_base(tmp_path_factory.mktemp("limit"))


@pytest.fixture(scope="module")
def no_limit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return no_limit_base(tmp_path_factory.mktemp("no-limit"))


def read(path: Path) -> Observed:
    with Casebase.open(path) as base:
        return observe(base)


def made_moves(count: int, raises: float, seed: int = 0) -> Moves:
    """Decisions without a bet to call, one a hand, of a player who raises so often; the prior says
    half of the time."""
    features = np.zeros((count, COLUMNS), np.uint8)
    features[:, PUBLIC[0, 0]] = 6
    kind = np.where(np.random.default_rng(seed).random(count) < raises, RAISE, CALL)
    return Moves(
        np.ones(count, np.int64),
        np.arange(count),
        kind,
        np.ones(count, bool),
        features,
        np.tile([0.0, 0.5, 0.5], (count, 1)),
    )


class TestCorrective:
    start = Corrective.start(PUBLIC, 0.3)

    def test_nothing_seen_corrects_nothing(self) -> None:
        moves = made_moves(5, 0.9)
        out, _ = observe_in_order(moves, self.start)
        np.testing.assert_array_equal(out[0], moves.prior[0])
        assert not np.array_equal(out[1], moves.prior[1])

    def test_a_player_is_learned(self) -> None:
        out, after = observe_in_order(made_moves(2_000, 0.9), self.start)
        assert out[-1, RAISE] == pytest.approx(0.9, abs=0.03)
        # Few hands change little, many a lot; and what is learned is less uncertain.
        assert abs(out[1, RAISE] - 0.5) < 0.05
        assert np.trace(after.covariance) < np.trace(self.start.covariance)

    def test_who_plays_as_the_prior_stays_near_it(self) -> None:
        out, _ = observe_in_order(made_moves(2_000, 0.5), self.start)
        assert np.abs(out[:, RAISE] - 0.5).max() < 0.12
        assert abs(out[-1, RAISE] - 0.5) < 0.05

    def test_recent_hands_weigh_more(self) -> None:
        """Of a player who changes style, the new one is believed sooner with a drift."""
        moves = made_moves(1_000, 0.9)
        kind = np.where(np.arange(1_000) < 900, moves.kind, CALL)
        found = [
            observe_in_order(moves._replace(kind=kind), self.start._replace(drift=drift))[0]
            for drift in (0.0, 0.01)
        ]
        assert found[1][-1, RAISE] < found[0][-1, RAISE] - 0.1
        assert found[1][899, RAISE] == pytest.approx(0.9, abs=0.08)

    def test_one_step_is_newtons(self) -> None:
        """With one indicator and two moves: the posterior precision adds p (1 - p)."""
        moves = made_moves(1, 1.0)
        only = Corrective.start(PUBLIC[:1], 0.5)
        after = observe_in_order(moves, only)[1]
        precision = 1.0 / 0.25 + 0.25
        assert after.covariance[1, 1] == pytest.approx(1.0 / precision)
        assert after.mean[1] == pytest.approx(0.5 / precision)
        assert after.mean[0] == 0.0  # there was nothing to fold to

    def test_a_hand_teaches_after_its_decisions(self) -> None:
        moves = made_moves(40, 0.9)
        one_hand = moves._replace(hand=np.zeros(40, np.int64))
        np.testing.assert_array_equal(observe_in_order(one_hand, self.start)[0], moves.prior)

    def test_covariances_stay_so(self) -> None:
        for raises in (0.0, 0.5, 1.0):
            after = observe_in_order(made_moves(5_000, raises), self.start)[1]
            assert np.isfinite(after.mean).all()
            assert np.linalg.eigvalsh((after.covariance + after.covariance.T) / 2).min() > 0.0

    def test_what_the_prior_excludes_teaches_nothing(self) -> None:
        moves = made_moves(3, 0.5)._replace(kind=np.full(3, FOLD))
        out, after = observe_in_order(moves, self.start)
        np.testing.assert_array_equal(out, moves.prior)
        assert not after.mean.any()


@pytest.mark.long
class TestModel:
    @pytest.mark.parametrize("betting", ["limit", "nolimit"])
    def test_it_keeps_the_contract(self, limit: Path, no_limit: Path, betting: str) -> None:
        observed = read(limit if betting == "limit" else no_limit)
        model = model_maker(SPEC)(observed)
        assert isinstance(model, SequentialModel)
        check_player_model(model, betting=betting)
        mine = observed.take(observed.player == 0)
        check_player_model(model.of_player(mine), betting=betting)

    @pytest.mark.parametrize("cards", [False, True])
    def test_the_future_is_not_used(self, limit: Path, cards: bool) -> None:
        """Other moves from some hand on change nothing before it, nor in that hand itself."""
        observed = read(limit)
        model = model_maker(SPEC)(observed)
        chosen = observed.player == 2
        hand = observed.hand[chosen][len(observed.hand[chosen]) // 2]
        later = chosen & (observed.hand >= hand)
        move = np.where(later, np.where(observed.may_raise, RAISE, CALL), observed.move)
        other = dataclasses.replace(observed, move=move)
        one = model.in_sequence(observed, chosen, cards)
        two = model.in_sequence(other, chosen, cards)
        up_to = observed.hand[chosen] <= hand
        np.testing.assert_array_equal(one[up_to], two[up_to])
        assert not np.allclose(one[~up_to], two[~up_to])
        # Nor does anything that other players do.
        someone = dataclasses.replace(observed, move=np.where(chosen, observed.move, CALL))
        np.testing.assert_array_equal(one, model.in_sequence(someone, chosen, cards))

    @pytest.mark.parametrize("hidden", [False, True])
    def test_a_corrected_player_in_array_form(
        self, limit: Path, tmp_path: Path, hidden: bool
    ) -> None:
        """The arrays of a player predict as the sequence does after all its hands."""
        observed = read(with_folds_hidden(limit, tmp_path) if hidden else limit)
        model: PonsenModel = model_maker("ponsen?prior=trees?trees=8")(observed)
        assert (model.with_cards is None) == hidden
        mine = observed.take(observed.player == 0)
        arrays = model.of_player(mine).arrays
        twice = Observed.joined(
            [mine, dataclasses.replace(mine, hand=np.full(len(mine), mine.hand.max() + 1))]
        )
        again = np.arange(len(twice)) >= len(mine)
        for cards in (False, True):
            chosen = again & (twice.known | (not cards))
            expected = model.in_sequence(twice, chosen, cards)
            found = prior_chances(arrays, twice, cards)[chosen]
            # Leaves of trees are kept in single precision.
            np.testing.assert_allclose(found, expected, atol=1e-5)
            assert np.abs(found - prior_chances(model.arrays, twice, cards)[chosen]).max() > 0.01

    def test_it_is_better_than_its_prior_on_programs(self, limit: Path) -> None:
        with Casebase.open(limit) as base:
            observed = observe(base)
            for split in ("players", "leave-player-out"):
                found = evaluate(base, observed, SPEC, split, cards=0)
                prior = evaluate(base, observed, "frequencies", split, cards=0)
                compare(found, prior)
                gains = {one.hands_seen: one.gain for one in found.gains["frequencies"]}
                assert gains["0"].mean == pytest.approx(0.0, abs=1e-12)
                assert gains["300 to 999"].mean > 0.01
                assert sum(one.decisions for one in found.gains["frequencies"]) == found.decisions

    def test_same_decisions_same_model(self, limit: Path) -> None:
        observed = read(limit)
        one, two = model_maker(SPEC)(observed), model_maker(SPEC)(observed)
        np.testing.assert_array_equal(one.public.covariance, two.public.covariance)
        assert one.public.covariance.shape == (2 * len(PUBLIC),) * 2

    def test_one_player_is_enough(self, tmp_path: Path) -> None:
        observed = read(made(tmp_path, "few", ["call", "raise"], 3))
        model = model_maker(SPEC)(observed.take(observed.player == 0))
        found = model.in_sequence(observed, np.ones(len(observed), bool), False)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0)

    def test_bad_options(self, limit: Path) -> None:
        observed = read(limit)
        for spec, says in (
            ("ponsen?spread=0", "above 0"),
            ("ponsen?drift=-1", "at least 0"),
            ("ponsen?prior=loki", "no array form"),
            ("ponsen?prior=ponsen", "cannot be a prior"),
        ):
            with pytest.raises(BadValue, match=says):
                model_maker(spec)(observed)
        with pytest.raises(NoSuchName, match="no player model 'nobody'"):
            model_maker("ponsen?prior=nobody")(observed)


@pytest.mark.long
def test_the_command_tells_the_gain_by_hands_seen(cbr, limit: Path, tmp_path: Path) -> None:
    curve = tmp_path / "c.png"
    words = ["predict", limit, "--model", SPEC, "--against", "frequencies", "--cards", 0]
    answer = cbr(*words, "--curve", curve)
    assert answer.code == 0, answer.err
    assert "the same by hands seen" in answer.out
    assert curve.stat().st_size > 5_000
    found = cbr(*words, "--json").json["against"]["frequencies"]
    assert [set(one) for one in found["curve"]][:1] == [{"hands_seen", "decisions", "gain", "ci95"}]
    assert found["curve"][0]["hands_seen"] == "0"
