"""The soak's runner: what a piece is, how faults are told and repeated, and what a crash is."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import ROOT
from soak import running
from soak.part import Found, dice

PART = '''"""A part for a test."""
import os
from soak.part import Found

def piece(seed, number, folder):
    assert list(folder.iterdir()) == []
    print("noise")
    if number == 1:
        return Found(7, wrong=["one is two"])
    if number == 2:
        os.abort()
    if number == 3:
        raise KeyError("lost")
    return Found(5, skipped="" if number else "no moon tonight")
'''


@pytest.fixture
def soak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the runner with a part of its own."""
    folder = tmp_path / "tests" / "soak"
    folder.mkdir(parents=True)
    for name in ("__init__.py", "__main__.py", "part.py", "running.py"):
        folder.joinpath(name).write_text((ROOT / "tests" / "soak" / name).read_text())
    folder.joinpath("moon.py").write_text(PART)
    monkeypatch.setattr(running, "FOLDER", folder)
    return folder


def test_parts_are_modules_with_a_piece(soak: Path) -> None:
    assert running.parts() == {"moon": "A part for a test"}


def test_pieces_repeat() -> None:
    one = [dice("kills", 1, 2).random() for _ in range(2)]
    assert one[0] == one[1]
    assert len({dice(*key).random() for key in [("a", 1, 2), ("a", 2, 1), ("b", 1, 2)]}) == 3


@pytest.mark.long
def test_what_a_piece_finds_is_told_with_the_way_to_repeat_it(soak: Path) -> None:
    before = set(Path(tempfile.gettempdir()).glob("soak-*"))
    found = [running.play_apart("moon", 3, number) for number in range(4)]
    assert set(Path(tempfile.gettempdir()).glob("soak-moon-*")) <= before
    assert found[0] == Found(5, skipped="no moon tonight")
    assert found[1] == Found(7, wrong=["one is two"])
    assert found[2].crashed[0].startswith("the piece ended with code -6")
    assert found[3].crashed == ["the piece ended with code 1: KeyError: 'lost'"]
    totals = running.Totals(["moon"], 3)
    for number, piece in enumerate(found):
        totals.add("moon", number, piece)
    assert totals.rows() == [("moon", 4, 12, 0, 2, 1)]
    again = "python tests/soak --only moon --seed 3 --piece 1"
    assert totals.faults[0] == f"moon: one is two (repeat: {again})"


@pytest.mark.long
def test_the_exit_code_and_where_to_go_on(soak: Path) -> None:
    def run(*words: object) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, str(soak), "--minutes", "0", *map(str, words)]
        return subprocess.run(line, capture_output=True, text=True)

    fine = run("--seed", 3)
    assert fine.returncode == 0
    assert "moon was not tried in full: no moon tonight" in fine.stdout
    assert fine.stdout.endswith("to go on: python tests/soak --seed 3 --first 1\n")
    bad = run("--first", 1, "--json")
    assert bad.returncode == 1
    told = json.loads(bad.stdout)
    assert (told["next"], told["parts"][0]["wrong"], len(told["faults"])) == (2, 1, 1)


def test_a_piece_that_hangs_is_a_crash(soak: Path) -> None:
    soak.joinpath("moon.py").write_text("import time\ndef piece(*_):\n    time.sleep(600)\n")
    found = running.play_apart("moon", 0, 0, longest=0.5)
    assert found.crashed == ["it did not end within 0.5 seconds"]


@pytest.mark.long
def test_the_parts_that_ship_find_nothing(tmp_path: Path) -> None:
    """A bounded piece of games; kills have tests of their own."""
    from soak import games

    found = [games.piece(0, number, tmp_path, count=20) for number in range(2)]
    assert [(one.items, one.faults) for one in found] == [(20, [])] * 2
