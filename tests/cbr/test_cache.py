"""The cache folder: its limit, what goes first, what never goes, and `cbr cache`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cbr.errors import BadValue
from cbr.store import cache, shared_arrays
from cbr.store.casebase import Casebase


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CBR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("CBR_CACHE_LIMIT", raising=False)
    monkeypatch.setattr(shared_arrays, "shared", True)
    return tmp_path / "cache"


@pytest.fixture
def several(cars_db: Path) -> list[Path]:
    return [Path(shutil.copy(cars_db, cars_db.with_name(f"{name}.db"))) for name in "abcd"]


def read(file: Path):
    with Casebase.open(file) as base:
        return base.vectors(base.stages[0])


def kept() -> list[str]:
    return sorted(Path(entry.casebase).stem for entry in cache.entries())


def size_of_one(file: Path) -> int:
    read(file)
    (entry,) = cache.entries()
    cache.clear()
    return entry.bytes


def use_in_order(files: list[Path]) -> None:
    """As if they were used one after the other, long ago: the clock of a test is too coarse."""
    for age, file in enumerate(files):
        (entry,) = [one for one in cache.entries() if one.casebase == str(file.resolve())]
        os.utime(entry.path, (1000 + age, 1000 + age))


class TestLimit:
    def test_what_was_not_used_for_longest_makes_room(self, folder, several, monkeypatch) -> None:
        a, b, c, d = several
        monkeypatch.setenv("CBR_CACHE_LIMIT", str(3 * size_of_one(a)))
        for file in (a, b, c):
            read(file)
        assert kept() == ["a", "b", "c"]
        use_in_order([a, b, c])
        read(a)  # is used now
        read(d)
        assert kept() == ["a", "c", "d"]
        assert sum(entry.bytes for entry in cache.entries()) <= cache.limit()

    def test_a_process_goes_on_with_what_was_removed(self, folder, several, monkeypatch) -> None:
        monkeypatch.setenv("CBR_CACHE_LIMIT", str(size_of_one(several[0])))
        found = read(several[0])
        before = found.values.tobytes()
        read(several[1])
        assert kept() == ["b"]
        assert found.values.tobytes() == before

    def test_what_is_larger_than_the_limit_is_not_kept(self, folder, several, monkeypatch) -> None:
        for limit in (str(size_of_one(several[0]) - 1), "0"):
            monkeypatch.setenv("CBR_CACHE_LIMIT", limit)
            assert len(read(several[0])) > 0
            assert cache.entries() == []

    @pytest.mark.parametrize(
        ("text", "size"),
        [("2GB", 2 * 10**9), ("1.5 g", 15 * 10**8), ("500mb", 5 * 10**8), ("12", 12), ("", None)],
    )
    def test_sizes(self, monkeypatch, text: str, size: int | None) -> None:
        monkeypatch.setenv("CBR_CACHE_LIMIT", text)
        assert cache.limit() == (cache.USUAL_LIMIT if size is None else size)

    @pytest.mark.parametrize("text", ["much", "-1", "1e9", "nan", "9" * 30])
    def test_no_size(self, folder, several, monkeypatch, text: str) -> None:
        monkeypatch.setenv("CBR_CACHE_LIMIT", text)
        with pytest.raises(BadValue, match="is no size; give bytes, such as 500MB"):
            read(several[0])


class TestLeftovers:
    def test_entries_of_deleted_casebases_go(self, folder, several) -> None:
        for file in several[:2]:
            read(file)
        several[0].unlink()
        read(several[2])
        assert kept() == ["b", "c"]

    def test_what_a_killed_process_was_writing_goes(self, folder, several) -> None:
        read(several[0])
        (entry,) = cache.entries()
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        dead = entry.path.with_name(f"{entry.path.name}.{ended.pid}.part")
        alive = entry.path.with_name(f"{entry.path.name}.{os.getppid()}.part")
        for part in (dead, alive):
            part.mkdir()
            part.joinpath("values.npy").write_bytes(b"half")
        read(several[1])
        assert not dead.exists()
        assert alive.exists()
        assert kept() == ["a", "b"]

    def test_nobody_can_read_half_an_entry(self, folder, several, monkeypatch) -> None:
        """One without its estimates would be taken for a casebase without values."""
        with Casebase.open(several[0], write=True) as base, base.transaction():
            base.put_values(base.stages[0], [1], base.case_types[0].solutions[0], [0.5])
        read(several[0])
        (entry,) = cache.entries()
        seen = []
        real = shutil.rmtree

        def removing(path: Path, **how: object) -> None:
            seen.append(entry.path.exists())
            for file in Path(path).glob("estimates*"):
                file.unlink()
            estimates = read(several[0]).estimates  # while it goes
            assert estimates is not None
            np.testing.assert_equal(estimates.total.sum(), 0.5)
            monkeypatch.setattr(shutil, "rmtree", real)
            real(path, **how)

        assert any(entry.path.glob("estimates*"))
        part = cache._part(entry.path)
        assert not part.exists()
        monkeypatch.setattr(cache, "_part", lambda _: part)
        monkeypatch.setattr(shutil, "rmtree", removing)
        assert cache.remove(entry.path)
        assert seen == [False]


class TestCommand:
    def test_show_and_clear(self, cbr, folder: Path, several) -> None:
        for file in several[:2]:
            read(file)
        folder.joinpath("table.bin").write_bytes(b"0" * 1234)
        told = cbr("cache", "--json").json
        assert (told["folder"], told["limit"]) == (str(folder), cache.USUAL_LIMIT)
        assert told["others"] == {"table.bin": 1234}
        assert told["bytes"] == sum(entry["bytes"] for entry in told["entries"]) > 0
        assert {entry["casebase"] for entry in told["entries"]} == set(map(str, several[:2]))
        shown = cbr("cache").out
        assert "arrays of 2 stages" in shown
        assert "of at most 2.0 GB" in shown
        assert "never removed: table.bin (1.2 kB)" in shown
        gone = cbr("cache", "clear", "--json").json
        assert (gone["removed"], gone["bytes"]) == (2, told["bytes"])
        assert "removed arrays of 0 stages, 0 bytes" in cbr("cache", "clear").out

    def test_nothing_else_is_ever_removed(self, cbr, folder: Path, several) -> None:
        """Whatever folder CBR_CACHE_DIR names."""
        read(several[0])
        mine = folder / "casebases"
        foreign = [folder / "table.bin", mine / "cars.db", mine / "cars-csv" / "car.csv"]
        foreign += [mine / ("0" * 24) / "notes.txt", mine / ("0" * 24) / "car-mine" / "x.npy"]
        for path in foreign:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("mine")
        cbr("cache", "clear")
        assert [path.read_text() for path in foreign] == ["mine"] * len(foreign)
        assert kept() == []

    def test_an_empty_and_a_missing_folder(self, cbr, folder: Path) -> None:
        assert "arrays of 0 stages" in cbr("cache").out
        assert cbr("cache", "clear").code == 0
        assert not folder.exists()
