"""The user's cache folder, and what is kept in it: arrays of casebases, each a folder of its own.

    CACHE/casebases/CASEBASE/STAGE-STATE    an entry: the arrays of a stage in one state
    CACHE/casebases/CASEBASE/casebase       the path of the casebase, as text
    CACHE/casebases/CASEBASE/*.PID.part     an entry that is being written or removed

An entry appears and goes by one renaming, so a reader finds a whole one or none. Removing one does
no harm to processes that have mapped it: the system keeps the content of a removed file until the
last of them ends; where it does not (Windows), a mapped file cannot be removed and stays. Names are
digests, so that nothing else that lies in the folder is ever taken for an entry.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cbr.errors import BadValue
from cbr.files.atomic import part_of, remove_leftovers
from cbr.files.compression import read_size

#: Bytes that all entries have together, unless CBR_CACHE_LIMIT says otherwise.
USUAL_LIMIT = 2 * 10**9
_MARK = r"[0-9a-f]{24}"
_CASEBASE = re.compile(_MARK)
_ENTRY = re.compile(rf"(?P<stage>.+)-{_MARK}")
_PART = rf".+-{_MARK}\.(\d+)\.part"


@dataclass(frozen=True)
class Entry:
    """The arrays of a stage of a casebase."""

    path: Path
    #: Path of the casebase; empty if it is not known.
    casebase: str
    stage: str
    bytes: int
    #: When it was last used, in nanoseconds of the system's clock. It only orders the entries, so a
    #: clock that goes backwards costs at most that one is made again.
    used: int

    @property
    def is_stale(self) -> bool:
        """Whether its casebase is gone."""
        return not self.casebase or not Path(self.casebase).exists()


def cache_folder() -> Path:
    """The folder for files that can be created again."""
    folder = os.environ.get("CBR_CACHE_DIR")
    if folder:
        return Path(folder)
    from platformdirs import user_cache_path

    return user_cache_path("cbr-engine", appauthor=False)


def limit() -> int:
    """The most bytes that all entries may have, from CBR_CACHE_LIMIT; 0 keeps none."""
    given = os.environ.get("CBR_CACHE_LIMIT", "").strip()
    if not given:
        return USUAL_LIMIT
    try:
        return read_size(given, least=0)
    except BadValue as error:
        raise BadValue(f"CBR_CACHE_LIMIT: {error}, or 0 for no cache") from None


def entries() -> list[Entry]:
    """What is kept, the last used first."""
    found = [
        entry
        for folder in _casebases()
        for path in _inside(folder)
        if _ENTRY.fullmatch(path.name) and (entry := _entry(path)) is not None
    ]
    return sorted(found, key=lambda entry: (-entry.used, entry.path))


def others() -> dict[str, int]:
    """Other files in the folder with their bytes, such as tables of plugins; none is ever removed
    here."""
    return {path.name: path.stat().st_size for path in _inside(cache_folder()) if path.is_file()}


def keep(entry: Path, casebase: Path, size: int) -> Path | None:
    """A new folder to write an entry of so many bytes to, for `appear`; None if it is larger than
    all entries may be. Makes room: of what is stale first, then of what was not used for longest.
    """
    room = limit() - size
    if room < 0:
        return None
    _remove_leftovers()
    kept = 0
    for other in sorted(entries(), key=lambda one: one.is_stale):
        kept += other.bytes
        if other.path != entry and (kept > room or other.is_stale):
            kept -= other.bytes * remove(other.path)
    part = _part(entry)
    part.mkdir(parents=True)
    entry.with_name("casebase").write_text(str(casebase), "utf-8")
    return part


def appear(part: Path, entry: Path) -> None:
    """Give a written entry its name, unless another process was first, and remove the entries of
    former states of its stage."""
    if not entry.is_dir():
        part.rename(entry)
    found = _ENTRY.fullmatch(entry.name)
    assert found is not None
    for other in _inside(entry.parent):
        its = _ENTRY.fullmatch(other.name)
        if other != entry and its is not None and its["stage"] == found["stage"]:
            remove(other)


def use(entry: Path) -> None:
    """Note that an entry is used now."""
    with suppress(OSError):  # of another user
        os.utime(entry)


def remove(entry: Path) -> bool:
    """Remove an entry; whether it is gone. The name goes first, so that nobody reads half of it."""
    part = _part(entry)
    try:
        entry.rename(part)
    except OSError:  # gone already, in use (Windows), or of another user
        return not entry.exists()
    shutil.rmtree(part, ignore_errors=True)
    return True


def clear() -> list[Entry]:
    """Remove all entries and leftovers; returns the entries that were removed."""
    _remove_leftovers()
    gone = [entry for entry in entries() if remove(entry.path)]
    for folder in _casebases():
        if not any(_ENTRY.fullmatch(path.name) for path in _inside(folder)):
            with suppress(OSError):  # somebody is writing there
                folder.joinpath("casebase").unlink(missing_ok=True)
                folder.rmdir()
    return gone


def _remove_leftovers() -> None:
    """Remove what killed processes were writing or removing."""
    for folder in _casebases():
        remove_leftovers(folder, _PART)


def _part(entry: Path) -> Path:
    part = part_of(entry)
    shutil.rmtree(part, ignore_errors=True)  # of a former process with this number
    return part


def _entry(path: Path) -> Entry | None:
    found = _ENTRY.fullmatch(path.name)
    assert found is not None
    try:
        size = sum(file.stat().st_size for file in path.iterdir())
        used = path.stat().st_mtime_ns
    except OSError:  # removed in the meantime
        return None
    try:
        casebase = path.with_name("casebase").read_text("utf-8")
    except (OSError, UnicodeError):
        casebase = ""
    return Entry(path, casebase, found["stage"], size, used)


def _casebases() -> Iterator[Path]:
    for folder in _inside(cache_folder() / "casebases"):
        if _CASEBASE.fullmatch(folder.name):
            yield folder


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
