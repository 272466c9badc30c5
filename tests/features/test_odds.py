"""Odds: exact values, drawn values within their error, and the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbr.errors import BadValue
from cbr_holdem.cards import names
from cbr_holdem.chance import below, key, mixed, step
from cbr_holdem.strength import equity as module
from cbr_holdem.strength import odds, strength_of


@pytest.mark.parametrize(
    ("hands", "board", "equity"),
    [
        (["QsQh", "AcKc"], "", 0.537855),
        (["AsAc", "KhKd"], "", 0.812555),
        (["AsKs", "2h2d"], "", 0.500842),
        (["6h7h", "4s4c"], "3c4h5h", 0.704545),
        (["7c2d", "AsAh"], "", 0.125776),
    ],
)
def test_hand_against_hand(hands: list[str], board: str, equity: float) -> None:
    one, two = odds(hands, board)
    assert (one.exact, one.standard_error) == (True, 0.0)
    assert one.equity == pytest.approx(equity, abs=6e-7)
    assert one.equity + two.equity == pytest.approx(1)
    assert one.win + one.tie + one.lose == pytest.approx(1)
    assert one.win == pytest.approx(two.lose)


@pytest.mark.parametrize(
    ("hand", "board", "win"),
    [
        ("AcKd", "3s7cTc", 54.22),
        ("AcKd", "3s7cTc8d", 41.88),
        ("AcKd", "3s7cTc8d2s", 35.56),
        ("2d5s", "3s6dKd4h", 92.99),
        ("2d5s", "3s6dKd4h7s", 86.97),
        ("8s9s", "2dKs3sAcTs", 98.18),
        ("5s5c", "AdKhQsJdTh", 0.0),
    ],
)
def test_against_any_hand(hand: str, board: str, win: float) -> None:
    found = odds([hand], board, opponents=1)[0]
    assert found.exact
    assert 100 * found.win == pytest.approx(win, abs=0.006)
    strength = strength_of(hand, board)
    assert found.equity == pytest.approx(strength.e_hs)


@pytest.mark.parametrize(
    ("hand", "win", "equity"),
    [
        ("AsAc", 84.90, 85.17),
        ("JsJc", 77.16, 77.48),
        ("Ah8s", 58.34, 59.84),
        ("KsQs", 62.43, 63.42),
        ("2s2c", 49.39, 50.34),
        ("7s2c", 31.72, 34.60),
        ("3s2c", 29.23, 32.29),
    ],
)
def test_before_the_flop(hand: str, win: float, equity: float) -> None:
    found = odds([hand], opponents=1, error=0.0005)[0]
    assert not found.exact
    assert found.standard_error <= 0.0005
    assert 100 * found.equity == pytest.approx(equity, abs=0.2 + 0.03)
    assert 100 * found.win == pytest.approx(win, abs=0.2 + 0.03)


@pytest.mark.long
def test_aces_against_many() -> None:
    printed = [85.17, 73.41, 63.79, 55.82, 49.15, 43.50, 38.70, 34.57, 31.05]
    for opponents, equity in enumerate(printed, 1):
        found = odds(["AsAc"], opponents=opponents, error=0.001)[0]
        assert 100 * found.equity == pytest.approx(equity, abs=0.45)


@pytest.mark.long
def test_drawing_agrees_with_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same questions, counted and drawn: ranges that block each other included."""
    questions = [
        (dict(players=["AhKs", "TT+,AQs+"], board="Qs Js 2d"), 4),
        (dict(players=["AK", "AK,QQ", "KQs,AA"], board="Qs Js 2d 3c"), 4),
        (dict(players=["AhKs"], board="Qs Js 2d 3c 4d", opponents=2), 4),
        (dict(players=["AA", "AA"], board="Qs Js 2d"), 4),
    ]
    exact = [odds(**question) for question, _ in questions]
    assert all(found[0].exact for found in exact)
    monkeypatch.setattr(module, "_CHEAP", 0)
    for listed in (module._FEW_JOINT, 0):
        monkeypatch.setattr(module, "_FEW_JOINT", listed)
        for (question, within), counted in zip(questions, exact, strict=True):
            drawn = odds(**question, error=0.001, seed=3)
            assert not drawn[0].exact
            for one, two in zip(drawn, counted, strict=True):
                assert abs(one.equity - two.equity) <= within * one.standard_error + 1e-9, question
                assert abs(one.tie - two.tie) < 0.01


@pytest.mark.long
def test_ranges_that_block_each_other() -> None:
    """Few of the ways to combine these hands can be dealt; they are found, and all are as likely."""
    found = odds(["AA,KK,QQ"] * 6)
    assert sum(player.equity for player in found) == pytest.approx(1)
    assert [player.equity for player in found] == pytest.approx([1 / 6] * 6, abs=0.005)
    assert odds(["AA", "AA"])[0].exact
    assert odds(["AA", "AA"])[0].equity == pytest.approx(0.5)
    with pytest.raises(BadValue, match="cannot be dealt together"):
        odds(["AA", "AA", "AA"])


def test_ties_split_the_pot() -> None:
    found = odds(["5s5c", "6d7d", "8h9h"], "AdKhQsJdTh")
    assert [player.tie for player in found] == [1.0, 1.0, 1.0]
    assert [player.equity for player in found] == pytest.approx([1 / 3] * 3)


def test_the_seed_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    one = odds(["AhKs"], opponents=3, error=0.002, seed=5)
    assert one == odds(["AhKs"], opponents=3, error=0.002, seed=5)
    assert one != odds(["AhKs"], opponents=3, error=0.002, seed=6)
    monkeypatch.setattr(module, "_BATCH", 12_500)  # how draws are batched does not matter
    deals = one[0].deals
    assert one == odds(["AhKs"], opponents=3, error=1e-9, seed=5, most=deals)


@pytest.mark.long
def test_the_standard_error_is_honest() -> None:
    """Of 60 runs about 95 % lie within two standard errors of the exact value."""
    exact = odds(["AdQc"], "3h4cJh", opponents=1)[0].equity
    ranges = [module.hands_of("AdQc"), module._not_on(module.HANDS, module.cards("3h4cJh"))]
    none = np.empty((0, 2, 2), np.uint8)
    inside = 0
    for seed in range(60):
        found = module._draw(ranges, none, module.cards("3h4cJh"), 0.005, seed, 10**6)[0]
        inside += abs(found.equity - exact) <= 2 * found.standard_error
    assert inside >= 52


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(52)), st.integers(2, 4), st.sampled_from([3, 4, 5]))
def test_equities_add_up(deck: list[int], players: int, board: int) -> None:
    hands = [names(deck[2 * p : 2 * p + 2]).replace(" ", "") for p in range(players)]
    found = odds(hands, names(deck[20 : 20 + board]))
    assert sum(player.equity for player in found) == pytest.approx(1)
    assert all(p.win <= p.equity <= p.win + p.tie for p in found)


class TestChance:
    def test_numbers_are_known_by_their_key(self) -> None:
        """The finaliser of SplitMix64, from its published test values (seed 1234567)."""
        state, found = np.uint64(1234567), []
        for _ in range(3):
            state = np.uint64(step(state))
            found.append(int(mixed(state)))
        assert found == [6457827717110365317, 3203168211198807973, 9817491932198370423]

    def test_keys_differ_in_every_part(self) -> None:
        keys = {
            int(key(s, a, b, c))
            for s in range(4)
            for a in range(4)
            for b in range(4)
            for c in range(4)
        }
        assert len(keys) == 256

    def test_numbers_below(self) -> None:
        drawn = np.array([below(np.uint64(key(1, n, 0, 0)), 52) for n in range(52_000)])
        counts = np.bincount(drawn, minlength=52)
        assert counts.min() > 850
        assert counts.max() < 1150


class TestCommand:
    @pytest.mark.long
    def test_odds(self, cbr) -> None:
        found = cbr("odds", "AhKs", "--board", "Qs Js 2d", "--opponents", "3", "--json").json
        assert {"win", "tie", "lose", "equity", "standard_error", "exact"} <= found.keys()
        assert found["standard_error"] <= 0.001
        assert len(found["players"]) == 4
        assert cbr("odds", "QsQh", "AcKc", "--json").json["exact"] is True
        shown = cbr("odds", "AhKs", "TT+,AQs+", "--opponents", "1")
        assert "standard error" in shown.out

    @pytest.mark.long
    def test_strength(self, cbr) -> None:
        words = ["odds", "AdQc", "--opponents", "2", "--strength", "--json", "--board"]
        flop = cbr(*words, "3h 4c Jh").json
        assert flop["ihs"] == pytest.approx(0.585106**2, abs=1e-5)
        assert flop["ppot"] == pytest.approx(0.208324, abs=1e-6)
        assert flop["ppot1"] == pytest.approx(0.108312, abs=1e-6)
        assert flop["e_hs"] == pytest.approx(0.511399, abs=1e-6)
        river = cbr(*words, "3h 4c Jh 5s 6d").json
        assert (river["ppot"], river["npot"], river["ppot1"]) == (None, None, None)
        assert "chance to come from behind" in cbr(*words[:-2], "--board", "3h4cJh").out

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["AhAh"], "'AhAh' is not a hand or range (Ah is twice in the hand)"),
            (["AhKx"], "is not a hand or range ('Kx' is not a card"),
            (["AhKsQd"], "'AhKsQd' has 3 cards; a hand has 2"),
            (["AhKs", "--board", "AhQs2d"], "Ah is twice in the hands and board"),
            (["AhKs", "AhQs"], "Ah is twice in the hands and board"),
            (["AhKs", "--board", "Qs Js"], "a board has 0, 3, 4 or 5 cards, not 2"),
            (["AhKs", "--board", "Qs Js 2d 3d 4d 5d"], "not 6"),
            (["AhKs", "--board", "Qs Js Zz"], "'Zz' is not a card"),
            (["AhKs", "--opponents", "10"], "the number of players is 11; it must be 2 to 10"),
            (["AhKs", "--opponents", "0"], "the number of players is 1; it must be 2 to 10"),
            (["AhKs", "QQ", "--opponents", "9"], "players is 11"),
            (["AhKs", "--error", "0"], "it must be above 0"),
            (
                ["AhKs", "--seed", "9223372036854775808"],
                "less than or equal to 9223372036854775807",
            ),
            (["AhKs", "--error", "nan"], "it must be above 0"),
            (["AA", "AA", "AA"], "these ranges cannot be dealt together"),
            (["AhKs", "--strength"], "--strength needs a --board"),
            (["AhKs", "--strength", "--board", "Ah Js 2d"], "Ah is twice"),
            (["AA", "--strength", "--board", "Qs Js 2d"], "one hand"),
        ],
    )
    def test_bad_input(self, cbr, monkeypatch, words: list[str], says: str) -> None:
        """It is refused before anything is compiled or computed, even on a terminal, where a wait
        would be noted."""
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        for costly in ("equity.warm_up", "equity.Question.odds", "hand_strength.strength_of"):
            monkeypatch.setattr(f"cbr_holdem.strength.{costly}", lambda *_: pytest.fail("too soon"))
        monkeypatch.setattr("subprocess.Popen", lambda *_: pytest.fail("too soon"))
        answer = cbr("odds", *words)
        assert (answer.code, answer.out) == (2, "")
        assert says in answer.err
        assert answer.err.count("\n") == 1

    @pytest.mark.long
    def test_tables(self, cbr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CBR_CACHE_DIR", str(tmp_path))
        found = cbr("tables", "info", "--json").json["flop_table"]
        assert (found["state"], found["bytes"]) == ("not there", 0)
        (tmp_path / "flop_table.bin").write_text("hello\n")
        assert "not a flop table" in " ".join(cbr("tables", "info").out.split())
        assert "--force" in cbr("tables", "build").err
