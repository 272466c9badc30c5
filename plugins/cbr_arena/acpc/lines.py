"""Lines over a socket, with an end to all waiting and to every line."""

from __future__ import annotations

import contextlib
import socket
import time

#: Bytes in a line; what is longer is no message of the protocol.
LONGEST = 16_384
_CHUNK = 16_384
#: Bytes and seconds that are spent on what a peer has still to say when the match is over.
_LAST_BYTES, _LAST_SECONDS = 1_000_000, 0.2


class Gone(Exception):
    """The other end has closed the connection, or it broke."""


class Silent(Exception):
    """The other end did not speak, or did not read, in time."""


class Lines:
    """One connection. Deadlines are of `time.monotonic`."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._come = b""
        with contextlib.suppress(OSError):  # small messages that somebody waits for
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def read(self, deadline: float) -> str | None:
        """The next line without its end; None for one that is too long, which is dropped."""
        long = False
        while True:
            line, end, rest = self._come.partition(b"\n")
            if end:
                self._come = rest
                return None if long or len(line) > LONGEST else _text(line)
            if len(line) > LONGEST:
                long, self._come = True, b""
            self._come += self._more(deadline)

    def _more(self, deadline: float) -> bytes:
        try:
            self._link.settimeout(_left(deadline))
            found = self._link.recv(_CHUNK)
        except TimeoutError:
            raise Silent from None
        except OSError:
            raise Gone from None
        if not found:
            raise Gone
        return found

    def send(self, line: str, deadline: float) -> None:
        try:
            self._link.settimeout(_left(deadline))
            self._link.sendall(line.encode("ascii", "replace") + b"\r\n")
        except TimeoutError:
            raise Silent from None
        except OSError:
            raise Gone from None

    def close(self) -> None:
        """Say goodbye so that what was sent arrives: a close with unread lines would break off."""
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
