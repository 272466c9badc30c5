"""Speed benchmarks, each with one function `rows(full)`, and their shared code for timing."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Row:
    """One figure; `ours` and `peer` in `unit`, `ratio` above 1 where ours is better."""

    what: str
    ours: float
    peer_name: str
    peer: float
    ratio: float
    unit: str


def data_folder() -> Path:
    """The folder of logs that CBR_BENCH_DATA names, or ../shared/data beside this project."""
    named = os.environ.get("CBR_BENCH_DATA")
    return Path(named) if named else ROOT.parent / "shared" / "data"


def compare(
    what: str,
    ours: Callable[[], Any],
    peer_name: str,
    peer: Callable[[], Any],
    *,
    per: int = 1,
    peer_per: int | None = None,
    scale: float = 1e6,
    unit: str = "us",
    repeat: int = 7,
) -> Row:
    """Time per unit of work: a call of `ours` does `per` units, one of the peer `peer_per`."""
    mine, theirs = _best_seconds(ours, peer, repeat)
    mine, theirs = mine / per * scale, theirs / (peer_per or per) * scale
    return Row(what, mine, peer_name, theirs, theirs / mine, unit)


def compare_rates(
    what: str,
    ours: Callable[[], Any],
    peer_name: str,
    peer: Callable[[], Any],
    *,
    per: int,
    peer_per: int,
    scale: float = 1.0,
    unit: str = "hands/s",
    repeat: int = 7,
) -> Row:
    """Units of work a second: a call of `ours` does `per` units, one of the peer `peer_per`."""
    mine, theirs = _best_seconds(ours, peer, repeat)
    mine, theirs = scale * per / mine, scale * peer_per / theirs
    return Row(what, mine, peer_name, theirs, mine / theirs, unit)


def _best_seconds(
    ours: Callable[[], Any], peer: Callable[[], Any], repeat: int
) -> tuple[float, float]:
    """Processor time of a call of each, called alternately; the best of `repeat`."""
    ours(), peer()  # warm up: compiled code, caches, pages
    best = [float("inf"), float("inf")]
    for _ in range(repeat):
        for place, work in enumerate((ours, peer)):
            start = time.process_time()
            work()
            best[place] = min(best[place], time.process_time() - start)
    return best[0], best[1]
