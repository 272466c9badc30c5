"""Game definitions by name: a file as the original server has it, or one of those shipped here."""

from __future__ import annotations

from pathlib import Path

from cbr import BadValue
from cbr.errors import NoSuchName
from cbr_logs import SHIPPED, SHIPPED_TEXTS, GameDef, read_gamedef

_MOST_BYTES = 100_000


def load_game(name: str) -> GameDef:
    """The game of a definition file, or the shipped one of this name (`.game` may be left out).

    >>> load_game("holdem.limit.3p").posts
    (5, 10, 0)
    """
    text = definition_text(name)
    try:
        return read_gamedef(text, to_play=True)
    except BadValue as error:
        raise BadValue(f"{name} is not a game definition that can be played: {error}") from None


def definition_text(name: str) -> str:
    """The text of a definition: a file's, else that of the shipped one of this name.

    An empty file is ignored, because a shell creates it before `--show > NAME` runs.
    """
    path = Path(name)
    if not path.is_file() or not path.stat().st_size:
        for known in (name, f"{name}.game"):
            if known in SHIPPED_TEXTS:
                return SHIPPED_TEXTS[known]
        raise NoSuchName("game definition", name, SHIPPED)
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadValue(f"{path} is not a game definition: {error}") from None
