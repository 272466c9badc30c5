"""Van der Kleij's buckets of hands, from hand classes: for the tools that compare fold curves.

Hands are ordered by E[HS2], the mean square of their strength on the river, and lie in buckets of
which the strong ones are small. A class that reaches over the bound of two buckets is in both
(soft buckets).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from cbr.jit import njit
from cbr.typing import Floats
from cbr_opponents import CLASSES, board_hands, class_order, class_shares, fill_board, hand_class

#: Buckets after the flop, by street. Before the flop a bucket is a hand class.
BUCKETS = (CLASSES, 20, 20, 10)
#: How much smaller the smallest bucket is than the largest.
_SMALLER = 10.0
#: Boards from which the strength of a class on the river is estimated.
_BOARDS = 400


@cache
def buckets(street: int) -> Floats:
    """The part of each class that is in each bucket, the weakest first, [CLASSES, BUCKETS]."""
    if street == 0:
        return np.eye(CLASSES)
    bounds = _bounds(street)
    order, often = squared_strengths(street)
    place = np.argsort(order, kind="stable")
    end = np.empty(CLASSES)
    end[place] = np.cumsum(often[place])
    begin = end - often
    inside = np.minimum(end[:, None], bounds[1:]) - np.maximum(begin[:, None], bounds[:-1])
    inside = np.maximum(inside, 0.0) + 1e-12 * (inside == inside.max(axis=1, keepdims=True))
    return np.asarray(inside / inside.sum(axis=1, keepdims=True))


def weaker(street: int) -> Floats:
    """The share of hands that are weaker than the middle of each bucket after the flop."""
    bounds = _bounds(street)
    return np.asarray((bounds[1:] + bounds[:-1]) / 2.0)


def _bounds(street: int) -> Floats:
    """Shares of hands below each bucket and, last, of all."""
    share = _SMALLER ** -np.linspace(0.0, 1.0, BUCKETS[street])
    return np.append(0.0, np.cumsum(share / share.sum()))


@cache
def squared_strengths(street: int) -> tuple[Floats, Floats]:
    """E[HS2] of each class, and the share of all hands that are of it, [CLASSES] each."""
    if street == 0:
        return 1.0 - class_order(0)[0], class_shares(0)
    rng = np.random.default_rng(0)
    boards = np.array([rng.permutation(52)[:5] for _ in range(_BOARDS)], np.uint8)
    sums = np.zeros((2, CLASSES))
    _add_strengths(boards, street, sums)
    # A class that no hand was of lies where its strength alone puts it.
    usual = (1.0 - class_order(street)[0]) ** 2
    found = np.where(sums[0] > 0.0, sums[1] / np.maximum(sums[0], 1.0), usual)
    return found, sums[0] / sums[0].sum()


@njit
def _add_strengths(boards, street, sums):  # type: ignore[no-untyped-def]
    now, last = board_hands(), board_hands()
    for board in boards:
        fill_board(board, 2 + street, now)
        fill_board(board, 5, last)
        for h in range(len(now.strength)):
            # Hands that a later card makes impossible have no strength on the river.
            if now.strength[h] >= 0 and last.strength[h] >= 0:
                at = hand_class(street, now.strength[h])
                sums[0, at] += 1.0
                sums[1, at] += ((last.strength[h] & 255) / 255.0) ** 2
