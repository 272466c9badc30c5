"""Reuse policies: from retrieved cases to a proposal, a probability for each solution.

A reuse policy returns a score of 0 or more for each solution; the engine removes solutions that are
not allowed and normalises the rest to probabilities.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from cbr.case import Solution
from cbr.errors import BadValue, EmptyStage, NoSuchName, PluginFailure
from cbr.plugging.plugins import Plugins, default_plugins
from cbr.retrieval.index.base import NearestVectors
from cbr.retrieval.retrieved import Evidence, EvidenceForMany, Retrieved, RetrievedMany
from cbr.reusing.hidden_solutions import HiddenRates, HiddenSolutions
from cbr.reusing.intervals import LEVEL, Interval, intervals
from cbr.reusing.numbers import expected, near_numbers
from cbr.reusing.policies import ReusePolicy, chosen_policy, reuse_policy
from cbr.spec import Spec
from cbr.store.definitions import possible_solutions
from cbr.typing import Flags, Floats

E = TypeVar("E", bound=Evidence)

_NOTHING_ALLOWED = "no retrieved case has an allowed solution, so all are equally likely"


@reuse_policy("proportional", batched=True)
def proportional(retrieved: Evidence) -> Floats:
    """Each solution in proportion to the retrieved cases that have it."""
    return retrieved.taken


@reuse_policy("majority", batched=True)
def majority(retrieved: Evidence) -> Floats:
    """The most frequent solution; several equally frequent ones share."""
    return _highest(retrieved.taken)


@reuse_policy("similarity-weighted", batched=True)
def similarity_weighted(retrieved: Evidence) -> Floats:
    """Each solution in proportion to its retrieved cases, weighted by their similarity; where none
    is similar at all, `proportional`."""
    weighted = retrieved.weighted
    return np.where(weighted.sum(axis=-1, keepdims=True) > 1e-12, weighted, retrieved.taken)


@reuse_policy("best-outcome", batched=True)
def best_outcome(retrieved: Evidence) -> Floats:
    """The solution with the highest mean outcome; `proportional` where no outcome is known."""
    if not retrieved.vectors.outcome_count.any():
        raise BadValue("no case has a known outcome; choose a reuse policy that needs none")
    mean = retrieved.mean_outcome()
    return np.where(_unknown(mean), retrieved.taken, _highest(mean))


@reuse_policy("outcome-weighted", batched=True)
def outcome_weighted(retrieved: Evidence, temperature: float = 2.0) -> Floats:
    """Each solution in proportion to its cases times e^(mean outcome / `temperature`)."""
    if not temperature > 0:
        raise BadValue(f"temperature is {temperature}; it must be above 0")
    mean = retrieved.mean_outcome() / temperature
    # A solution without a known outcome is treated as having outcome 0.
    mean = np.where(np.isnan(mean), 0.0, mean)
    weighted: Floats = retrieved.taken * np.exp(mean - mean.max(axis=-1, keepdims=True))
    return weighted


@reuse_policy("best-value", batched=True, by_value=True)
def best_value(retrieved: Evidence, imitate: float = 0.0) -> Floats:
    """The solution with the highest estimated value; with probability `imitate`, `proportional`.

    Values of solutions are estimates (labels), not the outcomes of single cases. Where no solution
    has a value, it is `proportional`.
    """
    if not 0.0 <= imitate <= 1.0:
        raise BadValue(f"imitate is {imitate}; it must be between 0 and 1")
    if retrieved.vectors.estimates is None:
        raise BadValue("no case has estimated values; label the cases, or choose another policy")
    mean, taken = retrieved.mean_value(), retrieved.taken
    shares = taken / np.maximum(taken.sum(axis=-1, keepdims=True), 1e-300)
    best = _highest(mean)
    mixed: Floats = (1.0 - imitate) * best / best.sum(axis=-1, keepdims=True) + imitate * shares
    return np.where(_unknown(mean), shares, mixed)


def _unknown(mean: Floats) -> Flags:
    """Whether the mean of every solution is unknown, [1] or [q, 1]."""
    return np.asarray(np.isnan(mean).all(axis=-1, keepdims=True))


def _highest(scores: Floats) -> Floats:
    """1 for each solution with the highest score."""
    filled = np.where(np.isnan(scores), -np.inf, scores)
    highest: Floats = (filled == filled.max(axis=-1, keepdims=True)).astype(np.float64)
    return highest


@dataclass(frozen=True)
class Proposal:
    """The `probabilities` by solution, the most probable solution, and the reason in a sentence.

    Of equally probable solutions, the one with the highest mean outcome is proposed. A number has
    no probabilities, but an `interval`, unless too few cases are known.
    """

    probabilities: Mapping[str, float]
    solution: Solution
    reason: str
    allowed: Collection[str]
    interval: Interval | None = None

    def draw(self, rng: np.random.Generator) -> str:
        """A solution drawn by its probability."""
        if not self.probabilities:
            raise BadValue("a number has no probability, so none can be drawn")
        return str(rng.choice(list(self.probabilities), p=list(self.probabilities.values())))


def reuse(
    retrieved: Retrieved,
    policy: str = "",
    *,
    allowed: Collection[str] | None = None,
    lacking: HiddenSolutions | None = None,
    plugins: Plugins | None = None,
) -> Proposal:
    """Propose a solution from the retrieved cases: one of `allowed`, by default of those that are
    possible in the target's situation by its case type (`CaseType.possible`).

    `lacking` are the stage's hidden solutions: they get their rate among all decisions. Where
    solutions are numbers, the proposal is a number with its interval.
    """
    case_type = retrieved.case_type
    spec = Spec.parse(policy or case_type.reuse)
    plugins = plugins or default_plugins()
    chosen = chosen_policy(case_type, policy, plugins)
    if chosen.numeric:
        return _number(retrieved, chosen, allowed)
    if allowed is None:
        allowed = possible_solutions(case_type, retrieved.target, plugins)
    for name in allowed:
        if name not in case_type.solutions:
            raise NoSuchName("solution", name, case_type.solutions)
    _verify_some(retrieved)
    legal = np.array([name in allowed for name in case_type.solutions])
    if not legal.any():
        raise BadValue("no solution is allowed")
    retrieved = retrieved.allowing(legal)
    hidden = None
    if lacking is not None and legal[lacking.codes].any():
        hidden = lacking.in_situation(retrieved.target)
    shown, late = _shown(chosen, retrieved, legal, hidden)
    scored = bool(_can_score(chosen, shown).all())
    probability = _probabilities(chosen, shown, legal) if scored else legal / legal.sum()
    reason = _reason(retrieved, spec) if scored else _NOTHING_ALLOWED
    if hidden is not None and lacking is not None:
        probability = np.where(late, hidden.added_to(probability, legal), probability)
        reason += lacking.in_words(hidden, legal)
    first = np.flatnonzero(probability >= probability.max() - 1e-9)
    mean = np.nan_to_num(retrieved.mean_outcome()[first], nan=-np.inf)
    best = int(first[mean.argmax()])
    tied = [case_type.solutions[i] for i in first.tolist() if i != best]
    if tied:
        reason += f"; tied with {', '.join(tied)}"
    shares = dict(zip(case_type.solutions, probability.tolist(), strict=True))
    may = tuple(name for name, good in zip(case_type.solutions, legal, strict=True) if good)
    return Proposal(shares, case_type.solutions[best], reason, may)


def _verify_some(retrieved: Retrieved) -> None:
    if not len(retrieved.number):
        raise EmptyStage("no case was retrieved, so there is nothing to reuse; widen the retrieval")


def _number(retrieved: Retrieved, policy: ReusePolicy, allowed: Collection[str] | None) -> Proposal:
    """The number that a policy expects for one target, with its interval."""
    if allowed:
        raise BadValue("solutions are numbers, so none can be allowed by name")
    _verify_some(retrieved)
    mine = retrieved.retriever
    codes, weights = mine.encode(retrieved.target)
    size = np.array([0, len(retrieved.number)])
    found = NearestVectors(size, retrieved.number, retrieved.similarity, retrieved.share)
    near, _ = near_numbers(mine, codes[None], weights[None], found)
    value = expected(policy, near)
    low, high, cases = intervals(mine, policy, near, value, weights)
    known = not np.isnan(low[0])
    interval = Interval(float(low[0]), float(high[0]), LEVEL, cases) if known else None
    least, most = near.number.min(), near.number.max()
    many = f"{retrieved.cases:.4g} retrieved case" + ("" if retrieved.cases == 1 else "s")
    reason = f"{policy.name} over {many}, from {least:.6g} to {most:.6g}"
    if interval is None:
        reason += "; too few cases are known for an interval"
    return Proposal({}, float(value[0]), reason, (), interval)


class Numbers(NamedTuple):
    """The number expected for each target, and the ends of its interval, [q]: NaN where no case was
    retrieved, or too few are known for intervals."""

    value: Floats
    low: Floats
    high: Floats


def reuse_numbers(
    retrieved: RetrievedMany,
    policy: str = "",
    *,
    level: float | None = LEVEL,
    plugins: Plugins | None = None,
) -> Numbers:
    """The numbers expected for many targets, with intervals that hold the true number with the
    probability `level` (None: without intervals, which take time). For intervals targets are taken
    to lack features as cases do."""
    if level is not None and not 0.0 < level < 1.0:
        raise BadValue(f"the level of intervals is {level}; it must be between 0 and 1")
    chosen, mine = chosen_policy(retrieved.case_type, policy, plugins), retrieved.retriever
    found = NearestVectors(retrieved.start, retrieved.number, retrieved.similarity, retrieved.share)
    near, some = near_numbers(mine, retrieved.codes, retrieved.weights, found)
    value = expected(chosen, near)
    parts = np.full((3, len(retrieved)), np.nan)
    parts[0, some] = value
    if level is not None:
        parts[1:, some] = intervals(mine, chosen, near, value, mine.weights, level)[:2]
    return Numbers(*parts)


def _shown(
    policy: ReusePolicy, evidence: E, legal: Flags, hidden: HiddenRates | None
) -> tuple[E, Flags]:
    """The evidence for a policy, and whether hidden solutions get their rates only afterwards, [1]
    or [q, 1]. For a policy `by_value` the evidence includes them where their value is known."""
    if hidden is None or not policy.by_value:
        return evidence, np.ones(1, np.bool_)
    unknown = np.isnan(evidence.mean_value()) & legal
    late = np.asarray(unknown[..., hidden.codes].any(axis=-1, keepdims=True))
    some = hidden._replace(rates=hidden.rates * ~late)
    return some.among(evidence, legal), late


def _can_score(policy: ReusePolicy, evidence: Evidence) -> Flags:
    """Whether a policy can score an allowed solution from the evidence; [q] for many targets."""
    can: Flags = np.asarray(evidence.taken.any(axis=-1))
    if policy.by_value and not can.all():
        can = can | ~_unknown(evidence.mean_value())[..., 0]
    return can


def reuse_many(
    retrieved: EvidenceForMany,
    policy: str = "",
    *,
    allowed: Flags | None = None,
    hidden: HiddenRates | None = None,
    plugins: Plugins | None = None,
) -> Floats:
    """The probability of each solution for each target, [q, s]; `allowed` is [q, s] if given.

    `hidden` are the rates of hidden solutions in each situation. Where no retrieved case has an
    allowed solution, all allowed solutions are equally likely. For numbers there is
    `reuse_numbers`.
    """
    if retrieved.case_type.numeric:
        raise BadValue(f"solutions of {retrieved.case_type.name!r} are numbers: reuse_numbers()")
    chosen = chosen_policy(retrieved.case_type, policy, plugins)
    shape = (len(retrieved), len(retrieved.case_type.solutions))
    legal = np.ones(shape, bool) if allowed is None else np.broadcast_to(allowed, shape)
    if not legal.any(axis=1).all():
        raise BadValue(f"target {np.flatnonzero(~legal.any(axis=1))[0]} has no allowed solution")
    shown, late = _shown(chosen, retrieved.allowing(legal), legal, hidden)
    found = _chances(chosen, shown, legal)
    if hidden is not None:
        found = np.where(late, hidden.added_to(found, legal), found)
    return found


def _chances(policy: ReusePolicy, evidence: EvidenceForMany, legal: Flags) -> Floats:
    """Probabilities [q, s] by a policy; equal ones where it cannot score any allowed solution."""
    some = np.flatnonzero(_can_score(policy, evidence))
    if policy.batched and len(some) == len(evidence):
        return _probabilities(policy, evidence, legal)
    found: Floats = legal / legal.sum(axis=1, keepdims=True)
    for place in some.tolist():
        found[place] = _probabilities(policy, evidence[place], legal[place])
    return found


def _probabilities(policy: ReusePolicy, evidence: Evidence, legal: Flags) -> Floats:
    """A policy's scores normalised over the legal solutions, [s] or [q, s]."""
    scores: Floats = policy(evidence)
    if scores.shape != legal.shape or not (np.isfinite(scores) & (scores >= 0)).all():
        raise PluginFailure(
            f"reuse policy {policy.name!r} must return a finite score of 0 or more for each of the "
            f"{legal.shape[-1]} solutions"
        )
    scores = scores * legal
    if not scores.any(axis=-1).all():
        raise PluginFailure(
            f"reuse policy {policy.name!r} gave every allowed solution a score of 0"
        )
    scores = scores / scores.max(axis=-1, keepdims=True)  # sums of huge scores would overflow
    shares: Floats = scores / scores.sum(axis=-1, keepdims=True)
    return shares


def _reason(retrieved: Retrieved, spec: Spec) -> str:
    taken = retrieved.taken
    names = retrieved.case_type.solutions
    counts = ", ".join(f"{taken[i]:.4g} {names[i]}" for i in np.argsort(-taken) if taken[i])
    if not counts:
        return f"{spec.name} by values alone: no retrieved case has an allowed solution"
    cases = f"{retrieved.cases:.4g} retrieved case" + ("" if retrieved.cases == 1 else "s")
    return f"{spec.name} over {cases}: {counts}"
