"""Random numbers by counting: the same key gives the same number, in any order and any process.

A key is a seed and up to three counters (a deal, a seat, a decision ...). So a result does not
depend on how work was split, and two runs that share keys share their luck.
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
    """A number that looks random for each x (the finaliser of SplitMix64)."""
    x = (x ^ (x >> _30)) * _MIX_1
    x = (x ^ (x >> _27)) * _MIX_2
    return x ^ (x >> _31)


@njit
def key(seed: Any, a: Any, b: Any, c: Any) -> Any:
    """The start of the random numbers that belong to a seed and three counters."""
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
    """A number from 0 to 1, by the state's random number."""
    return (mixed(state) >> _11) * _PART


@njit
def below(state: Any, n: Any) -> Any:
    """A whole number from 0 to n - 1 (n below 2^32), by the state's random number."""
    return np.int64(((mixed(state) >> _32) * np.uint64(n)) >> _32)
