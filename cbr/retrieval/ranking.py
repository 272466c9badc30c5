"""Rankings, and the policies that choose from them.

Vectors are ordered by similarity rounded to 1e-6, then by number. A cap counts cases and takes
whole vectors; the tied group that crosses it counts with its share scaled to the room that is left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from cbr.errors import BadValue
from cbr.plugging.guard import guarded
from cbr.plugging.policy import Policy
from cbr.retrieval.index.base import Reach
from cbr.store.arrays import Vectors
from cbr.typing import Flags, Floats, Ints

F = TypeVar("F", bound=Callable[..., Any])

#: Similarities closer than this are the same: float32 features cannot tell them apart.
TOLERANCE = 1e-6


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


@dataclass(frozen=True)
class RetrievalPolicy(Policy):
    """Chooses from a ranking: returns each vector's share, 0 (left out) to 1 (all its cases).

    `reach(**parameters)` may say how far the policy looks, so that an index need not propose more.
    Where the policy takes all that it looks at, `takes_all`, there is nothing left to choose.
    """

    reach: Callable[..., Reach] | None = field(default=None, compare=False)
    takes_all: bool = False

    kind: ClassVar[str] = "retrieval policy"

    @cached_property
    def looks(self) -> Reach:
        if self.reach is None:
            return Reach()
        with guarded(f"reach of {self.kind} {self.name!r}"):
            return Reach(*self.reach(**self.settled).numbers)


def retrieval_policy(
    name: str, *, reach: Callable[..., Reach] | None = None, takes_all: bool = False
) -> Callable[[F], F]:
    """Make ``f(ranking, **parameters) -> shares`` a retrieval policy of this name."""

    def mark(function: F) -> F:
        policy = RetrievalPolicy(name, function, reach=reach, takes_all=takes_all)
        function.__cbr__ = policy  # type: ignore[attr-defined]
        return function

    return mark


def capped(rounded: Ints, cases: NDArray[Any], cap: float) -> Floats:
    """Share of each ranked vector when `cap` cases are taken from the front.

    Whole groups of equal (rounded) similarity as long as there is room; the group that crosses the
    cap gets the share that fills it, and what comes later nothing.
    """
    _whole(cap)
    group = np.cumsum(np.diff(rounded, prepend=rounded[:1]) != 0)
    in_group = np.bincount(group, cases)
    room = cap - (np.cumsum(in_group) - in_group)
    share: Floats = np.clip(room / np.maximum(in_group, 1e-300), 0.0, 1.0)[group]
    return share


def _threshold_reach(above: float, cap: int, fallback: int) -> Reach:
    return Reach(above, _whole(cap), _whole(fallback))


def _top_reach(k: int) -> Reach:
    return Reach(2.0, fallback=_whole(k))


def _radius_reach(above: float) -> Reach:
    return Reach(above, fallback=0)


def _whole(cases: float) -> float:
    if not cases >= 1:
        raise BadValue(f"{cases} cases to retrieve; it must be 1 or more")
    return cases


@retrieval_policy("threshold", reach=_threshold_reach, takes_all=True)
def threshold(ranking: Ranking, above: float = 0.97, cap: int = 100, fallback: int = 20) -> Floats:
    """All cases more similar than `above`, at most `cap`; if none is, the best `fallback`."""
    inside = ranking.similarity > above - TOLERANCE
    if not inside.any():
        return top(ranking, fallback)
    share: Floats = inside * capped(ranking.rounded, inside * ranking.cases, cap)
    return share


@retrieval_policy("top", reach=_top_reach, takes_all=True)
def top(ranking: Ranking, k: int = 10) -> Floats:
    """The best `k` cases."""
    return capped(ranking.rounded, ranking.cases, k)


@retrieval_policy("radius", reach=_radius_reach, takes_all=True)
def radius(ranking: Ranking, above: float = 0.9) -> Floats:
    """All cases more similar than `above`, however many or few."""
    inside: Floats = (ranking.similarity > above - TOLERANCE).astype(np.float64)
    return inside


def millionths(similarity: Floats) -> Ints:
    return np.rint(similarity / TOLERANCE).astype(np.int64)


def within(similarity: Floats, cases: Ints, reach: Reach) -> Flags:
    """Which vectors the reach includes, with all ties at its edge."""
    near: Flags = similarity > reach.above - TOLERANCE
    room = reach.cap
    if not near.any():
        near, room = np.ones(len(similarity), bool), reach.fallback
    if room <= 0:
        return np.zeros(len(similarity), bool)
    if cases[near].sum() > room:
        # A vector holds at least one case, so the best `room` vectors are always enough.
        rounded = millionths(similarity)
        inside = rounded[near]
        most = int(min(room, len(inside)))
        near = near & (rounded >= np.partition(inside, -most)[-most])
    return near
