"""Where the files of a month of the IRC poker database are."""

from __future__ import annotations

from pathlib import Path

#: No line of the database comes near this; longer ones are damage.
LONGEST = 1024
_COMPRESSED = ("", ".gz", ".bz2", ".xz", ".zst")


def file_in(folder: Path, name: str) -> Path | None:
    """The file of this name in a folder, compressed or not."""
    found = (folder / (name + suffix) for suffix in _COMPRESSED)
    return next((path for path in found if path.is_file()), None)
