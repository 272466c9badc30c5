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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.plugging import one_line
from cbr_arena.bots import Triples
from cbr_holdem.situation import Pending, View
from cbr_holdem.table import KINDS, RAISE

#: Seconds that a decision may take.
TIME_LIMIT = 10.0


class TooSlow(BaseException):
    """A decision took too long; no exception that a bot would catch in passing."""


class Views:
    """Many tables, view by view. Each session has an instance of the bot, which is its memory."""

    memory = np.dtype(object)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self._faults: list[tuple[int, str]] = []

    def take_faults(self) -> list[tuple[int, str]]:
        """What went wrong since this was last called: in which decision of its batch, and why."""
        faults, self._faults = self._faults, []
        return faults

    def act(self, situations: Pending, memory: NDArray[Any], chance: Any) -> Triples:
        count = situations.count
        shares, to = np.zeros((count, 3)), np.zeros(count, np.int64)
        rows, keys = situations.seen(), chance.state
        with _clock() as clock:
            for at in range(count):
                view = View(rows[at : at + 1], situations.game, int(keys[at]))
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
    """What a bot answers, into shares [3] of fold, call and raise; what a raise goes to."""
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
            f"{given!r} are not probabilities: none may be below 0, and one must be above"
        )
    if len(raises) < 2:
        return next(iter(raises), 0)
    # Of several sizes one is drawn, with luck that the bot has not seen.
    return int(random.Random(key).choices(list(raises), list(raises.values()))[0])


def _action(action: Any, view: View) -> tuple[int, int]:
    """An action as the rules take it."""
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
    """What breaks off whatever takes longer than so many seconds from now on (0: nothing), where
    the system has a way to (the main thread, not Windows)."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(
        signal, "setitimer"
    ):
        yield lambda seconds: None
        return

    def late(*_: Any) -> None:
        raise TooSlow(f"it took longer than {TIME_LIMIT:g} seconds")

    before = signal.signal(signal.SIGALRM, late)
    try:
        # Again and again, in case that it is caught.
        yield lambda seconds: _start(_REAL, seconds, 1.0 if seconds else 0.0)
    finally:
        _start(_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


_start: Callable[..., object] = getattr(signal, "setitimer", lambda *_: None)
_REAL = int(getattr(signal, "ITIMER_REAL", 0))
