"""The context-action table: back-off from fine to coarse contexts, and what shown hands tell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_logs import limit_base, no_limit_base, with_folds_hidden

from cbr import BadValue, Casebase
from cbr_holdem.table import ACTOR, CALL, FOLD, FOLDED, MOVES, RAISE, SEATS, STREET, Game
from cbr_opponents import ArrayModel, ContextModel, model_maker, ranges_of, replay_decisions
from cbr_opponents.context_model import LEVELS, RADIX
from cbr_opponents.learning import Observed, observe
from cbr_opponents.learning.contexts import backed_off
from cbr_opponents.prediction import evaluate, paired_gain
from cbr_opponents.testing import check_player_model


@pytest.fixture(scope="module")
def limit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return limit_base(tmp_path_factory.mktemp("limit"))


@pytest.fixture(scope="module")
def no_limit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return no_limit_base(tmp_path_factory.mktemp("no-limit"))


def read(path: Path) -> Observed:
    with Casebase.open(path) as base:
        return observe(base)


def tables_of(path: Path):
    with Casebase.open(path) as base:
        bodies = [body for _, some in base.read_records(500) for body in some]
    return replay_decisions(bodies)


def table(counts: np.ndarray, levels: int, weight: float, shown=None, sums=None):
    none = np.zeros((len(counts), 3))
    return backed_off(
        counts, none if shown is None else shown, none if sums is None else sums, levels, weight
    )


class TestBackOff:
    size = 4 * int(np.prod(RADIX))

    def test_an_estimate_is_shrunk_towards_the_coarser_one(self) -> None:
        counts = np.zeros((self.size, 3))
        counts[-1] = [0.0, 4.0, 0.0]  # of the last context; its neighbour raises
        counts[-2] = [0.0, 0.0, 16.0]
        coarse, fine = table(counts, LEVELS - 1, 10.0), table(counts, LEVELS, 10.0)
        expected = (counts[-1] + 10.0 * coarse.shares[-1]) / 14.0
        np.testing.assert_allclose(fine.shares[-1], expected)
        assert fine.support[-1] == 14.0
        assert coarse.shares[-1, RAISE] > fine.shares[-1, RAISE] > 0.0

    def test_a_context_never_seen_is_the_coarser_one(self) -> None:
        counts = np.zeros((self.size, 3))
        counts[-2] = [0.0, 0.0, 50.0]
        fine, coarse = table(counts, LEVELS, 10.0), table(counts, LEVELS - 1, 10.0)
        np.testing.assert_allclose(fine.shares[-1], coarse.shares[-1])
        assert fine.support[-1] == 10.0

    def test_much_evidence_decides_alone(self) -> None:
        counts = np.zeros((self.size, 3))
        counts[-1], counts[-2] = [9e6, 1e6, 0.0], [0.0, 0.0, 1e6]
        fine = table(counts, LEVELS, 10.0)
        np.testing.assert_allclose(fine.shares[-1], [0.9, 0.1, 0.0], atol=1e-4)

    def test_nothing_seen_gives_even_shares_and_middling_strengths(self) -> None:
        found = table(np.zeros((self.size, 9)), LEVELS, 10.0)
        np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
        np.testing.assert_allclose(found.shares[-1, :RAISE], 1 / 3)
        assert not found.shares[0, FOLD]  # nothing to call
        assert (found.strength == 0.5).all()
        assert not found.support.any()

    def test_strengths_are_shrunk_alike(self) -> None:
        shown, sums = np.zeros((2, self.size, 3))
        shown[-1, RAISE], sums[-1, RAISE] = 10.0, 9.0
        fine = table(np.zeros((self.size, 3)), LEVELS, 10.0, shown, sums)
        coarse = table(np.zeros((self.size, 3)), LEVELS - 1, 10.0, shown, sums)
        assert fine.strength[-1, RAISE] == pytest.approx(
            (9.0 + 10 * coarse.strength[-1, RAISE]) / 20
        )
        assert fine.shown[-1, RAISE] == 20.0
        assert fine.strength[-1, CALL] == 0.5


@pytest.mark.long
class TestModel:
    @pytest.mark.parametrize("levels", [1, 2, 3, 4, 5])
    @pytest.mark.parametrize("betting", ["limit", "nolimit"])
    def test_it_keeps_the_contract(
        self, limit: Path, no_limit: Path, betting: str, levels: int
    ) -> None:
        observed = read(limit if betting == "limit" else no_limit)
        check_player_model(model_maker(f"context?levels={levels}")(observed), betting=betting)

    def test_it_gives_the_frequencies_of_its_contexts(self, limit: Path) -> None:
        observed = read(limit)
        model = model_maker("context?weight=0.001")(observed)
        played, terms, _ = tables_of(limit)
        none = np.full(len(observed), -1)
        shares = model.chances(played.tables, Game.of_terms(terms[0]), none).shares
        loss = -np.log(shares[np.arange(len(none)), observed.move]).mean()
        smooth = model_maker("context?weight=50")(observed)
        shares = smooth.chances(played.tables, Game.of_terms(terms[0]), none).shares
        assert loss < -np.log(shares[np.arange(len(none)), observed.move]).mean()

    def test_up_to_the_abstraction_it_has_an_array_form(self, limit: Path) -> None:
        observed = read(limit)
        played, terms, _ = tables_of(limit)
        for levels in (1, 2, 3):
            model = model_maker(f"context?levels={levels}")(observed)
            assert model.arrays is not None
            game, some = Game.of_terms(terms[0]), played.tables[:300]
            for hands in (np.full(300, -1), np.arange(300) * 4):
                # A hand may share a card with the board here: both forms must agree all the same.
                one = model.chances(some, game, hands)
                two = ArrayModel(model.arrays).chances(some, game, hands)
                np.testing.assert_allclose(one.shares, two.shares, atol=1e-12)
                np.testing.assert_allclose(one.support, two.support)
            ranges = ranges_of(some[-2:], terms[0], model.arrays)
            assert np.isfinite(ranges).all()

    def test_finer_tables_have_an_array_form_near_them(self, limit: Path) -> None:
        observed = read(limit)
        played, terms, _ = tables_of(limit)
        game, model = Game.of_terms(terms[0]), model_maker("context")(observed)
        assert not model.exact
        for hands in (np.full(len(observed), -1), np.arange(len(observed)) % 1326):
            exact = model.chances(played.tables, game, hands).shares
            near = ArrayModel(model.arrays).chances(played.tables, game, hands).shares
            coarse = ArrayModel(model.hands).chances(played.tables, game, hands).shares
            assert abs(near - exact).mean() < 0.5 * abs(coarse - exact).mean()

    def test_fine_contexts_tell_more_than_coarse_ones(self, limit: Path) -> None:
        with Casebase.open(limit) as base:
            observed = observe(base)
            fine = evaluate(base, observed, "context", "time", cards=0)
            coarse = evaluate(base, observed, "context?levels=1", "time", cards=0)
        assert paired_gain(fine, coarse).mean > 0.0

    def test_bad_options(self, limit: Path) -> None:
        observed = read(limit)
        for spec, says in (
            ("context?levels=0", "1 to 5"),
            ("context?levels=6", "1 to 5"),
            ("context?weight=0", "above 0"),
            ("context:3?levels=3", "given twice"),
        ):
            with pytest.raises(BadValue, match=says):
                model_maker(spec)(observed)


@pytest.mark.long
class TestExpectedStrength:
    def test_who_raises_has_more_than_who_calls(self, limit: Path, tmp_path: Path) -> None:
        """Also where folded cards are hidden."""
        for path in (limit, with_folds_hidden(limit, tmp_path)):
            model = model_maker("context")(read(path))
            played, terms, _ = tables_of(path)
            found = model.expected_strength(played.tables, Game.of_terms(terms[0]))
            assert np.isfinite(found.strength).all()
            assert ((found.strength >= 0) & (found.strength <= 1)).all()
            raised, called = self.last_actions(played.tables)
            assert found.strength[raised].mean() > found.strength[called].mean() + 0.05
            assert (found.support[raised] > 0).all()

    def test_seats_that_are_out_or_have_not_acted(self, limit: Path) -> None:
        model = model_maker("context")(read(limit))
        played, terms, _ = tables_of(limit)
        tables = played.tables
        found = model.expected_strength(tables, Game.of_terms(terms[0]))
        seat = np.arange(10)
        out = (tables[:, FOLDED, None] >> seat & 1 == 1) | (seat >= tables[:, SEATS, None])
        out |= seat == tables[:, ACTOR, None]
        assert not found.strength[out].any()
        assert not found.support[out].any()
        first = tables[:, MOVES] == 0
        assert (found.strength[first][~out[first]] == 0.5).all()
        assert not found.support[first].any()

    def test_no_tables(self, limit: Path) -> None:
        model: ContextModel = model_maker("context")(read(limit))
        none = np.zeros((0, tables_of(limit)[0].tables.shape[1]), np.int64)
        assert model.expected_strength(none, Game()).strength.shape == (0, 10)

    @staticmethod
    def last_actions(tables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the last action of a seat after the flop was a raise, or a call, [n, 10]."""
        from cbr_holdem.table import HISTORY, unpacked

        raised, called = np.zeros((2, len(tables), 10), bool)
        for i, row in enumerate(tables):
            last = {}
            for m in range(row[MOVES]):
                street, seat, kind, _ = unpacked(row[HISTORY + m])
                last[int(seat)] = (int(street), int(kind))
            for seat, (street, kind) in last.items():
                if seat != row[ACTOR] and kind != FOLD and street == row[STREET] == 1:
                    (raised if kind == RAISE else called)[i, seat] = True
        return raised, called
