"""Commands that write, killed at random moments; the next run completes as if nothing had been.

After each kill every casebase and run file opens, and every casebase is sound. After the last the
command is run to its end: the result equals that of an undisturbed run, and nothing is left behind.
The moment of a kill is a random share of the time that the undisturbed run took, so that kills fall
into all of the work on any machine; nothing that is compared depends on the moment.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from conftest import CARS_CSV, CARS_PLUGIN, ROOT

from soak.contents import State, state_of
from soak.part import Found, dice

KILLS = 6
#: No command here takes longer, even on a busy machine.
LONGEST = 600.0

#: A command line that says when its imports are done, so that kills fall into its work.
STARTED = """
import sys
import numba, sqlite3
import cbr.building.pipeline
from cbr.cli import main
print("begin", flush=True)
main(sys.argv[1:])
"""


def many_cars(path: Path, rows: int, seed: int = 1) -> Path:
    """A table of so many cars."""
    head, *cars = CARS_CSV.read_text().splitlines(keepends=True)
    rng = random.Random(seed)
    path.write_text(head + "".join(rng.choice(cars) for _ in range(rows)))
    return path


def start(code: str, *words: object, cwd: Path | None = None) -> subprocess.Popen[str]:
    """Run Python code in a process and session of its own, and wait until it prints `begin`."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        start_new_session=True,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    assert first == "begin\n", first
    return process


def kill(process: subprocess.Popen[str], patience: float = 60.0) -> bool:
    """Kill a process of `start`; whether the processes that it started ended with it."""
    process.kill()
    process.communicate()
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    return False


@dataclass(frozen=True)
class Victim:
    """A command to kill, in a folder that `prepare` fills."""

    name: str
    words: tuple[str, ...]
    prepare: Callable[[Path], object] = lambda folder: None
    #: How it is run again after a kill.
    more: tuple[str, ...] = ()
    #: Whether a second run changes what the first completed.
    once: bool = False


def _cars(folder: Path, rows: int = 1500) -> None:
    from cbr.building.pipeline import build

    build([many_cars(folder / "cars.csv", rows)], folder / "cars.db", "car", batch=100)


def _hands(folder: Path) -> None:
    from cbr.building.pipeline import build

    build([ROOT / "casebases" / "sample.phhs"], folder / "hands.db", limit=40)


def _table(folder: Path) -> None:
    many_cars(folder / "cars.csv", 20_000)


_PLUGIN = ("--plugin", str(CARS_PLUGIN))
_CAR = "price=7000,age=6,mileage=90,power=90,fuel=diesel,owners=1"
_EVOLVE = ("--generations", "2", "--population", "4", "--seed", "3")

VICTIMS = (
    Victim("build a table", ("build", "cars.csv", "--type", "car", *_PLUGIN), _table),
    Victim(
        "build a table with workers",
        ("build", "cars.csv", "--type", "car", "--workers", "2", *_PLUGIN),
        _table,
    ),
    Victim("build a log", ("build", str(ROOT / "casebases" / "sample.phhs"), "--out", "hands.db")),
    Victim(
        "label",
        ("label", "hands.db", "--cases", "25", "--deals", "4", "--rounds", "1", "--hands", "300"),
        _hands,
    ),
    Victim("retain", ("retain", "cars.db", "--case", _CAR, "--solution", "buy"), _cars, once=True),
    Victim("refine", ("refine", "cars.db", "--apply"), _cars, once=True),
    Victim("rebuild", ("rebuild", "cars.db", *_PLUGIN), _cars),
    Victim("index", ("index", "cars.db", "--kind", "hnsw"), _cars),
    Victim("export tables", ("export", "hands.db", "--to", "csv", "--out", "tables"), _hands),
    Victim("export a log", ("export", "hands.db", "--to", "phh", "--out", "hands.phhs"), _hands),
    Victim(
        "evolve by accuracy",
        (
            *("evolve", "cars.db", "--out", "w.json", "--trials", "60", "--report", "60", *_EVOLVE),
            *("--set", "learn=5,duel=120"),
        ),
        _cars,
        more=("--resume",),
    ),
    Victim(
        "evolve by games",
        (
            *("evolve", "hands.db", "--out", "w.json", "--hands", "20", "--report", "20", *_EVOLVE),
            *("--start", "general", "--arena", "holdem?against=lag*2&block=10"),
            *("--set", "duel=40"),
        ),
        _hands,
        more=("--resume",),
    ),
    Victim("match", ("match", "lag", "call", "--hands", "3000", "--log", "match.phhs")),
)


def attempt(
    words: Sequence[str], folder: Path, after: float | None = None
) -> tuple[int | None, str, float]:
    """Run a command; kill it `after` so many seconds, or let it end. Its exit code (None if it was
    killed), what there is to say about its end, and the seconds of its work."""
    process = start(STARTED, *words, cwd=folder)
    began = time.monotonic()
    try:
        _, err = process.communicate(timeout=LONGEST if after is None else after)
    except subprocess.TimeoutExpired:
        told = "" if kill(process) else "its workers went on for a minute after it was killed"
        if after is None:
            told = f"it did not end within {LONGEST:g} seconds"
        return None, told, after or LONGEST
    last = (err.strip().splitlines() or [""])[-1]
    return process.returncode, last, time.monotonic() - began


def piece(seed: int, number: int, folder: Path, kills: int = KILLS) -> Found:
    """Kills of one command, in the order of `VICTIMS`."""
    from cbr.plugging.plugins import Plugins, use_plugins

    os.environ["CBR_CACHE_DIR"] = str(folder / "cache")
    use_plugins(Plugins().load([CARS_PLUGIN]))
    victim, found = VICTIMS[number % len(VICTIMS)], Found()
    rng, work = dice("kills", seed, number), folder / "work"
    work.mkdir()
    victim.prepare(work)
    shutil.copytree(work, folder / "start")
    code, told, seconds = attempt(victim.words, work)
    if code != 0:
        found.crashed.append(f"{victim.name}, undisturbed, ended with code {code}: {told}")
        return found
    whole = state_of(work)
    for _ in range(kills):  # chains of kills; a run may also end before its moment
        if found.items >= kills or found.faults:
            break
        shutil.rmtree(work)
        shutil.copytree(folder / "start", work)
        moments = [rng.random() * seconds for _ in range(3)]
        _disturbed(victim, work, moments, whole, found)
    return found


def _disturbed(
    victim: Victim, work: Path, moments: Sequence[float], whole: State, found: Found
) -> None:
    """Kill a command at these moments of its runs, let the last run end, and compare."""
    words = victim.words
    for moment in [*moments, None]:
        code, told, _ = attempt(words, work, moment)
        words = victim.words + victim.more
        if code is None:
            found.items += moment is not None
            if told:
                found.wrong.append(f"{victim.name}: {told}")
        elif code:
            found.crashed.append(f"{victim.name}: after a kill it ended with code {code}: {told}")
        now = state_of(work)
        found.lost += [f"{victim.name}: {problem}" for problem in now.problems]
        if code == 0 or (victim.once and now.files == whole.files):
            break
    for name in sorted({*whole.files, *now.files}):
        if name not in now.files:
            found.lost.append(f"{victim.name}: {name} is missing")
        elif name not in whole.files:
            found.wrong.append(f"{victim.name}: {name} is left behind")
        elif now.files[name] != whole.files[name]:
            found.lost.append(f"{victim.name}: {name} differs from that of an undisturbed run")
