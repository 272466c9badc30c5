"""Game definitions of the Annual Computer Poker Competition: what a match is played for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from cbr.errors import BadValue
from cbr_holdem.table.game import BOARD_CARDS, MOST_SEATS, Game

#: Stacks of a game that names none, in big blinds: more than can be lost in a hand.
DEEP = 10_000
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
    """A game with what each seat posts and begins with."""

    game: Game
    posts: Sequence[int]
    stacks: Sequence[int]


def read_gamedef(text: str) -> GameDef:
    """The game that a definition describes, if it is a hold'em that our rules know."""
    fields: dict[str, list[int]] = {}
    betting = ""
    for line in text.splitlines():
        key, equals, values = line.partition("#")[0].strip().lower().partition("=")
        key = key.strip()
        if key in {"limit", "nolimit"} and not equals:
            betting = key
        elif equals:
            if key not in _KEYS:
                raise BadValue(f"a game definition has no {key!r}")
            if not re.fullmatch(r"\s*\d{1,15}(\s+\d{1,15})*\s*", values):
                raise BadValue(f"{key} of the game is {values.strip()[:60]!r}, not numbers")
            fields[key] = [int(value) for value in values.split()]
        elif key not in {"", "gamedef", "end gamedef"}:
            raise BadValue(f"{line.strip()[:60]!r} is no line of a game definition")
    return _defined(betting, fields)


def _defined(betting: str, fields: dict[str, list[int]]) -> GameDef:
    seats = fields.get("numplayers", [0])[0]
    blinds = fields.get("blind", [])
    if not betting or not 2 <= seats <= MOST_SEATS or len(blinds) != seats or max(blinds) <= 0:
        raise BadValue("the game definition lacks limit or nolimit, numPlayers or blind")
    opener = max(place for place, blind in enumerate(blinds) if blind == max(blinds)) + 1
    ours = {
        "numrounds": [4],
        "firstplayer": [opener % seats + 1, 1, 1, 1],
        "numsuits": [4],
        "numranks": [13],
        "numholecards": [2],
        "numboardcards": [0, 3, 1, 1],
    }
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
    game = Game(
        betting,
        small if small < big else 0,
        big,
        bet_sizes=tuple(sizes) if betting == "limit" and sizes else None,
        cap=_cap(fields.get("maxraises", [])) if betting == "limit" else 4,
        rules="acpc",
    )
    return GameDef(game, tuple(blinds), tuple(stacks))


def _cap(raises: list[int]) -> int | None:
    """Bets in a round if it is the same in each, the big blind being one; else not checked."""
    if len(raises) == 4 and [raises[0] + 1, *raises[1:]] == [raises[1]] * 4:
        return raises[1]
    return None


def gamedef_text(definition: GameDef) -> str:
    """A definition as the competition's programs read it."""
    game, seats = definition.game, len(definition.posts)
    opener = max(p for p, post in enumerate(definition.posts) if post == max(definition.posts)) + 1
    lines = ["GAMEDEF", game.betting, f"numPlayers = {seats}", "numRounds = 4"]
    lines += [f"stack = {' '.join(map(str, definition.stacks))}"]
    lines += [f"blind = {' '.join(map(str, definition.posts))}"]
    if game.betting == "limit":
        sizes = game.terms[6:10].tolist()
        lines += [f"raiseSize = {' '.join(map(str, sizes))}"]
        if game.cap is not None:
            lines += [f"maxRaises = {' '.join(map(str, [game.cap - 1] + [game.cap] * 3))}"]
    lines += [f"firstPlayer = {opener % seats + 1} 1 1 1", "numSuits = 4", "numRanks = 13"]
    cards = [after - before for before, after in pairwise(BOARD_CARDS)]
    lines += ["numHoleCards = 2", f"numBoardCards = 0 {' '.join(map(str, cards))}", "END GAMEDEF"]
    return "\n".join(lines) + "\n"


def _shipped(betting: str, blinds: Sequence[int], stack: int) -> GameDef:
    big = max(blinds)
    sizes = (big, big, 2 * big, 2 * big) if betting == "limit" else None
    game = Game(betting, big // 2, big, bet_sizes=sizes, rules="acpc")
    return GameDef(game, blinds, (stack,) * len(blinds))


#: The competition's own games, by the names of their files; and the like for 6 and 9 seats.
SHIPPED = {
    "holdem.limit.2p.reverse_blinds.game": _shipped("limit", (10, 5), DEEP * 10),
    "holdem.limit.3p.game": _shipped("limit", (5, 10, 0), DEEP * 10),
    "holdem.limit.6p.game": _shipped("limit", (5, 10) + (0,) * 4, DEEP * 10),
    "holdem.limit.9p.game": _shipped("limit", (5, 10) + (0,) * 7, DEEP * 10),
    "holdem.nolimit.2p.reverse_blinds.game": _shipped("nolimit", (100, 50), 20_000),
    "holdem.nolimit.3p.game": _shipped("nolimit", (50, 100, 0), 20_000),
    "holdem.nolimit.6p.game": _shipped("nolimit", (50, 100) + (0,) * 4, 20_000),
    "holdem.nolimit.9p.game": _shipped("nolimit", (50, 100) + (0,) * 7, 20_000),
}
