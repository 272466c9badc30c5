"""Side by side with cbrkit: lines that a user writes, and the time of one query and of 1,000.

The programs whose lines are counted are in `programs`: both read a table, retrieve the five cases
nearest to a flower, and print the proposal and why. The table that is queried is scikit-learn's
wine (with --full also breast cancer), with 500 rows and with 50,000 made from its own with a little
noise; both engines have the same cases, measures and weights, and must find the same best
similarity. A thousand queries would take cbrkit long: they are extrapolated from fewer, and marked.

It needs cbrkit, in this Python or in the one that CBR_BENCH_PYTHON names.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import cbr
from benches import Row
from benches.retrieval import timed_cbrkit
from cbr import CbrError
from cbr.retrieval import targets_like
from cbrkit_peer import Timed
from public_tables import public_tables

PROGRAMS = Path(__file__).parent / "programs"
TABLES, SIZES, ASKED = ("wine", "breast cancer"), (500, 50_000), 1_000
#: How many queries are timed in cbrkit, by the number of cases.
_FEW = {500: 100, 50_000: 3}


def rows(full: bool) -> list[Row]:
    found = []
    for name in TABLES[: 2 if full else 1]:
        for size in SIZES:
            found += _timed(name, size)
    ours, theirs = (lines_of(PROGRAMS / f"{name}.py") for name in ("ours", "with_cbrkit"))
    peer = found[0].peer_name
    what = "lines from a table to an explained answer"
    return [Row(what, ours, peer, theirs, theirs / ours, "lines"), *found]


def lines_of(program: Path) -> int:
    """The lines of a program that are neither empty nor comments; its docstring is one."""
    lines = program.read_text("utf-8").splitlines()[1:]
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in lines)


def _timed(name: str, size: int) -> list[Row]:
    """One query, and a thousand, on a table of so many rows."""
    table = public_tables()[name]()
    frame = table.features.assign(solution=table.target)
    rng = np.random.default_rng(0)
    with cbr.build(frame, solution="solution") as small:
        values = targets_like(small.vectors("table"), size, rng)
        case_type = small.case_types[0]
        asked = targets_like(small.vectors("table"), ASKED, rng)
    names = [feature.name for feature in case_type.indexed]
    cases = dict(zip(names, values.T.tolist(), strict=True))
    cases["solution"] = rng.choice(case_type.solutions, size).tolist()
    with cbr.build(cases, case_type=_renamed(case_type)) as base:
        return _rows(base, name, asked)


def _renamed(case_type: cbr.CaseType) -> cbr.CaseType:
    import dataclasses

    features = [dataclasses.replace(f, label="", unit="") for f in case_type.features]
    return dataclasses.replace(case_type, features=features, solution_label="")


def _rows(base: cbr.Casebase, name: str, asked: Any) -> list[Row]:
    mine = cbr.retrieve(base, None, _named(base, asked[0]), policy="top?k=10").retriever
    vectors = mine.vectors
    cases = np.repeat(vectors.values, np.diff(vectors.start), axis=0)
    few = _FEW[len(cases)]
    peer = timed_cbrkit(
        {
            "names": [feature.name for feature in vectors.case_type.indexed],
            "cases": cases.tolist(),
            "query": asked[0].tolist(),
            "measures": [(bound.measure.name, dict(bound.parameters)) for bound in mine.measures],
            "weights": mine.weights.tolist(),
            "limit": 10,
            "queries": asked[:few].tolist(),
        }
    )
    if peer is None:
        raise CbrError("no cbrkit to compare with; install it, or name a Python that has it")
    one = _named(base, asked[0])
    frame = {f.name: asked[:, place] for place, f in enumerate(vectors.case_type.indexed)}
    answer = base.nearest(one, k=10)
    if not math.isclose(answer.similarities[0], peer["best"], abs_tol=1e-6):
        raise CbrError(f"cbrkit finds {peer['best']}, this engine {answer.similarities[0]}")
    what = f"{name}, {len(cases):,} cases of {len(vectors.case_type.indexed)} numbers"
    return [
        _row(f"{what}: one query", lambda: base.nearest(one, k=10), peer, peer["seconds"]),
        _row(
            f"{what}: 1,000 queries (of cbrkit {few}, extrapolated)",
            lambda: base.predict(frame, policy="top?k=10"),
            peer,
            peer["all_seconds"] * ASKED / few,
        ),
    ]


def _named(base: cbr.Casebase, row: Any) -> dict[str, float]:
    names = [feature.name for feature in base.case_types[0].indexed]
    return dict(zip(names, map(float, row), strict=True))


def _row(what: str, ours: Callable[[], Any], peer: Timed, theirs: float) -> Row:
    seconds = []
    for _ in range(3):
        start = time.process_time()
        ours()
        seconds.append(time.process_time() - start)
    mine = min(seconds)
    return Row(what, 1e3 * mine, peer["peer"], 1e3 * theirs, theirs / mine, "ms")
