"""The formula player as a player model: what its weight tables take an opponent to do.

After each move of an opponent, Loki multiplies the weight of every hand by the chance that its own
formula makes the move with that hand, mixed with a doubt: the probability that the move does not
depend on the hand. Read the other way round, this is a model of the opponent: the chance of a
move, given table and hand, up to a factor, and the chances of all moves add up to 1. Where the hand
is unknown, the chance is the mean over all hands by the weights that the player's earlier moves
left.

It is Loki's belief about others, so it is measured as any other model (`cbr predict`). It learns
nothing, and the bot's decisions do not use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cbr.errors import BadValue
from cbr.typing import Floats, Ints
from cbr_bots.loki import Formula
from cbr_bots.loki_constants import DOUBT, DOUBT_CALL, DOUBT_CHECK, constants_of
from cbr_holdem.table import ACTOR, CALL, FOLD, RAISE, Game
from cbr_opponents import Chances, PlayerModelKind, legal_at, normalised, with_hands

#: Tables whose 1,326 hands are computed at once.
_BATCH = 64


@dataclass(frozen=True, eq=False)
class LokiModel:
    """Loki's model of an opponent, for limit games; it rests on no observations."""

    formula: Formula
    doubts: bool = True
    name: ClassVar[str] = "loki"
    arrays: ClassVar[None] = None

    def chances(self, tables: Ints, game: Game, hands: Ints) -> Chances:
        if game.betting != "limit":
            raise BadValue(f"player model 'loki' is of limit games, not of {game.betting}")
        legal = legal_at(tables, game)
        seen = with_hands(tables, hands)
        triples = np.zeros((len(tables), 3))
        known = np.flatnonzero(hands >= 0)
        if len(known):
            own = self.formula.own_triples(seen[known], game)
            triples[known] = self._doubted(own, legal[known])
        unknown = np.flatnonzero(hands < 0)
        for first in range(0, len(unknown), _BATCH):
            some = unknown[first : first + _BATCH]
            triples[some] = self._averaged(seen[some], game, legal[some])
        return Chances(normalised(triples, legal, self.name), np.zeros(len(tables)))

    def _averaged(self, tables: Ints, game: Game, legal: Any) -> Floats:
        """Chances over all hands, by the weights of the player to act, [n, 3]."""
        every = self.formula.all_triples(tables, game)
        weights = self.formula.weights(tables, game)
        out = np.empty((len(tables), 3))
        for at, row in enumerate(tables):
            mine = weights[at, row[ACTOR]]
            chances = self._doubted(every[at], legal[at : at + 1])
            out[at] = (mine[:, None] * chances).sum(axis=0) / mine.sum()
        return out

    def _doubted(self, triples: Floats, legal: Any) -> Floats:
        """The factors of the weights of hands, scaled to add up to 1, [n, 3]."""
        # What is not legal goes to the call, where its weight is looked up.
        found = triples.copy()
        for kind in (FOLD, RAISE):
            illegal = ~legal[:, kind:].any(axis=1) if kind == RAISE else ~legal[:, kind]
            found[:, CALL] += np.where(illegal, found[:, kind], 0.0)
            found[:, kind] = np.where(illegal, 0.0, found[:, kind])
        if not self.doubts:
            return found
        k = self.formula.rules.constants
        facing = legal[:, FOLD]
        doubt = np.stack(
            [
                np.where(facing, k[DOUBT_CALL], 0.0),
                np.where(facing, k[DOUBT_CALL], k[DOUBT_CHECK]),
                np.where(legal[:, RAISE:].any(axis=1), k[DOUBT], 0.0),
            ],
            axis=1,
        )
        found = doubt + (1.0 - doubt) * found
        total: Floats = found / found.sum(axis=1, keepdims=True)
        return total


def loki(
    observed: Any,
    style: str = "moderate",
    model: str = "triples",
    constants: str = "usual",
    doubts: bool = True,
) -> LokiModel:
    """What Loki takes its opponents to do when it re-weights their hands; learns nothing."""
    return LokiModel(Formula(style, model, constants_of(constants)), doubts)


KIND = PlayerModelKind("loki", loki, False, (loki.__doc__ or "").partition("\n")[0])
