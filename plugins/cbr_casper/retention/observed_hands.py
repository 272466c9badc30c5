"""Finished hands as one seat observed them, in the form of a log: opponents have only the cards
that they showed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cbr.typing import Ints
from cbr_arena import text_of
from cbr_holdem.cards import DECK, UNKNOWN
from cbr_holdem.table import BOARD, HOLE, MOST_SEATS, SEATS, Game

_HOLES = slice(HOLE, HOLE + 2 * MOST_SEATS)


def observed_text(table: Ints, game: Game, number: str = "") -> str:
    """A finished hand as `Hand.text`, with players named by their seats.

    `table` [WIDTH] is the end of the hand as one seat observed it. A hand that ended before the
    flop gets its `number`, since different ones may have the same text.
    """
    players = [f"seat {seat + 1}" for seat in range(int(table[SEATS]))]
    return text_of(table, game, players, "" if table[BOARD] < DECK else number)


def merge_views(tables: Ints, numbers: Sequence[str]) -> tuple[Ints, list[str]]:
    """Tables with the views of several seats of one hand merged, and the number of each.

    Hands with a board are the same if all but the hole cards are equal. Hands without a board
    cannot be matched, and are not merged.
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
