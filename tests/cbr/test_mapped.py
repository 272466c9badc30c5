"""Arrays of a casebase that processes map: the same as those that are read, and never old ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cbr.store import shared_arrays as mapped
from cbr.store.casebase import Casebase


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("CBR_CACHE_DIR", str(folder))
    monkeypatch.setattr(mapped, "shared", True)
    return folder


def read(file: Path):
    with Casebase.open(file) as base:
        return base.vectors(base.stages[0])


def files(cache: Path) -> list[Path]:
    return sorted(cache.rglob("*.npy"))


def test_they_are_what_is_read(cars_db: Path, cache: Path, monkeypatch) -> None:
    first, again = read(cars_db), read(cars_db)
    assert files(cache)
    monkeypatch.setattr(mapped, "shared", False)
    plain = read(cars_db)
    for name in ("values", "counts", "outcome_sum", "case_ids", "case_solutions", "start"):
        for one in (first, again):
            np.testing.assert_array_equal(getattr(one, name), getattr(plain, name))
    assert (again.digest, again.beside, again.estimates) == (plain.digest, plain.beside, None)
    assert not again.values.flags.writeable


def test_values_that_are_written_are_seen_and_the_former_state_goes(cars_db, cache: Path) -> None:
    read(cars_db)
    before = {path.parent for path in files(cache)}
    with Casebase.open(cars_db, write=True) as base, base.transaction():
        solution = base.case_types[0].solutions[0]
        base.put_values(base.stages[0], [1], solution, [0.5])
    found = read(cars_db)
    assert found.estimates is not None
    assert found.estimates.total.sum() == 0.5
    assert not before & {path.parent for path in files(cache)}


@pytest.mark.parametrize("damage", [b"not an array", b"", None])
def test_a_damaged_file_is_made_again(cars_db: Path, cache: Path, damage: bytes | None) -> None:
    right = read(cars_db).counts.copy()
    for path in files(cache):
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]) if damage is None else damage)
    np.testing.assert_array_equal(read(cars_db).counts, right)
    assert all(path.stat().st_size > 20 for path in files(cache))


def test_a_large_stage_is_mapped_by_every_process(cars_db: Path, cache: Path, monkeypatch) -> None:
    monkeypatch.setattr(mapped, "shared", False)
    read(cars_db)
    assert not files(cache)
    monkeypatch.setattr(mapped, "MANY", 400)  # as many as there are
    read(cars_db)
    assert files(cache)
    with Casebase.open(cars_db, write=True) as base:
        assert base.vectors("car").values.flags.owndata, "a writer reads what it has written"


def test_where_nothing_can_be_kept_it_is_read(cars_db: Path, cache: Path) -> None:
    cache.write_text("in the way")
    assert len(read(cars_db)) > 0
