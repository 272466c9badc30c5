"""Indices: which vectors can be among the nearest, without looking at each.

An index is always made from the casebase and never trusted further than that: it only proposes
candidates, and the engine scores them exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from cbr.plugging.guard import guarded
from cbr.spec import Spec, settle

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cbr.measure import Bound
    from cbr.store.arrays import Vectors
    from cbr.typing import Floats, Ints


@dataclass(frozen=True)
class Reach:
    """How far a retrieval policy looks: at all cases more similar than `above`, but no more than
    the nearest `cap` of them; if there is none, at the nearest `fallback`. The default is
    everything."""

    above: float = -1.0
    cap: float = float("inf")
    fallback: float = float("inf")

    @property
    def numbers(self) -> tuple[float, float, float]:
        return float(self.above), float(self.cap), float(self.fallback)


class NearestVectors(NamedTuple):
    """Vectors for some targets, nearest first; target i has those from ``start[i]`` on.

    `share` is how much of each vector the reach includes: where the cap cuts through vectors of one
    similarity, they have room for a part of their cases.
    """

    start: Ints
    number: Ints
    similarity: Floats
    share: Floats


def joined(parts: Sequence[NearestVectors]) -> NearestVectors:
    """What was found for some targets, and then for others."""
    import numpy as np

    if len(parts) == 1:
        return parts[0]
    size = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.start) for part in parts)])
    number = np.concatenate([np.empty(0, np.int64), *(part.number for part in parts)])
    similarity = np.concatenate([np.empty(0), *(part.similarity for part in parts)])
    share = np.concatenate([np.empty(0), *(part.share for part in parts)])
    return NearestVectors(np.cumsum(size), number, similarity, share)


class Index(Protocol):
    """A built index of one stage."""

    def candidates(
        self, targets: NDArray[np.float32], weights: Floats, reach: Reach
    ) -> Sequence[Ints]:
        """For each target the vectors that `reach` may include, by number, in any order.

        `targets` [q, d] holds codes as `Vectors.values` does; each row of `weights` [q, d] sums to
        more than 0.
        """
        ...


@dataclass(frozen=True)
class IndexKind:
    """A kind of index that a plugin offers: its name, and what builds one from a stage.

    `build(vectors, measures, **parameters)` gets the arrays and the measure of each feature.
    """

    name: str
    build: Callable[..., Index]
    meaning: str = ""

    kind: ClassVar[str] = "index"

    def make(self, vectors: Vectors, measures: Sequence[Bound], spec: Spec) -> Index:
        """An index of this kind with the parameters of a spec."""
        parameters = settle(self.build, 2, spec)
        with guarded(f"index {self.name!r}"):
            return self.build(vectors, measures, **parameters)


@dataclass(frozen=True)
class Scan:
    """Every vector is a candidate."""

    vectors: Vectors
    measures: Sequence[Bound] = ()

    def candidates(
        self, targets: NDArray[np.float32], weights: Floats, reach: Reach
    ) -> Sequence[Ints]:
        import numpy as np

        everything = np.arange(len(self.vectors))
        return [everything] * len(targets)
