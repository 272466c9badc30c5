"""Random numbers for bots: an independent stream for each deal, seat and decision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr_holdem.chance import key, step, unit

#: Counters of a key that are reserved for bots, and for actions that the arena draws for them.
_BOTS, _DRAWS = np.int64(0x626F7473), np.int64(0x64726177)


class Chance:
    """Random numbers for a batch of decisions, each with a stream of its own.

    A stream belongs to (seed, deal, seat, decision): results are the same for any number of
    workers, and two bots in the same seat of the same deal get the same numbers.
    """

    def __init__(self, seed: int, deal: NDArray[np.int64], seat: Any, decision: Any) -> None:
        self._given = (seed, deal, seat, decision)
        self._part = _BOTS
        self._state: NDArray[np.uint64] | None = None

    def for_draws(self) -> Chance:
        """The streams by which the arena draws for these decisions; no bot sees them."""
        draws = Chance(*self._given)
        draws._part = _DRAWS
        return draws

    def take(self, places: NDArray[np.int64]) -> Chance:
        """The streams of some of the decisions, from their beginning."""
        seed, deal, seat, decision = self._given
        some = Chance(seed, deal[places], seat[places], decision[places])
        some._part = self._part
        return some

    def random(self) -> NDArray[np.float64]:
        """The next number from 0 to 1 of each stream, [n]."""
        out = np.empty(len(self._given[1]))
        _next(self.state, out)
        return out

    @property
    def state(self) -> NDArray[np.uint64]:
        """The states of the streams [n], for compiled code (`cbr_holdem.chance`)."""
        if self._state is None:
            self._state = np.empty(len(self._given[1]), np.uint64)
            _begin(*self._given, self._part, self._state)
        return self._state


@njit
def _begin(seed: Any, deal: Any, seat: Any, decision: Any, part: Any, state: Any) -> None:
    for i in range(len(deal)):
        state[i] = key(seed, deal[i], part + seat[i], decision[i])


@njit
def _next(state: Any, out: Any) -> None:
    for i in range(len(state)):
        state[i] = step(state[i])
        out[i] = unit(state[i])
