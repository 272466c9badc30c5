"""Guards around plugin code: exceptions become one sentence, and shared arrays are read-only."""

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
    """Convert any exception of a plugin, exits included, to a `PluginFailure` about `what`.

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
    """The array, made read-only because plugins get it."""
    array.setflags(write=False)
    return array
