"""Bots that are not our own: what they are given, and no more.

A guest gets copies: of the tables as its seats see them, of the game, and random numbers from which
neither the seed nor a deck can be computed. No attribute of what it gets leads to the cards of
others, the seed, or the number of a deal, and what it writes there changes nothing of the match. It
could still look for them in the memory of the process; `cbr_arena.apart` gives it its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.plugging import frozen
from cbr.typing import Floats, Ints
from cbr_arena.bots import Wrapper
from cbr_arena.chance import Numbers
from cbr_arena.nested import Nested
from cbr_arena.views import Views
from cbr_holdem.situation import Pending

#: Members of a bot that the arena and `cbr play` use where there are any.
_OPTIONAL = ("remember", "figures", "explain", "doubts", "games", "recall")


class Shown(Mapping[str, Floats]):
    """`Pending` for a guest: the same columns and attributes, read-only, from tables of its own."""

    def __init__(self, own: Pending) -> None:
        self._own = own

    def __getattr__(self, name: str) -> Any:
        if name == "_own":  # not made yet, as while it is copied
            raise AttributeError(name)
        found = getattr(self._own, name)
        return frozen(found.view()) if isinstance(found, np.ndarray) else found

    def __getitem__(self, name: str) -> Floats:
        return frozen(self._own[name].view())

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)

    def take(self, places: Ints) -> Shown:
        """The situations at these places."""
        return Shown(self._own.take(places))


def shown(situations: Pending) -> Shown:
    """What a guest sees of some situations."""
    seen = situations.seen()
    return Shown(Pending(seen, replace(situations.game), np.arange(len(seen))))


class Guest(Wrapper):
    """A bot that is not our own, as a bot of the arena."""

    def __init__(self, bot: Any) -> None:
        self._bot = bot
        self.memory: np.dtype[Any] | None = getattr(bot, "memory", None)

    def __getattr__(self, name: str) -> Any:
        if name not in _OPTIONAL:
            raise AttributeError(f"a guest has no {name!r}")
        found = getattr(self._bot, name)
        if name == "explain":
            return partial(_explain, found)
        return partial(_remember, found) if name == "remember" else found

    def act(self, situations: Pending, memory: Any, chance: Any) -> Any:
        numbers = _numbers(chance)
        if isinstance(self._bot, Views):  # which makes views of its own
            return self._bot.act(situations, memory, numbers)
        return self._bot.act(shown(situations), memory, numbers)

    def on_beat(self, beat: Callable[[], object]) -> None:
        """Call `beat` before each decision of a bot that decides view by view."""
        if isinstance(self._bot, Views):
            self._bot.beat = beat
        elif isinstance(self._bot, Nested):
            for one in self._bot.inner:
                if isinstance(one.bot, Guest):
                    one.bot.on_beat(beat)

    def take_faults(self) -> list[tuple[int, str]]:
        return self._bot.take_faults() if isinstance(self._bot, Views | Nested) else []

    def remembered(self, kept: NDArray[Any]) -> bool:
        nested = isinstance(self._bot, Nested)
        return self._bot.remembered(kept) if nested else super().remembered(kept)


def _remember(remember: Any, tables: Ints, seats: Ints, memory: NDArray[Any]) -> None:
    remember(frozen(tables), frozen(seats), memory)


def _explain(explain: Any, situations: Pending, memory: Any, chance: Any) -> Any:
    return explain(shown(situations), memory, _numbers(chance))


def _numbers(chance: Any) -> Numbers:
    found: Numbers = chance if type(chance) is Numbers else chance.for_guests()
    return found
