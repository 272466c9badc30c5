"""The soft kernel: every case has a say, the more similar the more.

The chance of a solution in a situation is

    p(a) = (sum of e^(beta s) over the cases with solution a  +  alpha prior(a))
           / (sum of e^(beta s) over all cases  +  alpha)

with s the weighted mean of local similarities. It is smooth in the weights, so that they can be
learned by gradient, and has no edge at which a case drops out. Written with v = beta weight / sum
of weights for each feature, weights and beta are one vector of numbers above 0.

Features with many values are rounded to some hundred of them: here an answer need not be exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cbr.measure import Bound
from cbr.vectors import Cases, Floats, Ints

#: Cases on which the constants are looked for; others only judge them.
_SEARCHED = 400
#: Values to which a feature with more of them is rounded, with about as many cases each.
_VALUES = 256


@dataclass(frozen=True, eq=False)
class Soft:
    """Cases made ready for the soft kernel.

    `codes` [d, n] are places in a table of values for each feature; `table` [d, values, values] the
    similarity of a target's value (second axis) to a case's (third). `prior` is how often each
    solution is taken.
    """

    cases: Cases
    codes: NDArray[np.int16]
    table: NDArray[np.float32]
    prior: Floats

    @classmethod
    def of(cls, cases: Cases, measures: Sequence[Bound]) -> Soft:
        columns, tables = [], []
        for place, bound in enumerate(measures):
            values, codes = _rounded(cases.values[:, place])
            columns.append(codes)
            tables.append(bound.grid(values, values))
        widest = max(map(len, tables))
        table = np.zeros((len(tables), widest, widest), np.float32)
        for place, found in enumerate(tables):
            table[place, : len(found), : len(found)] = found
        taken = np.bincount(cases.solution, minlength=len(cases.case_type.solutions))
        return cls(cases, np.array(columns), table, taken / taken.sum())

    def gradient(
        self, asked: Ints, known: Ints, scale: Floats, alpha: float
    ) -> tuple[float, Floats]:
        """Mean log-likelihood of what was done in the cases `asked`, by the cases `known`; and its
        gradient by log v and, last, by log alpha. Cases of the same record do not count."""
        given = (*self._for(asked, known), self.prior, scale.astype(np.float32), alpha)
        log, by = _gradient(*given)
        return log / len(asked), by * np.append(scale, alpha) / len(asked)

    def similarities(self, asked: Ints, known: Ints, weights: Floats) -> Similarities:
        """Those of cases to others, from which chances follow for any beta and alpha."""
        share = (weights / weights.sum()).astype(np.float32)
        targets, table, codes, mine, solution, own, record = self._for(asked, known)
        found = _similarities(targets, table, codes, own, record, share)
        return Similarities(found, solution, mine, self.prior, len(known))

    def _for(self, asked: Ints, known: Ints) -> tuple[Any, ...]:
        solution, record = self.cases.solution, self.cases.record
        return (
            self.codes[:, asked],
            self.table,
            self.codes[:, known],
            solution[asked],
            solution[known],
            record[asked],
            record[known],
        )


@dataclass(frozen=True, eq=False)
class Similarities:
    """Similarities [q, k] of targets to known cases; below 0 for one of the same record."""

    similarity: NDArray[np.float32]
    solution: Ints
    mine: Ints
    prior: Floats
    known: int

    def chances(self, beta: float, alpha: float) -> Floats:
        """Chance of each solution for each target, [q, s]."""
        found: Floats = _chances(self.similarity, self.solution, self.prior, beta, alpha)
        return found

    def log_likelihood(self, beta: float, alpha: float) -> Floats:
        """Of what was done for each target, [q]."""
        chances = self.chances(beta, alpha)
        return np.log(np.maximum(chances[np.arange(len(self.mine)), self.mine], 1e-300))


@dataclass(frozen=True)
class Constants:
    """What the soft kernel needs besides weights, and how well it then predicts: log-loss."""

    beta: float
    alpha: float
    log_loss: float


def fit_constants(
    soft: Soft, weights: Floats, known: Ints, asked: Ints, most: int = 30_000
) -> Constants:
    """The beta and alpha under which these weights predict best: a search from coarse to fine."""
    rng = np.random.default_rng(len(known))
    some = known if len(known) <= most else rng.choice(known, most, replace=False)
    share = len(some) / len(known)
    few = soft.similarities(asked[:_SEARCHED], some, weights)

    def loss(log_beta: float, log_alpha: float, near: Similarities = few) -> float:
        log = near.log_likelihood(float(np.exp(log_beta)), float(np.exp(log_alpha)) * share)
        return -float(log.mean())

    at, step = (np.log(30.0), np.log(0.03)), (0.8, 2.0)
    best = loss(*at)
    while step[0] > 0.05:
        moved = False
        for direction in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            there = (at[0] + step[0] * direction[0], at[1] + step[1] * direction[1])
            found = loss(*there)
            if found < best - 1e-6:
                at, best, moved = there, found, True
        if not moved:
            step = (step[0] / 2, step[1] / 2)
    if len(asked) > _SEARCHED:
        parts = np.array_split(asked, -(-len(asked) // _SEARCHED))
        each = [loss(*at, soft.similarities(part, some, weights)) * len(part) for part in parts]
        best = sum(each) / len(asked)
    return Constants(float(np.exp(at[0])), float(np.exp(at[1])), best)


def _rounded(column: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int16]]:
    """A column's values, if need be rounded to some of them, and which one each case has."""
    values, codes = np.unique(column, return_inverse=True)
    if len(values) > _VALUES:
        marks = np.linspace(0, len(column) - 1, _VALUES).astype(int)
        kept = np.unique(np.sort(column)[marks])
        edges = (kept[1:] + kept[:-1]) / 2
        values, codes = kept, np.searchsorted(edges, column)
    return values, codes.reshape(-1).astype(np.int16)


# Feature after feature over all known cases: so each inner loop is simple enough to be done for
# several cases at once.


@njit(cache=True, nogil=True, fastmath=True)
def _gradient(  # type: ignore[no-untyped-def]
    targets, table, codes, mine, solution, own, record, prior, scale, alpha
):
    features, count = codes.shape
    log = 0.0
    by = np.zeros(features + 1)
    worth = np.empty(count, np.float32)
    same_worth = np.empty(count, np.float32)
    most = scale.sum()
    for q in range(len(mine)):
        # Relative to a case that agrees in everything, so that nothing overflows.
        worth[:] = -most
        for place in range(features):
            row = table[place, targets[place, q]] * scale[place]
            column = codes[place]
            for at in range(count):
                worth[at] += row[column[at]]
        every, same = 0.0, 0.0
        for at in range(count):
            worth[at] = np.exp(worth[at]) if record[at] != own[q] else 0.0
            same_worth[at] = worth[at] if solution[at] == mine[q] else 0.0
            every += worth[at]
            same += same_worth[at]
        top = same + alpha * prior[mine[q]]
        below = every + alpha
        log += np.log(top / below)
        for place in range(features):
            row = table[place, targets[place, q]] - np.float32(1.0)
            column = codes[place]
            all_by = 0.0
            same_by = 0.0
            for at in range(count):
                local = row[column[at]]
                all_by += worth[at] * local
                same_by += same_worth[at] * local
            by[place] += same_by / top - all_by / below
        by[features] += prior[mine[q]] / top - 1.0 / below
    return log, by


@njit(cache=True, nogil=True, fastmath=True)
def _similarities(targets, table, codes, own, record, share):  # type: ignore[no-untyped-def]
    features, count = codes.shape
    found = np.zeros((len(own), count), np.float32)
    for q in range(len(own)):
        line = found[q]
        for place in range(features):
            row = table[place, targets[place, q]] * share[place]
            column = codes[place]
            for at in range(count):
                line[at] += row[column[at]]
        for at in range(count):
            if record[at] == own[q]:
                line[at] = -1.0
    return found


@njit(cache=True, nogil=True, fastmath=True)
def _chances(similarity, solution, prior, beta, alpha):  # type: ignore[no-untyped-def]
    chances = np.empty((len(similarity), len(prior)))
    for q in range(len(similarity)):
        chances[q] = alpha * prior
        line = similarity[q]
        for at in range(len(line)):
            if line[at] >= 0.0:
                chances[q, solution[at]] += np.exp(np.float32(beta) * (line[at] - np.float32(1.0)))
        chances[q] /= chances[q].sum()
    return chances
