"""Reading files that may be compressed with gzip, bzip2, xz or zstd."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast


class _Zstd(io.RawIOBase):
    """Decompressed bytes of all zstd frames; a truncated frame is an error, not the end."""

    def __init__(self, raw: IO[bytes]) -> None:
        import zstandard

        self._new = zstandard.ZstdDecompressor
        self._error = zstandard.ZstdError
        self._raw = raw
        self._frame: Any = None
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            given = self._raw.read(1 << 11)  # a small piece may decompress to a very large one
            if not given:
                if self._frame is not None:
                    raise EOFError("the compressed data ends before its end mark")
                return 0
            self._ready = self._decompressed(given)
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
            with opener(raw) as stream:
                yield cast(IO[bytes], stream), raw.tell


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
