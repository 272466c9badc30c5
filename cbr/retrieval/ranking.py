"""The order of scored vectors, and how a cap treats ties: the reference definition.

Vectors are ordered by similarity rounded to 1e-6, then by number. A cap counts cases and takes
whole vectors; the group of equal similarity that crosses the cap is taken with the share that fills
the remaining room.

Compiled code repeats this in its own loops (`tree_search.rank`, and in whole numbers the votes of
the nearest cases in `upkeep`); tests compare it with this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.retrieval.index.base import NearestVectors, Reach
from cbr.store.arrays import Vectors
from cbr.typing import Floats, Ints

#: Similarities closer than this count as equal: float32 features are not more precise.
TOLERANCE = 1e-6


def millionths(similarity: Floats) -> Ints:
    """Similarity in whole millionths, by which vectors are ordered and tie."""
    return np.rint(similarity / TOLERANCE).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Ranking:
    """Vectors nearest first, as passed to a policy: `number`, `similarity` and `cases`, each [m].

    `rounded` is the similarity in whole millionths, by which vectors are ordered and tie.
    """

    vectors: Vectors
    number: Ints
    similarity: Floats

    @cached_property
    def cases(self) -> Ints:
        return self.vectors.cases[self.number]

    @cached_property
    def rounded(self) -> Ints:
        return millionths(self.similarity)

    def __len__(self) -> int:
        return len(self.number)


def capped(rounded: Ints, cases: NDArray[Any], cap: float) -> Floats:
    """Share of each ranked vector when `cap` cases are taken from the front.

    Whole groups of equal (rounded) similarity have share 1 while there is room; the group that
    crosses the cap gets the share that fills it, and later groups get 0.
    """
    return _capped(np.zeros(len(rounded), np.int64), rounded, cases, np.array([cap], np.float64))


def _capped(target: Ints, rounded: Ints, cases: NDArray[Any], cap: Floats) -> Floats:
    """`capped` for many targets, whose rankings are concatenated; `cap` is by target."""
    new = np.ones(len(target), bool)
    new[1:] = (target[1:] != target[:-1]) | (rounded[1:] != rounded[:-1])
    group = np.cumsum(new) - 1
    of_group = target[new]
    held = np.bincount(group, cases, len(of_group))
    before = np.cumsum(held) - held
    before -= before[np.searchsorted(of_group, of_group)]
    share: Floats = np.clip((cap[of_group] - before) / np.maximum(held, 1e-300), 0.0, 1.0)[group]
    return share


def nearest(
    reach: Reach, target: Ints, number: Ints, similarity: Floats, cases: Ints, targets: int
) -> NearestVectors:
    """The scored vectors within the reach, for each target, nearest first.

    Row i is vector ``number[i]``, with ``cases[i]`` cases, and its similarity to ``target[i]``;
    rows are grouped by target, in the order of targets.
    """
    above, cap, fallback = reach.numbers
    near = similarity > above - TOLERANCE
    alone = targets == 1
    some = np.array([near.any()]) if alone else np.bincount(target[near], minlength=targets) > 0
    room = np.where(some, cap, fallback)
    mine = 0 if alone else target
    kept = np.flatnonzero((near | ~some[mine]) & (room > 0)[mine])
    rounded = millionths(similarity[kept])
    if alone and len(kept) > room[0]:
        # Sorting all vectors is slow. Each holds at least one case, so as many vectors as the cap
        # counts cases are enough, with those that tie with the last of them.
        most = int(np.ceil(room[0]))
        inside = rounded >= np.partition(rounded, -most)[-most]
        kept, rounded = kept[inside], rounded[inside]
    order = np.lexsort((number[kept], -rounded, target[kept]))
    kept, rounded = kept[order], rounded[order]
    share = _capped(target[kept], rounded, cases[kept], room)
    inside = share > 0
    kept, share = kept[inside], share[inside]
    size = np.bincount(target[kept], minlength=targets)
    return NearestVectors(np.append(0, np.cumsum(size)), number[kept], similarity[kept], share)
