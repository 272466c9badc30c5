"""The players of a match: bots named by specs and built from them."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import numpy as np

from cbr import BadValue
from cbr.plugging import default_plugins
from cbr.spec import Spec, bare, several
from cbr_arena.bots import BotKind, memory_of
from cbr_arena.guests import Guest
from cbr_arena.nested import Inner, Nested
from cbr_arena.views import Views
from cbr_holdem.table import MOST_SEATS

_TIMES = re.compile(r"^(.*?)\*(\d{1,9})$")
#: How deep bots may be inside of bots.
_DEEPEST = 3


@dataclass(frozen=True)
class Player:
    """A bot by its spec, and what it is called in a match."""

    name: str
    spec: str


def players_of(specs: Sequence[str]) -> list[Player]:
    """The players that specs name; `*2` stands for two of one bot.

    >>> [player.name for player in players_of(["call", "lag?bluff=0.1*2"])]
    ['call', 'lag?bluff=0.1', 'lag?bluff=0.1 #2']
    """
    single: list[str] = []
    for spec in specs:
        found = _TIMES.match(spec.strip())
        text, times = (found[1], int(found[2])) if found else (spec.strip(), 1)
        if not 1 <= times <= MOST_SEATS:
            raise BadValue(f"{spec!r}: a table has 2 to {MOST_SEATS} seats")
        single += [bare(text)] * times
    return [
        Player(text if not before else f"{text} #{before + 1}", text)
        for place, text in enumerate(single)
        for before in [single[:place].count(text)]
    ]


def kind_of(spec: str) -> tuple[BotKind, str, Spec]:
    """The kind of bot that a spec names, the text after its colon, and its options."""
    parsed = Spec.parse(spec)
    name, _, argument = parsed.name.partition(":")
    kind: BotKind = default_plugins().get("bot", name)
    return kind, argument, Spec(name, parsed.parameters)


def in_file(spec: str) -> tuple[Path, str] | None:
    """The file of a bot that is named by it, and its spec there; None for all others.

    >>> in_file("lag?bluff=0.1"), in_file("/their/bot.py:shy?k=2")
    (None, (PosixPath('/their/bot.py'), 'shy?k=2'))
    """
    file, _, rest = spec.partition(":")
    return (Path(file).absolute(), rest) if file.endswith(".py") and rest else None


def specs_inside(spec: str) -> list[str]:
    """The specs of the bots that a bot asks, if it is one that asks others.

    >>> specs_inside("switch:loki,(triple:0.2,0.5,0.3)?every=50"), specs_inside("loki")
    (['loki', 'triple:0.2,0.5,0.3'], [])
    """
    if in_file(spec):
        return []
    kind, argument, parsed = kind_of(spec)
    if not kind.nests:
        return []
    option = next(iter(inspect.signature(kind.make).parameters))
    return several(argument or str(parsed.parameters.get(option, "")))


def _verify_depth(spec: str) -> None:
    level = [spec]
    for _ in range(_DEEPEST + 1):
        level = [inside for one in level for inside in specs_inside(one)]
    if level:
        short = spec if len(spec) <= 60 else f"{spec[:57]}..."
        raise BadValue(f"{short!r} has bots inside of bots, more than {_DEEPEST} deep")


def is_guest(spec: str) -> bool:
    """Whether a spec names a bot that is not one of this distribution's, or has one inside."""
    _verify_depth(spec)
    return (
        bool(in_file(spec))
        or not default_plugins().is_ours("bot", kind_of(spec)[0].name)
        or any(map(is_guest, specs_inside(spec)))
    )


def build(spec: str, betting: str) -> Any:
    """The bot that a spec names, ready for a batch of decisions in this kind of game.

    A bot that plays fewer games than its kind, such as one with a casebase, has `games` of its own.
    """
    if in_file(spec):
        raise BadValue(
            f"{spec!r} is in a file that only a process of its own loads: add --isolate, or load "
            "the file with --plugin"
        )
    _verify_depth(spec)
    _verify_plays(spec, kind_of(spec)[0].games, betting)
    made = _made(spec)
    _verify_plays(spec, made.games, betting)
    return made.bot


def bots_inside(name: str, text: str, least: int) -> list[Inner]:
    """The bots that a bot asks, from a text with their specs; `name` is its own, for errors."""
    specs = several(text)
    if len(specs) < least:
        example = ",".join(f"BOT{n + 1}" for n in range(least)) if least > 1 else "BOT"
        raise BadValue(f"{name}:{text} needs {least} bots or more: {name}:{example}")
    for spec in specs:
        if in_file(spec):
            raise BadValue(
                f"{spec!r} is in a file and inside of {name!r}: load the file with --plugin, and "
                "give the name of the bot"
            )
    return [_made(spec) for spec in specs]


def _made(spec: str) -> Inner:
    kind, argument, parsed = kind_of(spec)
    made = kind.build(argument, parsed)
    games = tuple(getattr(made, "games", kind.games))
    if kind.views:
        made = Views(lambda: kind.build(argument, parsed))
    memory = memory_of(made)
    plain = memory is None or (isinstance(memory, np.dtype) and not memory.hasobject)
    if not plain and not isinstance(made, Views | Nested):
        raise BadValue(
            f"bot {kind.name!r}: memory must be None or a numpy dtype without objects, not "
            f"{type(memory).__name__}"
        )
    ours = default_plugins().is_ours("bot", kind.name)
    return Inner(spec, made if ours else Guest(made), games)


def _verify_plays(spec: str, games: Sequence[str], betting: str) -> None:
    if betting not in games:
        raise BadValue(f"bot {spec!r} plays {' and '.join(games)}, not {betting}")


def verify_fits(bot: Any, seats: int) -> None:
    """Warn if a bot is not made for a table with so many seats (`doubts`)."""
    doubt = bot.doubts(seats) if hasattr(bot, "doubts") else ""
    # Every process of a match builds its bots; only the main process warns.
    if doubt and parent_process() is None:
        warnings.warn(doubt, stacklevel=1)
