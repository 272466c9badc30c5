"""Pages of results: what a tool measured, and what it takes to measure it again."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import evolution
import experiment
import learned_weights
import loki_matches
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


@pytest.mark.long
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


def test_what_formula_players_win(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["loki_matches.py", "--write-results"])
    monkeypatch.setattr(loki_matches, "MATCHES", (("call fold", 40), ("random call*2", 60)))
    written = []
    monkeypatch.setattr(loki_matches, "write", written.append)
    loki_matches.main()
    assert "call fold" in capsys.readouterr().out
    [table] = written[0].tables
    assert [row[:2] for row in table.rows] == [("`call fold`", 40), ("`random call*2`", 60)]
    assert written[0].seed == 6001


@pytest.mark.long
def test_what_evolution_finds(tmp_path: Path, monkeypatch, capsys) -> None:
    """A search that is over is not run again; its tables are those of its run file."""
    experiment.built([ROOT / "casebases" / "sample.phhs"], tmp_path / "small.db", limit=80)
    short = ("--generations", "1", "--population", "4", "--hands", "40", "--report", "40")
    arena = ("--arena", "accuracy?block=20", "--set", "duel=40,separate=40,learn=0")
    search = evolution.Search("A search", "small.db", (*arena, *short))
    monkeypatch.setattr(evolution, "SEARCHES", (search,))
    words = ["evolution.py", "--folder", str(tmp_path), "--workers", "1", "--write-results"]
    monkeypatch.setattr(sys, "argv", words)
    written = []
    monkeypatch.setattr(evolution, "write", written.append)
    experiment.run(evolution.main)
    stamp = (tmp_path / "a-search.json").stat().st_mtime_ns
    experiment.run(evolution.main)
    assert (tmp_path / "a-search.json").stat().st_mtime_ns == stamp
    assert written[0].tables == written[1].tables
    assert written[0].picture.read_bytes().startswith(b"\x89PNG")
    generations, fresh = written[0].tables
    assert [row[0] for row in generations.rows] == [0, 1]
    assert fresh.rows[0][0] == "evolved"
    assert fresh.rows[0][2] == "-"
    assert "A search: on fresh deals" in capsys.readouterr().out
