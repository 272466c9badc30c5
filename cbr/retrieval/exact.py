"""Scoring what an index proposed, for many targets at once, as the retrieved set is defined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cbr.measure import Bound
from cbr.retrieval.index.base import Found, Reach
from cbr.retrieval.ranking import TOLERANCE, millionths
from cbr.store.arrays import Vectors
from cbr.typing import Floats, Ints

#: A feature with more distinct values than this is compared pair by pair.
_DISTINCT = 256


def score(
    vectors: Vectors,
    measures: Sequence[Bound],
    codes: NDArray[np.float32],
    weights: Floats,
    target: Ints,
    number: Ints,
) -> Floats:
    """Similarity of target ``target[i]`` to vector ``number[i]``, summed in feature order."""
    total = np.zeros(len(number))
    for place, bound in enumerate(measures):
        if not weights[:, place].any():
            continue
        distinct, of_vector = vectors.columns[place]
        if bound.feature.is_number and len(distinct) > _DISTINCT:
            given = codes[:, place].astype(np.float64)[target]
            local = bound.pairs(given, distinct[of_vector[number]].astype(np.float64))
        else:
            each, which = np.unique(codes[:, place], return_inverse=True)
            local = bound.grid(each, distinct)[which.reshape(-1)[target], of_vector[number]]
        total += weights[target, place] * local
    mean: Floats = total / weights.cumsum(axis=1)[target, -1]
    return mean


def nearest(
    vectors: Vectors,
    measures: Sequence[Bound],
    codes: NDArray[np.float32],
    weights: Floats,
    reach: Reach,
    proposed: Sequence[Ints],
) -> Found:
    """Of what was proposed for each target, once each, what the reach includes, nearest first."""
    above, cap, fallback = reach.numbers
    target = np.repeat(np.arange(len(proposed)), [len(numbers) for numbers in proposed])
    number = np.concatenate(proposed) if proposed else np.empty(0, np.int64)
    similarity = score(vectors, measures, codes, weights, target, number)
    near = similarity > above - TOLERANCE
    some = np.bincount(target[near], minlength=len(codes)) > 0
    room = np.where(some, cap, fallback)
    kept = (near | ~some[target]) & (room > 0)[target]
    target, number, similarity = target[kept], number[kept], similarity[kept]
    rounded = millionths(similarity)
    order = np.lexsort((number, -rounded, target))
    target, number, similarity = target[order], number[order], similarity[order]
    share = _shares(target, rounded[order], vectors.cases[number], room)
    kept = share > 0
    size = np.bincount(target[kept], minlength=len(codes))
    return Found(np.append(0, np.cumsum(size)), number[kept], similarity[kept], share[kept])


def joined(parts: Sequence[Found]) -> Found:
    """What was found for some targets, and then for others."""
    if len(parts) == 1:
        return parts[0]
    size = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.start) for part in parts)])
    number = np.concatenate([part.number for part in parts])
    similarity = np.concatenate([part.similarity for part in parts])
    return Found(np.cumsum(size), number, similarity, np.concatenate([p.share for p in parts]))


def _shares(target: Ints, rounded: Ints, cases: Ints, room: Floats) -> Floats:
    """As `ranking.capped`, for many targets one after the other."""
    new = np.ones(len(target), bool)
    new[1:] = (target[1:] != target[:-1]) | (rounded[1:] != rounded[:-1])
    group = np.cumsum(new) - 1
    of_group = target[new]
    held = np.bincount(group, cases, len(of_group))
    before = np.cumsum(held) - held
    before -= before[np.searchsorted(of_group, of_group)]
    share: Floats = np.clip((room[of_group] - before) / held, 0.0, 1.0)[group]
    return share
