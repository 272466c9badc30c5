"""A situation as a person tells it: features follow from cards and amounts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import cbr as engine
from cbr import Casebase, retrieve, reuse
from cbr.case import Value
from cbr.errors import BadValue
from cbr.plugging.plugins import Plugins
from cbr.store.definitions import complete, possible_solutions
from cbr_holdem.situation import Situations, case_types
from cbr_holdem.strength import strength_of
from cbr_holdem.table import STREETS, Game, Table, decks

TYPES = {case_type.name: case_type for case_type in case_types()}
PLUGINS = Plugins().load()


def told(stage: str, **given: Value) -> dict[str, Value]:
    return complete(TYPES[stage], given, PLUGINS)


def test_strengths_follow_from_cards() -> None:
    found = told("holdem/flop", hole="AhKs", board="Qh 7d 2c", players=3)
    strength = strength_of("AhKs", "Qh7d2c")
    assert found["ihs"] == pytest.approx(strength.hs**2)
    assert (found["ppot"], found["npot"]) == (strength.ppot, strength.npot)
    assert found["hole"] == "AhKs"


def test_every_street_and_game() -> None:
    assert told("holdem/preflop", hole="AsAh")["hand_rank"] == 1
    assert told("holdem-nolimit/preflop", hole="2h7s")["hand_rank"] > 150
    river = told("holdem/river", hole="AhKs", board="Qh7d2c9c9d", players=2)
    assert river.keys() >= {"ihs"}
    assert "ppot" not in river
    assert "ihs" not in told("holdem/turn", hole="AhKs", board="Qh7d2c9c")  # against how many?


def test_pot_odds_follow_from_amounts() -> None:
    assert told("holdem/flop", to_call=1, pot=6)["pot_odds"] == pytest.approx(1 / 7)
    assert told("holdem/turn", to_call=1, pot=6)["pot_odds"] == pytest.approx(2 / 8)
    assert told("holdem/turn", to_call=0, pot=6)["pot_odds"] == 0
    assert told("holdem/flop", to_call=1, pot=6, pot_odds=0.15)["pot_odds"] == 0.15


@pytest.mark.parametrize(
    ("stage", "given", "why"),
    [
        ("flop", {"hole": "AhKs"}, "needs the board as well"),
        ("flop", {"board": "Qh7d2c"}, "give hole"),
        ("flop", {"hole": "AhKs", "board": "Qh7d2c9c"}, "4 cards; on the flop there are 3"),
        ("flop", {"hole": "AhKs", "board": "Ah7d2c"}, "Ah is twice"),
        ("preflop", {"hole": "AhKsQs"}, "two different cards"),
        ("preflop", {"hole": "Ax"}, "is not a card"),
    ],
)
def test_what_cannot_be(stage: str, given: dict[str, Value], why: str) -> None:
    with pytest.raises(BadValue, match=why):
        told(f"holdem/{stage}", **given)


class TestPossible:
    @pytest.mark.parametrize(
        ("stage", "given", "expected"),
        [
            ("holdem/flop", {"to_call": 1, "pot": 6}, "fcr"),
            ("holdem/flop", {"to_call": 0}, "kb"),
            ("holdem/flop", {"pot_odds": 0.2}, "fcr"),
            ("holdem/flop", {"pot": 6}, "fkcbr"),
            ("holdem/preflop", {"to_call": 0}, "kr"),
            ("holdem/preflop", {}, "fkcr"),
            ("holdem/turn", {"to_call": 2, "committed": 2}, "fc"),
            ("holdem/turn", {"to_call": 4}, "fc"),
            ("holdem/turn", {"to_call": 1, "committed": 2}, "fcr"),
            ("holdem-nolimit/flop", {"call_share": 0.4}, "fcr"),
            ("holdem-nolimit/flop", {"call_share": 1}, "fc"),
            ("holdem-nolimit/flop", {"pot_odds": 0}, "kb"),
            ("holdem-nolimit/flop", {"call_share": 0, "pot_odds": 0}, "kb"),
        ],
    )
    def test_what_the_description_tells(self, stage: str, given: dict, expected: str) -> None:
        found = possible_solutions(TYPES[stage], told(stage, **given), PLUGINS)
        assert "".join(dict.fromkeys(name[0] for name in found)) == expected

    @pytest.mark.parametrize(
        ("game", "domain", "stack"),
        [
            (Game("limit", 1, 2), "holdem", 2_000),
            (Game("nolimit", 1, 2), "holdem-nolimit", 30),
            (Game("nolimit", 1, 2), "holdem-nolimit", 400),
        ],
    )
    def test_as_the_rules_have_it(self, game: Game, domain: str, stack: int) -> None:
        """Decisions of random play, described by their features alone: nothing legal is left out,
        and what is not legal only where a short all-in does not reopen the betting."""
        rng = np.random.default_rng(3)
        seen, more = Counter[str](), 0
        for deck in decks(5, 0, 120):
            seats = int(rng.integers(2, 5))
            stacks = [int(rng.integers(stack // 2, stack + 1)) for _ in range(seats)]
            table = Table(game, stacks, deck[: 2 * seats].tolist(), deck[20:25].tolist())
            while not table.over:
                here = Situations.at(table.rows, game)
                kind = TYPES[f"{domain}/{STREETS[int(here.street[0])]}"]
                values = {
                    f.name: float(np.asarray(f.of(here))[0]) for f in kind.indexed if not f.private
                }
                found = {s[0] for s in possible_solutions(kind, values, PLUGINS)}
                rules = legal_of(table, kind.stage == "preflop")
                assert rules <= found, (values, rules)
                more += rules != found
                assert game.betting == "nolimit" or rules == found, (values, rules, found)
                seen.update(found)
                limits = table.legal()
                if limits.raise_to and rng.random() < 0.5:
                    amount = int(rng.integers(limits.raise_from, limits.raise_to + 1))
                    table.play("r", amount)
                else:
                    table.play("f" if limits.fold and rng.random() < 0.1 else "c")
        assert set(seen) == set("fkcbr")
        assert more <= seen.total() / 100


def legal_of(table: Table, preflop: bool) -> set[str]:
    """The letters of the legal solutions at a table, by its rules."""
    limits = table.legal()
    free = not limits.fold
    raises = ("r" if preflop or not free else "b") if limits.raise_to else ""
    return set("k" if free else "fc") | set(raises)


class TestQuery:
    @pytest.fixture
    def flops(self, tmp_path: Path) -> Path:
        """A casebase in which every action was done as often, whatever there was to call."""
        kind = TYPES["holdem/flop"]
        rows = [(call, action) for call in (0, 1) for action in kind.solutions for _ in range(4)]
        columns: dict[str, list] = {
            f.name: [0.5 if f.is_number else "x"] * len(rows) for f in kind.features
        }
        columns["to_call"] = [call for call, _ in rows]
        with Casebase.create(tmp_path / "flops.db", [kind]) as base, base.transaction():
            number = range(1, len(rows) + 1)
            actions = [action for _, action in rows]
            base.add("flop", columns, actions, [None] * len(rows), number, [0] * len(rows))
        return tmp_path / "flops.db"

    def test_only_what_is_legal_is_proposed(self, cbr, flops: Path) -> None:
        words = ["query", flops, "--policy", "top?k=100", "--case"]
        facing = cbr(*words, "to_call=1", "--json").json
        assert facing["allowed"] == ["f", "c", "r"]
        assert facing["probabilities"] == pytest.approx(
            {"f": 1 / 3, "k": 0, "c": 1 / 3, "b": 0, "r": 1 / 3}
        )
        assert "Taken as possible: f, c, r; not: k, b." in cbr(*words, "to_call=1").out
        assert cbr(*words, "to_call=0", "--json").json["allowed"] == ["k", "b"]
        assert cbr(*words, "to_call=2,committed=2", "--json").json["allowed"] == ["f", "c"]
        assert cbr(*words, "pot=3", "--json").json["allowed"] == list("fkcbr")
        # Another game, which has no cap: whoever names the solutions has those.
        named = cbr(*words, "to_call=2,committed=2", "--allow", "f,c,r", "--json").json
        assert named["allowed"] == ["f", "c", "r"]

    def test_in_python(self, flops: Path) -> None:
        with Casebase.open(flops) as base:
            got = retrieve(base, "flop", {"to_call": 1}, policy="top?k=100")
            assert reuse(got).allowed == ("f", "c", "r")
            assert reuse(got, allowed=["f", "c"]).allowed == ("f", "c")

    def test_what_was_done_was_possible(self, cbr, flops: Path) -> None:
        answer = cbr("query", flops, "--record", 25, "--json")  # a check where there was a bet
        assert answer.json["decision"]["solution"] == "k"
        assert answer.json["allowed"] == ["f", "k", "c", "r"]


class TestAmountsOfNoLimit:
    """Features of no-limit are shares, so amounts may be told in chips or in big blinds."""

    CARDS = "hole=AhKs,board=Kh7d2c,players=3"

    def test_shares_follow_from_amounts(self) -> None:
        found = told("holdem-nolimit/flop", to_call=50, pot=150, stack=1000, committed=30)
        assert found["pot_odds"] == pytest.approx(50 / 200)
        assert found["call_share"] == pytest.approx(50 / 1000)
        assert found["pot_share"] == pytest.approx(150 / 1150)
        assert found["committed_share"] == pytest.approx(30 / 150)
        assert not found.keys() & {"stack", "effective", "to_call", "pot", "committed"}
        in_blinds = told("holdem-nolimit/flop", to_call=0.5, pot=1.5, stack=10, committed=0.3)
        assert in_blinds == pytest.approx(found)
        assert told("holdem-nolimit/flop", to_call=2000, pot=9, stack=700)["call_share"] == 1.0

    def test_a_query_takes_them(self, cbr, tmp_path: Path) -> None:
        kind = TYPES["holdem-nolimit/flop"]
        columns: dict[str, list] = {
            f.name: [0.5 if f.is_number else "x"] * 2 for f in kind.features
        }
        with Casebase.create(tmp_path / "flops.db", [kind]) as base, base.transaction():
            base.add("flop", columns, ["c", "f"], [None] * 2, range(1, 3), [0] * 2)
        words = ["query", tmp_path / "flops.db", "--json", "--case"]
        answer = cbr(*words, f"{self.CARDS},to_call=50,pot=150,stack=1000").json
        assert answer["target"]["call_share"] == pytest.approx(0.05)
        assert "k" not in answer["allowed"]
        wrong = cbr(*words, "hole=AhKs,board=Kh7d2c,stacks=1000")
        assert (wrong.code, "did you mean 'stack'?" in wrong.err) == (2, True)
        with engine.open(tmp_path / "flops.db") as base:
            near = base.nearest({"to_call": 50, "pot": 150, "stack": 1000})
        assert near.target["pot_odds"] == pytest.approx(0.25)
