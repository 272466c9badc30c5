"""An isolated bot as the match sees it: it asks the bot's process, and starts another if it fails.

A process that ends, hangs or sends nonsense is a fault of its bot, which folds (or checks) in the
decisions that it was asked for, and has lost its memory. After some faults of this kind no other
process is started until the next sessions begin.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import time
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue
from cbr.errors import PluginFailure
from cbr.plugging import default_plugins
from cbr.typing import Ints
from cbr_arena.apart import inside, wire
from cbr_arena.apart.wire import Answer, Gone, Late, Unreadable, Wire
from cbr_arena.bots import Actions, Figure, Triples, Wrapper
from cbr_arena.chance import Chance
from cbr_arena.players import in_file
from cbr_holdem.situation import Pending
from cbr_holdem.table import Game

#: Processes that are started in place of one that failed, until sessions begin anew.
RESTARTS = 3
#: Seconds to build a bot, to say goodbye, to be gone, and what a call may take beyond its limit, in
#: which a process can still say that it was late.
_BUILDING, _GOODBYE, _GOING, _GRACE = 300.0, 10.0, 5.0, 1.0
#: How often a process is tried to be started, and the seconds between.
_TRIES, _AGAIN = 20, 0.1


class Apart(Wrapper):
    """A bot in a process of its own. Its memory is there; here it has the number of each session.

    `seconds` are for a call: one decision in the short form, one batch in the fast form."""

    apart = True

    def __init__(self, spec: str, game: Game, seats: int, seconds: float) -> None:
        if not hasattr(os, "fork"):
            raise BadValue("--isolate needs a system with fork, as Linux and macOS; leave it out")
        if multiprocessing.current_process().daemon:
            raise BadValue("--isolate starts processes on this machine; leave out --dask")
        self._setting = _setting(spec, game, seats, seconds)
        self.figures = _Figures()
        self._faults: list[tuple[int, str]] = []
        self._process: _Process | None = None
        self._sessions, self._left, self._why, self._kept = 0, RESTARTS, "", False
        self._start()

    # --- what the arena asks ----------------------------------------------------------------------

    @property
    def memory(self) -> np.dtype[Any] | None:
        return np.dtype(np.int64) if self._hello.flags & wire.KEEPS else None

    def doubts(self, seats: int) -> str:
        return wire.cleaned(self._hello.text)

    def __getattr__(self, name: str) -> Any:
        if name == "remember" and self._hello.flags & wire.LEARNS:
            return self._remember
        raise AttributeError(f"an isolated bot has no {name!r}")

    def begin(self, sessions: int) -> NDArray[Any] | None:
        """Begin sessions in a process that has met no deal."""
        self._part()
        self._sessions, self._left, self._kept = sessions, RESTARTS, False
        if self._process is None:
            self._start()
        return None if self.memory is None else np.arange(sessions)

    def remembered(self, kept: NDArray[Any]) -> bool:
        self._part()
        return self._kept

    def act(
        self, situations: Pending, memory: Ints | None, chance: Chance
    ) -> Actions | Triples | None:
        session = np.zeros(situations.count, np.int64) if memory is None else memory
        numbers = chance.for_guests().state
        answer = self._asked(wire.ACT, session, numbers, situations.seen())
        self._faults = answer.faults
        return answer.given

    def _remember(self, tables: Ints, seats: Ints, memory: Ints) -> None:
        self._asked(wire.REMEMBER, memory, seats, tables)

    def take_faults(self) -> list[tuple[int, str]]:
        faults, self._faults = self._faults, []
        return faults

    def end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None

    # --- its process ------------------------------------------------------------------------------

    def _start(self) -> None:
        self._process = _Process(self._setting)

    @property
    def _hello(self) -> Answer:
        """What the process said when it had built the bot."""
        if "_said" not in vars(self):
            if self._process is None:
                self._start()
            assert self._process is not None
            try:
                self._said = self._process.hello()
            except _Failed as failed:
                self.end()
                raise PluginFailure(f"making bot {self._setting.spec!r} failed: {failed}") from None
        return self._said

    def _asked(self, which: int, session: Ints, extra: NDArray[Any], tables: Ints) -> Answer:
        """The answer of the process; `PluginFailure` if it fails or the bot did."""
        if self._process is None:
            if not self._left:
                raise PluginFailure(self._why)
            self._left -= 1
            self._start()
        assert self._process is not None
        try:
            answer = self._process.asked(which, session, extra, tables, self._sessions)
        except _Failed as failed:
            self._why = str(failed)
            self.end()
            raise PluginFailure(self._why) from None
        except BaseException:
            self.end()  # in the middle of a message
            raise
        if answer.which == wire.FAILED:
            raise PluginFailure(wire.cleaned(answer.text))
        return answer

    def _part(self) -> None:
        """End a process that has met deals, after it has told its figures and whether it has kept
        anything."""
        if self._process is None or not self._process.used:
            return
        with contextlib.suppress(_Failed):
            last = self._process.goodbye()
            self._kept = bool(last.flags & wire.KEEPS)
            self.figures.add(wire.figures_of(last.text))
        self.end()


def _setting(spec: str, game: Game, seats: int, seconds: float) -> inside.Setting:
    files = tuple(map(str, default_plugins().files))
    named = in_file(spec)
    if named:
        if not named[0].is_file():
            raise BadValue(f"there is no file {named[0]} with a bot {named[1]!r}")
        files, spec = (*files, str(named[0])), named[1]
    return inside.Setting(spec, game, seats, seconds, files, str(Path.cwd()), dict(os.environ))


class _Figures:
    """Figures of the processes that a bot had."""

    def __init__(self) -> None:
        self._sum: dict[str, Figure] = {}

    def add(self, figures: dict[str, Figure]) -> None:
        for name, (total, weight) in figures.items():
            before = self._sum.get(name, Figure(0.0, 0.0))
            self._sum[name] = Figure(before.total + total, before.weight + weight)

    def take(self) -> dict[str, Figure]:
        found, self._sum = self._sum, {}
        return found


def _forked(setting: inside.Setting) -> tuple[ForkServerProcess, socket.socket]:
    """A process that runs a bot, and the link to it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["cbr_arena.apart.nursery"])
    ours, theirs = socket.socketpair()
    made = context.Process(target=inside.main, args=(theirs, setting), daemon=True)
    try:
        with theirs:
            made.start()
    except BaseException:
        ours.close()
        raise
    return made, ours


class _Failed(Exception):
    """A process ended, hung, or sent nonsense; the text is what it did."""


class _Process:
    """The process of a bot, from its start to its end."""

    def __init__(self, setting: inside.Setting) -> None:
        self.used = False
        self._seconds, self._number = setting.seconds, 0
        self._hello: Answer | None = None
        for left in reversed(range(_TRIES)):
            try:
                self._made, link = _forked(setting)
                break
            except (OSError, EOFError):  # a bot may have ended the process that they come from
                if not left:
                    raise
                time.sleep(_AGAIN)
        self._wire = Wire(link)

    def hello(self) -> Answer:
        """Wait until the bot is built."""
        if self._hello is None:
            self._hello = self._exchanged(0, _BUILDING)
            if self._hello.which != wire.DONE:
                raise _Failed(wire.cleaned(self._hello.text))
        return self._hello

    def asked(
        self, which: int, session: Ints, extra: NDArray[Any], tables: Ints, sessions: int
    ) -> Answer:
        self.hello()
        if not self.used:
            self.used = True
            self._told(wire.BEGIN, sessions, self._seconds)
        self._number += 1
        try:
            deadline = time.monotonic() + self._seconds
            self._wire.ask(which, self._number, session, extra, tables, deadline)
        except (Gone, Late) as error:
            raise self._failed(error) from None
        answer = self._exchanged(len(session), self._seconds)
        wanted = (wire.ACTIONS, wire.TRIPLES) if which == wire.ACT else (wire.DONE,)
        if answer.which not in (wire.FAILED, *wanted):
            raise self._failed(Unreadable())
        return answer

    def goodbye(self) -> Answer:
        return self._told(wire.BYE, 0, min(_GOODBYE, self._seconds))

    def _told(self, which: int, count: int, seconds: float) -> Answer:
        self._number += 1
        try:
            self._wire.tell(which, self._number, count, time.monotonic() + seconds)
        except (Gone, Late) as error:
            raise self._failed(error) from None
        return self._exchanged(0, seconds)

    def _exchanged(self, count: int, seconds: float) -> Answer:
        try:
            return self._wire.answered(self._number, count, seconds + _GRACE)
        except (Gone, Late, Unreadable) as error:
            raise self._failed(error) from None

    def _failed(self, error: Exception) -> _Failed:
        if isinstance(error, Late):
            return _Failed(f"no answer within {self._seconds:g} s, so its process was ended")
        if isinstance(error, Unreadable):
            return _Failed("its process sent what is no answer, and was ended")
        self._made.join(_GOING)
        code = self._made.exitcode
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return _Failed(f"its process was ended by {signal.Signals(-code).name}")
        return _Failed(f"its process ended with code {code}" if code is not None else "it is gone")

    def end(self) -> None:
        """End the process and what it started; at once, whatever it is doing."""
        self._wire.link.close()
        with contextlib.suppress(OSError):
            os.killpg(self._made.pid or -1, signal.SIGKILL)
        if self._made.exitcode is None:
            self._made.kill()  # if it had no session of its own yet
            self._made.join(_GOING)
        with contextlib.suppress(ValueError):  # it cannot be ended, as one that waits for a disk
            self._made.close()
