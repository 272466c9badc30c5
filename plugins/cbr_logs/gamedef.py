"""Game definitions of the Annual Computer Poker Competition: blinds, stacks and bets of a match."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise

import numpy as np

from cbr import BadValue
from cbr_holdem.table import BOARD_CARDS, MOST_SEATS, Game, verify_stacks

#: Stack in big blinds if the definition names none: more than can be lost in a hand.
DEEP = 10_000
#: maxRaises of this or more is read as no cap: the competition's programs cannot store more raises.
_ENDLESS = 64
_KEYS = {
    "numplayers",
    "numrounds",
    "stack",
    "blind",
    "raisesize",
    "firstplayer",
    "maxraises",
    "numsuits",
    "numranks",
    "numholecards",
    "numboardcards",
}


@dataclass(frozen=True)
class GameDef:
    """A game with the post and the starting stack of each seat."""

    game: Game
    posts: Sequence[int]
    stacks: Sequence[int]


def read_gamedef(text: str, to_play: bool = False) -> GameDef:
    """The game that a definition describes; `BadValue` if it is not hold'em as `cbr_holdem` has it.

    A game with another number of raises can be read from logs but not played: `to_play` refuses it.
    """
    fields: dict[str, list[int]] = {}
    betting = ""
    for line in text.splitlines():
        key, equals, values = line.partition("#")[0].strip().lower().partition("=")
        key = key.strip()
        if key == "end gamedef":
            break
        if key in {"limit", "nolimit"} and not equals:
            betting = key
        elif equals:
            if key not in _KEYS:
                raise BadValue(f"a game definition has no {key!r}")
            if not re.fullmatch(r"\s*\d{1,15}(\s+\d{1,15})*\s*", values):
                raise BadValue(f"{key} of the game is {values.strip()[:60]!r}, not numbers")
            fields[key] = [int(value) for value in values.split()]
        elif key not in {"", "gamedef"}:
            raise BadValue(f"{line.strip()[:60]!r} is not a line of a game definition")
    definition, raises = _defined(betting, fields), fields.get("maxraises", [_ENDLESS])
    capped = betting == "limit" and definition.game.cap is not None
    if to_play and not capped and min(raises) < _ENDLESS:
        raise BadValue(
            f"maxRaises is {' '.join(map(str, raises))}; only a limit game with one less before "
            "the flop than on the other streets (as 3 4 4 4) can be played"
        )
    return definition


def _defined(betting: str, fields: dict[str, list[int]]) -> GameDef:
    seats = fields.get("numplayers", [0])[0]
    blinds = fields.get("blind", [])
    if not betting or not 2 <= seats <= MOST_SEATS or len(blinds) != seats or max(blinds) <= 0:
        raise BadValue("the game definition lacks limit or nolimit, numPlayers or blind")
    ours = {
        "numrounds": [4],
        "firstplayer": _openers(blinds),
        "numsuits": [4],
        "numranks": [13],
        "numholecards": [2],
        "numboardcards": [0, 3, 1, 1],
    }
    fields.setdefault("firstplayer", [1, 1, 1, 1])  # as at the original dealer
    for key, value in ours.items():
        if fields.get(key, value) != value:
            raise BadValue(f"{key} of the game is {fields[key]}; these rules have {value}")
    big, small = max(blinds), min((b for b in blinds if b), default=0)
    if sorted(b for b in blinds if b) not in ([big], sorted([small, big])):
        raise BadValue(f"blinds {blinds} are not a small and a big one")
    sizes = fields.get("raisesize")
    if betting == "limit" and (sizes is None or len(sizes) != 4):
        raise BadValue("a limit game needs four numbers for raiseSize")
    stacks = fields.get("stack", [DEEP * big] * seats)
    if len(stacks) != seats:
        raise BadValue(f"{len(stacks)} stacks for {seats} players")
    verify_stacks(np.array([stacks], np.int64))
    game = Game(
        betting,
        small if small < big else 0,
        big,
        bet_sizes=tuple(sizes) if betting == "limit" and sizes else None,
        cap=_cap(fields.get("maxraises", [])) if betting == "limit" else 4,
        rules="acpc",
    )
    return GameDef(game, tuple(blinds), tuple(stacks))


def _openers(blinds: Sequence[int]) -> list[int]:
    """Who acts first on each street, from 1: after the big blind, then left of the button."""
    big = max(place for place, blind in enumerate(blinds) if blind == max(blinds))
    return [(big + 1) % len(blinds) + 1, 1, 1, 1]


def _cap(raises: list[int]) -> int | None:
    """The cap on bets in a round, counting the big blind, if all rounds have the same; else None,
    and raises are not limited."""
    if len(raises) == 4 and [raises[0] + 1, *raises[1:]] == [raises[1]] * 4:
        return raises[1]
    return None


def gamedef_text(definition: GameDef) -> str:
    """A definition in the format of the competition."""
    game, seats = definition.game, len(definition.posts)
    lines = ["GAMEDEF", game.betting, f"numPlayers = {seats}", "numRounds = 4"]
    lines += [f"stack = {' '.join(map(str, definition.stacks))}"]
    lines += [f"blind = {' '.join(map(str, definition.posts))}"]
    if game.betting == "limit":
        sizes = game.terms[6:10].tolist()
        lines += [f"raiseSize = {' '.join(map(str, sizes))}"]
        if game.cap is not None:
            lines += [f"maxRaises = {' '.join(map(str, [game.cap - 1] + [game.cap] * 3))}"]
    lines += [f"firstPlayer = {' '.join(map(str, _openers(definition.posts)))}"]
    lines += ["numSuits = 4", "numRanks = 13"]
    cards = [after - before for before, after in pairwise(BOARD_CARDS)]
    lines += ["numHoleCards = 2", f"numBoardCards = 0 {' '.join(map(str, cards))}", "END GAMEDEF"]
    return "\n".join(lines) + "\n"


#: The definitions in this package by file name: the games of the competition, and similar ones for
#: 6 and 9 seats.
SHIPPED_TEXTS = {
    file.name: file.read_text("utf-8")
    for file in sorted((files("cbr_logs") / "games").iterdir(), key=lambda file: file.name)
    if file.name.endswith(".game")
}
SHIPPED = {name: read_gamedef(text, to_play=True) for name, text in SHIPPED_TEXTS.items()}
