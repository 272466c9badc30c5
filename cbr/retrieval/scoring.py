"""The similarity of a target to a vector: the reference definition.

It is the weighted mean of the local similarities, in float64 from float32 codes. A feature that the
target lacks has weight 0. One that the vector lacks counts by its rule (`cbr.missing`): with a
similarity of its own, or not at all, so that the mean is over the others; over none it is 0.

Products and weights are summed in feature order, so that every method of scoring gives the same
bits. The compiled tree repeats this sum in its own loop (`tree_search.score`); tests compare the
two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.measure import Bound
from cbr.store.arrays import Vectors
from cbr.typing import Floats, Ints

#: A feature with more distinct values than this is compared pair by pair.
_DISTINCT = 256
#: The most local similarities that a scorer caches, 8 bytes each.
_REMEMBERED = 8_000_000


def stated(codes: NDArray[np.float32], weights: Floats) -> tuple[NDArray[np.float32], Floats]:
    """Targets without NaN, and weights that are 0 there: what a target lacks is not compared."""
    lacks = np.isnan(codes)
    if not lacks.any():
        return codes, weights
    return np.where(lacks, np.float32(0), codes), np.where(lacks, 0.0, weights)


class Scorer:
    """Scores the vectors of a stage; local similarities to a target's values are cached."""

    def __init__(self, vectors: Vectors, measures: Sequence[Bound]) -> None:
        self.vectors, self.measures = vectors, measures
        self._ignores = np.array([bound.ignores for bound in measures], bool)
        self._some_ignored = bool(self._ignores.any())
        self._forget()

    def _forget(self) -> None:
        self._rows: list[dict[float, Floats]] = [{} for _ in self.measures]
        self._remembered = 0

    def one(self, codes: NDArray[np.float32], weights: Floats, number: Ints) -> Floats:
        """Similarity of one target [d] to the vectors with these numbers, [len(number)]."""
        everything = len(number) == len(self.vectors)

        def local(place: int) -> Floats:
            of_vector = self.vectors.columns[place][1]
            row = self._row(place, float(codes[place]))
            return row[of_vector if everything else of_vector[number]]

        places = np.flatnonzero(weights).tolist()
        terms = ((weights[place], local(place)) for place in places)
        if self._some_ignored and self._ignores[places].any():
            return _mean_of_known(terms, len(number))
        return _weighted_mean(terms, weights.cumsum()[-1], len(number))

    def pairs(
        self, codes: NDArray[np.float32], weights: Floats, target: Ints, number: Ints
    ) -> Floats:
        """Similarity of target ``target[i]`` of `codes` [q, d] to vector ``number[i]``."""

        def local(place: int) -> Floats:
            bound, (distinct, of_vector) = self.measures[place], self.vectors.columns[place]
            if bound.feature.is_number and len(distinct) > _DISTINCT:
                given = codes[:, place].astype(np.float64)[target]
                return bound.pairs(given, distinct[of_vector[number]].astype(np.float64))
            each, which = np.unique(codes[:, place], return_inverse=True)
            return bound.grid(each, distinct)[which.reshape(-1)[target], of_vector[number]]

        places = np.flatnonzero(weights.any(axis=0)).tolist()
        terms = ((weights[target, place], local(place)) for place in places)
        if self._some_ignored and self._ignores[places].any():
            return _mean_of_known(terms, len(number))
        return _weighted_mean(terms, weights.cumsum(axis=1)[target, -1], len(number))

    def local(self, codes: NDArray[np.float32], places: Iterable[int], number: Ints) -> Floats:
        """Local similarities of a target to some vectors, [len(number), d]; NaN elsewhere, and
        where a vector is compared without the feature."""
        found = np.full((len(number), len(self.measures)), np.nan)
        for place in places:
            row = self._row(place, float(codes[place]))
            found[:, place] = row[self.vectors.columns[place][1][number]]
        return found

    def _row(self, place: int, code: float) -> Floats:
        """Similarity of one value to every distinct value of a feature."""
        row = self._rows[place].get(code)
        if row is None:
            distinct = self.vectors.columns[place][0]
            row = self.measures[place].grid(np.array([code], np.float32), distinct)[0]
            if self._remembered + len(row) > _REMEMBERED:
                self._forget()
            self._rows[place][code] = row
            self._remembered += len(row)
        return row


def _weighted_mean(terms: Iterable[tuple[Any, Floats]], weight: Any, size: int) -> Floats:
    """The sum of terms (a weight, and local similarities [size]) divided by the sum of weights."""
    total = np.zeros(size)
    for part, local in terms:
        total += part * local
    mean: Floats = total / weight
    return mean


def _mean_of_known(terms: Iterable[tuple[Any, Floats]], size: int) -> Floats:
    """As `_weighted_mean`, where local similarities that are NaN do not count."""
    total, weight = np.zeros(size), np.zeros(size)
    for part, local in terms:
        known = ~np.isnan(local)
        total += np.where(known, part * local, 0.0)
        weight += np.where(known, part, 0.0)
    mean: Floats = total / np.where(weight > 0.0, weight, 1.0)
    return mean
