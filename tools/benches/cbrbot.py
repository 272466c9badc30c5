"""Speed and memory of the CBR bot: nine at a table, one explained decision, labels.

Hands are compared with rlcard's limit game for nine, played by a loop that always calls or checks:
the cost of a table there without any bot. So are labels, since a roll-out is a hand played to its
end. A match is timed twice: with every deal played in every seat, where nine equal bots meet each
decision nine times and reuse the answer, and with every deal played once, where they cannot. A
decision is compared with a scan of all cases in numpy, without an explanation. Memory is that of a
process that plays a match, compared with one whose bots only call.

The casebase is the file that CBR_BENCH_CASEBASE names, or else built here once, from 20,000 hands
of `loki`, and kept in casebases/.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benches import ROOT, Row, compare, compare_rates
from benches.retrieval import numpy_scan
from benches.tables import rlcard_calls
from cbr import Casebase, explain, reuse
from cbr.building import build
from cbr.plugging import default_plugins
from cbr.retrieval import retriever_of
from cbr_arena import Match, play, players_of, sittings, write_log
from cbr_holdem.table import STREETS

_SEATS, _PEER_HANDS, _LOGGED, _DEALS = 9, 20, 20_000, 200


def rows(full: bool) -> list[Row]:
    file = bench_casebase()
    if any(_valued(file, stage) for stage in STREETS):
        sys.exit(f"Error: {file} has labels, and making them is timed; name a casebase without any")
    more = 4 if full else 1
    return [
        _hands("nine cbr", file, 9_000 * more, True),
        _hands("nine cbr, every deal once", file, 4_000 * more, False),
        *(_decision(file, stage) for stage in STREETS),
        _labels(file, 400 * more),
        _memory(file, 3_600 * more),
    ]


def bench_casebase() -> Path:
    named = os.environ.get("CBR_BENCH_CASEBASE")
    if named:
        return Path(named)
    kept = ROOT / "casebases" / "bench.db"
    if not kept.is_file():
        match = Match(
            players_of([f"loki*{_SEATS}"]),
            hands=_LOGGED,
            seed=1,
            duplicate=False,
            keep_hands=True,
        )
        with TemporaryDirectory(dir=kept.parent) as folder:
            log, made = Path(folder) / "loki.phhs", Path(folder) / "bench.db"
            write_log(play(match).hands, log)
            build([log], made, plugins=default_plugins())
            made.rename(kept)
    return kept


def _hands(what: str, file: Path, hands: int, duplicate: bool) -> Row:
    match = Match(players_of([f"cbr:{file}*{_SEATS}"]), hands=hands, seed=2, duplicate=duplicate)
    room, first = match.room(), [0]

    def ours() -> None:
        deals = range(first[0], first[0] + match.deals)  # others each time
        first[0] = deals.stop
        for sitting in sittings(match, deals, room):
            room.play(sitting)

    peer = rlcard_calls(_SEATS, _PEER_HANDS)
    row = compare_rates(
        what, ours, "rlcard, calls", peer, per=hands, peer_per=_PEER_HANDS, repeat=3
    )
    figures = room.bots[0].figures.take()
    cases = [figures[f"{street} cases"] for street in STREETS]
    mean = sum(figure.total for figure in cases) / sum(figure.weight for figure in cases)
    return replace(row, what=f"{what}, {mean:.0f} cases found")


def _decision(file: Path, stage: str, asked: int = 50) -> Row:
    """Milliseconds for one situation of the casebase: retrieval, proposal and explanation."""
    with Casebase.open(file) as base:
        mine = retriever_of(base, stage)
    vectors = mine.vectors
    some = vectors.values[np.random.default_rng(1).integers(0, len(vectors), asked)]
    names = [feature.name for feature in vectors.case_type.indexed]
    targets = [dict(zip(names, map(float, row), strict=True)) for row in some]
    scan = numpy_scan(mine)

    def ours() -> None:
        for target in targets:
            retrieved = mine(target)
            explain(retrieved, reuse(retrieved))

    def peer() -> None:
        for row in some:
            scan(row, mine.weights)

    what = f"one decision on the {stage}, explained"
    return compare(what, ours, "numpy, retrieval only", peer, per=asked, scale=1e3, unit="ms")


def _labels(file: Path, cases: int) -> Row:
    """Labels a second, from the difference of a longer and a shorter run, to exclude the start."""
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "labelled.db"
        shutil.copyfile(file, copy)
        seconds, actions = [], []
        for many in (cases // 4, cases // 2, 5 * cases // 4):
            quick = ("--rounds", 1, "--hands", 10_000, "--deals", _DEALS, "--seed", 1)
            seconds.append(_run("label", copy, "--cases", many, *quick)[0])
            actions.append(_actions(copy))
    # The first run may compile, and computes the best responses. The other two start alike, and
    # label a quarter and three quarters of the cases.
    more = (actions[2] - actions[1]) - (actions[1] - actions[0])
    ours = more / (seconds[2] - seconds[1])
    calls = rlcard_calls(_SEATS, _PEER_HANDS)
    peer = 1e6 * _PEER_HANDS / compare("", calls, "", calls, repeat=3).peer / _DEALS
    what = f"labels by {_DEALS} deals"
    return Row(what, ours, "rlcard, calls", peer, ours / peer, "case-actions/s")


def _valued(file: Path, stage: str) -> int:
    with Casebase.open(file) as base:
        return len(base.valued(stage))


def _actions(file: Path) -> int:
    """Actions of cases that have a value."""
    with Casebase.open(file) as base:
        known = (base.vectors(stage).estimates for stage in STREETS)
        return sum(0 if values is None else int(values.number.sum()) for values in known)


def _memory(file: Path, hands: int) -> Row:
    mine, theirs = (
        _run("match", f"{bot}*{_SEATS}", "--hands", hands)[1] for bot in (f"cbr:{file}", "call")
    )
    what = f"memory of a match of {hands:,} hands"
    return Row(what, mine, "nine call", theirs, theirs / mine, "MB")


def _run(*command: Any) -> tuple[float, float]:
    """Seconds and megabytes that a command of `cbr` takes, in a separate process."""
    # A new process each time: the peak memory of a process includes that of its parent at the fork.
    code = (
        "import re, sys; from cbr.cli import main\n"
        "try: main()\n"
        "finally:\n"
        "    used = re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]\n"
        "    print('used', int(used) / 1024, file=sys.stderr)"
    )
    start = time.perf_counter()
    given = [sys.executable, "-c", code, *map(str, command)]
    done = subprocess.run(given, capture_output=True, text=True, check=True)
    return time.perf_counter() - start, float(done.stderr.rsplit("used", 1)[1])
