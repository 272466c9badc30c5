"""Binary files that are checked before they are used: checksums, and damage said in a sentence.

Saved indices, files of labels and tables have formats of their own; what they share is here.
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

#: How readers of zip, numpy and JSON files meet damage, a file of another kind, or one too large to
#: be true.
_SIGNS = (
    *(ValueError, LookupError, TypeError, AttributeError, EOFError, RuntimeError, MemoryError),
    *(zipfile.BadZipFile, zlib.error),
)


class Damaged(CbrError):
    """A file that does not hold what was written."""


@contextmanager
def damage_found(*more: type[Exception]) -> Iterator[None]:
    """Turn every sign of damage, and `more` errors where given, into `Damaged`."""
    signs: tuple[type[Exception], ...] = (*_SIGNS, *more)
    try:
        yield
    except signs as error:
        raise Damaged(one_line(error)) from None


def checksum(*parts: bytes) -> str:
    """A mark that tells these bytes from any others.

    >>> checksum(b"case", b"base") == checksum(b"casebase")
    True
    """
    mark = hashlib.blake2b(digest_size=16)
    for part in parts:
        mark.update(part)
    return mark.hexdigest()


def read_arrays(file: Path | BinaryIO) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file, which can hold nothing that could be run."""
    import numpy as np

    with damage_found(), np.load(file, allow_pickle=False) as found:
        return {name: found[name] for name in found.files}
