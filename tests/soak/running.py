"""Runs the parts of the soak in rounds, until the time is over: ``python tests/soak --help``.

Round k runs piece k of each part, each in a process of its own, so that a segfault ends nothing but
its piece. What a piece does depends on the seed, the part and k, never on the time; so the table's
last line tells with which command anyone goes on from where this run stopped.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from soak.part import Found

FOLDER = Path(__file__).parent
#: A piece that takes longer than this has hung.
LONGEST = 1800.0
HEADS = ("part", "pieces", "items", "lost", "crashes", "wrong")


def parts() -> dict[str, str]:
    """The names of the parts, each with what it tries."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        text = path.read_text("utf-8")
        if "\ndef piece(" in text:
            found[path.stem] = text.splitlines()[0].strip('" ').rstrip(".")
    return found


def play(part: str, seed: int, number: int) -> Found:
    """One piece, in this process."""
    with tempfile.TemporaryDirectory(prefix=f"soak-{part}-") as folder:
        found: Found = importlib.import_module(f"soak.{part}").piece(seed, number, Path(folder))
    return found


def play_apart(part: str, seed: int, number: int, longest: float = LONGEST) -> Found:
    """One piece in a process of its own, whose end by anything but a result is a crash."""
    words = ["--only", part, "--seed", str(seed), "--piece", str(number), "--bare"]
    with tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as temporary:
        process = subprocess.Popen(
            [sys.executable, str(FOLDER), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": temporary},  # so that a killed piece leaves nothing
            start_new_session=True,  # so that what the piece started ends with it
        )
        try:
            out, err = process.communicate(timeout=longest)
        except subprocess.TimeoutExpired:
            _end(process)
            return Found(crashed=[f"it did not end within {longest:g} seconds"])
        except BaseException:
            _end(process)
            raise
    try:
        return Found(**json.loads(out.splitlines()[-1]))
    except (IndexError, ValueError, TypeError):
        last = (err.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"])[-1]
        return Found(crashed=[f"the piece ended with code {process.returncode}: {last}"])


def _end(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


class Totals:
    """What all pieces found."""

    def __init__(self, names: Sequence[str], seed: int) -> None:
        self.seed = seed
        self.pieces = dict.fromkeys(names, 0)
        self.found = {name: Found() for name in names}
        self.faults: list[str] = []

    def add(self, part: str, number: int, piece: Found) -> None:
        self.pieces[part] += 1
        total = self.found[part]
        total.items += piece.items
        total.skipped = piece.skipped or total.skipped
        for kind in ("lost", "crashed", "wrong"):
            getattr(total, kind).extend(getattr(piece, kind))
        again = f"python tests/soak --only {part} --seed {self.seed} --piece {number}"
        self.faults += [f"{part}: {sentence} (repeat: {again})" for sentence in piece.faults]

    def rows(self) -> list[tuple[object, ...]]:
        return [
            (name, self.pieces[name], one.items, len(one.lost), len(one.crashed), len(one.wrong))
            for name, one in self.found.items()
        ]

    def plain(self, next_round: int) -> dict[str, object]:
        return {
            "seed": self.seed,
            "next": next_round,
            "parts": [dict(zip(HEADS, row, strict=True)) for row in self.rows()],
            "skipped": {name: one.skipped for name, one in self.found.items() if one.skipped},
            "faults": self.faults,
        }


def run(names: Sequence[str], seed: int, first: int, minutes: float) -> tuple[Totals, int]:
    """Rounds from `first` until the time is over, and the round to go on with."""
    totals, until = Totals(names, seed), time.monotonic() + 60 * minutes
    for number, part in _order(names, first):
        left = until - time.monotonic()
        if left <= 0 and totals.pieces[names[-1]] > 0:  # each part is tried once, come what may
            return totals, number
        _tell(f"round {number}: {part}, {max(0.0, left) / 60:.1f} minutes left")
        found = play_apart(part, seed, number)
        totals.add(part, number, found)
        for sentence in [found.skipped] * bool(found.skipped) + found.faults:
            _tell(f"  {part}: {sentence}")
    raise AssertionError


def _order(names: Sequence[str], first: int) -> Iterator[tuple[int, str]]:
    number = first
    while True:
        for part in names:
            yield number, part
        number += 1


def _tell(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def show(totals: Totals) -> None:
    rows = [HEADS, *(tuple(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row)
                     for row in totals.rows())]  # fmt: skip
    widths = [max(len(str(row[place])) for row in rows) for place in range(len(HEADS))]
    for row in rows:
        name, *numbers = (str(cell) for cell in row)
        cells = [text.rjust(wide) for text, wide in zip(numbers, widths[1:], strict=True)]
        print("  ".join([name.ljust(widths[0]), *cells]))
    for name, one in totals.found.items():
        if one.skipped:
            print(f"{name} was not tried in full: {one.skipped}")
    for sentence in totals.faults:
        print(sentence)


def main() -> int:
    known = parts()
    parser = argparse.ArgumentParser(
        prog="python tests/soak",
        description="Kills, mutations and differential play by seed, for so many minutes. The exit "
        "code is 1 when anything was lost, crashed or wrong.",
        epilog="Parts: " + "; ".join(f"{name}: {about}" for name, about in known.items()),
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=10.0, help="each part is tried once")
    parser.add_argument("--only", choices=sorted(known), action="append", help="may be repeated")
    parser.add_argument("--first", type=int, default=0, help="the round to begin with")
    parser.add_argument("--piece", type=int, help="this piece alone, in this process")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    names = given.only or list(known)
    if given.piece is None:
        totals, next_round = run(names, given.seed, given.first, given.minutes)
    else:
        totals, next_round = Totals(names, given.seed), given.piece + 1
        for name in names:
            found = play(name, given.seed, given.piece)
            if given.bare:
                print(json.dumps(asdict(found)))
                return 0
            totals.add(name, given.piece, found)
    if given.json:
        print(json.dumps(totals.plain(next_round), indent=2))
    else:
        show(totals)
        only = "".join(f" --only {name}" for name in given.only or ())
        print(f"to go on: python tests/soak --seed {given.seed} --first {next_round}{only}")
    return 1 if totals.faults else 0
