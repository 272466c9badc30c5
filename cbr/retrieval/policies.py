"""Retrieval policies: which of the ranked vectors are retrieved, and with which share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from cbr.errors import BadValue, PluginFailure
from cbr.marks import mark
from cbr.plugging.guard import guarded
from cbr.plugging.policy import Policy
from cbr.retrieval.index.base import Reach
from cbr.retrieval.ranking import TOLERANCE, Ranking, capped
from cbr.typing import Floats

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class RetrievalPolicy(Policy):
    """Chooses from a ranking: returns each vector's share, 0 (left out) to 1 (all its cases).

    `reach(**parameters)` may bound what the policy can retrieve, so that an index need not propose
    more. With `takes_all` the policy retrieves everything within its reach, and is not called.
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

    def shares(self, ranking: Ranking) -> Floats:
        """The share of each ranked vector, verified."""
        share: Floats = self(ranking)
        if share.shape != (len(ranking),) or not ((share >= 0) & (share <= 1)).all():
            raise PluginFailure(
                f"retrieval policy {self.name!r} must return a share between 0 and 1 for each of "
                f"the {len(ranking)} vectors ranked"
            )
        return share


def retrieval_policy(
    name: str, *, reach: Callable[..., Reach] | None = None, takes_all: bool = False
) -> Callable[[F], F]:
    """Make ``f(ranking, **parameters) -> shares`` a retrieval policy of this name."""

    return mark(lambda function: RetrievalPolicy(name, function, reach=reach, takes_all=takes_all))


def _threshold_reach(above: float, cap: int, fallback: int) -> Reach:
    return Reach(above, _one_or_more(cap), _one_or_more(fallback))


def _top_reach(k: int) -> Reach:
    return Reach(2.0, fallback=_one_or_more(k))


def _radius_reach(above: float) -> Reach:
    return Reach(above, fallback=0)


def _one_or_more(cases: float) -> float:
    if not cases >= 1:
        raise BadValue(f"{cases} cases to retrieve; it must be 1 or more")
    return cases


@retrieval_policy("threshold", reach=_threshold_reach, takes_all=True)
def threshold(ranking: Ranking, above: float = 0.97, cap: int = 100, fallback: int = 20) -> Floats:
    """All cases more similar than `above`, at most `cap`; if none is, the best `fallback`."""
    inside = ranking.similarity > above - TOLERANCE
    if not inside.any():
        return top(ranking, fallback)
    share: Floats = inside * capped(ranking.rounded, inside * ranking.cases, _one_or_more(cap))
    return share


@retrieval_policy("top", reach=_top_reach, takes_all=True)
def top(ranking: Ranking, k: int = 10) -> Floats:
    """The best `k` cases."""
    return capped(ranking.rounded, ranking.cases, _one_or_more(k))


@retrieval_policy("radius", reach=_radius_reach, takes_all=True)
def radius(ranking: Ranking, above: float = 0.9) -> Floats:
    """All cases more similar than `above`."""
    inside: Floats = (ranking.similarity > above - TOLERANCE).astype(np.float64)
    return inside
