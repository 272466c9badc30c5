"""Baseline bots: a fixed action, or random actions with fixed probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr import BadValue
from cbr_arena import CALL, FOLD, RAISE, Actions, Chance, Triples
from cbr_bots.sizes import size_of, verify_size
from cbr_holdem.situation import Pending


class Always:
    """Takes the same action at every decision; a raise that is not legal becomes a call."""

    memory = None

    def __init__(self, kind: int, size: str = "min") -> None:
        self.kind, self.size = kind, verify_size(size)

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Actions:
        kind = np.full(situations.count, self.kind, np.int64)
        if self.kind != RAISE:
            return Actions(kind)
        kind[situations.raise_to == 0] = CALL
        return Actions(kind, size_of(self.size, situations))


class Triple:
    """Folds, calls and raises with fixed probabilities, renormalized over the legal actions."""

    memory = None

    def __init__(self, chances: str, size: str = "min") -> None:
        try:
            given = np.array([float(part) for part in str(chances).split(",")])
        except ValueError:
            given = np.empty(0)
        if len(given) != 3 or not (given >= 0).all() or not 0 < given.sum() < np.inf:
            raise BadValue(
                f"triple:{chances} must be three chances, for fold, call and raise: "
                "triple:0.2,0.5,0.3"
            )
        self.chances, self.size = given / given.sum(), verify_size(size)

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Triples:
        # The arena renormalizes. A fold where a check is free counts as not legal.
        shares = np.tile(self.chances, (situations.count, 1))
        shares[situations.call == 0, FOLD] = 0.0
        shares[situations.raise_to == 0, RAISE] = 0.0
        shares[~shares.any(axis=1), CALL] = 1.0
        return Triples(shares, size_of(self.size, situations))


def random(size: str = "min") -> Triple:
    """Each legal action as often as the others; never a fold where a check is free."""
    return Triple("1,1,1", size)


def call() -> Always:
    return Always(CALL)


def fold() -> Always:
    return Always(FOLD)


def always_raise(size: str = "min") -> Always:
    return Always(RAISE, size)
