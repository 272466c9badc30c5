"""Compiled code is never stale: its cache is keyed by all that it was made from."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest

from cbr import compile_notice
from cbr.jit import njit

CALLER = """
from cbr.jit import njit
from constants import FACTOR, TABLE
from inner import inner


@njit
def outer(x):
    return FACTOR * inner(x) + TABLE[1]


@njit
def other(x):
    return x - 1.0
"""
INNER = """
from cbr.jit import njit
from deep import deep


@njit
def inner(x):
    return deep(x) + 1.0
"""
DEEP = """
import numba
from cbr.jit import njit


@njit
def deep(x):
    return x * 2.0
"""
CONSTANTS = "import numpy as np\nFACTOR = 10\nTABLE = np.array([0.0, 0.5])\n"
RUN = """
import json, sys
sys.path.insert(0, sys.argv[1])
import caller
print(json.dumps({
    "values": [caller.outer(3.0), caller.other(3.0)],
    "compiled": [sum(f.stats.cache_misses.values()) for f in (caller.outer, caller.other)],
}))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in [
        ("caller", CALLER),
        ("inner", INNER),
        ("deep", DEEP),
        ("constants", CONSTANTS),
        ("elsewhere", "X = 1\n"),
    ]:
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    return tmp_path


def start(package: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", RUN, str(package)], stdout=subprocess.PIPE)


def end(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(process.communicate()[0])
    return found


def run(package: Path) -> dict[str, Any]:
    return end(start(package))


def edit(package: Path, name: str, old: str, new: str) -> None:
    path = package / f"{name}.py"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def entries(package: Path) -> set[str]:
    return {path.name for path in package.glob("__pycache__/*.nb[ic]")}


@pytest.mark.long
def test_a_changed_callee_or_constant_is_compiled_again(package: Path) -> None:
    assert run(package) == {"values": [70.5, 2.0], "compiled": [1, 1]}
    assert run(package) == {"values": [70.5, 2.0], "compiled": [0, 0]}
    before = entries(package)
    edit(package, "elsewhere", "1", "2")
    assert run(package)["compiled"] == [0, 0]
    # `other` stands in the same module as `outer` but reaches nothing that changed.
    edit(package, "deep", "x * 2.0", "x * 3.0")
    assert run(package) == {"values": [100.5, 2.0], "compiled": [1, 0]}
    edit(package, "constants", "FACTOR = 10", "FACTOR = 1")
    assert run(package) == {"values": [10.5, 2.0], "compiled": [1, 0]}
    edit(package, "constants", "0.5", "0.25")
    assert run(package) == {"values": [10.25, 2.0], "compiled": [1, 0]}
    assert run(package)["compiled"] == [0, 0]
    assert entries(package) == before


@pytest.mark.long
def test_entries_of_functions_that_are_gone_are_removed(package: Path) -> None:
    run(package)
    assert any(name.startswith("caller.other") for name in entries(package))
    # A line more: `other` moves down, gets another name, and `outer` is compiled again.
    edit(package, "caller", "@njit\ndef other(x)", "\n@njit\ndef another(x)")
    edit(package, "caller", "def another(x):", "def another(x):\n    '''Moved.'''")
    (package / "caller.py").write_text(
        (package / "caller.py").read_text("utf-8") + "\n\nother = another\n", "utf-8"
    )
    assert run(package) == {"values": [70.5, 2.0], "compiled": [1, 1]}
    names = entries(package)
    assert not any(name.startswith("caller.other") for name in names)
    assert sum(name.startswith("caller.another") for name in names) == 2


@pytest.mark.long
def test_entries_that_cannot_be_read_are_replaced(package: Path) -> None:
    """As when a type that an entry names has got another name, or a file is damaged."""
    run(package)
    for path in package.glob("__pycache__/caller.outer*.nbi"):
        path.write_bytes(path.read_bytes()[:-20] + bytes(20))
    for path in package.glob("__pycache__/caller.other*.nbc"):
        path.write_bytes(b"damaged")
    assert run(package) == {"values": [70.5, 2.0], "compiled": [1, 1]}
    assert run(package) == {"values": [70.5, 2.0], "compiled": [0, 0]}


@pytest.mark.long
def test_one_of_several_processes_compiles(package: Path) -> None:
    found = [end(process) for process in [start(package) for _ in range(3)]]
    assert [one["values"] for one in found] == [[70.5, 2.0]] * 3
    assert [sum(of) for of in zip(*(one["compiled"] for one in found), strict=True)] == [1, 1]


def test_compiling_is_told_once_from_its_beginning_to_its_end(monkeypatch) -> None:
    told: list[str] = []

    def tell() -> Callable[[], None]:
        told.append("begins")
        return lambda: told.append("ends")

    new = secrets.randbelow(2**60)  # a constant that no cached code was compiled with

    @njit
    def one(x):
        return x + new - new

    @njit
    def two(x):
        return one(x) * 2 + new - new

    monkeypatch.setattr(compile_notice, "tell", tell)
    assert two(3) == 6
    assert told == ["begins", "ends"]
    assert two(4) == 8
    assert told == ["begins", "ends"], "nothing is compiled now"


def test_the_lock_is_released_when_compiling_fails() -> None:
    @njit
    def broken(x: Any) -> Any:
        return x.no_such_attribute

    @njit
    def recursive(x: Any) -> Any:
        return 1 if x < 1 else x * recursive(x - 1)

    with pytest.raises(numba.TypingError):
        broken(1.0)
    assert recursive(4) == 24
    for function in (broken, recursive):
        assert not function._cache._locked
        assert function._cache.users == 0


#: A small casebase, a query, odds and a match, each by its command in the same process.
TINY = """
import sys
from cbr.cli import main

case = "hole=AhKs,board=Qh7d2c9s,players=3,to_call=1,pot=6"
for words in (
    ["build", sys.argv[1], "--out", "t.db", "--limit", "2"],
    ["info", "t.db", "--json"],
    ["query", "t.db", "--stage", "turn", "--case", case, "--json"],
    ["odds", "AhKh", "QdQc", "--board", "2h 3h 4d", "--json"],
    ["match", "lag", "random", "--hands", "4", "--json", "--adjust", "all-in"],
    ["match", "cbr:t.db", "call", "--hands", "2", "--json"],
):
    try:
        main(words)
    except SystemExit as stop:
        assert not stop.code, words
"""


def tiny(folder: Path, **environment: str) -> bytes:
    """What these commands print."""
    folder.mkdir()
    log = Path(__file__).parent.parent.parent / "casebases" / "sample.phhs"
    done = subprocess.run(
        [sys.executable, "-c", TINY, str(log)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"overflow" not in done.stderr
    assert done.stdout.count(b"\n") > 50
    return done.stdout


@pytest.mark.long
def test_without_compiling_the_results_are_the_same(tmp_path: Path) -> None:
    assert tiny(tmp_path / "one") == tiny(tmp_path / "two", NUMBA_DISABLE_JIT="1")


@pytest.mark.slow
def test_compiled_now_or_before_the_results_are_the_same(tmp_path: Path) -> None:
    """An empty cache, then the one that this has filled."""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    cold = tiny(tmp_path / "one", **cache)
    assert next((tmp_path / "cache").rglob("*.nbi"), None) is not None
    assert tiny(tmp_path / "two", **cache) == cold == tiny(tmp_path / "three")
