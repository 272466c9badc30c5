"""Log-loss of predicting whether a player raises, with intervals over hands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbr.statistics import NORMAL, clustered_error
from cbr.typing import Floats
from cbr_bots import Formula
from cbr_holdem.table import STREETS
from likeness.decisions import Decisions


@dataclass(frozen=True)
class Figure:
    """A mean with half the width of its 95 % interval; 0 for a single hand, which has none."""

    mean: float
    ci95: float


@dataclass(frozen=True)
class Line:
    """Log-losses in nats per decision on some streets; `gain` is the paired difference between the
    losses of table and formula, so its interval is narrower than theirs."""

    street: str
    hands: int
    decisions: int
    formula: Figure
    table: Figure
    gain: Figure


def raises_by_formula(formula: Formula, decisions: Decisions) -> Floats:
    """The chance of a bet or raise, given that the player does not fold, [m]."""
    triples = formula.own_triples(decisions.rows, decisions.game)
    return triples[:, 2] / (triples[:, 1] + triples[:, 2])


def frequencies(learned: Sequence[Decisions]) -> Floats:
    """How often players bet or raised on each street with 0, 1 and 2 or more bets to call, [4, 3];
    one decision of each kind is added to the counts."""
    counts = np.ones((len(STREETS), 3, 2))
    for decisions in learned:
        np.add.at(counts, (decisions.street, decisions.due, decisions.raised.astype(np.int64)), 1)
    shares: Floats = counts[..., 1] / counts.sum(axis=2)
    return shares


def loss(chances: Floats, decisions: Decisions) -> Floats:
    """-log of the predicted chance of the logged action, [m]."""
    return -np.log(np.where(decisions.raised, chances, 1.0 - chances))


def mean_loss(formula: Formula, decisions: Sequence[Decisions]) -> float:
    losses = [loss(raises_by_formula(formula, some), some) for some in decisions]
    return float(np.concatenate(losses).mean())


def judged(formula: Formula, table: Floats, decisions: Sequence[Decisions]) -> list[Line]:
    """A line for all streets, and one for each."""
    ours = [loss(raises_by_formula(formula, some), some) for some in decisions]
    theirs = [loss(table[some.street, some.due], some) for some in decisions]
    hand = [2**32 * game + some.hand for game, some in enumerate(decisions)]
    columns = (ours, theirs, hand, [some.street for some in decisions])
    own, other, number, street = (np.concatenate(column) for column in columns)
    lines = []
    for name, which in [("all", street >= 0)] + [(s, street == i) for i, s in enumerate(STREETS)]:
        if which.any():
            some = number[which]
            lines.append(
                Line(
                    name,
                    len(np.unique(some)),
                    int(which.sum()),
                    figure(own[which], some),
                    figure(other[which], some),
                    figure((other - own)[which], some),
                )
            )
    return lines


def figure(values: Floats, hand: NDArray[np.int64]) -> Figure:
    """The mean over decisions, with an interval over hands: decisions of one hand are correlated.

    >>> figure(np.array([1.0, 1.0, 3.0, 3.0]), np.array([7, 7, 8, 8]))
    Figure(mean=2.0, ci95=1.96)
    """
    error = clustered_error(values, hand)
    return Figure(float(values.mean()), 0.0 if error is None else round(NORMAL * error, 12))
