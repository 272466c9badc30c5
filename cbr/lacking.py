"""Solutions that no case has although they are taken: how often, from what everybody could see.

Where a log shows private features only of some decisions, a solution may be missing among the known
ones: nobody shows the cards that he folds. Imitation of the known ones would then never take it.
How often it is taken in a situation is known from all decisions, by the features that all could
see. That rate does not depend on the private features, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbr.case import Value
from cbr.casebase import Casebase
from cbr.index import Scan
from cbr.retrieve import Retriever
from cbr.vectors import Floats, Ints


@dataclass(frozen=True, eq=False)
class Lacking:
    """Codes of solutions that the cases of a stage lack, and a retriever over all decisions."""

    solutions: tuple[str, ...]
    codes: Ints
    everybody: Retriever

    def rates(self, target: Mapping[str, Value]) -> Floats:
        """How often each lacking solution is taken in situations that look like this one."""
        public = {f.name for f in self.everybody.vectors.case_type.indexed}
        seen = self.everybody({name: value for name, value in target.items() if name in public})
        rates: Floats = seen.taken[self.codes] / max(seen.cases, 1e-300)
        return rates

    def added(
        self, probability: Floats, target: Mapping[str, Value], allowed: NDArray[np.bool_]
    ) -> tuple[Floats, str]:
        """Chances with the lacking solutions among them, and a part of a sentence about it."""
        rates = self.rates(target) * allowed[self.codes]
        found = probability * (1.0 - rates.sum())
        found[self.codes] = rates
        told = ", ".join(f"{s} {r:.0%}" for s, r in zip(self.solutions, rates, strict=True))
        return found, (
            f"; no case has {' or '.join(self.solutions)}, so how often that is done ({told}) is "
            f"taken from all decisions that look alike, whatever was hidden"
        )


def lacking_in(base: Casebase, mine: Retriever) -> Lacking | None:
    """What the cases of a retriever's stage lack; None if that is nothing."""
    case_type = mine.vectors.case_type
    stage = case_type.stage
    solutions = tuple(
        name
        for code, name in enumerate(case_type.solutions)
        if not mine.vectors.counts[:, code].any() and base.has_hidden_solution(stage, name)
    )
    if not solutions:
        return None
    vectors = base.read_public(stage).vectors()
    seen = [place for place, f in enumerate(case_type.indexed) if not f.private]
    weights = mine.weights[seen]
    if not weights.any():
        weights = np.ones(len(seen))
    measures = [mine.measures[place] for place in seen]
    codes = np.array([case_type.solutions.index(name) for name in solutions])
    everybody = Retriever(vectors, measures, weights, mine.policy, Scan(vectors, measures))
    return Lacking(solutions, codes, everybody)
