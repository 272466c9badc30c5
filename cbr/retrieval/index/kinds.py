"""The engine's kinds of index, and the choice between them that `auto` makes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from cbr.measure import Bound
from cbr.retrieval.index.base import Index, IndexKind, NearestVectors, Reach, Scan
from cbr.store.arrays import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cbr.retrieval.index.faiss import FaissIndex
    from cbr.retrieval.index.tree import TreeIndex
    from cbr.typing import Floats, Ints

#: Comparing fewer values than this takes no longer than loading compiled code.
_FEW = 100_000
#: With fewer vectors than this the tree is always fast.
_MANY = 20_000
#: Cases are sparse if the nearest cases of a case lose more similarity than this,
_SPARSE = 0.05
#: where this many nearest cases are considered,
_NEAREST = 20
#: on average over a sample of this many cases.
_SAMPLE = 32
#: For a policy that retrieves more cases the tree is used: scoring takes longer than finding them.
_TAKEN = 250


def _exact(vectors: Vectors, measures: Sequence[Bound]) -> Index:
    from cbr.retrieval.index.tree import TreeIndex

    return TreeIndex(vectors, measures)


def _auto(vectors: Vectors, measures: Sequence[Bound]) -> Index:
    if len(vectors) * len(measures) < _FEW:
        return Scan(vectors, measures)
    if len(vectors) < _MANY or vectors.beside is None:
        return _exact(vectors, measures)
    from cbr.retrieval.index.saved import path_of

    stage = vectors.case_type.stage
    saved = [kind for kind in Auto.kinds if path_of(vectors.beside, stage, kind).exists()]
    return Auto(vectors, measures) if saved else _exact(vectors, measures)


class Auto:
    """The tree; if cases are sparse, a saved FAISS index that matches.

    A tree prunes branches that lose more similarity than the nearest cases do, so it is slow only
    if these lose much. The choice depends on the casebase, its indices, the weights and the policy,
    never on measured time.
    """

    kinds = ("faiss-ivf", "faiss-hnsw")

    def __init__(self, vectors: Vectors, measures: Sequence[Bound]) -> None:
        from cbr.retrieval.index.tree import TreeIndex

        self.vectors = vectors
        self.measures = list(measures)
        self.tree: TreeIndex = TreeIndex(vectors, measures)
        self.warned = False

    def candidates(
        self, targets: NDArray[np.float32], weights: Floats, reach: Reach
    ) -> Sequence[Ints]:
        return self.chosen(weights, reach).candidates(targets, weights, reach)

    def nearest(self, codes: NDArray[np.float32], weights: Floats, reach: Reach) -> NearestVectors:
        return self.chosen(weights, reach).nearest(codes, weights, reach)

    def chosen(self, weights: Floats, reach: Reach) -> TreeIndex | FaissIndex:
        """The index to use for targets with these weights [q, d]."""
        rooms = [reach.fallback] if reach.above >= 1 else [reach.cap, reach.fallback]
        if max(rooms) > _TAKEN or not self.sparse:
            return self.tree
        for index in self.saved:
            if index.fits(weights):
                self._warn(index.built.kind)
                return index
        return self.tree

    def _warn(self, kind: str) -> None:
        if not self.warned:
            self.warned = True
            warnings.warn(
                f"cases are sparse, so --index auto uses {kind}, which may miss one; "
                f"--index exact misses none",
                stacklevel=2,
            )

    @cached_property
    def sparse(self) -> bool:
        """Whether the nearest cases of a sample of the cases lose much similarity."""
        import numpy as np

        from cbr.retrieval.scoring import stated

        own = np.array([feature.weight for feature in self.vectors.case_type.indexed], np.float64)
        if not own.any():
            return False
        drawn = np.random.default_rng(0).choice(len(self.vectors), _SAMPLE, replace=False)
        weights = np.broadcast_to(own, (_SAMPLE, len(own)))
        codes, weights = stated(self.vectors.values[drawn], weights)
        some = weights.any(axis=1)
        if not some.any():
            return False
        found = self.tree.nearest(codes[some], weights[some], Reach(2.0, fallback=_NEAREST))
        lost = 1.0 - found.similarity[found.start[1:] - 1]
        return float(lost.mean()) > _SPARSE

    @cached_property
    def saved(self) -> list[FaissIndex]:
        """Saved indices that match this casebase."""
        from cbr.retrieval.index.faiss import FaissIndex, SearchEffort
        from cbr.retrieval.index.saved import fitting

        found = []
        for kind in self.kinds:
            built = fitting(kind, self.vectors, self.measures)
            if built is not None:
                found.append(FaissIndex(self.vectors, self.measures, built, SearchEffort()))
        return found


def _flat(
    vectors: Vectors, measures: Sequence[Bound], few: int = 0, anchors: int = 0, fetch: int = 0
) -> Index:
    from cbr.retrieval.index.faiss import SearchEffort
    from cbr.retrieval.index.saved import ready

    given = {"few": few, "anchors": anchors}
    return ready("faiss-flat", vectors, measures, given, SearchEffort(fetch))


def _hnsw(
    vectors: Vectors,
    measures: Sequence[Bound],
    dimensions: int = 0,
    links: int = 0,
    effort: int = 0,
    breadth: int = 0,
    fetch: int = 0,
) -> Index:
    from cbr.retrieval.index.faiss import SearchEffort
    from cbr.retrieval.index.saved import ready

    given = {"dimensions": dimensions, "links": links, "effort": effort}
    return ready("faiss-hnsw", vectors, measures, given, SearchEffort(fetch, breadth))


def _ivf(
    vectors: Vectors,
    measures: Sequence[Bound],
    dimensions: int = 0,
    lists: int = 0,
    bits: int = 0,
    probes: int = 0,
    fetch: int = 0,
) -> Index:
    from cbr.retrieval.index.faiss import SearchEffort
    from cbr.retrieval.index.saved import ready

    given = {"dimensions": dimensions, "lists": lists, "bits": bits}
    return ready("faiss-ivf", vectors, measures, given, SearchEffort(fetch, probes=probes))


# A parameter of 0 stands for that of the saved index, or for the default.
KINDS = (
    IndexKind("auto", _auto, "scan if vectors are few, else exact; a saved FAISS index if sparse"),
    IndexKind("exact", _exact, "exact search by branch and bound in a tree"),
    IndexKind("scan", Scan, "scores every vector"),
    IndexKind("faiss-flat", _flat, "FAISS, compares every vector, for any weights"),
    IndexKind("faiss-hnsw", _hnsw, "FAISS, searches a graph of neighbours, for one set of weights"),
    IndexKind("faiss-ivf", _ivf, "FAISS, searches the nearest clusters, for one set of weights"),
)
