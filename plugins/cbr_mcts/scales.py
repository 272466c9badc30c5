"""The unit of rewards for selection rules, so that their constant means the same in every pot."""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
from cbr_holdem.table import ACTOR, BIG_BLIND, FOLD, FOLDED, LIMIT, SEATS, STACK, STREET, pot_of
from cbr_mcts.tree import Tree, variance_of

#: How rewards are scaled, by number.
SCALES = ("spread", "pot", "none")
BY_SPREAD, BY_POT = 0, 1


@njit(inline="always")
def first_scale(r: Any, terms: Any) -> Any:
    """What is at stake, in big blinds: the pot and what may still go into it from the stacks that
    can meet; in limit, a bet of each street to come."""
    pot = pot_of(r)
    if terms[LIMIT]:
        stake = 2 * (4 - r[STREET]) * terms[BIG_BLIND]
    else:
        stake, own = np.int64(0), r[ACTOR]
        for seat in range(r[SEATS]):
            if seat != own and not r[FOLDED] >> seat & 1:
                stake = max(stake, min(r[STACK + seat], r[STACK + own]))
    return (pot + stake) / terms[BIG_BLIND]


@njit(inline="always")
def reward_spread(before: Any, tree: Tree) -> Any:
    """The standard deviation of rewards within the moves of the root, those but the fold."""
    squares, count = 0.0, 0.0
    for move in range(tree.visits.shape[1]):
        visits = tree.visits[0, move]
        if move != FOLD and visits > 1.0:
            squares += visits * variance_of(0, move, tree)
            count += visits
    return max(1e-3, np.sqrt(squares / count)) if squares > 0.0 else before
