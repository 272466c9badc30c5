"""The flop table: strengths of all 1,286,792 different (hand, flop) positions in a file of 18 MB.

It lies in the user's cache folder (`CBR_CACHE_DIR` names another) and is only a shortcut: without
it everything is computed on the fly, with the same values bit for bit, because flop features are
kept in the same 16 bits in both cases. The file is a line of JSON with a checksum, then the rows.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue, CbrError
from cbr.files import checksum, whole_file
from cbr.store import cache_folder
from cbr_holdem.strength.hand_strength import COLUMNS, strengths
from cbr_holdem.strength.isomorphism import FLOP_CLASSES, class_numbers, flop_classes

HEAD = {"format": "cbr-flop-table", "version": 1, "columns": list(COLUMNS), "rows": FLOP_CLASSES}
#: What a whole step count of 1 stands for: HS exactly (2 wins + ties of 1,081), the rest rounded.
STEPS = np.array([2162] + [65535] * (len(COLUMNS) - 1))

#: Called with the positions done and all there are.
Progress = Callable[[int, int], None]
Rows = NDArray[np.uint16]


def table_path() -> Path:
    """Where the table is, or would be."""
    return cache_folder() / "flop_table.bin"


def flop_strengths(holes: NDArray[np.uint8], flops: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Strengths [n, 7], columns as `COLUMNS`, from the table where it is there."""
    table = _loaded(table_path())
    if table is None:
        return _steps(strengths(holes, flops)) / STEPS
    return table[class_numbers(holes, flops)] / STEPS


def _steps(values: NDArray[np.float64]) -> Rows:
    return np.rint(values * STEPS).astype(np.uint16)


@cache
def _loaded(path: Path) -> Rows | None:
    """The table, or None if it is not there; a damaged one is named and not used."""
    if not path.exists():
        return None
    try:
        return load(path)
    except CbrError as error:
        warnings.warn(f"{error}; its values are computed instead, which is slow", stacklevel=3)
        return None


def load(path: Path) -> Rows:
    """The rows of a table file, checked against its checksum."""
    try:
        with path.open("rb") as file:
            head = json.loads(file.readline(1000))
            rows = file.read()
    except (OSError, ValueError) as error:
        raise BadValue(
            f"{path} is not a flop table ({error}); `cbr tables build --force` makes one"
        ) from None
    if not isinstance(head, dict) or {k: head.get(k) for k in HEAD} != HEAD:
        raise BadValue(f"{path} is of another version; `cbr tables build --force` makes it again")
    if head.get("checksum") != checksum(rows):
        raise BadValue(f"{path} is damaged; `cbr tables build --force` makes it again")
    return np.frombuffer(rows, "<u2").reshape(FLOP_CLASSES, len(COLUMNS))


def build(
    path: Path, *, executor: Executor | None = None, progress: Progress | None = None
) -> None:
    """Compute the table and put it in its place, whole. A build that was killed goes on.

    Rows are appended to a file beside it flop by flop; its length says how far an earlier build
    came, and half a flop at its end is cut off.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadValue(
            f"{path.parent} cannot be a cache folder ({error.strerror}); CBR_CACHE_DIR names one"
        ) from None
    if path.is_dir():
        raise BadValue(f"{path} is a folder; remove it, or name another with CBR_CACHE_DIR")
    start = flop_classes().start
    width = 2 * len(COLUMNS)
    part = path.with_name(f"{path.name}.v{HEAD['version']}.part")
    with part.open("ab") as file:
        _lock(file.fileno(), part)
        done = int(np.searchsorted(start, os.fstat(file.fileno()).st_size // width, "right")) - 1
        file.truncate(int(start[done]) * width)
        for rows in _computed(range(done, len(start) - 1), executor):
            file.write(rows)
            file.flush()
            done += 1
            if progress:
                progress(int(start[done]), FLOP_CLASSES)
        finished = part.read_bytes()
        if len(finished) != FLOP_CLASSES * width:
            raise CbrError(
                f"{part} has {len(finished)} bytes, not {FLOP_CLASSES * width}; remove it"
            )
        head = json.dumps(HEAD | {"checksum": checksum(finished)})
        with whole_file(path) as whole:
            whole.write_bytes(head.encode() + b"\n" + finished)
        part.unlink()
    _loaded.cache_clear()


def _lock(file: int, path: Path) -> None:
    """One build at a time; where there are no file locks, trust to luck."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise CbrError(f"another process is building {path}; let it end") from None


def _computed(flops: range, executor: Executor | None) -> Iterator[bytes]:
    yield from map(flop_rows, flops) if executor is None else executor.map(flop_rows, flops)


def flop_rows(flop: int) -> bytes:
    """The rows of all classes of one of the 1,755 different flops."""
    classes = flop_classes()
    holes = classes.holes(flop)
    flops = np.tile(classes.flops[flop].astype(np.uint8), (len(holes), 1))
    return _steps(strengths(holes, flops)).astype("<u2").tobytes()
