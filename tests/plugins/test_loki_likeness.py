"""How like the real programs loki plays: the tool on a made-up log, and on the real one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from made_logs import acpc_log, irc_month

from cbr.errors import BadValue
from cbr_bots import Formula, constants_of
from cbr_holdem.cards import cards
from cbr_holdem.table import ACTOR, BOARD, HOLE, STREET
from likeness.decisions import Decisions, decisions_in
from likeness.judging import frequencies, judged, loss, raises_by_formula
from likeness.search import searched
from loki_likeness import in_months, main

REAL = ROOT.parent / "shared" / "data" / "irc_pokibots.tar.xz"


@pytest.fixture
def month(tmp_path: Path) -> Path:
    return irc_month(tmp_path)


def only(found: list[Decisions]) -> Decisions:
    (one,) = found
    return one


def test_decisions_are_those_of_the_log(month: Path) -> None:
    # ann folds unseen; bob calls a raise, checks and calls, checks, checks and calls.
    bob = only(decisions_in([month], ["bob"]))
    assert bob.months == ["holdem1/199909"]
    assert bob.street.tolist() == [0, 1, 1, 2, 3, 3]
    assert bob.due.tolist() == [1, 0, 1, 0, 0, 1]
    assert not bob.raised.any()
    cyd = only(decisions_in([month], ["cyd", "nobody"]))
    assert cyd.street.tolist() == [0, 1, 2, 3]
    assert cyd.raised.tolist() == [True, True, False, True]


def test_a_table_is_seen_with_the_eyes_of_the_player(month: Path) -> None:
    bob = only(decisions_in([month], ["bob"]))
    assert (bob.rows[:, ACTOR] == 1).all()
    assert (bob.rows[:, STREET] == bob.street).all()
    assert (bob.rows[:, HOLE + 2 : HOLE + 4] == cards("Tc 8c")).all()
    assert (bob.rows[:, HOLE + 4 : HOLE + 6] >= 52).all()
    flop = bob.rows[1]
    assert flop[BOARD : BOARD + 3].tolist() == list(cards("Th 6c 2d"))
    assert (flop[BOARD + 3 : BOARD + 5] >= 52).all()


def test_nobody_to_look_at(month: Path) -> None:
    with pytest.raises(BadValue, match="ann"):
        decisions_in([month], ["ann"])  # she showed nothing


def test_frequencies_have_one_more_of_both(month: Path) -> None:
    table = frequencies(decisions_in([month], ["bob", "cyd"]))
    assert table[0, 1] == pytest.approx(2 / 4)  # bob calls one bet, cyd raises it
    assert table[1, 0] == pytest.approx(2 / 4)
    assert table[3, 2] == pytest.approx(1 / 2)


def test_losses_of_a_table_are_as_by_hand(month: Path) -> None:
    cyd = only(decisions_in([month], ["cyd"]))
    chances = np.array([0.9, 0.8, 0.3, 0.5])
    assert loss(chances, cyd) == pytest.approx(-np.log([0.9, 0.8, 0.7, 0.5]))
    lines = judged(Formula(), np.full((4, 3), 0.25), [cyd])
    assert [line.street for line in lines] == ["all", "preflop", "flop", "turn", "river"]
    assert lines[0].table.mean == pytest.approx(-(3 * np.log(0.25) + np.log(0.75)) / 4)
    gain = lines[0].table.mean - lines[0].formula.mean
    assert lines[0].gain.mean == pytest.approx(gain)


@pytest.mark.long
def test_a_search_only_goes_down(tmp_path: Path) -> None:
    log = acpc_log(tmp_path / "match.log", 60, 3)
    found = decisions_in([log], ["bot0", "bot1", "bot2"])
    begin = constants_of("usual")
    start = np.concatenate([loss(raises_by_formula(Formula(), some), some) for some in found])
    constants, reached = searched(begin, found, steps=[0.5])
    # They act at random, so it is the share of what has no reason that grows.
    assert reached < start.mean()
    assert constants.slip > begin.slip
    assert constants.make1 == begin.make1


def test_the_command(month: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [str(month), "--players", "bob,cyd"]
    assert main([*given, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["tuned_on"] == ["holdem1/199909"]
    assert document["lines"]["holdem1/199909"][0]["decisions"] == 10
    assert main(given) == 0
    assert "river" in capsys.readouterr().out
    assert main([*given, "--test", "holdem1/199910"]) == 2
    assert "holdem1/199909" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.skipif(not REAL.is_file(), reason=f"no games of the real programs: {REAL}")
def test_loki_is_like_the_real_one() -> None:
    """Some hands of a month that the constants were not tuned on; the command takes all."""
    found = decisions_in([REAL], ["loki2b", "pokibot1", "Poki_GOM"], limit=6000)
    table = frequencies(in_months(found, ["holdem1/199906"]))
    formula = Formula(constants=constants_of("poki"))
    for line in judged(formula, table, in_months(found, ["holdem2/199911"])):
        assert line.gain.mean - line.gain.ci95 > 0.0, line
