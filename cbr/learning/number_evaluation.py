"""How well numbers are predicted: errors with intervals over records.

MAE is the mean absolute error, RMSE the root of the mean squared error, R2 the share of the squared
differences from the mean that the predictions explain: 1 at best, 0 for the mean of the cases
predicted. `coverage` is the share of intervals that hold the true number, `width` their mean width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cbr.learning.kernel import Constants
from cbr.learning.number_prediction import PredictedNumbers
from cbr.statistics import Mean, clustered_mean
from cbr.typing import Floats, Ints


@dataclass(frozen=True)
class JudgedNumbers:
    """The quality of one set of weights with one predictor of numbers.

    `r2` is None where all cases to predict have the same number, `coverage` and `width` where there
    are no intervals. `against_first` is the mean squared error minus that of the first set of
    weights, on the same cases.
    """

    weights: str
    predictor: str
    mae: Mean
    rmse: Mean
    r2: Mean | None
    coverage: Mean | None
    width: float | None
    against_first: Mean | None = None
    constants: Constants | None = None


def judged_numbers(
    what: tuple[str, str],
    actual: Floats,
    predicted: PredictedNumbers,
    first: PredictedNumbers | None,
    record: Ints,
    constants: Constants | None,
) -> JudgedNumbers:
    """The figures of predictions; `first` are those by the first weights, None if these are."""
    value, low, high = predicted
    squared = (value - actual) ** 2
    known = ~np.isnan(low)
    inside = ((low <= actual) & (actual <= high)).astype(np.float64)
    return JudgedNumbers(
        *what,
        mae=clustered_mean(np.abs(value - actual), record),
        rmse=_root(clustered_mean(squared, record)),
        r2=_explained(squared, actual, record),
        coverage=clustered_mean(inside[known], record[known]) if known.any() else None,
        width=float((high - low)[known].mean()) if known.any() else None,
        against_first=(
            None if first is None else clustered_mean(squared - (first.value - actual) ** 2, record)
        ),
        constants=constants,
    )


def _root(squared: Mean) -> Mean:
    """The root of a mean, with an interval by the delta method."""
    root = math.sqrt(squared.mean)
    if squared.ci95 is None or not root:
        return Mean(root, squared.ci95 and 0.0)
    return Mean(root, squared.ci95 / (2 * root))


def _explained(squared: Floats, actual: Floats, record: Ints) -> Mean | None:
    """R2, with an interval by the delta method for a ratio."""
    around = (actual - actual.mean()) ** 2
    if not around.any():
        return None
    ratio = float(squared.mean() / around.mean())
    off = clustered_mean(squared - ratio * around, record)
    return Mean(1.0 - ratio, None if off.ci95 is None else off.ci95 / float(around.mean()))
