"""The soft kernel and a smooth form of retrieval, with gradients for learning weights.

In the soft kernel every case counts, with a factor that grows with its similarity.

The probability of a solution in a situation is

    p(a) = (sum of e^(beta (s - 1)) over the cases with solution a  +  alpha prior(a))
           / (sum of e^(beta (s - 1)) over all cases  +  alpha)

with s the weighted mean of local similarities. It is smooth in the weights, so that they can be
learned by gradient: no case is cut off at a threshold. With v = beta weight / sum of weights for
each feature, weights and beta are one vector of positive numbers.

Retrieval takes the cases above an edge, a step function without a useful gradient. In its smooth
form a case counts by how far it is above the edge,

    share = 1 / (1 + e^((edge - s) / width))

where the edge is that of the policy: its threshold, or the similarity of the last case within the
cap. The probability of a solution is computed from the shares as from the cases retrieved.

Features with many values are rounded to a few hundred, and sums are float32: similarities here are
approximations of those of `cbr.retrieval.scoring`. Missing values are compared as there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.measure import Bound
from cbr.retrieval.index.base import Reach
from cbr.store.arrays import Cases
from cbr.typing import Floats, Ints

#: Values of alpha that are tried for each beta.
ALPHAS = np.exp(np.arange(-18.0, 10.0, 0.5))
#: The width of the smooth edge of retrieval, in similarity.
_WIDTH = 0.004
#: Cases whose factor is smaller than that of the nearest by e to this power are left out.
FAR = 16.0
#: A feature with more values is rounded to this many, with about as many cases each.
_VALUES = 256


class Gradient(NamedTuple):
    """A mean log-likelihood, and its derivatives by log v of each feature and, last, log alpha."""

    log: float
    by: Floats


@dataclass(frozen=True, eq=False)
class SoftKernel:
    """Cases in the form that the soft kernel needs.

    `codes` [d, n] are indices of values for each feature; `table` [d, values, values] has the
    similarity of a target's value (second axis) to a case's (third), -1 where one of them is
    missing and the feature is not compared; `gaps` is whether there is such a pair. `prior` [s] is
    the share of cases with each solution.
    """

    cases: Cases
    codes: NDArray[np.int16]
    table: NDArray[np.float32]
    prior: Floats
    gaps: bool = False

    @classmethod
    def of(cls, cases: Cases, measures: Sequence[Bound]) -> SoftKernel:
        columns, tables = [], []
        for place, bound in enumerate(measures):
            values, codes = _rounded(cases.values[:, place])
            columns.append(codes)
            tables.append(_table(bound, values))
        widest = max(map(len, tables))
        table = np.zeros((len(tables), widest, widest), np.float32)
        for place, found in enumerate(tables):
            table[place, : len(found), : len(found)] = found
        taken = np.bincount(cases.solution, minlength=len(cases.case_type.solutions))
        return cls(cases, np.array(columns), table, taken / taken.sum(), bool((table < 0).any()))

    def gradients(
        self, asked: Ints, known: Ints, scale: Floats, alpha: float, reach: Reach, drawn: float
    ) -> tuple[Gradient, Gradient]:
        """The log-likelihood of the solutions of the cases `asked` given the cases `known`, by the
        kernel and by smooth retrieval with one case of each solution added. Cases of the same
        record do not count. If only a share `drawn` of the cases is known, alpha, the cap and the
        added cases are scaled down by it.
        """
        similarity, local = self.compared(asked, known, scale)
        done = (self.cases.solution[known], self.cases.solution[asked], self.prior)
        by_kernel = _kernel_gradient(similarity, done, local, scale, alpha * drawn)
        cap, fallback = max(1.0, reach.cap * drawn), reach.fallback * drawn
        edge = (reach.above, cap, max(1.0, fallback) if fallback else 0.0)
        by_rule = _rule_gradient(similarity, done, local, edge, drawn)
        kernel, rule = (
            Gradient(log / len(asked), by / len(asked)) for log, by in (by_kernel, by_rule)
        )
        return kernel, rule

    def compared(
        self, asked: Ints, known: Ints, scale: Floats
    ) -> tuple[NDArray[np.float32], tuple[Any, ...]]:
        """Similarities [q, k] with weights in proportion to `scale`, and the arrays from which
        `add_slopes` finds their derivatives."""
        share = (scale / scale.sum()).astype(np.float32)
        # Rows in one piece, unlike those of self.codes[:, asked].
        targets, codes = (np.take(self.codes, some, axis=1) for some in (asked, known))
        record = self.cases.record
        of_all = _similarities_of_known if self.gaps else _similarities
        found = of_all(targets, self.table, codes, record[asked], record[known], share)
        return found, (targets, self.table, codes, share, self.gaps)

    def similarities(self, asked: Ints, known: Ints, weights: Floats) -> Similarities:
        """Similarities of the cases `asked` to those `known`, from which the chances for any beta
        and alpha are computed."""
        found, _ = self.compared(asked, known, weights)
        solution = self.cases.solution
        return Similarities(found, solution[known], solution[asked], self.prior, len(known))


@dataclass(frozen=True, eq=False)
class Similarities:
    """Similarities [q, k] of targets to known cases; -1 for a case of the same record."""

    similarity: NDArray[np.float32]
    solution: Ints
    mine: Ints
    prior: Floats
    known: int

    def sums(self, beta: float) -> Floats:
        """Sum of e^(beta (s - 1)) over the cases with each solution, for each target, [q, s]."""
        found: Floats = _sums(self.similarity, self.solution, len(self.prior), np.float32(beta))
        return found

    def chances(self, beta: float, alpha: float) -> Floats:
        """The probability of each solution for each target, [q, s]."""
        sums = self.sums(beta) + alpha * self.prior
        chances: Floats = sums / sums.sum(axis=1, keepdims=True)
        return chances

    def log_losses(self, beta: float, alphas: Floats) -> Floats:
        """The mean log-loss of the true solutions over all targets, for each alpha, [a]."""
        sums = self.sums(beta)
        top = sums[np.arange(len(sums)), self.mine][:, None] + alphas * self.prior[self.mine, None]
        below = sums.sum(axis=1)[:, None] + alphas
        losses: Floats = -np.log(np.maximum(top / below, 1e-300)).mean(axis=0)
        return losses


@dataclass(frozen=True)
class Constants:
    """Beta and alpha of the soft kernel, and the loss of its predictions with them: log-loss, or
    the mean squared error of numbers."""

    beta: float
    alpha: float
    loss: float


def fit_constants(
    soft: SoftKernel,
    weights: Floats,
    known: Ints,
    asked: Ints,
    most: int = 60_000,
    start: Constants | None = None,
) -> Constants:
    """The beta and alpha with which these weights predict best, found by a search with decreasing
    steps that begins at `start`, if given."""
    rng = np.random.default_rng(len(known))
    some = known if len(known) <= most else rng.choice(known, most, replace=False)
    share = len(some) / len(known)
    near = soft.similarities(asked, some, weights)

    def tried(log_beta: float) -> Constants:
        beta = float(np.exp(log_beta))
        losses = near.log_losses(beta, ALPHAS * share)
        best = int(losses.argmin())
        return Constants(beta, float(ALPHAS[best]), float(losses[best]))

    return best_constants(tried, start)


def best_constants(tried: Callable[[float], Constants], start: Constants | None) -> Constants:
    """The constants with the least loss: a search over the logarithm of beta."""
    at, step = (np.log(30.0), 0.8) if start is None else (np.log(start.beta), 0.2)
    found = tried(at)
    while step > 0.05:
        there = min((tried(at - step), tried(at + step)), key=lambda one: one.loss)
        if there.loss < found.loss - 1e-6 * max(1.0, found.loss):
            at, found = np.log(there.beta), there
        else:
            step /= 2.0
    return found


def _rounded(column: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int16]]:
    """A column's distinct values, reduced if there are too many, and the index of each case's; NaN
    is the last value if one is missing."""
    values, codes = np.unique(column, return_inverse=True)
    if len(values) > _VALUES:
        absent = np.isnan(column)
        known = np.sort(column[~absent])
        marks = np.linspace(0, len(known) - 1, _VALUES).astype(int)
        kept = np.unique(known[marks])
        edges = (kept[1:] + kept[:-1]) / 2
        codes = np.searchsorted(edges, column)
        codes[absent] = len(kept)
        values = np.append(kept, np.full(int(absent.any()), np.nan, np.float32))
    return values, codes.reshape(-1).astype(np.int16)


def _table(bound: Bound, values: NDArray[np.float32]) -> Floats:
    """Similarities of all values to all, -1 where the feature is not compared."""
    known = int(np.count_nonzero(~np.isnan(values)))
    table = np.full((len(values), len(values)), -1.0)
    table[:known] = np.nan_to_num(bound.grid(values[:known], values), nan=-1.0)
    return table


@njit(nogil=True, fastmath=True)
def _kernel_gradient(similarities, done, local, scale, alpha):  # type: ignore[no-untyped-def]
    solution, mine, prior = done
    beta = scale.sum()
    log = 0.0
    by = np.zeros(len(scale) + 1)
    for q in range(len(mine)):
        similarity = similarities[q]
        # Far cases are negligible beside the nearest, or beside alpha.
        near = np.flatnonzero(similarity > max(similarity.max() - FAR / beta, 0.0))
        worth = np.exp(beta * (similarity[near].astype(np.float64) - 1.0))
        same = solution[near] == mine[q]
        top = (worth * same).sum() + alpha * prior[mine[q]]
        below = worth.sum() + alpha
        log += np.log(top / below)
        slope = worth * (same / top - 1.0 / below)
        add_slopes(by, slope, q, near, similarity, local, scale)
        by[-1] += alpha * (prior[mine[q]] / top - 1.0 / below)
    return log, by


@njit(nogil=True, fastmath=True)
def add_slopes(by, slope, q, near, similarity, local, scale):  # type: ignore[no-untyped-def]
    """Add the derivatives of a target's likelihood by the logarithm of each `scale`; `slope` are
    those by the exponents beta (s - 1) of the cases near it."""
    targets, table, codes, _, gaps = local
    part = _part_compared(q, near, local) if gaps else np.empty(0)
    for place in range(len(codes)):
        row = table[place, targets[place, q]]
        moved = 0.0
        for some in range(len(near)):
            here = row[codes[place, near[some]]]
            if gaps:
                # A mean over a part of the features moves more with each of them.
                whole = similarity[near[some]]
                here = whole + ((here - whole) / part[some] if here >= 0.0 else 0.0)
            moved += slope[some] * (here - 1.0)
        by[place] += scale[place] * moved


@njit(nogil=True, fastmath=True)
def _rule_gradient(similarities, done, local, edge, added):  # type: ignore[no-untyped-def]
    solution, mine, prior = done
    targets, table, codes, share, gaps = local
    above, cap, fallback = edge
    log = 0.0
    by = np.zeros(len(codes) + 1)
    for q in range(len(mine)):
        similarity = similarities[q]
        inside = np.flatnonzero(similarity > above)
        # If the edge is the similarity of a case, it depends on the weights; a threshold does not.
        last, at = -1, above
        if len(inside) > cap or (not len(inside) and fallback):
            among = inside if len(inside) else np.arange(len(similarity))
            room = int(cap if len(inside) else min(fallback, len(among)))
            last = among[np.argpartition(-similarity[among], room - 1)[room - 1]]
            at = similarity[last]
        near = np.flatnonzero(similarity > max(at - FAR * _WIDTH, -0.5))
        counted = 1.0 / (1.0 + np.exp((at - similarity[near]) / _WIDTH))
        same = solution[near] == mine[q]
        top = (counted * same).sum() + added
        below = counted.sum() + added * len(prior)
        log += np.log(top / below)
        slope = counted * (1.0 - counted) / _WIDTH * (same / top - 1.0 / below)
        total = slope.sum()
        at_edge = total
        edge_at = np.array([max(last, 0)])
        if gaps:
            slope = slope / _part_compared(q, near, local)
            at_edge = total / _part_compared(q, edge_at, local)[0]
        for place in range(len(codes)):
            row = table[place, targets[place, q]]
            moved = 0.0
            for some in range(len(near)):
                here = row[codes[place, near[some]]]
                if here >= 0.0:
                    moved += slope[some] * (here - similarity[near[some]])
            if last >= 0 and row[codes[place, last]] >= 0.0:
                moved -= at_edge * (row[codes[place, last]] - similarity[last])
            by[place] += share[place] * moved
    return log, by


@njit(nogil=True, fastmath=True)
def _part_compared(q, near, local):  # type: ignore[no-untyped-def]
    """The share of the weights by which a target and each case near it are compared."""
    targets, table, codes, share, _ = local
    part = np.full(len(near), 1e-9)  # a case that is not compared at all has no slope either
    for place in range(len(codes)):
        row = table[place, targets[place, q]]
        for some in range(len(near)):
            if row[codes[place, near[some]]] >= 0.0:
                part[some] += share[place]
    return part


# The loop over known cases is inside the loop over features, so that the compiler can vectorise it.


@njit(nogil=True, fastmath=True)
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


@njit(nogil=True, fastmath=True)
def _similarities_of_known(targets, table, codes, own, record, share):  # type: ignore[no-untyped-def]
    """`_similarities` where some pairs are not compared in some features."""
    features, count = codes.shape
    found = np.zeros((len(own), count), np.float32)
    weight = np.empty(count, np.float32)
    for q in range(len(own)):
        line = found[q]
        weight[:] = 0.0
        for place in range(features):
            row = table[place, targets[place, q]]
            column = codes[place]
            for at in range(count):
                here = row[column[at]]
                known = here >= 0.0
                line[at] += here * share[place] if known else np.float32(0.0)
                weight[at] += share[place] if known else np.float32(0.0)
        for at in range(count):
            line[at] = line[at] / weight[at] if weight[at] > 0.0 else np.float32(0.0)
            if record[at] == own[q]:
                line[at] = -1.0
    return found


@njit(nogil=True, fastmath=True)
def _sums(similarity, solution, solutions, beta):  # type: ignore[no-untyped-def]
    sums = np.zeros((len(similarity), solutions))
    least = max(0.0, 1.0 - FAR / beta)
    for q in range(len(similarity)):
        line = similarity[q]
        for at in range(len(line)):
            if line[at] >= least:
                sums[q, solution[at]] += np.exp(beta * (line[at] - np.float32(1.0)))
    return sums
