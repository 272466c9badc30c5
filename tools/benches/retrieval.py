"""Retrieval: 8 discrete features of 167,540 made-up cases, threshold 0.97, cap 100, else 20.

The peer is numpy as one would write it: float32 columns, every case compared, the nearest found by
argpartition.
"""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benches import Row, compare
from cbr.case import CaseType, Feature
from cbr.casebase import Casebase
from cbr.retrieve import retriever

#: Distinct values of each feature, and its weight.
SIZES = {"a": (4, 5), "b": (10, 10), "c": (10, 10), "d": (10, 5), "e": (6, 5), "f": (6, 10)}
SIZES |= {"g": (12, 5), "h": (169, 50)}


def rows(full: bool) -> list[Row]:
    rng = np.random.default_rng(1)
    cases, queries = (1_000_000 if full else 167_540), 50
    # Situations repeat themselves, as they do in games: a skewed choice of each value.
    columns = {
        name: (size * rng.beta(1, 3, cases)).astype(np.float32) for name, (size, _) in SIZES.items()
    }
    columns = {name: np.floor(column) for name, column in columns.items()}
    features = [
        Feature(n, range=(0, size), weight=w, similarity="linear") for n, (size, w) in SIZES.items()
    ]
    case_type = CaseType("made", features, ["x", "y", "z"])
    folder = tempfile.TemporaryDirectory()
    with folder as place, Casebase.create(f"{place}/made.db", [case_type]) as base:
        with base.transaction():
            solution = rng.choice(["x", "y", "z"], cases).tolist()
            nothing = [None] * cases
            base.add("made", columns, solution, nothing, nothing, range(cases))
        mine = retriever(base, "made")
    places = rng.integers(0, cases, queries)
    targets = [{name: float(column[i]) for name, column in columns.items()} for i in places]
    matrix = np.column_stack(list(columns.values()))

    def ours() -> None:
        for target in targets:
            mine(target)

    def peer() -> None:
        for target in targets:
            numpy_scan(matrix, np.array(list(target.values()), np.float32))

    return [compare("single query", ours, "numpy", peer, per=queries)]


def numpy_scan(matrix: NDArray[np.float32], target: NDArray[np.float32]) -> NDArray[Any]:
    spans = np.array([size for size, _ in SIZES.values()], np.float32)
    weights = np.array([weight for _, weight in SIZES.values()], np.float32)
    similarity = (1 - np.abs(matrix - target) / spans) @ (weights / weights.sum())
    near = np.flatnonzero(similarity > 0.97 - 1e-6)
    if not len(near):
        return np.argpartition(-similarity, 20)[:20]
    if len(near) > 100:
        near = near[np.argpartition(-similarity[near], 100)[:100]]
    return near
