"""Weight tables: the relative probability of each of the 1326 hands for each player, given moves.

They use public information only. Each move multiplies the weight of a hand by the probability that
the formula player makes the move with that hand (Loki-2), or by a factor that compares the hand
with the threshold that the frequency of the move implies (Loki-1).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr_bots.betting_line import (
    DESCRIBED,
    GROUP,
    IN_,
    LINE,
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
#: How weights are updated: by the frequencies of Loki-1, or by the triples of Loki-2.
BY_FREQUENCIES, BY_TRIPLES = 1, 2
#: Published: how often a player folds, calls and raises with 0, 1 and 2 or more bets to call.
FREQUENCIES = np.array([[0.0, 0.5, 0.5], [0.5, 0.3, 0.2], [0.7, 0.2, 0.1]])


class Rules(NamedTuple):
    """Parameters of the formula player: the thresholds of its `style`, its `constants`, and how it
    updates weights (`by`: BY_FREQUENCIES or BY_TRIPLES). For play before the flop: `incomes`
    [groups, 169] income rates of the hand classes, `ranked` [1326] sorted income rates of all
    hands, `class_of` [1326] the class of each hand, `sizes` [169] the number of hands by class."""

    style: Any
    constants: Any
    by: int
    incomes: Any
    ranked: Any
    class_of: Any
    sizes: Any


class Reading(NamedTuple):
    """The result of `follow`: the betting `line` [LINE], the `weights` [10, 1326] of the hands of
    each seat, and `likely` [10], the probability that the formula player makes the moves of the
    seat (-1 if the seat has raised). `space` [2, 1326] is working memory."""

    line: Any
    weights: Any
    likely: Any
    space: Any


@njit
def blank_reading() -> Any:
    """Allocated arrays, to be reused for one table after the other."""
    return Reading(
        np.zeros(LINE, np.int64),
        np.ones((MOST_SEATS, _HANDS)),
        np.ones(MOST_SEATS),
        np.empty((2, _HANDS)),
    )


@njit
def factor(value: Any, threshold: Any, spread: Any, floor: Any) -> Any:
    """Loki-1: the factor for the weight of a hand of this value, after an action whose threshold
    is smoothed by `spread`; at least `floor`.

    >>> round(factor(0.7, 0.6, 0.2, 0.01), 6), factor(0.4, 0.6, 0.2, 0.01)
    (0.75, 0.01)
    """
    return min(1.0, max(floor, (value - threshold + spread) / (2.0 * spread)))


@njit
def weighed(weight: Any, share: Any, doubt: Any, floor: Any) -> Any:
    """Loki-2: the weight of a hand after an action that it takes with probability `share`; `doubt`
    is the probability that the action does not depend on the hand.

    >>> round(weighed(0.9, 0.2, 0.0, 0.01), 6)
    0.18
    """
    return max(floor, weight * (doubt + (1.0 - doubt) * share))


@njit
def threshold(kind: Any, now: Any) -> Any:
    """The share of hands too weak for this action, by the published frequencies; -1 for a check."""
    due = 0 if now[TO_CALL] <= 0 else (1 if now[TO_CALL] <= now[SIZE] else 2)
    if kind == RAISE:
        return 1.0 - FREQUENCIES[due, RAISE]
    return FREQUENCIES[due, FOLD] if due else -1.0


@njit
def field_strength(
    weights: Any, seat: Any, line: Any, slot: Any, values: Any, field: Any, out: Any
) -> None:
    """Strength [1326] of every hand in this seat against one hand of the field, whose weights are
    the sum of the other seats' weights."""
    field[:] = 0.0
    out[:] = 0.0
    for other in range(MOST_SEATS):
        if other != seat and line[IN_] >> other & 1:
            for h in range(_HANDS):
                field[h] += weights[other, h]
    against(field, values.strength[slot], values.order[slot], values.hands[slot], out)


@njit
def _doubt(kind: Any, now: Any, k: Any) -> Any:
    if kind == RAISE:
        return k[DOUBT]
    return k[DOUBT_CALL] if now[TO_CALL] > 0 else k[DOUBT_CHECK]


@njit
def _entry(triple: Any, kind: Any) -> Any:
    return triple[0] if kind == FOLD else (triple[1] if kind == CALL else triple[2])


@njit
def _keep(weights: Any, floor: Any) -> None:
    """Rescale the weights so that the largest is 1 and none is below the floor."""
    most = weights[0]
    for h in range(len(weights)):
        most = max(most, weights[h])
    scale = 1.0 / most if most > 0.0 else 0.0
    for h in range(len(weights)):
        weights[h] = max(floor, weights[h] * scale)


@njit
def _keep_shown(weights: Any, strength: Any, floor: Any) -> None:
    """The same after the flop: hands that share a card with the board keep weight 0."""
    _keep(weights, floor)
    for h in range(_HANDS):
        if not strength[h]:
            weights[h] = 0.0


@njit
def _powers(hs: Any, opponents: Any, out: Any) -> None:
    """Hand strengths against several opponents with the same weights."""
    out[:] = hs
    for _ in range(1, int(opponents)):
        for h in range(_HANDS):
            out[h] *= hs[h]


@njit
def _usual(kind: Any, now: Any) -> Any:
    """The published frequency of this action."""
    due = 0 if now[TO_CALL] <= 0 else (1 if now[TO_CALL] <= now[SIZE] else 2)
    return FREQUENCIES[due, kind]


@njit
def _weigh_class(weights: Any, kind: Any, now: Any, rules: Any) -> Any:
    """Update the weights [169] of a player after a preflop move; returns the move's likelihood."""
    incomes, sizes, k = rules.incomes, rules.sizes, rules.constants
    if rules.by == BY_FREQUENCIES:
        below = threshold(kind, now)
        # Published: below the fifth percentile nothing is learned.
        if below >= 0.05:
            limit = rules.ranked[int(below * len(rules.ranked))]
            for c in range(_CLASSES):
                weights[c] *= factor(incomes[2, c], limit, k[SIGMA_INCOME], k[FLOOR])
            _keep(weights, k[FLOOR])
        return _usual(kind, now)
    doubt = _doubt(kind, now, k)
    whole, part = 0.0, 0.0
    for c in range(_CLASSES):
        share = _entry(before_flop(incomes[int(now[GROUP]), c], now, rules.style, k), kind)
        whole += weights[c] * sizes[c]
        part += weights[c] * sizes[c] * share
        weights[c] = weighed(weights[c], share, doubt, 0.0)
    _keep(weights, k[FLOOR])
    return part / whole


@njit
def _weigh_hands(
    weights: Any, kind: Any, now: Any, rules: Any, slot: Any, values: Any, hs: Any, space: Any
) -> Any:
    """Update the weights [1326] of a player after a move on a board; returns the move's likelihood.
    `hs` [1326] is the strength of his hands against the field."""
    k, strength, potential = rules.constants, values.strength[slot], values.ppot[slot]
    if rules.by == BY_FREQUENCIES:
        below, share = threshold(kind, now), values.share[slot]
        if below >= 0.05:
            for h in range(_HANDS):
                value = share[h] + (1.0 - share[h]) * potential[h]
                weights[h] *= factor(value, below, k[SIGMA], k[FLOOR])
            _keep_shown(weights, strength, k[FLOOR])
        return _usual(kind, now)
    doubt = _doubt(kind, now, k)
    known, p = 1.0 - doubt, plan(now, k)
    _powers(hs, now[OPPONENTS], space)
    # Loops without a branch or a call, so that the compiler vectorizes them.
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
    _keep_shown(weights, strength, k[FLOOR])
    return part / whole


@njit
def follow(r: Any, terms: Any, rules: Any, slots: Any, values: Any, reading: Any) -> None:
    """Replay the moves of a table (row `r`) and fill a reading.

    `slots` [3] are the slots of flop, turn and river in `values`. Before the flop weights are kept
    by hand class, so `weights` is only filled from the flop on.
    """
    line, weights, likely, space = reading
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
            shown = values.strength[slots[dealt]]
            _show(classes, weights, rules.class_of, line[IN_], shown, dealt == 0)
            dealt += 1
        if last:
            return
        describe(line, seat, terms, rules.constants, now)
        if kind != FOLD:
            chance = 1.0
            if street == 0:
                chance = _weigh_class(classes[seat], kind, now, rules)
            else:
                slot = slots[street - 1]
                if rules.by == BY_TRIPLES:
                    field_strength(weights, seat, line, slot, values, space[0], space[1])
                chance = _weigh_hands(
                    weights[seat], kind, now, rules, slot, values, space[1], space[0]
                )
            likely[seat] = -1.0 if kind == RAISE else likely[seat] * chance
        take(line, move)


@njit
def _show(
    classes: Any, weights: Any, class_of: Any, inside: Any, strength: Any, first: Any
) -> None:
    """Set the weights of hands that share a card with the board to 0, so that they do not count as
    the largest weight in `_keep`. On the flop (`first`) weights are copied from the classes."""
    for seat in range(MOST_SEATS):
        if inside >> seat & 1:
            for h in range(_HANDS):
                weight = classes[seat, class_of[h]] if first else weights[seat, h]
                weights[seat, h] = weight if strength[h] else 0.0


@njit
def triples(
    seat: Any,
    terms: Any,
    rules: Any,
    slots: Any,
    values: Any,
    reading: Any,
    first: Any,
    end: Any,
    out: Any,
) -> None:
    """Write the triples of hands first ... end - 1 of `HANDS` into out [1326, 3], for the seat to
    act after `follow`. All play of the formula player goes through this function. A hand that
    shares a card with the board gets (0, 1, 0)."""
    k, space = rules.constants, reading.space
    now = np.zeros(DESCRIBED)
    describe(reading.line, seat, terms, k, now)
    if now[STREET] == 0:
        for h in range(first, end):
            out[h, 0], out[h, 1], out[h, 2] = before_flop(
                rules.incomes[int(now[GROUP]), rules.class_of[h]], now, rules.style, k
            )
        return
    slot = slots[int(now[STREET]) - 1]
    field_strength(reading.weights, seat, reading.line, slot, values, space[0], space[1])
    _powers(space[1], now[OPPONENTS], space[0])
    p = plan(now, k)
    for h in range(first, end):
        out[h, 0], out[h, 1], out[h, 2] = 0.0, 1.0, 0.0
        if values.strength[slot, h]:
            out[h, 0], out[h, 1], out[h, 2] = planned(space[0, h], values.ppot[slot, h], p)
