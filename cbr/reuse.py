"""Reuse: from retrieved cases to a proposal, a probability for each solution.

A reuse policy gives each solution a score that is 0 or more; the engine leaves out what is not
allowed and makes probabilities of the rest.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from cbr.errors import BadValue, EmptyStage, NoSuchName, PluginFailure
from cbr.plugins import Plugins, default_plugins
from cbr.policy import Policy
from cbr.retrieve import Retrieved
from cbr.spec import Spec
from cbr.vectors import Floats

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class ReusePolicy(Policy):
    """Turns what was retrieved into a score for each solution of the case type, [s]."""

    kind: ClassVar[str] = "reuse policy"


def reuse_policy(name: str) -> Callable[[F], F]:
    """Make ``f(retrieved, **parameters) -> scores`` a reuse policy of this name."""

    def mark(function: F) -> F:
        function.__cbr__ = ReusePolicy(name, function)  # type: ignore[attr-defined]
        return function

    return mark


@reuse_policy("proportional")
def proportional(retrieved: Retrieved) -> Floats:
    """Each solution as often as the retrieved cases took it."""
    shares: Floats = retrieved.counts.sum(0)
    return shares


@reuse_policy("majority")
def majority(retrieved: Retrieved) -> Floats:
    """The commonest solution; equals share."""
    shares = proportional(retrieved)
    first: Floats = (shares == shares.max()).astype(np.float64)
    return first


@reuse_policy("similarity-weighted")
def similarity_weighted(retrieved: Retrieved) -> Floats:
    """Each solution as often as the cases took it, a case counting by its similarity."""
    weighted: Floats = retrieved.similarity @ retrieved.counts
    return weighted


@reuse_policy("best-outcome")
def best_outcome(retrieved: Retrieved) -> Floats:
    """The solution whose cases earned most on average."""
    mean = retrieved.mean_outcome()
    if np.isnan(mean).all():
        raise BadValue(
            "no retrieved case has a known outcome; choose a reuse policy that needs none"
        )
    best: Floats = (mean == np.nanmax(mean)).astype(np.float64)
    return best


@dataclass(frozen=True)
class Proposal:
    """What to do: `probabilities` by solution, the likeliest one, and the reason in a sentence.

    Of solutions that are as likely, the one with the better mean outcome is proposed.
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
    plugins: Plugins | None = None,
) -> Proposal:
    """Propose a solution from what was retrieved; only `allowed` ones, where given."""
    case_type = retrieved.case_type
    spec = Spec.parse(policy or case_type.reuse)
    chosen = (plugins or default_plugins()).get("reuse policy", spec.name).bind(spec)
    for name in allowed or ():
        if name not in case_type.solutions:
            raise NoSuchName("solution", name, case_type.solutions)
    if not len(retrieved.number):
        raise EmptyStage("no case was retrieved, so there is nothing to reuse; widen the retrieval")
    legal = np.array([allowed is None or name in allowed for name in case_type.solutions])
    retrieved = dataclasses.replace(retrieved, allowed=legal)
    if retrieved.counts.any():
        probability = _probabilities(chosen, retrieved)
        reason = _reason(retrieved, spec)
    else:
        probability = legal / legal.sum()
        reason = "no retrieved case has an allowed solution, so each is as likely"
    first = np.flatnonzero(probability >= probability.max() - 1e-9)
    mean = np.nan_to_num(retrieved.mean_outcome()[first], nan=-np.inf)
    best = int(first[mean.argmax()])
    tied = [case_type.solutions[i] for i in first.tolist() if i != best]
    if tied:
        reason += f"; tied with {', '.join(tied)}"
    shares = dict(zip(case_type.solutions, probability.tolist(), strict=True))
    may = tuple(name for name, good in zip(case_type.solutions, legal, strict=True) if good)
    return Proposal(shares, case_type.solutions[best], reason, may)


def _probabilities(policy: ReusePolicy, retrieved: Retrieved) -> Floats:
    scores: Floats = policy(retrieved)
    solutions = len(retrieved.case_type.solutions)
    if scores.shape != (solutions,) or not (np.isfinite(scores) & (scores >= 0)).all():
        raise PluginFailure(
            f"reuse policy {policy.name!r} must return a finite score of 0 or more for each of the "
            f"{solutions} solutions"
        )
    if retrieved.allowed is not None:
        scores = scores * retrieved.allowed
    if not scores.any():
        raise PluginFailure(
            f"reuse policy {policy.name!r} gave every allowed solution a score of 0"
        )
    scores = scores / scores.max()  # sums of huge scores would overflow
    shares: Floats = scores / scores.sum()
    return shares


def _reason(retrieved: Retrieved, spec: Spec) -> str:
    taken = retrieved.counts.sum(0)
    names = retrieved.case_type.solutions
    counts = ", ".join(f"{taken[i]:.4g} {names[i]}" for i in np.argsort(-taken) if taken[i])
    cases = f"{retrieved.cases:.4g} retrieved case" + ("" if retrieved.cases == 1 else "s")
    return f"{spec.name} over {cases}: {counts}"
