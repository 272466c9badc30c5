"""Hands of a match written to log files: PHH, or the match logs of the ACPC."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cbr import BadValue
from cbr.files import verify_place
from cbr.plugging import default_plugins

_FORMATS = {".phhs": "phh", ".log": "acpc"}


def verify_log(path: Path) -> None:
    """Check that a log can be written to this path, whose suffix is its format."""
    if path.suffix not in _FORMATS:
        raise BadValue(f"a log is called FILE.phhs (PHH) or FILE.log (ACPC), not {path.name!r}")
    verify_place(path)
    beside = path.with_suffix(".game")
    if path.suffix == ".log" and beside.exists() and not path.exists():
        raise BadValue(
            f"{beside} exists and is of another match; choose another name than {path.name}"
        )


def plain_name(name: str) -> str:
    """The name of a bot in a match log, where : and | separate names."""
    return name.replace(" ", "").replace(":", "=").replace("|", "/")


def write_log(hands: Sequence[str], path: Path) -> int:
    """Write hands (`Hand.text`) in the format of the path's suffix; returns their number."""
    source = default_plugins().get("case source", _FORMATS[path.suffix])
    count: int = source.write(iter(hands), path)
    return count
