"""Player models in array form: uniform, frequencies, and trees.

`ArrayModel` makes the array form a `PlayerModel`; compiled code reads `arrays` itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr.typing import Floats, Ints
from cbr_holdem.cards import DECK, HANDS
from cbr_holdem.situation import BETTING
from cbr_holdem.table import BOARD, BOARD_CARDS, RAISE, STREET, Game
from cbr_opponents.abstraction import (
    CLASSES,
    CONTEXTS,
    PRICE_CLASSES,
    RAISE_SIZES,
    packed_strength,
    played_as,
)
from cbr_opponents.opponent_model import OpponentModel, move_chances, workspace
from cbr_opponents.player_models import Chances

_FREE = CONTEXTS // PRICE_CLASSES


class ModelPart(NamedTuple):
    """One of the models that a player may follow, in array form: a model may have several `parts`.

    `share` is how likely it is for a stranger, beside the others, and `trust` what a move counts in
    the posterior. With `hands` above 0 it is one that learns from the player: after so many hands
    it is as likely beforehand as all others together, and for a stranger it is not."""

    arrays: OpponentModel
    share: float = 1.0
    trust: float = 1.0
    hands: float = 0.0


@dataclass(frozen=True, eq=False)
class ArrayModel:
    """A model in array form; `usual` [SEEN] are the counts of the average player that profiles are
    shrunk towards, where they are known (`OpponentMemory.profiles_of`)."""

    arrays: OpponentModel
    usual: Floats | None = None

    def chances(self, tables: Ints, game: Game, hands: Ints) -> Chances:
        shares = np.zeros((len(tables), self.arrays.grid.shape[-1]))
        support = np.empty(len(tables))
        sizes = RAISE_SIZES[game.betting]
        _chances(tables, game.terms, hands, self.arrays, sizes, shares, support)
        return Chances(shares, support)


@njit
def _chances(
    tables: Any, terms: Any, hands: Any, model: Any, sizes: Any, shares: Any, support: Any
) -> None:
    space = workspace(model)
    hole, board, counts = space.cards
    for i in range(len(tables)):
        r = tables[i]
        strength = np.int64(-1)
        if hands[i] >= 0:
            hole[0], hole[1] = HANDS[hands[i], 0], HANDS[hands[i], 1]
            for place in range(5):
                board[place] = min(r[BOARD + place], DECK)
            strength = packed_strength(hole, board, BOARD_CARDS[r[STREET]], counts)
        move_chances(r, terms, strength, model, space)
        support[i] = model.support[space.place[0], space.place[1]]
        for move in range(len(space.chances)):
            shares[i, played_as(r, terms, sizes, move)] += space.chances[move]


def uniform_arrays(moves: int) -> OpponentModel:
    """The model under which fold, call and raise are equally likely where they are legal, and so
    are the sizes of raises."""
    grid = np.empty((4, CONTEXTS, CLASSES, moves))
    grid[..., :RAISE] = 1.0 / 3.0
    grid[..., RAISE:] = 1.0 / 3.0 / (moves - RAISE)
    grid[:, :_FREE, :, 0] = 0.0
    grid /= grid.sum(axis=-1, keepdims=True)
    average: Floats = grid.mean(axis=2)
    return OpponentModel.of(grid, average=average)


def moves_of(domain: str) -> int:
    """The number of moves of the abstraction in a domain of hold'em."""
    return RAISE + len(RAISE_SIZES[BETTING[domain]])
