"""A seat's view of its table: what the player to act may know, and no more."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cbr.errors import BadValue
from cbr_holdem.cards.card import names
from cbr_holdem.situation.pending import Pending
from cbr_holdem.situation.situations import Situations
from cbr_holdem.table.game import BOARD_CARDS, STREETS, Game
from cbr_holdem.table.rules import (
    ACTOR,
    BOARD,
    CALL,
    FOLD,
    HOLE,
    MOVES,
    RAISE,
    SEATS,
    STREET,
    Tables,
    raise_limits,
    to_call,
)

_LETTERS = {FOLD: "f", CALL: "c", RAISE: "r"}


@dataclass(frozen=True)
class Move:
    """An action that was seen: f, k (check), c (call), b (bet) or r (raise, to `amount`)."""

    street: str
    seat: int
    action: str
    amount: int


@dataclass(frozen=True)
class View:
    """The table as the seat to act sees it. Seats are numbered from the left of the button.

    `view["pot_odds"]` is a column of `Situations`: the betting, the board, what the hand is worth.
    """

    seat: int
    hole: str
    street: str
    board: str
    pot: int
    call: int
    raise_from: int
    raise_to: int
    stacks: tuple[int, ...]
    bets: tuple[int, ...]
    folded: tuple[bool, ...]
    moves: tuple[Move, ...]
    situation: Situations = field(compare=False, repr=False)
    key: int = field(default=0, compare=False, repr=False)

    @cached_property
    def rng(self) -> random.Random:
        """Random numbers for this decision; the same decision has the same ones again."""
        return random.Random(self.key)

    def __getitem__(self, name: str) -> float:
        return float(self.situation[name][0])

    @property
    def seats(self) -> int:
        return len(self.stacks)

    @property
    def opponents(self) -> int:
        """Opponents who are still in."""
        return self.folded.count(False) - 1


def view_of(rows: NDArray[np.int64], table: int, game: Game, key: int = 0) -> View:
    """The view of the player to act at one of some tables; `key` is that of its random numbers."""
    row = rows[table]
    if row[ACTOR] < 0:
        raise BadValue("the hand is over, so nobody has to act")
    tables = Tables(rows[table : table + 1])
    seat, seats, street = int(row[ACTOR]), int(row[SEATS]), int(row[STREET])
    least, most = raise_limits(row, game.terms)
    hole = row[HOLE + 2 * seat : HOLE + 2 * seat + 2]
    return View(
        seat=seat,
        hole=names(hole),
        street=STREETS[street],
        board=names(row[BOARD : BOARD + BOARD_CARDS[street]]),
        pot=int(tables.paid[0, :seats].sum()),
        call=int(to_call(row)),
        raise_from=int(least),
        raise_to=int(most),
        stacks=tuple(tables.stack[0, :seats].tolist()),
        bets=tuple(tables.bet[0, :seats].tolist()),
        folded=tuple(tables.folded[0, :seats].tolist()),
        moves=_moves(tables, int(row[MOVES])),
        situation=Pending(rows[table : table + 1].copy(), game, np.zeros(1, np.int64)),
        key=key,
    )


def _moves(tables: Tables, count: int) -> tuple[Move, ...]:
    """The history with checks told from calls, and bets from raises."""
    found: list[Move] = []
    opened = {0}  # streets on which there is a bet; before the flop the big blind is one
    for street, seat, kind, amount in tables.history(0)[:count]:
        letter = _LETTERS[kind]
        if kind == CALL and not amount:
            letter = "k"
        elif kind == RAISE and street not in opened:
            letter = "b"
            opened.add(street)
        found.append(Move(STREETS[street], seat, letter, amount))
    return tuple(found)
