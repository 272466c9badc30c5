"""A seat's view of its table: what the player to act may know, and no more."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cbr import BadValue
from cbr.typing import Ints
from cbr_holdem.cards.numbering import names
from cbr_holdem.situation.pending import Pending
from cbr_holdem.situation.situations import Situations
from cbr_holdem.table.game import BOARD_CARDS, STREETS, Game
from cbr_holdem.table.layout import (
    ACTOR,
    BET,
    BOARD,
    CALL,
    FOLD,
    FOLDED,
    HISTORY,
    HOLE,
    PAID,
    PLAYERS,
    RAISE,
    SEATS,
    STACK,
    STREET,
    Tables,
)
from cbr_holdem.table.rules import raise_limits, to_call

_LETTERS = {FOLD: "f", CALL: "c", RAISE: "r"}


@dataclass(frozen=True)
class Move:
    """An action that was seen: f, k (check), c (call), b (bet) or r (raise, to `amount`)."""

    street: str
    seat: int
    action: str
    amount: int


class View:
    """The table as the seat to act sees it. Seats are numbered from the left of the button.

    `view["pot_odds"]` is the value of a column of `Situations`: betting, board, hand strength.
    Values are computed when they are read, because most bots read few.
    """

    def __init__(self, seen: Ints, game: Game, key: int = 0) -> None:
        """`seen` [1, WIDTH] is one table as its seat sees it (`Pending.seen`); `key` is the seed of
        `rng`."""
        self._seen, self.game, self._key = seen, game, key
        self._row: list[int] = seen[0, :HISTORY].tolist()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, View) and np.array_equal(self._seen, other._seen)

    __hash__ = object.__hash__

    def __getitem__(self, name: str) -> float:
        return float(self.situation[name][0])

    @property
    def seat(self) -> int:
        """Our seat, which is to act."""
        return self._row[ACTOR]

    @property
    def seats(self) -> int:
        """Players who were dealt in."""
        return self._row[SEATS]

    @cached_property
    def street(self) -> str:
        return STREETS[self._row[STREET]]

    @cached_property
    def hole(self) -> str:
        """Our two cards, "Ah Kd"."""
        at = HOLE + 2 * self.seat
        return names(self._row[at : at + 2])

    @cached_property
    def board(self) -> str:
        return names(self._row[BOARD : BOARD + BOARD_CARDS[self._row[STREET]]])

    @cached_property
    def pot(self) -> int:
        """Chips in the pot, with the bets of this street."""
        return sum(self._row[PAID : PAID + self.seats])

    @cached_property
    def call(self) -> int:
        """What it costs to stay in; 0 where a check is free."""
        return int(to_call(self._seen[0]))

    @cached_property
    def _raise(self) -> tuple[int, int]:
        least, most = raise_limits(self._seen[0], self.game.terms)
        return int(least), int(most)

    @property
    def raise_from(self) -> int:
        """The least that our bet of this street may be raised to; 0 if it may not."""
        return self._raise[0]

    @property
    def raise_to(self) -> int:
        """The most that it may be raised to; 0 if it may not."""
        return self._raise[1]

    @property
    def stacks(self) -> tuple[int, ...]:
        """Chips that each seat has left."""
        return tuple(self._row[STACK : STACK + self.seats])

    @property
    def bets(self) -> tuple[int, ...]:
        """Chips that each seat has put in on this street."""
        return tuple(self._row[BET : BET + self.seats])

    @property
    def folded(self) -> tuple[bool, ...]:
        return tuple(bool(self._row[FOLDED] >> seat & 1) for seat in range(self.seats))

    @property
    def opponents(self) -> int:
        """Opponents who are still in."""
        return self._row[PLAYERS] - 1

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """The actions so far."""
        return _moves(Tables(self._seen))

    @cached_property
    def rng(self) -> random.Random:
        """A random generator for this decision; the same decision gets the same numbers again."""
        return random.Random(self._key)

    @cached_property
    def situation(self) -> Situations:
        return Pending(self._seen, self.game, np.zeros(1, np.int64))


def view_of(rows: Ints, table: int, game: Game, key: int = 0) -> View:
    """The view of the player to act at rows[table]; `key` is the seed of its `rng`."""
    if rows[table, ACTOR] < 0:
        raise BadValue("the hand is over, so nobody has to act")
    return View(Pending(rows, game, np.array([table])).seen(), game, key)


def _moves(tables: Tables) -> tuple[Move, ...]:
    """The history, with checks distinguished from calls, and bets from raises."""
    found: list[Move] = []
    opened = {0}  # streets on which there is a bet; before the flop the big blind is one
    for street, seat, kind, amount in tables.history(0):
        letter = _LETTERS[kind]
        if kind == CALL and not amount:
            letter = "k"
        elif kind == RAISE and street not in opened:
            letter = "b"
            opened.add(street)
        found.append(Move(STREETS[street], seat, letter, amount))
    return tuple(found)
