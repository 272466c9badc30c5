"""Solutions that no case has although they are taken: how often, from what everybody could see.

Where a log shows private features only of some decisions, a solution may be missing among the known
ones: nobody shows the cards that he folds. Imitation of the known ones would then never take it.
How often it is taken in a situation is known from all decisions, by the features that all could
see. That rate does not depend on the private features, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbr.case import Feature, Value
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
    indexed: Sequence[Feature]

    def rates(self, target: Mapping[str, Value]) -> Floats:
        """How often each lacking solution is taken in situations that look like this one."""
        indexed = self.everybody.vectors.case_type.indexed
        weighty = zip(indexed, self.everybody.weights, strict=True)
        compared = {feature.name for feature, weight in weighty if weight}
        taken = self.everybody.vectors.counts.sum(0)
        if compared & target.keys():  # else all look alike
            seen = {f.name: target[f.name] for f in indexed if f.name in target}
            taken = self.everybody(seen).taken
        rates: Floats = taken[self.codes] / max(float(taken.sum()), 1e-300)
        return rates

    def added_to(
        self,
        chances: Floats,
        targets: NDArray[np.float32],
        allowed: NDArray[np.bool_],
        weights: Floats | None = None,
    ) -> Floats:
        """`added` for many targets: chances and `allowed` [q, s], targets and their own `weights`
        (if any) [q, d] as the stage has them, with the private features that do not count here."""
        seen = [place for place, f in enumerate(self.indexed) if not f.private]
        if weights is not None:
            weights = weights[:, seen]
            # Who compares nothing that all can see compares everything of it.
            weights = np.where(weights.any(axis=1, keepdims=True), weights, 1.0)
        taken = self.everybody.many(targets[:, seen], weights).taken
        rates = taken[:, self.codes] / np.maximum(taken.sum(axis=1, keepdims=True), 1e-300)
        rates = rates * allowed[:, self.codes]
        found = chances.copy()
        found[:, self.codes] = 0.0
        rest = found.sum(axis=1, keepdims=True)
        only = (rest == 0.0)[:, 0]  # nothing else is allowed
        found *= (1.0 - rates.sum(axis=1, keepdims=True)) / np.where(rest > 0.0, rest, 1.0)
        found[:, self.codes] = rates
        some = only & rates.any(axis=1)
        found[some] /= found[some].sum(axis=1, keepdims=True)
        found[only & ~some] = chances[only & ~some]
        return found

    def added(
        self, probability: Floats, target: Mapping[str, Value], allowed: NDArray[np.bool_]
    ) -> tuple[Floats, str]:
        """Chances with the lacking solutions among them, and a part of a sentence about it."""
        may = np.flatnonzero(allowed[self.codes])
        codes, rates = self.codes[may], self.rates(target)[may]
        names = [self.solutions[place] for place in may]
        told = ", ".join(f"{s} {r:.0%}" for s, r in zip(names, rates, strict=True))
        found = probability.copy()
        found[codes] = 0.0
        if found.any():
            found *= (1.0 - rates.sum()) / found.sum()
            found[codes] = rates
        elif rates.any():  # nothing else is allowed
            found[codes] = rates / rates.sum()
        else:
            found = probability
        return found, (
            f"; no case has {' or '.join(names)}, so how often that is done ({told}) is "
            f"taken from all decisions that look alike, whatever was hidden"
        )


def lacking_in(base: Casebase, mine: Retriever, without: int | None = None) -> Lacking | None:
    """What the cases of a retriever's stage lack; None if that is nothing.

    The record `without` is left out, as where a decision of it is asked for.
    """
    case_type = mine.vectors.case_type
    stage = case_type.stage
    codes = [
        code
        for code, name in enumerate(case_type.solutions)
        if not mine.vectors.counts[:, code].any() and base.has_hidden_solution(stage, name)
    ]
    seen = [place for place, f in enumerate(case_type.indexed) if not f.private]
    if not codes or not seen:
        return None
    everything = base.read_public(stage)
    if without is not None:
        everything = everything.take(everything.record != without)
        codes = [code for code in codes if (everything.solution == code).any()]
        if not codes:
            return None
    vectors = everything.vectors()
    weights = mine.weights[seen]
    if not weights.any():
        weights = np.ones(len(seen))
    measures = [mine.measures[place] for place in seen]
    solutions = tuple(case_type.solutions[code] for code in codes)
    everybody = Retriever(vectors, measures, weights, mine.policy, Scan(vectors, measures))
    return Lacking(solutions, np.array(codes), everybody, case_type.indexed)
