"""Places and times that do not help: read-only folders, no locks, a clock that goes backwards."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from conftest import CARS_CSV, CARS_PLUGIN, ROOT

from cbr.building.pipeline import build
from cbr.cli.entry import _sentence
from cbr.errors import NotACasebase
from cbr.retrieval import retrieve
from cbr.reusing import reuse
from cbr.store import shared_arrays
from cbr.store.casebase import Casebase

CAR = "price=7000,age=6,mileage=90,power=90,fuel=diesel,owners=1"

#: Runs command lines, given as JSON, without the rights of an administrator: who owns a file and
#: may not write it, may not. Capabilities, because another user might not reach this Python.
ORDINARY = """
import ctypes, json, os, sys
if os.geteuid() == 0:
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        if libc.prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP, which takes effect with exec
            sys.exit("rights cannot be dropped here")
os.execv(sys.executable, [sys.executable, "-c", os.environ["COMMANDS"], *sys.argv[1:]])
"""
COMMANDS = """
import json, os, sys
if os.access(sys.argv[2], os.W_OK):
    sys.exit("this user can write to a read-only folder")
from soak.commands import run
told = []
for words in json.loads(sys.argv[1]):
    answer = run(*words)
    told.append([answer.code, answer.out, answer.err])
print(json.dumps(told))
"""


def as_ordinary_user(commands: list[list[object]], folder: Path) -> list[tuple[int, str, str]]:
    """The answers of command lines that an ordinary user gives; `folder` is read-only to him."""
    words = [[str(word) for word in command] for command in commands]
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, "-c", ORDINARY, json.dumps(words), str(folder)],
        capture_output=True,
        text=True,
        env={**os.environ, "COMMANDS": COMMANDS, "PYTHONPATH": path},
        timeout=600,
    )
    if (done.returncode == 1 and "folder" in done.stderr) or "dropped" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return [tuple(answer) for answer in json.loads(done.stdout.splitlines()[-1])]


@pytest.fixture
def read_only(cars_db: Path, tmp_path: Path) -> Any:
    """A folder with a casebase, in which nothing can be written."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    shutil.copy(cars_db, folder / "cars.db")
    (folder / "cars.db").chmod(0o444)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


@pytest.mark.long
def test_read_only_folders_as_an_ordinary_user(read_only: Path, tmp_path: Path) -> None:
    """What reads works as anywhere; what writes is refused in one sentence that names the place."""
    base, plugin = read_only / "cars.db", ["--plugin", CARS_PLUGIN]
    before = {path.name: path.read_bytes() for path in read_only.iterdir()}
    reads = [
        ["info", base],
        ["check", base],
        ["query", base, "--case", CAR, "--json"],
        ["evaluate", base],
        ["export", base, "--to", "csv", "--out", tmp_path / "tables"],
    ]
    writes = [
        ["build", CARS_CSV, "--type", "car", "--out", read_only / "new.db", *plugin],
        ["build", CARS_CSV, "--type", "car", "--out", base, *plugin],
        ["retain", base, "--case", CAR, "--solution", "buy"],
        ["refine", base, "--apply"],
        ["rebuild", base, *plugin],
        ["index", base, "--kind", "flat"],
        ["export", base, "--to", "csv", "--out", read_only / "tables"],
        ["export", base, "--to", "csv", "--out", read_only],
        ["learn-weights", base, "--out", read_only / "w.json"],
        ["evolve", base, "--out", read_only / "w.json"],
        ["evolve", base, "--out", tmp_path / "w.json", "--run", read_only / "w.run.db"],
        ["match", "call", "fold", "--hands", 4, "--log", read_only / "m.phhs"],
    ]
    answers = as_ordinary_user([*reads, *writes], read_only)
    for words, (code, _, err) in zip(reads, answers[: len(reads)], strict=True):
        assert (code, "Error" in err) == (0, False), (words, err)
    for words, (code, _, err) in zip(writes, answers[len(reads) :], strict=True):
        lines = [line for line in err.splitlines() if not line.startswith("Note:")]
        assert code == 2, (words, err)
        assert len(lines) == 1, (words, err)
        assert lines[0].startswith("Error: "), (words, err)
        assert str(read_only) in lines[0], (words, err)
    assert {path.name: path.read_bytes() for path in read_only.iterdir()} == before


@pytest.mark.long
def test_a_cache_folder_that_cannot_be_written(read_only: Path, monkeypatch) -> None:
    monkeypatch.setenv("CBR_CACHE_DIR", str(read_only))
    words = ["evolve", read_only / "cars.db", "--out", read_only.with_name("w.json"), "--seed", 1]
    words += ["--generations", 1, "--population", 4, "--trials", 20, "--report", 20]
    words += ["--set", "learn=0", "--workers", 2]
    (told,) = as_ordinary_user([words], read_only)
    assert (told[0], told[2]) == (0, "")


class TestNoLocks:
    """A file system without locks, or without the shared memory that several processes need."""

    @pytest.fixture
    def without(self, monkeypatch) -> None:
        real = sqlite3.connect

        def connect(path: object, **how: Any) -> sqlite3.Connection:
            uri = str(path) if str(path).startswith("file:") else Path(str(path)).as_uri()
            joint = "&" if "?" in uri else "?"
            return real(f"{uri}{joint}vfs=unix-none", **{**how, "uri": True})

        monkeypatch.setattr(sqlite3, "connect", connect)

    def test_a_casebase_from_elsewhere_is_not_called_damaged(self, cars_db, without) -> None:
        with pytest.raises(NotACasebase, match="no locks or shared memory; copy the file to a"):
            Casebase.open(cars_db)

    def test_one_that_is_built_there_can_be_used_there(
        self, tmp_path: Path, plugins, without
    ) -> None:
        """Without a write-ahead log."""
        build([CARS_CSV], tmp_path / "cars.db", "car")
        with Casebase.open(tmp_path / "cars.db") as base:
            assert base.count("car") > 0
            assert base.db.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
            found = retrieve(base, "car", {"price": 7000, "fuel": "diesel"})
            assert reuse(found, "majority").probabilities

    def test_a_file_that_is_locked(self, cars_db: Path, cbr, monkeypatch) -> None:
        """Where locks fail, SQLite says the same."""
        monkeypatch.setattr("cbr.store.connection.PATIENCE", 0.01)
        holder = sqlite3.connect(cars_db, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        answer = cbr("retain", cars_db, "--case", CAR, "--solution", "buy")
        holder.close()
        assert answer.code == 2
        assert "is locked: another process is writing to it, or its file system" in answer.err
        assert len(answer.err.strip().splitlines()) == 1

    def test_a_sentence_for_each_hindrance(self) -> None:
        for name, told in (
            ("SQLITE_BUSY_RECOVERY", "is locked"),
            ("SQLITE_IOERR_LOCK", "no locks or shared memory"),
            ("SQLITE_PROTOCOL", "no locks or shared memory"),
            ("SQLITE_CORRUPT", "run `cbr check` on it"),
        ):
            error = sqlite3.OperationalError("it happened")
            error.sqlite_errorname = name
            sentence, code = _sentence(error)
            assert told in sentence
            assert code == 2

    @pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
    def test_a_flop_table_is_built_without_locks(self, tmp_path, monkeypatch, code: int) -> None:
        fcntl = pytest.importorskip("fcntl")
        from cbr_holdem.strength import flop_table

        def fail(*_: object) -> None:
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(fcntl, "flock", fail)
        with (tmp_path / "table.part").open("ab") as file:
            flop_table._lock(file.fileno(), tmp_path / "table.part")  # and no error


class TestClock:
    """Nothing is decided by the time of day."""

    @pytest.fixture
    def backwards(self, monkeypatch) -> None:
        hours = count()
        monkeypatch.setattr(time, "time", lambda: 2e9 - 3600.0 * next(hours))
        monkeypatch.setattr(time, "time_ns", lambda: 10**9 * (2 * 10**9 - 3600 * next(hours)))

    def results(self, cbr, folder: Path) -> list[object]:
        base, out = folder / "cars.db", folder / "w.json"
        words = [base, "--seed", 3, "--generations", 1, "--population", 4, "--trials", 30]
        words += ["--report", 30, "--set", "learn=0", "--json"]
        built = cbr(
            *("build", CARS_CSV, "--type", "car", "--out", base, "--plugin", CARS_PLUGIN, "--json")
        ).json
        evolved = cbr("evolve", *words, "--out", out).json
        resumed = cbr("evolve", *words, "--out", out, "--resume").json
        query = cbr("query", base, "--case", CAR, "--json").json
        with Casebase.open(base) as opened:
            digest = opened.digest("car")
        assert evolved["judged"] == resumed["judged"]
        return [built["cases"], digest, evolved["weights"], evolved["judged"], query]

    def test_results_are_the_same_when_it_goes_backwards(
        self, cbr, tmp_path: Path, request
    ) -> None:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
        usual = self.results(cbr, tmp_path / "a")
        request.getfixturevalue("backwards")
        assert self.results(cbr, tmp_path / "b") == usual

    @pytest.mark.parametrize("second", [1, 4_000_000_000])
    def test_files_of_1970_and_2096(self, cars_db, cbr, tmp_path, monkeypatch, second) -> None:
        """A change is seen although the file keeps its time, in saved indices and shared arrays."""
        monkeypatch.setenv("CBR_CACHE_DIR", str(tmp_path / "cache"))
        monkeypatch.setattr(shared_arrays, "shared", True)

        def cases() -> int:
            os.utime(cars_db, (second, second))
            with Casebase.open(cars_db) as base:
                return int(base.vectors("car").counts.sum())

        assert cbr("index", cars_db, "--kind", "flat").code == 0
        (saved,) = cars_db.parent.glob("*.faiss")
        bytes_then = saved.read_bytes()
        monkeypatch.setattr(time, "time", lambda: float(second))
        assert cbr("index", cars_db, "--kind", "flat").code == 0
        assert saved.read_bytes() == bytes_then
        before = cases()
        assert cases() == before  # from the cache
        cbr("retain", cars_db, "--case", CAR, "--solution", "buy")
        assert cases() == before + 1
        (told,) = cbr("info", cars_db, "--json").json["indices"]
        assert told["state"] == "stale"
