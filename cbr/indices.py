"""The kinds of index that the engine brings."""

from __future__ import annotations

from collections.abc import Sequence

from cbr.index import Index, IndexKind, Scan
from cbr.measure import Bound
from cbr.vectors import Vectors

#: Comparing so many values takes no longer than loading what is compiled.
_FEW = 100_000


def _exact(vectors: Vectors, measures: Sequence[Bound]) -> Index:
    from cbr.trie import Trie

    return Trie(vectors, measures)


def _auto(vectors: Vectors, measures: Sequence[Bound]) -> Index:
    few = len(vectors) * len(measures) < _FEW
    return Scan(vectors, measures) if few else _exact(vectors, measures)


def _flat(
    vectors: Vectors, measures: Sequence[Bound], few: int = 0, anchors: int = 0, fetch: int = 0
) -> Index:
    from cbr.faiss_index import Search
    from cbr.saved_index import ready

    given = {"few": few, "anchors": anchors}
    return ready("faiss-flat", vectors, measures, given, Search(fetch))


def _hnsw(
    vectors: Vectors,
    measures: Sequence[Bound],
    dimensions: int = 0,
    links: int = 0,
    effort: int = 0,
    breadth: int = 0,
    fetch: int = 0,
) -> Index:
    from cbr.faiss_index import Search
    from cbr.saved_index import ready

    given = {"dimensions": dimensions, "links": links, "effort": effort}
    return ready("faiss-hnsw", vectors, measures, given, Search(fetch, breadth))


def _ivf(
    vectors: Vectors,
    measures: Sequence[Bound],
    dimensions: int = 0,
    lists: int = 0,
    bits: int = 0,
    probes: int = 0,
    fetch: int = 0,
) -> Index:
    from cbr.faiss_index import Search
    from cbr.saved_index import ready

    given = {"dimensions": dimensions, "lists": lists, "bits": bits}
    return ready("faiss-ivf", vectors, measures, given, Search(fetch, probes=probes))


# A parameter of 0 is what the saved index has, or what suits.
KINDS = (
    IndexKind("auto", _auto, "scan where there is little to compare, else exact"),
    IndexKind("exact", _exact, "a tree that leaves out what cannot be near"),
    IndexKind("scan", Scan, "scores every vector"),
    IndexKind("faiss-flat", _flat, "FAISS compares points with every vector, for any weights"),
    IndexKind("faiss-hnsw", _hnsw, "FAISS goes from neighbour to neighbour, for one weight set"),
    IndexKind("faiss-ivf", _ivf, "FAISS looks into the nearest clusters, for one weight set"),
)
