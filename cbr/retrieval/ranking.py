"""The order of scored vectors, and the cap with its ties, defined once.

Vectors are ordered by similarity rounded to 1e-6, then by number. A cap counts cases and takes
whole vectors; the tied group that crosses it counts with its share scaled to the room that is left.

Compiled code cuts in loops of its own, and tests hold it to this module: `tree_search.rank`, and
the votes of the nearest cases in `upkeep`, which are whole numbers.
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

#: Similarities closer than this are the same: float32 features cannot tell them apart.
TOLERANCE = 1e-6


def millionths(similarity: Floats) -> Ints:
    """Similarity as it orders and ties."""
    return np.rint(similarity / TOLERANCE).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Ranking:
    """Vectors nearest first, as a policy sees them: `number`, `similarity` and `cases`, each [m].

    `rounded` is the similarity as it orders and ties: in whole millionths.
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

    Whole groups of equal (rounded) similarity as long as there is room; the group that crosses the
    cap gets the share that fills it, and what comes later nothing.
    """
    return _capped(np.zeros(len(rounded), np.int64), rounded, cases, np.array([cap], np.float64))


def _capped(target: Ints, rounded: Ints, cases: NDArray[Any], cap: Floats) -> Floats:
    """`capped` for many targets, one ranking after the other: `cap` is by target."""
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
    """What the reach includes of scored vectors, for each of so many targets, nearest first.

    Row i says that vector ``number[i]``, with ``cases[i]`` cases, is so similar to ``target[i]``;
    the rows of a target stand together, and targets are in order.
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
        # To sort all takes long. A vector holds a case or more, so as many as there is room for
        # are always enough, with those that tie with the last of them.
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
