"""Keyboard input: single keys where stdin is a terminal, lines elsewhere.

Both give one key after the other. Of a line, the first letter of its word and the text after the
word count, so that `r 400`, `raise 400` and `r400` are the same.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TextIO

from cbr import BadValue

ENTER, ERASE, ESCAPE, OTHER, END = "enter", "erase", "escape", "other", "end"

_NAMES = {
    "\n": ENTER,
    "\r": ENTER,
    "\x7f": ERASE,
    "\b": ERASE,
    "\x1b": ESCAPE,
    "\x04": END,  # Ctrl-D: in single-key mode there is no other end of input
}
#: One key of the input: arrows and similar keys are escape sequences of several characters.
_KEY = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.)|.", re.S)
_LINE = re.compile(r"([^\W\d_])[^\W\d_]*\s*(.*)")


class Keyboard(Protocol):
    """A source of keys; `single` is true if keys arrive without Enter."""

    single: bool

    def key(self) -> str:
        """The next key: a character, or one of the names above."""

    def forget(self) -> None:
        """Discard the input typed before now."""


class Terminal:
    """Single keys of a terminal; its settings are restored at the end."""

    single = True

    def __init__(self, file: int) -> None:
        self._file, self._typed = file, ""

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """In this context keys arrive at once and are not echoed."""
        import termios
        import tty

        before = termios.tcgetattr(self._file)

        def again(*_: Any) -> None:
            # A shell changes the terminal's settings when it stops us on Ctrl-Z.
            tty.setcbreak(self._file, termios.TCSANOW)

        handler = signal.signal(signal.SIGCONT, again)
        try:
            again()
            yield
        finally:
            signal.signal(signal.SIGCONT, handler)
            with suppress(termios.error):  # the terminal may be gone
                termios.tcsetattr(self._file, termios.TCSANOW, before)

    def key(self) -> str:
        if not self._typed:
            with suppress(OSError):  # the terminal was closed
                self._typed = os.read(self._file, 1024).decode("utf-8", "replace")
        found = _KEY.match(self._typed)
        if not found:
            return END
        self._typed = self._typed[found.end() :]
        return named(found[0])

    def forget(self) -> None:
        import termios

        self._typed = ""
        with suppress(termios.error):
            termios.tcflush(self._file, termios.TCIFLUSH)


class Lines:
    """Keys of a file, line by line."""

    single = False

    def __init__(self, file: TextIO) -> None:
        self._file, self._left = file, list[str]()

    def key(self) -> str:
        if not self._left:
            self._left = list(keys_of(self._read()))
        return self._left.pop(0)

    def forget(self) -> None:
        self._left = []

    def _read(self) -> str:
        try:
            return self._file.readline()
        except (OSError, ValueError):  # closed, or not readable
            return ""


def keys_of(line: str) -> Iterator[str]:
    """
    >>> list(keys_of("raise 400\\n")), list(keys_of("\\n")), list(keys_of(""))
    (['r', '4', '0', '0', 'enter'], ['enter'], ['end'])
    """
    if not line:
        yield END
        return
    text = line.strip()
    word = _LINE.match(text)
    yield from map(named, word[1] + word[2].replace(" ", "") if word else text)
    yield ENTER


def named(character: str) -> str:
    """The name of a key."""
    if character in _NAMES:
        return _NAMES[character]
    return character.lower() if len(character) == 1 and character.isprintable() else OTHER


@contextmanager
def keyboard() -> Iterator[Keyboard]:
    """The keyboard for stdin: `Terminal` if it is one, else `Lines`."""
    if sys.stdin is None or sys.stdin.closed:
        raise BadValue("there is no keyboard to play at: stdin is closed")
    if _is_terminal(sys.stdin):
        terminal = Terminal(sys.stdin.fileno())
        with terminal.quiet():
            yield terminal
        return
    yield Lines(sys.stdin)


def _is_terminal(file: TextIO) -> bool:
    """Whether single keys can be read: not on Windows, where there is no termios."""
    try:
        import termios  # noqa: F401

        return file.isatty()
    except ImportError:
        return False
