"""Decisions of a casebase's players, and the opponent model fitted to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.store import Casebase
from cbr.typing import Ints
from cbr_holdem.cards import DECK
from cbr_holdem.situation import BETTING
from cbr_holdem.table import ACTOR, BOARD, BOARD_CARDS, HOLE, RAISE, STREET, HandArrays
from cbr_opponents.abstraction import (
    CLASSES,
    CONTEXTS,
    RAISE_SIZES,
    context_given_raiser,
    hand_class,
    last_to_raise,
    packed_strength,
)
from cbr_opponents.boosting import Trees, fit
from cbr_opponents.decision_features import FEATURES, decision_features
from cbr_opponents.frequencies import LEAST_CHANCE, hides_folds, smoothed_frequencies
from cbr_opponents.logged_hands import BATCH, logged_moves, replay_decisions
from cbr_opponents.opponent_model import OpponentModel

#: Most trees of a street, and most decisions they are fitted to. One hand in `_HELD` is held out,
#: to choose the number of trees.
_TREES, _ROWS, _HELD = 60, 100_000, 5
#: Decisions of a street below which trees would overfit.
_FEWEST = 1_000
#: Players whose moves are counted one by one: those with the most hands.
_APART = 40


class Decisions(NamedTuple):
    """Decisions of players whose cards are known: `cell` [n, 3] is street, context and hand class,
    `features` [n, FEATURES] those of the trees; then `move`, `player` and `hand`, [n] each."""

    cell: NDArray[np.int16]
    features: NDArray[np.uint8]
    move: Ints
    player: Ints
    hand: Ints

    def take(self, places: NDArray[Any]) -> Decisions:
        """The decisions at these indices."""
        return Decisions(*(part[places] for part in self))

    def counted(self, moves: int) -> Ints:
        """How often each move was made, [4, CONTEXTS, CLASSES, moves]."""
        shape = (4, CONTEXTS, CLASSES, moves)
        at = np.ravel_multi_index((*self.cell.T.astype(np.int64), self.move), shape)
        return np.bincount(at, minlength=int(np.prod(shape))).reshape(shape)

    def counted_by_player(self, players: int, moves: int) -> Ints:
        """How often each player made each move, [players, 4, CONTEXTS, moves]."""
        totals = np.zeros((players, 4, CONTEXTS, moves), np.int64)
        np.add.at(totals, (self.player, *self.cell[:, :2].T, self.move), 1)
        return totals


class MoveCounts(NamedTuple):
    """The decisions with known cards, and the move counts of each player in all decisions,
    `totals` [players, 4, CONTEXTS, moves]."""

    decisions: Decisions
    totals: Ints

    def model(self, group: Sequence[int] | None = None, with_trees: bool = True) -> OpponentModel:
        """The model of a group of players, or of all; by frequencies alone unless `with_trees`."""
        mine, totals = self.decisions, self.totals
        if group is not None:
            mine, totals = mine.take(np.isin(mine.player, group)), totals[list(group)]
        moves = totals.shape[-1]
        known, in_all = mine.counted(moves), totals.sum(axis=0)
        grid = smoothed_frequencies(known, in_all)
        # With folds hidden, known decisions are a biased sample, and trees would learn the bias.
        with_trees = with_trees and not hides_folds(known, in_all)
        return OpponentModel.of(grid, _trees(mine, moves) if with_trees else ())


def _trees(decisions: Decisions, moves: int) -> list[Trees]:
    """Trees that refine the frequencies of each street, as many as help on held-out hands."""
    found = []
    rest = decisions.hand % _HELD != 0
    known = decisions.take(rest).counted(moves)
    grid = smoothed_frequencies(known, known.sum(axis=2))
    log = np.log(np.maximum(grid, LEAST_CHANCE**2))
    for street in range(4):
        mine = decisions.cell[:, 0] == street
        # Where there are too many decisions, keep one hand in `every` with all its decisions.
        every = -(-int(mine.sum()) // _ROWS) or 1
        some = decisions.take(mine & (decisions.hand // _HELD % every == 0))
        start = log[tuple(some.cell.T.astype(np.int64))]
        most = _TREES if len(some.move) >= _FEWEST else 0
        found.append(fit(some.features, some.move, start, some.hand % _HELD == 0, most))
    return found


def count_moves(base: Casebase) -> MoveCounts:
    """The decisions and move counts of the players in a casebase's records. Players with the most
    hands are counted one by one; the last index is for all others together."""
    hands = Counter(
        name
        for _, bodies in base.read_records(BATCH)
        for name in HandArrays.read(bodies).players.ravel().tolist()
        if name
    )
    places = {name: place for place, (name, _) in enumerate(hands.most_common(_APART))}
    moves = RAISE + len(RAISE_SIZES[BETTING[base.domain]])
    found, totals = [], np.zeros((len(places) + 1, 4, CONTEXTS, moves), np.int64)
    for numbers, bodies in base.read_records(BATCH):
        played, terms, names = replay_decisions(bodies)
        assert played.tables is not None
        player = np.array([places.get(name, len(places)) for name in names], np.int64)
        move = logged_moves(played, moves)
        cell = np.full((len(move), 3), -1, np.int16)
        features = np.zeros((len(move), FEATURES), np.uint8)
        _describe(played.tables, terms, cell, features)
        hand = np.array(numbers, np.int64)[played.hand]
        some = Decisions(cell, features, move, player, hand)
        totals += some.counted_by_player(*totals.shape[::3])
        found.append(some.take(cell[:, 2] >= 0))
    return MoveCounts(Decisions(*map(np.concatenate, zip(*found, strict=True))), totals)


@njit
def _describe(tables: Any, terms: Any, cell: Any, features: Any) -> None:
    """The cell of each decision, without a hand class where cards are unknown, and its features."""
    hole, board, counts = np.empty(2, np.uint8), np.empty(5, np.uint8), np.empty(3, np.int64)
    for i in range(len(tables)):
        r = tables[i]
        street, raiser = r[STREET], last_to_raise(r)
        cell[i, 0], cell[i, 1] = street, context_given_raiser(r, terms[i], raiser)
        for card in range(2):
            hole[card] = r[HOLE + 2 * r[ACTOR] + card]
        if hole[0] < DECK and hole[1] < DECK:
            for card in range(5):
                board[card] = r[BOARD + card]
            strength = packed_strength(hole, board, BOARD_CARDS[street], counts)
            cell[i, 2] = hand_class(street, strength)
            decision_features(r, terms[i], raiser, strength, features[i])
