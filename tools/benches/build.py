"""Speed of `cbr build` on one core, against PokerKit parsing and replaying the same hands.

The time includes SQLite. Where writing rows takes most of the time, the peer is sqlite-utils
inserting the finished rows, which is the least that any builder must do. The last row compares a
build with two workers to two builds running in parallel.

The logs are those in the folder that CBR_BENCH_DATA names (or ../shared/data beside this project,
if it exists); without any, randomly played hands. Build the flop table first (`cbr tables build`):
without it, most of the time goes into computing hand strengths.
"""

from __future__ import annotations

import lzma
import re
import subprocess
import sys
import tarfile
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benches import Row, data_folder
from cbr.building import build
from cbr.store import Casebase


def rows(full: bool) -> list[Row]:
    data = data_folder()
    with TemporaryDirectory() as folder:
        work = Path(folder)
        if not data.is_dir():
            return _made_up(work, full)
        return list(_real(data, work, full))


def _real(data: Path, work: Path, full: bool) -> Iterator[Row]:
    hands = 10_000 if full else 4_000
    for what, name in (
        ("Pluribus, 6 seats", "pluribus"),
        ("HandHQ, 2 seats", "handhq_2p"),
        ("HandHQ, 9 seats", "handhq_9p"),
    ):
        path = work / f"{name}.phhs"
        path.write_text("".join(_first_hands(data / f"{name}.phhs.xz", hands)), "utf-8")
        yield _against_pokerkit(what, path, hands, 200 if full else 100)
    for name in ("nine_seat_bots", "irc_holdem1", "irc_holdem3"):
        with tarfile.open(data / f"{name}.tar.xz") as archive:
            archive.extractall(work / name, filter="data")
    games = work / "nine_seat_bots"
    yield _against_inserts(
        "nine-seat limit log", games / "mixed.log", 20_000 if full else 8_000, "cases"
    )
    irc = 50_000 if full else 15_000
    yield _against_inserts("IRC, 3.6 players", work / "irc_holdem3", irc, "hands")
    yield _against_inserts("IRC, 7.5 players", work / "irc_holdem1", irc, "hands")
    logs = [_repeated(games / f"{name}.log", 3 if full else 1) for name in ("mixed", "even")]
    yield _two_workers(*logs)


def _made_up(work: Path, full: bool) -> list[Row]:
    from cbr_holdem.table import Game, random_hands
    from cbr_logs import write_phh

    hands = 4_000 if full else 1_500
    found = []
    for seats in (6, 2, 9):
        path = work / f"made_{seats}.phhs"
        made = random_hands(hands, seats, Game("nolimit", 50, 100), stack=10_000)
        write_phh((hand.text for hand in made), path)
        found.append(_against_pokerkit(f"made up, {seats} seats", path, hands, 60))
    return found


def _first_hands(path: Path, count: int) -> Iterator[str]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if re.match(r"\[\d+\]", line):
                count -= 1
                if count < 0:
                    return
            yield line


def _built(path: Path, out: Path, hands: int) -> Callable[[], None]:
    def run() -> None:
        out.unlink(missing_ok=True)
        build([path], out, limit=hands)

    return run


def _best(work: Callable[[], object], repeat: int = 3) -> float:
    """Seconds of this process, best of several."""
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def _against_pokerkit(what: str, path: Path, hands: int, few: int) -> Row:
    from pokerkit import HandHistory

    text = path.read_text("utf-8")
    sample = path.with_name("sample.phhs")
    cut = [found.start() for found in re.finditer(r"^\[\d+\]", text, re.M)]
    sample.write_text(text[: cut[few]] if few < len(cut) else text, "utf-8")

    def theirs() -> None:
        with sample.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for history in islice(HandHistory.load_all(file), few):
                for _ in history:
                    pass

    ours = _built(path, path.with_suffix(".db"), hands)
    ours()
    theirs()
    mine, peer = [], []
    for _ in range(3):
        mine.append(hands / _best(ours, 1))
        peer.append(few / _best(theirs, 1))
    return Row(what, max(mine), "PokerKit", max(peer), max(mine) / max(peer), "hands/s")


def _against_inserts(what: str, path: Path, hands: int, unit: str) -> Row:
    """Against sqlite-utils inserting the rows that the build made."""
    from sqlite_utils import Database

    out = path.with_name("built.db") if path.is_file() else path / "built.db"
    ours = _built(path, out, hands)
    ours()
    tables, taken = {}, 0
    with Casebase.open(out) as base:
        taken = base.db.table("hands").count
        for name in [f"cases_{stage}" for stage in base.stages] + ["hidden", "hands"]:
            tables[name] = list(base.db.table(name).rows)
    cases = sum(len(found) for name, found in tables.items() if name.startswith("cases"))
    count = cases if unit == "cases" else taken
    plain = out.with_name("plain.db")

    def theirs() -> None:
        plain.unlink(missing_ok=True)
        database = Database(plain)
        database.enable_wal()
        for name, found in tables.items():
            database.table(name).insert_all(found, pk="id", batch_size=1000)

    mine, peer = _best(ours, 3), _best(theirs, 2)
    peer_name = "sqlite-utils insert alone"
    return Row(what, count / mine, peer_name, count / peer, peer / mine, f"{unit}/s")


def _repeated(log: Path, times: int) -> Path:
    """The hands of a log repeated `times` times, so that the start of the workers counts less."""
    lines = log.read_text("utf-8").splitlines(keepends=True)
    heads = [line for line in lines if not line.startswith("STATE")]
    states = [line for line in lines if line.startswith("STATE")]
    longer = log.with_name(f"long_{log.name}")
    longer.write_text("".join([*heads[:1], *states * times]), "utf-8")
    return longer


def _two_workers(one: Path, two: Path) -> Row:
    """Wall time of one build of both logs with two workers, and of two builds in parallel."""
    command = [str(Path(sys.executable).with_name("cbr")), "build"]

    def timed(*builds: list[str]) -> float:
        for out in one.parent.glob("two*.db*"):
            out.unlink()
        start = time.perf_counter()
        started = [
            subprocess.Popen([*command, *given, "--json"], stdout=subprocess.DEVNULL)
            for given in builds
        ]
        for process in started:
            process.wait()
        return time.perf_counter() - start

    outs = [str(one.with_name(f"two{i}.db")) for i in range(3)]
    both, apart = [], []
    for _ in range(3):
        apart.append(timed([str(one), "--out", outs[0]], [str(two), "--out", outs[1]]))
        both.append(timed([str(one), str(two), "--out", outs[2], "--workers", "2"]))
    # Other load slows single runs down: the median of pairs is more stable than the best.
    ratio = sorted(a / b for a, b in zip(apart, both, strict=True))[1]
    return Row("two workers", min(both), "two builds side by side", min(apart), ratio, "s")
