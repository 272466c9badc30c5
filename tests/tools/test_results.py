"""Pages of results: what a tool measured, and what it takes to measure it again."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import experiment
import learned_weights
import results

PAGE = results.Page(
    "speed",
    "Speed",
    "How fast.",
    [results.Table("Of each", ["what", "times"], [("a|b", 12345.678)], "More is better.")],
    seed=7,
)


def test_a_page_tells_how_it_was_measured(tmp_path: Path) -> None:
    words = [str(ROOT / "tools" / "bench.py"), "/somewhere/else/log.phhs", "--full"]
    text = results.write(PAGE, tmp_path, words).read_text("utf-8")
    assert text.startswith("# Speed\n\nHow fast.\n\n| measured | |\n")
    assert re.search(r"^\| commit \| ([0-9a-f]{7,}|unknown)", text, re.M)
    assert "| command | `python tools/bench.py log.phhs --full` |" in text
    assert "| seed | 7 |" in text
    assert "## Of each\n\nMore is better.\n\n| what | times |\n| --- | --- |\n" in text
    assert "| a\\|b | 12,346 |" in text


def test_a_picture_goes_with_its_page(tmp_path: Path) -> None:
    picture = tmp_path / "drawn.png"
    picture.write_bytes(b"png")
    (tmp_path / "out").mkdir()
    text = results.write(PAGE._replace(picture=picture), tmp_path / "out", ["t"]).read_text("utf-8")
    assert text.endswith("![Speed](speed.png)\n")
    assert (tmp_path / "out" / "speed.png").read_bytes() == b"png"


def test_what_learned_weights_gain(tmp_path: Path, monkeypatch, capsys) -> None:
    log = ROOT / "casebases" / "sample.phhs"
    words = [log, "--out", tmp_path, "--queries", 20, "--json", "--write-results"]
    monkeypatch.setattr(sys, "argv", ["learned_weights.py", *map(str, words)])
    written = []
    monkeypatch.setattr(learned_weights, "write", written.append)
    experiment.run(learned_weights.main)
    found = json.loads(capsys.readouterr().out)
    assert [one["stage"] for one in found["sample"]] == ["preflop", "flop", "turn", "river"]
    [page] = written
    [table] = page.tables
    assert [row[:2] for row in table.rows] == [
        ("sample", one) for one in ("preflop", "flop", "turn", "river")
    ]
    own, learned = (one for one in found["sample"][0]["judged"] if one["predictor"] == "rule")
    gain = own["log_loss"]["mean"] - learned["log_loss"]["mean"]
    assert float(table.rows[0][4].split()[0]) == pytest.approx(gain, abs=1e-4)
