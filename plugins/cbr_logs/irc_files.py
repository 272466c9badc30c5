"""Finds the files of a month of the IRC poker database."""

from __future__ import annotations

from pathlib import Path

#: Most characters of a line; no intact line comes near this.
LONGEST = 1024
#: Number of fields in a line of pdb without cards.
UNSHOWN = 11
_COMPRESSED = ("", ".gz", ".bz2", ".xz", ".zst")


def file_in(folder: Path, name: str) -> Path | None:
    """The file of this name in a folder, compressed or not."""
    found = (folder / (name + suffix) for suffix in _COMPRESSED)
    return next((path for path in found if path.is_file()), None)
