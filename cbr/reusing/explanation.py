"""Explanation: why these cases were retrieved, and why this solution is proposed.

It gives the local similarity of every feature of each retrieved case with its contribution to the
whole, and as evidence against the proposal the nearest case with another solution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from cbr.case import CaseType, Solution, Value
from cbr.measure import Bound
from cbr.retrieval.index.base import Reach
from cbr.retrieval.ranking import TOLERANCE
from cbr.retrieval.retrieved import Retrieved
from cbr.reusing.hidden_solutions import HiddenSolutions
from cbr.reusing.intervals import Interval
from cbr.reusing.proposal import Proposal
from cbr.spec import Spec
from cbr.store.casebase import Casebase
from cbr.store.decisions import Decision

#: Up to this many solutions, all are shown.
_FEW = 6


@dataclass(frozen=True)
class Neighbour:
    """A retrieved vector: its cases by solution, and its similarity by feature.

    `values` are the indexed features that it has, `also` the other features of its first case, if
    they were read. `local` is the similarity in each feature (None if it is not compared: the
    target does not give it, or the case lacks it and the rule is to ignore it), `contribution` its
    part of the whole similarity; contributions sum to `similarity`. `numbers` are the solutions of
    its cases where these are numbers; `cases` is empty then.
    """

    similarity: float
    share: float
    cases: dict[str, int]
    case_ids: list[int]
    mean_outcome: float | None
    values: dict[str, Value]
    also: dict[str, Value]
    local: dict[str, float | None]
    contribution: dict[str, float]
    numbers: list[float] = field(default_factory=list)

    @property
    def is_alike(self) -> bool:
        """Whether its similarity is above 0, rounded to the six digits used in ranking."""
        return round(self.similarity, 6) > 0

    @property
    def solutions(self) -> list[str]:
        """Its solutions as text, with the number of cases unless it is a single case."""
        if self.numbers:
            least, most = min(self.numbers), max(self.numbers)
            return [f"{least:,.6g}" if least == most else f"{least:,.6g} to {most:,.6g}"]
        alone = sum(self.cases.values()) == 1
        return [name if alone else f"{count} {name}" for name, count in self.cases.items()]


@dataclass(frozen=True)
class Explanation:
    """A query's complete answer, in plain values that JSON can represent.

    `lacking` are allowed solutions that no case has, with their rates among all decisions.
    `decision` is the actual decision, if the target is one of the casebase. `fallback` is the
    threshold of the policy if no case exceeds it, so that the nearest were retrieved instead.
    `allowed` are the solutions that could be proposed. `missing` is the rule for each feature that
    cases of the stage lack. `labels` are what people call features, the solution and the outcome,
    with units, where that is not their name. A number has an `interval`, unless too few cases are
    known, and a `unit`; it has no probabilities.
    """

    stage: str
    target: dict[str, Value]
    unknown: list[str]
    weights: dict[str, float]
    similarities: dict[str, str]
    policy: str
    retrieved_cases: float
    retrieved_vectors: int
    neighbours: list[Neighbour]
    probabilities: dict[str, float]
    mean_outcome: dict[str, float | None]
    mean_value: dict[str, float | None]
    solution: Solution
    reason: str
    nearest_other: Neighbour | None
    lacking: dict[str, float]
    decision: Decision | None
    allowed: list[str]
    fallback: float | None = None
    missing: dict[str, str] = field(default_factory=dict)
    interval: Interval | None = None
    unit: str = ""
    labels: dict[str, str] = field(default_factory=dict)

    def label(self, name: str) -> str:
        """What people call a feature, the solution or the outcome."""
        return self.labels.get(name, name)

    @property
    def has_outcomes(self) -> bool:
        """Whether an outcome is known of any retrieved case."""
        known = [*self.mean_outcome.values(), *(near.mean_outcome for near in self.neighbours)]
        return any(outcome is not None for outcome in known)

    @property
    def numeric(self) -> bool:
        return not isinstance(self.solution, str)

    @property
    def alike(self) -> list[Neighbour]:
        """The neighbours with a similarity above 0."""
        return [near for near in self.neighbours if near.is_alike]

    @property
    def worth_showing(self) -> list[str]:
        """Solutions to display: all that are allowed if they are few, else those with a probability
        above 0; and the actual one."""
        done = self.decision.solution if self.decision is not None else None
        few = self.allowed if len(self.probabilities) <= _FEW else ()
        return [
            name for name, p in self.probabilities.items() if name in few or p > 0 or name == done
        ]


def explain(
    retrieved: Retrieved,
    proposal: Proposal,
    most: int = 10,
    base: Casebase | None = None,
    *,
    lacking: HiddenSolutions | None = None,
    decision: Decision | None = None,
) -> Explanation:
    """The answer to a query with up to `most` neighbours in full. Features of these that are not
    compared are read from `base`, if given."""
    retriever, case_type = retrieved.retriever, retrieved.case_type
    names = [feature.name for feature in case_type.indexed]
    specs = [_spec(bound) for bound in retriever.measures]
    solutions = case_type.solutions
    gaps = [(bound.feature.name, bound.gaps) for bound in retriever.measures]
    return Explanation(
        stage=case_type.stage,
        target=dict(retrieved.target),
        unknown=[name for name in names if name not in retrieved.target],
        weights=dict(zip(names, retriever.weights.tolist(), strict=True)),
        similarities=dict(zip(names, specs, strict=True)),
        policy=str(Spec(retriever.policy.name, retriever.policy.settled)),
        retrieved_cases=retrieved.cases,
        retrieved_vectors=len(retrieved.number),
        neighbours=_neighbours(retrieved, most, base),
        probabilities=dict(proposal.probabilities),
        mean_outcome=dict(zip(solutions, map(_known, retrieved.mean_outcome()), strict=False)),
        mean_value=dict(zip(solutions, map(_known, retrieved.mean_value()), strict=False)),
        solution=proposal.solution,
        reason=proposal.reason,
        nearest_other=_nearest_other(retrieved, proposal, base),
        lacking=_rates(lacking, retrieved, proposal),
        decision=decision,
        allowed=list(proposal.allowed),
        fallback=_fallback(retrieved),
        missing={name: each.rule for name, each in gaps if each is not None},
        interval=proposal.interval,
        unit="" if case_type.solution is None else case_type.solution.unit,
        labels=_labels(case_type),
    )


def _spec(bound: Bound) -> str:
    """A measure with its parameters, which may be differences such as 7.9 - 4.3, to 12 digits."""
    parameters = {
        name: _plain(value) if isinstance(value, float) else value
        for name, value in bound.parameters.items()
    }
    return str(Spec(bound.measure.name, parameters))


def _plain(number: float) -> float:
    short = float(f"{number:.12g}")
    return int(short) if short.is_integer() and abs(short) < 1e12 else short


def _labels(case_type: CaseType) -> dict[str, str]:
    labels = {feature.name: feature.heading for feature in case_type.features}
    labels |= {"solution": case_type.solution_heading, "outcome": case_type.outcome_label}
    return {name: label for name, label in labels.items() if label and label != name}


def _fallback(retrieved: Retrieved) -> float | None:
    above = retrieved.retriever.policy.looks.above
    # The reach of a policy without a threshold has one above 1 or below 0.
    short = len(retrieved.number) and retrieved.similarity[0] <= above - TOLERANCE
    return float(above) if short and above <= 1.0 else None


def _rates(
    lacking: HiddenSolutions | None, retrieved: Retrieved, proposal: Proposal
) -> dict[str, float]:
    if lacking is None:
        return {}
    hidden = lacking.in_situation(retrieved.target)
    rates = zip(lacking.solutions, hidden.rates.tolist(), strict=True)
    return {name: rate for name, rate in rates if name in proposal.allowed}


def _neighbours(retrieved: Retrieved, most: int, base: Casebase | None) -> list[Neighbour]:
    vectors, case_type = retrieved.vectors, retrieved.case_type
    names = [feature.name for feature in case_type.indexed]
    number = retrieved.number[:most]
    local = retrieved.retriever.local(retrieved.target, number)
    _, weights = retrieved.retriever.encode(retrieved.target)
    counted = (weights * ~np.isnan(local)).sum(axis=1)
    parts = np.nan_to_num(local) * weights / np.where(counted > 0.0, counted, 1.0)[:, None]
    solutions = case_type.solutions or [""]  # a number has no name
    found = []
    for place, vector in enumerate(number):
        total, known = vectors.outcome_sum[vector].sum(), vectors.outcome_count[vector].sum()
        values = zip(case_type.indexed, vectors.values[vector].tolist(), strict=True)
        span = slice(vectors.start[vector], vectors.start[vector + 1])
        numbers = None if vectors.case_numbers is None else vectors.case_numbers[span]
        found.append(
            Neighbour(
                similarity=float(retrieved.similarity[place]),
                share=float(retrieved.share[place]),
                cases={
                    name: int(count)
                    for name, count in zip(solutions, vectors.counts[vector], strict=True)
                    if count and name
                },
                case_ids=retrieved.case_ids(place).tolist(),
                mean_outcome=float(total / known) if known else None,
                values={f.name: f.decode(code) for f, code in values if not math.isnan(code)},
                also=_also(base, retrieved, place),
                local=dict(zip(names, map(_known, local[place]), strict=True)),
                contribution=dict(zip(names, parts[place].tolist(), strict=True)),
                numbers=[] if numbers is None else numbers.tolist(),
            )
        )
    return found


def _also(base: Casebase | None, retrieved: Retrieved, place: int) -> dict[str, Value]:
    unindexed = [feature.name for feature in retrieved.case_type.unindexed]
    if base is None or not unindexed:
        return {}
    case = next(base.cases(retrieved.case_type.stage, retrieved.case_ids(place)[:1].tolist()))
    return {name: case.values[name] for name in unindexed if name in case.values}


def _nearest_other(
    retrieved: Retrieved, proposal: Proposal, base: Casebase | None
) -> Neighbour | None:
    """The nearest vector most of whose cases have another (allowed) solution; of numbers, the
    retrieved one that is furthest from the proposed number."""
    if not isinstance(proposal.solution, str):
        return _furthest(retrieved, proposal.solution, base)
    retriever, solutions = retrieved.retriever, retrieved.case_type.solutions
    allowed = np.array([name in proposal.allowed for name in solutions])
    allowed[solutions.index(proposal.solution)] = False
    # It is usually near, and ranking all cases is slow.
    for cases in (100, 2_000, math.inf):
        ranking = retriever.rank(retrieved.target, Reach(2.0, fallback=cases))
        counts = retrieved.vectors.counts[ranking.number]
        other = np.flatnonzero(allowed[counts.argmax(axis=1)])
        if len(other):
            break
    else:
        return None
    one = ranking.number[other[:1]], ranking.similarity[other[:1]], np.ones(1)
    return _neighbours(Retrieved(retriever, retrieved.target, *one), 1, base)[0]


def _furthest(retrieved: Retrieved, value: float, base: Casebase | None) -> Neighbour | None:
    vectors = retrieved.vectors
    assert vectors.case_numbers is not None
    off = np.maximum.reduceat(np.abs(vectors.case_numbers - value), vectors.start[:-1])
    at = [int(off[retrieved.number].argmax())]
    if off[retrieved.number[at[0]]] <= 1e-9 * abs(value):
        return None
    one = retrieved.number[at], retrieved.similarity[at], np.ones(1)
    return _neighbours(Retrieved(retrieved.retriever, retrieved.target, *one), 1, base)[0]


def _known(number: float) -> float | None:
    return None if math.isnan(number) else float(number)
