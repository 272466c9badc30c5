"""`cbr predict`: models are tested on players or hands that they were not fitted to."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from made_logs import limit_base, no_limit_base

from cbr import Casebase
from cbr.building import build
from cbr.plugging import default_plugins
from cbr_arena import Match, play, players_of, write_log
from cbr_holdem.table import CALL, FOLD, RAISE
from cbr_opponents.boosting import Trees
from cbr_opponents.decision_features import F_STRENGTH, FEATURES
from cbr_opponents.learning import fit_frequencies, observe
from cbr_opponents.opponent_model import OpponentModel
from cbr_opponents.prediction import evaluate, paired_gain
from cbr_opponents.prediction.scores import legal_baseline, scored
from cbr_opponents.prediction.shown_cards import card_figures
from cbr_opponents.prediction.splits import matches_of, splits_of

PRICED = """
import numpy as np
from cbr_opponents import player_model


@player_model("priced")
def priced(situations):
    fold = np.clip(situations["pot_odds"], 0.0, 0.9)
    return np.stack([fold, 0.8 * (1.0 - fold), 0.2 * (1.0 - fold)], axis=1)
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return limit_base(tmp_path_factory.mktemp("predicted"))


@pytest.fixture(scope="module")
def no_limit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return no_limit_base(tmp_path_factory.mktemp("predicted-nl"))


def test_nobody_is_on_both_sides(base: Path) -> None:
    with Casebase.open(base) as opened:
        observed = observe(opened)
    for how in ("players", "time", "leave-player-out"):
        splits = list(splits_of(observed, how))
        for one in splits:
            assert not (one.known & one.tested).any()
            assert (one.known | one.tested).all()
            of = observed.hand if how == "time" else observed.player
            assert not set(of[one.known]) & set(of[one.tested])
        assert len(splits) == (5 if how == "leave-player-out" else 1)
    last = next(iter(splits_of(observed, "time")))
    assert observed.hand[last.known].max() < observed.hand[last.tested].min()
    assert [s.tested.tolist() for s in splits_of(observed, "players", 3)] == [
        s.tested.tolist() for s in splits_of(observed, "players", 3)
    ]


def test_players_of_one_match_share_cards(tmp_path: Path) -> None:
    """Neither the player nor the cards of a tested decision were seen before."""
    logs = []
    for place, name in enumerate(("a-b.match1fwd", "a-b.match1rev", "a-c.match2fwd")):
        folder = tmp_path / str(place)
        folder.mkdir()
        log = folder / f"{name}.phhs"
        seats = ("lag", "call") if place < 2 else ("lag", "miniloki")
        game = Match(players_of(list(seats)), 60, seed=place, duplicate=False, keep_hands=True)
        write_log(play(game).hands, log)
        logs.append(log)
    build(logs, tmp_path / "all.db", plugins=default_plugins())
    with Casebase.open(tmp_path / "all.db") as opened:
        observed = observe(opened)
        match = matches_of(opened, observed)
        assert len(np.unique(match)) == 2
        first = observed.hand <= 120
        assert len(np.unique(match[first])) == len(np.unique(match[~first])) == 1
        splits = list(splits_of(observed, "matches", 0, opened))
        assert splits
        for one in splits:
            assert not set(match[one.known]) & set(match[one.tested])
            assert not set(observed.player[one.known]) & set(observed.player[one.tested])


def test_scores_are_those_of_their_definition() -> None:
    chances = np.array([[0.5, 0.3, 0.2], [0.0, 0.1, 0.9]])
    found = scored(chances, np.array([FOLD, CALL]), np.array([0, 1]))
    assert found.right.tolist() == [1.0, 0.0]
    assert found.log_loss == pytest.approx(-np.log([0.5, 0.1]))
    assert found.brier == pytest.approx([0.25 + 0.09 + 0.04, 0.81 + 0.81])


def test_the_baseline_knows_what_is_legal(base: Path) -> None:
    with Casebase.open(base) as opened:
        observed = observe(opened)
    chances = legal_baseline(observed, observed)
    for facing in (False, True):
        for may_raise in (False, True):
            mine = (observed.facing == facing) & (observed.may_raise == may_raise)
            if mine.sum() > 200:
                often = np.bincount(observed.kind[mine], minlength=3) / mine.sum()
                np.testing.assert_allclose(chances[mine][0], often, atol=0.01)


@pytest.mark.long
class TestModels:
    def test_trees_tell_programs_better_than_frequencies(self, base: Path) -> None:
        with Casebase.open(base) as opened:
            observed = observe(opened)
            trees = evaluate(opened, observed, "trees?trees=20", "time", cards=200)
            frequencies = evaluate(opened, observed, "frequencies", "time", cards=0)
            uniform = evaluate(opened, observed, "uniform", "time", cards=0)
        assert trees.public.gain.mean > frequencies.public.gain.mean > uniform.public.gain.mean
        assert paired_gain(trees, frequencies).mean > 0.0
        assert trees.with_cards is not None
        assert trees.with_cards.log_loss.mean < trees.public.log_loss.mean - 0.05
        # What they did tells what they hold.
        assert trees.cards is not None
        assert trees.cards.multiple.mean > 1.5
        assert trees.cards.log.mean > trees.cards.uniform_log
        counted = sum(group.figures.decisions for group in trees.players)
        assert counted == trees.decisions == sum(g.figures.decisions for g in trees.situations)

    def test_cards_are_inferred_with_what_was_seen_of_a_player(self, base: Path) -> None:
        """A tree that splits on the hands seen of a player changes the range of one seen before."""
        with Casebase.open(base) as opened:
            observed = observe(opened)
            tested = np.ones(len(observed), bool)
            plain = fit_frequencies(observed)
            seen, strength = FEATURES, F_STRENGTH
            leaf = np.zeros((1, 32, 3))
            leaf[0, 3] = (-9.0, -9.0, 0.0)  # both features high: a raise
            one = Trees(
                np.array([[seen, strength, 0, 0, 0]], np.uint8),
                np.array([[0, 100, 255, 255, 255]], np.uint8),
                leaf,
            )
            model = OpponentModel.of(plain.grid, trees=[one] * 4, average=plain.average)
            strangers = observed.features.copy()
            strangers[:, FEATURES:] = 0
            unseen = dataclasses.replace(observed, features=strangers)
            known, blank, without = (
                card_figures(opened, arrays, of, tested, 200)
                for arrays, of in ((model, observed), (model, unseen), (plain, observed))
            )
        assert blank == without
        assert known != blank

    def test_sizes_are_scored_where_there_are_some(self, base: Path, no_limit: Path) -> None:
        for file, there in ((base, False), (no_limit, True)):
            with Casebase.open(file) as opened:
                found = evaluate(opened, observe(opened), "frequencies", "time", cards=0)
            assert (found.sizes is not None) == there

    def test_a_model_in_plain_python_is_measured_too(self, cbr, base: Path, plugin_file) -> None:
        plugin = plugin_file(PRICED, "priced.py")
        words = [base, "--model", "priced", "--split", "time", "--json", "--plugin", plugin]
        found = cbr("predict", *words).json
        assert found["model"] == "priced"
        assert 0.0 < found["all"]["log_loss"] < 3.0
        assert found["all"]["with_cards"]["decisions"] == found["all"]["decisions"]


@pytest.mark.long
def test_the_command(cbr, base: Path, tmp_path: Path) -> None:
    plot, curve = tmp_path / "p.png", tmp_path / "c.png"
    words = [base, "--model", "frequencies", "--split", "leave-player-out", "--cards", 50]
    answer = cbr("predict", *words, "--against", "uniform", "--plot", plot, "--curve", curve)
    assert answer.code == 0, answer.err
    for word in ("where cards are known", "river, facing a bet", "by player", "1/1326", "paired"):
        assert word in answer.out
    assert plot.stat().st_size > 5_000
    assert curve.stat().st_size > 5_000
    found = cbr("predict", *words, "--json").json
    assert set(found) >= {"model", "split", "rows", "all", "cards"}
    assert len(found["rows"]) == 5
    assert set(found["rows"][0]) >= {
        *("player", "decisions", "accuracy", "log_loss"),
        *("baseline_accuracy", "baseline_log_loss", "ci95"),
    }
    assert set(found["cards"]) >= {"multiple", "log", "ci95", "hands"}
    again = cbr("predict", *words, "--json").json
    assert again == found


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--model", "nobody"], "no player model 'nobody'"),
        (["--model", "trees?leaves=3"], "leaves"),
        (["--split", "hands"], "no split 'hands'"),
        (["--plot", "p.txt"], "a picture is called"),
    ],
)
def test_bad_requests(cbr, base: Path, words: list[str], says: str) -> None:
    answer = cbr("predict", base, *words)
    assert answer.code == 2
    assert says in answer.err
    assert answer.err.count("\n") == 1


def test_other_casebases_are_refused(cbr, cars_db: Path) -> None:
    answer = cbr("predict", cars_db)
    assert answer.code == 2
    assert "not of hold'em" in answer.err


def test_raises_are_moves_of_their_own(no_limit: Path) -> None:
    with Casebase.open(no_limit) as opened:
        observed = observe(opened)
    assert observed.moves > RAISE + 5
    assert (observed.kind[observed.move >= RAISE] == RAISE).all()
