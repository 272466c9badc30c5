"""Saves a session as a PHH log, hand by hand."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from cbr import BadValue
from cbr.errors import AlreadyThere
from cbr.files import verify_place
from cbr.plugging import default_plugins


def fresh_path(now: datetime) -> Path:
    """An unused file name with the time, in casebases/ if that folder is writable."""
    folder = Path("casebases") if os.access("casebases", os.W_OK) else Path()
    stem = f"play-{now:%Y%m%d-%H%M%S}"
    names = (f"{stem}{f'-{n}' if n > 1 else ''}.phhs" for n in range(1, 1_000))
    return next((folder / name for name in names if not (folder / name).exists()), folder / stem)


class Log:
    """The PHH file of a session, created with the first hand."""

    def __init__(self, path: Path) -> None:
        if path.suffix != ".phhs":
            raise BadValue(f"a session is saved as FILE.phhs, not {path.name!r}")
        verify_place(path)
        if path.exists():
            raise AlreadyThere(f"{path} is there already; give another name to --out")
        self.path = path
        self.hands = 0

    def add(self, hand: str) -> None:
        """Write a hand (`Hand.text`): all of it or nothing."""
        section = f"{'' if not self.hands else chr(10)}[{self.hands + 1}]\n{_phh(hand)}"
        try:
            # Exclusive creation, so that a file made since the check is not overwritten.
            with self.path.open("ab" if self.hands else "xb", buffering=0) as file:
                size = file.seek(0, os.SEEK_END)
                try:
                    if file.write(section.encode()) != len(section.encode()):
                        raise OSError("there is no room left")
                except OSError:
                    file.truncate(size)
                    raise
        except OSError as error:
            raise BadValue(f"cannot write {self.path}: {error.strerror or error}") from None
        self.hands += 1


def _phh(hand: str) -> str:
    """A hand in PHH, by the writer of the case source `phh`."""
    source = default_plugins().get("case source", "phh")
    with TemporaryDirectory() as folder:
        alone = Path(folder) / "hand.phh"
        source.write(iter([hand]), alone)
        return alone.read_text("utf-8")
