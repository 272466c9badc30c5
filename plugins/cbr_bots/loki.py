"""Loki: the published formula player (Papp 1998, Pena 1999, Billings et al.), for limit games.

It draws its action from the triple of its hand (`triples`); hand strength is computed against the
weight tables of the opponents (`weight_tables`). The result depends only on public information and
its two cards, so that what was computed is kept (`readings`) and serves every seat and table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.errors import NoSuchName
from cbr.jit import copy_to, njit
from cbr.typing import Floats, Ints
from cbr_arena import Chance, Triples
from cbr_bots.betting_line import IN_, describe
from cbr_bots.board_values import shared_values, slot_of
from cbr_bots.loki_constants import Constants, constants_of
from cbr_bots.loki_preflop import (
    class_of_hand,
    class_sizes,
    income_rates,
    sorted_incomes,
    thresholds,
)
from cbr_bots.lookup import find, give
from cbr_bots.readings import (
    blank_answers,
    blank_kept,
    blank_reading,
    board_of,
    decision_key,
    follow_line,
    read,
    write_keys,
    write_weights,
)
from cbr_bots.weight_tables import (
    BY_FREQUENCIES,
    BY_TRIPLES,
    Rules,
    field_of,
    preflop_triple,
    triple,
    triples,
)
from cbr_holdem.cards import DECK, HANDS
from cbr_holdem.situation import Pending
from cbr_holdem.strength import hand_number
from cbr_holdem.table import ACTOR, HOLE, MOST_SEATS, STREET, Game

MODELS = {"frequencies": BY_FREQUENCIES, "triples": BY_TRIPLES}


class Formula:
    """Computes triples and weights: a style, its constants, and what was computed with them before,
    so that they cannot be changed."""

    __slots__ = ("answers", "kept", "reading", "rules", "values")

    def __init__(
        self, style: str = "moderate", model: str = "triples", constants: Constants | None = None
    ) -> None:
        if model not in MODELS:
            raise NoSuchName("model of loki", model, MODELS)
        #: The parameters as compiled code takes them.
        self.rules = Rules(
            style=thresholds(style),
            constants=(constants or Constants()).numbers(),
            by=MODELS[model],
            incomes=income_rates(),
            ranked=sorted_incomes(),
            class_of=class_of_hand(),
            sizes=class_sizes(),
        )
        self.values, self.kept, self.answers = shared_values(), blank_kept(), blank_answers()
        self.reading = blank_reading()

    def own_triples(self, rows: Ints, game: Game) -> Floats:
        """The triple of the player to act with his own hand, [n, 3]; rows as he sees the table."""
        out = np.empty((len(rows), 3))
        rules, values, kept, reading = self.rules, self.values, self.kept, self.reading
        rows = np.ascontiguousarray(rows)  # for a view with gaps all would be compiled once more
        _own_triples(rows, game.terms, rules, values, kept, self.answers, reading, out)
        return out

    def all_triples(self, rows: Ints, game: Game) -> Floats:
        """The triple of the player to act with every hand, [n, 1326, 3]. A hand that shares a card
        with the board has (0, 1, 0)."""
        out = np.empty((len(rows), len(HANDS), 3))
        rows = np.ascontiguousarray(rows)
        _all_triples(rows, game.terms, self.rules, self.values, self.kept, self.reading, out)
        return out

    def weights(self, rows: Ints, game: Game) -> Floats:
        """The weight of each hand for each seat, [n, 10, 1326]: its probability given what is
        public, relative to that of the likeliest hand. It is 0 for hands that share a card with the
        board, and for seats that have folded or are empty. Nobody's own cards are used."""
        out = np.zeros((len(rows), MOST_SEATS, len(HANDS)))
        rows = np.ascontiguousarray(rows)
        _weights(rows, game.terms, self.rules, self.values, self.kept, self.reading, out)
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


@njit
def own_hand(r: Any) -> Any:
    """Index in `HANDS` of the hand of the player to act; -1 if it is unknown."""
    one, two = r[HOLE + 2 * r[ACTOR]], r[HOLE + 2 * r[ACTOR] + 1]
    return hand_number(one, two) if one < DECK and two < DECK else np.int64(-1)


@njit
def _own_triples(
    rows: Any,
    terms: Any,
    rules: Any,
    values: Any,
    kept: Any,
    answers: Any,
    reading: Any,
    out: Any,
) -> None:
    for i in range(len(rows)):
        r, hand = rows[i], own_hand(rows[i])
        if r[STREET] == 0:
            _see_preflop(r, terms, rules, reading)
            out[i, 0], out[i, 1], out[i, 2] = preflop_triple(hand, reading.now, rules)
            continue
        write_keys(r, terms, reading.key)
        key = decision_key(r, hand, reading.key)
        place = find(key, answers.places)
        if place < 0:
            slot, field = _see(r, terms, rules, values, kept, reading)
            place = give(key, answers.places)
            found = answers.answer[place]
            found[0], found[1], found[2] = triple(hand, reading.now, field, rules, slot, values)
        copy_to(answers.answer[place], out[i])


@njit(inline="always")
def _see(r: Any, terms: Any, rules: Any, values: Any, kept: Any, reading: Any) -> Any:
    """Read a table after the flop and describe the decision there; returns the slot of the board
    and the weights of the opponents."""
    read(r, terms, rules, values, kept, reading)
    describe(reading.line, r[ACTOR], terms, rules.constants, reading.now)
    slot = slot_of(board_of(r, r[STREET]), values)
    field = field_of(r[ACTOR], reading.line[IN_], reading.rows, kept.weights, reading.space[2])
    return slot, field


@njit(inline="always")
def _see_preflop(r: Any, terms: Any, rules: Any, reading: Any) -> None:
    """Describe the decision at a table before the flop, which does not depend on weights."""
    follow_line(r, terms, rules.constants, reading.line, reading.now)
    describe(reading.line, r[ACTOR], terms, rules.constants, reading.now)


@njit
def _all_triples(
    rows: Any, terms: Any, rules: Any, values: Any, kept: Any, reading: Any, out: Any
) -> None:
    for i in range(len(rows)):
        r = rows[i]
        if r[STREET] == 0:
            _see_preflop(r, terms, rules, reading)
            for h in range(len(HANDS)):
                out[i, h, 0], out[i, h, 1], out[i, h, 2] = preflop_triple(h, reading.now, rules)
            continue
        slot, field = _see(r, terms, rules, values, kept, reading)
        triples(reading.now, field, rules, slot, values, reading.space, out[i])


@njit
def _weights(
    rows: Any, terms: Any, rules: Any, values: Any, kept: Any, reading: Any, out: Any
) -> None:
    for i in range(len(rows)):
        read(rows[i], terms, rules, values, kept, reading)
        write_weights(rows[i], values, kept, reading, out[i])
