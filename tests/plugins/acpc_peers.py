"""Who is at the other end in tests of the ACPC protocol: programs and dealers, good and bad.

Everything is on 127.0.0.1, with an end to every wait and loop.
"""

from __future__ import annotations

import io
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from cbr_arena.acpc import door
from cbr_arena.acpc.client import Visit, visit
from cbr_arena.acpc.dealer import Outcome, play_match
from cbr_arena.acpc.lines import Lines
from cbr_arena.acpc.log import MatchLog
from cbr_arena.acpc.mind import Mind
from cbr_arena.acpc.protocol import MatchState, table_of
from cbr_arena.acpc.seats import House, Limits, Remote
from cbr_holdem.table import Table
from cbr_logs import SHIPPED, GameDef

HOST = "127.0.0.1"
#: Seconds after which anything here gives up.
PATIENCE = 300.0  # only against a hang
HELLO = b"VERSION:2.0.0\r\n"

#: What somebody does with a connection.
Script = Callable[[socket.socket], Any]


class Peer(threading.Thread):
    """Runs a script at a connection, and keeps what it gave."""

    def __init__(self, script: Script, port: int = 0, server: socket.socket | None = None) -> None:
        super().__init__(daemon=True)
        self.script, self.port, self.server = script, port, server
        self.gave: Any = None
        # Connected before any clock of the other end runs, however late this thread starts.
        self.link = None if server else socket.create_connection((HOST, port), PATIENCE)
        self.start()

    def run(self) -> None:
        link = self.link
        if self.server:
            self.server.settimeout(PATIENCE)
            link = self.server.accept()[0]
        assert link is not None
        with link:
            link.settimeout(PATIENCE)
            try:
                self.gave = self.script(link)
            except OSError:  # the other end would not hear more
                self.gave = None


def finish(peers: Sequence[Peer]) -> list[Any]:
    """What peers gave; none may still be at it."""
    deadline = time.monotonic() + PATIENCE
    for peer in peers:
        peer.join(max(0.0, deadline - time.monotonic()))
        assert not peer.is_alive(), "a peer hangs"
    return [peer.gave for peer in peers]


# --- programs that play -------------------------------------------------------------------------


def program(game: GameDef, answer: Callable[[str, Table], bytes], most: int = 10_000) -> Script:
    """A program that answers each state in which it is to act; gives the lines that it heard."""

    def play(link: socket.socket) -> list[str]:
        link.sendall(HELLO)
        heard: list[str] = []
        with link.makefile("r", encoding="ascii", newline="\r\n") as lines:
            for line, _ in zip(lines, range(most), strict=False):
                heard.append(line.removesuffix("\r\n"))
                state = MatchState.read(heard[-1])
                table = table_of(state, game)
                if table.actor == state.position:
                    link.sendall(answer(heard[-1], table))
        return heard

    return play


def says(action: str) -> Callable[[str, Table], bytes]:
    return lambda line, table: f"{line}:{action}\r\n".encode("latin-1")


def ours(spec: str, game: GameDef, seed: int) -> Script:
    """A bot of ours."""

    def play(link: socket.socket) -> Visit:
        return visit(Lines(link), Mind(spec, game.game, seed), game, PATIENCE)

    return play


# --- a dealer in this process -------------------------------------------------------------------


def deal(
    game: GameDef,
    scripts: Sequence[Script],
    bots: Sequence[str] = (),
    hands: int = 3,
    seed: int = 1,
    limits: Limits | None = None,
) -> tuple[Outcome, str, list[Any]]:
    """A match of programs and bots at our dealer: what came of it, its log, what programs gave."""
    limits = limits or Limits(PATIENCE, PATIENCE, PATIENCE)
    names = [f"p{place + 1}" for place in range(len(scripts) + len(bots))]
    listening = door.listen(HOST, 0, len(scripts))
    peers = [
        Peer(script, server.getsockname()[1])
        for script, server in zip(scripts, listening, strict=True)
    ]
    connections = door.welcome(listening, names, PATIENCE)
    minds = [Mind(bot, game.game, seed) for bot in bots]
    seats = [*(Remote(one, limits, hands) for one in connections), *map(House, minds)]
    text = io.StringIO()
    outcome = play_match(game, seats, names, hands, seed, MatchLog(text))
    return outcome, text.getvalue(), finish(peers)


def warm(*specs: str) -> None:
    """Compile what is needed before a clock runs."""
    from cbr_arena.acpc.commands import _warm

    for name in ("limit", "nolimit"):
        game = SHIPPED[f"holdem.{name}.2p.reverse_blinds.game"]
        for spec in specs:
            _warm(Mind(spec, game.game, 0), game)


@contextmanager
def nothing_is_left() -> Iterator[None]:
    """No thread and no socket outlives a test."""
    sockets, threads = _open_sockets(), set(threading.enumerate())
    yield
    deadline = time.monotonic() + PATIENCE
    while set(threading.enumerate()) - threads and time.monotonic() < deadline:
        time.sleep(0.01)
    assert set(threading.enumerate()) <= threads
    assert _open_sockets() == sockets


def _open_sockets() -> list[str]:
    """The sockets that this process has open, where the system tells."""
    found = []
    for link in Path("/proc/self/fd").glob("*"):
        with suppress(OSError):
            found.append(str(link.readlink()))
    return sorted(name for name in found if name.startswith("socket:"))
