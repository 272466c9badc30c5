"""Quality of an index: recall of the true retrieved set, and time for a query."""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cbr.retrieval.index.base import Index
from cbr.retrieval.index.faiss import USUAL, FaissIndex, SearchEffort, build_faiss
from cbr.retrieval.index.saved import save
from cbr.retrieval.ranking import millionths
from cbr.retrieval.retrieved import RetrievedMany
from cbr.retrieval.retriever import Retriever, retriever_of
from cbr.store.arrays import Vectors
from cbr.store.casebase import Casebase
from cbr.typing import Floats, Ints
from cbr.weights import GivenWeights

#: In test targets, a feature with more values than this gets noise; one with fewer is sometimes
#: moved to a neighbouring value.
_FEW = 64
#: The probability of moving.
_MOVED = 0.1
#: All pairs of this many values, evaluated three times, make a measure compile.
_PRACTICE = 400
#: The noise, as a part of the feature's range.
_NOISE = 0.01


@dataclass(frozen=True)
class Row:
    """One index with one setting; `usual` marks the default setting.

    `microseconds` are per query in a batch, scoring included; `recall` is the mean over queries of
    the share of retrieved cases found, `worst` the lowest of a query.
    """

    stage: str
    kind: str
    setting: str
    usual: bool
    build_seconds: float
    bytes: int | None
    microseconds: float
    recall: float
    worst: float


def compare(
    base: Casebase,
    stage: str,
    *,
    queries: int = 500,
    seed: int = 0,
    weights: GivenWeights = "",
    tell: Callable[[str], None] = lambda _: None,
) -> list[Row]:
    """Compare the exact tree and each kind of FAISS index, on targets similar to the cases."""
    mine = retriever_of(base, stage, weights=weights, index="scan")
    vectors = mine.vectors
    rng = np.random.default_rng(seed)
    warm, asked = (targets_like(vectors, queries, rng) for _ in range(2))
    _practise(mine)
    rows = []
    tell("exact")
    began = time.perf_counter()
    exact = dataclasses.replace(mine, index=_tree(mine))
    seconds = time.perf_counter() - began
    truth, each = _timed(exact, warm, asked)
    rows.append(Row(stage, "exact", "", True, seconds, None, each, 1.0, 1.0))
    for kind in USUAL:
        tell(kind)
        began = time.perf_counter()
        built = build_faiss(kind, vectors, mine.measures, {}, mine.weights)
        seconds = time.perf_counter() - began
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "index"
            save(built, vectors, mine.measures, path)
            size = path.stat().st_size
        for setting, search in _settings(kind, mine):
            index = FaissIndex(vectors, mine.measures, built, search)
            found, each = _timed(dataclasses.replace(mine, index=index), warm, asked)
            share = recalls(truth, found)
            mean, worst = float(share.mean()), float(share.min())
            usual = search == SearchEffort()
            rows.append(Row(stage, kind, setting, usual, seconds, size, each, mean, worst))
    return rows


def targets_like(vectors: Vectors, count: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Targets [count, d]: vectors drawn from the stage with a little noise, so that not all of them
    are in it. A feature with few values keeps to these values; one that is missing gets a value."""
    drawn = rng.choice(len(vectors), count, p=vectors.cases / vectors.cases.sum())
    targets = vectors.values[drawn].copy()
    for place, feature in enumerate(vectors.case_type.indexed):
        distinct, of_vector = vectors.columns[place]
        distinct = distinct[~np.isnan(distinct)]
        absent = np.isnan(targets[:, place])
        if absent.any():
            targets[absent, place] = rng.choice(distinct, absent.sum()) if len(distinct) else 0.0
        if feature.range is None or not len(distinct):
            continue
        if len(distinct) <= _FEW:
            moved = rng.random(count) < _MOVED
            beside = of_vector[drawn] + rng.choice([-1, 1], count) * moved
            there = distinct[np.clip(beside, 0, len(distinct) - 1)]
            targets[:, place] = np.where(absent, targets[:, place], there)
        else:
            noise = rng.normal(0.0, _NOISE * (feature.range[1] - feature.range[0]), count)
            targets[:, place] = np.clip(targets[:, place] + noise, distinct[0], distinct[-1])
    return targets


def recalls(truth: RetrievedMany, found: RetrievedMany) -> Floats:
    """For each target the share of the true retrieved set that was found, [q].

    Of the cases that tie at the edge of the true set, any count, up to the room that is left.
    """
    out = np.ones(len(truth))
    for place in range(len(truth)):
        number, rounded, cases = _span(truth, place)
        if not len(number):
            continue
        edge = rounded[-1]
        mine, mine_rounded, mine_cases = _span(found, place)
        sure = float(cases[rounded > edge].sum())
        whole = float(cases.sum())
        inside = float(mine_cases[np.isin(mine, number[rounded > edge])].sum())
        tied = float(mine_cases[mine_rounded == edge].sum())
        out[place] = (inside + min(tied, whole - sure)) / whole
    return out


def _span(many: RetrievedMany, place: int) -> tuple[Ints, Ints, Floats]:
    """Numbers, rounded similarities and retrieved cases of one target."""
    span = slice(many.start[place], many.start[place + 1])
    number = many.number[span]
    cases = many.share[span] * many.vectors.cases[number]
    return number, millionths(many.similarity[span]), cases


def _practise(mine: Retriever) -> None:
    """Evaluate each measure often enough that it is compiled, as in a long-running process."""
    for bound, (distinct, _) in zip(mine.measures, mine.vectors.columns, strict=True):
        if bound.feature.is_number:
            some = np.resize(distinct, _PRACTICE)
            for _ in range(3):
                bound.grid(some, some)


def _tree(mine: Retriever) -> Index:
    from cbr.retrieval.index.tree import TreeIndex

    return TreeIndex(mine.vectors, mine.measures)


def _timed(
    mine: Retriever, warm: NDArray[np.float32], asked: NDArray[np.float32]
) -> tuple[RetrievedMany, float]:
    """The retrieved sets, and microseconds per query, after compilation."""
    mine.many(warm)
    began = time.perf_counter()
    found = mine.many(asked)
    return found, (time.perf_counter() - began) / len(asked) * 1e6


def _settings(kind: str, mine: Retriever) -> Iterator[tuple[str, SearchEffort]]:
    """Settings that trade time for recall, the usual one among them."""
    usual = SearchEffort()
    if kind == "faiss-ivf":
        for probes in (2, 4, 8, 0, 32, 64):
            yield f"probes={probes or 'auto'}", usual._replace(probes=probes)
        return
    rooms: Sequence[float] = (mine.policy.looks.cap, mine.policy.looks.fallback)
    most = int(max((room for room in rooms if np.isfinite(room)), default=100))
    for fetch in (most, 0, 4 * most, 8 * most) if kind == "faiss-hnsw" else (most, 0, 4 * most):
        yield f"fetch={fetch or 2 * most + 50}", usual._replace(fetch=fetch)
