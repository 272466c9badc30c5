"""Lines over a socket, with limits on waiting and on the length of a line."""

from __future__ import annotations

import contextlib
import select
import socket
import time

#: Bytes in a line; what is longer is no message of the protocol.
LONGEST = 16_384
_CHUNK = 16_384
#: Most bytes and seconds that are spent on reading a peer's last lines before closing.
_LAST_BYTES, _LAST_SECONDS = 1_000_000, 0.2


class Gone(Exception):
    """The other end has closed the connection, or it broke."""


class Silent(Exception):
    """The other end did not send, or did not read, in time."""


class Lines:
    """One connection. Deadlines are of `time.monotonic`; `come` is what was read of it before."""

    def __init__(self, link: socket.socket, come: bytes = b"") -> None:
        self._link = link
        self._come = come
        self._long = False  # whether the next bytes belong to a line that is too long
        # Not the socket's own timeouts: they cost two more system calls for each message.
        link.setblocking(False)
        with contextlib.suppress(OSError):  # the other end waits for these small messages
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def read(self, deadline: float) -> str | None:
        """The next line without its end; None for each piece of `LONGEST` bytes without one, which
        is dropped, and so is the rest of that line."""
        while True:
            line, end, rest = self._come.partition(b"\n")
            if not end and len(line) <= LONGEST:
                self._come += self._more(deadline)
                continue
            rest_of_long, self._long = self._long, not end
            self._come = rest
            if len(line) > LONGEST:
                return None
            if not rest_of_long:
                return _text(line)

    def _more(self, deadline: float) -> bytes:
        try:
            while not (found := self._received(deadline)):
                pass
        except OSError:
            raise Gone from None
        return found

    def _received(self, deadline: float) -> bytes:
        """The bytes received; none if `select` reported data where there is none."""
        if not select.select([self._link], [], [], _left(deadline))[0]:
            raise Silent
        try:
            found = self._link.recv(_CHUNK)
        except BlockingIOError:
            return b""
        if not found:
            raise Gone
        return found

    def send(self, line: str, deadline: float) -> None:
        left = line.encode("ascii", "replace") + b"\r\n"
        try:
            while left:
                try:
                    left = left[self._link.send(left) :]
                except BlockingIOError:
                    if not select.select([], [self._link], [], _left(deadline))[1]:
                        raise Silent from None
        except OSError:
            raise Gone from None

    def close(self) -> None:
        """Read what is left, then close: closing with unread lines could discard what was sent."""
        with contextlib.suppress(OSError), self._link:
            self._link.shutdown(socket.SHUT_WR)
            deadline, left = time.monotonic() + _LAST_SECONDS, _LAST_BYTES
            with contextlib.suppress(Gone, Silent):
                while left > 0:
                    left -= len(self._more(deadline))


def _left(deadline: float) -> float:
    """Seconds left, above 0; `Silent` when there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise Silent
    return left


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("latin-1")
