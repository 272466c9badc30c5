"""Game definitions by name: a file of the original server, or one that ships here."""

from __future__ import annotations

import re
from pathlib import Path

from cbr.errors import BadValue, NoSuchName
from cbr_logs import SHIPPED, GameDef, read_gamedef

_MOST_BYTES = 100_000
_RAISES = re.compile(r"^\s*maxraises\s*=([^#\n]*)", re.IGNORECASE | re.MULTILINE)


def load_game(name: str) -> GameDef:
    """The game of a definition file, or the shipped one of this name (`.game` may be left out).

    >>> load_game("holdem.limit.3p").posts
    (5, 10, 0)
    """
    path = Path(name)
    if not path.is_file():
        for known in (path.name, f"{path.name}.game"):
            if known in SHIPPED and not path.parent.name:
                return SHIPPED[known]
        raise NoSuchName("game definition", name, SHIPPED)
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8")
        definition = read_gamedef(text)
    except (BadValue, OSError, UnicodeDecodeError) as error:
        raise BadValue(f"{path} is no game definition that can be played: {error}") from None
    raises = _RAISES.search(text)
    if definition.game.betting == "limit" and raises and definition.game.cap is None:
        # Logs of such a game can be read all the same; to play, the number must be kept to.
        raise BadValue(
            f"{path} has maxRaises {raises[1].strip()}; only one less before the flop than on the "
            "other streets (as 3 4 4 4) can be played"
        )
    return definition
