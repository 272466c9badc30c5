"""Everybody against everybody: totals, instant run-off, and the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cbr.errors import BadValue
from cbr_arena import Tournament, pairs_of, players_of


def tournament(rates: list[list[float]]) -> Tournament:
    won = np.array([rates, rates], float)
    return Tournament([f"bot{n}" for n in range(len(rates))], won)


def test_total_rewards_who_takes_from_the_weak_and_run_off_who_is_hard_to_beat() -> None:
    """The shark takes 3 from the fish and loses to the rock, which takes little from anybody."""
    shark, rock, fish = [0, -0.2, 3.0], [0.2, 0, 0.5], [-3.0, -0.5, 0]
    found = tournament([shark, rock, fish])
    assert found.by_total == [0, 1, 2]
    assert found.total(0).rate == pytest.approx(1.4)
    dropped = found.run_off()
    assert [bot for bot, _ in dropped] == [2, 0, 1]
    assert [rate.rate for _, rate in dropped] == pytest.approx([-1.75, -0.2, 0.2])


def test_everybody_plays_everybody_once() -> None:
    assert pairs_of(players_of(["call", "lag", "random"])) == [(0, 1), (0, 2), (1, 2)]
    with pytest.raises(BadValue, match="2 to 40"):
        pairs_of(players_of(["call"]))


def test_the_interval_of_a_total_is_over_deals() -> None:
    """What is won from one and lost to the other on every deal is no uncertainty."""
    won = np.zeros((4, 3, 3))
    won[:, 0, 1], won[:, 0, 2] = [1, -1, 2, -2], [-1, 1, -2, 2]
    found = Tournament(["a", "b", "c"], won)
    assert found.total(0).ci95 == 0
    assert found.against(0, 1).ci95 > 1


def test_sessions_belong_to_their_pair() -> None:
    rng = np.random.default_rng(2)
    won = np.zeros((100, 3, 3))
    won[:, 0, 1], won[:, 0, 2] = rng.normal(size=(2, 100))
    sessions = {(0, 1): np.zeros(100, int), (1, 0): np.zeros(100, int)}
    found = Tournament(["a", "b", "c"], won, sessions)
    assert found.against(0, 1).ci95 is None
    assert found.against(0, 2).ci95 is not None
    assert found.total(0).ci95 is None


@pytest.mark.long
def test_bots_that_remember_play_among_those_that_do_not(
    cbr, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pieces of work differ in size; every pair plays all its hands."""
    monkeypatch.setattr("cbr_arena.match._PIECE", 180)
    words = ["match", "call", "lag", "waterman", "--tournament", "--hands", 800]
    found = cbr(*words, "--session", 20, "--json").json
    assert found["hands"] == 2_400
    found = cbr("match", "lag", "--vs", "waterman", "call", "--hands", 800, "--json").json
    assert [bot["hands"] for bot in found["bots"]] == [800] * 3
    a, b, *_ = found["bots"]
    assert found["difference"]["rate"] == pytest.approx(a["rate"] - b["rate"])
    answer = cbr("match", "waterman", "lag", "--hands", 200)
    assert "of which there is one; play more --hands" in answer.err


class TestCommand:
    WORDS = ("match", "call", "lag", "random", "--tournament", "--hands", 400)

    def test_json(self, cbr) -> None:
        found = cbr(*self.WORDS, "--json", "--seed", 3).json
        assert (found["seats"], found["hands"], found["seed"]) == (2, 1200, 3)
        assert {bot["run_off"] for bot in found["bots"]} == {1, 2, 3}
        by_name = {bot["name"]: bot for bot in found["bots"]}
        alone = cbr("match", "lag", "call", "--hands", 400, "--seed", 3, "--json").json
        assert by_name["lag"]["against"]["call"]["rate"] == pytest.approx(alone["bots"][0]["rate"])
        assert [bot["rate"] for bot in found["bots"]] == sorted(
            (bot["rate"] for bot in found["bots"]), reverse=True
        )
        assert len(found["dropped"]) == 3

    @pytest.mark.long
    def test_text_and_picture(self, cbr, tmp_path: Path) -> None:
        out = tmp_path / "t.png"
        answer = cbr(*self.WORDS, "--plot", out, "--adjust", "aivat")
        assert answer.code == 0
        assert "is left" in answer.out
        assert out.read_bytes().startswith(b"\x89PNG")

    @pytest.mark.parametrize(
        ("words", "why"),
        [
            (["--vs", "lag", "call"], "leave out --vs"),
            (["--until-width", "0.1"], "leave out --until-width"),
            (["--log", "x.phhs"], "leave out one of them"),
            (["--seats", "3"], "2 bots play at a table, and --seats is 3"),
            (["--adjust", "luck"], "no adjustment 'luck'"),
        ],
    )
    def test_bad_input(self, cbr, words: list[str], why: str) -> None:
        answer = cbr(*self.WORDS, *words)
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert why in answer.err
