"""Prediction of the numbers that are the solutions of held-out cases.

rule   the retrieval policy and the reuse policy, with intervals; where nothing is retrieved, the
       mean of the known cases
soft   kernel regression (Nadaraya 1964, Watson 1964): the mean over all known cases, each counting
       e^(beta (similarity - 1)), and alpha cases more that have the mean of all. Beta and alpha are
       fitted on the known cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.learning.kernel import (
    ALPHAS,
    FAR,
    Constants,
    SoftKernel,
    add_slopes,
    best_constants,
)
from cbr.learning.prediction import (
    AT_ONCE,
    KNOWN,
    Split,
    parts_to_fit,
    retrieved_without,
    retriever_of_known,
    some_of,
)
from cbr.measure import Bound
from cbr.retrieval.index.base import NearestVectors
from cbr.retrieval.policies import RetrievalPolicy
from cbr.retrieval.scoring import stated
from cbr.reusing.intervals import intervals
from cbr.reusing.numbers import expected, near_numbers
from cbr.reusing.policies import ReusePolicy
from cbr.store.arrays import Cases
from cbr.typing import Floats, Ints


class PredictedNumbers(NamedTuple):
    """The number predicted for each case, and the ends of its interval, NaN without one; [q]."""

    value: Floats
    low: Floats
    high: Floats


def numbers_by_rule(
    cases: Cases,
    measures: Sequence[Bound],
    policies: tuple[RetrievalPolicy, ReusePolicy],
    weights: Floats,
    task: Split,
) -> PredictedNumbers:
    """Numbers by a retrieval policy and a reuse policy."""
    policy, reuse = policies
    mine = retriever_of_known(cases, measures, policy, weights, task)
    out: list[Ints] | None = None
    if task.leave_out:
        found, out = retrieved_without(mine, cases, task)
    else:
        many = mine.many(cases.values[task.asked])
        found = NearestVectors(many.start, many.number, many.similarity, many.share)
    asked = cases.values[task.asked]
    codes, rows = stated(asked, np.broadcast_to(weights, asked.shape))
    near, some = near_numbers(mine, codes, rows, found, out)
    value = expected(reuse, near)
    low, high, _ = intervals(mine, reuse, near, value, weights)
    parts = np.full((3, len(task.asked)), np.nan)
    parts[0] = numbers_of(cases)[task.known].mean()
    parts[:, some] = value, low, high
    return PredictedNumbers(*parts)


def numbers_of(cases: Cases) -> Floats:
    """The solutions of cases, which are numbers."""
    assert cases.numbers is not None
    return cases.numbers


def numbers_by_kernel(
    cases: Cases, measures: Sequence[Bound], weights: Floats, task: Split
) -> tuple[PredictedNumbers, Constants]:
    """Numbers by kernel regression, with constants fitted to the weights."""
    soft = SoftKernel.of(cases, measures)
    rest, fitted, some = parts_to_fit(cases, task)
    constants = fit_number_constants(soft, weights, rest, fitted)
    alpha = constants.alpha * len(some) / len(rest)  # it was fitted for so many cases
    value = np.concatenate(
        [
            predicted(soft, part, some, weights, constants.beta, np.array([alpha]))[0]
            for part in np.array_split(task.asked, -(-len(task.asked) // AT_ONCE))
        ]
    )
    unknown = np.full(len(value), np.nan)
    return PredictedNumbers(value, unknown, unknown), constants


def predicted(
    soft: SoftKernel, asked: Ints, known: Ints, weights: Floats, beta: float, alphas: Floats
) -> Floats:
    """The number predicted for each case asked, for each alpha, [a, q]."""
    similarity = soft.similarities(asked, known, weights).similarity
    return _values(similarity, numbers_of(soft.cases)[known], beta, alphas)


def _values(
    similarity: NDArray[np.float32], numbers: Floats, beta: float, alphas: Floats
) -> Floats:
    worth, total = _sums(similarity, numbers, np.float32(beta), FAR)
    values: Floats = (total + alphas[:, None] * numbers.mean()) / (worth + alphas[:, None])
    return values


def fit_number_constants(
    soft: SoftKernel,
    weights: Floats,
    known: Ints,
    asked: Ints,
    start: Constants | None = None,
) -> Constants:
    """The beta and alpha with the least mean squared error, found as `fit_constants` does."""
    some = some_of(known, KNOWN, np.random.default_rng(len(known)))
    share = len(some) / len(known)
    similarity = soft.similarities(asked, some, weights).similarity
    numbers, mine = numbers_of(soft.cases)[some], numbers_of(soft.cases)[asked]

    def tried(log_beta: float) -> Constants:
        beta = float(np.exp(log_beta))
        values = _values(similarity, numbers, beta, ALPHAS * share)
        losses = ((values - mine) ** 2).mean(axis=1)
        best = int(losses.argmin())
        return Constants(beta, float(ALPHAS[best]), float(losses[best]))

    return best_constants(tried, start)


def number_gradient(
    soft: SoftKernel, asked: Ints, known: Ints, scale: Floats, alpha: float
) -> Floats:
    """The derivatives of minus the mean squared error, as a part of the variance, by the logarithm
    of each `scale` and, last, of alpha (Weinberger & Tesauro 2007)."""
    similarity, local = soft.compared(asked, known, scale)
    numbers = numbers_of(soft.cases)
    done = numbers[known], numbers[asked], float(numbers[known].mean())
    by: Floats = _gradient(similarity, done, local, scale, alpha)
    return by / (len(asked) * max(float(numbers[known].var()), 1e-300))


@njit(nogil=True, fastmath=True)
def _gradient(similarities, done, local, scale, alpha):  # type: ignore[no-untyped-def]
    numbers, mine, mean = done
    beta = scale.sum()
    by = np.zeros(len(scale) + 1)
    for q in range(len(mine)):
        similarity = similarities[q]
        near = np.flatnonzero(similarity > max(similarity.max() - FAR / beta, 0.0))
        worth = np.exp(beta * (similarity[near].astype(np.float64) - 1.0))
        whole = worth.sum() + alpha
        value = ((worth * numbers[near]).sum() + alpha * mean) / whole
        error = 2.0 * (mine[q] - value) / whole
        add_slopes(by, error * worth * (numbers[near] - value), q, near, similarity, local, scale)
        by[-1] += error * alpha * (mean - value)
    return by


@njit(nogil=True, fastmath=True)
def _sums(similarity, numbers, beta, far):  # type: ignore[no-untyped-def]
    """The sum of e^(beta (s - 1)) over the known cases, and that times their numbers, [q] each."""
    worth, total = np.zeros(len(similarity)), np.zeros(len(similarity))
    least = max(0.0, 1.0 - far / beta)
    for q in range(len(similarity)):
        line = similarity[q]
        for at in range(len(line)):
            if line[at] >= least:
                here = np.exp(beta * (line[at] - np.float32(1.0)))
                worth[q] += here
                total[q] += here * numbers[at]
    return worth, total
