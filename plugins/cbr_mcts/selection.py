"""Selection rules that ship: which of our moves is tried next."""

from __future__ import annotations

import math

from cbr_mcts.rules import selection_rule


@selection_rule("ucb1", c=1.0)
def ucb1(
    value: float, variance: float, visits: float, all_visits: float, prior: float, c: float
) -> float:
    """The upper bound v + c sqrt(ln N / n) (Auer et al. 2002; Gerritsen's UCT)."""
    if visits == 0.0:
        return math.inf
    return value + c * math.sqrt(math.log(all_visits) / visits)


@selection_rule("ucb1-tuned", c=2.0)
def ucb1_tuned(
    value: float, variance: float, visits: float, all_visits: float, prior: float, c: float
) -> float:
    """v + c sqrt(ln N / n min(1/4, s^2 + sqrt(2 ln N / n))); made for rewards from 0 to 1."""
    if visits == 0.0:
        return math.inf
    often = math.log(all_visits) / visits
    return value + c * math.sqrt(often * min(0.25, variance + math.sqrt(2.0 * often)))


@selection_rule("uct+", c=2.0)
def uct_plus(
    value: float, variance: float, visits: float, all_visits: float, prior: float, c: float
) -> float:
    """v + c standard errors of v (Van den Broeck et al. 2009); each move is tried five times."""
    if visits < 5.0:
        return math.inf
    return value + c * math.sqrt(variance / visits)


@selection_rule("puct", c=2.0, reads_prior=True)
def puct(
    value: float, variance: float, visits: float, all_visits: float, prior: float, c: float
) -> float:
    """v + c P sqrt(N) / (1 + n): likely moves first, by a prior P (Silver et al. 2017)."""
    return value + c * prior * math.sqrt(all_visits) / (1.0 + visits)
