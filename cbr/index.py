"""Indices: which vectors can be among the nearest, without looking at each.

An index is always made from the casebase and never trusted further than that: it only proposes
candidates, and the engine scores them exactly. `exact` proposes every vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from cbr.guard import guarded
from cbr.spec import Spec, settle

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cbr.measure import Bound
    from cbr.vectors import Vectors


@dataclass(frozen=True)
class Reach:
    """How far a retrieval policy looks: at all vectors more similar than `above`, and in any case
    at the nearest ones that together hold `at_least` cases. The default is everything."""

    above: float = -1.0
    at_least: float = float("inf")


class Index(Protocol):
    """A built index of one stage."""

    def candidates(
        self, target: NDArray[np.float32], weights: NDArray[np.float64], reach: Reach
    ) -> NDArray[np.int64]:
        """Numbers of the vectors that `reach` may include for this target, in any order.

        `target` [d] holds codes as `Vectors.values` does, `weights` [d] sum to more than 0.
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
class Exact:
    """Every vector is a candidate."""

    vectors: Vectors
    measures: Sequence[Bound] = ()

    def candidates(
        self, target: NDArray[np.float32], weights: NDArray[np.float64], reach: Reach
    ) -> NDArray[np.int64]:
        import numpy as np

        return np.arange(len(self.vectors))


EXACT = IndexKind("exact", Exact, "scores every vector")
