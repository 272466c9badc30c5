"""Move frequencies: the chance of each move in each cell of the grid, smoothed from counts.

A log has few decisions for most cells, so each estimate is shrunk towards a coarser one: from the
cell to its neighbour classes, from these to all contexts with the same price, and from these to all
decisions of the street with, or without, a bet to call. The coarsest estimate assumes that bad
hands fold and good ones raise. Where the cards of players who fold are
not known, folds are spread over the hands so that their total agrees with the folds in the log.
"""

from __future__ import annotations

import numpy as np

from cbr.typing import Floats, Ints
from cbr_holdem.table import CALL, FOLD, RAISE
from cbr_opponents.abstraction import (
    CLASSES,
    CONTEXTS,
    PRICE_CLASSES,
    class_kernel,
    class_order,
    class_shares,
)

#: Weight of the coarser estimate in decisions; larger for the finest cell, whose own decisions are
#: part of the coarser counts. Chosen by held-out likelihood on logs of 30 to 9,000 hands.
_PRIOR, _PRIOR_CELL = 10.0, 30.0
#: The same for the shares of moves at a price, and on a street: one decision for each kind of move.
_PRIOR_PRICE = 3.0
#: Kernel widths: a wide one first, then a narrow one for cells with enough decisions.
_WIDTHS = (0.9, 0.5)
#: Slopes of the logistic curves by which chances fall with the share of better hands: of calls and
#: folds together, and of folds where some are known.
_SLOPE, _SLOPE_FOLD = 6.0, 8.0
#: Candidate slopes of hidden folds before the flop. Steeper ones predicted no better.
_SLOPES_HIDDEN = (3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 20.0)
#: Added to the chance of every move, so that none is impossible.
LEAST_CHANCE = 1e-3


def hides_folds(known: Ints, totals: Ints) -> bool:
    """Whether most cards of players who fold are unknown; counts as in `smoothed_frequencies`."""
    return bool(2 * known[..., FOLD].sum() < totals[..., FOLD].sum())


def smoothed_frequencies(known: Ints, totals: Ints) -> Floats:
    """Chances of moves [4, CONTEXTS, CLASSES, moves] from the counts of decisions with `known`
    cards, of the same shape, and of all decisions, `totals` [4, CONTEXTS, moves].

    Without any decisions, bad hands fold and good ones raise. A prior under which actions say
    nothing about hands would make opponents too easy to beat, and a best response too loose.
    """
    by_price = known.astype(np.float64).reshape(4, PRICE_CLASSES, -1, CLASSES, known.shape[-1])
    in_all = by_price.sum(axis=2, keepdims=True)
    chances = _by_strength(price_shares(in_all.sum(axis=(2, 3))))[:, :, None]
    for counts in (in_all, by_price):
        for width in _WIDTHS:
            kernel = np.stack([class_kernel(street, width) for street in range(4)])[:, None, None]
            chances = _shares(kernel @ counts + _PRIOR * chances)
    chances = _shares(by_price + _PRIOR_CELL * chances).reshape(known.shape)
    if hides_folds(known, totals):
        chances = _with_hidden_folds(chances, known, totals.astype(np.float64))
    free = slice(0, CONTEXTS // PRICE_CLASSES)
    chances[:, free, :, CALL] += chances[:, free, :, FOLD]
    chances[:, free, :, FOLD] = 0.0
    return chances


def price_shares(counts: Floats) -> Floats:
    """Shares of moves [4, PRICE_CLASSES, moves] from their counts at each price, shrunk towards
    those of the street."""
    return _shares(counts + _PRIOR_PRICE * street_shares(counts, _PRIOR_PRICE))


def street_shares(counts: Floats, weight: float) -> Floats:
    """Shares of moves [4, PRICE_CLASSES, moves] among all decisions of the street with, or all
    without, a bet to call. Before any are counted, folds, calls and raises are equally likely, and
    so are the sizes of raises; this counts as `weight` decisions."""
    moves = counts.shape[-1]
    even = np.full((1, counts.shape[1], moves), 1.0 / (3.0 * (moves - RAISE)))
    even[..., :RAISE] = 1.0 / 3.0
    even[:, 0, CALL] += even[:, 0, FOLD]
    summed = of_street(counts)
    # A fold where a check is free is a slip of a log, not a move to expect.
    even[:, 0, FOLD] = summed[:, 0, FOLD] = 0.0
    return _shares(summed + weight * even)


def of_street(counts: Floats) -> Floats:
    """Counts [4, PRICE_CLASSES, ..] summed over all prices above 0, for each of them."""
    summed = np.empty_like(counts)
    summed[:, :1], summed[:, 1:] = counts[:, :1], counts[:, 1:].sum(axis=1, keepdims=True)
    return summed


def _with_hidden_folds(chances: Floats, known: Ints, totals: Floats) -> Floats:
    """Chances with folds as frequent as in all decisions of a context, and likelier for worse
    hands."""
    by_price = totals.reshape(4, PRICE_CLASSES, -1, totals.shape[-1])
    folds, times = by_price[..., FOLD], by_price.sum(axis=-1)
    prior = (folds.sum(axis=2) + 1.0) / (times.sum(axis=2) + 2.0)
    rate = (folds + _PRIOR * prior[..., None]) / (times + _PRIOR)
    chances[..., FOLD] = 0.0
    chances = _shares(chances)
    for street, rates in enumerate(rate.reshape(4, CONTEXTS)):
        slope = _SLOPE if street else _preflop_slope(rates, known[0])
        fold = _falling(rates, street, slope)
        chances[street] *= (1.0 - fold)[..., None]
        chances[street][..., FOLD] = fold
    return chances


def _preflop_slope(rates: Floats, known: Ints) -> float:
    """The slope of hidden folds before the flop, given how often players fold in each context
    [CONTEXTS]: the one under which the hands that were shown later [CONTEXTS, CLASSES, moves] are
    likeliest.

    This works before the flop because all hands are dealt with equal chances there. Only contexts
    with one bet to call count, since a player who faces more has shown strength before.
    """
    one_bet = slice(CONTEXTS // PRICE_CLASSES, 2 * CONTEXTS // PRICE_CLASSES)

    def staying(slope: float) -> Floats:
        return _shares(class_shares(0) * (1.0 - _falling(rates[one_bet], 0, slope)) + 1e-9)

    # The prior adds a few hands at the usual slope, since one or two shown hands are weak evidence.
    played = known[one_bet, :, CALL:].sum(axis=-1) + _PRIOR * staying(_SLOPE)
    return max(_SLOPES_HIDDEN, key=lambda slope: float((played * np.log(staying(slope))).sum()))


def _by_strength(shares: Floats) -> Floats:
    """Chances [4, n, CLASSES, moves] that depend on hand strength alone, with these shares of moves
    [4, n, moves] over all hands."""
    chances = np.empty((*shares.shape[:2], CLASSES, shares.shape[-1]))
    sizes = _shares(shares[..., RAISE:])
    for street, share in enumerate(shares):
        fold = _falling(share[:, FOLD], street, _SLOPE_FOLD)
        no_raise = np.maximum(fold, _falling(share[:, : CALL + 1].sum(axis=1), street, _SLOPE))
        chances[street, ..., FOLD] = fold
        chances[street, ..., CALL] = no_raise - fold
        chances[street, ..., RAISE:] = (1.0 - no_raise)[..., None] * sizes[street, :, None]
    return _shares(chances + LEAST_CHANCE)


def _falling(rates: Floats, street: int, slope: float) -> Floats:
    """Logistic chances [n, CLASSES] that fall with hand strength and have these means [n]."""
    better, _ = class_order(street)
    share, steps = class_shares(street), np.linspace(-20.0, 20.0, 401)
    curves = 1.0 / (1.0 + np.exp(-(steps[:, None] + slope * (better - 0.5))))
    found: Floats = curves[np.searchsorted(curves @ share, rates).clip(max=len(steps) - 1)]
    return found


def _shares(counts: Floats) -> Floats:
    shares: Floats = counts / counts.sum(axis=-1, keepdims=True)
    return shares
