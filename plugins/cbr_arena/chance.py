"""Random numbers for bots: an independent stream for each deal, seat and decision."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr_holdem.chance import key, step, unit

#: Counters of a key that are reserved for bots, and for actions that the arena draws for them.
_BOTS, _DRAWS = np.int64(0x626F7473), np.int64(0x64726177)


class Numbers:
    """Random numbers for a batch of decisions, each with a stream of its own, from the states that
    they begin with [n]. Nothing else is behind them."""

    def __init__(self, begin: NDArray[np.uint64]) -> None:
        self._begin = begin
        self._state: NDArray[np.uint64] | None = None

    def take(self, places: NDArray[np.int64]) -> Numbers:
        """The streams of some of the decisions, from their beginning."""
        return Numbers(self._begin[places])

    def random(self) -> NDArray[np.float64]:
        """The next number from 0 to 1 of each stream, [n]."""
        state = self.state
        out = np.empty(len(state))
        _next(state, out)
        return out

    @property
    def state(self) -> NDArray[np.uint64]:
        """The states of the streams [n], for compiled code (`cbr_holdem.chance`)."""
        if self._state is None:
            self._state = self._begin.copy()
        return self._state


class Chance(Numbers):
    """The random numbers of a batch of decisions, by their keys.

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

    def for_guests(self) -> Numbers:
        """The streams for bots that are not our own. From a state of the others the deck of its
        deal can be computed, since each step of its key can be undone; these are the values of
        SipHash-2-4 under a key that is a hash of the seed, from which nothing else follows."""
        seed, deal, seat, decision = self._given
        begin = np.empty(len(deal), np.uint64)
        _hash(*_secret(seed), deal, seat, decision, begin)
        return Numbers(begin)

    def take(self, places: NDArray[np.int64]) -> Chance:
        """The streams of some of the decisions, from their beginning."""
        seed, deal, seat, decision = self._given
        some = Chance(seed, deal[places], seat[places], decision[places])
        some._part = self._part
        return some

    @property
    def state(self) -> NDArray[np.uint64]:
        if self._state is None:
            self._state = np.empty(len(self._given[1]), np.uint64)
            _begin(*self._given, self._part, self._state)
        return self._state


@lru_cache(maxsize=8)
def _secret(seed: int) -> tuple[np.uint64, np.uint64]:
    """The key of the guests' streams of a seed."""
    made = blake2b(int(seed).to_bytes(16, "little"), digest_size=16, person=b"cbr guests")
    first, second = np.frombuffer(made.digest(), "<u8")
    return np.uint64(first), np.uint64(second)


@njit
def _begin(seed: Any, deal: Any, seat: Any, decision: Any, part: Any, state: Any) -> None:
    for i in range(len(deal)):
        state[i] = key(seed, deal[i], part + seat[i], decision[i])


@njit
def _next(state: Any, out: Any) -> None:
    for i in range(len(state)):
        state[i] = step(state[i])
        out[i] = unit(state[i])


@njit
def _turned(x: Any, by: Any) -> Any:
    return (x << np.uint64(by)) | (x >> np.uint64(64 - by))


@njit
def _round(a: Any, b: Any, c: Any, d: Any) -> Any:
    a += b
    b = _turned(b, 13) ^ a
    a = _turned(a, 32)
    c += d
    d = _turned(d, 16) ^ c
    a += d
    d = _turned(d, 21) ^ a
    c += b
    b = _turned(b, 17) ^ c
    return a, b, _turned(c, 32), d


@njit
def siphash(first: Any, second: Any, words: Any) -> Any:
    """SipHash-2-4 (Aumasson & Bernstein 2012) of words of 64 bits, under a key of two."""
    a, b = first ^ np.uint64(0x736F6D6570736575), second ^ np.uint64(0x646F72616E646F6D)
    c, d = first ^ np.uint64(0x6C7967656E657261), second ^ np.uint64(0x7465646279746573)
    for place in range(len(words) + 1):
        last = np.uint64(8 * len(words)) << np.uint64(56)
        word = words[place] if place < len(words) else last
        d ^= word
        for _ in range(2):
            a, b, c, d = _round(a, b, c, d)
        a ^= word
    c ^= np.uint64(0xFF)
    for _ in range(4):
        a, b, c, d = _round(a, b, c, d)
    return a ^ b ^ c ^ d


@njit
def _hash(first: Any, second: Any, deal: Any, seat: Any, decision: Any, out: Any) -> None:
    words = np.empty(3, np.uint64)
    for i in range(len(deal)):
        words[0], words[1], words[2] = deal[i], seat[i], decision[i]
        out[i] = siphash(first, second, words)
