"""Player models: one interface for arrays and plain functions, and what they are fitted to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_logs import limit_base, no_limit_base

from cbr import BadValue, Casebase
from cbr.errors import NoSuchName
from cbr_holdem.cards import HANDS
from cbr_holdem.table import ACTOR, BOARD, BOARD_CARDS, CALL, FOLD, HOLE, RAISE, STREET, Game
from cbr_opponents import ArrayModel, OpponentModel, player_model, ranges_of, replay_decisions
from cbr_opponents.array_models import uniform_arrays
from cbr_opponents.decision_features import FEATURES
from cbr_opponents.learning import decisions, fit_frequencies, fit_trees, observe
from cbr_opponents.opponent_model import described_chances, workspace
from cbr_opponents.player_models import FunctionModel, legal_at, normalised
from cbr_opponents.profiles import S_HANDS, S_MOVES, SEEN, end_hand
from cbr_opponents.testing import check_player_model


@pytest.fixture(scope="module")
def limit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return limit_base(tmp_path_factory.mktemp("limit"))


@pytest.fixture(scope="module")
def no_limit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return no_limit_base(tmp_path_factory.mktemp("no-limit"))


def played(base: Path):
    with Casebase.open(base) as opened:
        observed = observe(opened)
        bodies = [body for _, some in opened.read_records(500) for body in some]
    return observed, *replay_decisions(bodies)


@pytest.mark.long
class TestArrays:
    @pytest.mark.parametrize("betting", ["limit", "nolimit"])
    def test_they_keep_the_contract(self, limit: Path, no_limit: Path, betting: str) -> None:
        with Casebase.open(limit if betting == "limit" else no_limit) as base:
            observed = observe(base)
        for arrays in (
            uniform_arrays(observed.moves),
            fit_frequencies(observed),
            fit_trees(observed, most=8),
        ):
            check_player_model(ArrayModel(arrays), betting=betting)

    def test_a_log_is_predicted_as_its_tables_are(self, limit: Path) -> None:
        """`described_chances`, by which models are tested, is what players of a model do."""
        observed, replayed, terms, _ = played(limit)
        arrays = fit_trees(observed, most=8, profiles=False)
        assert arrays.trees.any()
        assert arrays.public.any()
        for cards in (False, True):
            held = observed.hand_class if cards else np.full(len(observed), -1)
            out = np.empty((len(observed), observed.moves))
            described_chances(
                observed.place, observed.features, held, arrays, workspace(arrays), out
            )
            holes = replayed.situations.hole
            number = {tuple(sorted(hand)): at for at, hand in enumerate(HANDS.tolist())}
            hands = np.array([number[tuple(sorted(hole))] for hole in holes.tolist()])
            game = Game.of_terms(terms[0])
            shares = (
                ArrayModel(arrays)
                .chances(replayed.tables, game, hands if cards else np.full(len(hands), -1))
                .shares
            )
            out[:, CALL] += np.where(observed.may_raise, 0.0, out[:, RAISE])
            out[~observed.may_raise, RAISE] = 0.0
            np.testing.assert_allclose(shares, out, atol=1e-12)

    def test_public_trees_do_not_look_at_hands(self, limit: Path) -> None:
        observed, *_ = played(limit)
        arrays = fit_trees(observed, most=8)
        other = observed.features.copy()
        other[:, 7:10] = 255
        none, out = np.full(len(observed), -1), np.empty((2, len(observed), observed.moves))
        space = workspace(arrays)
        described_chances(observed.place, observed.features, none, arrays, space, out[0])
        described_chances(observed.place, other, none, arrays, space, out[1])
        np.testing.assert_array_equal(out[0], out[1])

    def test_sizes_are_told_apart_by_their_own_trees(self, no_limit: Path) -> None:
        observed, *_ = played(no_limit)
        with_sizes = fit_trees(observed, most=8)
        without = fit_trees(observed, most=8, sized=False)
        out = np.empty((2, len(observed), observed.moves))
        none = np.full(len(observed), -1)
        for at, arrays in enumerate((with_sizes, without)):
            described_chances(
                observed.place, observed.features, none, arrays, workspace(arrays), out[at]
            )
        # They change how raises are divided, not how often there is one.
        np.testing.assert_allclose(out[0, :, :RAISE], out[1, :, :RAISE], atol=1e-12)
        assert np.allclose(out.sum(axis=2), 1.0)

    def test_what_a_chance_rests_on_is_told(self, limit: Path) -> None:
        observed, replayed, terms, _ = played(limit)
        model = ArrayModel(fit_frequencies(observed))
        found = model.chances(replayed.tables, Game.of_terms(terms[0]), np.full(len(observed), -1))
        assert found.support.min() >= 1.0  # each decision of the log is in its own cell
        assert found.support.max() <= len(observed)


@pytest.mark.long
class TestRanges:
    def test_they_are_the_product_of_the_moves(self, limit: Path) -> None:
        """By the model in Python, hand by hand: Bayes' rule."""
        observed, replayed, terms, _ = played(limit)
        model = ArrayModel(fit_frequencies(observed))
        game = Game.of_terms(terms[0])
        tables = replayed.tables
        at = int(
            np.flatnonzero((tables[:, STREET] == 1) & (observed.hand == observed.hand[200]))[0]
        )
        first = int(np.flatnonzero(observed.hand == observed.hand[at])[0])
        weights = {seat: np.ones(len(HANDS)) for seat in range(10)}
        for i in range(first, at):
            seat, row = int(tables[i, ACTOR]), tables[i]
            board = row[BOARD : BOARD + BOARD_CARDS[row[STREET]]]
            free = ~np.isin(HANDS, board).any(axis=1)
            every = model.chances(
                np.tile(row, (int(free.sum()), 1)), game, np.flatnonzero(free)
            ).shares
            weights[seat][free] *= every[:, observed.move[i]]
            weights[seat][~free] = 0.0
            weights[seat] /= weights[seat].max()
            weights[seat][free] = np.maximum(weights[seat][free], 1e-4)
        row = tables[at]
        dead = [*row[BOARD : BOARD + 3], *row[HOLE + 2 * row[ACTOR] :][:2]]
        found = ranges_of(tables[at : at + 1], terms[at], model.arrays)[0]
        for i in range(first, at):
            seat = int(tables[i, ACTOR])
            if observed.move[i] == FOLD:
                assert not found[seat].any()
            elif (
                seat != row[ACTOR]
                and FOLD not in observed.move[first:at][tables[first:at, ACTOR] == seat]
            ):
                expected = weights[seat] * ~np.isin(HANDS, dead).any(axis=1)
                np.testing.assert_allclose(found[seat], expected / expected.sum(), atol=1e-12)
                assert found[seat].sum() == pytest.approx(1.0)


class TestFunctions:
    def test_a_plain_function_is_a_model(self) -> None:
        @player_model("halves")
        def halves(situations, often=0.5):
            """Calls half of the time."""
            call = np.full(situations.count, often)
            return np.stack([0.5 * (1 - call), call, 0.5 * (1 - call)], axis=1)

        assert halves.__cbr__.help == "Calls half of the time."
        check_player_model(halves)
        check_player_model(halves, betting="nolimit", often=0.2)

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            (lambda n: np.full((n, 3), np.nan), "not finite"),
            (lambda n: np.full((n, 3), -1.0), "negative"),
            (lambda n: np.zeros((n, 3)), "all 0"),
            (lambda n: np.ones((n, 7)), "must be"),
        ],
    )
    def test_what_is_not_a_chance_is_refused(self, given, says: str) -> None:
        model = FunctionModel("bad", lambda situations: given(situations.count))
        with pytest.raises(BadValue, match=says):
            check_player_model(model)

    def test_the_check_finds_a_model_that_depends_on_others(self) -> None:
        @player_model("crowd")
        def crowd(situations):
            return np.tile([1.0, situations.count, 1.0], (situations.count, 1))

        with pytest.raises(AssertionError, match="alone"):
            check_player_model(crowd)

    def test_moves_that_are_not_legal_go_to_the_call(self) -> None:
        legal = np.array([[False, True, False, False]])
        assert normalised(np.array([[0.2, 0.3, 0.5]]), legal, "x").tolist() == [[0, 1, 0, 0]]
        legal = np.array([[True, True, True, True]])
        shares = normalised(np.array([[0.2, 0.2, 0.6]]), legal, "x")
        assert shares == pytest.approx(np.array([[0.2, 0.2, 0.3, 0.3]]))


class TestProfiles:
    def test_a_hand_counts_after_its_decisions(self, limit: Path) -> None:
        observed, *_ = played(limit)
        hands = observed.features[:, FEATURES]  # of the profile: how many hands were seen
        for player in range(len(observed.names)):
            mine = observed.player == player
            number = np.unique(observed.hand[mine], return_inverse=True)[1]
            expected = np.minimum(255, 16 * np.log2(1 + number)).astype(np.uint8)
            np.testing.assert_array_equal(hands[mine], expected)

    def test_who_did_not_act_is_not_counted(self) -> None:
        seen = np.zeros(SEEN)
        end_hand(seen, np.zeros(4), 1.0)
        assert not seen.any()

    def test_old_hands_are_forgotten(self) -> None:
        seen = np.zeros(SEEN)
        seen[S_HANDS], seen[S_MOVES] = 10.0, 6.0
        end_hand(seen, np.array([1.0, 1.0, 0.0, 0.0]), 0.5)
        assert (seen[S_HANDS], seen[S_MOVES]) == (6.0, 3.0)


class TestDecisions:
    def test_all_of_a_casebase(self, no_limit: Path) -> None:
        found = decisions(no_limit)
        observed, *_ = played(no_limit)
        assert len(found["player"]) == len(observed)
        assert found["player"].tolist() == [observed.names[at] for at in observed.player]
        bets = np.isin(found["action"], ["b", "r"])
        np.testing.assert_array_equal(bets, observed.kind == RAISE)
        assert np.isnan(found["share"][~bets]).all()
        assert (found["share"][bets] > 0).all()
        assert not found["put"][np.isin(found["action"], ["f", "k"])].any()
        assert (found["put"][np.isin(found["action"], ["c", "b", "r"])] > 0).all()
        assert (found["size"][~bets] == "").all()
        pot = found["size"] == "1"
        assert np.abs(np.log2(found["share"][pot])).max() < 0.5

    def test_a_log_gives_what_its_casebase_gives(self, tmp_path: Path) -> None:
        from cbr.building import build
        from cbr.plugging import default_plugins

        log = Path("casebases/sample.phhs")
        build([log], tmp_path / "sample.db", plugins=default_plugins(), limit=50)
        names = ["player", "step", "action", "put", "pot_odds"]
        one = decisions(tmp_path / "sample.db", names)
        two = decisions(log, names, limit=50)
        for name in names:
            np.testing.assert_array_equal(one[name], two[name])

    def test_bad_requests(self, no_limit: Path, tmp_path: Path) -> None:
        with pytest.raises(NoSuchName, match="no column 'nose'"):
            decisions(no_limit, ["nose"])
        with pytest.raises(BadValue, match="no file or folder"):
            decisions(tmp_path / "none.phhs")


def test_an_average_is_over_all_hands() -> None:
    grid = np.random.default_rng(1).dirichlet(np.ones(3), (4, 36, 36))
    model = OpponentModel.of(grid)
    assert np.allclose(model.average.sum(axis=-1), 1.0)
    assert legal_at(np.zeros((0, 366), np.int64), Game()).shape == (0, 3)
