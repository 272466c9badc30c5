"""Files, folders and archives as one list of files to read.

An archive is unpacked into a temporary folder and read from there like any folder, so a reader can
use files beside the one it reads. Members are identified by the archive's name and their own.
"""

from __future__ import annotations

import errno
import os
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory, gettempdir
from typing import IO, cast

from cbr.errors import BadValue, NoRoom
from cbr.files.atomic import remove_leftovers
from cbr.files.compression import (
    BROKEN,
    MOST_UNPACKED,
    head_of,
    open_bytes,
    plain_name,
    unpacking,
)
from cbr.plugging.guard import one_line

#: Exceptions that reading a damaged archive may raise.
_UNREADABLE: tuple[type[Exception], ...] = (*BROKEN, tarfile.TarError)
#: Errors of opening a file that are due to its name: that member is skipped.
_BAD_NAME = {
    *(errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.ELOOP),
    *(errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOENT),
}


@dataclass(frozen=True)
class Place:
    """A file to read. `archive` is the plain name of its archive, `inside` its path in there.

    `share` is its part of the input in bytes, for the progress bar. A place with `problems` stands
    for the members of an archive that could not be unpacked.
    """

    path: Path
    share: float
    archive: str = ""
    inside: str = ""
    problems: tuple[str, ...] = ()

    def named(self, name: str) -> str:
        """Its name in a casebase: this name, with that of the archive before it."""
        return f"{self.archive}/{name}" if self.archive else name

    @property
    def plain(self) -> str:
        """Its name without folder (except inside an archive) and compression suffix."""
        if not self.archive:
            return plain_name(self.path)
        return str(PurePosixPath(self.inside).with_name(plain_name(Path(self.inside))))


def files_in(paths: Sequence[str | Path]) -> list[Path]:
    """The files named, and those in the folders named; each once, in a fixed order."""
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise BadValue(f"no file or folder {path}")
        if not path.is_file() and not path.is_dir():
            raise BadValue(f"{path} is not a regular file")
        inside = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        found |= dict.fromkeys(inside)
    return list(found)


def places(files: Sequence[Path], most_unpacked: int = MOST_UNPACKED) -> Iterator[Place]:
    """The files, with archives unpacked; an unpacked archive is removed after its members.

    An error if a file holds more than `most_unpacked` bytes when it is decompressed, its members
    included.
    """
    for path in files:
        with unpacking(str(path), most_unpacked):
            if not is_archive(path):
                yield Place(path, path.stat().st_size)
                continue
            with _temporary_folder(path) as folder:
                yield from _unpacked(path, Path(folder))


def _temporary_folder(archive: Path) -> TemporaryDirectory[str]:
    """A folder for the members of an archive; those of killed processes are removed."""
    try:
        remove_leftovers(Path(gettempdir()), r"cbr-(\d+)-\w+")
        return TemporaryDirectory(prefix=f"cbr-{os.getpid()}-", ignore_cleanup_errors=True)
    except OSError as error:
        raise _no_room(archive, Path(error.filename or "the temporary folder"), error) from None


def _no_room(archive: Path, folder: Path, error: OSError) -> NoRoom:
    return NoRoom(
        f"{archive} cannot be unpacked into {folder} ({error.strerror or error}); make room there, "
        f"or name another folder with TMPDIR"
    )


def is_archive(path: Path) -> bool:
    return plain_name(path).endswith(".tar") or head_of(path, 512)[257:262] == b"ustar"


def _unpacked(path: Path, folder: Path) -> Iterator[Place]:
    problems: list[str] = []
    members: dict[str, Path] = {}
    with open_bytes(path) as (stream, _):
        source = _Padded(stream)
        try:
            with tarfile.open(fileobj=cast(IO[bytes], source), mode="r|") as archive:
                for member in archive:
                    if member.isdir():
                        continue
                    try:
                        problem = _unpack(archive, member, source, folder, members)
                    except _Unwritable as unwritable:
                        raise _no_room(path, folder.parent, unwritable.error) from None
                    if problem:
                        problems.append(f"member {member.name[:80]!r}: {problem}")
                    if source.error:
                        break
        except _UNREADABLE as error:
            problems.append(f"the archive breaks off: {one_line(error)}")
        if source.error:
            problems.append(f"the archive breaks off: {source.error}")
    sizes = {name: target.stat().st_size for name, target in members.items()}
    total = sum(sizes.values()) or 1
    for name, target in members.items():
        share = path.stat().st_size * sizes[name] / total
        yield Place(target, share, plain_name(path), name)
    if problems:
        yield Place(path, 0, problems=tuple(problems))


def _unpack(
    archive: tarfile.TarFile,
    member: tarfile.TarInfo,
    source: _Padded,
    folder: Path,
    members: dict[str, Path],
) -> str:
    """Write a member into the folder and add it to `members`; returns the reason if it cannot."""
    inside = PurePosixPath(member.name)
    if inside.is_absolute() or ".." in inside.parts or not inside.parts:
        return "its name is empty, or leads out of the archive"
    if str(inside) in members:
        return "an earlier member has the same name"
    if member.islnk() and member.linkname in members:
        members[str(inside)] = members[member.linkname]
        return ""
    content = archive.extractfile(member) if member.isfile() and not member.islnk() else None
    if content is None:
        return "it is a link, or not a regular file"
    target = folder.joinpath(*inside.parts)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        file = target.open("wb", buffering=0)
    except ValueError as error:
        return f"it cannot be unpacked under this name ({error})"
    except OSError as error:
        if error.errno not in _BAD_NAME:
            raise _Unwritable(error) from None
        return f"it cannot be unpacked under this name ({error.strerror})"
    with file:
        while piece := content.read(1 << 20):
            _write(file, piece)
            if source.real < member.offset_data + file.tell():
                break  # the rest is padding with zeros
        there = min(member.size, max(0, source.real - member.offset_data))
        file.truncate(there)
    members[str(inside)] = target
    if there < member.size:
        source.error = source.error or "its data ends too early"
    return ""


class _Unwritable(Exception):
    """An error of writing, which is not taken for one of reading a damaged archive."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error)
        self.error = error


def _write(file: IO[bytes], piece: bytes) -> None:
    """Write all of a piece to an unbuffered file, which may take less at a time."""
    try:
        while piece:
            piece = piece[file.write(piece) :]
    except OSError as error:
        raise _Unwritable(error) from None


#: The most padding: more is only read for a member whose header claims a false size.
_MOST_ZEROS = 4 << 20


class _Padded:
    """A stream that is padded with zeros where it breaks off, so that earlier data is not lost.

    `real` counts the bytes before the padding, `error` describes the failure.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.real = 0
        self.error = ""
        self._zeros = 0

    def read(self, size: int) -> bytes:
        data = b""
        if not self.error:
            try:
                data = self._stream.read(size)
            except BROKEN as error:
                self.error = one_line(error)
        self.real += len(data)
        if data:
            return data
        self._zeros += size
        if self._zeros > _MOST_ZEROS:
            raise EOFError("its data ends too early")
        return bytes(size)
