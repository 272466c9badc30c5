"""`cbr ask`: what a bot would do in a hand in progress, as text, as JSON and as a picture."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from made_logs import OPEN_HAND, made
from rich.console import Console

from cbr.building.pipeline import build as build_casebase
from cbr.errors import BadValue, PluginFailure
from cbr.plugging.plugins import default_plugins
from cbr_arena import (
    CALL,
    FOLD,
    RAISE,
    Actions,
    Advice,
    Analysis,
    Chance,
    Inner,
    Match,
    Nested,
    Player,
    Triples,
    advice_lines,
    advice_of,
    advise,
    build,
)
from cbr_arena.advice_text import cell_text, grid_of
from cbr_arena.analysis import analysis_of
from cbr_holdem.cards import HANDS, UNKNOWN, hand_class
from cbr_holdem.situation import Pending
from cbr_holdem.table import HOLE, Game, Table

SHIPPED = ROOT / "casebases"
LIMIT = """\
variant = 'FT'
antes = [0, 0, 0]
blinds_or_straddles = [5, 10, 0]
small_bet = 10
big_bet = 20
starting_stacks = [1000, 1000, 1000]
players = ['ann', 'bob', 'cyd']
actions = [
  'd dh p1 ????', 'd dh p2 AhKs', 'd dh p3 ????',
  'p3 cbr 20', 'p1 f', 'p2 cc', 'd db Ad7h2c', 'p2 cc', 'p3 cbr 10',
]
"""
STARS = """\
PokerStars Hand #77:  Hold'em No Limit ($0.50/$1.00 USD) - 2010/07/26 6:17:21 ET
Table 'Demo' 6-max Seat #3 is the button
Seat 1: ann ($48 in chips)
Seat 3: bob ($100 in chips)
Seat 6: cy ($20.50 in chips)
cy: posts small blind $0.50
ann: posts big blind $1
*** HOLE CARDS ***
Dealt to cy [Ah Kd]
bob: raises $2 to $3
"""
SEER = '''
import numpy as np

from cbr_arena import CALL, FOLD, RAISE, Analysis, Triples, bot


@bot("seer")
class Seer:
    """Knows all."""

    memory = None

    def act(self, situations, memory, chance):
        self.drew = chance.random()[0]
        return Triples(np.tile([0.1, 0.3, 0.6], (situations.count, 1)))

    def explain(self, situations, memory, chance):
        drawn = chance.random()  # as in act, from the beginning
        least = int(situations.raise_from[0])
        me = int(situations.seat[0])
        weight = np.arange(1326.0)
        return Analysis(
            f"drew {drawn[0]:.6f}",
            np.array([FOLD, CALL, RAISE, RAISE]),
            np.array([0, 0, 0, int(situations.raise_to[0])]),
            np.array([5.0, 25.0, 60.0, 10.0]),
            np.array([0.0, 0.41, 0.93, np.nan]),
            np.array([0.0, 0.05, 0.08, np.nan]),
            np.array([50, 250, 600, 100]),
            lines=[[(me, RAISE, least), (3, CALL, 0), (me, CALL, 0)]],
            ranges={3: weight},
        )
'''


@pytest.fixture(scope="module")
def casebase(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("ask") / "sample.db"
    build_casebase([SHIPPED / "sample.phhs"], out, plugins=default_plugins())
    return out


@pytest.fixture(scope="module")
def no_limit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    specs = ["lag?size=1/2", "miniloki?size=1", "random"]
    return made(tmp_path_factory.mktemp("ask"), "nolimit", specs, 90, Game("nolimit", 50, 100))


@pytest.fixture
def open_hand(tmp_path: Path) -> Path:
    path = tmp_path / "open.phh"
    path.write_text(OPEN_HAND)
    return path


@pytest.fixture
def limit_hand(tmp_path: Path) -> Path:
    path = tmp_path / "limit.phh"
    path.write_text(LIMIT)
    return path


def table(seats: int = 3, betting: str = "nolimit") -> Table:
    """A table before the first action; the first to act knows his cards."""
    cards = [UNKNOWN] * (2 * seats)
    first = 1 if seats == 2 else 2 % seats
    cards[2 * first : 2 * first + 2] = [50, 35]
    return Table(Game(betting, 5, 10), [1000] * seats, cards, [UNKNOWN] * 5)


def bot(act: Callable[..., Any], **more: Any) -> Any:
    return SimpleNamespace(memory=None, act=act, **more)


def known(advice: Advice) -> dict[tuple[str, int | None], float]:
    return {(one.action, one.to): one.chance for one in advice.choices}


class TestChances:
    def test_probabilities_are_told_exactly(self) -> None:
        advice = advise(build("triple:0.2,0.5,0.3", "nolimit"), table())
        assert known(advice) == pytest.approx(
            {("call", None): 0.5, ("raise", 20): 0.3, ("fold", None): 0.2}
        )
        assert [one.chance for one in advice.choices] == sorted(known(advice).values())[::-1]
        assert (advice.draws, advice.unit) == (0, "big blinds")

    def test_of_actions_they_are_how_often(self) -> None:
        def act(situations: Pending, memory: Any, chance: Chance) -> Actions:
            drawn = chance.random()
            sizes = np.where(drawn < 0.25, 40, 80)
            return Actions(np.where(drawn < 0.5, RAISE, CALL), sizes)

        advice = advise(bot(act), table(), draws=4000)
        assert advice.draws == 4000
        found = known(advice)
        assert found[("raise", 40)] == pytest.approx(0.25, abs=0.03)
        assert found[("raise", 80)] == pytest.approx(0.25, abs=0.03)
        assert found[("call", None)] == pytest.approx(0.5, abs=0.03)
        assert sum(found.values()) == pytest.approx(1.0)

    def test_they_are_the_same_for_a_seed(self) -> None:
        loki = build("loki", "limit")
        asked = [known(advise(loki, table(6, "limit"), seed, 50)) for seed in (1, 1, 2)]
        assert asked[0] == asked[1]
        lag = [known(advise(build("lag", "limit"), table(6, "limit"), 1, 50)) for _ in range(2)]
        assert lag[0] == lag[1]

    def test_a_bot_sees_what_its_seat_may_see(self) -> None:
        seen = []

        def act(situations: Pending, memory: Any, chance: Chance) -> Actions:
            seen.append(situations._rows[:, HOLE : HOLE + 6].copy())
            return Actions(np.full(situations.count, CALL))

        everybody = Table(Game(), [1000] * 3, "AhAs KdKc 7h2c", [UNKNOWN] * 5)
        assert known(advise(bot(act), everybody)) == {("call", None): 1.0}
        assert (seen[0][:, :4] == UNKNOWN).all()
        assert (seen[0][:, 4:] != UNKNOWN).all()

    @pytest.mark.parametrize(
        ("act", "why"),
        [
            (lambda *_: 1 / 0, "ZeroDivisionError: division by zero"),
            (
                lambda some, *_: Actions(np.full(some.count, RAISE), np.full(some.count, 11)),
                "an action that is not legal",
            ),
            (
                lambda some, *_: Triples(np.full((some.count, 3), np.nan)),
                "shares of fold, call and",
            ),
        ],
    )
    def test_a_bot_that_fails(self, act: Any, why: str) -> None:
        with pytest.raises(PluginFailure, match=f"the bot fails in this decision: {why}"):
            advise(bot(act), table())


class TestAnalysis:
    def test_it_is_taken_in_place_of_draws(self) -> None:
        def explain(situations: Pending, memory: Any, chance: Chance) -> Analysis:
            return Analysis(
                "because",
                np.array([CALL, RAISE, RAISE, FOLD]),
                np.array([0, 0, 20, 0]),
                np.array([1.0, 3.0, 4.0, 0.0]),
                np.array([0.5, 1.0, 2.0, np.nan]),
                visits=np.array([10, 30, 40, 0]),
            )

        advice = advise(bot(lambda *_: 1 / 0, explain=explain), table())
        assert advice.why == "because"
        assert advice.draws == 0
        first, second, third = advice.choices
        # The least raise is to 20, so the two are one action.
        assert (first.action, first.to, first.chance, first.value, first.visits) == (
            "raise",
            20,
            7 / 8,
            2.0,
            70,
        )
        assert (second.action, second.to, second.chance, second.value) == ("call", None, 1 / 8, 0.5)
        assert (third.action, third.chance, third.value, third.visits) == ("fold", 0.0, None, 0)

    def test_a_text_alone_leaves_the_chances_to_draws(self) -> None:
        advice = advise(
            bot(lambda some, *_: np.full(some.count, CALL), explain=lambda *_: "as always"), table()
        )
        assert advice.why == "as always"
        assert known(advice) == {("call", None): 1.0}

    @pytest.mark.parametrize(
        ("given", "why"),
        [
            (Analysis(chance=np.ones(2)), "needs kind and chance"),
            (Analysis(kind=np.array([CALL]), value=np.ones(1)), "needs kind and chance"),
            (
                Analysis(kind=np.array([CALL]), chance=np.array([0.0])),
                "chances of actions must be 0",
            ),
            (Analysis(kind=np.array([CALL]), chance=np.array([np.nan])), "chances of actions"),
            (Analysis(kind=np.array([CALL]), chance=np.ones(2)), "they must all be"),
            (Analysis(ranges={0: np.ones(169)}), "a range has 1326 chances"),
            (Analysis(ranges={0: np.zeros(1326)}), "a range has 1326 chances"),
        ],
    )
    def test_what_is_wrong_with_it_is_a_sentence(self, given: Analysis, why: str) -> None:
        with pytest.raises(BadValue, match=why):
            analysis_of(given)
        asked = bot(lambda some, *_: np.full(some.count, CALL), explain=lambda *_: given)
        advice = advise(asked, table())
        assert re.match(f"no explanation: .*{why}", advice.why)
        assert known(advice) == {("call", None): 1.0}

    def test_lines_are_played_by_the_rules(self) -> None:
        start = table(2)
        row = Pending(start.rows, start.game, np.zeros(1, np.int64)).seen()[0]
        moves = [(1, RAISE, 30), (0, CALL, 0), (0, CALL, 0), (1, RAISE, 0), (0, FOLD, 0)]
        [line] = advice_of(Analysis(lines=[moves]), row, start.game).lines
        assert line == [
            ("preflop", 1, "raise", 30),
            ("preflop", 0, "call", 20),
            ("flop", 0, "check", 0),
            ("flop", 1, "bet", 10),
            ("flop", 0, "fold", 0),
        ]
        for wrong, why in (
            ([(0, CALL, 0)], "a line of play in which seat 1 acts out of turn"),
            ([(1, RAISE, 11)], "an action that is not legal"),
            ([(1, FOLD, 0), (0, CALL, 0)], "a line of play in which seat 1 acts out of turn"),
        ):
            assert (
                advice_of(Analysis(lines=[wrong]), row, start.game).why == f"no explanation: {why}"
            )

    @pytest.mark.parametrize("seat", [-1, 0, 1, 3])
    def test_ranges_are_of_opponents(self, seat: int) -> None:
        start = table(3)
        start.play("c")  # seat 2, and then 0 folds
        start.play("f")
        row = start.rows[0].copy()
        given = analysis_of(Analysis(ranges={seat: np.ones(1326)}))
        why = f"no explanation: a range of seat {seat + 1}, where no opponent is in the hand"
        assert advice_of(given, row, start.game).why == why
        given = analysis_of(Analysis(ranges={2: np.ones(1326)}))
        assert list(advice_of(given, row, start.game).ranges) == [2]

    def test_a_bot_that_changes_anothers_chances_does_not_tell_its(self) -> None:
        class Timid(Nested):
            def changed(self, situations: Any, shares: Any) -> Any:
                shares[:, CALL] += shares[:, RAISE]
                shares[:, RAISE] = 0.0
                return shares

        def act(situations: Pending, memory: Any, chance: Chance) -> Triples:
            return Triples(np.tile([0.2, 0.5, 0.3], (situations.count, 1)))

        told = Analysis("x", np.array([FOLD, CALL, RAISE]), None, np.array([0.2, 0.5, 0.3]))
        inside = Inner("bold", bot(act, explain=lambda *_: told), ("limit", "nolimit"))
        found = advise(Timid([inside]), table())
        assert known(found) == pytest.approx({("call", None): 0.8, ("fold", None): 0.2})
        assert found.why == "as bold\nx"
        unchanged = advise(Nested([inside]), table())
        assert unchanged.draws == 0
        assert known(unchanged)[("raise", 20)] == pytest.approx(0.3)

    @pytest.mark.parametrize("betting", ["limit", "nolimit"])
    def test_the_cbr_bot_tells_the_chances_that_it_acts_by(
        self, betting: str, casebase: Path, no_limit: Path
    ) -> None:
        asked = build(f"cbr:{casebase if betting == 'limit' else no_limit}", betting)
        start = table(3, betting)
        advice = advise(asked, start)
        assert advice.draws == 0
        assert advice.why.startswith("Retrieved ")
        summed = dict.fromkeys(("fold", "call", "raise"), 0.0)
        for one in advice.choices:
            summed[one.action] += one.chance
        count = 300
        chance = Chance(0, np.arange(count), np.full(count, 2), np.zeros(count, np.int64))
        memory = None if asked.memory is None else np.zeros(count, asked.memory)
        pending = Pending(start.rows, start.game, np.zeros(count, np.int64))
        acted = asked.act(pending, memory, chance)
        assert list(summed.values()) == pytest.approx(acted.shares[0].tolist())
        told = {one.to for one in advice.choices if one.action == "raise" and one.chance}
        if betting == "nolimit":  # the sizes that it draws are those that it tells
            assert len(told) > 1
            assert set(acted.to.tolist()) == told


class TestGrid:
    def test_percentages_are_relative_to_what_is_possible(self) -> None:
        start = table(2)  # the one to act has Ah Ts
        row = Pending(start.rows, start.game, np.zeros(1, np.int64)).seen()[0]
        possible = ~np.isin(HANDS, [50, 35]).any(axis=1)
        even = grid_of(possible / possible.sum(), row)
        assert even == pytest.approx(np.ones((13, 13)))
        aces = np.array([hand_class(int(a), int(b)) == "AA" for a, b in HANDS]) & possible
        grid = grid_of(aces / aces.sum(), row)
        assert grid[0, 0] == pytest.approx(possible.sum() / 3)  # three of six are left
        assert grid.sum() == grid[0, 0]
        for name, place in (("AKs", (0, 1)), ("AKo", (1, 0)), ("72o", (12, 7)), ("32s", (11, 12))):
            only = np.array([hand_class(int(a), int(b)) == name for a, b in HANDS]) & possible
            found = grid_of(only / only.sum(), row)
            assert np.argwhere(found > 0).tolist() == [list(place)]

    def test_a_class_without_hands(self) -> None:
        cards = [UNKNOWN, UNKNOWN, 0, 1]
        start = Table(Game("nolimit", 5, 10), [1000] * 2, cards, [2, 3, 20, 30, 40])
        start.play("c")
        start.play("k")
        start.play("k")
        row = Pending(start.rows, start.game, np.zeros(1, np.int64)).seen()[0]
        grid = grid_of(np.full(1326, 1 / 1326), row)
        assert np.argwhere(np.isnan(grid))[-1].tolist() == [12, 12]
        assert cell_text(float(grid[12, 12])) == "-"

    def test_without_colours_it_is_plain_text(self) -> None:
        start = table(2)
        row = Pending(start.rows, start.game, np.zeros(1, np.int64)).seen()[0]
        told = analysis_of(Analysis(ranges={0: np.arange(1326.0)}))
        advice = advice_of(told, row, start.game)
        shown = advice_lines(advice, row, ["ann", "bob"])
        plain, coloured = io.StringIO(), io.StringIO()
        for out, terminal in ((plain, False), (coloured, True)):
            colours: Any = "standard" if terminal else "auto"
            console = Console(
                file=out, force_terminal=terminal, width=80, color_system=colours, highlight=False
            )
            for line in shown:
                console.print(line)
        assert "\x1b[" in coloured.getvalue()
        assert "\x1b" not in plain.getvalue()
        assert re.sub(r"\x1b\[[0-9;]*m", "", coloured.getvalue()) == plain.getvalue()
        rows = plain.getvalue().splitlines()
        assert rows[0].startswith("100: as likely as at random")
        assert rows[2] == "Range of ann"
        assert rows[3].split() == list("AKQJT98765432")
        assert [line.split()[0] for line in rows[4:]] == list("AKQJT98765432")
        assert max(map(len, rows)) <= 76


class TestCommand:
    def test_an_answer(self, cbr: Any, open_hand: Path, limit_hand: Path) -> None:
        found = cbr("ask", "triple:0.2,0.5,0.3", open_hand)
        assert found.code == 0
        assert found.out.splitlines()[0] == (
            "Hand 1: triple:0.2,0.5,0.3 as bob with Ah Th on Ts 7h 2c, pot 10.50, 4.00 to call"
        )
        rows = [line.split() for line in found.out.splitlines()[2:]]
        assert rows == [
            ["chance"],
            ["call", "50.0%"],
            ["raise", "to", "8.00", "30.0%"],
            ["fold", "20.0%"],
        ]
        # Only of a bot that draws are chances means of draws.
        drawn = cbr("ask", "sim?trials=10", limit_hand, "--draws", 20)
        assert drawn.out.splitlines()[-1] == "Chances are means of 20 draws."

    def test_json_is_a_line_for_each_hand(self, cbr: Any, tmp_path: Path) -> None:
        hand = OPEN_HAND
        path = tmp_path / "two.phhs"
        path.write_text(f"[1]\n{hand}\n[2]\nhand = 912\n{hand.replace('cbr 4.00', 'cbr 6.50')}")
        found = cbr("ask", "triple:0.2,0.5,0.3", path, "--json", "--draws", 10)
        first, second = map(json.loads, found.out.splitlines())
        assert first == {
            "hand": "1",
            "player": "bob",
            "actions": [
                {
                    "action": what,
                    "to": to,
                    "chance": chance,
                    "value": None,
                    "error": None,
                    "visits": None,
                }
                for what, to, chance in (
                    ("call", None, 0.5),
                    ("raise", 8, 0.3),
                    ("fold", None, 0.2),
                )
            ],
            "why": "",
            "unit": "big blinds",
            "draws": 0,
            "lines": [],
            "ranges": {},
        }
        assert second["hand"] == "912"
        assert [one["to"] for one in second["actions"]] == [None, 13, None]

    @pytest.mark.parametrize(
        "spec", ["loki", "sim?trials=10", "lag", "ace1", "waterman", "switch:loki,lag"]
    )
    def test_rule_bots(self, spec: str, cbr: Any, limit_hand: Path) -> None:
        [found] = [cbr("ask", spec, limit_hand, "--json", "--draws", 20).json]
        assert {one["action"] for one in found["actions"]} <= {"fold", "call", "raise"}
        assert sum(one["chance"] for one in found["actions"]) == pytest.approx(1.0)
        assert cbr("ask", spec, limit_hand, "--json", "--draws", 20).json == found
        if spec.startswith("switch"):
            assert found["why"] == ""

    def test_a_casebase(self, cbr: Any, limit_hand: Path, casebase: Path) -> None:
        found = cbr("ask", f"cbr:{casebase}", limit_hand)
        assert "to call\n" in found.out
        assert re.search(r"^Retrieved \d+ cases", found.out, re.M)
        assert "draws" not in found.out
        assert [
            one["action"]
            for one in cbr("ask", f"cbr:{casebase}", limit_hand, "--json").json["actions"]
        ].count("raise") == 1

    def test_the_hand_that_ships(self, cbr: Any, casebase: Path) -> None:
        found = cbr("ask", "loki", SHIPPED / "open-hand.phh")
        assert found.out.startswith("Hand 1: loki as bob with Ah Jh on Th 7s 2c 5h")
        assert cbr("ask", f"cbr:{casebase}", SHIPPED / "open-hand.phh").code == 0

    def test_pokerstars_text_from_stdin(self, cbr: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(STARS.encode())))
        found = cbr("ask", "raise?size=1", "-", "--json").json
        assert (found["hand"], found["player"]) == ("77", "cy")
        # 4.50 in the pot, 2.50 to call, so 7.00 more than the 3.00.
        assert [(one["action"], one["to"]) for one in found["actions"]] == [("raise", 10)]
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
        assert cbr("ask", "lag", "-").err.startswith("Error: stdin is neither a hand in PHH nor")

    def test_a_search_tells_all(
        self, cbr: Any, plugin_file: Any, open_hand: Path, tmp_path: Path
    ) -> None:
        plugin, picture = plugin_file(SEER), tmp_path / "seer.png"
        said = cbr("ask", "seer", open_hand, "--plugin", plugin, "--plot", picture).out
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert re.search(r"raise to 8\.00 +60\.0% +\+0\.930 +0\.080 +600$", said, re.M)
        assert re.search(r"raise to 117\.50 +10\.0% +- +- +100$", said, re.M)
        assert "1. flop: bob raises to 8.00, dan calls 4.00; turn: bob checks" in said
        assert "Range of dan" in said
        assert "draws" not in said
        found = cbr("ask", "seer", open_hand, "--plugin", plugin, "--json").json
        assert found["draws"] == 0
        assert [one["chance"] for one in found["actions"]] == [0.6, 0.25, 0.1, 0.05]
        assert found["actions"][0]["error"] == 0.08
        assert found["lines"][0][1] == {
            "street": "flop",
            "player": "dan",
            "action": "call",
            "amount": 4,
        }
        assert sum(found["ranges"]["dan"].values()) == pytest.approx(1.0)
        assert found["ranges"]["dan"]["AA"] > found["ranges"]["dan"]["22"]
        # The same seed, the same random numbers.
        again = [
            cbr("ask", "seer", open_hand, "--plugin", plugin, "--json", "--seed", s).json["why"]
            for s in (0, 5)
        ]
        assert again[0] == found["why"] != again[1]

    @pytest.mark.parametrize(
        ("words", "why"),
        [
            (["loki", "HAND"], "bot 'loki' plays limit, not nolimit"),
            (["loky", "HAND"], "no bot 'loky'; did you mean 'loki'?"),
            (["lag*2", "HAND"], "cbr ask asks one bot, and 'lag*2' is several"),
            (["lag", "nowhere.phh"], "nowhere.phh cannot be read: No such file or directory"),
            (["lag", SHIPPED / "sample.phhs"], "no open decision: the hand is over"),
            (["lag", "HAND", "--plot", "x.gif"], "a picture is called FILE.png"),
        ],
    )
    def test_errors(self, words: list[Any], why: str, cbr: Any, open_hand: Path) -> None:
        found = cbr("ask", *(open_hand if word == "HAND" else word for word in words))
        assert found.code == 2
        assert found.out == ""
        assert why in found.err
        assert found.err.count("\n") == 1

    def test_a_picture_of_several_hands(self, cbr: Any, tmp_path: Path) -> None:
        path = tmp_path / "two.phhs"
        path.write_text(f"[1]\n{OPEN_HAND}\n[2]\n{OPEN_HAND}")
        found = cbr("ask", "lag", path, "--plot", tmp_path / "a.png")
        assert found.code == 2
        assert found.err == f"Error: --plot draws one hand, and {path} has 2\n"
        assert not (tmp_path / "a.png").exists()


def test_play_shows_a_search(plugin_file: Any, tmp_path: Path) -> None:
    from cbr.plugging.plugins import Plugins, use_plugins
    from cbr_play.saving import Log
    from cbr_play.session import Session

    use_plugins(
        Plugins().load(
            [
                plugin_file(
                    SEER.replace("(3, CALL, 0), (me, CALL, 0)", "").replace("{3:", "{1 - me:")
                )
            ]
        )
    )
    match = Match([Player("you", ""), Player("seer", "seer")], seed=2)
    session = Session(match, lambda _, view: (1, 0), Log(tmp_path / "s.phhs"))
    assert not session.play().faults
    decision = session.decisions[0]
    lines = [line.plain for line in decision.why(["you", "seer"])]
    assert lines[0].split() == [
        "chance",
        "value",
        "s.e.",
        "visits",
        "values",
        "in",
        "small",
        "bets",
    ]
    assert "Principal lines" in lines
    assert any(line.startswith("Range of ") for line in lines)
    # It explains with the random numbers that it acted by.
    last = session.decisions[-1]
    assert last.advice.why == f"drew {last.bot._bot.drew:.6f}" != decision.advice.why
