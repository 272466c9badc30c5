"""A guard around a stranger's code: what it raises becomes one sentence that names it, and what it
is given it cannot change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cbr.errors import CbrError, PluginFailure
from cbr.errors import one_line as one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array, which nobody may write to from now on: plugins get to see it."""
    array.setflags(write=False)
    return array
