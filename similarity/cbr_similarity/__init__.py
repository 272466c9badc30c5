"""Local similarity measures: plain functions of two values, from 0 (unlike) to 1 (alike).

>>> linear(3.0, 4.0, span=9.0)
0.8888888888888888
"""

from cbr_similarity.categories import equal, ordered, table
from cbr_similarity.numbers import (
    asymmetric,
    at_least,
    at_most,
    cyclic,
    exponential,
    groups,
    linear,
    logarithmic,
    ranged_exponential,
    ratio,
    sigmoid,
    step,
    within,
)

__all__ = [
    "asymmetric",
    "at_least",
    "at_most",
    "cyclic",
    "equal",
    "exponential",
    "groups",
    "linear",
    "logarithmic",
    "ordered",
    "ranged_exponential",
    "ratio",
    "sigmoid",
    "step",
    "table",
    "within",
]
