"""Hands as a seat saw them, as a log would have them: of others only the cards that they showed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cbr_holdem.cards.card import DECK, UNKNOWN, names
from cbr_holdem.table.game import MOST_SEATS, Game
from cbr_holdem.table.hand import Hand
from cbr_holdem.table.rules import (
    BOARD,
    HOLE,
    PAID,
    PARTS,
    PAYOFF,
    POST,
    SEATS,
    STACK,
    Tables,
)

Ints = NDArray[np.int64]

_HOLES = slice(HOLE, HOLE + 2 * MOST_SEATS)


def text_of(table: Ints, game: Game, number: str = "") -> str:
    """A hand that is over, as `Hand.text`; nobody's name is known, so players are called by seat.

    `table` [WIDTH] is as somebody saw it at the end. A hand that ended before the flop gets its
    `number`: many of them look alike and are not the same.
    """
    seats = int(table[SEATS])
    moves, street = "", 0
    for when, _, kind, amount in Tables(table[None]).history(0):
        moves += "/" * (when - street) + "fcr"[kind] + (str(amount) if kind == 2 else "")
        street = when
    board = _cards(table[BOARD : BOARD + 5])
    hand = Hand(
        game=game,
        stacks=(table[STACK : STACK + seats] + table[PAID : PAID + seats]).tolist(),
        posts=table[POST : POST + seats].tolist(),
        antes=(0,) * seats,
        holes=[_cards(table[HOLE + 2 * seat : HOLE + 2 * seat + 2]) for seat in range(seats)],
        board=board,
        actions=moves,
        players=[f"seat {seat + 1}" for seat in range(seats)],
        result=(table[PAYOFF : PAYOFF + seats] / PARTS).tolist(),
        number="" if board else number,
    )
    return hand.text


def _cards(cards: Ints) -> str:
    return names(cards[cards < DECK]).replace(" ", "")


def together(tables: Ints, numbers: Sequence[str]) -> tuple[Ints, list[str]]:
    """Tables with what several seats saw of one hand put together, and the number of each.

    Hands with a board are one if all but the cards held is the same; before the flop nothing says
    so, and they stay apart.
    """
    found: dict[bytes, int] = {}
    kept: list[Ints] = []
    named: list[str] = []
    for table, number in zip(tables, numbers, strict=True):
        bare = table.copy()
        bare[_HOLES] = UNKNOWN
        key = bare.tobytes()
        if table[BOARD] < DECK and key in found:
            first = kept[found[key]]
            first[_HOLES] = np.minimum(first[_HOLES], table[_HOLES])
            continue
        found[key] = len(kept)
        kept.append(table.copy())
        named.append(number)
    return np.array(kept), named
