"""What long commands tell while they work, where there is no terminal."""

from __future__ import annotations

import re

import pytest

from cbr.cli import long_work, progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands at its first number."""
    now = [100.0]
    monkeypatch.setattr(long_work.time, "monotonic", lambda: now[0])
    monkeypatch.delenv("CBR_PROGRESS")
    return now


def test_a_line_every_half_minute(clock, capsys) -> None:
    with progress("building", "records") as tell:
        for second, done in ((1, 10), (29, 290), (40, 400), (45, 450), (69, 690), (70, 700)):
            clock[0] = 100.0 + second
            tell(done, 2_000, done * 10)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "building: 20 %, 4,000 records, 100/s, 2:40 left",
        "building: 35 %, 7,000 records, 100/s, 2:10 left",
    ]


def test_without_a_total_there_is_no_time_left(clock, capsys) -> None:
    with progress("dealing", "hands") as tell:
        clock[0] += 31
        tell(5, 0, 62)
    assert capsys.readouterr().err == "dealing: 62 hands, 2/s\n"


@pytest.mark.parametrize(("seconds", "lines"), [("0", 0), ("5", 2), ("soon", 0), ("-1", 0)])
def test_the_seconds_are_those_of_the_environment(
    clock, capsys, monkeypatch, seconds: str, lines: int
) -> None:
    monkeypatch.setenv("CBR_PROGRESS", seconds)
    with progress("playing", "hands") as tell:
        for _ in range(10):
            clock[0] += 1
            tell(1, 2, 3)
    assert len(capsys.readouterr().err.splitlines()) == lines


def test_a_search_tells_too(monkeypatch, capsys, cars_db, cbr, tmp_path) -> None:
    monkeypatch.setenv("CBR_PROGRESS", "0.000001")
    words = ("--arena", "accuracy?block=20", "--set", "duel=20,separate=20,learn=0")
    small = ("--generations", 1, "--population", 4, "--hands", 20, "--report", 20)
    found = cbr("evolve", cars_db, *words, *small, "--out", tmp_path / "w.json")
    assert found.code == 0
    assert re.search(r"^evolving: generation 1 of 2, best", found.err, re.MULTILINE)
