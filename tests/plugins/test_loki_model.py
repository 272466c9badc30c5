"""Loki's weight tables as a player model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_logs import made, no_limit_base

from cbr import BadValue, Casebase
from cbr.errors import NoSuchName
from cbr_bots import Constants, Formula
from cbr_bots.loki_constants import DOUBT, DOUBT_CALL, DOUBT_CHECK, FLOOR
from cbr_bots.loki_model import LokiModel
from cbr_holdem.cards import HANDS
from cbr_holdem.table import ACTOR, BOARD, BOARD_CARDS, CALL, FOLD, RAISE, STREET, Game
from cbr_opponents import legal_at, model_maker, replay_decisions
from cbr_opponents.learning import observe
from cbr_opponents.prediction import evaluate, paired_gain
from cbr_opponents.testing import check_player_model


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("loki"), "loki", ["loki*2", "lag*2"], 200)


def _doubt(kind: int, facing: bool, constants: np.ndarray) -> float:
    if kind == RAISE:
        return float(constants[DOUBT])
    return float(constants[DOUBT_CALL if facing else DOUBT_CHECK])


def tables_of(path: Path):
    with Casebase.open(path) as opened:
        bodies = [body for _, some in opened.read_records(500) for body in some]
    played, terms, names = replay_decisions(bodies)
    return played, Game.of_terms(terms[0]), names


@pytest.mark.long
class TestLokiModel:
    def test_it_keeps_the_contract(self) -> None:
        for spec in ("loki", "loki?style=tight&model=frequencies", "loki?doubts=false"):
            check_player_model(model_maker(spec)(None))

    def test_weights_are_the_product_of_its_chances(self, base: Path) -> None:
        """Up to a factor for each move, and above the floor: one move on the flop."""
        played, game, _ = tables_of(base)
        formula = Formula(constants=Constants())
        model = LokiModel(formula)
        tables = played.tables
        mine = [
            at
            for at in range(len(tables) - 1)
            if tables[at, STREET] == 1 == tables[at + 1, STREET]
            and played.hand[at] == played.hand[at + 1]
            and played.action[at] in (1, 2, 3, 4)
        ]
        assert len(mine) > 20
        for at in mine[:20]:
            seat, row = tables[at, ACTOR], tables[at]
            board = row[BOARD : BOARD + BOARD_CARDS[1]]
            free = np.flatnonzero(~np.isin(HANDS, board).any(axis=1))
            before = formula.weights(tables[at : at + 1], game)[0, seat]
            after = formula.weights(tables[at + 1 : at + 2], game)[0, seat]
            kind = CALL if played.action[at] in (1, 2) else RAISE
            triples = formula.all_triples(tables[at : at + 1], game)[0]
            legal = legal_at(tables[at : at + 1], game)
            shares = np.maximum(triples, 0.0)
            doubt = _doubt(kind, bool(legal[0, FOLD]), formula.rules.constants)
            factor = doubt + (1.0 - doubt) * shares[free, kind]
            product = np.maximum(before[free] * factor, 1e-12)
            expected = product / product.max()
            floor = formula.rules.constants[FLOOR]
            np.testing.assert_allclose(after[free], np.maximum(expected, floor), atol=1e-9)
            # The model normalises these factors over the moves.
            chances = model._doubted(triples[free], legal)
            if legal[0, RAISE] and legal[0, FOLD]:
                total = sum(
                    _doubt(k, True, formula.rules.constants) * (1.0 - shares[free, k])
                    + shares[free, k]
                    for k in (FOLD, CALL, RAISE)
                )
                np.testing.assert_allclose(chances[:, kind], factor / total)

    def test_it_tells_lokis_moves_better_than_chance(self, base: Path) -> None:
        with Casebase.open(base) as opened:
            observed = observe(opened)
            mine = observed.take(
                np.isin(observed.player, [at for at, n in enumerate(observed.names) if "loki" in n])
            )
            assert len(mine)
            found = evaluate(opened, observed, "loki", "time", cards=0)
            uniform = evaluate(opened, observed, "uniform", "time", cards=0)
        assert paired_gain(found, uniform).mean > 0.0
        loki = next(group for group in found.players if group.name.startswith("loki"))
        assert loki.figures.log_loss.mean < 1.0

    def test_with_its_cards_loki_is_told_exactly(self, base: Path) -> None:
        """Without doubts, the model of a hand is the bot's own triple."""
        played, game, names = tables_of(base)
        mine = np.flatnonzero([name.startswith("loki") for name in names])[:200]
        formula = Formula()
        number = {tuple(sorted(hand)): at for at, hand in enumerate(HANDS.tolist())}
        hole = played.situations.hole[mine].tolist()
        hands = np.array([number[tuple(sorted(cards))] for cards in hole])
        found = LokiModel(formula, doubts=False).chances(played.tables[mine], game, hands).shares
        own = formula.own_triples(played.tables[mine], game)
        legal = legal_at(played.tables[mine], game)
        moved = np.where(legal, own, 0.0)
        moved[:, CALL] += np.where(legal, 0.0, own).sum(axis=1)
        np.testing.assert_allclose(found, moved, atol=1e-12)


def test_bad_requests(cbr, tmp_path: Path) -> None:
    answer = cbr("predict", no_limit_base(tmp_path), "--model", "loki")
    assert answer.code == 2
    assert "limit games" in answer.err
    assert answer.err.count("\n") == 1
    with pytest.raises(NoSuchName, match="style"):
        model_maker("loki?style=drunk")(None)
    with pytest.raises(NoSuchName, match="model of loki"):
        model_maker("loki?model=trees")(None)
    with pytest.raises(BadValue, match="true or false"):
        model_maker("loki?doubts=3")(None)
