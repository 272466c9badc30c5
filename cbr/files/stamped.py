"""Checksums and error handling for binary files that are verified before use.

Saved indices, label files and tables have formats of their own and share these functions.
"""

from __future__ import annotations

import hashlib
import io
import math
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from cbr.errors import BadJson, CbrError, one_line

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

#: Exceptions that readers of zip, numpy and JSON files raise for a damaged file, one of another
#: format, or one with impossible sizes.
_SIGNS = (
    *(ValueError, LookupError, TypeError, AttributeError, EOFError, RuntimeError, MemoryError),
    *(OverflowError, SyntaxError, BadJson, struct.error, tokenize.TokenError),
    *(zipfile.BadZipFile, zlib.error),
)
#: The most bytes that an archive may unpack to.
_MOST_UNPACKED = 1 << 29
#: Kinds of numpy arrays that hold plain values: flags, numbers and texts.
_PLAIN = "biufSU"


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


def verify_unpacked(archive: zipfile.ZipFile, most: int) -> None:
    """Raise `Damaged` if an archive would unpack to more than `most` bytes, by its directory;
    `read_member` unpacks no more than that."""
    entries = archive.infolist()
    if any(
        entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries
    ):
        raise Damaged("it is compressed in a way that this program does not write")
    size = sum(entry.file_size for entry in entries)
    if size > most:
        raise Damaged(f"it would unpack to {size:,} bytes, and {most:,} are the most")


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """The content of a file in an archive. `ZipFile.read` would unpack all that is there first, and
    then look how much it should be."""
    with archive.open(name) as file:
        return file.read(archive.getinfo(name).file_size + 1)


def read_array(data: bytes) -> NDArray[Any]:
    """An array in numpy's .npy format, read without pickle, so that no code can run. Its size is
    that of the data, whatever its header says."""
    import numpy as np

    with damage_found(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's about headers that Python 2 wrote
        stream = io.BytesIO(data)
        readers = {(1, 0): np.lib.format.read_array_header_1_0}
        readers[2, 0] = np.lib.format.read_array_header_2_0
        shape, fortran, dtype = readers[np.lib.format.read_magic(stream)](stream)
        start = stream.tell()
        if dtype.kind not in _PLAIN or not dtype.itemsize:
            raise Damaged(f"it holds {dtype}, not numbers or texts")
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data) - start:
            raise Damaged(f"it has {len(data) - start} bytes for the shape {shape} of {dtype}")
        flat = np.frombuffer(data, dtype, offset=start)
        return flat.reshape(shape, order="F" if fortran else "C").copy()


def read_arrays(file: Path | BinaryIO) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file, each read as `read_array` does."""
    with damage_found(), zipfile.ZipFile(file) as archive:
        verify_unpacked(archive, _MOST_UNPACKED)
        names = archive.namelist()
        return {name.removesuffix(".npy"): read_array(read_member(archive, name)) for name in names}
