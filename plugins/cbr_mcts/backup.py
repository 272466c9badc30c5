"""Back-up rules that ship: the value of one of our own nodes from those of its moves.

Opponents' nodes always have the mean weighted by how often each move was sampled, and never by the
chances of the model, by which samples were drawn already. With two samples of values 0 and 1 that
have chances .1 and .9, weights by sampling give .9 on average, which is right, weights by the
chances of the moves seen .972 (Van den Broeck et al. 2009).
"""

from __future__ import annotations

import math
from typing import Any

from cbr_mcts.rules import backup_rule


@backup_rule("mean", is_mean=True)
def mean(visits: Any, values: Any, errors: Any) -> float:
    """The mean weighted by visits: the sampling frequency."""
    total, count = 0.0, 0.0
    for move in range(len(visits)):
        total += visits[move] * values[move]
        count += visits[move]
    return total / count


@backup_rule("max")
def maximum(visits: Any, values: Any, errors: Any) -> float:
    """The value of the best move."""
    best = -math.inf
    for move in range(len(visits)):
        if visits[move] > 0.0:
            best = max(best, values[move])
    return best


@backup_rule("max-distribution")
def max_distribution(visits: Any, values: Any, errors: Any) -> float:
    """The mean of the best of normally distributed values, by Clark's formula move after move."""
    mean, variance, begun = 0.0, 0.0, False
    for move in range(len(visits)):
        if visits[move] == 0.0:
            continue
        value, spread = values[move], errors[move] ** 2
        if not begun:
            mean, variance, begun = value, spread, True
            continue
        width = math.sqrt(variance + spread)
        if width < 1e-12:
            mean, variance = max(mean, value), 0.0
            continue
        z = (mean - value) / width
        density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        above = 0.5 * math.erfc(-z / math.sqrt(2.0))
        first = mean * above + value * (1.0 - above) + width * density
        second = (mean * mean + variance) * above + (value * value + spread) * (1.0 - above)
        second += (mean + value) * width * density
        mean, variance = first, max(0.0, second - first * first)
    return mean


@backup_rule("weighted")
def weighted(visits: Any, values: Any, errors: Any) -> float:
    """The mean weighted by the chance of each move to be the best (D'Eramo et al. 2016): the value
    of the best move alone is too high as long as values are uncertain.

    Values are taken as normally distributed, and a chance as the product of those against each
    other move. Moves of one visit, whose error is not known, count only where there are no others.
    """
    least = 1.0
    for move in range(len(visits)):
        if visits[move] >= 2.0:
            least = 2.0
    total, whole = 0.0, 0.0
    for move in range(len(visits)):
        if visits[move] < least:
            continue
        chance = 1.0
        for other in range(len(visits)):
            if other == move or visits[other] < least:
                continue
            width = math.sqrt(errors[move] ** 2 + errors[other] ** 2)
            ahead = values[move] - values[other]
            if width < 1e-12:
                chance *= 1.0 if ahead > 0.0 else 0.5 if ahead == 0.0 else 1e-12
            else:
                chance *= max(1e-12, 0.5 * math.erfc(-ahead / width / math.sqrt(2.0)))
        total += chance * values[move]
        whole += chance
    return total / whole
