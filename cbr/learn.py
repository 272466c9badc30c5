"""Weights learned from the cases themselves.

They are those under which the soft kernel gives the recorded solutions the highest chance, each
case left out together with all others of its record. Steps follow the gradient (Adam) on draws of
some cases against some thousand others. A part of the records is kept apart, and decides how far to
go from the weights it began with: what retrieval needs is not quite what the soft kernel does, so
neither predictor may lose by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cbr.errors import EmptyStage
from cbr.measure import Bound
from cbr.predict import log_loss
from cbr.ranking import RetrievalPolicy
from cbr.retrieve import Retriever
from cbr.soft import Constants, Soft, fit_constants
from cbr.trie import Trie
from cbr.vectors import Cases, Floats, Ints

#: Cases drawn for one step, and others that they are compared with.
_ASKED, _KNOWN = 64, 16_000
#: Share of the records kept apart, and cases of them that are looked at.
_APART, _LOOKED_AT = 0.2, 8_000
#: Cases of them by which the soft kernel is judged in the end.
_FITTED = 2_000
#: How far from the first weights to the learned ones is tried in the end.
_WAY = (0.1, 0.25, 0.4, 0.6, 0.8, 1.0)

#: Called with steps done, steps in all, and steps done.
Progress = Callable[[float, float, int], None]


@dataclass(frozen=True)
class Predicted:
    """How well weights predict records kept apart: the soft kernel with its constants, log-loss
    included, and the log-loss of the retrieval rule."""

    soft: Constants
    rule: float


@dataclass(frozen=True)
class Learned:
    """Weights, scaled so that the highest is 100, and what they gain on records kept apart."""

    weights: Floats
    before: Predicted
    after: Predicted


def learn(
    cases: Cases,
    measures: Sequence[Bound],
    policy: RetrievalPolicy,
    start: Floats,
    *,
    seed: int = 0,
    steps: int = 300,
    progress: Progress | None = None,
) -> Learned:
    """Learn weights for some cases, beginning with `start`."""
    rng = np.random.default_rng([seed, len(cases)])
    soft = Soft.of(cases, measures)
    train, apart = _parted(cases, rng)
    before = fit_constants(soft, start, train, apart[:_FITTED])
    # A weight of 0 has no gradient in its logarithm, so it begins as a small one.
    begin = np.maximum(start, 0.02 * start.max())
    logs = np.append(np.log(before.beta * begin / begin.sum()), np.log(before.alpha))
    mean = logs
    moment, square = np.zeros(len(logs)), np.zeros(len(logs))
    for taken in range(1, steps + 1):
        asked = rng.choice(train, min(_ASKED, len(train)), replace=False)
        others = rng.choice(train, min(_KNOWN, len(train)), replace=False)
        _, gradient = soft.gradient(asked, others, *_parts(logs, len(others) / len(train)))
        moment = 0.9 * moment + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        move = moment / (1 - 0.9**taken) / (np.sqrt(square / (1 - 0.99**taken)) + 1e-8)
        logs = logs + 0.08 * (1.0 - 0.9 * taken / steps) * move
        # What is learned is the mean of many steps: each alone follows its draw.
        mean = 0.95 * mean + 0.05 * logs
        if progress:
            progress(taken, steps, taken)
    judge = _Judge(cases, measures, policy, soft, train, apart)
    first = judge.of(start)
    best = judge.best(first, begin, mean[:-1])
    best = judge.polished(best)
    return Learned(100.0 * best.weights / best.weights.max(), first.predicted, best.predicted)


@dataclass(frozen=True, eq=False)
class _Tried:
    """Weights, with the log-loss of each case kept apart by the rule and what the kernel does."""

    weights: Floats
    rule: Floats
    soft: Constants

    @property
    def predicted(self) -> Predicted:
        return Predicted(self.soft, float(self.rule.mean()))

    @property
    def loss(self) -> float:
        return self.soft.log_loss + float(self.rule.mean())


class _Judge:
    """The records kept apart, which say how good weights are."""

    def __init__(
        self,
        cases: Cases,
        measures: Sequence[Bound],
        policy: RetrievalPolicy,
        soft: Soft,
        train: Ints,
        apart: Ints,
    ) -> None:
        vectors = cases.take(train).vectors()
        none = np.ones(len(measures))
        self.mine = Retriever(vectors, measures, none, policy, Trie(vectors, measures))
        self.soft, self.train, self.apart = soft, train, apart
        self.asked, self.done = cases.values[apart], cases.solution[apart]

    def rule(self, weights: Floats) -> Floats:
        taken = self.mine.many(self.asked, np.broadcast_to(weights, self.asked.shape)).taken + 1.0
        return log_loss(taken / taken.sum(axis=1, keepdims=True), self.done)

    def of(self, weights: Floats) -> _Tried:
        kernel = fit_constants(self.soft, weights, self.train, self.apart[:_FITTED])
        return _Tried(weights, self.rule(weights), kernel)

    def best(self, first: _Tried, begin: Floats, learned: Floats) -> _Tried:
        """The best on the way to the learned weights (logarithms) by which neither loses."""
        began, learned = np.log(begin / begin.max()), learned - learned.max()
        best = first
        for part in _WAY:
            there = self.of(np.exp(began + part * (learned - began)))
            if there.loss < best.loss and _no_worse(there, first):
                best = there
        return best

    def polished(self, best: _Tried) -> _Tried:
        """With single weights doubled or halved where that serves both, once through all."""
        for place in range(len(best.weights)):
            for factor in (2.0, 0.5):
                weights = best.weights.copy()
                weights[place] *= factor
                gain = best.rule - self.rule(weights)
                # More than chance would have it, and only then is the kernel asked.
                if gain.mean() > gain.std() / np.sqrt(len(gain)):
                    there = self.of(weights)
                    if _no_worse(there, best):
                        best = there
                        break
        return best


def _no_worse(there: _Tried, here: _Tried) -> bool:
    soft = there.soft.log_loss <= here.soft.log_loss
    return soft and float(there.rule.mean()) <= float(here.rule.mean())


def _parts(logs: Floats, share: float) -> tuple[Floats, float]:
    """v and alpha of their logarithms, with alpha as much less as there are fewer cases."""
    return np.exp(logs[:-1]), float(np.exp(logs[-1])) * share


def _parted(cases: Cases, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Cases to learn from and cases to look at, of different records."""
    records = np.unique(cases.record)
    if len(records) < 20:
        raise EmptyStage(
            f"stage {cases.case_type.stage!r} has cases of {len(records)} records; weights can be "
            f"learned from 20 or more"
        )
    chosen = rng.choice(records, max(2, int(_APART * len(records))), replace=False)
    held = np.isin(cases.record, chosen)
    looked_at = np.flatnonzero(held)
    return np.flatnonzero(~held), rng.permutation(looked_at)[:_LOOKED_AT]
