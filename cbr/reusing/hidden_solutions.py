"""Hidden solutions: solutions that decisions take although no case has them.

A log may show the private features of some decisions only, so a solution may be missing from the
cases: folded cards are never shown, so no case folds. Imitating the cases would then never choose
it. Its rate in a situation is therefore estimated from all decisions, by their public features
alone; it does not depend on the private features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cbr.case import Feature, Value
from cbr.retrieval.index.base import Scan
from cbr.retrieval.retrieved import Evidence
from cbr.retrieval.retriever import Retriever
from cbr.store.casebase import Casebase
from cbr.typing import Flags, Floats, Ints

E = TypeVar("E", bound=Evidence)


class HiddenRates(NamedTuple):
    """How often hidden solutions are taken: their codes [k], and `rates` [k] for one situation or
    [q, k] for many. In the methods, `chances` and `allowed` are [s] or [q, s]."""

    codes: Ints
    rates: Floats

    def added_to(self, chances: Floats, allowed: Flags) -> Floats:
        """Chances in which these solutions have their rates, and the others share the rest."""
        rates = self.rates * allowed[..., self.codes]
        found = chances.copy()
        found[..., self.codes] = 0.0
        rest = found.sum(axis=-1, keepdims=True)
        found *= (1.0 - rates.sum(axis=-1, keepdims=True)) / np.where(rest > 0.0, rest, 1.0)
        found[..., self.codes] = rates
        total = found.sum(axis=-1, keepdims=True)  # 1, or less if nothing else is allowed
        return np.where(total > 0.0, found / np.where(total > 0.0, total, 1.0), chances)

    def among(self, evidence: E, allowed: Flags) -> E:
        """Evidence in which these solutions count as taken at their rates. Where no case has an
        allowed solution, all allowed solutions count as taken equally often."""
        taken = evidence.taken
        cases = taken.sum(axis=-1, keepdims=True)
        even = allowed / np.maximum(allowed.sum(axis=-1, keepdims=True), 1)
        shares = np.where(cases > 0.0, taken / np.where(cases > 0.0, cases, 1.0), even)
        return evidence.with_taken(self.added_to(shares, allowed) * np.maximum(cases, 1.0))


@dataclass(frozen=True, eq=False)
class HiddenSolutions:
    """The hidden solutions of a stage with their codes, and a retriever over all decisions, by the
    public features. `indexed` are all features of the stage."""

    solutions: tuple[str, ...]
    codes: Ints
    all_decisions: Retriever
    indexed: Sequence[Feature]

    def in_situation(self, target: Mapping[str, Value]) -> HiddenRates:
        """How often each hidden solution is taken in situations similar to this one."""
        indexed = self.all_decisions.vectors.case_type.indexed
        weighty = zip(indexed, self.all_decisions.weights, strict=True)
        compared = {feature.name for feature, weight in weighty if weight}
        taken = self.all_decisions.vectors.counts.sum(0)
        if compared & target.keys():  # else all decisions are equally similar
            seen = {f.name: target[f.name] for f in indexed if f.name in target}
            taken = self.all_decisions(seen).taken
        return self._hidden(taken)

    def in_many(self, targets: NDArray[np.float32], weights: Floats | None = None) -> HiddenRates:
        """`in_situation` for many targets [q, d], optionally with `weights` [q, d] of their own.
        Columns are all features of the stage; private ones are ignored."""
        seen = [place for place, f in enumerate(self.indexed) if not f.private]
        if weights is not None:
            weights = weights[:, seen]
            # If no public feature has a weight, all have the same.
            weights = np.where(weights.any(axis=1, keepdims=True), weights, 1.0)
        return self._hidden(self.all_decisions.many(targets[:, seen], weights).taken)

    def _hidden(self, taken: Floats) -> HiddenRates:
        total = np.maximum(taken.sum(axis=-1, keepdims=True), 1e-300)
        return HiddenRates(self.codes, taken[..., self.codes] / total)

    def in_words(self, hidden: HiddenRates, allowed: Flags) -> str:
        """The rates in one situation, as the end of a sentence."""
        known = zip(self.solutions, self.codes, hidden.rates, strict=True)
        rates = {name: rate for name, code, rate in known if allowed[code]}
        listed = ", ".join(f"{name} {rate:.0%}" for name, rate in rates.items())
        return (
            f"; no case has {' or '.join(rates)}, so its rate ({listed}) is estimated from all "
            f"decisions in similar situations, hidden ones included"
        )


def hidden_solutions_of(
    base: Casebase, mine: Retriever, without: int | None = None
) -> HiddenSolutions | None:
    """The hidden solutions of a retriever's stage; None if there are none.

    The record `without` is left out, because one of its decisions is to be predicted.
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
    all_decisions = Retriever(vectors, measures, weights, mine.policy, Scan(vectors, measures))
    return HiddenSolutions(solutions, np.array(codes), all_decisions, case_type.indexed)
