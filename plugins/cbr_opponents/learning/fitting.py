"""Opponent models in array form, fitted to observed decisions: frequencies, and trees on top.

Where the cards of most decisions are unknown, they still teach: public trees are fitted to all
decisions and refine the frequencies of every hand alike. Trees that split on the hand are added
only where folded hands are known too; elsewhere they would learn that nobody folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.typing import Floats, Ints
from cbr.workers import in_order
from cbr_holdem.table import CALL, FOLD
from cbr_opponents.abstraction import CONTEXTS, PRICE_CLASSES
from cbr_opponents.boosting import Trees, fit, refined
from cbr_opponents.decision_features import FEATURES
from cbr_opponents.frequencies import LEAST_CHANCE, hides_folds, smoothed_frequencies
from cbr_opponents.learning.observing import Observed, counted, counted_by_context
from cbr_opponents.opponent_model import COLUMNS, OpponentModel, is_of_hand

#: Most trees of a street, of each of the two kinds.
TREES = 60
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
    pool: Executor | None = None,
) -> OpponentModel:
    """The model by frequencies and trees; without `profiles` all players are taken as one."""
    plain = fit_frequencies(observed)
    usable = np.arange(COLUMNS if profiles else FEATURES)
    held = _held_out(observed)
    log = np.log(np.maximum(plain.average, LEAST_CHANCE**2))[tuple(observed.place.T)]
    shared: Sequence[Trees] = ()
    if public:
        shared = _by_street(observed, log, held, usable, False, most, pool)
    hidden = hides_folds(counted(observed), counted_by_context(observed))
    if hidden:
        return _with(plain, shared, (), observed)
    mine = observed.known
    some = observed.take(mine)
    start = np.log(np.maximum(plain.grid, LEAST_CHANCE**2))[(*some.place.T, some.hand_class)]
    for street, trees in enumerate(shared):
        here = some.place[:, 0] == street
        start[here] = refined(trees, some.features[here], start[here])
    own = _by_street(some, start, held[mine], usable, True, most, pool)
    return _with(plain, shared, own, observed)


def _with(
    plain: OpponentModel, public: Sequence[Trees], own: Sequence[Trees], observed: Observed
) -> OpponentModel:
    return OpponentModel.of(
        plain.grid, own, public, plain.average, plain.support, observed.stranger
    )


def _held_out(observed: Observed) -> NDArray[np.bool_]:
    """The decisions by which the number of trees is chosen: those of some players if there are
    many, else of some hands."""
    of = observed.player if len(np.unique(observed.player)) >= _PLAYERS else observed.hand
    held: NDArray[np.bool_] = of % _HELD == 0
    return held


def _by_street(
    observed: Observed,
    start: Floats,
    held: NDArray[np.bool_],
    usable: Ints,
    of_hands: bool,
    most: int,
    pool: Executor | None,
) -> list[Trees]:
    """Trees of each street, as many as help in held-out decisions."""
    work = []
    for street in range(4):
        here = observed.place[:, 0] == street
        columns = usable if of_hands else usable[~is_of_hand(street, usable)]
        enough = most if here.sum() >= _FEWEST else 0
        work.append(
            _Work(
                observed.features[here],
                columns,
                observed.move[here],
                start[here],
                held[here],
                enough,
            )
        )
    return list(in_order(pool, _fit_street, work))


def _fit_street(work: _Work) -> Trees:
    found = fit(
        work.features[:, work.columns], work.move, work.start, work.held, work.most
    )
    return found._replace(feature=work.columns[found.feature].astype(np.uint8))


def context_chances(totals: Ints) -> Floats:
    """Chances of moves [4, CONTEXTS, moves] where the cards are unknown, from the counts of all
    decisions: shrunk towards those of all contexts with the same price."""
    counts = totals.astype(np.float64).reshape(4, PRICE_CLASSES, -1, totals.shape[-1])
    free = slice(0, CONTEXTS // PRICE_CLASSES)
    prior = counts.sum(axis=2, keepdims=True) + 0.5
    prior /= prior.sum(axis=-1, keepdims=True)
    chances = counts + _PRIOR * prior
    chances = (chances / chances.sum(axis=-1, keepdims=True)).reshape(totals.shape)
    chances[:, free, CALL] += chances[:, free, FOLD]
    chances[:, free, FOLD] = 0.0
    return chances
