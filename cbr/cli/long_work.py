"""What a long command tells while it works: a bar on a terminal, elsewhere a line now and then.

All of it goes to stderr, and nothing of it to what is done in less than half a minute.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cbr.cli.output import note, to_stderr

if TYPE_CHECKING:
    from cbr.typing import Progress

#: Seconds between two lines where there is no terminal, if `CBR_PROGRESS` does not say.
_EVERY = 30.0


@contextmanager
def waiting(reason: str, after: float = 1.5) -> Iterator[None]:
    """Note on a terminal why nothing is happening, if that lasts longer than `after` seconds.

    Elsewhere nothing is printed, so that what a program reads does not depend on the speed of the
    machine.
    """
    if not sys.stderr.isatty():
        yield
        return
    from threading import Timer

    timer = Timer(after, note, [reason])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def progress(what: str, unit: str) -> Iterator[Progress]:
    """A bar with rate and time left on a terminal; elsewhere a line every half minute."""
    if not sys.stderr.isatty():
        yield _lines(what, unit)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn(what),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[count]:,} " + unit + ", {task.fields[rate]:,.0f}/s"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(what, total=None, count=0, rate=0.0)
        began = time.monotonic()

        def tell(done: float, total: float, count: int) -> None:
            rate = count / max(time.monotonic() - began, 1e-3)
            bar.update(task, completed=done, total=total or None, count=count, rate=rate)

        yield tell


def _lines(what: str, unit: str) -> Progress:
    """Notes what is done, at most once in `CBR_PROGRESS` seconds."""
    due = now_and_then()
    began = time.monotonic()

    def tell(done: float, total: float, count: int) -> None:
        if not due():
            return
        seconds = time.monotonic() - began
        parts = [f"{count:,} {unit}", f"{count / seconds:,.0f}/s"]
        if 0 < done <= total:
            left = minutes(seconds * (total - done) / done)
            parts = [f"{100 * done / total:.0f} %", *parts, f"{left} left"]
        to_stderr(f"{what}: {', '.join(parts)}")

    return tell


def now_and_then() -> Callable[[], bool]:
    """A function that says whether it is time for another line."""
    every = _seconds()
    last = time.monotonic()

    def due() -> bool:
        nonlocal last
        if time.monotonic() - last < every:
            return False
        last = time.monotonic()
        return True

    return due


def _seconds() -> float:
    """Seconds between two lines: those of CBR_PROGRESS, where 0 means none."""
    try:
        every = float(os.environ.get("CBR_PROGRESS", _EVERY))
    except ValueError:
        return _EVERY
    return every if every > 0.0 else math.inf


def minutes(seconds: float) -> str:
    """A time as minutes and seconds, 2:05."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
