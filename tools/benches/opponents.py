"""Speed of opponent models: chances of moves, ranges, and fitting, against LightGBM and numpy.

The log is played here by `lag`, nine at a table. Chances are computed one decision after the other
inside compiled code, as roll-outs and search need them, at tables that fit into the cache of the
processor, since those simulate one table at a time; LightGBM, with as many rounds of trees of
as many leaves, predicts all rows in one call, which is the best it can do. A range is updated by
one move; the peer computes the chances of all hands in one batch and multiplies with numpy. Times
are of one thread.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benches import Row, compare
from cbr import Casebase
from cbr.building import build
from cbr.jit import njit
from cbr.plugging import default_plugins
from cbr_arena import Match, play, players_of, write_log
from cbr_holdem.cards import HANDS
from cbr_holdem.table import BOARD, BOARD_CARDS, STREET, Game
from cbr_opponents import (
    ArrayModel,
    OpponentModel,
    actor_strength,
    board_hands,
    fill_board,
    move_chances,
    replay_decisions,
    update_range,
    workspace,
)
from cbr_opponents.learning import TREES, Observed, fit_frequencies, fit_trees, observe

_HANDS, _FITTED = 1_500, 100_000
#: Different tables (3 KB each) of which chances are computed, and how often.
_TABLES, _TIMES = 128, 40


def rows(full: bool) -> list[Row]:
    import lightgbm

    observed, tables, game = _log()
    models = {"frequencies": fit_frequencies(observed), "trees": fit_trees(observed)}
    turn = tables[tables[:, STREET] == 2]
    learned, settings = lightgbm.Dataset, _settings()
    data = learned(observed.features, observed.kind)
    peer = lightgbm.train(settings, data, TREES)
    count = _TABLES * _TIMES
    some = observed.features[:count]
    again = np.tile(np.arange(_TABLES), _TIMES)
    few = turn[:_TABLES].copy()
    found = []
    for name, arrays in models.items():
        found.append(
            compare(
                f"chances by {name}, one decision on the turn",
                lambda arrays=arrays: _chances(few, game.terms, arrays, again),  # type: ignore[misc]
                "LightGBM, in one batch",
                lambda: peer.predict(some, num_threads=1),
                per=count,
                scale=1e9,
                unit="ns",
            )
        )
    for name, arrays in models.items():
        found.append(_range(name, arrays, turn, game))
    found.append(_fit(observed, 1_000_000 if full else _FITTED))
    return found


def _settings() -> dict[str, Any]:
    return {
        "objective": "multiclass",
        "num_class": 3,
        "num_leaves": 32,
        "learning_rate": 0.2,
        "num_threads": 1,
        "verbose": -1,
    }


def _log() -> tuple[Observed, Any, Game]:
    """Observed decisions, the tables at them, and the game."""
    with TemporaryDirectory() as folder:
        match = Match(players_of(["lag*9"]), _HANDS, seed=5, duplicate=False, keep_hands=True)
        write_log(play(match).hands, Path(folder) / "lag.phhs")
        file = Path(folder) / "lag.db"
        build([Path(folder) / "lag.phhs"], file, plugins=default_plugins())
        with Casebase.open(file) as base:
            observed = observe(base)
            bodies = [body for _, some in base.read_records(_HANDS) for body in some]
    played, terms, _ = replay_decisions(bodies)
    return observed, played.tables, Game.of_terms(terms[0])


@njit
def _chances(tables: Any, terms: Any, model: OpponentModel, decisions: Any) -> Any:
    """The chances of each decision, a number of a table, with the actor's own hand, whose strength
    is known beforehand."""
    space = workspace(model)
    strength = np.empty(len(tables), np.int64)
    for i in range(len(tables)):
        space.known[:] = -1
        strength[i] = actor_strength(tables[i], space.known, space.cards)
    total = 0.0
    for i in decisions:
        move_chances(tables[i], terms, strength[i], model, space)
        total += space.chances[1]
    return total


@njit
def _updates(r: Any, terms: Any, model: OpponentModel, hands: Any, times: Any) -> Any:
    space = workspace(model)
    weights = np.ones(len(HANDS))
    for _ in range(times):
        update_range(weights, hands, r, terms, 1, model, space)
    return weights


def _range(name: str, arrays: OpponentModel, tables: Any, game: Game) -> Row:
    table = tables[len(tables) // 2]
    hands = board_hands()
    shown = int(BOARD_CARDS[2])
    fill_board(table[BOARD : BOARD + 5].astype(np.uint8), shown, hands)
    free = np.flatnonzero(~np.isin(HANDS, table[BOARD : BOARD + shown]).any(axis=1))
    copies, model = np.tile(table, (len(free), 1)), ArrayModel(arrays)
    weights, times = np.ones(len(HANDS)), 200

    def batch() -> None:
        weights[free] *= model.chances(copies, game, free).shares[:, 1]
        weights[free] /= weights[free].max()

    return compare(
        f"a range of 1,326 hands updated by a move, {name}",
        lambda: _updates(table, game.terms, arrays, hands, times),
        "all hands in a batch, numpy",
        batch,
        per=times,
        peer_per=1,
    )


def _fit(observed: Observed, count: int) -> Row:
    import lightgbm

    rng = np.random.default_rng(1)
    many = observed.take(rng.integers(0, len(observed), count))

    def peer() -> None:
        data = lightgbm.Dataset(many.features, many.kind)
        lightgbm.train(_settings(), data, TREES)

    return compare(
        f"trees fitted to {count:,} decisions",
        lambda: fit_trees(many, public=False),
        "LightGBM",
        peer,
        scale=1.0,
        unit="s",
        repeat=1,
    )
