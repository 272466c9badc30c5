"""Atomic writing: a file appears under its name only when it is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cbr.errors import BadValue


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
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        raise BadValue(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)
