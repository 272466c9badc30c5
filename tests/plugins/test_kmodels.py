"""Clusters of players: who acts alike is found, and predicts players who were held out."""

from __future__ import annotations

import dataclasses
from concurrent.futures import Executor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from made_logs import limit_base, no_limit_base

from cbr import BadValue, Casebase
from cbr.workers import executor
from cbr_holdem.table import CALL, RAISE
from cbr_kmodels import (
    KModels,
    Plan,
    fit_clusters,
    halves,
    prepare,
    read_kmodels,
    save_kmodels,
)
from cbr_kmodels.clustering import Block, _maximise, cluster, log_chances, posterior
from cbr_kmodels.differences import LEAVES, Choices, differences
from cbr_kmodels.evaluation import choose_k, held_out
from cbr_kmodels.model import _before, earlier_sizes, with_own_sizes
from cbr_kmodels.report import describe, styles
from cbr_kmodels.sizes import size_classes
from cbr_kmodels.training import best_start
from cbr_opponents import SequentialModel, described_chances, model_maker, workspace
from cbr_opponents.learning import Observed, observe
from cbr_opponents.testing import check_player_model

#: Options that are quick on small logs, and a plan.
QUICK = ["--model", "frequencies", "--own", "frequencies"]
PLAN = Plan(k=2, starts=3, rounds=12, shared="frequencies", own="frequencies")


def two_kinds(players: int = 12, each: int = 400, seed: int = 0) -> Choices:
    """Choices between two moves; of every other player the second is likely where feature 3 is
    above 10, of the others where it is not."""
    rng = np.random.default_rng(seed)
    features = rng.integers(0, 21, (players * each, 6)).astype(np.uint8)
    player = np.repeat(np.arange(players), each)
    often = np.where((features[:, 3] > 10) == (player % 2 == 0), 0.8, 0.2)
    made = (rng.random(len(player)) < often).astype(np.int64)
    return Choices(features, made, player, np.full((len(player), 2), np.log(0.5)))


class TestClustering:
    choices = two_kinds()
    situations = differences(choices, np.arange(6), 1)
    block = Block.of(choices, situations)

    def test_the_situations_are_those_in_which_players_differ(self) -> None:
        assert (int(self.situations.feature[0, 0]), int(self.situations.cut[0, 0])) == (3, 10)

    def test_features_that_may_not_be_used_are_not(self) -> None:
        found = differences(self.choices, np.array([0, 5]), 1)
        assert set(found.feature.ravel().tolist()) <= {0, 5}

    def test_two_kinds_are_told_apart(self) -> None:
        found = cluster([self.block], 12, 2, seed=1, rounds=40)
        nearest = found.member.argmax(axis=1)
        assert found.settled
        assert len(set(nearest[::2])) == len(set(nearest[1::2])) == 1
        assert nearest[0] != nearest[1]
        assert found.share == pytest.approx([0.5, 0.5], abs=0.01)
        # The model of the cluster of player 0 knows what its players do.
        chances = np.exp(log_chances(self.block, found.effects[0]))[:, nearest[0], 1]
        above = self.choices.features[:, 3] > 10
        assert chances[above].mean() == pytest.approx(0.8, abs=0.03)
        assert chances[~above].mean() == pytest.approx(0.2, abs=0.03)

    def test_rounds_do_not_lose_likelihood(self) -> None:
        found = cluster([self.block], 12, 3, seed=0, rounds=10)
        likely = [one.likelihood for one in found.rounds]
        assert (np.diff(likely) > -1.0).all()
        assert likely[-1] > likely[0]

    def test_clusters_after_some_rounds(self) -> None:
        found = cluster([self.block], 12, 3, seed=0, rounds=6)
        early = cluster([self.block], 12, 3, seed=0, rounds=2)
        np.testing.assert_array_equal(found.after(2).effects[0], early.effects[0])
        assert found.after(2).likelihood == early.likelihood
        assert found.after(2).share.sum() == pytest.approx(1.0)

    def test_a_cluster_that_empties_is_the_shared_model(self) -> None:
        member = np.zeros((12, 2))
        member[:, 0] = 1.0
        effects = np.ones((2, 1, LEAVES, 2))
        for _ in range(40):
            _maximise(self.block, member, effects)
        assert np.abs(effects[1]).max() < 1e-6

    def test_more_clusters_than_players(self) -> None:
        found = cluster([self.block], 12, 20, seed=0, rounds=8)
        assert np.isfinite(found.effects[0]).all()
        assert np.isfinite(found.member).all()
        assert (found.share > 0.0).all()

    def test_same_seed_same_clusters(self) -> None:
        one, two = (cluster([self.block], 12, 3, seed=4, rounds=5) for _ in range(2))
        np.testing.assert_array_equal(one.member, two.member)

    def test_few_choices_have_no_situations(self) -> None:
        found = differences(self.choices.take(np.arange(50)), np.arange(6), 2)
        assert found.feature.shape == (0, 5)
        block = Block.of(self.choices, found)
        assert (log_chances(block, np.zeros((2, 0, LEAVES, 2))) == np.log(0.5)).all()


@pytest.mark.parametrize("last", [0, 1, 7])
def test_only_earlier_hands_count(last: int) -> None:
    rng = np.random.default_rng(3)
    player = np.repeat([4, 7], [40, 25])
    hand = np.concatenate([np.sort(rng.integers(0, 15, 40)), np.sort(rng.integers(0, 9, 25))])
    made, out = rng.normal(size=(65, 3)), np.empty((65, 3))
    _before(player, hand, made, last, out)
    for i in range(65):
        earlier = np.flatnonzero((player == player[i]) & (hand < hand[i]))
        if last:
            earlier = earlier[-last:]
        np.testing.assert_allclose(out[i], made[earlier].sum(axis=0), atol=1e-12)


def test_sizes_of_raises_in_earlier_hands_count_before_the_flop() -> None:
    observed: Any = SimpleNamespace(
        player=np.array([1, 0, 1, 1, 1, 0]),
        hand=np.array([1, 1, 1, 2, 2, 3]),
        place=np.array([[0, 0], [0, 0], [1, 0], [0, 0], [1, 0], [0, 0]]),
        move=np.array([RAISE + 1, RAISE, RAISE, CALL, RAISE + 1, CALL]),
        moves=RAISE + 2,
    )
    found = earlier_sizes(observed)
    np.testing.assert_array_equal(found, [[0, 0], [0, 0], [0, 0], [0, 1], [0, 0], [1, 0]])
    raises = np.array([[0.2, 0.2], [0.4, 0.0]])
    mixed = with_own_sizes(raises, np.array([[10.0, 0.0], [0.0, 5.0]]))
    np.testing.assert_allclose(mixed, [[0.3, 0.1], [0.4, 0.0]])


def read(path: Path) -> Observed:
    with Casebase.open(path) as base:
        return observe(base)


@pytest.fixture(scope="module", params=["limit", "nolimit"])
def fitted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp(request.param)
    observed = read((limit_base if request.param == "limit" else no_limit_base)(folder))
    model, found = fit_clusters(prepare(observed, PLAN), PLAN)
    return request.param, observed, model, found, folder


@pytest.mark.long
class TestModel:
    def test_bots_of_one_kind_are_in_one_cluster(self, fitted) -> None:
        betting, observed, model, _, _ = fitted
        nearest = model.members(observed).argmax(axis=1)
        assert len(set(nearest)) == 2
        kinds: dict[str, set[int]] = {}
        for name, at in zip(observed.names, nearest.tolist(), strict=True):
            kinds.setdefault(name.split("#")[0].split("?")[0], set()).add(at)
        assert all(len(clusters) == 1 for clusters in kinds.values()), kinds
        if betting == "limit":
            assert kinds["lag"] != kinds["miniloki"], kinds

    def test_it_keeps_the_contract(self, fitted) -> None:
        betting, _, model, _, _ = fitted
        assert isinstance(model, SequentialModel)
        check_player_model(model, betting=betting)

    def test_a_cluster_in_array_form_has_the_same_chances(self, fitted) -> None:
        _, observed, model, _, _ = fitted
        member = np.zeros((len(observed), 2))
        member[:, 1] = 1.0
        mixed = model.mixed(observed, member)
        arrays = model.of_cluster(1)
        out = np.empty((len(observed), observed.moves))
        held = np.full(len(observed), -1, np.int64)
        args = (observed.place, observed.features, held, arrays, workspace(arrays), out)
        described_chances(*args)
        fine = observed.may_raise
        np.testing.assert_allclose(mixed[fine], out[fine], atol=2e-4)
        np.testing.assert_allclose(mixed.sum(axis=1), 1.0)

    @pytest.mark.parametrize("cards", [False, True])
    def test_the_future_is_not_used(self, fitted, cards: bool) -> None:
        _, observed, model, _, _ = fitted
        chosen = observed.player == 1
        hand = observed.hand[chosen][chosen.sum() // 2]
        later = chosen & (observed.hand >= hand)
        move = np.where(later, np.where(observed.may_raise, RAISE, CALL), observed.move)
        other = dataclasses.replace(observed, move=move)
        one, two = (model.in_sequence(of, chosen, cards) for of in (observed, other))
        up_to = observed.hand[chosen] <= hand
        np.testing.assert_array_equal(one[up_to], two[up_to])

    def test_halves_are_of_hands(self, fitted) -> None:
        _, observed, _, _, _ = fitted
        first = halves(observed)
        for player in range(len(observed.names)):
            mine = observed.player == player
            early, late = (set(observed.hand[mine & part]) for part in (first, ~first))
            assert max(early) < min(late)
            assert 0 <= len(early) - len(late) <= 1

    def test_clusters_predict_better_than_one_model(self, fitted) -> None:
        """Of players that are their members: bots differ much."""
        _, observed, model, _, _ = fitted
        found = held_out(model, observed, observed)
        ways = {one.name: one for one in found.moves}
        gain = ways["clusters"].gain
        assert gain.mean > 0.01
        assert ways["clusters"].log_loss.mean < ways["what is legal"].log_loss.mean
        assert found.confusion.sum() == found.decisions

    def test_the_number_of_clusters_is_chosen_by_who_was_held_out(self, fitted) -> None:
        _, observed, _, _, _ = fitted
        k, tried = choose_k(prepare(observed, PLAN), observed, PLAN, (1, 2), None)
        assert k == 2
        assert [one for one, _ in tried] == [1, 2]
        assert tried[1][1].mean < tried[0][1].mean

    def test_a_file_has_the_same_model(self, fitted) -> None:
        betting, observed, model, _, folder = fitted
        path = folder / "k.npz"
        save_kmodels(path, model, betting)
        assert read_kmodels(path)[1] == betting
        again: KModels = model_maker(f"kmodels:{path}")(observed)
        everything = np.ones(len(observed), bool)
        one, two = (of.in_sequence(observed, everything, False) for of in (model, again))
        np.testing.assert_array_equal(one, two)
        arrays = model_maker(f"kmodels?file={path}&cluster=2")(observed).arrays
        np.testing.assert_array_equal(arrays.leaf, model.of_cluster(1).leaf)
        with pytest.raises(BadValue, match="must be 1 to 2, or 0 for all"):
            model_maker(f"kmodels?file={path}&cluster=3")(observed)
        with pytest.raises(BadValue, match="must be 0, for all moves, or more"):
            model_maker(f"kmodels?file={path}&last=-1")(observed)
        recent = model_maker(f"kmodels?file={path}&last=5")(observed)
        assert not np.array_equal(recent.in_sequence(observed, everything, False), one)


@pytest.mark.long
def test_a_search_weighs_the_clusters(fitted) -> None:
    """By how well each explains the moves of an opponent, and the model that reads profiles."""
    from cbr_mcts import SearchBot

    betting, _, model, _, folder = fitted
    path = folder / "search.npz"
    save_kmodels(path, model, betting)
    bot = SearchBot(model=f"kmodels:{path}")
    assert bot.games == (betting,)
    assert bot.memory["opponents"]["explained"].shape[-1] == 3
    with pytest.raises(BadValue, match="names 15 models" if betting == "limit" else "of nolimit"):
        SearchBot(model=",".join([f"kmodels:{path}"] * 5))


@pytest.mark.slow  # the search is compiled for two models
def test_a_search_plays_by_clusters(fitted, cbr, tmp_path: Path) -> None:
    """One cluster and the model that reads profiles, in a match from first hand to last."""
    betting, _, model, _, _ = fitted
    one = dataclasses.replace(
        model,
        share=np.ones(1),
        rates=model.rates[:1],
        moves=model.moves._replace(effects=model.moves.effects[:1]),
        sizes=model.sizes and model.sizes._replace(effects=model.sizes.effects[:1]),
    )
    path = tmp_path / "one.npz"
    save_kmodels(path, one, betting)
    words = [f"mcts?model=kmodels:{path}&iterations=40", "lag", "call", "--game", betting]
    found = cbr("match", *words, "--hands", 12, "--json")
    assert found.code == 0, found.err
    assert [line["faults"] for line in found.json["bots"]] == [{}, {}, {}]


def test_what_is_believed_of_a_stranger_gives_way_to_what_was_seen() -> None:
    """Clusters are as likely as they have players; the model that reads profiles as hands grow."""
    from cbr_mcts.learning import prior_logs

    models: Any = [
        SimpleNamespace(share=share, hands=hands)
        for share, hands in [(0.75, 0.0), (0.25, 0.0), (1.0, 5.0)]
    ]
    chances = np.exp(prior_logs(models, np.array([0.0, 5.0, 45.0])))
    assert chances == pytest.approx(
        np.array([[0.75, 0.25, 0.01], [0.375, 0.125, 0.5], [0.075, 0.025, 0.9]])
    )


def changed(path: Path, out: Path, **parts: object) -> Path:
    with np.load(path) as found:
        arrays = dict(found)
    for name, part in parts.items():
        name = name.replace("__", ".")
        if part is None:
            del arrays[name]
        else:
            arrays[name] = part(arrays[name].copy()) if callable(part) else np.asarray(part)
    np.savez(out, **arrays)
    return out


BAD = [
    ({"format": "something"}, "no file of clusters"),
    ({"version": 7}, "another version"),
    ({"version": "x"}, "another version"),
    ({"share": None}, "lacks the shares"),
    ({"share": lambda s: s * 2}, "share has values"),
    ({"share": lambda s: s[:1]}, "is float64"),
    ({"rates": lambda s: s * np.nan}, "rates has values"),
    ({"moves__effects": None}, "lacks the array 'moves.effects'"),
    ({"moves__effects": lambda e: e + 1e3}, "moves.effects has values"),
    ({"moves__effects": lambda e: e * np.nan}, "moves.effects has values"),
    ({"moves__feature": lambda f: f | 255}, "moves.feature has values"),
    ({"moves__cut": lambda c: c[:, :1]}, "moves.cut is uint8"),
    ({"more": 1}, "has the array 'more'"),
    ({"shared__grid": None}, "lacks the array 'grid'"),
    ({"own__grid": lambda x: x * np.nan}, "grid has values"),
]


@pytest.mark.long
@pytest.mark.parametrize(("change", "says"), BAD, ids=[says for _, says in BAD])
def test_a_damaged_file_is_refused(fitted, tmp_path: Path, change, says: str) -> None:
    betting, _, model, _, folder = fitted
    path = folder / "whole.npz"
    if not path.exists():
        save_kmodels(path, model, betting)
    with pytest.raises(BadValue, match=says.replace("(", "\\(")):
        read_kmodels(changed(path, tmp_path / "c.npz", **change))


@pytest.mark.long
def test_processes_and_dask_do_not_change_anything(pool: Executor, dask_cluster: str) -> None:
    """Starts are shared among them; the likeliest counts, the first of equal ones."""
    block = TestClustering.block
    observed = SimpleNamespace(player=block.player, names=[str(at) for at in range(12)])
    prepared: Any = SimpleNamespace(observed=observed, blocks=[block])
    one = best_start(prepared, PLAN)
    with executor(dask=dask_cluster) as dask:
        for of in (pool, dask):
            other = best_start(prepared, PLAN, pool=of)
            np.testing.assert_array_equal(one.member, other.member)
            assert one.likelihood == other.likelihood


class TestReport:
    def test_rates_of_players(self, fitted) -> None:
        _, observed, _, _, _ = fitted
        style, hands = styles(observed)
        for player in range(len(observed.names)):
            mine = observed.take(observed.player == player)
            entered = (mine.place[:, 0] == 0) & (
                (mine.move >= RAISE) | ((mine.move == CALL) & mine.facing)
            )
            assert hands[player] == len(set(mine.hand))
            share = len(set(mine.hand[entered])) / hands[player]
            assert style.vpip[player] == pytest.approx(share)

    def test_an_empty_cluster_has_a_row(self, fitted) -> None:
        _, observed, _, _, _ = fitted
        rows = describe(observed, np.zeros(len(observed.names), np.int64), 2)
        assert rows[1].words == "no players"
        assert rows[0].players == len(observed.names)
        assert rows[0].words == "as most players"


@pytest.mark.long
def test_the_command(cbr, tmp_path: Path) -> None:
    base, out = limit_base(tmp_path), tmp_path / "k.npz"
    words = ["cluster", base, "-k", "2", "--iterations", "8", *QUICK]
    answer = cbr(*words, "--out", out, "--plot", tmp_path / "p.png", "--sizes", 3, "--json")
    assert answer.code == 0, answer.err
    assert [row["players"] for row in answer.json["clusters"]].count(0) == 0
    assert sum(row["players"] for row in answer.json["clusters"]) == 5
    assert "NaN" not in answer.out
    assert sum(one["share"] for one in answer.json["sizes"]["bets"]) == pytest.approx(1.0)
    assert (tmp_path / "p.png").stat().st_size > 10_000
    shown = cbr(*words)
    assert "VPIP" in shown.out
    judged = cbr("predict", base, "--model", f"kmodels:{out}", "--split", "time", "--cards", 0)
    assert judged.code == 0, judged.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-k", "6", *QUICK], "6 clusters of 5 players, who made 10 decisions or more; give -k 5"),
        (["-k", "0"], "-k 0 must be a number"),
        (["-k", "many"], "-k many must be a number"),
        (["--out", "k.txt"], "FILE.npz"),
        (["--model", "nosuch"], "nosuch"),
    ],
)
def test_what_the_command_refuses(cbr, tmp_path: Path, words: list[str], says: str) -> None:
    answer = cbr("cluster", limit_base(tmp_path), *words)
    assert answer.code == 2
    assert says in answer.err


def test_other_files_are_refused(cbr, tmp_path: Path) -> None:
    base = limit_base(tmp_path)
    answer = cbr("predict", base, "--model", f"kmodels:{tmp_path / 'no.npz'}")
    assert answer.code == 2
    assert "no file of clusters" in answer.err
    (tmp_path / "bad.npz").write_bytes(b"PK nonsense")
    answer = cbr("predict", base, "--model", f"kmodels:{tmp_path / 'bad.npz'}")
    assert answer.code == 2
    assert "or damaged" in answer.err


class TestSizes:
    def test_classes_are_found_where_the_sizes_are(self) -> None:
        rng = np.random.default_rng(0)
        centre = rng.choice([0.5, 1.0, 3.0], 3_000, p=[0.5, 0.3, 0.2])
        found = size_classes(centre * np.exp(rng.normal(0.0, 0.03, 3_000)), 3)
        assert [one.mean for one in found] == pytest.approx([0.5, 1.0, 3.0], rel=0.02)
        assert [one.share for one in found] == pytest.approx([0.5, 0.3, 0.2], abs=0.03)

    def test_few_sizes_have_few_classes(self) -> None:
        found = size_classes(np.array([1.0, 1.0, np.nan, 2.0, 0.0]), 5)
        assert [(one.low, one.high) for one in found] == [(1.0, 1.0), (2.0, 2.0)]
        assert size_classes(np.array([]), 3) == []
        with pytest.raises(BadValue, match="1 or more"):
            size_classes(np.ones(3), 0)


def test_posteriors_are_chances() -> None:
    found, total = posterior(np.array([[-1000.0, -1001.0], [0.0, -np.inf]]))
    assert found.sum(axis=1) == pytest.approx(1.0)
    assert found[1, 0] == 1.0
    assert total[0] == pytest.approx(-1000.0 + np.log1p(np.exp(-1.0)))
