"""Reuse policies: from retrieved cases to a proposal, a probability for each solution.

A reuse policy returns a score of 0 or more for each solution; the engine removes solutions that are
not allowed and normalises the rest to probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from cbr.errors import BadValue, EmptyStage, NoSuchName, PluginFailure
from cbr.marks import mark
from cbr.plugging.plugins import Plugins, default_plugins
from cbr.plugging.policy import Policy
from cbr.retrieval.retrieved import Evidence, EvidenceForMany, Retrieved
from cbr.reusing.hidden_solutions import HiddenRates, HiddenSolutions
from cbr.spec import Spec
from cbr.store.definitions import possible_solutions
from cbr.typing import Flags, Floats

F = TypeVar("F", bound=Callable[..., Any])
E = TypeVar("E", bound=Evidence)

_NOTHING_ALLOWED = "no retrieved case has an allowed solution, so all are equally likely"


@dataclass(frozen=True)
class ReusePolicy(Policy):
    """Turns retrieved cases into a score for each solution of the case type, [s].

    Its argument is a `Retrieved`. A `batched` policy uses only attributes of `Evidence`, and so can
    score many targets at once, [q, s]. A policy `by_value` is also applied where no retrieved case
    has an allowed solution, if the value of an allowed one is known.
    """

    batched: bool = False
    by_value: bool = False

    kind: ClassVar[str] = "reuse policy"


def reuse_policy(name: str, *, batched: bool = False, by_value: bool = False) -> Callable[[F], F]:
    """Make ``f(retrieved, **parameters) -> scores`` a reuse policy of this name."""

    return mark(lambda function: ReusePolicy(name, function, batched=batched, by_value=by_value))


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
    """Each solution in proportion to its retrieved cases, weighted by their similarity."""
    return retrieved.weighted


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

    Of equally probable solutions, the one with the highest mean outcome is proposed.
    """

    probabilities: Mapping[str, float]
    solution: str
    reason: str
    allowed: Collection[str]

    def draw(self, rng: np.random.Generator) -> str:
        """A solution drawn by its probability."""
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

    `lacking` are the stage's hidden solutions: they get their rate among all decisions.
    """
    case_type = retrieved.case_type
    spec = Spec.parse(policy or case_type.reuse)
    plugins = plugins or default_plugins()
    chosen = plugins.get("reuse policy", spec.name).bind(spec)
    if allowed is None:
        allowed = possible_solutions(case_type, retrieved.target, plugins)
    for name in allowed:
        if name not in case_type.solutions:
            raise NoSuchName("solution", name, case_type.solutions)
    if not len(retrieved.number):
        raise EmptyStage("no case was retrieved, so there is nothing to reuse; widen the retrieval")
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
    allowed solution, all allowed solutions are equally likely.
    """
    spec = Spec.parse(policy or retrieved.case_type.reuse)
    chosen = (plugins or default_plugins()).get("reuse policy", spec.name).bind(spec)
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
