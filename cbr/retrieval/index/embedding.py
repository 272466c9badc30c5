"""Embeddings: vectors as points whose inner product approximates the similarity of two cases.

Each feature is compared at anchors: all its values if they are few or words, else some values at
even quantiles of the vectors. A vector is represented by interpolation between the anchors around
its values, a target by its similarity to every anchor times the weight of the feature. Their inner
product is the weighted similarity: exact where every value is an anchor, whatever the measure, and
interpolated elsewhere. So the points of vectors depend on neither weights nor measures
(`spread_out`). A missing value is an anchor of its own; where it does not count, it has similarity
1 there, so that the inner product is never below the similarity.

Graphs and clusters need points that are close together if cases are similar. For one set of
weights, the matrix of similarities among the anchors is decomposed into eigenvectors, and points
are coordinates along the main ones (`compressed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cbr.measure import Bound
from cbr.store.arrays import Vectors
from cbr.typing import Floats

Points = NDArray[np.float32]

#: Vectors that are spread over all anchors at a time, and from which main directions are estimated.
_AT_A_TIME = 16_384
#: Directions whose eigenvalue is below this part of the feature's largest are left out as noise.
_NOISE = 1e-6


@dataclass(frozen=True, eq=False)
class Anchors:
    """For each feature some of its values, in order, NaN last if cases lack it; `words` says which
    features are categories."""

    values: Sequence[Points]
    words: Sequence[bool]

    @classmethod
    def choose(cls, vectors: Vectors, few: int, many: int) -> Anchors:
        """All values of a category or of a feature with up to `few` values, else `many` of them."""
        words = [not feature.is_number for feature in vectors.case_type.indexed]
        values = []
        for word, (distinct, of_vector) in zip(words, vectors.columns, strict=True):
            known = np.count_nonzero(~np.isnan(distinct))
            if not word and known > max(few, 2):
                of_known = np.sort(of_vector[of_vector < known])
                places = np.linspace(0, len(of_known) - 1, max(many, 2)).astype(int)
                distinct = distinct[
                    np.append(np.unique(of_known[places]), np.arange(known, len(distinct)))
                ]
            values.append(distinct)
        return cls(values, words)

    @cached_property
    def ends(self) -> list[int]:
        """Offsets of each feature's anchors in the concatenation of all, and the total number."""
        return [0, *np.cumsum([len(values) for values in self.values]).tolist()]

    def spread(self, values: NDArray[np.float32]) -> Points:
        """Vectors [n, d] as weights of all anchors [n, a]: each value is interpolated between the
        two anchors around it."""
        out = np.zeros((len(values), self.ends[-1]), np.float32)
        for place, (anchors, begin) in enumerate(zip(self.values, self.ends, strict=False)):
            row, column = np.arange(len(values)), values[:, place]
            if np.isnan(anchors[-1]):
                absent = np.isnan(column)
                out[absent, begin + len(anchors) - 1] = 1.0
                row, column, anchors = row[~absent], column[~absent], anchors[:-1]
            if len(anchors) < 2:
                out[row, begin] = 1.0
                continue
            below = np.searchsorted(anchors, column, "right") - 1
            below = np.clip(below, 0, len(anchors) - 2)
            low, high = anchors[below].astype(np.float64), anchors[below + 1].astype(np.float64)
            part = np.clip((column - low) / (high - low), 0.0, 1.0)
            out[row, begin + below] = 1.0 - part
            out[row, begin + below + 1] = part
        return out

    def similarities(self, measures: Sequence[Bound], targets: NDArray[np.float32]) -> Floats:
        """Similarity of targets [q, d] to all anchors [q, a]."""
        found = []
        for bound, anchors, column in zip(measures, self.values, targets.T, strict=True):
            each, which = np.unique(column, return_inverse=True)
            similar = bound.grid(each, anchors)
            similar[np.isnan(similar)] = 1.0
            found.append(similar[which.reshape(-1)])
        return np.concatenate(found, axis=1)


@dataclass(frozen=True, eq=False)
class Embedding:
    """Vectors and targets as points. `of_vector` and `of_target` [a, dimensions] map anchors to
    points; None if the anchors themselves are the dimensions."""

    anchors: Anchors
    of_vector: Points | None = None
    of_target: Points | None = None

    @property
    def dimensions(self) -> int:
        return self.anchors.ends[-1] if self.of_vector is None else self.of_vector.shape[1]

    def vectors(self, values: NDArray[np.float32]) -> Points:
        """Points of vectors [n, d]."""
        if self.of_vector is None:
            return self.anchors.spread(values)
        out = np.empty((len(values), self.dimensions), np.float32)
        for at in range(0, len(values), _AT_A_TIME):
            part = slice(at, at + _AT_A_TIME)
            out[part] = self.anchors.spread(values[part]) @ self.of_vector
        return out

    def targets(
        self, measures: Sequence[Bound], targets: NDArray[np.float32], weights: Floats
    ) -> Points:
        """Points of targets [q, d]; `weights` [q, d] are used if the embedding includes none."""
        similar = self.anchors.similarities(measures, targets)
        if self.of_target is None:
            relative = weights / weights.sum(axis=1, keepdims=True)
            similar *= np.repeat(relative, np.diff(self.anchors.ends), axis=1)
            return similar.astype(np.float32)
        return similar.astype(np.float32) @ self.of_target


def spread_out(vectors: Vectors, few: int, many: int) -> Embedding:
    """An embedding that serves any weights and measures: the anchors are its dimensions."""
    return Embedding(Anchors.choose(vectors, few, many))


def compressed(
    vectors: Vectors, measures: Sequence[Bound], weights: Floats, many: int, dimensions: int
) -> Embedding:
    """An embedding for one set of weights, in which the squared distance of two points is about
    twice the loss of similarity."""
    anchors = Anchors.choose(vectors, many, many)
    whole = weights / weights.sum()
    blocks = [
        _directions(bound, values, weight)
        for bound, values, weight in zip(measures, anchors.values, whole.tolist(), strict=True)
    ]
    of_vector = _along([block for block, _ in blocks])
    of_target = _along([block for _, block in blocks])
    # Features are correlated, so the vectors span far fewer directions than their features.
    some = np.random.default_rng(0).integers(0, len(vectors), min(len(vectors), _AT_A_TIME))
    points = anchors.spread(vectors.values[some]) @ of_vector
    _, main = np.linalg.eigh(points.T.astype(np.float64) @ points)
    main = main[:, ::-1][:, :dimensions]
    return Embedding(anchors, _plain(of_vector @ main), _plain(of_target @ main))


def _directions(bound: Bound, anchors: Points, weight: float) -> tuple[Floats, Floats]:
    """Anchors of one feature as points, and the matrix that maps similarities to them to a point.

    A measure need be neither symmetric nor positive definite: only its symmetric part and positive
    eigenvalues are kept. A missing value is as similar as it is to a target, and 1 to itself.
    """
    known = int(np.count_nonzero(~np.isnan(anchors)))
    similar = np.ones((len(anchors), len(anchors)))
    similar[:known] = np.nan_to_num(bound.grid(anchors[:known], anchors), nan=1.0)
    similar[known:, :known] = similar[:known, known:].T
    strength, direction = np.linalg.eigh((similar + similar.T) / 2)
    kept = strength > _NOISE * max(strength[-1], 1e-300)
    root, direction = np.sqrt(strength[kept]), direction[:, kept]
    return np.sqrt(weight) * direction * root, np.sqrt(weight) * direction / root


def _along(blocks: Sequence[Floats]) -> Floats:
    """A block-diagonal matrix."""
    out = np.zeros((sum(len(b) for b in blocks), sum(b.shape[1] for b in blocks)))
    row = column = 0
    for block in blocks:
        out[row : row + len(block), column : column + block.shape[1]] = block
        row, column = row + len(block), column + block.shape[1]
    return out


def _plain(matrix: Floats) -> Points:
    return np.ascontiguousarray(matrix, np.float32)
