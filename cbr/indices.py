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


KINDS = (
    IndexKind("auto", _auto, "scan where there is little to compare, else exact"),
    IndexKind("exact", _exact, "a tree that leaves out what cannot be near"),
    IndexKind("scan", Scan, "scores every vector"),
)
