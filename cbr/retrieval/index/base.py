"""The interface of an index, its reach, and the scan over all vectors.

An index is derived from the casebase. It only proposes candidates for the nearest vectors; the
engine scores them exactly.
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
    """The part of a ranking that a retrieval policy needs: all cases more similar than `above`, at
    most the nearest `cap` of them; if there are none, the nearest `fallback`. The default is the
    whole ranking."""

    above: float = -1.0
    cap: float = float("inf")
    fallback: float = float("inf")

    @property
    def numbers(self) -> tuple[float, float, float]:
        return float(self.above), float(self.cap), float(self.fallback)


class NearestVectors(NamedTuple):
    """Vectors for some targets, nearest first; those of target i begin at ``start[i]``.

    `share` is the part of each vector's cases within the reach: it is below 1 where vectors of
    equal similarity cross the cap.
    """

    start: Ints
    number: Ints
    similarity: Floats
    share: Floats

    def of(self, target: int) -> NearestVectors:
        """The vectors of one of the targets."""
        import numpy as np

        span = slice(int(self.start[target]), int(self.start[target + 1]))
        size = np.array([0, span.stop - span.start])
        return NearestVectors(size, self.number[span], self.similarity[span], self.share[span])


def joined(parts: Sequence[NearestVectors]) -> NearestVectors:
    """The results for several groups of targets, concatenated."""
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
        """For each target the numbers of the vectors that may be within `reach`, in any order.

        `targets` [q, d] holds codes as `Vectors.values` does, without NaN; each row of `weights`
        [q, d] sums to more than 0.
        """
        ...


@dataclass(frozen=True)
class IndexKind:
    """A kind of index that a plugin offers: its name, and the function that builds one.

    `build(vectors, measures, **parameters)` gets a stage's arrays and the measure of each feature.
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
