"""Nothing is lost without a word: moved files, full disks, bombs, leftovers, edited tables."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import CARS_CSV, CARS_PLUGIN, Answer

from cbr.building.pipeline import build
from cbr.errors import BadValue, CasebaseMoved, CbrError, DifferentRecord, NoRoom
from cbr.files import atomic
from cbr.files.atomic import part_of, whole_file
from cbr.files.compression import open_bytes, read_size, unpacking
from cbr.store.casebase import Casebase
from cbr.upkeep.soundness import check

HEAD, *ROWS = CARS_CSV.read_text().splitlines(keepends=True)
CAR = ["--type", "car", "--plugin", CARS_PLUGIN]


def table(path: Path, *rows: str) -> Path:
    path.write_text(HEAD + "".join(rows))
    return path


def archive(path: Path, text: bytes, mode: str = "w") -> Path:
    with tarfile.open(path, mode) as file:  # type: ignore[call-overload]
        head = tarfile.TarInfo("cars.csv")
        head.size = len(text)
        file.addfile(head, io.BytesIO(text))
    return path


class TestMoved:
    """A casebase that is deleted or replaced while it is written."""

    @pytest.mark.parametrize("end", [100, 400])
    def test_deleted(self, tmp_path: Path, plugins, end: int) -> None:
        out = tmp_path / "cars.db"

        def delete(done: float, total: float, count: int) -> None:
            if count == end:
                out.unlink()

        with pytest.raises(CasebaseMoved, match=r"cars\.db was deleted while it was being written"):
            build([CARS_CSV], out, "car", batch=50, progress=delete)
        assert list(tmp_path.iterdir()) == []

    def test_replaced(self, tmp_path: Path, plugins, cars_db: Path) -> None:
        """The other file stays as it is, and no log that SQLite would apply to it is left."""
        out, other = tmp_path / "mine.db", Path(shutil.copy(cars_db, tmp_path / "other.db"))

        def replace(done: float, total: float, count: int) -> None:
            if count == 100:
                other.replace(out)

        with pytest.raises(CasebaseMoved, match=r"mine\.db was replaced"):
            build([CARS_CSV], out, "car", batch=50, progress=replace)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["cars.db", "mine.db"]
        assert out.read_bytes() == cars_db.read_bytes()
        assert check(out) == []

    def test_the_command_says_so(self, tmp_path: Path, cbr, monkeypatch) -> None:
        out = tmp_path / "cars.db"
        done = Casebase.close

        def close(base: Casebase) -> None:
            out.unlink(missing_ok=True)
            done(base)

        monkeypatch.setattr(Casebase, "close", close)
        answer = cbr("build", CARS_CSV, "--out", out, *CAR)
        assert (answer.code, answer.out) == (2, "")
        assert "was deleted while it was being written" in answer.err


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """Writing more than this to a file fails, as on a full disk."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class TestNoRoom:
    def test_a_full_temporary_folder_is_no_damaged_archive(
        self, tmp_path: Path, plugins, monkeypatch
    ) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        text = (HEAD + "".join(ROWS * 20)).encode()
        path, out = archive(tmp_path / "cars.tar", text), tmp_path / "cars.db"
        wanted = rf"cars\.tar cannot be unpacked into {tmp_path} \(.*TMPDIR"
        with files_up_to(100_000), pytest.raises(NoRoom, match=wanted):
            build([path], out, "car")
        assert [path.name for path in tmp_path.iterdir()] == ["cars.tar"]

    @pytest.mark.parametrize("pages", [12, 24])
    def test_a_full_disk_names_the_casebase(
        self, tmp_path: Path, cbr, monkeypatch, pages: int
    ) -> None:
        """Full while it is created, and full while cases are written."""
        from cbr.store import connection

        connect = connection.connect

        def small(path: Path):
            db = connect(path)
            db.execute(f"PRAGMA max_page_count = {pages}")
            return db

        monkeypatch.setattr(connection, "connect", small)
        answer = cbr("build", CARS_CSV, "--out", tmp_path / "cars.db", *CAR)
        assert answer.code == 2
        assert "no space is left to write" in answer.err
        assert "cars.db; make room" in answer.err

    def test_no_temporary_folder(self, tmp_path: Path, plugins, monkeypatch) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
        path = archive(tmp_path / "cars.tar", b"")
        with pytest.raises(NoRoom, match=r"cars\.tar cannot be unpacked"):
            build([path], tmp_path / "cars.db", "car")


class TestBombs:
    @pytest.mark.parametrize("opener", [gzip.compress, bz2.compress, lzma.compress])
    def test_a_compressed_file(self, tmp_path: Path, plugins, opener: Callable) -> None:
        path = tmp_path / "cars.csv.x"
        path.write_bytes(opener((HEAD + "".join(ROWS)).encode() + b"\n" * 3_000_000))
        wanted = r"cars\.csv\.x unpacks to more than 1,000,000 bytes; .* --max-unpacked"
        with pytest.raises(BadValue, match=wanted):
            build([path], tmp_path / "cars.db", "car", reader="table", max_unpacked=1_000_000)
        with open_bytes(path) as (stream, _):  # without a build, the bound is 20 GB
            assert len(stream.read()) > 3_000_000

    def test_an_archive(self, tmp_path: Path, cbr) -> None:
        path = archive(tmp_path / "bomb.tar.xz", bytes(30_000_000), "w:xz")
        assert path.stat().st_size < 10_000
        words = ["build", path, "--out", tmp_path / "cars.db", *CAR, "--max-unpacked"]
        answer = cbr(*words, "20MB")
        assert (answer.code, (tmp_path / "cars.db").exists()) == (2, False)
        assert "bomb.tar.xz unpacks to more than 20,000,000 bytes" in answer.err
        assert "is no size" in cbr(*words, "many").err

    def test_members_count_together(self, tmp_path: Path, plugins) -> None:
        """An archive of small bombs is one: its members are decompressed under one bound."""
        inside = gzip.compress(bytes(600_000))
        path = tmp_path / "many.tar"
        with tarfile.open(path, "w") as file:
            for number in range(3):
                head = tarfile.TarInfo(f"{number}.csv.gz")
                head.size = len(inside)
                file.addfile(head, io.BytesIO(inside))
        with pytest.raises(BadValue, match=r"many\.tar unpacks to more than 1,000,000 bytes"):
            build([path], tmp_path / "cars.db", "car", reader="table", max_unpacked=10**6)

    @pytest.mark.parametrize("text", ["", "GB", "-1", "0", "20XB", "1e9"])
    def test_sizes_that_are_none(self, text: str) -> None:
        with pytest.raises(BadValue, match="is no size"):
            read_size(text)

    def test_the_bound_ends_with_its_block(self, tmp_path: Path) -> None:
        path = tmp_path / "x.gz"
        path.write_bytes(gzip.compress(bytes(5_000)))
        with unpacking("outer", 100), pytest.raises(BadValue, match="outer"), open_bytes(path) as f:
            f[0].read()
        with open_bytes(path) as (stream, _):
            assert len(stream.read()) == 5_000


@pytest.fixture
def ended() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait(60)
    return process.pid


class TestLeftovers:
    def test_parts_of_ended_processes_are_removed(self, tmp_path: Path, ended: int) -> None:
        path = tmp_path / "w.json"
        left = [f"w.json.{ended}.part", f"w.json.{ended}.part-wal", f"w.json.{10**18}.part"]
        kept = [
            f"w.json.{os.getppid()}.part",
            f"other.{ended}.part",
            "w.json.part",
            "w.json.x.part",
        ]
        for name in (*left, *kept):
            (tmp_path / name).touch()
        with whole_file(path) as part:
            part.write_text("1")
        assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*kept, "w.json"])

    def test_a_number_that_another_process_has_now(self, tmp_path: Path) -> None:
        """The process of that number began after the file was written, so it is not the writer."""
        if atomic._started(os.getppid()) is None:
            pytest.skip("this system does not tell when a process began")
        path = tmp_path / "w.json"
        old = tmp_path / f"w.json.{os.getppid()}.part"
        old.touch()
        os.utime(old, (0, 0))
        assert part_of(path).name == f"w.json.{os.getpid()}.part"
        assert not old.exists()
        assert abs((atomic._started(os.getpid()) or 0) - time.time()) < 24 * 3600

    def test_casebases_and_unpacked_archives(
        self, tmp_path: Path, plugins, monkeypatch, ended: int
    ) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        for suffix in ("", "-wal", "-shm"):
            (tmp_path / f"cars.db.{ended}.part{suffix}").touch()
        (tmp_path / f"cbr-{ended}-abc").mkdir()
        (tmp_path / f"cbr-{ended}-abc" / "cars.csv").touch()
        (tmp_path / "cbr-abc").mkdir()
        path = archive(tmp_path / "cars.tar", CARS_CSV.read_bytes())
        build([path], tmp_path / "cars.db", "car")
        names = sorted(p.name for p in tmp_path.iterdir())
        assert names == ["cars.db", "cars.tar", "cbr-abc"]
        (tmp_path / f"cars.db.{ended}.part").touch()
        Casebase.open(tmp_path / "cars.db", write=True).close()
        assert sorted(p.name for p in tmp_path.iterdir()) == names


class TestReplace:
    def test_an_edited_table(self, tmp_path: Path, plugins) -> None:
        path, out = table(tmp_path / "t.csv", *ROWS[:50]), tmp_path / "t.db"
        other = table(tmp_path / "u.csv", *ROWS[100:120])
        build([path, other], out, "car")
        with Casebase.open(out, write=True) as base, base.transaction():
            ids = [case.id for case in base.cases("car")]
            base.put_values("car", [ids[0], ids[-1]], "buy", [1.0, 2.0])
        table(path, *ROWS[1:40], "bad row\n", ROWS[60])
        with pytest.raises(DifferentRecord, match="--replace takes the new content"):
            build([path], out, "car")
        report = build([path], out, "car", replace=True)
        assert (report.replaced, report.records, report.skipped.total()) == (50, 40, 1)
        assert check(out) == []
        build([path, other], tmp_path / "fresh.db", "car")
        with Casebase.open(out) as base, Casebase.open(tmp_path / "fresh.db") as fresh:
            assert base.digest("car") == fresh.digest("car")
            assert base.count("car") == 60
            assert [value for *_, value, _ in base.values("car")] == [2.0]
            assert base.db.execute("SELECT COUNT(*) FROM skipped").fetchone()[0] == 1
        again = build([path, other], out, "car")
        assert (again.records, again.known) == (0, 60)

    def test_all_or_nothing(self, tmp_path: Path, plugins) -> None:
        path, out = table(tmp_path / "t.csv", *ROWS[:200]), tmp_path / "t.db"
        build([path], out, "car")
        with Casebase.open(out) as base:
            before = base.digest("car"), base.write_version
        table(path, *ROWS[100:200], "bad row\n")
        for given in ({"strict": True}, {"progress": self.stop}):
            with pytest.raises((BadValue, KeyboardInterrupt)):
                build([path], out, "car", replace=True, batch=20, **given)
            with Casebase.open(out) as base:
                assert (base.digest("car"), base.write_version) == before
        table(path)
        with pytest.raises(CbrError, match="nothing to build"):
            build([path], out, "car", replace=True)
        with Casebase.open(out) as base:
            assert (base.digest("car"), base.write_version) == before

    @staticmethod
    def stop(done: float, total: float, count: int) -> None:
        if count > 50:
            raise KeyboardInterrupt

    def test_a_file_that_is_empty_now(self, tmp_path: Path, plugins) -> None:
        one, two = table(tmp_path / "1.csv", *ROWS[:5]), table(tmp_path / "2.csv", *ROWS[5:9])
        build([one, two], tmp_path / "t.db", "car")
        table(one)
        build([one, two], tmp_path / "t.db", "car", replace=True)
        with Casebase.open(tmp_path / "t.db") as base:
            assert base.count("car") == 4

    def test_the_command(self, tmp_path: Path, cbr) -> None:
        path, out = table(tmp_path / "t.csv", *ROWS[:9]), tmp_path / "t.db"
        words = ["build", path, "--out", out, *CAR]
        for replace, says in (
            (["--replace"], "9 new rows, 0 known already\n"),
            (["--replace"], "9 new rows, 0 known already, 9 replaced\n"),
            ([], "0 new rows, 9 known already\n"),
        ):
            answer: Answer = cbr(*words, *replace)
            assert (answer.code, says in answer.out) == (0, True), answer

    def test_the_same_rows_under_another_name_are_told(self, tmp_path: Path, plugins) -> None:
        one = table(tmp_path / "one.csv", *ROWS[:30])
        build([one], tmp_path / "t.db", "car")
        two, part = table(tmp_path / "two.csv", *ROWS[:30][::-1]), tmp_path / "part.csv"
        [note] = build([two], tmp_path / "t.db", "car").notes
        assert note.startswith("two.csv has the same rows as one.csv, so they count twice")
        assert build([table(part, *ROWS[20:31])], tmp_path / "t.db", "car").notes == []
        assert build([one, two, part], tmp_path / "t.db", "car").notes == []
        [note] = build([one, two], tmp_path / "both.db", "car").notes
        assert "has the same rows as" in note
