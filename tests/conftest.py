"""What the tests share: the car domain, casebases of it, and the command line in this process."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cbr.building.pipeline import build
from cbr.cli import main
from cbr.plugging.plugins import Plugins, use_plugins
from cbr.store.casebase import Casebase
from cbr.workers import executor

# Tests run in as many processes as there are cores, so threads of FAISS and BLAS would only wait
# for each other. It is read when these are loaded, here and in processes that tests start.
os.environ["OMP_NUM_THREADS"] = "1"
# What commands print must not depend on how long they take.
os.environ["CBR_PROGRESS"] = "0"
# Whoever runs the tests in the background may ignore Ctrl-C, and processes that they start would
# inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parent.parent
CARS = ROOT / "tests" / "cars"
CARS_PLUGIN = CARS / "cars.py"
CARS_CSV = CARS / "cars.csv"


@dataclass(frozen=True)
class Answer:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Processes that tests start find our modules as bytecode, also where Python is told not to
    write any (PYTHONDONTWRITEBYTECODE)."""
    if not hasattr(session.config, "workerinput"):  # once, before there are workers
        for folder in ("cbr", "features", "similarity", "plugins"):
            compileall.compile_dir(ROOT / folder, quiet=2)


@pytest.fixture
def cbr(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Answer]:
    """Run a command line in this process."""
    monkeypatch.delenv("CBR_DEBUG", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)  # pytest-xdist sets it

    def run(*words: object) -> Answer:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        return Answer(int(stop.value.code or 0), out, err)

    return run


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing is read from or written to the cache of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CBR_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))
        yield


@pytest.fixture(autouse=True)
def _own_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test loads plugins anew, and none from the machine it runs on."""
    monkeypatch.setattr("cbr.plugging.plugins._default", None)
    monkeypatch.delenv("CBR_PLUGINS_DIR", raising=False)
    monkeypatch.delenv("CBR_LOAD_PLUGINS", raising=False)


@pytest.fixture(scope="session")
def pool() -> Iterator[Executor]:
    """Two worker processes for all tests that give work to some: each takes seconds to start."""
    with executor(2) as pool:
        assert pool is not None
        yield pool


@pytest.fixture
def dask_cluster() -> Iterator[str]:
    """The address of a Dask scheduler with two workers. It ends with the test: idle, it takes a
    seventh of a core."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def plugins() -> Plugins:
    """The plugins of this distribution and the car domain, in use for this test."""
    return use_plugins(Plugins().load([CARS_PLUGIN]))


@pytest.fixture(scope="session")
def _built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    use_plugins(Plugins().load([CARS_PLUGIN]))
    path = tmp_path_factory.mktemp("cars") / "cars.db"
    build([CARS_CSV], path, "car")
    return path


@pytest.fixture
def cars_db(_built: Path, tmp_path: Path) -> Path:
    """A casebase of cars to do with as a test likes."""
    return Path(shutil.copy(_built, tmp_path / "cars.db"))


@pytest.fixture
def cars(cars_db: Path, plugins: Plugins) -> Any:
    with Casebase.open(cars_db, write=True) as base:
        yield base


@pytest.fixture
def plugin_file(tmp_path: Path) -> Callable[..., Path]:
    """Write a plugin file."""

    def write(text: str, name: str = "dropped.py") -> Path:
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path

    return write
