"""Speed of evolution: self-play of nine rows of weights, many rows on the same deals, two workers.

Self-play is compared with rlcard's limit game for nine, played by a loop that always calls: the
cost of a table there without any bot. Every generation has other weights, so no answer can be
reused from the one before. Rows of weights that play among `loki` on the same deals are compared
with one match for each row. Two workers are compared with two searches in parallel, each by one
worker, and the memory of a worker with its limit of 600 MB. With --full the whole published
self-play plan is run, and compared with its limit of eight minutes.

The casebase is the file that CBR_BENCH_CASEBASE names, or else that of the benchmark `cbrbot`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import numpy as np

from benches import Row, compare_rates
from benches.cbrbot import bench_casebase
from benches.tables import rlcard_calls
from cbr.evolve import Genome
from cbr.spec import Spec
from cbr.store import Casebase
from cbr_arena import Match, players_of, sittings
from cbr_casper import ARENA

_SEATS, _PEER_HANDS, _LIMIT_MB, _LIMIT_SECONDS = 9, 20, 600.0, 480.0


def rows(full: bool) -> list[Row]:
    file = bench_casebase()
    return [
        _self_play(file, 5_000 if full else 1_250),
        _paired(file, 24, 500),
        *_workers(file, 4 if full else 2),
        *([_published(file)] if full else []),
    ]


def _self_play(file: Path, hands: int) -> Row:
    contest = ARENA.contest(file, Spec.parse("holdem?style=casper"), _SEATS, together=True)
    genes, rng, peer = _genes(file), np.random.default_rng(1), rlcard_calls(_SEATS, _PEER_HANDS)

    def ours() -> None:
        weights = rng.integers(0, 101, (_SEATS, genes)).astype(np.float64)
        contest.play(weights, hands // contest.trials, int(rng.integers(2**60)))

    what = "self-play of nine new rows"
    return compare_rates(
        what, ours, "rlcard, calls", peer, per=hands, peer_per=_PEER_HANDS, repeat=3
    )


def _genes(file: Path) -> int:
    with Casebase.open(file) as base:
        return len(Genome.of(base))


def _paired(file: Path, count: int, deals: int) -> Row:
    """Hands a second of rows with similar weights, as in a search, on the same deals."""
    contest = ARENA.contest(file, Spec.parse("holdem?against=loki*8&style=casper"))
    with Casebase.open(file) as base:
        start = Genome.of(base).row(base)
    seed = [0]

    def ours() -> None:
        seed[0] += 1
        near = np.random.default_rng(seed[0]).normal(size=(count, len(start)))
        contest.play(start * np.exp(0.3 * near), deals // contest.trials, seed[0])

    bots = players_of([f"cbr:{file}?style=casper", "loki*8"])
    match, first = Match(bots, hands=deals, duplicate=False), [0]
    room = match.room()

    def peer() -> None:
        some = range(first[0], first[0] + deals)  # others each time
        first[0] = some.stop
        for sitting in sittings(match, some, room):
            room.play(sitting)

    what = f"{count} rows among eight loki"
    return compare_rates(
        what, ours, "a match for each", peer, per=count * deals, peer_per=deals, repeat=2
    )


def _workers(file: Path, runs: int) -> list[Row]:
    """Hands a second and memory; from the difference of a longer and a shorter search, to exclude
    the start."""
    short, long = 1, 4
    with TemporaryDirectory() as folder:
        place = Path(folder)
        _searches(file, place, [(1, 1)], 2)  # compiled, and in the caches
        seconds = {}
        memory = 0.0
        for generations in (short, long):
            seconds["one", generations], most = _searches(file, place, [(generations, 2)], runs)
            memory = max(memory, most)
            both = [(generations, 1), (generations, 1)]
            seconds["two", generations], _ = _searches(file, place, both, runs)
    hands = (long - short) * (runs + 1) * 5_000  # their winners meet in one more
    mine = hands / (seconds["one", long] - seconds["one", short])
    theirs = 2 * hands / (seconds["two", long] - seconds["two", short])
    return [
        Row("a search by two workers", mine, "two searches", theirs, mine / theirs, "hands/s"),
        Row("memory of a worker", memory, "the limit", _LIMIT_MB, _LIMIT_MB / memory, "MB"),
    ]


def _searches(
    file: Path, folder: Path, searches: Sequence[tuple[int, int]], runs: int
) -> tuple[float, float]:
    """Seconds that searches of (generations, workers) take in parallel, and the peak memory of a
    worker among them, in MB."""
    started = time.perf_counter()
    processes = []
    for number, (generations, workers) in enumerate(searches):
        out = folder / f"{time.monotonic_ns()}.json"
        words = ("--runs", runs, "--generations", generations, "--workers", workers)
        processes.append(_start("evolve", file, "--seed", number, *words, "--report", 50, out))
    most = [0.0]
    watch = Thread(target=_watch, args=([process.pid for process in processes], most))
    watch.start()
    for process in processes:
        _, told = process.communicate()
        if process.returncode:
            raise RuntimeError(told)
    seconds = time.perf_counter() - started
    watch.join()
    return seconds, most[0]


def _start(command: str, file: Path, *words: Any) -> subprocess.Popen[str]:
    *options, out = map(str, words)
    given = [command, str(file), "--plan", "casper-self-play", *options, "--out", out, "--json"]
    code = "from cbr.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *given],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _watch(parents: Sequence[int], most: list[float]) -> None:
    """Record the peak memory of any child of these processes, as long as they run."""
    while True:
        going = False
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                text = status.read_text()
            except OSError:
                continue
            fields = dict(re.findall(r"(\w+):\s+(\d+)", text))
            going = going or (int(fields["Pid"]) in parents and "Z (zombie)" not in text)
            if int(fields["PPid"]) in parents and "VmHWM" in fields:
                most[0] = max(most[0], int(fields["VmHWM"]) / 1024)
        if not going:
            return
        time.sleep(0.2)


def _published(file: Path) -> Row:
    with TemporaryDirectory() as folder:
        out = Path(folder) / "w.json"
        start = time.perf_counter()
        cores = min(2, os.cpu_count() or 1)
        process = _start("evolve", file, "--workers", cores, "--report", 50, out)
        found, told = process.communicate()
        seconds = time.perf_counter() - start
        if process.returncode:
            raise RuntimeError(told)
        generations = json.loads(found)["generations"]
    what = f"the published self-play plan, {generations} generations, {cores} workers"
    return Row(what, seconds, "the limit", _LIMIT_SECONDS, _LIMIT_SECONDS / seconds, "s")
