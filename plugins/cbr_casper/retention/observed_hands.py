"""Hands as a seat saw them, as a log would have them: of others only the cards that they showed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cbr.typing import Ints
from cbr_arena import text_of
from cbr_holdem.cards import DECK, UNKNOWN
from cbr_holdem.table import BOARD, HOLE, MOST_SEATS, SEATS, Game

_HOLES = slice(HOLE, HOLE + 2 * MOST_SEATS)


def seen_text(table: Ints, game: Game, number: str = "") -> str:
    """A hand that is over, as `Hand.text`; nobody's name is known, so players are called by seat.

    `table` [WIDTH] is as somebody saw it at the end. A hand that ended before the flop gets its
    `number`: many of them look alike and are not the same.
    """
    players = [f"seat {seat + 1}" for seat in range(int(table[SEATS]))]
    return text_of(table, game, players, "" if table[BOARD] < DECK else number)


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
