"""Speed of retrieval from nine-seat limit hold'em with CASPER's policy.

The policy retrieves all cases above 0.97, at most the 100 best, or the best 20 if there are none.
The casebase is built from one log and queried with the decisions of another, with CASPER's
hand-picked weights and with random ones. The peer is a plain numpy scan: float32, a column for each
feature, every case compared by the same measures, the nearest found by argpartition. Where cbrkit
is installed, or CBR_BENCH_PYTHON names a Python that has it, it is the peer of one more row.

The long version adds up to ten million cases, made from those of the flop with a little noise. It
compares the cost of a query with that among 100,000 cases, and shows the recall of FAISS.

The logs are those in the folder that CBR_BENCH_DATA names (or ../shared/data beside this project,
if it exists); without any, randomly played hands.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import math
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benches import ROOT, Row, compare, data_folder
from cbr import CbrError
from cbr.building import build
from cbr.retrieval import (
    FaissIndex,
    Index,
    RetrievedMany,
    Retriever,
    SearchEffort,
    TreeIndex,
    build_faiss,
    recalls,
    retriever_of,
    targets_like,
)
from cbr.store import Casebase, Vectors, group
from cbr.typing import Floats
from cbrkit_peer import Job, Timed

#: Number of queries for numpy, which is slow.
_FEW = 10
#: Numbers of generated cases, and the indices that are timed with them.
GROWN = {
    100_000: ("exact", "faiss-ivf", "faiss-hnsw"),
    1_000_000: ("exact", "faiss-ivf", "faiss-hnsw"),
    10_000_000: ("exact", "faiss-ivf"),
}


def rows(full: bool) -> list[Row]:
    with TemporaryDirectory() as folder:
        known, asked = _casebases(Path(folder), 20_000)
        with Casebase.open(known) as base, Casebase.open(asked) as other:
            found = [
                row
                for stage in ("preflop", "flop", "turn", "river")
                for row in _stage(base, other, stage, 1_000 if full else 400)
            ]
            return found + (_grown(base, "flop", GROWN) if full else [])


def _casebases(work: Path, hands: int) -> tuple[Path, Path]:
    data = data_folder() / "nine_seat_bots.tar.xz"
    logs = [work / "mixed.log", work / "even.log"]
    if data.is_file():
        with tarfile.open(data) as archive:
            archive.extractall(work, filter="data")
    else:
        from cbr_holdem.table import Game, random_hands
        from cbr_logs import write_phh

        for seed, log in enumerate(logs):
            made = random_hands(hands // 4, 9, Game("limit", 5, 10), stack=2_000, seed=seed)
            write_phh((hand.text for hand in made), log)
    outs = [log.with_suffix(".db") for log in logs]
    for log, out in zip(logs, outs, strict=True):
        build([log], out, limit=hands)
    return outs[0], outs[1]


def _stage(base: Casebase, other: Casebase, stage: str, queries: int) -> list[Row]:
    rng = np.random.default_rng(1)
    mine = retriever_of(base, stage, index="exact")
    held = other.vectors(stage)
    cases = rng.integers(0, len(held.case_ids), queries)
    codes = held.values[np.searchsorted(held.start, cases, "right") - 1]
    drawn = rng.integers(0, 101, codes.shape).astype(np.float64)
    own = np.broadcast_to(mine.weights, codes.shape)
    scan = numpy_scan(mine)
    found = []
    for what, weights in (("hand-picked", own), ("random", drawn)):
        mine.many(codes, weights)
        held_cases = mine.many(codes, weights).cases.mean()
        found.append(
            compare(
                f"{stage} batch, {what} weights, {held_cases:.0f} cases found",
                partial(mine.many, codes, weights),
                "numpy",
                partial(_each, scan, codes[:_FEW], weights[:_FEW]),
                per=queries,
                peer_per=_FEW,
            )
        )
    # Situations that never occurred, each value from another case: most have no similar case.
    strange = np.column_stack(
        [column[rng.integers(0, len(held), queries)] for column in held.values.T]
    )
    far = (mine.many(strange).most_similar <= 0.97).mean()
    found.append(
        compare(
            f"{stage} batch, {far:.0%} find nothing above 0.97",
            partial(mine.many, strange),
            "numpy",
            partial(_each, scan, strange[:_FEW], own[:_FEW]),
            per=queries,
            peer_per=_FEW,
        )
    )
    if stage == "preflop":
        names = [feature.name for feature in mine.vectors.case_type.indexed]
        targets = [dict(zip(names, map(float, row), strict=True)) for row in codes[:100]]
        found.append(
            compare(
                "preflop single",
                lambda: [mine(target) for target in targets],
                "numpy",
                partial(_each, scan, codes[:_FEW], own[:_FEW]),
                per=len(targets),
                peer_per=_FEW,
            )
        )
        found += _against_cbrkit(mine, codes)
    return found


def _grown(base: Casebase, stage: str, sizes: Mapping[int, Sequence[str]]) -> list[Row]:
    """Cost of a query as the casebase grows; the peer is the smallest one with the same index."""
    mine = retriever_of(base, stage, index="scan")
    rng = np.random.default_rng(2)
    asked = targets_like(mine.vectors, 400, rng)
    smallest: dict[str, float] = {}
    found = []
    for size, kinds in sizes.items():
        grown = dataclasses.replace(mine, vectors=_made(mine.vectors, size, rng))
        truth = None
        for kind in kinds:
            got, cost = _timed(dataclasses.replace(grown, index=_index(kind, grown)), asked)
            # Drop the tree index, which is large.
            truth = truth or dataclasses.replace(got, retriever=grown)
            recall = recalls(truth, got).mean()
            what = f"{stage}, {size:,} generated cases, {kind}, recall {recall:.4f}"
            peer = smallest.setdefault(kind, cost)
            found.append(Row(what, cost, f"{min(sizes):,} cases", peer, peer / cost, "us"))
    return found


def _made(vectors: Vectors, size: int, rng: np.random.Generator) -> Vectors:
    """`size` generated cases similar to the given ones."""
    values = targets_like(vectors, size, rng)
    solution = rng.integers(0, len(vectors.case_type.solutions), size)
    return group(vectors.case_type, "", values, solution, np.full(size, np.nan), np.arange(size))


def _index(kind: str, grown: Retriever) -> Index:
    if kind == "exact":
        return TreeIndex(grown.vectors, grown.measures)
    built = build_faiss(kind, grown.vectors, grown.measures, {}, grown.weights)
    return FaissIndex(grown.vectors, grown.measures, built, SearchEffort())


def _timed(mine: Retriever, asked: NDArray[np.float32]) -> tuple[RetrievedMany, float]:
    """The retrieved cases, and microseconds a query, best of three."""
    found = mine.many(asked)
    seconds = []
    for _ in range(3):
        start = time.process_time()
        mine.many(asked)
        seconds.append(time.process_time() - start)
    return found, min(seconds) / len(asked) * 1e6


def _against_cbrkit(mine: Retriever, codes: NDArray[np.float32]) -> list[Row]:
    """Against cbrkit on the same cases with the same measures, where a Python has it."""
    vectors = mine.vectors
    peer = timed_cbrkit(
        {
            "names": [feature.name for feature in vectors.case_type.indexed],
            "cases": np.repeat(vectors.values, np.diff(vectors.start), axis=0).tolist(),
            "query": codes[0].tolist(),
            "measures": [(bound.measure.name, dict(bound.parameters)) for bound in mine.measures],
            "weights": mine.weights.tolist(),
            "limit": 100,
        }
    )
    if peer is None:
        return []
    found = mine.many(codes)
    if not math.isclose(found.most_similar[0], peer["best"], abs_tol=1e-6):
        raise CbrError(f"cbrkit finds {peer['best']}, this engine {found.most_similar[0]}")
    start = time.process_time()
    mine.many(codes)
    ours = (time.process_time() - start) / len(codes)
    theirs = peer["seconds"]
    return [Row("preflop batch", ours * 1e6, peer["peer"], theirs * 1e6, theirs / ours, "us")]


def timed_cbrkit(job: Job) -> Timed | None:
    """cbrkit's time for a query, in the Python that CBR_BENCH_PYTHON names, or in this one; None
    if this one is used and has no cbrkit."""
    named = os.environ.get("CBR_BENCH_PYTHON")
    if not named and importlib.util.find_spec("cbrkit") is None:
        return None
    done = subprocess.run(
        [named or sys.executable, str(ROOT / "tools" / "cbrkit_peer.py")],
        input=json.dumps(job),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CbrError(f"cbrkit cannot be timed by {named or sys.executable}: {last}")
    result: Timed = json.loads(done.stdout)
    return result


def _each(scan: Callable[..., Any], codes: NDArray[np.float32], weights: Floats) -> None:
    for target, weight in zip(codes, weights, strict=True):
        scan(target, weight)


def numpy_scan(mine: Retriever) -> Callable[[NDArray[np.float32], Floats], NDArray[Any]]:
    vectors = mine.vectors
    columns = np.repeat(vectors.values, np.diff(vectors.start), axis=0).T.copy()
    locals_ = [
        _numpy_measure(bound.measure.name, bound.parameters, column)
        for bound, column in zip(mine.measures, columns, strict=True)
    ]

    def scan(target: NDArray[np.float32], weights: Floats) -> NDArray[Any]:
        share = (weights / weights.sum()).astype(np.float32)
        similarity = np.zeros(columns.shape[1], np.float32)
        for local, value, weight in zip(locals_, target, share, strict=True):
            similarity += weight * local(value)
        near = np.flatnonzero(similarity > 0.97 - 1e-6)
        if not len(near):
            return np.argpartition(-similarity, 20)[:20]
        if len(near) > 100:
            near = near[np.argpartition(-similarity[near], 100)[:100]]
        return near

    return scan


def _numpy_measure(
    name: str, given: dict[str, Any], column: NDArray[np.float32]
) -> Callable[[np.float32], NDArray[np.float32]]:
    if name == "groups":
        cuts: Sequence[float] = [float(cut) for cut in str(given["cuts"]).split("/")]
        groups = np.searchsorted(cuts, column, "right")
        return lambda value: (groups == np.searchsorted(cuts, value, "right")).astype(np.float32)
    if name == "linear":
        span = np.float32(given["span"])
        return lambda value: 1 - np.abs(column - value) / span
    k = np.float32(given["k"] / given.get("span", 1.0))
    assert name in {"exponential", "ranged-exponential"}
    return lambda value: np.exp(-k * np.abs(column - value))
