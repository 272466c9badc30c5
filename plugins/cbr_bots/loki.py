"""Loki: the published formula player (Papp 1998, Pena 1999, Billings et al.), for limit games.

It draws its action from the triple of its hand (`triples`); hand strength is computed against the
weight tables of the opponents (`weight_tables`). The result depends only on public information and
its two cards, so equal situations in a batch are computed once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.errors import NoSuchName
from cbr.jit import njit
from cbr.typing import Floats, Ints
from cbr_arena import Chance, Triples
from cbr_bots.board_values import Boards
from cbr_bots.loki_constants import Constants, constants_of
from cbr_bots.loki_preflop import (
    class_of_hand,
    class_sizes,
    income_rates,
    sorted_incomes,
    thresholds,
)
from cbr_bots.weight_tables import (
    BY_FREQUENCIES,
    BY_TRIPLES,
    Rules,
    blank_reading,
    follow,
    triples,
)
from cbr_holdem.cards import DECK, HANDS
from cbr_holdem.chance import mixed
from cbr_holdem.situation import Pending
from cbr_holdem.strength import hand_number
from cbr_holdem.table import (
    ACTOR,
    BOARD,
    BOARD_CARDS,
    HISTORY,
    HOLE,
    MOST_SEATS,
    MOVES,
    SEATS,
    STREET,
    Game,
)

MODELS = {"frequencies": BY_FREQUENCIES, "triples": BY_TRIPLES}


class Formula:
    """Computes triples and weights: a style, its constants, and a cache of board values."""

    def __init__(
        self, style: str = "moderate", model: str = "triples", constants: Constants | None = None
    ) -> None:
        if model not in MODELS:
            raise NoSuchName("model of loki", model, MODELS)
        self.style = thresholds(style)
        self.by = MODELS[model]
        self.constants = (constants or Constants()).numbers()
        self.boards = Boards()

    @property
    def rules(self) -> Rules:
        """The parameters as compiled code takes them."""
        return Rules(
            style=self.style,
            constants=self.constants,
            by=self.by,
            incomes=income_rates(),
            ranked=sorted_incomes(),
            class_of=class_of_hand(),
            sizes=class_sizes(),
        )

    def own_triples(self, rows: Ints, game: Game) -> Floats:
        """The triple of the player to act with his own hand, [n, 3]; rows as he sees the table."""
        single, again = once(rows)
        rows = rows[single]
        slots = self.boards.slots(board_sets(rows))
        out = np.empty((len(rows), 3))
        _own_triples(rows, game.terms, self.rules, slots, self.boards.values, out)
        return out[again]

    def all_triples(self, rows: Ints, game: Game) -> Floats:
        """The triple of the player to act with every hand, [n, 1326, 3]."""
        slots = self.boards.slots(board_sets(rows))
        out = np.empty((len(rows), len(HANDS), 3))
        _all_triples(rows, game.terms, self.rules, slots, self.boards.values, out)
        return out

    def weights(self, rows: Ints, game: Game) -> Floats:
        """The weight of each hand for each seat, [n, 10, 1326], at tables after the flop. It is 0
        for hands that share a card with the board, and undefined for seats that have folded."""
        slots = self.boards.slots(board_sets(rows))
        out = np.ones((len(rows), MOST_SEATS, len(HANDS)))
        reading = blank_reading()
        for i in range(len(rows)):
            mine = reading._replace(weights=out[i])
            follow(rows[i], game.terms, self.rules, slots[i], self.boards.values, mine)
        return out


class Loki:
    """Draws from the formula player's triples."""

    memory = None

    def __init__(
        self, style: str = "moderate", model: str = "triples", constants: str = "usual"
    ) -> None:
        self.formula = Formula(style, model, constants_of(constants))

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Triples:
        return Triples(self.formula.own_triples(situations.seen(), situations.game))


def once(rows: Ints, luck: NDArray[np.uint64] | None = None) -> tuple[Ints, Ints]:
    """Indices of distinct rows (by seats, cards, moves, and `luck` if given), and the inverse [n]:
    for each row, the position of its representative among them."""
    keys = np.zeros(len(rows), np.uint64) if luck is None else luck.copy()
    _keys(rows, keys)
    _, single, again = np.unique(keys, return_index=True, return_inverse=True)
    return single, again.reshape(-1)


@njit
def _keys(rows: Any, out: Any) -> None:
    for i in range(len(rows)):
        r = rows[i]
        key = mixed(out[i] + np.uint64(r[SEATS] * 16 + r[ACTOR]))
        for card in range(BOARD_CARDS[r[STREET]]):
            key = mixed(key ^ np.uint64(r[BOARD + card])) + np.uint64(1)
        for card in range(2):
            key = mixed(key ^ np.uint64(r[HOLE + 2 * r[ACTOR] + card])) + np.uint64(1)
        for m in range(r[MOVES]):
            key = mixed(key ^ np.uint64(r[HISTORY + m])) + np.uint64(1)
        out[i] = key


def board_sets(rows: Ints) -> Ints:
    """Flop, turn and river of tables as bit sets of cards, [n, 3]; 0 if not dealt yet."""
    out = np.zeros((len(rows), 3), np.int64)
    _board_sets(rows, out)
    return out


@njit
def _board_sets(rows: Any, out: Any) -> None:
    for i in range(len(rows)):
        found = np.int64(0)
        for place in range(BOARD_CARDS[rows[i, STREET]]):
            found |= np.int64(1) << rows[i, BOARD + place]
            if place >= 2:
                out[i, place - 2] = found


@njit
def own_hand(r: Any) -> Any:
    """Index in `HANDS` of the hand of the player to act; -1 if it is unknown."""
    one, two = r[HOLE + 2 * r[ACTOR]], r[HOLE + 2 * r[ACTOR] + 1]
    return hand_number(one, two) if one < DECK and two < DECK else np.int64(-1)


@njit
def _own_triples(rows: Any, terms: Any, rules: Any, slots: Any, values: Any, out: Any) -> None:
    reading = blank_reading()
    every = np.empty((len(HANDS), 3))
    for i in range(len(rows)):
        follow(rows[i], terms, rules, slots[i], values, reading)
        h = own_hand(rows[i])
        triples(rows[i, ACTOR], terms, rules, slots[i], values, reading, h, h + 1, every)
        out[i] = every[h]


@njit
def _all_triples(rows: Any, terms: Any, rules: Any, slots: Any, values: Any, out: Any) -> None:
    reading = blank_reading()
    for i in range(len(rows)):
        follow(rows[i], terms, rules, slots[i], values, reading)
        triples(rows[i, ACTOR], terms, rules, slots[i], values, reading, 0, len(HANDS), out[i])
