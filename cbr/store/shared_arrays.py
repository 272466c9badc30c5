"""Arrays of a casebase as memory-mapped files that several processes share.

They are in the user's cache folder (or CBR_CACHE_DIR), in a folder for each state of a casebase.
The first process that reads this state writes them, and removes those of former states.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cbr.case import CaseType
from cbr.files.atomic import part_of, remove_leftovers
from cbr.store.arrays import Estimates, Vectors

#: Whether this process maps arrays: workers do, and processes that play contests as workers do.
shared = False


def share() -> None:
    """Map arrays from now on, in this process."""
    global shared
    shared = True


def cache_folder() -> Path:
    """The folder for files that can be created again."""
    folder = os.environ.get("CBR_CACHE_DIR")
    if folder:
        return Path(folder)
    from platformdirs import user_cache_path

    return user_cache_path("cbr-engine", appauthor=False)


def mapped(
    path: Path, digest: str, version: int, case_type: CaseType, read: Callable[[], Vectors]
) -> Vectors:
    """The result of `read` for a stage of a casebase file, memory-mapped; unmapped if the cache
    cannot be written. `digest` is that of the stage, `version` the write version of the casebase:
    estimated values change only the latter."""
    try:
        file, stage = path.stat(), case_type.stage
        told = [digest, version, case_type.to_json(), file.st_ino, file.st_size, file.st_mtime_ns]
        told += _FIELDS
        of_file = cache_folder() / "casebases" / _mark(str(path.resolve()))
        folder = of_file / f"{stage}-{_mark(str(told))}"
        if not folder.is_dir():
            _keep(read(), folder)
        return _load(folder, case_type, digest, path)
    except (OSError, ValueError, TypeError):  # no room, no permission, cleared away, or damaged
        return read()


#: The cached fields, part of the folder's name: another version of `Vectors` has other fields.
_FIELDS = [field.name for field in dataclasses.fields(Vectors)]


def _mark(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _keep(vectors: Vectors, folder: Path) -> None:
    """Write the arrays, and remove those of former states."""
    remove_leftovers(folder.parent, r".+\.(\d+)\.part")  # of other states too
    part = part_of(folder)
    part.mkdir(parents=True)
    try:
        for name, array in _arrays(vectors).items():
            np.save(part / f"{name}.npy", array)
        if not folder.is_dir():
            part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    stage = folder.name.rpartition("-")[0]
    for other in folder.parent.iterdir():
        if other != folder and other.name.rpartition("-")[0] == stage and other.suffix != ".part":
            shutil.rmtree(other, ignore_errors=True)


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
