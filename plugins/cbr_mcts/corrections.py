"""How the moves of one opponent differ from what a model expects.

By cell (street and price of a call), factors multiply the chances of folds, calls and raises with
any hand (`learning` counts them). Given the hand, on each street three logistic
regressions change the chances: whether the player folds to
a bet, whether it raises one, and whether it bets. They read the hand, by its strength and by its
two cards alone, because some players look at little else. A player of whom nothing was seen acts as
the model says.

What is learned is the gradient of the likelihood of a hand's moves, in which every hand that the
player may have held counts by its chance given all these moves; one that was shown counts alone.
So folds teach as well as showdowns, and hands that are seldom shown are not forgotten. Steps are
those of the extended Kalman filter: as large as what is not known yet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
from cbr_holdem.cards import HANDS
from cbr_holdem.strength import hand_ranks
from cbr_holdem.table import ACTOR, CALL, FOLD, HOLE, RAISE, STREET, to_call
from cbr_opponents import (
    CONTEXTS,
    PRICE_CLASSES,
    BoardHands,
    Workspace,
    begin_decision,
    hand_chances,
)

COUNT = len(HANDS)
_ONE, _TWO = HANDS[:, 0].astype(np.int64), HANDS[:, 1].astype(np.int64)
#: Cells in which a player's moves are corrected: a street and the price of a call.
CELLS, KINDS = 4 * PRICE_CLASSES, RAISE + 1
_PLACES = CONTEXTS // PRICE_CLASSES
#: Regressions of a player: of each street whether it folds to a bet, raises one, and bets.
LOGITS = 12
#: What they read of a hand: a constant, strength, its square, potential (before the flop whether it
#: is suited), the sum of the ranks of its two cards, and whether these are a pair.
TRAITS = 6
#: Standard deviation of the weight of each trait before anything is seen.
_DEVIATIONS = np.array([1.0, 2.0, 1.4, 1.0, 3.0, 1.4])
#: Chances are at least this before they are changed.
_LEAST = 1e-3
#: The share of hands that a hand is better than before the flop, by its strength.
BETTER = np.cumsum(np.bincount(hand_ranks().max() - hand_ranks())) / COUNT


@njit(inline="always")
def cell_of(space: Workspace) -> Any:
    """The cell of the decision whose chances were computed last."""
    return space.place[0] * PRICE_CLASSES + space.place[1] // _PLACES


@njit(inline="always")
def correct(factors: Any, space: Workspace) -> None:
    """Multiply the chances of folds, calls and raises by the factors of their cell, and scale them
    to add up to 1."""
    chances, cell = space.chances, cell_of(space)
    fold, call = chances[FOLD] * factors[cell, FOLD], chances[CALL] * factors[cell, CALL]
    raised = 0.0
    for move in range(RAISE, len(chances)):
        raised += chances[move]
    scale = 1.0 / (fold + call + raised * factors[cell, RAISE])
    chances[FOLD], chances[CALL] = fold * scale, call * scale
    scale *= factors[cell, RAISE]
    for move in range(RAISE, len(chances)):
        chances[move] *= scale


@njit(allocates=False)
def fill_traits(street: Any, strength: Any, one: Any, two: Any, traits: Any) -> None:
    """The traits of a hand of two cards with this packed strength."""
    if street == 0:
        share, more = BETTER[strength], 1.0 if one & 3 == two & 3 else 0.0
    else:
        share, more = (strength & 255) / 255.0, (strength >> 8) / 100.0
    traits[0] = 1.0
    traits[1] = 2.0 * share - 1.0
    traits[2] = traits[1] * traits[1]
    traits[3] = more
    traits[4] = ((one >> 2) + (two >> 2) - 12.0) / 6.0
    traits[5] = 1.0 if one >> 2 == two >> 2 else 0.0


@njit(inline="always")
def logit(chance: Any) -> Any:
    chance = max(_LEAST, min(1.0 - _LEAST, chance))
    return np.log(chance / (1.0 - chance))


@njit(inline="always")
def corrected(logit: Any, slopes: Any, traits: Any) -> Any:
    """A chance from its logarithmic odds by the model, and the slopes [TRAITS] of a player."""
    for trait in range(TRAITS):
        logit += slopes[trait] * traits[trait]
    return 1.0 / (1.0 + np.exp(-max(-20.0, min(20.0, logit))))


@njit(inline="always")
def is_known(street: Any, slopes: Any) -> Any:
    """Whether anything was learned of a player's moves on a street, by its slopes."""
    at = 3 * street
    return slopes[at, 0] != 0.0 or slopes[at + 1, 0] != 0.0 or slopes[at + 2, 0] != 0.0


@njit(allocates=False)
def correct_hand(r: Any, strength: Any, slopes: Any, traits: Any, chances: Any) -> None:
    """Change the chances of the actor's moves with a hand of this packed strength by its slopes
    [LOGITS, TRAITS]."""
    street, hole = r[STREET], HOLE + 2 * r[ACTOR]
    fold, raised = chances[FOLD], 0.0
    for move in range(RAISE, len(chances)):
        raised += chances[move]
    others = chances[CALL] + raised
    if others <= 0.0:
        return
    fill_traits(street, strength, r[hole], r[hole + 1], traits)
    at, share = 3 * street, raised / others
    if to_call(r) > 0:
        fold = corrected(logit(fold), slopes[at], traits)
        at += 1
    else:
        at += 2
    if raised > 0.0:
        share = corrected(logit(share), slopes[at], traits)
        scale = (1.0 - fold) * share / raised
        for move in range(RAISE, len(chances)):
            chances[move] *= scale
    chances[FOLD], chances[CALL] = fold, (1.0 - fold) * (1.0 - share)


@njit(allocates=False)
def fill_odds(
    r: Any, terms: Any, model: Any, factors: Any, space: Workspace, hands: BoardHands, odds: Any
) -> None:
    """Fill `odds` [4, 1326] with the logarithmic odds, with each hand on the board, of a fold of
    the actor, and of a raise if it does not fold; the other rows are working space."""
    begin_decision(r, terms, model, space)
    for level in range(hands.count[0]):
        hand_chances(hands.different[level], model, space)
        correct(factors, space)
        chances, raised = space.chances, 0.0
        for move in range(RAISE, len(chances)):
            raised += chances[move]
        others = chances[CALL] + raised
        odds[2, level] = logit(chances[FOLD])
        odds[3, level] = logit(raised / others if others > 0.0 else 0.0)
    for h in range(COUNT):
        level = hands.level[h]
        if level >= 0:
            odds[0, h], odds[1, h] = odds[2, level], odds[3, level]


@njit(inline="always")
def move_likelihood(
    kind: Any, facing: Any, may: Any, street: Any, fold: Any, raised: Any, slopes: Any, traits: Any
) -> Any:
    """The likelihood of a kind of move with a hand of these traits, by the logarithmic odds of a
    fold, and of a raise if there is none; `facing` a bet, and where it `may` raise."""
    at, likely = 3 * street, 1.0
    if facing:
        folds = corrected(fold, slopes[at], traits)
        likely = folds if kind == FOLD else 1.0 - folds
    if may and kind != FOLD:
        raises = corrected(raised, slopes[at + (1 if facing else 2)], traits)
        likely *= raises if kind == RAISE else 1.0 - raises
    return likely


@njit(allocates=False)
def learn_shown(chance: Any, done: Any, traits: Any, slopes: Any, doubt: Any, step: Any) -> None:
    """Learn from a decision with a hand that was shown: whether what had this chance was `done`.
    `doubt` [TRAITS, TRAITS] is the covariance of the slopes, and `step` [TRAITS] working space."""
    size = 0.0
    for i in range(TRAITS):
        step[i] = 0.0
        for j in range(TRAITS):
            step[i] += doubt[i, j] * traits[j]
        size += step[i] * traits[i]
    # The curvature is 1/4 at most: with less of it the step might be too far.
    gain = (done - chance) / (1.0 + 0.25 * size)
    known = chance * (1.0 - chance)
    known /= 1.0 + known * size
    for i in range(TRAITS):
        slopes[i] += gain * step[i]
        for j in range(TRAITS):
            doubt[i, j] -= known * step[i] * step[j]


@njit(allocates=False)
def learn_hidden(gradient: Any, slopes: Any, doubt: Any, step: Any) -> None:
    """Learn from the gradient [TRAITS] of the likelihood of a decision with a hidden hand."""
    size = 0.0
    for i in range(TRAITS):
        step[i] = 0.0
        for j in range(TRAITS):
            step[i] += doubt[i, j] * gradient[j]
        size += step[i] * gradient[i]
    for i in range(TRAITS):
        slopes[i] += step[i] / (1.0 + size)
        for j in range(TRAITS):
            doubt[i, j] -= step[i] * step[j] / (1.0 + size)


@njit(allocates=False)
def begin_or_fade(doubt: Any, fading: Any) -> None:
    """The covariance before anything is seen; later what was learned fades."""
    trace = 0.0
    for i in range(TRAITS):
        trace += doubt[i, i]
    if trace == 0.0:
        for i in range(TRAITS):
            doubt[i, i] = _DEVIATIONS[i] ** 2
        return
    for i in range(TRAITS):
        if doubt[i, i] > fading * _DEVIATIONS[i] ** 2:
            return
    for i in range(TRAITS):
        for j in range(TRAITS):
            doubt[i, j] /= fading
