"""Matches of the search bot: the tables and documents of gerritsen.py and baseline.py."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import pytest

import baseline
import experiment
import gerritsen
import search_matches
from cbr_arena import Line, Rate, build
from expectimax import Worth
from search_matches import UNSEEN, Found, Row


def found(row: Row, won: float) -> Found:
    line = Line("mcts", won + 0.5, 0.3, 9.0, 800, 0.7, 0.4, 2.5, None, 0.61, 0.3, {})
    line = Line(**{**vars(line), "adjusted": Rate(won, 0.2)})
    return Found(row, line, [1.0, 2.0])


@pytest.mark.parametrize("tool", [gerritsen, baseline])
def test_every_match_can_be_played(tool) -> None:
    """Bots, opponents and games exist, and models that are to be learned leave the opponent out."""
    for row in tool.ROWS:
        spec = row.spec.replace(f"model={UNSEEN}", "model=shipped")
        assert UNSEEN not in spec
        for bot in (spec, row.opponent):
            build(bot, row.betting)
    assert sum(UNSEEN in row.spec for row in tool.ROWS) == sum(
        "shipped" not in row.what and "no model" not in row.what for row in tool.ROWS
    )


def test_rows_are_chosen_and_a_model_is_learned_once(monkeypatch, tmp_path: Path) -> None:
    made: list[tuple[str, list[str]]] = []

    def make(betting: str, without: list[str], hands: int, seed: int, out: Path) -> Path:
        made.append((betting, without))
        path = out / f"prior_{betting}.npz"
        path.write_bytes(b"")
        return path

    class Stop(Exception):
        pass

    def play(match: object, pool: object) -> None:
        specs.append([player.spec for player in match.players])  # type: ignore[attr-defined]
        raise Stop

    specs: list[list[str]] = []
    monkeypatch.setattr(search_matches.make_prior, "make", make)
    monkeypatch.setattr(search_matches, "play", play)
    given = argparse.Namespace(
        only=["ours, model"], workers=1, hands=32, seed=1, prior_hands=100, out=tmp_path
    )
    rows = [row for row in gerritsen.ROWS if "limit" not in row.what]
    for _ in range(2):
        with pytest.raises(Stop):
            search_matches.played(rows, given)
    assert made == [("nolimit", ["ace1"])]
    path = tmp_path / "without-ace1-100" / "prior_nolimit.npz"
    assert f"model=file:{path}" in specs[0][0]
    assert specs[0][1] == "ace1?size=min"


def test_figures_of_the_thesis_stand_beside_ours() -> None:
    row = Row("with", "mcts", "ace1", known=("0.47", "7311", "8.3", "+1.67"))
    table = search_matches.table("Against ace1", [found(row, 2.0), found(Row("b", "m", "c"), 1.0)])
    first, second = table.rows
    assert first == (
        "with",
        "0.61 (0.47)",
        "- (7311)",
        "2.50 (8.3)",
        "+2.500 ± 0.300",
        "+2.000 ± 0.200 (+1.67)",
        800,
    )
    assert second[1:4] == ("0.61", "-", "2.50")


@pytest.mark.parametrize(("tool", "share"), [(gerritsen, "50%"), (baseline, "50%")])
def test_the_share_of_a_best_response_is_told(tool, share, monkeypatch, capsys, tmp_path) -> None:
    def played(rows: list[Row], given: argparse.Namespace) -> list[Found]:
        return [found(row, 4.0) for row in rows if row.betting == "nolimit"]

    monkeypatch.setattr(tool, "played", played)
    monkeypatch.setattr(tool, "best_response", lambda *_: Worth(8.0, 0.5, 7.5, 10))
    monkeypatch.setattr(sys, "argv", ["tool", "--json", "--out", str(tmp_path)])
    experiment.run(tool.main)
    document = json.loads(capsys.readouterr().out)
    assert {one["without_luck"]["rate"] for one in document["matches"]} == {4.0}
    monkeypatch.setattr(sys, "argv", ["tool", "--out", str(tmp_path)])
    experiment.run(tool.main)
    shown = capsys.readouterr().out
    assert share in shown
    assert "8.0" in shown
