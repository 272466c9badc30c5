"""Revise: compare the outcome of a decision with the expected outcome.

The expected outcome is the mean of the retrieved cases with the same solution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from cbr.case import Case
from cbr.checks import HIGHEST
from cbr.errors import BadValue, NoSuchName
from cbr.retrieval.retrieved import Retrieved


@dataclass(frozen=True)
class Revision:
    """A decision as a case, and the expectation from its neighbours.

    `expected` is the mean outcome of the retrieved cases with the same solution, None if there is
    none. `most_similar` is the similarity of the nearest retrieved case with that solution, 0 if
    there is none.
    """

    case: Case
    expected: float | None
    most_similar: float

    @property
    def surprise(self) -> float | None:
        """The outcome minus the expected outcome; None if one of them is unknown."""
        if self.expected is None or self.case.outcome is None:
            return None
        return self.case.outcome - self.expected


def revise(retrieved: Retrieved, solution: str, outcome: float | None = None) -> Revision:
    """Revise the decision for `solution` in the situation of the retrieved set's target."""
    solutions = retrieved.case_type.solutions
    if solution not in solutions:
        raise NoSuchName("solution", solution, solutions)
    if outcome is not None and not abs(outcome) <= HIGHEST:
        raise BadValue(f"outcome is {outcome}; it must be a finite number up to {HIGHEST:g}")
    code = solutions.index(solution)
    mean = float(retrieved.mean_outcome()[code])
    same = retrieved.similarity[retrieved.counts[:, code] > 0]
    return Revision(
        Case(dict(retrieved.target), solution, outcome),
        None if math.isnan(mean) else mean,
        float(same.max()) if len(same) else 0.0,
    )
