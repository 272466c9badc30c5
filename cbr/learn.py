"""Weights learned from the cases themselves.

They are those under which the soft kernel gives the recorded solutions the highest chance, each
case left out together with all others of its record. Steps follow the gradient (Adam) on draws of
some cases against some thousand others. A part of the records is kept apart, and decides how far to
go from the weights it began with: what retrieval needs is not quite what the soft kernel does, so
the predictor that gains less has the word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cbr.errors import EmptyStage
from cbr.measure import Bound
from cbr.predict import Split, by_rule, log_loss
from cbr.ranking import RetrievalPolicy
from cbr.soft import Constants, Soft, fit_constants
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
    found = mean[:-1] - mean[:-1].max()
    began = np.log(begin / begin.max())
    tried = [start, *(np.exp(began + part * (found - began)) for part in _WAY)]
    split = Split(train, apart)
    rule = [_loss(by_rule(cases, measures, policy, w, split), cases, apart) for w in tried]
    fits = [fit_constants(soft, weights, train, apart[:_FITTED]) for weights in tried]
    gain = [
        min(fits[0].log_loss - f.log_loss, rule[0] - r) for f, r in zip(fits, rule, strict=True)
    ]
    place = int(np.argmax(gain))
    return Learned(
        100.0 * tried[place] / tried[place].max(),
        Predicted(fits[0], rule[0]),
        Predicted(fits[place], rule[place]),
    )


def _loss(chances: Floats, cases: Cases, asked: Ints) -> float:
    return float(log_loss(chances, cases.solution[asked]).mean())


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
