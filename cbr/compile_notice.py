"""The note that code is being compiled, said once, and only where something is.

It is apart from `cbr.jit`, which takes long to import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Timer

_SENTENCE = "compiling for this machine; it is done once and takes up to a minute"
#: What takes less than these seconds is not worth a note.
_AFTER = 1.5

#: Called when compiling begins; what it returns is called when it ends. None: nobody is told.
tell: Callable[[], Callable[[], None]] | None = None


def to_terminal() -> None:
    """Tell from now on the terminal on stderr, if it is one."""
    global tell
    if sys.stderr.isatty():
        tell = _note_later


def _note_later() -> Callable[[], None]:
    timer = Timer(_AFTER, _note)
    timer.daemon = True
    timer.start()
    return timer.cancel


def _note() -> None:
    global tell
    tell = None
    print(f"Note: {_SENTENCE}", file=sys.stderr)
