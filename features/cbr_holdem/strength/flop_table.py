"""The flop table: strengths of all 1,286,792 different (hand, flop) positions in a file of 18 MB.

The table is optional and lies in the user's cache folder (`CBR_CACHE_DIR` sets another). Without it
strengths are computed on the fly and rounded to the same 16 bits, so the values are identical. The
file is a line of JSON with a checksum, followed by the rows.
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
from cbr.errors import BadJson
from cbr.files import checksum, read_json, whole_file
from cbr.store import cache_folder
from cbr_holdem.strength.hand_strength import COLUMNS, strengths
from cbr_holdem.strength.isomorphism import FLOP_CLASSES, class_numbers, flop_classes

HEAD = {"format": "cbr-flop-table", "version": 1, "columns": list(COLUMNS), "rows": FLOP_CLASSES}
#: The whole number that stands for 1.0 in each column, [7]: HS is exact, as (2 wins + ties) / 2162
#: with 1,081 opponents' hands; the other columns are rounded.
STEPS = np.array([2162] + [65535] * (len(COLUMNS) - 1))

#: Called with the number of positions done, and of all positions.
Progress = Callable[[int, int], None]
Rows = NDArray[np.uint16]


def table_path() -> Path:
    """The path of the table, whether or not it exists."""
    return cache_folder() / "flop_table.bin"


def flop_strengths(holes: NDArray[np.uint8], flops: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Strengths [n, 7] (`COLUMNS`) of holes [n, 2] on flops [n, 3], from the table if it exists."""
    table = _loaded(table_path())
    if table is None:
        return _steps(strengths(holes, flops)) / STEPS
    return table[class_numbers(holes, flops)] / STEPS


def _steps(values: NDArray[np.float64]) -> Rows:
    return np.rint(values * STEPS).astype(np.uint16)


@cache
def _loaded(path: Path) -> Rows | None:
    """The table, or None if it does not exist; a damaged table gives a warning and is not used."""
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
            head = read_json(file.readline(1000))
            rows = file.read()
    except (OSError, BadJson) as error:
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
    """Compute the table and write it to `path` when it is complete; resume an interrupted build.

    Rows are appended flop by flop to a partial file beside it. Its length tells how far an earlier
    build came; an incomplete flop at its end is cut off.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadValue(
            f"{path.parent} cannot be a cache folder ({error.strerror}); set CBR_CACHE_DIR"
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
    """Allow one build at a time; not checked on systems and file systems without locks."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CbrError(f"another process is building {path}; wait until it ends") from None
    except OSError:  # there are no locks here
        return


def _computed(flops: range, executor: Executor | None) -> Iterator[bytes]:
    yield from map(flop_rows, flops) if executor is None else executor.map(flop_rows, flops)


def flop_rows(flop: int) -> bytes:
    """The rows of all classes of hands on one of the 1,755 canonical flops, as bytes."""
    classes = flop_classes()
    holes = classes.holes(flop)
    flops = np.tile(classes.flops[flop].astype(np.uint8), (len(holes), 1))
    return _steps(strengths(holes, flops)).astype("<u2").tobytes()
