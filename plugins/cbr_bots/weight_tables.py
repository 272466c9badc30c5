"""Weight tables: how likely each of the 1326 hands is for each player, by what they did.

They are made from what everybody sees, by going through the moves of the hand: each move multiplies
a hand's weight by how often the formula player would make it with that hand (Loki-2), or by how the
hand compares with the threshold that the frequency of the move implies (Loki-1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from cbr_bots.betting_line import (
    DESCRIBED,
    GROUP,
    IN_,
    OPPONENTS,
    SIZE,
    STREET,
    TO_CALL,
    begin,
    describe,
    on_street,
    take,
)
from cbr_bots.board_values import against
from cbr_bots.loki_constants import DOUBT, DOUBT_CALL, DOUBT_CHECK, FLOOR, SIGMA, SIGMA_INCOME
from cbr_bots.triples import after_flop, before_flop
from cbr_holdem.table.game import MOST_SEATS
from cbr_holdem.table.rules import CALL, FOLD, HISTORY, MOVES, RAISE
from cbr_holdem.table.rules import STREET as ROW_STREET

_HANDS, _CLASSES = 1326, 169
#: Published: how often a player folds, calls and raises with 0, 1 and 2 or more bets to call.
FREQUENCIES = np.array([[0.0, 0.5, 0.5], [0.5, 0.3, 0.2], [0.7, 0.2, 0.1]])


@njit(cache=True)
def factor(value: Any, threshold: Any, spread: Any, floor: Any) -> Any:
    """Loki-1: what a hand of this value is multiplied by after an action with this threshold.

    >>> round(factor(0.7, 0.6, 0.2, 0.01), 6), factor(0.4, 0.6, 0.2, 0.01)
    (0.75, 0.01)
    """
    return min(1.0, max(floor, (value - threshold + spread) / (2.0 * spread)))


@njit(cache=True)
def weighed(weight: Any, share: Any, doubt: Any, floor: Any) -> Any:
    """Loki-2: a weight after an action that the hand takes in this share of cases; `doubt` is how
    much of an action has nothing to do with the hand.

    >>> round(weighed(0.9, 0.2, 0.0, 0.01), 6)
    0.18
    """
    return max(floor, weight * (doubt + (1.0 - doubt) * share))


@njit(cache=True)
def threshold(kind: Any, now: Any) -> Any:
    """The part of hands below those that act so, by the published frequencies; -1 for a check."""
    due = 0 if now[TO_CALL] <= 0 else (1 if now[TO_CALL] <= now[SIZE] else 2)
    if kind == RAISE:
        return 1.0 - FREQUENCIES[due, RAISE]
    return FREQUENCIES[due, FOLD] if due else -1.0


@njit(cache=True)
def field_strength(
    weights: Any, seat: Any, line: Any, slot: Any, boards: Any, field: Any, out: Any
) -> None:
    """Hand strength of every hand, were it in this seat, by the mean of the others' weights."""
    strength, order, count, _share, _ppot = boards
    field[:] = 0.0
    for other in range(MOST_SEATS):
        if other != seat and line[IN_] >> other & 1:
            for h in range(_HANDS):
                field[h] += weights[other, h]
    against(field, strength[slot], order[slot], count[slot], out)


@njit(cache=True)
def _doubt(kind: Any, now: Any, k: Any) -> Any:
    if kind == RAISE:
        return k[DOUBT]
    return k[DOUBT_CALL] if now[TO_CALL] > 0 else k[DOUBT_CHECK]


@njit(cache=True)
def _entry(triple: Any, kind: Any) -> Any:
    return triple[0] if kind == FOLD else (triple[1] if kind == CALL else triple[2])


@njit(cache=True)
def _keep(weights: Any, floor: Any) -> None:
    """The best hand has weight 1, and none less than the floor."""
    most = weights.max()
    for h in range(len(weights)):
        weights[h] = max(floor, weights[h] / most)


@njit(cache=True)
def _weigh_class(
    weights: Any, kind: Any, now: Any, style: Any, k: Any, incomes: Any, ranked: Any, by: Any
) -> None:
    """Weights [169] of a player after a move before the flop."""
    if by == 1:
        below = threshold(kind, now)
        # Published: below the fifth percentile nothing is learned.
        if below < 0.05:
            return
        limit = ranked[int(below * len(ranked))]
        for c in range(_CLASSES):
            weights[c] *= factor(incomes[2, c], limit, k[SIGMA_INCOME], k[FLOOR])
    else:
        doubt = _doubt(kind, now, k)
        for c in range(_CLASSES):
            triple = before_flop(incomes[int(now[GROUP]), c], now, style, k)
            weights[c] = weighed(weights[c], _entry(triple, kind), doubt, 0.0)
    _keep(weights, k[FLOOR])


@njit(cache=True)
def _weigh_hands(
    weights: Any, kind: Any, now: Any, k: Any, hs: Any, slot: Any, boards: Any, by: Any
) -> None:
    """Weights [1326] of a player after a move on a board; `hs` [1326] is against his field."""
    strength, _order, _count, share, ppot = boards
    if by == 1:
        below = threshold(kind, now)
        if below < 0.05:
            return
        for h in range(_HANDS):
            value = share[slot, h] + (1.0 - share[slot, h]) * ppot[slot, h]
            weights[h] *= factor(value, below, k[SIGMA], k[FLOOR])
    else:
        doubt = _doubt(kind, now, k)
        for h in range(_HANDS):
            if strength[slot, h]:
                triple = after_flop(hs[h] ** now[OPPONENTS], ppot[slot, h], now, k)
                weights[h] = weighed(weights[h], _entry(triple, kind), doubt, 0.0)
    _keep(weights, k[FLOOR])


@njit(cache=True)
def follow(
    r: Any,
    terms: Any,
    style: Any,
    k: Any,
    tables: Any,
    slots: Any,
    boards: Any,
    by: Any,
    line: Any,
    weights: Any,
    space: Any,
) -> None:
    """Go through the moves of a table (a row): the line as it is now, and weights [10, 1326].

    `tables` are the income rates, each hand's class and the sorted rates; `slots` [3] where the
    values of flop, turn and river are in `boards`; `by` is 2 for triples (Loki-2) and 1 for
    frequencies; `space` [2, 1326] is room to work in. Before the flop no weights are made: they
    are by class then, and come out for all hands when there is a flop.
    """
    incomes, class_of, ranked = tables
    now = np.zeros(DESCRIBED)
    classes = np.ones((MOST_SEATS, _CLASSES))
    begin(line, r)
    dealt = False
    for m in range(r[MOVES] + 1):
        last = m == r[MOVES]
        move = r[HISTORY + m]
        street = r[ROW_STREET] if last else move >> 6 & 3
        on_street(line, street)
        if not dealt and street:
            dealt = True
            for seat in range(MOST_SEATS):
                if line[IN_] >> seat & 1:
                    for h in range(_HANDS):
                        weights[seat, h] = classes[seat, class_of[h]]
        if last:
            return
        seat, kind = move & 15, move >> 4 & 3
        describe(line, seat, terms, k, now)
        if kind != FOLD and street == 0:
            _weigh_class(classes[seat], kind, now, style, k, incomes, ranked, by)
        elif kind != FOLD:
            slot = slots[street - 1]
            if by == 2:
                field_strength(weights, seat, line, slot, boards, space[0], space[1])
            _weigh_hands(weights[seat], kind, now, k, space[1], slot, boards, by)
        take(line, move)


@njit(cache=True)
def triples(
    seat: Any,
    terms: Any,
    style: Any,
    k: Any,
    tables: Any,
    slots: Any,
    boards: Any,
    line: Any,
    weights: Any,
    space: Any,
    first: Any,
    end: Any,
    out: Any,
) -> None:
    """The triples of hands first ... end - 1 of `HANDS` into out [1326, 3], for the seat to act
    after `follow`: the one function that says how the formula player plays. A hand that shares a
    card with the board gets (0, 1, 0)."""
    incomes, class_of, _ranked = tables
    now = np.zeros(DESCRIBED)
    describe(line, seat, terms, k, now)
    if now[STREET] == 0:
        for h in range(first, end):
            out[h, 0], out[h, 1], out[h, 2] = before_flop(
                incomes[int(now[GROUP]), class_of[h]], now, style, k
            )
        return
    slot = slots[int(now[STREET]) - 1]
    field_strength(weights, seat, line, slot, boards, space[0], space[1])
    strength, _order, _count, _share, ppot = boards
    for h in range(first, end):
        out[h, 0], out[h, 1], out[h, 2] = 0.0, 1.0, 0.0
        if strength[slot, h]:
            out[h, 0], out[h, 1], out[h, 2] = after_flop(
                space[1, h] ** now[OPPONENTS], ppot[slot, h], now, k
            )
