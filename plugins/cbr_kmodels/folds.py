"""Folds that fall with the strength of the hand, as constraints on chances of moves.

Likelihood alone leaves folds too alike where cards are hidden: a hand that folded and one that
won unseen are both hidden, and no model of moves is exactly right. So folds are made to fall by
isotonic regression, and after the flop by logistic regression in which the best hand hardly folds.
"""

from __future__ import annotations

import numpy as np

from cbr.typing import Floats
from cbr_holdem.table import CALL, FOLD
from cbr_opponents import CLASSES, CONTEXTS, PRICE_CLASSES, class_order

#: The first context in which there is something to call.
_FREE = CONTEXTS // PRICE_CLASSES
#: The chance that the best hand folds after the flop; the usual slope of the logit of a fold in the
#: share of better hands, and how much less it is with some potential and with much, and the slope
#: in its root; and the weight of the usual.
_BEST_FOLDS, _SLOPE, _LESS, _RIDGE = 0.02, 7.0, (-2.0, -4.0, 0.0), 4.0


def falling_folds(grid: Floats, counts: Floats | None) -> Floats:
    """The grid with folds that fall with the strength of the hand, among hands of like potential;
    `counts` of the same shape weigh the classes, which count alike without them."""
    out = grid.copy()
    for street in range(4):
        order, potential = class_order(street)
        groups = [np.flatnonzero(potential == one) for one in np.unique(potential)]
        groups = [one[np.argsort(-order[one], kind="stable")] for one in groups]  # weak hands first
        for at in range(_FREE, CONTEXTS):
            weight = np.ones(CLASSES) if counts is None else counts[street, at].sum(axis=-1) + 1.0
            for group in groups:
                fold = -isotonic(-grid[street, at, group, FOLD], weight[group])
                stay = grid[street, at, group, CALL:].sum(axis=-1)
                out[street, at, group, FOLD] = fold
                out[street, at, group, CALL:] *= ((1.0 - fold) / stay)[:, None]
    return out


def anchored_folds(grid: Floats, counts: Floats) -> Floats:
    """The grid with logistic chances of folds after the flop, fitted to expected counts: the best
    hand folds with a chance of `_BEST_FOLDS`, and the logit rises with the share of better hands
    and its root, by a slope for each context and less for hands with potential."""
    out = grid.copy()
    each = CONTEXTS // PRICE_CLASSES
    for street in range(1, 4):
        better, potential = class_order(street)
        design = np.zeros((each, CLASSES, each + 3))
        design[np.arange(each), :, np.arange(each)] = better
        for one in (1, 2):
            design[:, :, each + one - 1] = better * (potential == one)
        design[:, :, -1] = np.sqrt(better)
        for price in range(1, PRICE_CLASSES):
            at = slice(price * each, (price + 1) * each)
            times = counts[street, at].sum(axis=-1)
            fold = _logistic_fit(design, counts[street, at, :, FOLD], times)
            stay = grid[street, at, :, CALL:].sum(axis=-1)
            out[street, at, :, FOLD] = fold
            out[street, at, :, CALL:] *= ((1.0 - fold) / stay)[..., None]
    return out


def _logistic_fit(design: Floats, folds: Floats, times: Floats) -> Floats:
    """Chances of folds [contexts, CLASSES] by logistic regression on counts, from the usual
    slopes."""
    x = design.reshape(-1, design.shape[-1])
    y, n = folds.reshape(-1), times.reshape(-1)
    anchor = np.log(_BEST_FOLDS / (1.0 - _BEST_FOLDS))
    usual = np.append(np.full(design.shape[-1] - len(_LESS), _SLOPE), _LESS)
    slope = usual.copy()
    for _ in range(12):
        chance = 1.0 / (1.0 + np.exp(-(anchor + x @ slope)))
        curve = x * (n * chance * (1.0 - chance))[:, None]
        step = np.linalg.solve(
            x.T @ curve + _RIDGE * np.eye(len(slope)),
            x.T @ (y - n * chance) - _RIDGE * (slope - usual),
        )
        slope += np.clip(step, -2.0, 2.0)
    found: Floats = (1.0 / (1.0 + np.exp(-(anchor + x @ slope)))).reshape(folds.shape)
    return found


def isotonic(values: Floats, weight: Floats) -> Floats:
    """The ascending numbers nearest to some values by weighted squares (pool adjacent violators).

    >>> isotonic(np.array([1.0, 3.0, 2.0, 4.0]), np.ones(4)).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    mean: list[float] = []
    total: list[float] = []
    length: list[int] = []
    for value, by in zip(values.tolist(), weight.tolist(), strict=True):
        mean.append(value)
        total.append(by)
        length.append(1)
        while len(mean) > 1 and mean[-2] > mean[-1]:
            both = total[-2] + total[-1]
            mean[-2:] = [(mean[-2] * total[-2] + mean[-1] * total[-1]) / both]
            total[-2:] = [both]
            length[-2:] = [length[-2] + length[-1]]
    return np.repeat(mean, length)
