"""Weight tables: the relative probability of each of the 1326 hands for each player, given moves.

They use public information only. Each move multiplies the weight of a hand by the probability that
the formula player makes the move with that hand (Loki-2), or by a factor that compares the hand
with the threshold that the frequency of the move implies (Loki-1).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr_bots.betting_line import GROUP, OPPONENTS, SIZE, TO_CALL
from cbr_bots.board_values import against, against_one
from cbr_bots.loki_constants import DOUBT, DOUBT_CALL, DOUBT_CHECK, FLOOR, SIGMA, SIGMA_INCOME
from cbr_bots.triples import before_flop, plan, planned
from cbr_holdem.table import CALL, FOLD, MOST_SEATS, RAISE

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
def field_of(seat: Any, inside: Any, rows: Any, weights: Any, space: Any) -> Any:
    """Weights [1326] of the field: the sum of the other seats' weights. `inside` is the bit set of
    the seats that have not folded, and `rows` [10] are their places in `weights`. The result is in
    `space`, or it is the row of the only opponent."""
    first, count = -1, 0
    for other in range(MOST_SEATS):
        if other != seat and inside >> other & 1:
            mine = weights[rows[other]]
            count += 1
            if count == 1:
                first = other
            elif count == 2:
                before = weights[rows[first]]
                for h in range(_HANDS):
                    space[h] = before[h] + mine[h]
            else:
                for h in range(_HANDS):
                    space[h] += mine[h]
    if count == 0:
        space[:] = 0.0
    return weights[rows[first]] if count == 1 else space


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
    # Four maxima side by side, because one would wait for itself at each step.
    count = len(weights)
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    for h in range(0, count - 3, 4):
        one, two = max(one, weights[h]), max(two, weights[h + 1])
        three, four = max(three, weights[h + 2]), max(four, weights[h + 3])
    for h in range(count - count % 4, count):
        one = max(one, weights[h])
    most = max(one, two, three, four)
    scale = 1.0 / most if most > 0.0 else 0.0
    for h in range(count):
        weights[h] = max(floor, weights[h] * scale)


@njit
def _powers(hs: Any, opponents: Any, out: Any) -> None:
    """Hand strengths against several opponents with the same weights."""
    for h in range(_HANDS):
        out[h] = hs[h]
    for _ in range(1, int(opponents)):
        for h in range(_HANDS):
            out[h] *= hs[h]


@njit
def _usual(kind: Any, now: Any) -> Any:
    """The published frequency of this action."""
    due = 0 if now[TO_CALL] <= 0 else (1 if now[TO_CALL] <= now[SIZE] else 2)
    return FREQUENCIES[due, kind]


@njit
def weigh_class(weights: Any, kind: Any, now: Any, rules: Any) -> Any:
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
def weigh_hands(
    before: Any,
    weights: Any,
    kind: Any,
    now: Any,
    rules: Any,
    slot: Any,
    values: Any,
    field: Any,
    space: Any,
) -> Any:
    """Write the weights [1326] of a player after a move on a board, given those `before` it; they
    are 0 for hands that share a card with the board. Returns the move's likelihood. `field` are the
    weights of his opponents, `space` [2, 1326] is working memory."""
    k, strength, potential = rules.constants, values.strength[slot], values.ppot[slot]
    for h in range(_HANDS):
        weights[h] = before[h] if strength[h] else 0.0
    if rules.by == BY_FREQUENCIES:
        below, share = threshold(kind, now), values.share[slot]
        if below >= 0.05:
            for h in range(_HANDS):
                value = share[h] + (1.0 - share[h]) * potential[h]
                weights[h] *= factor(value, below, k[SIGMA], k[FLOOR])
            _keep_shown(weights, strength, k[FLOOR])
        return _usual(kind, now)
    hs, shares = space[0], space[1]
    hs[:] = 0.0
    against(field, values, slot, hs)
    doubt = _doubt(kind, now, k)
    known, p = 1.0 - doubt, plan(now, k)
    _powers(hs, now[OPPONENTS], shares)
    # Loops without a branch or a call, so that the compiler vectorizes them.
    if kind == CALL:
        for h in range(_HANDS):
            shares[h] = planned(shares[h], potential[h], p)[1]
    else:
        for h in range(_HANDS):
            shares[h] = planned(shares[h], potential[h], p)[2]
    whole, part = 0.0, 0.0
    for h in range(_HANDS):
        whole += weights[h]
        part += weights[h] * shares[h]
        weights[h] *= doubt + known * shares[h]
    _keep_shown(weights, strength, k[FLOOR])
    return part / whole


@njit
def _keep_shown(weights: Any, strength: Any, floor: Any) -> None:
    """`_keep` after the flop: hands that share a card with the board keep weight 0."""
    _keep(weights, floor)
    for h in range(_HANDS):
        weights[h] = weights[h] if strength[h] else 0.0


@njit
def preflop_triple(h: Any, now: Any, rules: Any) -> Any:
    """The triple of hand h of `HANDS` before the flop."""
    income = rules.incomes[int(now[GROUP]), rules.class_of[h]]
    return before_flop(income, now, rules.style, rules.constants)


@njit
def triple(h: Any, now: Any, field: Any, rules: Any, slot: Any, values: Any) -> Any:
    """The triple of hand h of `HANDS` after the flop, against opponents with these weights; (0, 1,
    0) if it shares a card with the board."""
    if not values.strength[slot, h]:
        return 0.0, 1.0, 0.0
    hs = against_one(field, values, slot, h)
    power = hs
    for _ in range(1, int(now[OPPONENTS])):
        power *= hs
    return planned(power, values.ppot[slot, h], plan(now, rules.constants))


@njit
def triples(now: Any, field: Any, rules: Any, slot: Any, values: Any, space: Any, out: Any) -> None:
    """Write the triples of all hands after the flop into out [1326, 3], against opponents with
    these weights. A hand that shares a card with the board gets (0, 1, 0)."""
    hs, power = space[0], space[1]
    against(field, values, slot, hs)
    _powers(hs, now[OPPONENTS], power)
    p = plan(now, rules.constants)
    for h in range(_HANDS):
        out[h, 0], out[h, 1], out[h, 2] = 0.0, 1.0, 0.0
        if values.strength[slot, h]:
            out[h, 0], out[h, 1], out[h, 2] = planned(power[h], values.ppot[slot, h], p)
