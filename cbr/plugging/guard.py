"""A guard around a stranger's code: what it raises becomes one sentence that names it, and what it
is given it cannot change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cbr.errors import CbrError, PluginFailure

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: Signs of a stranger's sentence that are shown.
_LONGEST = 300


@contextmanager
def guarded(what: str) -> Iterator[None]:
    """Turn what a plugin raises, exits included, into a `PluginFailure` about `what`.

    >>> with guarded("similarity 'near'"):
    ...     raise SystemExit(0)
    Traceback (most recent call last):
    cbr.errors.PluginFailure: similarity 'near' failed: SystemExit: 0
    """
    try:
        yield
    except (CbrError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise PluginFailure(f"{what} failed: {one_line(error)}") from error


def one_line(error: BaseException) -> str:
    """An error as one line that a terminal can show: its sentence if it is ours, else its class and
    text, and not too much of it."""
    try:
        text = " ".join(str(error).split())
    except BaseException:  # an error of a stranger's class
        text = ""
    text = "".join(sign if sign.isprintable() else "?" for sign in text)
    if not isinstance(error, CbrError) and len(text) > _LONGEST:
        text = text[:_LONGEST] + "..."
    return text if isinstance(error, CbrError) else f"{type(error).__name__}: {text}".rstrip(": ")


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array, which nobody may write to from now on: plugins get to see it."""
    array.setflags(write=False)
    return array
