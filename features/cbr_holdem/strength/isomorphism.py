"""Suit isomorphism: classes of (hand, flop) positions that differ only in the names of suits.

The 22,100 flops fall into 1,755 classes, each with a canonical flop (the one with the lowest
number), and the (hand, flop) pairs into 1,286,792. `FlopClasses` numbers the latter: classes of one
canonical flop are consecutive.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr_holdem.cards.numbering import HANDS

FLOPS = 22_100
FLOP_CLASSES = 1_286_792


@njit
def hand_number(a: Any, b: Any) -> Any:
    """Index of a hand in `HANDS`."""
    low, high = (a, b) if a < b else (b, a)
    return low * (103 - low) // 2 + high - low - 1


@njit
def hand_numbers(holes: Any) -> Any:
    """Indices in `HANDS` of holes [n, 2]."""
    out = np.empty(len(holes), np.int64)
    for i in range(len(holes)):
        out[i] = hand_number(np.int64(holes[i, 0]), np.int64(holes[i, 1]))
    return out


@njit
def flop_number(a: Any, b: Any, c: Any) -> Any:
    """Number of a flop among all 22,100, for any order of its cards."""
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    a, b, c = np.int64(a), np.int64(b), np.int64(c)
    return c * (c - 1) * (c - 2) // 6 + b * (b - 1) // 2 + a


class FlopClasses:
    """Lookup tables that number the classes; made once for a process, in half a second."""

    def __init__(self) -> None:
        orders = np.array(list(permutations(range(4))), np.uint8)  # [24, 4]
        deck = np.arange(52)
        renamed = (deck >> 2) * 4 + orders[:, deck & 3]  # [24, 52]
        first, second = (renamed[:, HANDS[:, i]].astype(np.int64) for i in (0, 1))
        low, high = np.minimum(first, second), np.maximum(first, second)
        #: Number of each hand after each renaming of suits, [24, 1326].
        self.hands = (low * (103 - low) // 2 + high - low - 1).astype(np.uint16)
        flops = np.array(sorted(combinations(range(52), 3), key=lambda f: f[::-1]), np.int64)
        versions = np.sort(renamed[:, flops], axis=2)  # [24, 22100, 3]
        a, b, c = versions[..., 0], versions[..., 1], versions[..., 2]
        numbers = c * (c - 1) * (c - 2) // 6 + b * (b - 1) // 2 + a
        lowest = numbers.min(axis=0)
        #: The canonical flops, [1755, 3].
        self.flops = flops[np.unique(lowest)]
        #: For each flop [22100], the index of its canonical flop, and the renaming that gives it.
        self.flop = np.unique(lowest, return_inverse=True)[1].reshape(-1).astype(np.int64)
        self.renaming = numbers.argmin(axis=0).astype(np.int64)
        #: Class of each hand on each canonical flop, [1755, 1326], -1 where they share a card; and
        #: the first class of each canonical flop, [1756].
        self.number = np.full((len(self.flops), len(HANDS)), -1, np.int32)
        self.start = np.zeros(len(self.flops) + 1, np.int64)
        same = numbers[:, np.unique(lowest)] == np.unique(lowest)  # renamings that keep a flop
        _number_classes(self.flops, same, self.hands, HANDS, self.number, self.start)

    def holes(self, flop: int) -> NDArray[np.uint8]:
        """One hand of each class on a canonical flop, [classes, 2], in the order of the classes."""
        numbers = self.number[flop]
        _, first = np.unique(numbers[numbers >= 0], return_index=True)
        return HANDS[np.flatnonzero(numbers >= 0)[first]]


@njit
def _number_classes(
    flops: Any, same: Any, hands: Any, all_hands: Any, number: Any, start: Any
) -> None:
    count = 0
    for f in range(len(flops)):
        start[f] = count
        for h in range(len(all_hands)):
            blocked = False
            for i in range(3):
                blocked |= all_hands[h, 0] == flops[f, i] or all_hands[h, 1] == flops[f, i]
            if blocked:
                continue
            lowest = h
            for r in range(24):
                if same[r, f]:
                    lowest = min(lowest, hands[r, h])
            if lowest == h:
                number[f, h] = count
                count += 1
            else:
                number[f, h] = number[f, lowest]
    start[len(flops)] = count


@njit
def _classes(
    holes: Any, flops: Any, flop: Any, renaming: Any, hands: Any, number: Any, out: Any
) -> None:
    for i in range(len(holes)):
        n = flop_number(flops[i, 0], flops[i, 1], flops[i, 2])
        h = hand_number(np.int64(holes[i, 0]), np.int64(holes[i, 1]))
        out[i] = number[flop[n], hands[renaming[n], h]]


@cache
def flop_classes() -> FlopClasses:
    return FlopClasses()


def class_numbers(holes: NDArray[np.uint8], flops: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Class of each (hand, flop), [n]; -1 where they share a card."""
    tables = flop_classes()
    out = np.empty(len(holes), np.int64)
    _classes(holes, flops, tables.flop, tables.renaming, tables.hands, tables.number, out)
    return out
