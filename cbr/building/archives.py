"""Files, folders and archives as one list of files to read.

An archive is unpacked into a temporary folder and read from there like any folder, so a reader can
use files beside the one it reads. Members are identified by the archive's name and their own.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, cast

from cbr.errors import BadValue
from cbr.files.compression import BROKEN, head_of, open_bytes, plain_name
from cbr.plugging.guard import one_line

#: Exceptions that reading a damaged archive may raise.
_UNREADABLE: tuple[type[Exception], ...] = (*BROKEN, tarfile.TarError)


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


def places(files: Sequence[Path]) -> Iterator[Place]:
    """The files, with archives unpacked; an unpacked archive is removed after its members."""
    for path in files:
        if not is_archive(path):
            yield Place(path, path.stat().st_size)
            continue
        with TemporaryDirectory(prefix="cbr-") as folder:
            yield from _unpacked(path, Path(folder))


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
                    problem = _unpack(archive, member, source, folder, members)
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
        file = target.open("wb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        return f"it cannot be unpacked under this name ({reason})"
    with file:
        while piece := content.read(1 << 20):
            file.write(piece)
            if source.real < member.offset_data + file.tell():
                break  # the rest is padding with zeros
        there = min(member.size, max(0, source.real - member.offset_data))
        file.truncate(there)
    members[str(inside)] = target
    if there < member.size:
        source.error = source.error or "its data ends too early"
    return ""


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
