"""The players at our dealer: a program at the other end of a connection, or one of our bots."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from cbr_arena.acpc.lines import Gone, Lines, Silent
from cbr_arena.acpc.mind import Mind
from cbr_arena.acpc.protocol import action_text
from cbr_holdem.table import Table

#: Most lines that are ignored while waiting for one answer; more of them end the match.
MOST_IGNORED = 1_000

_CLOSED = "it closed the connection"

#: Called with what was wrong, and the line.
Warn = Callable[[str, str], None]


@dataclass(frozen=True)
class Limits:
    """Seconds for a player: for a response, for a hand, and for a hand on average."""

    response: float = 600.0
    hand: float = 600.0
    average: float = 7.0


class Lost(Exception):
    """A player cannot go on, which ends the match; the text is the reason."""


class Seat(Protocol):
    def begin(self) -> None:
        """A hand begins."""

    def tell(self, state: str) -> None:
        """Receive the state of the table as this player sees it."""

    def answer(self, state: str, table: Table, hand: int, warn: Warn) -> str:
        """The action with which this player answers a state, as text."""

    def end(self, table: Table, position: int) -> None:
        """A hand is over."""

    def close(self) -> None: ...


class House:
    """One of our bots, without a connection or time limits."""

    def __init__(self, mind: Mind) -> None:
        self.mind = mind

    def begin(self) -> None: ...

    def tell(self, state: str) -> None: ...

    def answer(self, state: str, table: Table, hand: int, warn: Warn) -> str:
        return action_text(table, *self.mind.act(table, hand))

    def end(self, table: Table, position: int) -> None:
        self.mind.remember(table, position)

    def close(self) -> None: ...


class Remote:
    """A program at the other end, with time limits. `hands` is the length of the match."""

    def __init__(self, lines: Lines, limits: Limits, hands: int) -> None:
        self._lines, self._limits = lines, limits
        self._whole = limits.average * hands
        self._in_hand = self._in_match = 0.0

    def begin(self) -> None:
        self._in_hand = 0.0

    def tell(self, state: str) -> None:
        try:
            self._lines.send(state, time.monotonic() + self._limits.response)
        except Gone:
            raise Lost(_CLOSED) from None
        except Silent:
            raise Lost(f"it did not read for {self._limits.response:g} s") from None

    def answer(self, state: str, table: Table, hand: int, warn: Warn) -> str:
        limits = self._limits
        limit, what = min(
            (limits.response, f"no answer within {limits.response:g} s"),
            (limits.hand - self._in_hand, f"more than {limits.hand:g} s for a hand"),
            (self._whole - self._in_match, f"more than {limits.average:g} s a hand on average"),
        )
        # From now, not from when the state was sent: another player may have been slow to read.
        begun = time.monotonic()
        try:
            answer = self._matching(state, begun + limit, warn)
        except Gone:
            raise Lost(_CLOSED) from None
        except Silent:
            raise Lost(what) from None
        used = time.monotonic() - begun
        self._in_hand += used
        self._in_match += used
        return answer

    def _matching(self, state: str, deadline: float, warn: Warn) -> str:
        """What follows the state in the first line that repeats it; other lines are ignored."""
        for _ in range(MOST_IGNORED):
            line = self._lines.read(deadline)
            if line is None:
                warn("a line that is too long, ignored", "")
            elif line == state:
                return ""
            elif line.startswith(f"{state}:"):
                return line[len(state) + 1 :]
            elif line.startswith("MATCHSTATE:"):
                warn("an answer to another state, ignored", line)
            elif not line.startswith(("#", ";")):
                warn("no answer, ignored", line)
        raise Lost(f"{MOST_IGNORED:,} lines that are no answer")

    def end(self, table: Table, position: int) -> None: ...

    def close(self) -> None:
        self._lines.close()
