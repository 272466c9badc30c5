"""Folds that fall with the strength of the hand, as a constraint on chances of moves.

Likelihood alone leaves folds too alike where cards are hidden: a hand that folded and one that
won unseen are both hidden, and no model of moves is exactly right. So the logit of a fold is
linear in the logarithm of the share of better hands, and less with potential: the best hands
never fold. Each context has its own level, which the frequency of folds tells. The slopes are
shared by the contexts of a street, and begin as those of players whose cards are known.

Decisions of one context are not alike: one player folds twice as often as another there. Together
their folds rise more slowly with weaker hands than those of each. So levels differ by what a public
model knows of a decision, its tendency.
"""

from __future__ import annotations

import numpy as np

from cbr.typing import Floats
from cbr_holdem.table import CALL, FOLD
from cbr_opponents import CONTEXTS, PRICE_CLASSES, class_order

#: How much larger the logit of a fold is than on average in its context, in classes.
TENDENCIES = np.array([-2.5, -1.5, -0.8, -0.3, 0.0, 0.3, 0.8, 1.5, 2.5])
#: The first context in which there is something to call.
_FREE = CONTEXTS // PRICE_CLASSES
#: By street: the slope in the logarithm of the share of better hands, and what some potential and
#: much add. Fitted to the 10,000 hands of six professionals and Pluribus (Brown and Sandholm 2019),
#: all of whose cards are known.
_USUAL = np.array([[3.0, 0.0, 0.0], [2.6, -3.0, -6.0], [2.5, -1.5, -3.8], [2.0, 0.0, 0.0]])
#: The weight of the usual slopes, and of a level of 1, as of a few decisions; and that of slopes
#: that stay.
_SLOPES, _LEVEL, _FIXED = 4.0, 0.5, 1e9
#: Newton's method ends when no number changes by more, and never takes longer steps.
_SETTLED, _LONGEST, _STEPS = 1e-3, 2.0, 40


def logistic_folds(grid: Floats, counts: Floats, usual: bool = False) -> Floats:
    """The grid with chances of folds by logistic regression on expected `counts` [4, CONTEXTS,
    TENDENCIES, CLASSES, moves]; with the `usual` slopes if counts do not tell them."""
    out = grid.copy()
    for street in range(4):
        better, potential = class_order(street)
        design = np.stack([np.log(better), potential == 1, potential == 2], axis=1)
        here = counts[street, _FREE:]
        slopes = _FIXED if usual else _SLOPES
        weight = np.append(np.full(len(here), _LEVEL), np.full(3, slopes))
        fold = _fitted(design, here[..., FOLD], here.sum(axis=-1), _USUAL[street], weight)
        stay = grid[street, _FREE:, :, CALL:].sum(axis=-1)
        out[street, _FREE:, :, FOLD] = fold
        out[street, _FREE:, :, CALL:] *= ((1.0 - fold) / stay)[..., None]
    return out


def _fitted(design: Floats, folds: Floats, times: Floats, usual: Floats, weight: Floats) -> Floats:
    """Chances of folds [contexts, CLASSES] with a level for each context and the same slopes for
    all, from how often each class folded and faced a bet, [contexts, TENDENCIES, CLASSES]; `weight`
    is that of a level of 1 and of the usual slopes."""
    contexts = len(folds)
    middle = np.append(np.ones(contexts), usual)
    found = middle.copy()
    curve = np.zeros((len(found), len(found)))
    for _ in range(_STEPS):
        level = found[:contexts, None, None] + TENDENCIES[:, None]
        chance = _logistic(level + design @ found[contexts:])
        spread = (times * chance * (1.0 - chance)).sum(axis=1)
        left = (folds - times * chance).sum(axis=1)
        slope = np.append(left.sum(axis=1), left.sum(axis=0) @ design) - weight * (found - middle)
        curve[:contexts, :contexts] = np.diag(spread.sum(axis=1))
        curve[:contexts, contexts:] = spread @ design
        curve[contexts:, :contexts] = curve[:contexts, contexts:].T
        curve[contexts:, contexts:] = design.T @ (spread.sum(axis=0)[:, None] * design)
        step = np.clip(np.linalg.solve(curve + np.diag(weight), slope), -_LONGEST, _LONGEST)
        found += step
        if np.abs(step).max() < _SETTLED:
            break
    found[contexts] = max(found[contexts], 0.0)  # folds never rise with the strength of a hand
    return _logistic(found[:contexts, None] + design @ found[contexts:])


def _logistic(values: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-values)))
