"""The short form of a bot: one view in, one action out, wrapped for many tables.

Whatever such a bot does, the match goes on: an exception, an action that is not legal or a decision
that takes too long is a fault, and a check or fold is played for it.
"""

from __future__ import annotations

import random
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.plugging import one_line
from cbr_arena.bots import Triples, Wrapper
from cbr_holdem.situation import Pending, View
from cbr_holdem.table import KINDS, RAISE

#: Seconds that a decision may take.
TIME_LIMIT = 10.0


class TooSlow(BaseException):
    """A decision took too long. A `BaseException`, which `except Exception` does not catch."""


class Views(Wrapper):
    """A bot in the short form as a `Bot`, which decides view by view. Each session has an instance
    of it, which is its memory."""

    memory = np.dtype(object)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        #: Called before each decision.
        self.beat: Callable[[], object] = lambda: None
        self._faults: list[tuple[int, str]] = []

    def take_faults(self) -> list[tuple[int, str]]:
        faults, self._faults = self._faults, []
        return faults

    def act(self, situations: Pending, memory: NDArray[Any], chance: Any) -> Triples:
        count = situations.count
        shares, to = np.zeros((count, 3)), np.zeros(count, np.int64)
        # Copies, so that whoever changes them changes nothing for others.
        rows, keys, game = situations.seen(), chance.state, replace(situations.game)
        with _clock() as clock:
            for at in range(count):
                self.beat()
                view = View(rows[at : at + 1].copy(), game, int(keys[at]))
                try:
                    clock(TIME_LIMIT)
                    if memory[at] is None:
                        memory[at] = self.make()
                    given = memory[at].act(view)
                    clock(0.0)
                    to[at] = _read(given, view, shares[at], ~int(keys[at]))
                except BaseException as error:
                    clock(0.0)
                    if isinstance(error, KeyboardInterrupt):
                        raise
                    shares[at], to[at] = (1.0, 0.0, 0.0), 0
                    self._faults.append((at, one_line(error)))
        return Triples(shares, to)


def _read(given: Any, view: View, shares: NDArray[np.float64], key: int) -> int:
    """Write a bot's answer into shares [3] of fold, call and raise; returns the raise's amount."""
    if not isinstance(given, Mapping):
        kind, to = _action(given, view)
        shares[kind] = 1.0
        return to
    raises: dict[int, float] = {}
    for action, share in given.items():
        # Where no raise is legal, its share is the call's.
        named = action[0] if isinstance(action, tuple) else action
        kind, to = _action("c" if named == "r" and not view.raise_to else action, view)
        shares[kind] += float(share)
        if kind == RAISE:
            raises[to] = raises.get(to, 0.0) + float(share)
    if not (shares >= 0.0).all() or not 0.0 < shares.sum() < np.inf:
        raise ValueError(
            f"{given!r} are not probabilities: they must be 0 or more, and not all of them 0"
        )
    if len(raises) < 2:
        return next(iter(raises), 0)
    # One of several sizes is drawn, with random numbers that the bot has not seen.
    return int(random.Random(key).choices(list(raises), list(raises.values()))[0])


def _action(action: Any, view: View) -> tuple[int, int]:
    """An action as kind and amount."""
    name, amount = action if isinstance(action, tuple) and len(action) == 2 else (action, 0)
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ValueError(f"{action!r} is not an action; give 'f', 'c', 'r' or ('r', amount)")
    if kind != RAISE:
        return kind, 0
    if not view.raise_to:
        raise ValueError("it raises where no raise is legal")
    to = int(amount) or view.raise_from
    if not view.raise_from <= to <= view.raise_to:
        raise ValueError(f"a raise to {to} is not from {view.raise_from} to {view.raise_to}")
    return kind, to


@contextmanager
def _clock() -> Iterator[Callable[[float], object]]:
    """A function that sets a time limit in seconds from now (0: none), after which `TooSlow` is
    raised. Only in the main thread and not on Windows; elsewhere there is no limit."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(
        signal, "setitimer"
    ):
        yield lambda seconds: None
        return

    def late(*_: Any) -> None:
        raise TooSlow(f"it took longer than {TIME_LIMIT:g} seconds")

    before = signal.signal(signal.SIGALRM, late)
    try:
        # Raised again every second, in case the bot catches it.
        yield lambda seconds: _start(_REAL, seconds, 1.0 if seconds else 0.0)
    finally:
        _start(_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


_start: Callable[..., object] = getattr(signal, "setitimer", lambda *_: None)
_REAL = int(getattr(signal, "ITIMER_REAL", 0))
