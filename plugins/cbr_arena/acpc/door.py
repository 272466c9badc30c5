"""How players connect to our dealer: a port for each, and a check of their protocol version."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence

from cbr import BadValue
from cbr_arena.acpc.lines import Gone, Lines, Silent
from cbr_arena.acpc.protocol import VERSION, quoted, speaks_ours


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
    deadline = time.monotonic() + seconds
    found: list[Lines] = []
    try:
        for server, player in zip(listening, players, strict=False):
            found.append(_accepted(server, player, deadline, seconds))
            _greeted(found[-1], player, deadline, seconds)
    except BaseException:
        for lines in found:
            lines.close()
        raise
    finally:
        close_all(listening)
    return found


def _accepted(server: socket.socket, player: str, deadline: float, seconds: float) -> Lines:
    port = server.getsockname()[1]
    try:
        server.settimeout(max(0.001, deadline - time.monotonic()))
        return Lines(server.accept()[0])
    except TimeoutError:
        raise BadValue(
            f"{player} did not connect to port {port} within {seconds:g} s; start it, or give it "
            "longer with --start-timeout"
        ) from None
    except OSError as error:
        raise BadValue(f"{player} could not connect to port {port}: {error}") from None


def _greeted(lines: Lines, player: str, deadline: float, seconds: float) -> None:
    try:
        greeting = lines.read(deadline)
    except Silent:
        raise BadValue(
            f"{player} connected and did not send {VERSION} within {seconds:g} s"
        ) from None
    except Gone:
        raise BadValue(f"{player} closed the connection before it sent {VERSION}") from None
    if greeting is None or not speaks_ours(greeting):
        raise BadValue(f"{player} began with {quoted(greeting or 'a long line')}, not {VERSION}")


def close_all(sockets: Sequence[socket.socket]) -> None:
    for one in sockets:
        one.close()
