"""The bot `mcts` in matches: what it learns, explains, and plays."""

from __future__ import annotations

import numpy as np
import pytest

from cbr import BadValue
from cbr.plugging import default_plugins
from cbr_arena import Chance, Match, advice_of, build, play, players_of
from cbr_holdem.cards import cards
from cbr_holdem.situation import Pending
from cbr_holdem.table import ACTOR, Game, call_down, deal_all, new_tables, step_all
from cbr_mcts import SearchBot
from cbr_mcts.corrections import CELLS
from cbr_mcts.learning import memory_of, seen_at, watch
from cbr_mcts.models import PRIORS, models_of
from cbr_opponents import CLASSES, CONTEXTS, OpponentModel, read_model, save_model
from cbr_opponents.remembering import OpponentMemory

LIMIT, NO_LIMIT = Game("limit"), Game("nolimit")


def dealt(game: Game, actions: str, seats: int = 2) -> np.ndarray:
    rows = new_tables(1).rows
    deck = cards("7d2cAhKs4c4dTs8s" + "QsJs2d3h9c")
    deck = np.concatenate([deck[: 2 * seats], deck[-5:]])[None].astype(np.uint8)
    deal_all(rows, game.terms, seats, np.full((1, seats), 2_000), deck)
    for action in actions:
        step_all(rows, game.terms, np.array(["fcr".index(action)]), np.array([0]))
    return rows


def decide(bot: SearchBot, game: Game, actions: str, seats: int = 2):
    memory = np.zeros(1, bot.memory) if bot.memory else None
    one = np.zeros(1, np.int64)
    given = Pending(dealt(game, actions, seats), game, one)
    return given, bot.act(given, memory, Chance(1, one, one, one))


@pytest.mark.parametrize("game", [LIMIT, NO_LIMIT])
def test_the_models_that_ship_can_be_read_and_fit_their_game(game):
    model = models_of("shipped", game.betting)[0]
    assert read_model(PRIORS[game.betting]).betting == game.betting
    assert model.usual is not None
    assert model.arrays.reads_hands


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"style": "gerritsen", "model": "none"},
        {"opponents": "mixed", "trust": 0.5},
        {"select": "puct", "prior": "call"},
        {"playout": "leave", "board": "exact", "expand": "all", "choose": "softmax"},
        {"backup": "max-distribution", "select": "uct+", "scale": "pot", "deals": "fresh"},
        {"ms": 3.0, "select": "ucb1-tuned", "own": "call", "choose": "visits"},
        {"own": "model", "root": "rule", "fold": "tried", "backup": "max"},
    ],
)
def test_all_options_give_legal_chances_in_both_games(options):
    for game in (LIMIT, NO_LIMIT):
        effort = {} if "ms" in options else {"iterations": 150}
        bot = SearchBot(**effort, **options)
        for actions, seats in (("", 2), ("rr", 4), ("cccc", 2)):
            given, answer = decide(bot, game, actions, seats)
            assert answer.shares.sum() == pytest.approx(1.0)
            assert (answer.shares >= 0.0).all()
            raised = answer.shares[0, 2] > 0.0
            assert not raised or given.raise_from[0] <= answer.to[0] <= given.raise_to[0]
        assert not bot.take_faults()


def test_a_prior_proposes_what_puct_tries_first():
    """With few iterations and a large constant, visits follow the bot inside."""
    visits = {}
    for inner in ("call", "raise"):
        bot = SearchBot(iterations=40, prior=inner, c=1e5)
        situations = Pending(dealt(LIMIT, ""), LIMIT, np.zeros(1, np.int64))
        one = np.zeros(1, np.int64)
        found = bot.search(
            situations, situations.seen(), np.zeros(1, bot.memory), Chance(1, one, one, one)
        )
        visits[inner] = found.visits[0]
    assert visits["call"][1] > 30 > visits["call"][2]
    assert visits["raise"][2] > 30 > visits["raise"][1]


def test_what_it_learns_is_what_a_memory_counts():
    """Counts are by players from our left on, whatever their seats."""
    rows = dealt(LIMIT, "rcfc", 4)
    call_down(rows, LIMIT.terms)
    memory, models = np.zeros(1, memory_of(1)), models_of("shipped", "limit")
    for own in (2, 2, 2):
        watch(rows, np.array([own]), LIMIT, 0.9, models, memory)
    expected = OpponentMemory("limit", 0.9)
    for _ in range(3):
        expected.watch(rows, [["a", "b", "", "d"]], LIMIT)
    for turn, name in ((1, "d"), (2, "a"), (3, "b")):
        np.testing.assert_allclose(memory["seen"][0, turn], expected.of(name).seen)
        assert memory["hands"][0, turn] == expected.of(name).hands
    assert not memory["seen"][0, 0].any()
    table = dealt(LIMIT, "", 4)
    own = int(table[0, ACTOR])
    profiles = seen_at(table, table[:, ACTOR], models, memory).profiles
    known = expected.profiles_of(["d", "a", "b"], models[0].usual)
    for turn in range(3):
        np.testing.assert_array_equal(profiles[0, 0, (own + 1 + turn) % 4], known[turn])
    np.testing.assert_array_equal(profiles[0, 0, own], models[0].arrays.stranger)


def test_models_are_corrected_by_what_players_do(tmp_path):
    """Against one who always calls, calls become likely wherever that was seen, with any hand; and
    of two models the one that expects calls becomes the likelier one."""
    rows = dealt(LIMIT, "cccccccc")
    grid = np.zeros((4, CONTEXTS, CLASSES, 3))
    grid[..., 1:] = (0.8, 0.2)
    save_model(tmp_path / "caller.npz", OpponentModel.of(grid), "limit")
    models = models_of(f"uniform,(file:{tmp_path}/caller.npz)", "limit")
    memory, own = np.zeros(1, memory_of(2)), np.array([0])
    for _ in range(40):
        watch(rows, own, LIMIT, 1.0, models, memory)
    seen = seen_at(rows, own, models, memory)
    assert seen.of_models[0, 1, 0] < 0.02 < seen.of_models[0, 1, 1] == 1.0
    # Where a check is free on the flop, model 0 expects a bet as often.
    flop = CELLS // 4
    fold, call, more = seen.factors[0, 0, 1, flop]
    assert (call, more) == pytest.approx((2.0, 0.0), abs=0.35)
    assert fold == pytest.approx(1.0)
    assert (seen.factors[0, :, 0] == 1.0).all()  # our own seat
    assert (seen.factors[0, :, 1, flop + 1 : 2 * flop] == 1.0).all()  # it never faced a bet


def test_an_explanation_tells_moves_lines_and_ranges():
    """With the random numbers of the decision it tells what the bot does."""
    for game in (LIMIT, NO_LIMIT):
        bot = SearchBot(iterations=600, select="puct")
        rows, one = dealt(game, "rc"), np.zeros(1, np.int64)
        given, memory = Pending(rows, game, one), np.zeros(1, bot.memory)
        told = bot.explain(given, memory, Chance(1, one, one, one))
        played = bot.act(given, memory, Chance(1, one, one, one))
        np.testing.assert_allclose(np.bincount(told.kind, told.chance, 3), played.shares[0])
        assert told.visits.sum() == 600
        assert told.to[told.kind < 2].max() == 0
        assert told.lines[0][0][:2] == (int(rows[0, 2]), int(told.kind[told.visits.argmax()]))
        assert all(len(line) <= 76 for line in told.why.splitlines())
        (seat,) = told.ranges
        assert f"seat {seat + 1} (0 hands seen)" in told.why
        advice = advice_of(told, given.seen()[0], game)
        assert len(advice.choices) == len(told.kind)
        assert len(advice.lines[0]) > 1


def test_a_match_has_the_same_result_in_any_pieces(monkeypatch):
    """Sessions that learn, side by side or one after the other."""
    players = players_of(["mcts?iterations=60", "lag", "call"])
    match = Match(players, 36, session=4, seed=3)
    together = play(match)
    monkeypatch.setattr("cbr_arena.match._SESSIONS", 1)
    alone = play(match)
    np.testing.assert_array_equal(together.won, alone.won)
    assert not together.faults


def test_it_beats_a_player_who_always_calls():
    players = players_of(["mcts?iterations=300&learn=false", "call"])
    played = play(Match(players, 400, seed=5))
    won = played.won[:, 0]
    assert won.mean() - 1.96 * won.std() / len(won) ** 0.5 > 0.0
    assert not played.faults


def test_models_of_another_game_and_joined_bots_are_checked(tmp_path):
    spec = f"mcts?model=file:{PRIORS['limit']}"
    assert build(spec, "limit").games == ("limit",)
    with pytest.raises(BadValue, match="plays limit"):
        build(spec, "nolimit")
    with pytest.raises(BadValue, match="needs cases"):
        build("cbr:empty?search=100", "limit")
    kind = default_plugins().get("bot", "mcts")
    assert kind.help
