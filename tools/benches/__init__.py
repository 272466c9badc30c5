"""The benches, each with one function `rows(full)`, and what they share: a row, and how to time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One figure; `ours` and `peer` in `unit`, `ratio` above 1 where ours is better."""

    what: str
    ours: float
    peer_name: str
    peer: float
    ratio: float
    unit: str


def compare(
    what: str,
    ours: Callable[[], Any],
    peer_name: str,
    peer: Callable[[], Any],
    *,
    per: int = 1,
    scale: float = 1e6,
    unit: str = "us",
    repeat: int = 7,
) -> Row:
    """Time both in turn and keep the best of each: CPU time by `per` pieces of work."""
    ours(), peer()  # warm up: compiled code, caches, pages
    best = [float("inf"), float("inf")]
    for _ in range(repeat):
        for place, work in enumerate((ours, peer)):
            start = time.process_time()
            work()
            best[place] = min(best[place], time.process_time() - start)
    mine, theirs = (seconds / per * scale for seconds in best)
    return Row(what, mine, peer_name, theirs, theirs / mine, unit)
