"""What a build is given: files, folders and archives, as one list of files to read.

An archive is unpacked into a temporary folder and read from there like any folder, so a reader may
look for what lies beside a file. Its members are known by the archive's name and their own.
"""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO

from cbr.errors import BadValue
from cbr.guard import one_line
from cbr.sources import BROKEN, head_of, open_bytes, plain_name

#: What reading a damaged archive may raise.
_UNREADABLE: tuple[type[Exception], ...] = (*BROKEN, tarfile.TarError)


@dataclass(frozen=True)
class Place:
    """A file to read. `archive` is the plain name of the archive it came from, `inside` its place.

    `share` is how many of the bytes that were given it stands for, for the progress bar. A place
    with a `problem` stands for an archive that could not be read to its end.
    """

    path: Path
    share: float
    archive: str = ""
    inside: str = ""
    problem: str = ""

    def named(self, name: str) -> str:
        """What it is called in a casebase, if by itself it has this name."""
        return f"{self.archive}/{name}" if self.archive else name

    @property
    def plain(self) -> str:
        """Its name without folder (but the archive's) and compression suffix."""
        if not self.archive:
            return plain_name(self.path)
        return str(PurePosixPath(self.inside).with_name(plain_name(self.path)))


def files_in(paths: Sequence[str | Path]) -> list[Path]:
    """The files named, and those in the folders named; each once, in a fixed order."""
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise BadValue(f"no file or folder {path}")
        inside = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        found |= dict.fromkeys(inside)
    return list(found)


def places(files: Sequence[Path]) -> Iterator[Place]:
    """The files, with archives unpacked; what was unpacked is gone when the next archive comes."""
    for path in files:
        if not is_archive(path):
            yield Place(path, path.stat().st_size)
            continue
        with TemporaryDirectory(prefix="cbr-") as folder:
            yield from _unpacked(path, Path(folder))


def is_archive(path: Path) -> bool:
    return plain_name(path).endswith(".tar") or head_of(path, 512)[257:262] == b"ustar"


def _unpacked(path: Path, folder: Path) -> Iterator[Place]:
    problem = ""
    members: dict[str, Path] = {}
    try:
        with (
            open_bytes(path) as (stream, _),
            tarfile.open(fileobj=stream, mode="r|") as archive,
        ):
            for member in archive:
                inside = PurePosixPath(member.name)
                content = archive.extractfile(member) if member.isfile() else None
                if content is None or inside.is_absolute() or ".." in inside.parts:
                    continue
                target = folder.joinpath(*inside.parts)
                members[str(inside)] = target
                _copy(content, target)
    except _UNREADABLE as error:
        # What came out of it by then is read: a last file that is cut off shows itself there.
        problem = f"the archive breaks off: {one_line(error)}"
    sizes = {name: target.stat().st_size for name, target in members.items()}
    total = sum(sizes.values()) or 1
    for name, target in members.items():
        share = path.stat().st_size * sizes[name] / total
        yield Place(target, share, plain_name(path), name)
    if problem:
        yield Place(path, 0, problem=problem)


def _copy(content: IO[bytes], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as file:
        shutil.copyfileobj(content, file, 1 << 20)
