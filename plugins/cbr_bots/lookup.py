"""A bounded cache for compiled code: places in arrays of fixed length, found by a key of 64 bits.

A key belongs to a set of eight places. When they are all taken, the one that was used longest ago
is given to the new key. What is kept at a place is up to the caller, in arrays of the same length;
so whatever is not found can be computed again, and a cache changes the speed but no result.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Ints
from cbr_holdem.chance import mixed

_WAYS = 32


class Places(NamedTuple):
    """The `key` of each place [n] (0: none), when it was `used` last [n], and the time [1]."""

    key: NDArray[np.uint64]
    used: Ints
    clock: Ints


def blank_places(count: int) -> Places:
    """So many free places: a power of 2, at least 8."""
    assert count >= _WAYS
    assert count & (count - 1) == 0
    return Places(np.zeros(count, np.uint64), np.zeros(count, np.int64), np.zeros(1, np.int64))


@njit
def find(key: Any, places: Any) -> Any:
    """The place of a key, which is not 0; -1 if it has none."""
    first = np.int64(mixed(key) & np.uint64(len(places.key) // _WAYS - 1)) * _WAYS
    for place in range(first, first + _WAYS):
        if places.key[place] == key:
            places.clock[0] += 1
            places.used[place] = places.clock[0]
            return place
    return -1


@njit
def give(key: Any, places: Any) -> Any:
    """The place of a key, which is not 0; if it has none, it gets the oldest of its set."""
    found = find(key, places)
    if found >= 0:
        return found
    first = np.int64(mixed(key) & np.uint64(len(places.key) // _WAYS - 1)) * _WAYS
    found = first
    for place in range(first + 1, first + _WAYS):
        if places.used[place] < places.used[found]:
            found = place
    places.clock[0] += 1
    places.key[found] = key
    places.used[found] = places.clock[0]
    return found
