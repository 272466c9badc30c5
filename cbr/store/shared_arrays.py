"""Arrays of a casebase as memory-mapped files that several processes share.

Worker processes map them, and every process those of a large stage, which would take seconds to
read row by row. They are in the user's cache folder (`cbr.store.cache`), in a folder for each state
of a casebase. The first process that reads this state writes them, and removes those of former
states. Arrays that are not as they were written are read and written again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import mmap
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cbr.case import CaseType
from cbr.store import cache
from cbr.store.arrays import Estimates, Vectors

#: Whether this process maps all arrays: workers do, and processes that play contests as workers do.
shared = False
#: From so many cases on every process maps the arrays of a stage, since reading them row by row
#: takes seconds.
MANY = 50_000


def share() -> None:
    """Map arrays from now on, in this process."""
    global shared
    shared = True


def mapped(
    path: Path, digest: str, version: int, case_type: CaseType, read: Callable[[], Vectors]
) -> Vectors:
    """The result of `read` for a stage of a casebase file, memory-mapped; unmapped if the cache
    cannot be written. `digest` is that of the stage, `version` the write version of the casebase:
    estimated values change only the latter."""
    vectors = None
    try:
        file, stage = path.stat(), case_type.stage
        told = [digest, version, case_type.to_json(), file.st_ino, file.st_size, file.st_mtime_ns]
        told += _FIELDS
        of_file = cache.cache_folder() / "casebases" / _mark(str(path.resolve()))
        entry = of_file / f"{stage}-{_mark(str(told))}"
        if entry.is_dir() and not _is_whole(entry):
            cache.remove(entry)
        if not entry.is_dir():
            vectors = read()
            if not _keep(vectors, entry, path.resolve()):
                return vectors
        cache.use(entry)
        return _load(entry, case_type, digest, path)
    except (OSError, ValueError, TypeError):  # no room, no permission, or cleared away
        return read() if vectors is None else vectors


#: The file of an entry with the checksums of its arrays.
_SUMS = "checksums"
#: The cached fields, part of the folder's name: another version of `Vectors` has other fields.
_FIELDS = [field.name for field in dataclasses.fields(Vectors)]


def _mark(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _keep(vectors: Vectors, entry: Path, casebase: Path) -> bool:
    """Write the arrays as an entry of the cache; whether there is room for them."""
    arrays = _arrays(vectors)
    # numpy writes a head before each array, of 128 bytes unless its shape has very many numbers.
    size = sum(array.nbytes + 128 for array in arrays.values())
    size += sum(len(_sum_line(f"{name}.npy", 0)) for name in arrays)
    part = cache.keep(entry, casebase, size)
    if part is None:
        return False
    try:
        for name, array in arrays.items():
            np.save(part / f"{name}.npy", array)
        part.joinpath(_SUMS).write_bytes(_sums(part))
        cache.appear(part, entry)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return True


def _sums(folder: Path) -> bytes:
    """A line with the checksum of each array's file."""
    found = []
    for file in sorted(folder.glob("*.npy")):
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as m:
            found.append(_sum_line(file.name, zlib.crc32(m)))
    return b"".join(found)


def _sum_line(name: str, checksum: int) -> bytes:
    return f"{checksum:08x} {name}\n".encode()


def _is_whole(entry: Path) -> bool:
    """Whether the arrays are as they were written: a machine that stops may lose what was."""
    try:
        return entry.joinpath(_SUMS).read_bytes() == _sums(entry)
    except (OSError, ValueError):
        return False


def _arrays(vectors: Vectors) -> dict[str, Any]:
    found = {}
    for name in _FIELDS:
        value = getattr(vectors, name)
        if isinstance(value, np.ndarray):
            found[name] = value
        elif isinstance(value, Estimates):
            found |= {f"{name}.{part}": array for part, array in value._asdict().items()}
    return found


def _load(folder: Path, case_type: CaseType, digest: str, beside: Path) -> Vectors:
    given: dict[str, Any] = {}
    estimates: dict[str, Any] = {}
    for file in folder.glob("*.npy"):
        array = np.load(file, mmap_mode="r", allow_pickle=False)
        # A plain array over the mapped file, because numba does not support memmap.
        plain = np.frombuffer(array, array.dtype).reshape(array.shape) if array.size else array
        name, dot, part = file.stem.partition(".")
        if dot:
            estimates[part] = plain
        else:
            given[name] = plain
    if estimates:
        given["estimates"] = Estimates(**estimates)
    return Vectors(case_type=case_type, digest=digest, beside=beside, **given)
