"""Reading files that may be compressed with gzip, bzip2, xz or zstd.

A small file may decompress to more than fits on a disk. What may be decompressed is bounded, by
default to `MOST_UNPACKED` bytes of a file; `unpacking` sets another bound, for all that is read in
its block.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from cbr.errors import BadValue

#: The most bytes that a compressed file may hold unless ``--max-unpacked`` says otherwise.
MOST_UNPACKED = 20 * 10**9
_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def read_size(text: str, least: int = 1) -> int:
    """A number of bytes as people write it, `least` or more.

    >>> read_size("20GB"), read_size("1.5 MB"), read_size("512")
    (20000000000, 1500000, 512)
    """
    found = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,6})?)\s*([KMGT]?B?)\s*", text.upper())
    unit = found[2].removesuffix("B") + "B" if found and found[2] not in {"", "B"} else ""
    size = int(float(found[1]) * _UNITS[unit]) if found else -1
    if size < least:
        raise BadValue(f"{text!r} is no size; give bytes, such as 500MB or 20GB")
    return size


@dataclass
class Unpacked:
    """The bytes that were decompressed of a file, and the most that are allowed."""

    name: str
    most: int = MOST_UNPACKED
    bytes: int = 0

    def add(self, size: int) -> None:
        self.bytes += size
        if self.bytes > self.most:
            raise BadValue(
                f"{self.name} unpacks to more than {self.most:,} bytes; if it is to be trusted, "
                f"allow more with --max-unpacked"
            )


_unpacked: ContextVar[Unpacked | None] = ContextVar("unpacked", default=None)


@contextmanager
def unpacking(name: str, most: int) -> Iterator[Unpacked]:
    """Bound all that is decompressed in the block together, as content of the file of this name."""
    mark = _unpacked.set(Unpacked(name, most))
    try:
        yield cast(Unpacked, _unpacked.get())
    finally:
        _unpacked.reset(mark)


class _Counted(io.RawIOBase):
    """Decompressed bytes, which are counted."""

    def __init__(self, stream: Any, unpacked: Unpacked) -> None:
        self._stream = stream
        self._unpacked = unpacked

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # One read, not as many as fill the buffer: what comes before a damage must not be lost.
        data = self._stream.read1(len(buffer))
        self._unpacked.add(len(data))
        buffer[: len(data)] = data
        return len(data)


class _Zstd(io.RawIOBase):
    """Decompressed bytes of all zstd frames; a truncated frame is an error, not the end."""

    def __init__(self, raw: IO[bytes]) -> None:
        import zstandard

        self._new = zstandard.ZstdDecompressor
        self._error = zstandard.ZstdError
        self._raw = raw
        self._frame: Any = None
        self._ready = memoryview(b"")  # what is left of it is a view, not a copy

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            given = self._raw.read(1 << 11)  # a small piece may decompress to a very large one
            if not given:
                if self._frame is not None:
                    raise EOFError("the compressed data ends before its end mark")
                return 0
            self._ready = memoryview(self._decompressed(given))
        taken = self._ready[: len(buffer)]
        buffer[: len(taken)] = taken
        self._ready = self._ready[len(taken) :]
        return len(taken)

    def _decompressed(self, given: bytes) -> bytes:
        parts = []
        while given:
            self._frame = self._frame or self._new().decompressobj()
            try:
                parts.append(self._frame.decompress(given))
            except self._error as error:
                raise OSError(str(error)) from None
            given = self._frame.unused_data if self._frame.eof else b""
            self._frame = None if self._frame.eof else self._frame
        return b"".join(parts)


def _open_zstd(raw: IO[bytes]) -> Any:
    return io.BufferedReader(_Zstd(raw))


#: Exceptions that reading a damaged compressed file may raise.
BROKEN: tuple[type[Exception], ...] = (OSError, EOFError, lzma.LZMAError, zlib.error)
#: First bytes of compressed files, and how to open them.
_OPENERS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": _open_zstd,
}
#: Suffixes of compressed files, and the suffix after decompression.
_SUFFIXES = {".tgz": ".tar", ".txz": ".tar", ".tbz2": ".tar", ".tzst": ".tar"}
_SUFFIXES |= dict.fromkeys((".gz", ".bz2", ".xz", ".zst"), "")


def plain_name(path: Path) -> str:
    """A file's name without folder and compression suffix, which identifies it in a casebase.

    >>> plain_name(Path("logs/cars.csv.gz")), plain_name(Path("holdem.199911.tgz"))
    ('cars.csv', 'holdem.199911.tar')
    """
    # SQLite stores texts as UTF-8 only.
    name = os.fsencode(path.name).decode("utf-8", "backslashreplace")
    suffix = path.suffix
    return name.removesuffix(suffix) + _SUFFIXES[suffix] if suffix in _SUFFIXES else name


@contextmanager
def open_bytes(path: Path) -> Iterator[tuple[IO[bytes], Callable[[], int]]]:
    """A stream of the file's decompressed bytes, and a function that returns how many bytes of the
    file have been read."""
    with path.open("rb") as raw:
        head = raw.read(6)
        raw.seek(0)
        opener = next((o for magic, o in _OPENERS.items() if head.startswith(magic)), None)
        if opener is None:
            yield raw, raw.tell
        else:
            unpacked = _unpacked.get() or Unpacked(str(path))
            with opener(raw) as stream, io.BufferedReader(_Counted(stream, unpacked)) as counted:
                yield cast(IO[bytes], counted), raw.tell


def lines_of(stream: IO[bytes], longest: int = 1 << 20) -> Iterator[tuple[int, bytes | None]]:
    """The lines of a stream with their numbers from 1, without line ends; None for one that is too
    long. Such a line is skipped in pieces, so it takes no memory.
    """
    number = 0
    while line := stream.readline(longest):
        number += 1
        whole = line.endswith(b"\n") or len(line) < longest
        while not line.endswith(b"\n") and len(line) == longest:
            line = stream.readline(longest)
        yield number, line.rstrip(b"\r\n") if whole else None


def head_of(path: Path, size: int = 4096) -> bytes:
    """The first bytes, decompressed; empty if they cannot be read."""
    try:
        with open_bytes(path) as (file, _):
            return file.read(size)
    except BROKEN:
        return b""
