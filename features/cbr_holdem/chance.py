"""Counter-based random numbers: the same key gives the same number, in any order and any process.

A key is a seed and three counters (such as deal, seat and decision). A result therefore does not
depend on how work is split among processes, and two runs with equal keys draw equal numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_11, _PART = np.uint64(11), 1.0 / 9007199254740992.0
_27, _30, _31, _32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@njit
def mixed(x: Any) -> Any:
    """A pseudo-random number of 64 bits for each x (the finaliser of SplitMix64)."""
    x = (x ^ (x >> _30)) * _MIX_1
    x = (x ^ (x >> _27)) * _MIX_2
    return x ^ (x >> _31)


@njit
def key(seed: Any, a: Any, b: Any, c: Any) -> Any:
    """The initial state of the random stream of a seed and three counters."""
    state = mixed(np.uint64(seed) + _GOLDEN)
    state = mixed(state ^ (np.uint64(a) + _GOLDEN))
    state = mixed(state ^ (np.uint64(b) + _GOLDEN))
    return mixed(state ^ (np.uint64(c) + _GOLDEN))


@njit
def step(state: Any) -> Any:
    """The next state; `mixed` of it is the next random number."""
    return state + _GOLDEN


@njit
def unit(state: Any) -> Any:
    """The random number of a state as a float, at least 0 and below 1."""
    return (mixed(state) >> _11) * _PART


@njit
def below(state: Any, n: Any) -> Any:
    """The random number of a state as a whole number from 0 to n - 1 (n below 2^32)."""
    return np.int64(((mixed(state) >> _32) * np.uint64(n)) >> _32)
