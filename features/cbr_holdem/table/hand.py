"""A played hand, independent of log formats: stacks, posts, cards, actions and result.

`Hand.text` is its compact form, one line of fields between tabs, as casebases store it:

    number  game  stacks  posts  antes  holes  board  actions  result  player  player  ...

Seats are numbered from the left of the button. Actions are `f`, `c` (check or call) and `r` (bet
or raise, with the amount that the street's bet is raised to; without one, the least legal one);
streets are separated by `/`. A capital letter before an action names the seat (A is the first), and
replaying checks that it is that seat's turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from cbr import BadValue, CbrError
from cbr_holdem.table.game import MOST_SEATS, Game

_ACTIONS = re.compile(r"(?:[A-J]?(?:[fc]|r\d{0,15})|/)*\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
#: Fields of a text before the players.
FIELDS = 9
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Hand:
    """One hand. Amounts are whole chips, `unit` of which are one of the log's currency.

    `posts` are blinds and the like, a negative one being a newcomer's; `antes` are dead money.
    `holes` are two cards or "" where nobody saw them. `result` is what each seat won or lost, if
    the log says so.
    """

    game: Game
    stacks: Sequence[int]
    posts: Sequence[int]
    antes: Sequence[int]
    holes: Sequence[str]
    board: str
    actions: str
    players: Sequence[str]
    result: Sequence[float] | None = None
    unit: int = 1
    number: str = ""

    @property
    def text(self) -> str:
        return "\t".join(
            [
                self.number,
                game_text(self.game, self.unit),
                _numbers(self.stacks),
                _numbers(self.posts),
                _numbers(self.antes) if any(self.antes) else "",
                ",".join(self.holes),
                self.board,
                self.actions,
                "" if self.result is None else ",".join(map(_short, self.result)),
                *self.players,
            ]
        )

    @classmethod
    def read(cls, text: str) -> Hand:
        """The hand that a text stands for; `BadValue` if its form is wrong.

        >>> hand = Hand.read("7\\tlimit 5/10\\t90,90\\t10,5\\t\\tAhKs,\\t\\tr20f\\t\\tann\\tbob")
        >>> hand.players, hand.holes, hand.game.big_blind, hand.text.count("\\t")
        (('ann', 'bob'), ('AhKs', ''), 10, 10)
        """
        fields = text.split("\t")
        seats = len(fields) - FIELDS
        if not 2 <= seats <= MOST_SEATS:
            raise BadValue(f"{max(0, seats)} players; a table has 2 to {MOST_SEATS}")
        number, terms, stacks, posts, antes, holes, board, actions, result = fields[:FIELDS]
        game, unit = read_game(terms)
        if not _ACTIONS.match(actions):
            raise BadValue(f"actions {actions[:60]!r} are not f, c, r and the streets' /")
        held = holes.split(",")
        if len(held) != seats:
            raise BadValue(f"{len(held)} hands of cards for {seats} players")
        return cls(
            game=game,
            stacks=_whole(stacks, seats, "stacks"),
            posts=_whole(posts, seats, "posts"),
            antes=_whole(antes, seats, "antes") if antes else (0,) * seats,
            holes=tuple(held),
            board=board,
            actions=actions,
            players=tuple(fields[FIELDS:]),
            result=_read_each(float, result, seats, "results", "numbers") if result else None,
            unit=unit,
            number=number,
        )


def players_in(text: str) -> list[str]:
    """The players of a hand that is given as a text.

    >>> players_in("7\\tlimit 5/10\\t90,90\\t10,5\\t\\tAhKs,\\t\\tr20f\\t\\tann\\tbob")
    ['ann', 'bob']
    """
    return text.split("\t")[FIELDS:]


def verify_names(names: Sequence[str]) -> None:
    """Check that names can be in a hand's text: no control characters, none empty or twice."""
    for name in names:
        if not name or _CONTROL.search(name):
            raise BadValue(
                f"a player is called {name!r}, which is empty or holds control characters"
            )
    if len(set(names)) != len(names):
        double = next(name for name in names if list(names).count(name) > 1)
        raise BadValue(f"{double!r} sits at the table twice")


@lru_cache(maxsize=1000)
def game_text(game: Game, unit: int = 1) -> str:
    """
    >>> game_text(Game("nolimit", 25, 50), 100)
    'nolimit 25/50 unit=100'
    """
    words = [game.betting, f"{game.small_blind}/{game.big_blind}"]
    if game.bet_sizes is not None:
        words.append("bets=" + _numbers(game.bet_sizes))
    if game.betting == "limit" and game.cap != 4:
        words.append(f"cap={game.cap or 'none'}")
    if game.rules != "casino":
        words.append(f"rules={game.rules}")
    if unit != 1:
        words.append(f"unit={unit}")
    return " ".join(words)


@lru_cache(maxsize=1000)
def read_game(text: str) -> tuple[Game, int]:
    """The game that a text stands for, and how many of its chips are one of the log's currency.

    >>> read_game("limit 5/10 cap=none rules=acpc")[0].cap is None
    True
    """
    try:
        betting, blinds, *options = text.split(" ")
        small, _, big = blinds.partition("/")
        given = dict(option.split("=") for option in options)
        unit, cap = int(given.pop("unit", "1")), given.pop("cap", "4")
        sizes = given.pop("bets", None)
        rules = given.pop("rules", "casino")
        if given or unit < 1:
            raise ValueError(", ".join(given) or f"unit={unit}")
        game = Game(
            betting,
            int(small),
            int(big),
            bet_sizes=None if sizes is None else tuple(int(size) for size in sizes.split(",")),
            cap=None if cap == "none" else int(cap),
            rules=rules,
        )
    except (ValueError, CbrError) as error:
        raise BadValue(f"{text[:60]!r} is not a game ({error})") from None
    return game, unit


def _numbers(amounts: Sequence[int]) -> str:
    return ",".join(map(str, amounts))


def _short(amount: float) -> str:
    if type(amount) is int:
        return str(amount)
    return f"{amount:.6f}".rstrip("0").rstrip(".")


def _whole(text: str, seats: int, what: str) -> tuple[int, ...]:
    return _read_each(int, text, seats, what, "whole numbers")


def _read_each(
    read: Callable[[str], Number], text: str, seats: int, what: str, form: str
) -> tuple[Number, ...]:
    """One number for each seat."""
    try:
        found = tuple(map(read, text.split(",")))
    except ValueError:
        raise BadValue(f"{what} {text[:60]!r} are not {form}") from None
    if len(found) != seats:
        raise BadValue(f"{len(found)} {what} for {seats} players")
    return found
