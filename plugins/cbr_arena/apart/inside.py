"""The process of an isolated bot: it builds the bot, and answers for it until it is ended.

Processes are forked from one that has imported what all of them need and no bot, so that they start
fast and share nothing that a bot could leave behind.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from dataclasses import dataclass
from typing import Any

import numba  # noqa: F401  imported here for all processes that are forked
import numpy as np
from numpy.typing import NDArray

from cbr.plugging import Plugins, one_line, use_plugins
from cbr_arena import views
from cbr_arena.apart import wire
from cbr_arena.apart.wire import Answer, Gone, Request, Wire
from cbr_arena.asking import remembered
from cbr_arena.bots import blank_memory, memory_of, plain
from cbr_arena.chance import Numbers
from cbr_arena.guests import Guest
from cbr_arena.players import build
from cbr_holdem.situation import Pending
from cbr_holdem.table import Game

#: How often a bot that decides view by view says that it is still at it, as a part of its time.
_OFTEN = 0.1


@dataclass(frozen=True)
class Setting:
    """What a process needs to build a bot: its spec, game and seats, the seconds for a call, the
    plugin files, and where the match runs."""

    spec: str
    game: Game
    seats: int
    seconds: float
    files: tuple[str, ...]
    folder: str
    environment: dict[str, str]


def main(link: socket.socket, setting: Setting) -> None:
    """The main function of the process."""
    _settle(link.fileno(), setting)
    line = Wire(link)
    try:
        host = _Host(line, setting)
    except BaseException as error:
        line.answer(0, Answer(wire.FAILED, text=one_line(error)))
        os._exit(1)
    with contextlib.suppress(Gone):  # the match is over
        line.answer(0, Answer(wire.DONE, flags=host.flags, text=host.doubts))
        while True:  # until the match ends this process
            host.serve(line.asked())
    # Not by way of `atexit`, where a bot may have put anything.
    os._exit(0)


def _settle(link: int, setting: Setting) -> None:
    """A session of its own, so that whatever the bot starts can be ended with it; nothing open but
    its link; no core dumps; an end when the match ends; and prints go to stderr."""
    os.setsid()
    os.closerange(3, link)
    os.closerange(link + 1, os.sysconf("SC_OPEN_MAX"))
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        with contextlib.suppress(Exception):
            import ctypes

            ctypes.CDLL(None).prctl(1, int(signal.SIGKILL))  # PR_SET_PDEATHSIG
    os.environ.clear()
    os.environ.update(setting.environment)
    os.chdir(setting.folder)
    views.TIME_LIMIT = min(views.TIME_LIMIT, setting.seconds)


class _Host:
    """A bot with its memories, [sessions]."""

    def __init__(self, line: Wire, setting: Setting) -> None:
        use_plugins(Plugins().load(setting.files))
        self.line, self.setting = line, setting
        bot = build(setting.spec, setting.game.betting)
        self.bot = bot if isinstance(bot, Guest) else Guest(bot)
        self.doubts = str(self.bot.doubts(setting.seats)) if hasattr(self.bot, "doubts") else ""
        keeps, learns = memory_of(self.bot) is not None, hasattr(self.bot, "remember")
        self.flags = wire.KEEPS * keeps | wire.LEARNS * (keeps and learns)
        self.memory: NDArray[Any] | None = None
        self.number, self.told = 0, 0.0
        self.bot.on_beat(self._beat)

    def serve(self, request: Request) -> None:
        self.number = request.number
        try:
            answer = self._answer(request)
        except BaseException as error:
            answer = Answer(wire.FAILED, text=one_line(error))
        self.line.answer(request.number, answer)

    def _answer(self, request: Request) -> Answer:
        if request.which == wire.ACT:
            return self._act(request)
        if request.which == wire.BYE:
            return self._bye()
        if request.which == wire.BEGIN:
            self.memory = blank_memory(self.bot, request.size)
        else:
            mine = self._recalled(request)
            try:
                self.bot.remember(request.tables, request.extra.astype(np.int64), mine)
            finally:
                self._keep(request, mine)
        return Answer(wire.DONE)

    def _act(self, request: Request) -> Answer:
        mine = self._recalled(request)
        situations = Pending(request.tables, self.setting.game, np.arange(request.size))
        self.told = time.monotonic()
        try:
            given = plain(
                self.bot.act(situations, mine, Numbers(request.extra.copy())), request.size
            )
        finally:
            self._keep(request, mine)
        which = wire.TRIPLES if len(given[0].shape) == 2 else wire.ACTIONS
        return Answer(which, given, faults=self.bot.take_faults())

    def _recalled(self, request: Request) -> NDArray[Any] | None:
        return None if self.memory is None else self.memory[request.session]

    def _keep(self, request: Request, mine: NDArray[Any] | None) -> None:
        if self.memory is not None and mine is not None:
            self.memory[request.session] = mine

    def _bye(self) -> Answer:
        kept = self.memory is not None and remembered(self.bot, self.memory)
        take = getattr(getattr(self.bot, "figures", None), "take", None)
        text = wire.figures_text(take()) if take else ""
        return Answer(wire.DONE, flags=wire.KEEPS * kept, text=text)

    def _beat(self) -> None:
        """Say that a decision is done, if that was not said lately."""
        now = time.monotonic()
        if now - self.told > _OFTEN * self.setting.seconds:
            self.told = now
            self.line.answer(self.number, Answer(wire.BUSY))
