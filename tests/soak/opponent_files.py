"""Mutated files of models, of clusters and of opponents: each is used, or refused in a sentence."""

from __future__ import annotations

import io
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from made_logs import limit_base
from numpy.typing import NDArray

from soak.casebases import (
    bad_text,
    change_schema,
    delete_rows,
    double_row,
    mutate,
    redeclare,
    run,
    set_cell,
    set_column,
    wrong_end,
)
from soak.part import Found

#: Mutations of a piece.
_PIECE = 20
_BASE, _MODEL, _OPPONENTS = "limit.db", "model.npz", "opponents.db"
_CLUSTERS = "clusters.npz"

#: Models of clusters that are fitted at once.
_SHARED = ("--model", "frequencies", "--own", "trees?trees=3")

OPPONENTS: dict[Callable[[sqlite3.Connection, random.Random], str], int] = {
    **{set_cell: 8, set_column: 3, bad_text: 2, delete_rows: 2, double_row: 2},
    **{change_schema: 2, redeclare: 1},
}


def small_files(folder: Path) -> None:
    """A casebase, a model fitted to it and clusters of its players, and what was remembered of two
    players."""
    base = limit_base(folder).rename(folder / _BASE)
    model = ["--model", "trees?trees=3", "--cards", 0, "--save", folder / _MODEL]
    for words in (
        ["predict", base, *model],
        ["cluster", base, "-k", 2, "--iterations", 3, "--out", folder / _CLUSTERS, *_SHARED],
        ["match", "lag", "call", "--hands", 60, "--remember", folder / _OPPONENTS],
    ):
        code, _, err = run(*words)
        assert code == 0, err


def change_model(path: Path, rng: random.Random) -> str:
    """Change an array of a model file, or bytes of the file."""
    data = path.read_bytes()
    if rng.random() < 0.15:
        at = rng.randrange(len(data))
        path.write_bytes(data[:at] + rng.randbytes(rng.choice([0, 1, 4])) + data[at + 1 :])
        return f"bytes at {at}"
    with np.load(io.BytesIO(data)) as file:
        parts = dict(file)
    name = rng.choice(sorted(parts))
    done, parts[name] = _changed(parts[name], rng)
    if done == "removed":
        del parts[name]
    if rng.random() < 0.05:
        parts[rng.choice(["more", "../more", "\x1b[2J"])] = np.zeros(3)
    np.savez_compressed(path, **parts)
    return f"{name}: {done}"


def _changed(part: NDArray[Any], rng: random.Random) -> tuple[str, NDArray[Any]]:
    """Another array in its place, and what was done."""
    if part.dtype.kind == "U":
        odd = rng.choice(["", "limit", "nolimit", "x\x1b[2J", "y" * 5_000])
        return f"text {odd[:20]!r}", np.array(odd)
    kind = rng.choice(["value", "value", "value", "all", "type", "shape", "removed", "object"])
    flat = part.copy().reshape(-1)
    odd_number = rng.choice([0, 1, -1, 2, 31, 45, 127, 200, 255, 1 << 40, 1e-300, 1e30])
    if part.dtype.kind == "f":
        odd_number = rng.choice([odd_number, 0.5, np.nan, np.inf, -np.inf])
    with np.errstate(all="ignore"):
        number = np.array([odd_number]).astype(part.dtype)[0]
    if kind == "value" and len(flat):
        at = rng.randrange(len(flat))
        flat[at] = number
        return f"{odd_number} at {at}", flat.reshape(part.shape)
    if kind == "all":
        return f"all {odd_number}", np.full_like(part, number)
    if kind == "type":
        with np.errstate(all="ignore"):
            return kind, part.astype(rng.choice(["f2", "f4", "f8", "i1", "u8", "?", "c16", "S4"]))
    if kind == "shape":
        cut = [flat[:-1], flat, np.append(flat, flat), part[None], part[..., None], flat[:0]]
        return kind, rng.choice(cut)
    if kind == "object":
        return kind, np.array([[1], "x"], dtype=object)
    return "removed", part


def survives(folder: Path) -> str | None:
    """Use the files; returns what went wrong, or None."""
    models = [f"file:{folder / _MODEL}", f"kmodels:{folder / _CLUSTERS}"]
    how = ["--split", "time", "--cards", 3, "--json"]
    for words in (
        *(["predict", folder / _BASE, "--model", model, *how] for model in models),
        ["opponents", folder / _OPPONENTS],
        ["opponents", folder / _OPPONENTS, "--json"],
        ["match", "lag", "call", "--hands", 8, "--remember", folder / _OPPONENTS],
        ["opponents", folder / _OPPONENTS],
    ):
        code, out, err = run(*words)
        if wrong := wrong_end(" ".join(map(str, words)), code, err):
            return wrong
        if "\x1b" in out + err:
            return f"{words[0]} prints terminal escapes"
        if "NaN" in out:
            return f"{words[0]} shows what is no number"
    return None


def soak(
    count: int, seed: int, folder: Path, tell: Callable[[str], None] | None = None
) -> list[str]:
    """Mutate and try files `count` times; returns what went wrong, each with its number."""
    made = folder / "made"
    made.mkdir(parents=True)
    small_files(made)
    wrong = []
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        with tempfile.TemporaryDirectory(dir=folder) as place:
            copied = Path(shutil.copytree(made, Path(place) / "files"))
            done = change_model(copied / _MODEL, rng)
            done += "; clusters " + change_model(copied / _CLUSTERS, rng)
            done += "; " + mutate(copied / _OPPONENTS, rng, OPPONENTS)
            if problem := survives(copied):
                wrong.append(f"{number}: {done}: {problem}")
                if tell is not None:
                    tell(wrong[-1])
    return wrong


def piece(seed: int, number: int, folder: Path) -> Found:
    """Some mutated files."""
    return Found(_PIECE, crashed=soak(_PIECE, 1_000_003 * seed + number, folder))
