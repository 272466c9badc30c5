"""How players come to our dealer: a port for each, and a seat for the first that greets there.

Whoever connects may be a probe, a browser, or nobody at all: a connection waits until it has sent
the line with its protocol version, and the first to do so gets the seat. Those that send anything
else or leave are closed and forgotten; those that are silent wait beside the others.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from cbr import BadValue
from cbr_arena.acpc.lines import Lines
from cbr_arena.acpc.protocol import VERSION, quoted, speaks_ours

#: Bytes in which a greeting has to end.
_LONGEST = 256
#: Most connections that wait at a port; one more takes the place of the one that waited longest.
MOST_WAITING = 32


def listen(host: str, port: int, count: int) -> list[socket.socket]:
    """Listen on a port for each player, from `port` on; with 0, on any free ports."""
    if port and port + count > 65_536:
        raise BadValue(f"there are no {count} ports from {port} on; choose a lower --port")
    found: list[socket.socket] = []
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for place in range(count):
        try:
            found.append(socket.create_server((host, port and port + place), family=family))
        except (OSError, UnicodeError) as error:
            close_all(found)
            reason = getattr(error, "strerror", None) or error
            raise BadValue(
                f"cannot listen at {host} port {port and port + place}: {reason}; choose another "
                "--host or --port"
            ) from None
    return found


def welcome(
    listening: Sequence[socket.socket], players: Sequence[str], seconds: float
) -> list[Lines]:
    """A connection for each player, after all of them have sent a version that we support."""
    doors = [_Door(*both) for both in zip(listening, players, strict=False)]
    deadline = time.monotonic() + seconds
    try:
        with selectors.DefaultSelector() as selector:
            for door in doors:
                door.open(selector)
            while any(door.seated is None for door in doors):
                left = deadline - time.monotonic()
                ready = selector.select(left) if left > 0 else []
                if not ready and time.monotonic() >= deadline:
                    late = next(door for door in doors if door.seated is None)
                    raise BadValue(late.why_nobody(seconds))
                for key, _ in ready:
                    door, link = key.data
                    if door.seated is None:  # not since this `select` began
                        door.hear(selector, link)
    except BaseException:
        for door in doors:
            if door.seated is not None:
                door.seated.close()
        raise
    finally:
        for door in doors:
            close_all([*door.waiting])
        close_all(listening)
    return [door.seated for door in doors if door.seated is not None]


@dataclass(eq=False)
class _Door:
    """A player's port: what those who wait there have sent, and the one who got the seat."""

    server: socket.socket
    player: str
    waiting: dict[socket.socket, bytes] = field(default_factory=dict)
    seated: Lines | None = None
    #: What was wrong with the last who came.
    wrong: str = ""

    def open(self, selector: selectors.BaseSelector) -> None:
        self.server.setblocking(False)
        selector.register(self.server, selectors.EVENT_READ, (self, None))

    def hear(self, selector: selectors.BaseSelector, link: socket.socket | None) -> None:
        """Let somebody in, or read what somebody who waits has sent."""
        if link is None:
            self._let_in(selector)
        elif link in self.waiting:  # not closed since this `select` began
            try:
                come = link.recv(_LONGEST)
            except BlockingIOError:
                return
            except OSError:
                come = b""
            self.waiting[link] += come
            if not come:
                self.wrong = f"closed the connection before it sent {VERSION}"
                self._drop(selector, link)
            elif b"\n" in self.waiting[link] or len(self.waiting[link]) >= _LONGEST:
                self._judge(selector, link)

    def _let_in(self, selector: selectors.BaseSelector) -> None:
        try:
            link, _ = self.server.accept()
        except OSError:  # gone again before it was let in
            return
        link.setblocking(False)
        if len(self.waiting) >= MOST_WAITING:
            self._drop(selector, next(iter(self.waiting)))
        self.waiting[link] = b""
        selector.register(link, selectors.EVENT_READ, (self, link))

    def _judge(self, selector: selectors.BaseSelector, link: socket.socket) -> None:
        greeting, end, rest = self.waiting[link].partition(b"\n")
        text = greeting.removesuffix(b"\r").decode("latin-1")
        if not end or not speaks_ours(text):
            self.wrong = f"began with {quoted(text if end else 'a long line')}, not {VERSION}"
            self._drop(selector, link)
            return
        selector.unregister(link)
        selector.unregister(self.server)
        del self.waiting[link]
        for other in [*self.waiting]:
            self._drop(selector, other)
        self.server.close()
        self.seated = Lines(link, rest)

    def _drop(self, selector: selectors.BaseSelector, link: socket.socket) -> None:
        selector.unregister(link)
        del self.waiting[link]
        link.close()

    def why_nobody(self, seconds: float) -> str:
        port, within = self.server.getsockname()[1], f"within {seconds:g} s"
        remedy = "start it, or give it longer with --start-timeout"
        if self.waiting:
            return f"{self.player} connected and did not send {VERSION} {within}; {remedy}"
        if self.wrong:
            return f"{self.player} {self.wrong}, and no other came to port {port} {within}"
        return f"{self.player} did not connect to port {port} {within}; {remedy}"


def close_all(sockets: Sequence[socket.socket]) -> None:
    for one in sockets:
        with contextlib.suppress(OSError):
            one.close()
