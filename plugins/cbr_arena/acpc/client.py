"""The client: one of our bots plays a match at a dealer."""

from __future__ import annotations

import socket
import time
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from cbr import BadValue
from cbr_arena.acpc.lines import Gone, Lines, Silent
from cbr_arena.acpc.mind import Mind
from cbr_arena.acpc.protocol import VERSION, MatchState, action_text, follow, table_of
from cbr_holdem.table import PARTS, PAYOFF, Table
from cbr_logs import GameDef

#: Most lines in a row without a new state; a dealer that sends more is taken to be broken.
MOST_IDLE = 1_000
_AGAIN_AFTER = 0.2


@dataclass
class Visit:
    """The result of a bot's match: hands played to their end, chips won, whether it ended after a
    whole hand and not in the middle of one, and the `seconds` of each decision."""

    hands: int = 0
    won: float = 0.0
    whole: bool = True
    faults: Counter[str] = field(default_factory=Counter)
    seconds: array[float] = field(default_factory=lambda: array("d"))

    @property
    def seconds_used(self) -> dict[str, float] | None:
        """Seconds of a decision: their mean, the 99th percentile, and the most."""
        if not self.seconds:
            return None
        used = sorted(self.seconds)
        return {
            "mean": sum(used) / len(used),
            "p99": used[-(-99 * len(used) // 100) - 1],
            "most": used[-1],
        }


def connect(host: str, port: int, seconds: float) -> Lines:
    """Connect to a dealer, trying again until so many seconds are over."""
    deadline = time.monotonic() + seconds
    while True:
        left = deadline - time.monotonic()
        try:
            return Lines(socket.create_connection((host, port), max(0.001, left)))
        except (OSError, UnicodeError, OverflowError) as error:
            final = isinstance(error, socket.gaierror | UnicodeError | OverflowError)
            if final or time.monotonic() + _AGAIN_AFTER >= deadline:
                reason = getattr(error, "strerror", None) or error
                raise BadValue(
                    f"no dealer answers at {host} port {port} ({reason}); start it first, or name "
                    "another with --host and --port"
                ) from None
        time.sleep(_AGAIN_AFTER)


def visit(
    lines: Lines,
    mind: Mind,
    definition: GameDef,
    silence: float,
    watch: Callable[[Table, int], None] | None = None,
) -> Visit:
    """Play until the dealer closes the connection, waiting for a line at most `silence` seconds.
    `watch` is called after each hand, with the table and the bot's position.

    `BadValue` if it sends lines that are invalid, or none.
    """
    guest = _Guest(lines, mind, definition, silence)
    guest.watch = watch
    try:
        lines.send(VERSION, time.monotonic() + silence)
        while True:
            guest.hear()
    except Gone:
        if guest.last is None:
            raise BadValue("the dealer closed the connection before the first hand") from None
    except Silent:
        raise BadValue(
            f"the dealer was silent for {silence:g} s after {guest.visit.hands:,} hands; wait "
            "longer with --timeout"
        ) from None
    finally:
        lines.close()
        guest.visit.faults = mind.faults
    return guest.visit


class _Guest:
    """A match from the view of a player at the dealer."""

    def __init__(self, lines: Lines, mind: Mind, definition: GameDef, silence: float) -> None:
        self.lines, self.mind, self.definition = lines, mind, definition
        self.silence = silence
        self.watch: Callable[[Table, int], None] | None = None
        self.visit = Visit()
        self.last: MatchState | None = None
        self.table: Table | None = None
        self.parts = 0  # of chips, so that sums are exact

    def hear(self) -> None:
        """Read the next state, bring the table up to date, and act if it is our turn."""
        state = self._next()
        last, self.last = self.last, state
        if self.table and last and state.hand == last.hand:
            follow(self.table, last, state)
            if state.betting == last.betting:  # it shows more cards, and asks for nothing new
                return
        else:
            self.table = table_of(state, self.definition)
        self.visit.whole = self.table.over
        if self.table.over:
            self._end(state, self.table)
        elif self.table.actor == state.position:
            begun = time.perf_counter()
            action = action_text(self.table, *self.mind.act(self.table, state.hand))
            self.visit.seconds.append(time.perf_counter() - begun)
            self.lines.send(f"{state.text}:{action}", time.monotonic() + self.silence)

    def _next(self) -> MatchState:
        """The next state that differs from the last."""
        deadline = time.monotonic() + self.silence
        for _ in range(MOST_IDLE):
            line = self.lines.read(deadline)
            if line is None:
                raise BadValue("the dealer sent a line that is too long for a match state")
            if line.startswith(("#", ";")):
                continue
            state = MatchState.read(line)
            if self.last is None or state.hand > self.last.hand:
                return state
            if state.hand < self.last.hand:
                raise BadValue(
                    f"the dealer went back from hand {self.last.hand} to hand {state.hand}"
                )
            if state != self.last:
                return state
        raise BadValue(f"the dealer sent {MOST_IDLE:,} lines in a row that say nothing new")

    def _end(self, state: MatchState, table: Table) -> None:
        self.visit.hands += 1
        self.parts += int(table.rows[0, PAYOFF + state.position])
        self.visit.won = self.parts / PARTS
        self.mind.remember(table, state.position)
        if self.watch:
            self.watch(table, state.position)
