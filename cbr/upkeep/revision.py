"""Revise: compare the outcome of a decision with the expected outcome.

The expected outcome is the mean of the retrieved cases with the same solution. Where solutions are
numbers, it is the number itself that was expected, by the reuse policy of the case type.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from cbr.case import Case, Solution
from cbr.checks import HIGHEST
from cbr.errors import BadValue
from cbr.retrieval.retrieved import Retrieved
from cbr.reusing.proposal import reuse


@dataclass(frozen=True)
class Revision:
    """A decision as a case, and the expectation from its neighbours.

    `expected` is the mean outcome of the retrieved cases with the same solution, None if there is
    none; or the number that they make expected. `most_similar` is the similarity of the nearest
    retrieved case with that solution (of numbers: with any), 0 if there is none.
    """

    case: Case
    expected: float | None
    most_similar: float

    @property
    def surprise(self) -> float | None:
        """The outcome (or the number) minus the expected one; None if one of them is unknown."""
        actual = self.case.outcome if isinstance(self.case.solution, str) else self.case.solution
        return None if self.expected is None or actual is None else actual - self.expected


def revise(retrieved: Retrieved, solution: Solution, outcome: float | None = None) -> Revision:
    """Revise the decision for `solution` in the situation of the retrieved set's target."""
    solutions = retrieved.case_type.solutions
    solution = retrieved.case_type.read_solution(solution)
    if outcome is not None and not abs(outcome) <= HIGHEST:
        raise BadValue(f"outcome is {outcome}; it must be a finite number up to {HIGHEST:g}")
    case = Case(dict(retrieved.target), solution, outcome)
    if not isinstance(solution, str):
        some = len(retrieved.number) > 0
        value = reuse(retrieved).solution if some else None
        nearest = float(retrieved.similarity[0]) if some else 0.0
        return Revision(case, None if value is None else float(value), nearest)
    code = solutions.index(solution)
    mean = float(retrieved.mean_outcome()[code])
    same = retrieved.similarity[retrieved.counts[:, code] > 0]
    return Revision(
        case,
        None if math.isnan(mean) else mean,
        float(same.max()) if len(same) else 0.0,
    )
