"""A bounded part of what `make soak` runs for longer: mutated files of all kinds, by seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from soak import casebases, opponent_files, run_files


@pytest.mark.long
def test_mutated_casebases(tmp_path: Path) -> None:
    assert casebases.soak(16, 21, tmp_path) == []


@pytest.mark.long
def test_mutated_run_files(tmp_path: Path) -> None:
    assert run_files.soak(15, 21, tmp_path) == []


@pytest.mark.long
def test_mutated_files_of_opponents(tmp_path: Path) -> None:
    assert opponent_files.soak(9, 21, tmp_path) == []


def test_the_same_seed_does_the_same(tmp_path: Path, cars_db: Path) -> None:
    """So that whoever finds something can be followed."""
    import random
    import shutil

    done = []
    for name in ("a.db", "b.db"):
        path = Path(shutil.copy(cars_db, tmp_path / name))
        done.append([casebases.mutate(path, random.Random(seed)) for seed in range(12)])
    assert done[0] == done[1]
    assert len(set(done[0])) > 8
