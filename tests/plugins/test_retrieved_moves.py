"""The player model that retrieves from a casebase."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_logs import limit_base, made, no_limit_base, with_folds_hidden

from cbr import BadValue, Casebase
from cbr_holdem.situation import Pending
from cbr_holdem.table import CALL, FOLD, STREET, Game
from cbr_opponents import ArrayModel, model_maker, replay_decisions, with_hands
from cbr_opponents.learning import RetrievedMoves, observe
from cbr_opponents.prediction import evaluate, paired_gain
from cbr_opponents.testing import check_player_model


@pytest.fixture(scope="module")
def limit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return limit_base(tmp_path_factory.mktemp("limit"))


@pytest.fixture(scope="module")
def no_limit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return no_limit_base(tmp_path_factory.mktemp("no-limit"))


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Other hands of the same kinds of players."""
    return made(tmp_path_factory.mktemp("others"), "others", ["lag*2", "miniloki*3"], 150)


@pytest.mark.long
class TestRetrievedMoves:
    @pytest.mark.parametrize("betting", ["limit", "nolimit"])
    def test_it_keeps_the_contract(self, limit: Path, no_limit: Path, betting: str) -> None:
        model = RetrievedMoves.of(str(limit if betting == "limit" else no_limit))
        check_player_model(model, betting=betting)

    def test_where_folds_are_hidden_hands_fold_all_the_same(
        self, limit: Path, tmp_path: Path
    ) -> None:
        model = RetrievedMoves.of(str(with_folds_hidden(limit, tmp_path)))
        check_player_model(model)
        with Casebase.open(limit) as base:
            bodies = [body for _, some in base.read_records(60) for body in some][:60]
        played, terms, _ = replay_decisions(bodies)
        game = Game.of_terms(terms[0])
        rows = played.tables[played.tables[:, STREET] == 0]
        for hands in (np.full(len(rows), -1), np.full(len(rows), 7)):
            found = model.chances(rows, game, hands).shares
            assert 0.05 < found[:, FOLD].mean() < 0.95

    def test_it_has_an_array_form_near_it(self, limit: Path) -> None:
        model = RetrievedMoves.of(str(limit))
        with Casebase.open(limit) as base:
            _, bodies = next(iter(base.read_records(60)))
        played, terms, _ = replay_decisions(bodies)
        game, hands = Game.of_terms(terms[0]), np.full(len(terms), -1)
        exact = model.chances(played.tables, game, hands).shares
        near = ArrayModel(model.arrays).chances(played.tables, game, hands).shares
        assert abs(near - exact).mean() < 0.6 * abs(exact - exact.mean(axis=0)).mean()

    def test_shares_are_those_of_the_retrieved_cases(self, limit: Path) -> None:
        """By the engine's own retrieval, one target at a time."""
        from cbr.retrieval import retriever_of

        with Casebase.open(limit) as base:
            bodies = [body for _, some in base.read_records(60) for body in some][:60]
            retriever = retriever_of(base, "flop")
        played, terms, _ = replay_decisions(bodies)
        game, rows = Game.of_terms(terms[0]), played.tables
        rows = rows[rows[:, STREET] == 1][:10]
        hands = np.full(len(rows), 600)
        model = RetrievedMoves.of(str(limit), prior=1e-9)
        found = model.chances(rows, game, hands)
        street = model.streets[1]
        seen = Pending(with_hands(rows, hands), game, np.arange(len(rows)))
        columns = [np.asarray(feature.of(seen)) for feature in street.case_type.indexed]
        for at in range(len(rows)):
            target = np.array([[column[at] for column in columns]], np.float32)
            weighted = retriever.many(target)[0].weighted
            solutions = street.case_type.solutions
            facing = seen.call[at] > 0
            may_raise = seen.raise_to[at] > 0
            fold, check, call, bet, more = (weighted[solutions.index(one)] for one in "fkcbr")
            counts = np.array(
                [fold * facing, call if facing else check, may_raise * (more if facing else bet)]
            )
            np.testing.assert_allclose(found.shares[at], counts / counts.sum(), atol=1e-6)
            assert 1.0 <= found.support[at] <= street.cases.vectors.cases.sum()
        assert (found.shares[:, CALL] > 0).any()

    def test_it_tells_players_of_the_same_kinds(self, limit: Path, others: Path) -> None:
        with Casebase.open(others) as base:
            observed = observe(base)
            found = evaluate(base, observed, f"casebase:{limit}", "time", cards=0)
            uniform = evaluate(base, observed, "uniform", "time", cards=0)
        assert paired_gain(found, uniform).mean > 0.1
        assert found.with_cards is not None
        assert found.with_cards.log_loss.mean < found.public.log_loss.mean


def test_bad_requests(cbr, limit: Path, no_limit: Path, cars_db: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("nothing of the kind")
    for spec, says in (
        ("casebase", "needs its file"),
        (f"casebase:{tmp_path / 'none.db'}", "there is no casebase"),
        (f"casebase:{tmp_path}", "there is no casebase"),
        (f"casebase:{text}", "text.db"),
        (f"casebase:{cars_db}", "not of hold'em"),
        (f"casebase:{no_limit}", "another betting"),
        (f"casebase:{limit}", "casebase of their own"),
        (f"casebase:{limit}?prior=0", "above 0"),
        (f"casebase:{limit}?policy=nothing", "nothing"),
    ):
        answer = cbr("predict", limit, "--split", "time", "--cards", 0, "--model", spec)
        assert answer.code == 2, spec
        assert says in answer.err
        assert answer.err.count("\n") == 1
    with pytest.raises(BadValue, match="is of limit hold'em, not of nolimit"):
        model = RetrievedMoves.of(str(limit))
        model.chances(np.zeros((0, 366), np.int64), Game("nolimit"), np.zeros(0, np.int64))
    assert callable(model_maker(f"casebase:{limit}"))
