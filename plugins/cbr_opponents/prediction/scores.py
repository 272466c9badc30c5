"""Scores of predicted moves: accuracy, log-loss and Brier score, with intervals over players.

A move is a fold, a check or call, or a bet or raise; sizes of raises are scored apart, given that
there was a raise. The baseline knows only what was legal: the shares of moves among all decisions
with the same legal moves that the model was fitted to.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.statistics import Mean, clustered_mean
from cbr.typing import Floats, Ints
from cbr_holdem.table import CALL, RAISE
from cbr_opponents.learning import Observed
from cbr_opponents.opponent_model import KINDS, by_kind

#: The least chance that counts, so that no single decision decides a mean.
LEAST = 1e-6


class Scored(NamedTuple):
    """The scores of n predicted decisions: whether the likeliest move was made, log-loss and Brier
    score, [n] each; `chances` [n, KINDS] and the `kind` [n] that was made; and the clusters [n]
    over which intervals are taken."""

    right: Floats
    log_loss: Floats
    brier: Floats
    chances: Floats
    kind: Ints
    cluster: Ints

    def take(self, places: Any) -> Scored:
        """The scores at these places, or where a mask is true."""
        return Scored(*(part[places] for part in self))


class Figures(NamedTuple):
    """Means of the scores of some decisions, beside those of a baseline; the gain is what the
    log-loss is less than the baseline's, paired."""

    decisions: int
    accuracy: Mean
    log_loss: Mean
    brier: Mean
    baseline_accuracy: Mean
    baseline_log_loss: Mean
    gain: Mean


def kinds_of(shares: Floats, observed: Observed) -> Floats:
    """Chances [n, KINDS] of fold, call and raise from those of all moves [n, moves]; what goes to
    moves that are not legal goes to the call."""
    found = by_kind(shares)
    legal = legal_kinds(observed)
    found[:, CALL] += np.where(legal, 0.0, found).sum(axis=1)
    return np.where(legal, found, 0.0)


def legal_kinds(observed: Observed) -> Any:
    """Which kinds of moves are legal, [n, KINDS]; a fold where a check is free is possible."""
    legal = np.ones((len(observed), KINDS), bool)
    legal[:, RAISE] = observed.may_raise
    return legal


def scored(chances: Floats, kind: Ints, cluster: Ints) -> Scored:
    """The scores of chances [n, KINDS] of decisions in which `kind` [n] was made."""
    here = chances[np.arange(len(kind)), kind]
    made = np.zeros_like(chances)
    made[np.arange(len(kind)), kind] = 1.0
    return Scored(
        (chances.argmax(axis=1) == kind).astype(np.float64),
        -np.log(np.maximum(here, LEAST)),
        ((chances - made) ** 2).sum(axis=1),
        chances,
        kind,
        cluster,
    )


def figures(model: Scored, baseline: Scored) -> Figures:
    """The means of the scores of decisions, and of a baseline on the same decisions."""

    def mean(values: Floats) -> Mean:
        return clustered_mean(values, model.cluster)

    return Figures(
        len(model.kind),
        mean(model.right),
        mean(model.log_loss),
        mean(model.brier),
        mean(baseline.right),
        mean(baseline.log_loss),
        mean(baseline.log_loss - model.log_loss),
    )


def legal_baseline(known: Observed, tested: Observed) -> Floats:
    """Chances [n, KINDS] of the tested decisions by what is legal alone."""
    return _shares_by(known.kind, _legal_key(known), 4, KINDS)[_legal_key(tested)]


def size_baseline(known: Observed, tested: Observed) -> Floats:
    """Chances [n, sizes] of the sizes of raises by the street, and by whether there was a bet."""

    def key(observed: Observed) -> Ints:
        return 2 * observed.place[:, 0] + observed.facing

    raises = known.take(known.move >= RAISE)
    return _shares_by(raises.move - RAISE, key(raises), 8, known.moves - RAISE)[key(tested)]


def _legal_key(observed: Observed) -> Ints:
    return 2 * observed.facing.astype(np.int64) + observed.may_raise


def _shares_by(move: Ints, key: Ints, keys: int, moves: int) -> Floats:
    counts = np.zeros((keys, moves))
    np.add.at(counts, (key, move), 1.0)
    counts += 0.5
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares
