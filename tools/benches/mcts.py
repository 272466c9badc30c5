"""Speed of tree search: iterations a second in heads-up limit, with play-out betting.

The peer is OpenSpiel's C++ MCTS with one random play-out an iteration (extra `bench`), which sees
all cards; its constant is as large as a pot, since with a small one nearly all visits end in folds.
Without OpenSpiel the peer is playing the same hands out by the same model without any tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benches import Row, compare_rates
from cbr.jit import njit
from cbr_holdem.cards import cards
from cbr_holdem.chance import key
from cbr_holdem.situation import Pending
from cbr_holdem.table import ACTOR, Game, deal_all, new_tables, step_all
from cbr_mcts import (
    CELLS,
    KINDS,
    LOGITS,
    TRAITS,
    Roots,
    SearchBot,
    copy_table,
    deal_hidden,
    new_found,
    play_by_model,
    search_all,
)
from cbr_opponents import PROFILE

_ITERATIONS, _PEERS = 50_000, 5_000
#: OpenSpiel's form of the game.
_SPIEL = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=4,blind=5 10,raiseSize=10 10 20 20,"
    "firstPlayer=2 1 1 1,maxRaises=3 4 4 4,numSuits=4,numRanks=13,numHoleCards=2,"
    "numBoardCards=0 3 1 1,stack=10000 10000)"
)


def rows(full: bool) -> list[Row]:
    found = []
    for model, actions, where in (
        ("uniform", "", "before the flop"),
        ("shipped", "", "before the flop"),
        ("shipped", "cc", "from the flop"),
    ):
        bot = SearchBot(model=model, iterations=_ITERATIONS)
        game = Game("limit")
        table = _table(game, actions)
        peer_name, peer, per = _peer(bot, table, game, len(actions))
        found.append(
            compare_rates(
                f"search by {model} {where}",
                _search(bot, table, game, _ITERATIONS),
                peer_name,
                peer,
                per=_ITERATIONS,
                peer_per=per,
                unit="iterations/s",
                repeat=7 if full else 3,
            )
        )
    return found


def _table(game: Game, actions: str) -> Any:
    rows = new_tables(1).rows
    deck = np.concatenate([cards("7d2cAhKs"), cards("QsJs2d3h9c")])[None].astype(np.uint8)
    deal_all(rows, game.terms, 2, np.full((1, 2), 10_000), deck)
    for action in actions:
        step_all(rows, game.terms, np.array(["fcr".index(action)]), np.array([0]))
    return Pending(rows, game, np.array([0])).seen()


def _search(bot: SearchBot, table: Any, game: Game, iterations: int) -> Callable[[], Any]:
    engine = bot.engine_of(game)
    moves, models = len(engine.players.considered), len(engine.models)
    roots = Roots(
        table,
        game.terms,
        np.ones((1, 10, models)),
        np.full((1, moves), np.nan),
        np.zeros((1, models, 10, PROFILE), np.uint8),
        np.ones((1, models, 10, CELLS, KINDS)),
        np.zeros((1, models, 10, LOGITS, TRAITS)),
        np.ones(1, np.uint64),
    )
    found = new_found(1, moves)
    return lambda: search_all(
        roots, engine.settings, engine.players, engine.work, iterations, True, found
    )


def _peer(
    bot: SearchBot, table: Any, game: Game, called: int
) -> tuple[str, Callable[[], Any], int]:
    try:
        import pyspiel
    except ImportError:
        engine = bot.engine_of(game)
        _search(bot, table, game, 10)()
        given = (table[0], game.terms, engine.settings, engine.players, engine.work)
        return "play-outs without a tree", lambda: _play_outs(*given, _ITERATIONS), _ITERATIONS
    state = pyspiel.load_game(_SPIEL).new_initial_state()
    while state.is_chance_node() or called > 0:
        if state.is_chance_node():
            state.apply_action(state.legal_actions()[0])
        else:
            state.apply_action(1)
            called -= 1
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    peer = pyspiel.MCTSBot(state.get_game(), evaluator, 40.0, _PEERS, 1_000, False, 1, False)
    return "OpenSpiel", lambda: peer.mcts_search(state), _PEERS


@njit
def _play_outs(
    root: Any, terms: Any, settings: Any, players: Any, work: Any, iterations: Any
) -> None:
    _tree, belief, scene = work
    r, reads = scene.row, settings.reads_hands
    for i in range(iterations):
        copy_table(root, r)
        state = deal_hidden(r, root[ACTOR], belief, scene, key(np.uint64(1), i, 0, 0))
        play_by_model(r, terms, players, root[ACTOR], 0, reads, scene, state)
