"""Atomic writing: a file appears under its name only when it is complete.

What is being written is called ``NAME.PID.part``. A killed process leaves such a part behind; the
next one that writes to the same place removes it, if the process with that number has ended.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cbr.errors import BadValue

#: What SQLite adds to the name of a file while it is open.
SQLITE_LOGS = ("-wal", "-shm", "-journal")
_LOGS = "|".join(SQLITE_LOGS)


def verify_place(path: Path) -> None:
    """Raise if no file can be written here; called before long work."""
    if path.is_dir():
        raise BadValue(f"{path} is a folder; give the name of a file in it")
    if path.exists() and not path.is_file():
        raise BadValue(f"{path} is a device or a pipe, which a file would replace; choose a file")
    if not path.parent.is_dir():
        raise BadValue(f"{path.parent} is no folder; create it, or choose another place")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise BadValue(f"{path} cannot be written; check its permissions, or choose another place")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary file to write to: renamed to `path` at the end, removed if writing fails."""
    path = path.resolve()  # write to the target of a link, and keep the link
    verify_place(path)
    part = part_of(path)
    try:
        yield part
        part.replace(path)
    except OSError as error:
        raise BadValue(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def part_of(path: Path) -> Path:
    """The name under which this process writes a file or folder until it is complete; parts of it
    that ended processes left behind are removed."""
    remove_leftovers(path.parent, rf"{re.escape(path.name)}\.(\d+)\.part(?:{_LOGS})?")
    return path.with_name(f"{path.name}.{os.getpid()}.part")


def remove_leftovers(folder: Path, pattern: str) -> None:
    """Remove what processes that have ended left in a folder: our own files and folders whose whole
    name fits the pattern, with the number of the process in its first group."""
    named = re.compile(pattern)
    with suppress(OSError), os.scandir(folder) as entries:
        found = [(entry, match) for entry in entries if (match := named.fullmatch(entry.name))]
        for entry, match in found:
            with suppress(OSError):  # removed by somebody else, or not ours to remove
                status = entry.stat(follow_symlinks=False)
                if _is_ours(status) and not _is_running(int(match[1]), status.st_mtime):
                    if entry.is_dir(follow_symlinks=False):
                        shutil.rmtree(entry.path, ignore_errors=True)
                    else:
                        Path(entry.path).unlink()


def _is_ours(status: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or status.st_uid == os.getuid()


def _is_running(process: int, written: float) -> bool:
    """Whether a process of this number runs that was there when the file was last written: numbers
    are used again. Where that cannot be found out, it is taken to run."""
    if process == os.getpid():
        return True
    if sys.platform == "win32":  # there `os.kill` would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return process < 1 << 31  # not ours, so it runs; a larger number is no process
    started = _started(process)
    return started is None or started <= written + _CLOCK


#: Clocks of files and of processes may differ by some seconds.
_CLOCK = 60


def _started(process: int) -> float | None:
    """When a process began, as files count time; None where the system does not say."""
    try:
        # The name of the program, in parentheses, may contain blanks.
        ticks = Path(f"/proc/{process}/stat").read_text("latin-1").rpartition(")")[2].split()[19]
        boot = re.search(r"^btime (\d+)", Path("/proc/stat").read_text(), re.MULTILINE)
        return int(boot[1]) + int(ticks) / os.sysconf("SC_CLK_TCK") if boot else None
    except (OSError, ValueError, IndexError):
        return None
