"""Opponent models in array form, fitted to observed decisions: frequencies, and trees on top.

Where the cards of most decisions are unknown, they still teach: public trees are fitted to all
decisions and refine the frequencies of every hand alike. Trees that split on the hand are added
only where folded hands are known too; elsewhere they would learn that nobody folds.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.typing import Floats, Ints
from cbr_holdem.table import CALL, FOLD, RAISE
from cbr_opponents.abstraction import CONTEXTS, PRICE_CLASSES
from cbr_opponents.boosting import CAREFUL, QUICK, Pace, Trees, fit, refined
from cbr_opponents.decision_features import FEATURES
from cbr_opponents.frequencies import (
    LEAST_CHANCE,
    hides_folds,
    price_shares,
    smoothed_frequencies,
)
from cbr_opponents.learning.observing import Observed, counted, counted_by_context
from cbr_opponents.opponent_model import COLUMNS, KINDS, OpponentModel, by_kind, is_of_hand

#: Most trees of a street: so many are evaluated at once (`tree_code.BLOCK`).
TREES = 128
#: One player in so many is held out to choose the number of trees, or one hand where there are
#: fewer players.
_HELD, _PLAYERS = 6, 30
#: Decisions of a street below which trees would overfit.
_FEWEST = 1_000
#: Weight of the coarser estimate, in decisions.
_PRIOR = 10.0


class _Work(NamedTuple):
    """The decisions of a street, and what its trees start from."""

    features: NDArray[np.uint8]
    columns: Ints
    move: Ints
    start: Floats
    held: NDArray[np.bool_]
    most: int
    pace: Pace
    stop: Event


def fit_frequencies(observed: Observed) -> OpponentModel:
    """The model by the frequencies of moves in each cell."""
    totals = counted_by_context(observed)
    return OpponentModel.of(
        smoothed_frequencies(counted(observed), totals),
        average=context_chances(totals),
        support=totals.sum(axis=-1).astype(np.float64),
        stranger=observed.stranger,
    )


def fit_trees(
    observed: Observed,
    most: int = TREES,
    profiles: bool = True,
    public: bool = True,
    sized: bool = True,
    pace: Pace = CAREFUL,
) -> OpponentModel:
    """The model by frequencies and at most so many trees of each street: without `profiles` all
    players are taken as one, without `sized` the sizes of raises are told by frequencies alone.
    Where folded hands are known, half of the trees may split on the hand, and they learn fast."""
    return with_trees(fit_frequencies(observed), observed, most, profiles, public, sized, pace)


def with_trees(
    plain: OpponentModel,
    observed: Observed,
    most: int = TREES,
    profiles: bool = True,
    public: bool = True,
    sized: bool = True,
    pace: Pace = CAREFUL,
) -> OpponentModel:
    """A model without trees, refined by trees that are fitted to decisions (see `fit_trees`)."""
    knows_folds = not hides_folds(counted(observed), counted_by_context(observed))
    if public and knows_folds:
        most, pace = most // 2, QUICK  # for each of two kinds of trees
    usable = np.arange(COLUMNS if profiles else FEATURES)
    held = _held_out(observed)
    average = _logarithms(by_kind(plain.average))[tuple(observed.place.T)]
    shared: Sequence[Trees] = ()
    if public:
        shared = _by_street(observed, observed.kind, average, held, usable, False, most, pace)
    own: Sequence[Trees] = ()
    if knows_folds:
        mine = observed.known
        some = observed.take(mine)
        start = _logarithms(by_kind(plain.grid))[(*some.place.T, some.hand_class)]
        for street, trees in enumerate(shared):
            here = some.place[:, 0] == street
            start[here] = refined(trees, some.features[here], start[here])
        own = _by_street(some, some.kind, start, held[mine], usable, True, most, pace)
    sizes: Sequence[Trees] = ()
    if sized and observed.moves > KINDS:
        raised = observed.move >= RAISE
        some = observed.take(raised)
        start = _logarithms(plain.average[..., RAISE:])[tuple(some.place.T)]
        size = some.move - RAISE
        sizes = _by_street(some, size, start, held[raised], usable, False, most, pace)
    return OpponentModel.of(
        plain.grid, own, shared, plain.average, plain.support, observed.stranger, sizes
    )


def _logarithms(chances: Floats) -> Floats:
    return np.log(np.maximum(chances, LEAST_CHANCE**2))


def _held_out(observed: Observed) -> NDArray[np.bool_]:
    """The decisions by which the number of trees is chosen: those of some players if there are
    many, else of some hands."""
    of = observed.player if len(np.unique(observed.player)) >= _PLAYERS else observed.hand
    # Numbers are mixed first: a log may have every other hand only.
    mixed = (of.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)
    held: NDArray[np.bool_] = mixed % np.uint64(_HELD) == 0
    return held


def _by_street(
    observed: Observed,
    move: Ints,
    start: Floats,
    held: NDArray[np.bool_],
    usable: Ints,
    of_hands: bool,
    most: int,
    pace: Pace,
) -> list[Trees]:
    """Trees of each street that tell the `move` [n], as many as help in held-out decisions. Streets
    are fitted in threads, since compiled code runs there at the same time."""
    work, stop = [], Event()
    for street in range(4):
        here = observed.place[:, 0] == street
        columns = usable if of_hands else usable[~is_of_hand(street, usable)]
        enough = most if here.sum() >= _FEWEST else 0
        work.append(
            _Work(
                observed.features[here],
                columns,
                move[here],
                start[here],
                held[here],
                enough,
                pace,
                stop,
            )
        )
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        try:
            return list(threads.map(_fit_street, work))
        except BaseException:
            stop.set()  # they end after the tree that they are at
            raise


def _fit_street(work: _Work) -> Trees:
    found = fit(
        work.features[:, work.columns],
        work.move,
        work.start,
        work.held,
        work.most,
        work.pace,
        stopped=work.stop.is_set,
    )
    return found._replace(feature=work.columns[found.feature].astype(np.uint8))


def context_chances(totals: Ints) -> Floats:
    """Chances of moves [4, CONTEXTS, moves] where the cards are unknown, from the counts of all
    decisions: shrunk towards those of all contexts with the same price."""
    counts = totals.astype(np.float64).reshape(4, PRICE_CLASSES, -1, totals.shape[-1])
    free = slice(0, CONTEXTS // PRICE_CLASSES)
    summed = counts + _PRIOR * price_shares(counts.sum(axis=2))[:, :, None]
    chances: Floats = (summed / summed.sum(axis=-1, keepdims=True)).reshape(totals.shape)
    chances[:, free, CALL] += chances[:, free, FOLD]
    chances[:, free, FOLD] = 0.0
    return chances
