"""Mutated run files of `cbr evolve`: each is continued and reported, or refused in a sentence."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from soak.casebases import (
    CARS,
    bad_text,
    change_schema,
    delete_rows,
    double_row,
    mutate,
    places_of,
    redeclare,
    run,
    set_cell,
    set_column,
    wrong_end,
)
from soak.part import Found

#: Mutations of a piece.
_PIECE = 20
_QUICK = "--arena accuracy --hands 8 --report 8 --generations 1".split()


def small_run(folder: Path) -> Path:
    """A short completed run; the casebase and the weights are beside it."""
    table = folder / "cars.csv"
    table.write_text("".join((CARS / "cars.csv").read_text().splitlines(keepends=True)[:61]))
    plugin = ["--plugin", CARS / "cars.py"]
    base = folder / "cars.db"
    for words in (
        ["build", table, "--type", "car", "--out", base, *plugin],
        ["evolve", base, *_QUICK, "--set", "learn=2", "--out", folder / "w.json", *plugin],
    ):
        code, _, err = run(*words)
        assert code == 0, err
    return folder / "w.run.db"


def change_json(db: sqlite3.Connection, rng: random.Random) -> str:
    """Change one place of a JSON text."""
    table, column = rng.choice(
        [
            *([("settings", "value")] * 3),
            *(("result", "value"), ("individuals", "genes"), ("generations", "notes")),
        ]
    )
    row, text = rng.choice(db.execute(f"SELECT rowid, {column} FROM {table}").fetchall())
    plain: Any = [json.loads(text)]
    inside, key = rng.choice(list(places_of(plain)))
    odd = [
        *(None, True, 0, -1, 1e300, "", "x", [], {}, float("nan"), 10**400, "\x1b[2J"),
        [0.5],
        {"a": 1},
    ]
    inside[key] = rng.choice(odd)
    given = [json.dumps(plain[0]), row]
    db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", given)
    return f"{table}.{column} of row {row}: {key!r} = {str(inside[key])[:40]}"


MUTATIONS: dict[Callable[[sqlite3.Connection, random.Random], str], int] = {
    **{set_cell: 8, set_column: 3, bad_text: 2, delete_rows: 2, double_row: 2},
    **{change_schema: 2, redeclare: 1, change_json: 10},
}


def survives(path: Path) -> str | None:
    """Report on a run file and continue it; returns what went wrong, or None."""
    plugin = ["--plugin", CARS / "cars.py"]
    resume = ["evolve", path.with_name("cars.db"), *_QUICK, "--set", "learn=2", "--resume"]
    for words in (
        ["evolve-report", path],
        ["evolve-report", path, "--json"],
        [*resume, "--out", path.with_name("w.json"), "--run", path, *plugin],
    ):
        code, out, err = run(*words)
        if wrong := wrong_end(" ".join(map(str, words)), code, err):
            return wrong
        if "\x1b" in out + err:
            return f"{words[0]} prints terminal escapes"
    return None


def soak(
    count: int, seed: int, folder: Path, tell: Callable[[str], None] | None = None
) -> list[str]:
    """Mutate and try run files `count` times; returns what went wrong, each with its number."""
    made = folder / "made"
    made.mkdir(parents=True)
    wrong, kept = [], small_run(made)
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        with tempfile.TemporaryDirectory(dir=folder) as place:
            copied = Path(shutil.copytree(made, Path(place) / "run"))
            path = copied / kept.name
            done = mutate(path, rng, MUTATIONS)
            if problem := survives(path):
                wrong.append(f"{number}: {done}: {problem}")
                if tell is not None:
                    tell(wrong[-1])
    return wrong


def piece(seed: int, number: int, folder: Path) -> Found:
    """Some mutated run files."""
    return Found(_PIECE, crashed=soak(_PIECE, 1_000_003 * seed + number, folder))
