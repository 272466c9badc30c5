"""The long experiments, as short as they get: from any log, with its game and as many seats."""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path

import pytest
from conftest import ROOT

import casper
import cbr_bot
import experiment
import opponent_models
import prediction_figures

SAMPLE = str(ROOT / "casebases" / "sample.phhs")


def told(main, monkeypatch: pytest.MonkeyPatch, *words: object) -> None:
    monkeypatch.setattr(sys, "argv", ["tool", *map(str, words)])
    experiment.run(main)


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that are learned in few steps, for tests that only play with them."""
    monkeypatch.setattr(experiment, "learn_weights", partial(experiment.learn_weights, steps=20))


@pytest.mark.long
@pytest.mark.usefixtures("few_steps")
def test_casper_learns_from_any_log(tmp_path: Path, monkeypatch, capsys) -> None:
    words = ("--quick", "--source", SAMPLE, "--out", tmp_path / "o", "--hands", 12, "--workers", 1)
    told(casper.main, monkeypatch, *words, "--json")
    found = json.loads(capsys.readouterr().out)
    names = [(one["name"], one["table"]) for one in found["bots"]]
    assert len(set(names)) == len(names) == 16
    assert {one["hands"] for one in found["bots"]} == {12}
    assert {len(one["curve"]) for one in found["bots"]} == {100}
    won = next(one for one in found["bots"] if one["name"] == "large, learned weights")
    assert won["curve"][-1] == pytest.approx(won["won"]["rate"] * 12)
    assert [one["stage"] for one in found["predicted"]] == ["preflop", "flop", "turn", "river"]
    assert (tmp_path / "o" / "casper.png").read_bytes().startswith(b"\x89PNG")
    # What is there is of this log, and used for no other.
    words = ("--source", ROOT / "casebases" / "demo.phhs.xz", "--out", tmp_path / "o")
    with pytest.raises(SystemExit) as stopped:
        told(cbr_bot.main, monkeypatch, *words)
    assert stopped.value.code == 2
    assert "give another --out" in capsys.readouterr().err


def test_tables_are_those_of_the_log(tmp_path: Path) -> None:
    base = experiment.built([Path(SAMPLE)], tmp_path / "six.db", limit=40)
    setting = experiment.setting_of(base)
    assert setting == experiment.Setting("limit", 6)
    assert setting.strong == ["loki*4", "sim?trials=50*1"]
    assert experiment.Setting("limit", 9).strong == ["loki*6", "sim?trials=50*2"]
    assert experiment.Setting("limit", 2).strong == ["loki*1"]
    assert experiment.Setting("nolimit", 6).strong == ["miniloki*5"]


@pytest.mark.long
@pytest.mark.usefixtures("few_steps")
def test_the_cbr_bot_from_any_log_by_row(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(cbr_bot, "QUICK", cbr_bot.Scale(150, 40, 1, 1_000, 60))
    words = ("--quick", "--source", SAMPLE, "--out", tmp_path / "o", "--hands", 12, "--workers", 1)
    with pytest.raises(SystemExit) as stopped:
        told(cbr_bot.main, monkeypatch, *words, "--only", "nobody")
    assert stopped.value.code == 2
    assert "'nobody'; there is style=casper, cbr" in capsys.readouterr().err
    told(cbr_bot.main, monkeypatch, *words, "--only", "style=casper", "--json")
    found = json.loads(capsys.readouterr().out)
    assert [(one["bot"], one["table"]) for one in found] == [
        ("style=casper", "loki*5"),
        ("style=casper", "lag*5"),
    ]
    assert (tmp_path / "o" / "labelled.db").exists()


def test_rows_that_differ_in_one_part_are_there(tmp_path: Path) -> None:
    given = argparse.Namespace(logged=20_000)
    rows = [
        *cbr_bot._nine(tmp_path, given, None).bots,
        *cbr_bot._two(tmp_path, given, None).bots,
        "cbr, by values",  # of no-limit logs
    ]
    for row, other in cbr_bot.ONE_PART.items():
        assert rows.index(other) < rows.index(row)  # it is there to compare with


def test_how_well_players_are_predicted(tmp_path: Path, monkeypatch, capsys) -> None:
    base = experiment.built([Path(SAMPLE)], tmp_path / "six.db")
    words = [base, "--split", "time", "--model", "frequencies", "--model", "uniform"]
    told(opponent_models.main, monkeypatch, *words, "--json")
    found = json.loads(capsys.readouterr().out)
    assert [one["model"] for one in found] == ["frequencies", "uniform"]
    # Those of the sample act at random: there is nothing to find beyond how often.
    assert all(abs(one["all"]["gain"]) < 0.4 for one in found)
    assert found[0]["all"]["log_loss"] < found[1]["all"]["log_loss"]
    told(opponent_models.main, monkeypatch, *words)
    assert "frequencies" in capsys.readouterr().out


def test_figures_of_a_log_are_kept_with_their_options(tmp_path: Path) -> None:
    measured = []

    def measure(base: Path, options: prediction_figures.Options) -> dict:
        measured.append(options)
        return {"models": len(measured)}

    first = prediction_figures.Options(Path(SAMPLE).parent, tmp_path, 0, 20, 5, [])
    for options, count in ((first, 1), (first, 1), (first._replace(seed=1), 2)):
        found = prediction_figures._kept("sample.phhs", options, measure)
        assert (found["log"], found["models"], len(measured)) == ("sample", count, count)
        assert found["part"] == "the first 20 hands"
    kept = first._replace(hands=None, kept=True)
    assert prediction_figures._kept("sample.phhs", kept, measure) == found
    assert prediction_figures._kept("nothing.phhs", kept, measure) is None
    other = first._replace(only=["other"])
    assert prediction_figures._kept("sample.phhs", other, measure) is None
    assert prediction_figures._kept("nothing.phhs", first, measure) is None


@pytest.mark.parametrize("main", [casper.main, cbr_bot.main])
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--source", "nobody.phhs"], "no file or folder nobody.phhs to learn from"),
        (["--hands", "0"], "argument --hands: 0 is not 1 or more"),
        (["--workers", "-1"], "argument --workers: -1 is not 1 or more"),
    ],
)
def test_bad_input(main, words, says, tmp_path: Path, monkeypatch, capsys) -> None:
    with pytest.raises(SystemExit) as stopped:
        told(main, monkeypatch, *words, "--out", tmp_path / "o")
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "o").exists()
