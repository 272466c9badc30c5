"""Messages between a match and the process of a bot: fixed layouts over a socket, and deadlines.

A request is a header, then for each decision the session and the state of its random numbers (or,
after a hand, the seat), and the tables. An answer is a header, then actions or probabilities, the
amounts of raises, and faults. Who reads knows the length of each part from the header and from what
was asked, and reads no more than that.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.typing import Ints
from cbr_arena.bots import Actions, Figure, Triples
from cbr_holdem.table import HISTORY, MOVES, WIDTH

# Requests.
BEGIN, ACT, REMEMBER, BYE = range(4)
# Answers: actions, probabilities, that it is done, that it failed, that it is still at it.
ACTIONS, TRIPLES, DONE, FAILED, BUSY = range(5)
# Flags of DONE, and of an answer that has amounts of raises.
KEEPS, LEARNS, AMOUNTS = 1, 2, 4

_REQUEST = struct.Struct("<IIII")  # which, number, decisions or sessions, columns of a table
_ANSWER = struct.Struct("<IIIII")  # which, number, flags, faults, bytes of text
_MOST_TEXT = 4_000_000
#: Characters of a reason, and the figures that a bot may report.
_LONGEST_REASON, _MOST_FIGURES = 400, 100


class Gone(Exception):
    """The other end has closed the connection."""


class Late(Exception):
    """The other end did not send, or did not read, in time."""


class Unreadable(Exception):
    """What the other end sent is no answer to the request."""


class Request(NamedTuple):
    """`which` of the requests, of what `size` (decisions or sessions); `session` [n], `extra` [n]
    (states or seats) and `tables`."""

    which: int
    number: int
    size: int
    session: Ints
    extra: NDArray[np.uint64]
    tables: Ints


class Answer(NamedTuple):
    """`given` by the bot, if it was asked to act; `flags`, faults by decision, and a text."""

    which: int
    given: Actions | Triples | None = None
    flags: int = 0
    faults: list[tuple[int, str]] = []  # noqa: RUF012
    text: str = ""


class Wire:
    """One end of a connection. Deadlines are of `time.monotonic`; None is to wait for ever."""

    def __init__(self, link: socket.socket) -> None:
        self.link = link
        link.setblocking(False)

    def send(self, message: bytes, deadline: float | None = None) -> None:
        left = memoryview(message)
        while left:
            try:
                left = left[self.link.send(left) :]
            except BlockingIOError:
                if not select.select([], [self.link], [], _left(deadline))[1]:
                    raise Late from None
            except OSError:
                raise Gone from None

    def receive(self, count: int, deadline: float | None = None) -> bytearray:
        """Exactly so many bytes."""
        found = bytearray(count)
        left = memoryview(found)
        while left:
            try:
                come = self.link.recv_into(left)
            except BlockingIOError:
                if not select.select([self.link], [], [], _left(deadline))[0]:
                    raise Late from None
                continue
            except OSError:
                raise Gone from None
            if not come:
                raise Gone
            left = left[come:]
        return found

    # --- requests ---------------------------------------------------------------------------------

    def ask(
        self,
        which: int,
        number: int,
        session: Ints,
        extra: NDArray[Any],
        tables: Ints,
        deadline: float,
    ) -> None:
        # The history is mostly room for moves that nobody made.
        width = HISTORY + int(tables[:, MOVES].max()) if len(tables) else 0
        arrays = (session, extra, tables[:, :width])
        body = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
        self.send(_REQUEST.pack(which, number, len(session), width) + body, deadline)

    def tell(self, which: int, number: int, count: int, deadline: float) -> None:
        """A request without arrays."""
        self.send(_REQUEST.pack(which, number, count, 0), deadline)

    def asked(self) -> Request:
        """The next request."""
        which, number, count, width = _REQUEST.unpack(self.receive(_REQUEST.size))
        if which not in (ACT, REMEMBER):
            none = np.empty(0, np.int64)
            return Request(which, number, count, none, none.view(np.uint64), none)
        session = np.frombuffer(self.receive(8 * count), np.int64)
        extra = np.frombuffer(self.receive(8 * count), np.uint64)
        tables = np.zeros((count, WIDTH), np.int64)
        shown = np.frombuffer(self.receive(8 * count * width), np.int64)
        tables[:, :width] = shown.reshape(count, width)
        return Request(which, number, count, session, extra, tables)

    # --- answers ----------------------------------------------------------------------------------

    def answer(self, number: int, answer: Answer) -> None:
        flags, body = answer.flags, b""
        if answer.given is not None:
            first, to = answer.given
            body = np.ascontiguousarray(first).tobytes()
            if to is not None:
                flags |= AMOUNTS
                body += np.ascontiguousarray(to).tobytes()
        places = np.array([at for at, _ in answer.faults], np.uint32).tobytes()
        reasons = [why[:_LONGEST_REASON] for _, why in answer.faults]
        text = ("\n".join(reasons) if reasons else answer.text).encode("utf-8", "replace")
        head = _ANSWER.pack(answer.which, number, flags, len(answer.faults), len(text))
        self.send(head + body + places + text)

    def answered(self, number: int, count: int, seconds: float) -> Answer:
        """The answer to a request with `count` decisions; whoever says that it is busy gets as long
        again, for each decision once."""
        for _ in range(count + 1):
            deadline = time.monotonic() + seconds
            head = _ANSWER.unpack(self.receive(_ANSWER.size, deadline))
            which, of, flags, faults, text = head
            if of != number or which > BUSY or faults > count or text > _MOST_TEXT:
                raise Unreadable
            if which != BUSY:
                given = self._given(which, flags, count, deadline)
                places = np.frombuffer(self.receive(4 * faults, deadline), np.uint32)
                words = self.receive(text, deadline).decode("utf-8", "replace")
                return Answer(which, given, flags, _faults(places, words, count), words)
        raise Unreadable

    def _given(
        self, which: int, flags: int, count: int, deadline: float
    ) -> Actions | Triples | None:
        if which not in (ACTIONS, TRIPLES):
            return None
        columns = 1 if which == ACTIONS else 3
        first = self.receive(8 * columns * count, deadline)
        to = None
        if flags & AMOUNTS:
            to = np.frombuffer(self.receive(8 * count, deadline), np.int64)
        if which == ACTIONS:
            return Actions(np.frombuffer(first, np.int64), to)
        return Triples(np.frombuffer(first, np.float64).reshape(count, 3), to)


def _left(deadline: float | None) -> float | None:
    """Seconds left, above 0; `Late` when there are none."""
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise Late
    return left


def cleaned(text: str) -> str:
    """A text from a bot's process, fit to be shown."""
    words = " ".join(text.split())[:_LONGEST_REASON]
    return "".join(sign if sign.isprintable() else "?" for sign in words)


def _faults(places: NDArray[np.uint32], text: str, count: int) -> list[tuple[int, str]]:
    if not len(places):
        return []
    if int(places.max()) >= count:
        raise Unreadable
    reasons = [cleaned(line) for line in text.split("\n")] + [""] * len(places)
    return list(zip(places.tolist(), reasons, strict=False))


def figures_text(figures: Mapping[str, Figure]) -> str:
    """Figures as text, exactly."""
    return "\n".join(
        f"{float(total).hex()} {float(weight).hex()} {name}"
        for name, (total, weight) in figures.items()
    )


def figures_of(text: str) -> dict[str, Figure]:
    """What `figures_text` wrote; what cannot be read is left out."""
    found: dict[str, Figure] = {}
    for line in text.split("\n")[:_MOST_FIGURES]:
        total, _, rest = line.partition(" ")
        weight, _, name = rest.partition(" ")
        try:
            both = Figure(float.fromhex(total), float.fromhex(weight))
        except (ValueError, OverflowError):
            continue
        if np.isfinite(both).all() and name:
            found[cleaned(name)] = both
    return found
