"""The context-action table, filled from observed decisions and backed off from fine to coarse."""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.errors import BadValue
from cbr.jit import njit
from cbr.typing import Floats, Ints
from cbr_holdem.strength import RANKED, preflop_odds
from cbr_holdem.table import FOLD
from cbr_opponents.abstraction import CONTEXTS, PRICE_CLASSES
from cbr_opponents.context_model import (
    ABSTRACTION,
    LEVELS,
    RADIX,
    ContextModel,
    ContextTable,
    context_number,
)
from cbr_opponents.decision_features import F_STRENGTH
from cbr_opponents.frequencies import of_street, smoothed_frequencies, street_shares
from cbr_opponents.learning.array_forms import DRAWN, refined_by_draws, sampled
from cbr_opponents.learning.observing import Observed, counted, counted_by_context
from cbr_opponents.opponent_model import KINDS, OpponentModel


def fit_contexts(observed: Observed, levels: int, weight: float) -> ContextModel:
    """The table of these decisions with so many levels of contexts; the coarser estimate counts as
    `weight` observations."""
    if not 1 <= levels <= LEVELS:
        raise BadValue(f"levels is {levels}; a context has 1 to {LEVELS}")
    if not 0.0 < weight <= 1e6:
        raise BadValue(f"weight is {weight:g}; it must be above 0 and at most a million")
    finest = _numbers(observed, LEVELS)
    size = 4 * int(np.prod(RADIX))
    counts = _counts(finest, observed.move, size, observed.moves)
    known = observed.known
    strengths = _strengths(observed)
    filed = _counts(finest[known], observed.kind[known], size, KINDS)
    sums = _counts(finest[known], observed.kind[known], size, KINDS, strengths[known])
    table = backed_off(counts, filed, sums, levels, weight)
    coarse = table
    if levels != ABSTRACTION:
        coarse = backed_off(counts, filed, sums, min(levels, ABSTRACTION), weight)
    average = coarse.shares.reshape(4, -1, observed.moves)
    support = coarse.support.reshape(4, -1)
    times = CONTEXTS // average.shape[1]
    hands = OpponentModel.of(
        smoothed_frequencies(counted(observed), counted_by_context(observed)),
        average=np.repeat(average, times, axis=1),
        support=np.repeat(support, times, axis=1),
        stranger=observed.stranger,
    )
    sample = sampled(observed, DRAWN)
    shares = table.shares[_numbers(sample, levels)]
    return ContextModel(table, hands, lambda: refined_by_draws(hands, sample, shares))


def backed_off(
    counts: Floats, filed: Floats, sums: Floats, levels: int, weight: float
) -> ContextTable:
    """The table of a level from what was counted in the finest contexts: moves [n, moves], shown
    hands [n, KINDS] and the sums of their strengths [n, KINDS]."""
    shares, support, strength, shown = _coarsest(counts, filed, sums, weight)
    for level in range(1, levels + 1):
        finer = int(np.prod(RADIX[level:]))
        own, hands, total = (_summed(part, finer) for part in (counts, filed, sums))
        times = len(own) // len(shares)
        shares, support, strength, shown = (
            np.repeat(part, times, axis=0) for part in (shares, support, strength, shown)
        )
        seen = own.sum(axis=1)
        shares = (own + weight * shares) / (seen + weight)[:, None]
        support = seen + np.minimum(weight, support)
        strength = (total + weight * strength) / (hands + weight)
        shown = hands + np.minimum(weight, shown)
    shares /= shares.sum(axis=1, keepdims=True)
    return ContextTable(levels, shares, support, strength, shown)


def _coarsest(
    counts: Floats, filed: Floats, sums: Floats, weight: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """What the coarsest contexts are shrunk towards, for each street and price [4 * prices]: all
    decisions of the street with, or all without, a bet to call, and before these equal shares and
    strengths of 1/2."""
    times = len(counts) // (4 * PRICE_CLASSES)
    moves, filed, sums = (
        _summed(part, times).reshape(4, PRICE_CLASSES, -1) for part in (counts, filed, sums)
    )
    shares = street_shares(moves, weight)
    # A fold where a check is free is a slip of a log, not a move to expect.
    moves[:, 0, FOLD] = 0.0
    seen, hands, total = (of_street(part) for part in (moves.sum(axis=-1), filed, sums))
    strength = (total + 0.5 * weight) / (hands + weight)
    count = 4 * PRICE_CLASSES
    return (
        shares.reshape(count, -1),
        seen.reshape(count),
        strength.reshape(count, -1),
        hands.reshape(count, -1),
    )


def _summed(part: Floats, times: int) -> Floats:
    """Counts [n, ..] of contexts `times` coarser."""
    found: Floats = part.reshape(len(part) // times, times, -1).sum(axis=1)
    return found


def _counts(
    number: Ints, move: Ints, size: int, moves: int, values: Floats | None = None
) -> Floats:
    """How often each move was made in each context, or the sum of values, [size, moves]."""
    found = np.bincount(number * moves + move, values, size * moves).reshape(size, moves)
    return found.astype(np.float64)


def _strengths(observed: Observed) -> Floats:
    """Hand strengths from 0 to 1 [n]; of no meaning where the cards are unknown."""
    byte = observed.features[:, F_STRENGTH]
    # Before the flop the byte is the rank of the starting hand, from the worst on.
    equity = np.array([preflop_odds(name, 1)[2] for name in reversed(RANKED)])
    before = equity[np.minimum(byte, len(equity) - 1)]
    return np.where(observed.place[:, 0] == 0, before, byte / 255.0)


def _numbers(observed: Observed, level: int) -> Ints:
    found = np.empty(len(observed), np.int64)
    _number_all(observed.place, observed.features, level, found)
    return found


@njit
def _number_all(place: Any, features: Any, level: Any, out: Any) -> None:
    for i in range(len(place)):
        out[i] = context_number(place[i, 0], place[i, 1], features[i], level)
