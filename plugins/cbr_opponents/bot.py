"""A bot that plays as a player model says: `model:(trees:FILE.db)` plays like the people of a log.

It is an opponent to train and to measure others with, made from any log. A model is asked with the
bot's own cards, and its moves are drawn by their chances. To the model it is a player whom nobody
has seen before.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cbr.spec import unnest
from cbr.typing import Floats, Ints
from cbr_arena import Analysis, Chance, Triples
from cbr_holdem.situation import Pending
from cbr_holdem.strength import hand_numbers
from cbr_holdem.table import ACTOR, CALL, HOLE, MOST_SEATS, RAISE
from cbr_opponents.abstraction import RAISE_SIZES
from cbr_opponents.learning import games_where, model_of_spec


class ModelPlayer:
    """Plays as a player model."""

    memory = None

    def __init__(self, model: str) -> None:
        self.model = unnest(str(model))
        self.games = games_where(partial(model_of_spec, self.model))

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Triples:
        shares = self.chances(situations)
        raises = shares[:, RAISE:]
        drawn = chance.random()[:, None] * raises.sum(axis=1, keepdims=True)
        size = (drawn >= raises.cumsum(axis=1)).sum(axis=1).clip(max=raises.shape[1] - 1)
        to = situations.raised_by(RAISE_SIZES[situations.game.betting][size])
        triples = np.column_stack([shares[:, :RAISE], raises.sum(axis=1)])
        return Triples(triples, np.where(situations.raise_to > 0, to, 0))

    def chances(self, situations: Pending) -> Floats:
        """Chances of the moves of the abstraction [n, moves], given the cards of the players to
        act."""
        rows, game = situations.seen(), situations.game
        model = model_of_spec(self.model, game.betting).model
        shares: Floats = model.chances(rows, game, hand_numbers(_cards(rows))).shares
        return shares

    def remember(self, tables: Ints, seats: Ints, memory: Any) -> None:
        """It learns nothing."""

    def explain(self, situations: Pending, memory: Any, chance: Chance) -> Analysis:
        shares = self.chances(situations)[0]
        sizes = RAISE_SIZES[situations.game.betting]
        to = situations.take(np.zeros(len(sizes), np.int64)).raised_by(sizes)
        return Analysis(
            why=f"These are the chances that the model {self.model} gives to the moves.",
            kind=np.minimum(np.arange(len(shares)), RAISE),
            to=np.concatenate([np.zeros(CALL + 1, np.int64), to]),
            chance=shares,
        )


def _cards(rows: Ints) -> Ints:
    """The hole cards of the players to act, [n, 2]."""
    cards: Ints = rows[:, HOLE : HOLE + 2 * MOST_SEATS].reshape(len(rows), MOST_SEATS, 2)
    return cards[np.arange(len(rows)), rows[:, ACTOR]]
