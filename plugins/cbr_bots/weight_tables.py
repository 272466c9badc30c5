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
from cbr_bots.triples import before_flop, plan, planned
from cbr_holdem.table import CALL, FOLD, HISTORY, MOST_SEATS, MOVES, RAISE, unpacked
from cbr_holdem.table import STREET as ROW_STREET

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
    out[:] = 0.0
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
    most = weights[0]
    for h in range(len(weights)):
        most = max(most, weights[h])
    scale = 1.0 / most if most > 0.0 else 0.0
    for h in range(len(weights)):
        weights[h] = max(floor, weights[h] * scale)


@njit(cache=True)
def _keep_shown(weights: Any, strength: Any, floor: Any) -> None:
    """The same for hands on a board: those that hold a card of it stay at 0."""
    _keep(weights, floor)
    for h in range(_HANDS):
        if not strength[h]:
            weights[h] = 0.0


@njit(cache=True)
def _powers(hs: Any, opponents: Any, out: Any) -> None:
    """Hand strengths against so many opponents who are alike."""
    out[:] = hs
    for _ in range(1, int(opponents)):
        for h in range(_HANDS):
            out[h] *= hs[h]


@njit(cache=True)
def _usual(kind: Any, now: Any) -> Any:
    """How often a player acts so by the published frequencies."""
    due = 0 if now[TO_CALL] <= 0 else (1 if now[TO_CALL] <= now[SIZE] else 2)
    return FREQUENCIES[due, kind]


@njit(cache=True)
def _weigh_class(
    weights: Any, kind: Any, now: Any, style: Any, k: Any, tables: Any, by: Any
) -> Any:
    """Weights [169] of a player after a move before the flop; how likely the move was."""
    incomes, _class_of, ranked, sizes = tables
    if by == 1:
        below = threshold(kind, now)
        # Published: below the fifth percentile nothing is learned.
        if below >= 0.05:
            limit = ranked[int(below * len(ranked))]
            for c in range(_CLASSES):
                weights[c] *= factor(incomes[2, c], limit, k[SIGMA_INCOME], k[FLOOR])
            _keep(weights, k[FLOOR])
        return _usual(kind, now)
    doubt = _doubt(kind, now, k)
    whole, part = 0.0, 0.0
    for c in range(_CLASSES):
        share = _entry(before_flop(incomes[int(now[GROUP]), c], now, style, k), kind)
        whole += weights[c] * sizes[c]
        part += weights[c] * sizes[c] * share
        weights[c] = weighed(weights[c], share, doubt, 0.0)
    _keep(weights, k[FLOOR])
    return part / whole


@njit(cache=True)
def _weigh_hands(
    weights: Any,
    kind: Any,
    now: Any,
    k: Any,
    hs: Any,
    slot: Any,
    boards: Any,
    by: Any,
    space: Any,
) -> Any:
    """Weights [1326] of a player after a move on a board, and how likely the move was; `hs` [1326]
    is against his field."""
    strength, _order, _count, share, ppot = boards
    if by == 1:
        below = threshold(kind, now)
        if below >= 0.05:
            for h in range(_HANDS):
                value = share[slot, h] + (1.0 - share[slot, h]) * ppot[slot, h]
                weights[h] *= factor(value, below, k[SIGMA], k[FLOOR])
            _keep_shown(weights, strength[slot], k[FLOOR])
        return _usual(kind, now)
    doubt = _doubt(kind, now, k)
    known, potential, p = 1.0 - doubt, ppot[slot], plan(now, k)
    _powers(hs, now[OPPONENTS], space)
    # Loops without a branch or a call are what compilers can do four hands at a time.
    if kind == CALL:
        for h in range(_HANDS):
            space[h] = planned(space[h], potential[h], p)[1]
    else:
        for h in range(_HANDS):
            space[h] = planned(space[h], potential[h], p)[2]
    whole, part = 0.0, 0.0
    for h in range(_HANDS):
        whole += weights[h]
        part += weights[h] * space[h]
        weights[h] *= doubt + known * space[h]
    _keep_shown(weights, strength[slot], k[FLOOR])
    return part / whole


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
    likely: Any,
) -> None:
    """Go through the moves of a table (a row): the line as it is now, weights [10, 1326], and
    `likely` [10], how likely the moves of a seat were; -1 if it has raised.

    `tables` are the income rates, each hand's class, the sorted rates and the size of each class;
    `slots` [3] where the values of flop, turn and river are in `boards`; `by` is 2 for triples
    (Loki-2) and 1 for frequencies; `space` [2, 1326] is room to work in. Before the flop no weights
    are made: they are by class then, and come out for all hands when there is a flop.
    """
    class_of = tables[1]
    now = np.zeros(DESCRIBED)
    classes = np.ones((MOST_SEATS, _CLASSES))
    likely[:] = 1.0
    begin(line, r)
    dealt = 0
    for m in range(r[MOVES] + 1):
        last = m == r[MOVES]
        move = r[HISTORY + m]
        street, seat, kind, _amount = unpacked(move)
        if last:
            street = r[ROW_STREET]
        on_street(line, street)
        while dealt < street:
            _show(classes, weights, class_of, line[IN_], boards[0][slots[dealt]], dealt == 0)
            dealt += 1
        if last:
            return
        describe(line, seat, terms, k, now)
        if kind != FOLD:
            chance = 1.0
            if street == 0:
                chance = _weigh_class(classes[seat], kind, now, style, k, tables, by)
            else:
                slot = slots[street - 1]
                if by == 2:
                    field_strength(weights, seat, line, slot, boards, space[0], space[1])
                chance = _weigh_hands(
                    weights[seat], kind, now, k, space[1], slot, boards, by, space[0]
                )
            likely[seat] = -1.0 if kind == RAISE else likely[seat] * chance
        take(line, move)


@njit(cache=True)
def _show(
    classes: Any, weights: Any, class_of: Any, inside: Any, strength: Any, first: Any
) -> None:
    """Cards of the board show: weights of hands that hold one are 0, so that they are not the best
    that the others are measured by. On the flop (first) weights come from those of the classes."""
    for seat in range(MOST_SEATS):
        if inside >> seat & 1:
            for h in range(_HANDS):
                weight = classes[seat, class_of[h]] if first else weights[seat, h]
                weights[seat, h] = weight if strength[h] else 0.0


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
    incomes, class_of, _ranked, _sizes = tables
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
    _powers(space[1], now[OPPONENTS], space[0])
    p = plan(now, k)
    for h in range(first, end):
        out[h, 0], out[h, 1], out[h, 2] = 0.0, 1.0, 0.0
        if strength[slot, h]:
            out[h, 0], out[h, 1], out[h, 2] = planned(space[0, h], ppot[slot, h], p)
