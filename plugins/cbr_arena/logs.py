"""Matches as logs that others read: PHH files, and the match logs of the ACPC."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cbr import BadValue
from cbr.files import verify_place
from cbr.plugging import default_plugins

_FORMATS = {".phhs": "phh", ".log": "acpc"}


def verify_log(path: Path) -> None:
    """Whether a log can be written here, by its name."""
    if path.suffix not in _FORMATS:
        raise BadValue(f"a log is called FILE.phhs (PHH) or FILE.log (ACPC), not {path.name!r}")
    verify_place(path)
    beside = path.with_suffix(".game")
    if path.suffix == ".log" and beside.exists() and not path.exists():
        raise BadValue(
            f"{beside} is there and is another game; choose another name than {path.name}"
        )


def plain_name(name: str) -> str:
    """What a bot is called in a match log, which divides names by : and |."""
    return name.replace(" ", "").replace(":", "=").replace("|", "/")


def write_log(hands: Sequence[str], path: Path) -> int:
    """Write hands (`Hand.text`) in the format that the name asks for; how many."""
    source = default_plugins().get("case source", _FORMATS[path.suffix])
    count: int = source.write(iter(hands), path)
    return count
