"""Simulated play: a table played to its end, one seat by a strategy, the others by a model."""

from __future__ import annotations

from typing import Any, NamedTuple

from cbr.jit import njit
from cbr.typing import Floats
from cbr_holdem.chance import step, unit
from cbr_holdem.table import ACTOR, STREET
from cbr_opponents.abstraction import (
    actor_strength,
    context,
    hand_class,
    play_move,
    sample_move,
)
from cbr_opponents.opponent_model import OpponentModel, move_chances


class Strategies(NamedTuple):
    """The strategies of all seats: the model of the `others`, our `own` chances of moves [4,
    CONTEXTS, CLASSES, moves], and the raise `sizes` [moves - 2]."""

    others: OpponentModel
    own: Floats
    sizes: Floats


@njit(allocates=False)
def play_out(r: Any, terms: Any, hero: Any, strategies: Strategies, state: Any, space: Any) -> None:
    """Play a table to its end, the seat `hero` by its own strategy; `space` is a `Workspace`."""
    others, own, sizes = strategies
    while r[ACTOR] >= 0:
        strength = actor_strength(r, space.known, space.cards)
        state = step(state)
        if r[ACTOR] == hero:
            street = r[STREET]
            at = context(r, terms)
            move = sample_move(own[street, at, hand_class(street, strength)], unit(state))
        else:
            move_chances(r, terms, strength, others, space)
            move = sample_move(space.chances, unit(state))
        play_move(r, terms, sizes, move)
