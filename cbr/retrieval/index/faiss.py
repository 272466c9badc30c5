"""FAISS indices: approximate search for near vectors among very many.

They propose candidates, which are scored exactly; they may miss some. The flat index compares every
vector and serves any weights. The graph (`hnsw`) and the clusters (`ivf`) compare few vectors; they
are built for one set of weights and refuse others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.errors import BadValue
from cbr.measure import Bound
from cbr.retrieval import ranking
from cbr.retrieval.index.base import NearestVectors, Reach, joined
from cbr.retrieval.index.embedding import Embedding, Points, compressed, spread_out
from cbr.retrieval.scoring import Scorer
from cbr.store.arrays import Vectors
from cbr.typing import Flags, Floats, Ints

#: Default parameters of each kind of index; 0: chosen by size.
USUAL: Mapping[str, Mapping[str, int]] = {
    "faiss-flat": {"few": 64, "anchors": 32},
    "faiss-hnsw": {"dimensions": 0, "links": 32, "effort": 80},
    "faiss-ivf": {"dimensions": 0, "lists": 0, "bits": 8},
}
#: Anchors of a feature in a compressed embedding.
_ANCHORS = 128
#: (vectors up to, dimensions): the denser the vectors, the more precise points must be.
_DIMENSIONS = ((300_000, 48), (3_000_000, 64), (float("inf"), 96))
#: The most clusters: assigning ten million vectors to clusters takes most of the building time.
_LISTS = 4096
#: The fewest clusters that are searched.
_PROBES = 16
#: The fewest vectors in the searched clusters, for each vector to fetch.
_LOOKED_AT = 16
#: The fewest vectors in a cluster, on average.
_IN_LIST = 40
#: Training vectors for each cluster.
_TRAINED = 64
#: Iterations of k-means.
_ROUNDS = 10
#: Vectors that are added at a time, so that their points need not all be in memory.
_ADDED = 1 << 18
#: Possible starting points of a search in a graph: this times the square root of all vectors.
_STARTS = 16
#: The number of these at which a search starts: the nearest ones.
_BEGUN = 16
#: The search type of FAISS that starts at all of them together.
_FROM_ALL = 2
#: Similarities of points closer than this count as equal: they are sums of float32.
_SAME = 1e-5
#: The error allowed between the similarity of two points and that of their cases.
_NEARLY = 0.01
#: From this many targets (in FAISS 1.15: numbers) on, FAISS compares by a product of matrices.
_PRODUCTS = 20
#: Upper limits of parameters: higher values take hours and find no more.
_MOST = {"few": 100_000, "anchors": 100_000, "dimensions": 4_096, "links": 512, "effort": 10_000}
_MOST |= {"lists": 1_000_000, "bits": 32}
#: Targets whose candidates are scored together.
_AT_A_TIME = 1024
#: The most similarities in memory at a time.
_IN_HAND = 4_000_000


@dataclass(frozen=True, eq=False)
class Built:
    """A built index, as it is saved; `weights` [d] are those it is built for, None for any."""

    kind: str
    parameters: Mapping[str, int]
    weights: Floats | None
    embedding: Embedding
    inner: Any


def build_faiss(
    kind: str,
    vectors: Vectors,
    measures: Sequence[Bound],
    given: Mapping[str, int],
    weights: Floats | None = None,
) -> Built:
    """Build an index; `weights` are the features' own if not given."""
    chosen = _settled(kind, given, len(vectors))
    if kind == "faiss-flat":
        embedding = spread_out(vectors, chosen["few"], chosen["anchors"])
        return Built(kind, chosen, None, embedding, _flat(embedding.vectors(vectors.values)))
    if weights is None:
        weights = np.array([feature.weight for feature in vectors.case_type.indexed])
    if not weights.any():
        raise BadValue(f"all weights of {vectors.case_type.stage!r} are 0; an index needs one")
    embedding = compressed(vectors, measures, weights, _ANCHORS, chosen["dimensions"])
    lay_out = _hnsw if kind == "faiss-hnsw" else _ivf
    return Built(kind, chosen, weights, embedding, lay_out(embedding, vectors.values, chosen))


def _settled(kind: str, given: Mapping[str, int], count: int) -> dict[str, int]:
    chosen = {name: given.get(name) or usual for name, usual in USUAL[kind].items()}
    if kind != "faiss-flat" and not chosen["dimensions"]:
        chosen["dimensions"] = next(some for most, some in _DIMENSIONS if count <= most)
    if kind == "faiss-ivf":
        # Twice the square root of the number, so that finding and searching a cluster cost alike.
        by_size = 1 << round(np.log2(2 * np.sqrt(count)))
        chosen["lists"] = chosen["lists"] or min(by_size, _LISTS)
        chosen["lists"] = max(1, min(chosen["lists"], count // _IN_LIST))
        if chosen["bits"] not in {4, 8, 16, 32}:
            raise BadValue(f"bits of {kind!r} is {chosen['bits']}; it must be 4, 8, 16 or 32")
    for name, value in chosen.items():
        least, most = 2 if name in {"links", "anchors"} else 1, _MOST[name]
        if not least <= value <= most:
            raise BadValue(f"{name} of {kind!r} is {value}; it must be {least} to {most:,}")
    return chosen


def _flat(points: Points) -> Any:
    faiss = library()
    inner = faiss.IndexFlatIP(points.shape[1])
    with one_thread():
        inner.add(points)
    return inner


def _hnsw(embedding: Embedding, values: NDArray[np.float32], chosen: Mapping[str, int]) -> Any:
    faiss = library()
    graph = faiss.IndexHNSWFlat(embedding.dimensions, chosen["links"])
    graph.hnsw.efConstruction = chosen["effort"]
    # Vectors are sorted, and a graph built in this order has parts that are hard to reach. So
    # vectors spread over all of them are added first, and a search may start at these.
    shuffled = np.random.default_rng(0).permutation(len(values))
    inner = faiss.IndexIDMap(graph)
    with one_thread():
        inner.add_with_ids(embedding.vectors(values[shuffled]), shuffled)
    return inner


def _ivf(embedding: Embedding, values: NDArray[np.float32], chosen: Mapping[str, int]) -> Any:
    faiss = library()
    lists, dimensions = chosen["lists"], embedding.dimensions
    centres = faiss.IndexFlatL2(dimensions)
    if chosen["bits"] == 32:
        inner = faiss.IndexIVFFlat(centres, dimensions, lists)
    else:
        bits = {4: "QT_4bit", 8: "QT_8bit", 16: "QT_fp16"}[chosen["bits"]]
        quantizer = getattr(faiss.ScalarQuantizer, bits)
        inner = faiss.IndexIVFScalarQuantizer(centres, dimensions, lists, quantizer)
    inner.cp.min_points_per_centroid = 1  # no warning about few training points
    inner.cp.niter = _ROUNDS
    most = min(len(values), lists * _TRAINED)
    some = np.random.default_rng(0).choice(len(values), most, replace=False)
    with one_thread():
        inner.train(embedding.vectors(values[some]))
        for at in range(0, len(values), _ADDED):
            inner.add(embedding.vectors(values[at : at + _ADDED]))
    return inner


def _through_graph(inner: Any, points: Points, fetch: int, breadth: int) -> tuple[Floats, Ints]:
    """Search a graph, starting at the nearest of its first vectors: distances and numbers.

    Groups of similar cases have few links to others, so a search from the top of the graph may end
    in the wrong group.
    """
    faiss = library()
    graph = faiss.downcast_index(inner.index)
    first = min(graph.ntotal, int(_STARTS * np.sqrt(graph.ntotal)))
    held = faiss.downcast_index(graph.storage).get_xb()
    spread = faiss.rev_swig_ptr(held, first * graph.d).reshape(first, graph.d)
    away, start = faiss.knn(points, spread, min(first, _BEGUN))
    start = np.ascontiguousarray(start, np.int32)
    distance = np.empty((len(points), fetch), np.float32)
    number = np.empty((len(points), fetch), np.int64)
    graph.search_level_0(
        len(points),
        faiss.swig_ptr(points),
        fetch,
        faiss.swig_ptr(start),
        faiss.swig_ptr(away),
        faiss.swig_ptr(distance),
        faiss.swig_ptr(number),
        start.shape[1],
        _FROM_ALL,
        faiss.SearchParametersHNSW(efSearch=breadth),
    )
    numbers = faiss.rev_swig_ptr(inner.id_map.data(), graph.ntotal)
    return distance.astype(np.float64), np.where(number < 0, -1, numbers[number])


def library() -> Any:
    """The FAISS module, untyped because its own type hints are incomplete."""
    import faiss

    return faiss


@contextmanager
def one_thread() -> Iterator[None]:
    """Run FAISS in one thread: many targets are divided among processes instead.

    Comparing many targets as one product of matrices takes a fifth of the time. FAISS 1.15 counts
    numbers, not targets, and would do so only for hundreds of targets.
    """
    faiss = library()
    threads, products = faiss.omp_get_max_threads(), faiss.cvar.distance_compute_blas_threshold
    faiss.omp_set_num_threads(1)
    faiss.cvar.distance_compute_blas_threshold = _PRODUCTS
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)
        faiss.cvar.distance_compute_blas_threshold = products


class SearchEffort(NamedTuple):
    """How much an index searches, 0 for automatic: `fetch` vectors for each target, the `breadth`
    of a search in a graph, `probes` clusters."""

    fetch: int = 0
    breadth: int = 0
    probes: int = 0


class FaissIndex:
    """A built index, used for retrieval from the vectors of a stage."""

    def __init__(
        self, vectors: Vectors, measures: Sequence[Bound], built: Built, search: SearchEffort
    ) -> None:
        if min(search) < 0:
            raise BadValue(f"fetch, breadth and probes of {built.kind!r} must be 0 or more")
        self.vectors = vectors
        self.measures = list(measures)
        self.built = built
        self.search = search
        self._scorer = Scorer(vectors, self.measures)
        self._ignores = any(bound.ignores for bound in self.measures)

    def candidates(
        self, targets: NDArray[np.float32], weights: Floats, reach: Reach
    ) -> Sequence[Ints]:
        self._verify_weights(weights)
        first = self._first(reach)
        found: list[Ints] = [np.arange(len(self.vectors))] * len(targets)
        if self._is_most(first):
            return found
        points = self.built.embedding.targets(self.measures, targets, weights)
        pending, fetch = np.arange(len(targets)), first
        # Ties at the edge, vectors with few cases, or a radius may need more vectors.
        while len(pending) and not self._is_most(fetch):
            left = []
            step = max(1, _IN_HAND // fetch)
            for at in range(0, len(pending), step):
                asked = pending[at : at + step]
                similarity, number = self._nearest_points(points[asked], fetch, first)
                last = similarity[:, -1]
                if self._ignores:  # points are then no nearer than they seem
                    similarity = self._scored(targets[asked], weights[asked], number)
                enough = self._enough(similarity, last, number, reach)
                for place in np.flatnonzero(enough):
                    found[asked[place]] = number[place][number[place] >= 0]
                left.append(asked[~enough])
            pending, fetch = np.concatenate(left), 4 * fetch
        return found

    def nearest(self, codes: NDArray[np.float32], weights: Floats, reach: Reach) -> NearestVectors:
        """The candidates within the reach of each target, scored for many targets together."""
        parts = []
        for at in range(0, len(codes), _AT_A_TIME):
            part = codes[at : at + _AT_A_TIME], weights[at : at + _AT_A_TIME]
            proposed = self.candidates(*part, reach)
            target = np.repeat(np.arange(len(proposed)), [len(numbers) for numbers in proposed])
            number = np.concatenate(proposed)
            similarity = self._scorer.pairs(*part, target, number)
            cases = self.vectors.cases[number]
            rows = (target, number, similarity, cases)
            parts.append(ranking.nearest(reach, *rows, targets=len(proposed)))
        return joined(parts)

    def _first(self, reach: Reach) -> int:
        """How many vectors to fetch first: a margin above the cases needed, as each vector has at
        least one."""
        if self.search.fetch:
            return self.search.fetch
        rooms = [room for room in (reach.cap, reach.fallback) if np.isfinite(room)]
        return int(2 * max(rooms, default=0)) + 50

    def _is_most(self, fetch: int) -> bool:
        """Whether so many vectors are to be fetched that taking all is simpler."""
        return 4 * fetch > len(self.vectors)

    def _nearest_points(self, points: Points, fetch: int, first: int) -> tuple[Floats, Ints]:
        """The nearest points, nearest first: approximate similarities and numbers.

        Where there are no more, the number is -1.
        """
        faiss = library()
        kind, inner = self.built.kind, self.built.inner
        with one_thread():
            if kind == "faiss-flat":
                similarity, number = inner.search(points, fetch)
                return similarity.astype(np.float64), number
            if kind == "faiss-hnsw":
                breadth = max(fetch, self.search.breadth)
                distance, number = _through_graph(inner, points, fetch, breadth)
            else:
                probes = (self.search.probes or self._probes(first)) * fetch // first
                how = faiss.SearchParametersIVF(nprobe=min(probes, inner.nlist))
                distance, number = inner.search(points, fetch, params=how)
        return np.where(number < 0, -1.0, 1.0 - distance.astype(np.float64) / 2), number

    def _probes(self, fetch: int) -> int:
        """The default number of clusters to search."""
        lists = self.built.parameters["lists"]
        return max(_PROBES, -(-_LOOKED_AT * fetch * lists // len(self.vectors)))

    def _scored(self, targets: NDArray[np.float32], weights: Floats, number: Ints) -> Floats:
        """The true similarity of each target to the vectors [q, n] fetched for it; -1 for none."""
        target, at = np.nonzero(number >= 0)
        found = np.full(number.shape, -1.0)
        found[target, at] = self._scorer.pairs(targets, weights, target, number[target, at])
        return found

    def _enough(self, similarity: Floats, last: Floats, number: Ints, reach: Reach) -> Flags:
        """For each target, whether the fetched vectors go beyond the reach, so none is missing; no
        other vector is nearer than `last`."""
        exact = self.built.kind == "faiss-flat" and self._all_values
        margin = _SAME if exact else _NEARLY
        best = similarity.max(axis=1)
        ahead = similarity > last[:, None] + _SAME
        held = (self.vectors.cases[number] * ahead * (number >= 0)).sum(axis=1)
        inside = (last < reach.above - margin) | (held >= reach.cap)
        some = (best > reach.above + margin) | (held >= reach.fallback)
        # A graph that returns fewer than requested has no more.
        short = (number[:, -1] < 0) & (self.built.kind == "faiss-hnsw")
        enough: Flags = (inside & some) | short
        return enough

    @property
    def _all_values(self) -> bool:
        """Whether every value is an anchor, so that nothing is interpolated."""
        anchors = self.built.embedding.anchors.values
        return all(len(a) == len(c[0]) for a, c in zip(anchors, self.vectors.columns, strict=True))

    def fits(self, weights: Floats) -> bool:
        """Whether it is built for these weights, [q, d]."""
        mine = self.built.weights
        if mine is None:
            return True
        asked = weights / weights.sum(axis=1, keepdims=True)
        return np.allclose(asked, mine / mine.sum(), rtol=1e-6, atol=1e-9)

    def _verify_weights(self, weights: Floats) -> None:
        mine = self.built.weights
        if mine is not None and not self.fits(weights):
            indexed = self.vectors.case_type.indexed
            given = ",".join(f"{f.name}={w:g}" for f, w in zip(indexed, mine.tolist(), strict=True))
            raise BadValue(
                f"the {self.built.kind} index of {self.vectors.case_type.stage!r} is built for the "
                f"weights {given} and targets that give all features; give these, use --index "
                f"exact or faiss-flat, or build one for other weights with `cbr index --weights`"
            )
