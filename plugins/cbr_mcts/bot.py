"""The bot `mcts`: it searches each decision by simulated play against models of its opponents.

Decisions of many tables are searched in one call. Each has random numbers of its own, so the result
is the same for any batch and any number of workers; with `ms` it depends on the machine.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cbr.typing import Floats, Ints
from cbr_arena import Analysis, Chance, Nested, Triples, Wrapper, bots_inside, memory_of
from cbr_holdem.situation import Pending
from cbr_holdem.table import ACTOR, FOLD, MOST_SEATS, RAISE, Game
from cbr_mcts.learning import memory_of as learned_memory
from cbr_mcts.learning import recall, seen_at, watch
from cbr_mcts.models import Model, games_of, models_of, number_of
from cbr_mcts.options import SearchOptions
from cbr_mcts.search import Found, Players, Roots, search_all
from cbr_mcts.simulation import (
    FAULTS,
    WRONG_CHANCES,
    WRONG_RANGE,
    WRONG_RULE,
    new_belief,
    new_scene,
)
from cbr_mcts.tree import new_tree
from cbr_opponents import PROFILE, RAISE_SIZES, uniform_arrays, workspace

#: Iterations in one call of compiled code, which cannot be interrupted.
_AT_ONCE = 100_000
#: Iterations between two looks at the clock.
_BETWEEN = 50
_REASONS = {
    WRONG_CHANCES: "a model gave moves chances that are none; all moves were equally likely",
    WRONG_RANGE: "a model gave a move a likelihood that is none; the range was kept",
    WRONG_RULE: "a search rule gave no number; a random move or the mean took its place",
}


class Engine(NamedTuple):
    """What searches in one kind of game share: models, players, settings and working arrays."""

    models: tuple[Model, ...]
    players: Players
    settings: Any
    work: Any


@dataclass(eq=False)
class SearchBot(SearchOptions, Wrapper):
    """Searches each decision."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.games = games_of(self.model)
        self.inner: Nested | None = None
        fields: list[Any] = []
        if self.learn:
            fields.append(("opponents", learned_memory(number_of(self.model))))
        if self.prior:
            self.inner = Nested(bots_inside("mcts?prior=", f"({self.prior})", 1))
            self.games = tuple(game for game in self.games if game in self.inner.games)
            kept = memory_of(self.inner)
            if kept is not None:
                fields.append(("prior", kept))
        self.memory = np.dtype(fields) if fields else None
        self.game: Game | None = None
        self._engines: dict[str, Engine] = {}
        self._faults: list[tuple[int, str]] = []

    # --- what the arena asks ----------------------------------------------------------------------

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Triples:
        rows, self.game = situations.seen(), situations.game
        found = self.search(situations, rows, memory, chance)
        shares = self._chosen(found)
        size = _drawn_size(shares, chance.random())
        sizes = RAISE_SIZES[self.game.betting]
        to = situations.raised_by(sizes[size])
        triples = np.concatenate([shares[:, :RAISE], shares[:, RAISE:].sum(1)[:, None]], axis=1)
        return Triples(triples, np.where(situations.raise_to > 0, to, 0))

    def search(self, situations: Pending, rows: Ints, memory: Any, chance: Any) -> Found:
        """Search decisions, of which `rows` are the tables as our seats see them."""
        engine = self.engine_of(situations.game)
        models, count = engine.models, len(rows)
        moves = len(engine.players.considered)
        kept = memory["opponents"] if self.learn and memory is not None else None
        seen = seen_at(rows, rows[:, ACTOR], models, kept)
        roots = Roots(
            rows,
            situations.game.terms,
            seen.of_models,
            self._prior(situations, memory, chance, moves),
            seen.profiles,
            seen.factors,
            seen.slopes,
            np.ascontiguousarray(chance.state),
        )
        found = new_found(count, moves)
        size = 1 if self.ms else max(1, _AT_ONCE // self.iterations)
        for first in range(0, count, size):
            some = slice(first, first + size)
            part = Roots(*(one if one is roots.terms else one[some] for one in roots))
            self._search_some(engine, part, Found(*(one[some] for one in found)))
        for kind, reason in _REASONS.items():
            places = np.flatnonzero(found.faults[:, kind])
            self._faults += [(int(place), reason) for place in places]
        return found

    def _search_some(self, engine: Engine, roots: Roots, found: Found) -> None:
        try:
            self._search_timed(engine, roots, found)
        except ZeroDivisionError:  # a model gave no chance to any move
            if len(roots.rows) > 1:
                for at in range(len(roots.rows)):
                    one = slice(at, at + 1)
                    part = Roots(*(x if x is roots.terms else x[one] for x in roots))
                    self._search_some(engine, part, Found(*(x[one] for x in found)))
                return
            uniform = uniform_arrays(found.visits.shape[1])
            players = engine.players._replace(models=tuple(uniform for _ in engine.models))
            self._search_timed(engine._replace(players=players), roots, found)
            found.faults[0, WRONG_CHANCES] += 1

    def _search_timed(self, engine: Engine, roots: Roots, found: Found) -> None:
        """Search by iterations, or until the time is over."""
        _models, players, settings, work = engine
        if not self.ms:
            search_all(roots, settings, players, work, self.iterations, True, found)
            return
        end = time.perf_counter() + self.ms / 1000.0
        search_all(roots, settings, players, work, _BETWEEN, True, found)
        while time.perf_counter() < end:
            search_all(roots, settings, players, work, _BETWEEN, False, found)

    def remember(self, tables: Ints, seats: Ints, memory: Any) -> None:
        if self.game is None:  # it made no decision yet
            return
        if self.learn:
            kept = memory["opponents"]
            models = self.engine_of(self.game).models
            watch(tables, seats, self.game, self.forget, models, kept)
            memory["opponents"] = kept
        if self.inner is not None and "prior" in (memory.dtype.names or ()):
            mine = memory["prior"]
            self.inner.remember(tables, seats, mine)
            memory["prior"] = mine

    def recall(self, opponents: Any, names: Any, memory: Any) -> None:
        """Begin with what was seen of the players in earlier matches."""
        if self.learn:
            kept = memory["opponents"]
            recall(opponents, names, kept)
            memory["opponents"] = kept

    def take_faults(self) -> list[tuple[int, str]]:
        faults, self._faults = self._faults, []
        return faults + (self.inner.take_faults() if self.inner is not None else [])

    def explain(self, situations: Pending, memory: Any, chance: Chance) -> Analysis:
        """The analysis of its decision in one situation, with the same random numbers."""
        from cbr_mcts.explanation import analysis_of_search

        memory = None if memory is None else memory.copy()
        rows = situations.seen()
        found = self.search(situations, rows, memory, chance)
        self.take_faults()
        return analysis_of_search(self, situations, rows, found, self._chosen(found)[0], memory)

    def work_of(self, game: Game) -> Any:
        """The tree, beliefs and scene of the last decision in a kind of game."""
        return self.engine_of(game).work

    # --- parts ------------------------------------------------------------------------------------

    def engine_of(self, game: Game) -> Engine:
        """What searches in a kind of game share; the models are read or fitted at the first."""
        if game.betting not in self._engines:
            models = models_of(self.model, game.betting)
            arrays = tuple(model.arrays for model in models)
            considered = self.considered(game.betting)
            moves = len(considered)
            profiles = np.zeros((len(models), MOST_SEATS, PROFILE), np.uint8)
            work = (
                new_tree(self.room(moves), moves),
                new_belief(len(models)),
                new_scene(profiles, workspace(arrays[0]), moves),
            )
            players = Players(
                arrays,
                RAISE_SIZES[game.betting],
                considered,
                self.select_rule.compiled,
                self.backup_rule.compiled,
            )
            settings = self.settings(any(model.reads_hands for model in arrays))
            self._engines[game.betting] = Engine(models, players, settings, work)
        return self._engines[game.betting]

    def _prior(self, situations: Pending, memory: Any, chance: Any, moves: int) -> Floats:
        """Chances of our moves at the root by the bot inside, [n, moves]; NaN without one."""
        prior = np.full((situations.count, moves), np.nan)
        if self.inner is None:
            return prior
        kept = memory["prior"] if memory is not None and "prior" in memory.dtype.names else None
        given = self.inner.act(situations, kept, chance)
        if kept is not None:
            memory["prior"] = kept
        shares = given.shares / given.shares.sum(axis=1, keepdims=True)
        prior[:, :RAISE] = shares[:, :RAISE]
        prior[:, RAISE:] = 0.0
        size = np.zeros(situations.count, np.int64)
        if moves > RAISE + 1:
            amounts = [situations.raised_by(share) for share in RAISE_SIZES["nolimit"]]
            to = situations.raise_from if given.to is None else given.to
            to = np.maximum(to, situations.raise_from)
            size = np.abs(np.stack(amounts, axis=1) - to[:, None]).argmin(axis=1)
        prior[np.arange(len(prior)), RAISE + size] = shares[:, RAISE]
        return prior

    def _chosen(self, found: Found) -> Floats:
        """The chances [n, moves] that moves are played with."""
        legal, tried = found.visits >= 0.0, found.visits > 0.0
        if self.choose == "visits":
            score = np.where(legal, found.visits, -1.0)
        else:
            # A mean of few visits is mostly luck.
            enough = found.visits >= 0.02 * np.maximum(found.visits, 0.0).sum(1, keepdims=True)
            if self.fold == "known":
                tried[:, FOLD], enough[:, FOLD] = legal[:, FOLD], True
            score = np.where(tried & enough, found.values, -np.inf)
        if self.choose != "softmax":
            shares: Floats = np.zeros(score.shape)
            shares[np.arange(len(score)), score.argmax(axis=1)] = 1.0
            return shares
        raised = np.exp((score - score.max(axis=1, keepdims=True)) / self.temperature)
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def new_found(count: int, moves: int) -> Found:
    """Arrays for the results of so many roots."""
    per_move: list[Any] = [np.zeros((count, moves)) for _ in range(3)]
    nodes, faults = np.zeros(count, np.int64), np.zeros((count, FAULTS), np.int64)
    return Found._make([*per_move, nodes, faults])


def _drawn_size(shares: Floats, uniform: Floats) -> Ints:
    """The size of a raise that is drawn if there is one, [n]."""
    sums = shares[:, RAISE:].cumsum(axis=1)
    drawn = (sums <= uniform[:, None] * sums[:, -1:]).sum(axis=1)
    return np.asarray(np.minimum(drawn, sums.shape[1] - 1))
