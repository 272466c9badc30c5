"""Groups of players who act alike, by agglomerative clustering of their move counts."""

from __future__ import annotations

import numpy as np

from cbr.typing import Floats, Ints
from cbr_opponents.abstraction import CONTEXTS
from cbr_opponents.learning.observing import Observed

#: Players who are compared: those with the most decisions.
_PLAYERS = 40
#: Decisions that a player needs to be clustered.
_ENOUGH = 1_000
#: Most groups; and the loss in log-likelihood per decision above which groups stay apart.
_GROUPS, _DIFFERENT = 3, 0.03


def groups_of(observed: Observed) -> list[list[int]]:
    """Groups of players who act alike, as places in `observed.names`."""
    often = np.argsort(-np.bincount(observed.player), kind="stable")[:_PLAYERS]
    place = np.full(len(observed.names), -1, np.int64)
    place[often] = np.arange(len(often))
    mine = observed.take(place[observed.player] >= 0)
    totals = np.zeros((len(often), 4, CONTEXTS, observed.moves), np.int64)
    np.add.at(totals, (place[mine.player], *mine.place.T, mine.move), 1)
    return [[int(often[player]) for player in group] for group in alike(totals)]


def alike(totals: Ints) -> list[list[int]]:
    """Groups of players by how often each made which moves [players, 4, CONTEXTS, moves]. The two
    groups whose union loses least likelihood are merged, until all differ."""
    often = np.flatnonzero(totals.sum(axis=(1, 2, 3)) >= _ENOUGH).tolist()
    groups = [[player] for player in often]
    counts = [totals[player].astype(np.float64) for player in often]
    fit = [_log_likelihood(count) for count in counts]
    while len(groups) > 1:
        loss, one, two = min(
            (_loss(counts[a] + counts[b], fit[a] + fit[b], counts[a], counts[b]), a, b)
            for b in range(len(groups))
            for a in range(b)
        )
        if loss > _DIFFERENT and len(groups) <= _GROUPS:
            break
        groups[one] += groups.pop(two)
        counts[one] = counts[one] + counts.pop(two)
        fit.pop(two)
        fit[one] = _log_likelihood(counts[one])
    return groups


def _log_likelihood(count: Floats) -> float:
    """Log-likelihood of counted moves by their own frequencies in each context."""
    chances = (count + 0.5) / (count + 0.5).sum(axis=-1, keepdims=True)
    return float((count * np.log(chances)).sum())


def _loss(both: Floats, apart: float, one: Floats, two: Floats) -> float:
    """Log-likelihood that a decision of the smaller group loses if two groups are merged."""
    return (apart - _log_likelihood(both)) / float(min(one.sum(), two.sum()))
