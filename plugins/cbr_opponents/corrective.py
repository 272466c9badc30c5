"""The corrective function of one player: how its moves differ from those of a prior (Ponsen 2008).

Ponsen et al. train a classifier that tells a player's real decisions from decisions drawn from a
prior in the same situations. If D is its probability of "real", the corrected chance of a move is
the prior's times D / (1 - D). With a logistic classifier that ratio is e^(w f), f being features of
the situation and the move. The draws are only a noisy way to compute an expectation over the
prior's moves; here that expectation is taken exactly. This is exponential tilting:

    corrected(move | situation)  ~  prior(move | situation) e^(w f(situation, move)).

The features are indicators: a byte of the decision above a cut, on some streets. Each has a weight
for folds and one for raises; calls are the reference. Weights start at 0, where D = 1/2 and the
prior is not corrected, with a normal distribution whose covariance is learned from how much other
players differ (`learning.ponsen`). Each decision updates mean and covariance by one Newton step
(the extended Kalman filter of logistic regression), so few observations change little.

Indicators are of the same form as the levels of boosted trees. A corrected model in array form is
therefore the prior's with a few more trees (`correction_trees`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr.typing import Floats, Ints
from cbr_holdem.table import CALL, FOLD, RAISE
from cbr_opponents.boosting import DEPTH, Trees
from cbr_opponents.decision_features import (
    F_CALL_BLINDS,
    F_CALLERS,
    F_CHECKS,
    F_LAST_RAISER,
    F_LATER,
    F_LEADER,
    F_OPPONENTS,
    F_OWN_BEFORE,
    F_OWN_NOW,
    F_POSITION,
    F_POT_ODDS,
    F_POTENTIAL,
    F_PRICE,
    F_RAISES,
    F_SEATS,
    F_STACK_BLINDS,
    F_STACK_TO_POT,
    F_STRENGTH,
    F_YET_TO_ACT,
)
from cbr_opponents.opponent_model import KINDS

#: Indicators [n, 4]: a feature of the decision, its cut, and the first and last street. The number
#: of seats is above 0 at every decision.
PUBLIC = np.array(
    [
        (F_SEATS, 0, 0, 3),
        (F_SEATS, 0, 0, 0),
        (F_SEATS, 0, 2, 3),
        (F_SEATS, 0, 3, 3),
        (F_PRICE, 0, 0, 3),
        (F_PRICE, 0, 0, 0),
        (F_PRICE, 0, 2, 3),
        (F_POT_ODDS, 40, 0, 3),
        (F_POT_ODDS, 40, 0, 0),
        (F_POT_ODDS, 66, 0, 3),
        (F_CALL_BLINDS, 21, 0, 0),
        (F_RAISES, 1, 0, 0),
        (F_RAISES, 1, 1, 3),
        (F_CALLERS, 0, 0, 0),
        (F_POSITION, 1, 0, 0),
        (F_POSITION, 5, 0, 0),
        (F_OPPONENTS, 3, 0, 0),
        (F_OPPONENTS, 1, 1, 3),
        (F_LAST_RAISER, 1, 1, 3),
        (F_YET_TO_ACT, 0, 1, 3),
        (F_OWN_NOW, 1, 0, 3),
        (F_OWN_NOW, 2, 1, 3),
        (F_OWN_NOW, 0, 1, 3),
        (F_OWN_BEFORE, 2, 1, 3),
        (F_OWN_BEFORE, 2, 2, 3),
        (F_OWN_BEFORE, 1, 1, 3),
        (F_LATER, 0, 1, 3),
        (F_LEADER, 1, 1, 3),
        (F_CHECKS, 0, 1, 3),
        (F_POT_ODDS, 52, 1, 3),
        (F_POT_ODDS, 60, 1, 3),
        (F_PRICE, 0, 3, 3),
        (F_CALL_BLINDS, 40, 0, 0),
        (F_RAISES, 2, 0, 0),
        (F_YET_TO_ACT, 3, 0, 0),
        (F_SEATS, 0, 1, 1),
        (F_STACK_BLINDS, 80, 0, 0),
        (F_STACK_TO_POT, 24, 1, 3),
    ],
    np.int64,
)
#: The same and indicators of the hand, for decisions with known cards.
WITH_CARDS = np.concatenate(
    [
        PUBLIC,
        [(F_STRENGTH, cut, 0, 0) for cut in (60, 100, 130, 155)],
        [(F_STRENGTH, cut, 1, 3) for cut in (90, 140, 190, 225, 245)],
        [(F_POTENTIAL, 40, 1, 2)],
    ]
)
#: A move to which the prior gives less teaches nothing: the ratio of chances is not known there.
_LEAST = 1e-6


class Corrective(NamedTuple):
    """A distribution of corrective functions: the `indicators` [n, 4], and mean [2 n] and
    `covariance` [2 n, 2 n] of their weights, those of folds first. Players change: after each hand
    `drift` times the covariance at the start is added, so that recent hands weigh more."""

    indicators: Ints
    mean: Floats
    covariance: Floats
    drift: float = 0.0

    @classmethod
    def start(cls, indicators: Ints, spread: float) -> Corrective:
        """Independent weights with mean 0 and this standard deviation."""
        count = 2 * len(indicators)
        return cls(indicators, np.zeros(count), spread**2 * np.eye(count))


class Moves(NamedTuple):
    """Decisions of players as a corrective function sees them, in the order of the log for each
    player: `street`, `hand` and `kind` (FOLD, CALL, RAISE) [n], whether a raise was legal [n],
    the `features` [n, COLUMNS], and the prior's chances [n, KINDS]."""

    street: Ints
    hand: Ints
    kind: Ints
    may_raise: Any
    features: Any
    prior: Floats

    def take(self, places: Ints) -> Moves:
        """The decisions at these places."""
        parts: list[Any] = [part[places] for part in self]
        return Moves(*parts)


def observe_in_order(moves: Moves, start: Corrective) -> tuple[Floats, Corrective]:
    """The corrected chances [n, KINDS] of one player's decisions, and the distribution after all.

    A decision is corrected by the player's earlier hands alone: the decisions of a hand are
    predicted first, and teach afterwards.
    """
    out = np.empty_like(moves.prior)
    mean, covariance = start.mean.copy(), start.covariance.copy()
    _observe(moves, start.indicators, mean, covariance, start.drift * start.covariance, out)
    return out, start._replace(mean=mean, covariance=covariance)


@njit
def _observe(
    moves: Any, indicators: Any, mean: Any, covariance: Any, change: Any, out: Any
) -> None:
    active = np.empty(len(indicators), np.int64)
    gain = np.empty((2, len(mean)))
    first = 0
    while first < len(moves.kind):
        end = first
        while end < len(moves.kind) and moves.hand[end] == moves.hand[first]:
            count = _active(moves.features[end], moves.street[end], indicators, active)
            _tilt(moves.prior[end], mean, active[:count], out[end])
            end += 1
        for i in range(first, end):
            count = _active(moves.features[i], moves.street[i], indicators, active)
            _update(
                moves.prior[i],
                moves.kind[i],
                moves.may_raise[i],
                active[:count],
                mean,
                covariance,
                gain,
            )
        covariance += change
        first = end


@njit
def _active(features: Any, street: Any, indicators: Any, out: Any) -> Any:
    """Write the numbers of the indicators that hold into `out`; returns how many do."""
    count = 0
    for j in range(len(indicators)):
        here = indicators[j, 2] <= street <= indicators[j, 3]
        if here and features[indicators[j, 0]] > indicators[j, 1]:
            out[count] = j
            count += 1
    return count


@njit
def _tilt(prior: Any, mean: Any, active: Any, out: Any) -> None:
    """Tilt the prior's chances [KINDS] by the weights of the active indicators."""
    half = len(mean) // 2
    fold, more = 0.0, 0.0
    for j in active:
        fold += mean[j]
        more += mean[half + j]
    top = max(0.0, fold, more)
    out[FOLD] = prior[FOLD] * np.exp(fold - top)
    out[CALL] = prior[CALL] * np.exp(-top)
    out[RAISE] = prior[RAISE] * np.exp(more - top)
    total = out[FOLD] + out[CALL] + out[RAISE]
    for move in range(KINDS):
        out[move] = out[move] / total if total > 0.0 else prior[move]


@njit
def _update(
    prior: Any, kind: Any, may_raise: Any, active: Any, mean: Any, covariance: Any, gain: Any
) -> None:
    """One Newton step on the log-likelihood of a decision plus the distribution so far."""
    before = prior.copy()
    if not may_raise:
        before[CALL] += before[RAISE]
        before[RAISE] = 0.0
    if before[kind] < _LEAST:
        return
    chances = np.empty(KINDS)
    _tilt(before, mean, active, chances)
    fold, more = chances[FOLD], chances[RAISE]
    count = len(mean)
    half = count // 2
    # gain = covariance times the features of a fold and of a raise
    for k in range(count):
        one, two = 0.0, 0.0
        for j in active:
            one += covariance[k, j]
            two += covariance[k, half + j]
        gain[0, k], gain[1, k] = one, two
    ff, fr, rr = 0.0, 0.0, 0.0
    for j in active:
        ff += gain[0, j]
        fr += gain[1, j]
        rr += gain[1, half + j]
    # The curvature h of the log-likelihood; step = (1 + h s)^-1 h, s = [[ff, fr], [fr, rr]].
    h11, h12, h22 = fold * (1.0 - fold), -fold * more, more * (1.0 - more)
    a, b = 1.0 + h11 * ff + h12 * fr, h11 * fr + h12 * rr
    c, d = h12 * ff + h22 * fr, 1.0 + h12 * fr + h22 * rr
    det = a * d - b * c
    s11, s12 = (d * h11 - b * h12) / det, (d * h12 - b * h22) / det
    s22 = (a * h22 - c * h12) / det
    for k in range(count):
        one = s11 * gain[0, k] + s12 * gain[1, k]
        two = s12 * gain[0, k] + s22 * gain[1, k]
        for m in range(count):
            covariance[k, m] -= one * gain[0, m] + two * gain[1, m]
    by_fold, by_raise = (kind == FOLD) - fold, (kind == RAISE) - more
    # The new covariance times the features, by the old one: gain (1 - step s).
    t11, t12 = 1.0 - (s11 * ff + s12 * fr), -(s11 * fr + s12 * rr)
    t21, t22 = -(s12 * ff + s22 * fr), 1.0 - (s12 * fr + s22 * rr)
    one, two = t11 * by_fold + t12 * by_raise, t21 * by_fold + t22 * by_raise
    for k in range(count):
        mean[k] += gain[0, k] * one + gain[1, k] * two


def correction_trees(street: int, of: Corrective) -> Trees:
    """The corrective function with the mean weights, as trees of a street: each has up to `DEPTH`
    indicators as its levels, and a leaf is the sum of the weights of those that hold."""
    here = np.flatnonzero((of.indicators[:, 2] <= street) & (street <= of.indicators[:, 3]))
    weights = of.mean.reshape(2, -1)
    number = np.arange(1 << DEPTH)
    count = -(-len(here) // DEPTH)
    feature, cut = np.zeros((count, DEPTH), np.uint8), np.full((count, DEPTH), 255, np.uint8)
    leaf = np.zeros((count, 1 << DEPTH, KINDS))
    for place, which in enumerate(here):
        tree, level = divmod(place, DEPTH)
        feature[tree, level], cut[tree, level] = of.indicators[which, :2]
        holds = number >> level & 1
        leaf[tree, :, FOLD] += holds * weights[0, which]
        leaf[tree, :, RAISE] += holds * weights[1, which]
    return Trees(feature, cut, leaf)
