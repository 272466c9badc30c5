"""Checksums and error handling for binary files that are verified before use.

Saved indices, label files and tables have formats of their own and share these functions.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from cbr.errors import CbrError, one_line

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

#: Exceptions that readers of zip, numpy and JSON files raise for a damaged file, one of another
#: format, or one with impossible sizes.
_SIGNS = (
    *(ValueError, LookupError, TypeError, AttributeError, EOFError, RuntimeError, MemoryError),
    *(zipfile.BadZipFile, zlib.error),
)


class Damaged(CbrError):
    """A file whose content is damaged."""


@contextmanager
def damage_found(*more: type[Exception]) -> Iterator[None]:
    """Convert exceptions that indicate damage, and those of `more`, to `Damaged`."""
    signs: tuple[type[Exception], ...] = (*_SIGNS, *more)
    try:
        yield
    except signs as error:
        raise Damaged(one_line(error)) from None


def checksum(*parts: bytes) -> str:
    """A hash of these bytes.

    >>> checksum(b"case", b"base") == checksum(b"casebase")
    True
    """
    mark = hashlib.blake2b(digest_size=16)
    for part in parts:
        mark.update(part)
    return mark.hexdigest()


def read_arrays(file: Path | BinaryIO) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file, read without pickle, so that no code can run."""
    import numpy as np

    with damage_found(), np.load(file, allow_pickle=False) as found:
        return {name: found[name] for name in found.files}
