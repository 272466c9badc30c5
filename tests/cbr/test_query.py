"""Queries: of decisions that are there, of what cases lack, of many solutions; and pictures."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import CARS_PLUGIN

from cbr.case import CaseType, Feature
from cbr.errors import BadValue, EmptyStage, NoSuchName
from cbr.plots import draw_answer
from cbr.plugging.plugins import Plugins
from cbr.retrieval.retriever import retriever_of
from cbr.reusing.explanation import explain
from cbr.reusing.hidden_solutions import hidden_solutions_of
from cbr.reusing.proposal import reuse, reuse_many
from cbr.store.casebase import Casebase
from cbr.store.decisions import decision_of, decisions_of, vectors_without
from cbr.store.records import Numbered

CASE = "price=7000,age=6,mileage=90,power=90,fuel=diesel,owners=1"
PNG = b"\x89PNG\r\n\x1a\n"

#: trip, step, stage, x, mood (None: hidden), solution, outcome
TRIPS = [
    (1, 0, "out", 1, 0.5, "go", 2.0),
    (1, 1, "out", 2, None, "stop", 0.0),
    (1, 2, "back", 5, 0.1, "wait", -1.0),
    (2, 0, "out", 1, 0.6, "go", 1.0),
    (2, 1, "out", 1, None, "go", 1.0),
    (2, 2, "back", 9, 0.9, "stop", 0.0),
    (3, 0, "out", 1, 0.1, "wait", -2.0),
    (3, 1, "out", 1, None, "stop", 0.0),
    (4, 0, "back", 5, 0.2, "wait", None),
]


@pytest.fixture
def trips(tmp_path: Path, plugins: Plugins) -> Iterator[Casebase]:
    """Trips of several decisions in two stages; whoever stops on the way out hides the mood."""
    features = [
        Feature("x", range=(0, 10), similarity="equal"),
        Feature("mood", range=(0, 1), private=True),
    ]
    types = [
        CaseType(f"trip/{stage}", features, ["go", "wait", "stop"], record="trip")
        for stage in ("out", "back")
    ]
    with Casebase.create(tmp_path / "trips.db", types) as base:
        with base.transaction():
            source = base.source_number("trips", "made")
            base.keep_records(source, [Numbered(n, n, bytes([n]), "") for n in range(1, 6)])
            for trip, step, stage, x, mood, solution, outcome in TRIPS:
                rest = ([solution], [outcome], [trip], [step])
                if mood is None:
                    base.add_hidden(base.case_type(stage), {"x": [x]}, *rest)
                else:
                    base.add(stage, {"x": [x], "mood": [mood]}, *rest)
        yield base


class TestLacking:
    def test_rates_are_those_of_all_decisions_that_look_alike(self, trips: Casebase) -> None:
        lacking = hidden_solutions_of(trips, retriever_of(trips, "out", policy="radius?above=0.9"))
        assert lacking is not None
        assert lacking.solutions == ("stop",)
        # At x = 1 one of five decisions stops, at 2 the only one does; the mood does not count.
        assert lacking.in_situation({"x": 1, "mood": 0.9}).rates == pytest.approx([1 / 5])
        assert lacking.in_situation({"x": 2}).rates == pytest.approx([1.0])

    def test_without_anything_to_see_all_look_alike(self, trips: Casebase) -> None:
        lacking = hidden_solutions_of(trips, retriever_of(trips, "out"))
        assert lacking is not None
        assert lacking.in_situation({"mood": 0.5}).rates == pytest.approx([2 / 6])

    def test_chances_sum_to_1(self, trips: Casebase) -> None:
        mine = retriever_of(trips, "out", policy="radius?above=0.5")
        lacking = hidden_solutions_of(trips, mine)
        proposal = reuse(mine({"x": 1, "mood": 0.5}), lacking=lacking)
        assert sum(proposal.probabilities.values()) == pytest.approx(1)
        assert proposal.probabilities == pytest.approx(
            {"go": 2 / 3 * 0.8, "wait": 1 / 3 * 0.8, "stop": 0.2}
        )
        assert "no case has stop" in proposal.reason

    @pytest.mark.parametrize(
        ("allowed", "expected"),
        [
            (["stop"], {"go": 0, "wait": 0, "stop": 1}),
            (["wait", "stop"], {"go": 0, "wait": 0.8, "stop": 0.2}),
            (["go"], {"go": 1, "wait": 0, "stop": 0}),
        ],
    )
    def test_only_what_is_allowed(self, trips: Casebase, allowed, expected) -> None:
        mine = retriever_of(trips, "out", policy="radius?above=0.5")
        lacking = hidden_solutions_of(trips, mine)
        retrieved = mine({"x": 1, "mood": 0.5})
        proposal = reuse(retrieved, allowed=allowed, lacking=lacking)
        assert proposal.probabilities == pytest.approx(expected)
        assert ("no case has" in proposal.reason) == ("stop" in allowed)
        answer = explain(retrieved, proposal, lacking=lacking)
        assert answer.lacking == ({"stop": pytest.approx(0.2)} if "stop" in allowed else {})

    @pytest.mark.parametrize("stop", [-1.0, 0.0, 0.1, None])
    def test_what_is_lacking_may_be_worth_something(self, trips: Casebase, stop) -> None:
        """Shares of 16 go, 8 wait and 6 stop, each by its value; one decision or many."""
        with trips.transaction():
            ids = trips.read_cases("out").ids.tolist()
            for name, value in (("go", 0.0), ("wait", 0.1), ("stop", stop)):
                if value is not None:
                    trips.put_values("out", ids, name, [value] * len(ids), [0.1] * len(ids))
        mine = retriever_of(trips, "out", policy="radius?above=0.5")
        lacking = hidden_solutions_of(trips, mine)
        assert lacking is not None
        policy = "worth?temperature=0.1"
        one = reuse(mine({"x": 1, "mood": 0.5}), policy, lacking=lacking).probabilities
        shares, values = np.array([16, 8, 6]) / 30 + 0.01, np.array([0, 0.1, stop or 0.0])
        expected = shares * np.exp(values / 0.1)
        if stop is None:  # then it is done as often as it is done
            known = np.array([2 / 3, 1 / 3]) + 0.01
            expected[:2] = known * np.exp([0, 1])
            expected[:2] *= 0.8 / expected[:2].sum()
            expected[2] = 0.2
        assert list(one.values()) == pytest.approx((expected / expected.sum()).tolist())
        codes = np.array([[1.0, 0.5], [1.0, 0.1]])
        many = reuse_many(mine.many(codes), policy, hidden=lacking.in_many(codes))
        assert many[0] == pytest.approx(list(one.values()))

    def test_values_of_some_and_not_of_others(self, trips: Casebase) -> None:
        """The first case knows what stopping is worth, the last does not; many as one by one."""
        with trips.transaction():
            ids = trips.read_cases("out").ids.tolist()
            for name, of in (("go", ids), ("wait", ids), ("stop", ids[:1])):
                trips.put_values("out", of, name, [0.0] * len(of))
        mine = retriever_of(trips, "out", policy="top?k=1")
        lacking = hidden_solutions_of(trips, mine)
        assert lacking is not None
        codes = np.array([[1.0, 0.5], [1.0, 0.1], [1.0, 0.5]])
        allowed = np.array([[True] * 3, [True] * 3, [False, True, True]])
        hidden = lacking.in_many(codes)
        assert hidden.rates[:, 0] == pytest.approx([0.2] * 3)
        many = reuse_many(mine.many(codes), "worth", allowed=allowed, hidden=hidden)
        for found, (x, mood), may in zip(many, codes.tolist(), allowed, strict=True):
            names = [name for name, good in zip(("go", "wait", "stop"), may, strict=True) if good]
            one = reuse(mine({"x": x, "mood": mood}), "worth", allowed=names, lacking=lacking)
            assert found == pytest.approx(list(one.probabilities.values()))
        assert many[0, 2] == pytest.approx(0.21 / 1.03)  # among what was done, and by its value
        assert many[1, 2] == pytest.approx(0.2)  # afterwards
        # Nothing that is allowed was done: waiting is as good as stopping, but for its rate.
        assert many[2] == pytest.approx([0.0, 0.81 / 1.02, 0.21 / 1.02])

    def test_nothing_is_lacking(self, trips: Casebase, cars: Casebase) -> None:
        """Stage `back` has cases of stopping and no hidden decision; cars hide nothing at all."""
        assert hidden_solutions_of(trips, retriever_of(trips, "back")) is None
        assert hidden_solutions_of(cars, retriever_of(cars, "car")) is None

    def test_a_record_can_be_left_out(self, trips: Casebase) -> None:
        mine = retriever_of(trips, "out", vectors=vectors_without(trips, "out", 3))
        lacking = hidden_solutions_of(trips, mine, without=3)
        assert lacking is not None
        # Only trip 1 stops now, at another x.
        assert lacking.in_situation({"x": 1}).rates == pytest.approx([0.0])
        with trips.transaction():
            trips.db.execute("DELETE FROM hidden WHERE record = 3")
        mine = retriever_of(trips, "out", vectors=vectors_without(trips, "out", 1))
        assert hidden_solutions_of(trips, mine, without=1) is None


class TestDecisions:
    def test_all_of_a_record_in_order(self, trips: Casebase) -> None:
        found = decisions_of(trips, 1)
        assert [(d.step, d.stage, d.known, d.solution) for d in found] == [
            (0, "out", True, "go"),
            (1, "out", False, "stop"),
            (2, "back", True, "wait"),
        ]
        assert [d.values for d in found[:2]] == [{"x": 1, "mood": 0.5}, {"x": 2}]

    def test_one_by_step_or_the_only_one(self, trips: Casebase) -> None:
        assert decision_of(trips, 1, 2).stage == "back"
        assert decision_of(trips, 4).outcome is None
        assert decision_of(trips, 3, stage="out", step=1).solution == "stop"

    @pytest.mark.parametrize(
        ("record", "step", "stage", "says"),
        [
            (
                1,
                None,
                None,
                "trip 1 has 3 decisions; choose by --decision: "
                "0 (out go), 1 (out stop, hidden), 2 (back wait)",
            ),
            (1, 7, None, "trip 1 has no decision 7; it has 0 (out go)"),
            (1, 0, "back", "trip 1 has no decision 0 of stage 'back'"),
            (99, None, None, "no trip 99 in .*; they are numbered 1 to 5"),
            (5, None, None, "trip 5 is in .* without any decision"),
        ],
    )
    def test_errors_say_what_there_is(self, trips: Casebase, record, step, stage, says) -> None:
        pattern = says if ".*" in says else says.replace("(", r"\(").replace(")", r"\)")
        with pytest.raises(BadValue, match=pattern):
            decision_of(trips, record, step, stage)

    def test_a_stage_is_checked(self, trips: Casebase) -> None:
        with pytest.raises(NoSuchName, match="'bak'"):
            decision_of(trips, 1, 2, "bak")

    def test_cases_of_the_record_are_left_out(self, trips: Casebase) -> None:
        with trips.transaction():
            trips.put_values("out", [1, 2], "stop", [0.5, 3.0])
        vectors = vectors_without(trips, "out", 2)
        assert vectors.case_ids.tolist() == [3, 1]
        assert vectors.estimates is not None
        assert vectors.estimates.total.sum(axis=0).tolist() == [0, 0, 0.5]
        with trips.transaction():
            trips.remove("out", [1, 3])
        with pytest.raises(EmptyStage, match="no cases but those of trip 2; build more"):
            vectors_without(trips, "out", 2)


class TestQueryOfADecision:
    def test_the_other_records_answer(self, cbr, cars_db: Path) -> None:
        answer = cbr("query", cars_db, "--record", 12, "--json").json
        made = answer["decision"]
        assert (made["record"], made["stage"], made["known"]) == (12, "car", True)
        assert made["solution"] in answer["probabilities"]
        with Casebase.open(cars_db) as base:
            [case] = base.cases("car", [12])
        assert answer["target"] == made["values"] == case.values
        assert made["outcome"] == case.outcome
        assert all(12 not in near["case_ids"] for near in answer["neighbours"])
        itself = ",".join(f"{k}={v}" for k, v in case.values.items() if k != "model")
        by_hand = cbr("query", cars_db, "--case", itself, "--json").json
        assert 12 in by_hand["neighbours"][0]["case_ids"]
        assert by_hand["decision"] is None

    def test_every_index_agrees(self, cbr, cars_db: Path) -> None:
        words = ["query", cars_db, "--record", 12, "--json", "--index"]
        scan, exact, flat = (cbr(*words, name).json for name in ("scan", "exact", "faiss-flat"))
        assert scan == exact == flat

    def test_what_was_done_stands_beside_the_proposal(self, cbr, trips: Casebase) -> None:
        words = ["query", trips.path, "--trip", 3, "--decision", 0]
        assert cbr(*words).code == 2  # nobody here has brought that word
        words[2] = "--record"
        answer = cbr(*words)
        assert "Trip 3, decision 0 (out), retrieved from all other trips" in answer.out
        assert (
            "Actual solution: wait (not as proposed, probability 0), which earned -2." in answer.out
        )
        assert "actual   earned" in answer.out

    def test_private_features_of_a_hidden_one_are_not_compared(self, cbr, trips) -> None:
        words = ["query", trips.path, "--record", 3, "--decision", 1]
        answer = cbr(*words, "--json").json
        assert (answer["unknown"], answer["decision"]["known"]) == (["mood"], False)
        assert answer["lacking"] == {"stop": 0.0}
        shown = cbr(*words)
        assert "hidden, so not compared: mood" in shown.err
        assert "(out, partly hidden)" in shown.out

    def test_a_record_goes_by_its_domains_word(self, cbr, cars_db: Path) -> None:
        by_word = cbr("query", cars_db, "--row", 12, "--json", "--plugin", CARS_PLUGIN)
        assert by_word.json == cbr("query", cars_db, "--record", 12, "--json").json
        assert "--row" in cbr("query", "--help", "--plugin", CARS_PLUGIN).out
        assert "--row" not in cbr("query", "--help").out

    def test_a_word_that_is_taken_is_left_out(self, cbr, cars_db: Path, plugin_file) -> None:
        path = plugin_file(
            "import cbr\n"
            "@cbr.hook\n"
            "def cbr_case_types():\n"
            "    features = [cbr.Feature('x', range=(0, 1))]\n"
            "    return [cbr.CaseType('odd', features, ['a'], record='case')]\n"
        )
        answer = cbr("query", cars_db, "--case", CASE, "--plugin", path)
        assert answer.code == 0
        assert "--case is an option of query itself" in answer.err
        assert cbr("info", cars_db, "--plugin", path).err == ""

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            ([], "give either --case with a situation, or --record"),
            (["--case", "age=1", "--record", 3], "give either --case"),
            (["--case", "age=1", "--decision", 3], "--decision is one of a record"),
            (["--record", 999], "they are numbered 1 to 400"),
            (["--record", 12, "--decision", 9], "row 12 has no decision 9; it has 0 (car"),
            (["--record", 0], "--help"),
            (["--case", "age=1", "--missing", "guess"], "no way with --missing 'guess'"),
        ],
    )
    def test_bad_input_gets_one_sentence(self, cbr, cars_db: Path, words, says) -> None:
        answer = cbr("query", cars_db, *words)
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
        assert says in answer.err


class TestMissing:
    def test_hidden_decisions_fill_in(self, cbr, trips: Casebase) -> None:
        words = ["query", trips.path, "--stage", "out", "--case", "x=1,mood=0.5"]
        answer = cbr(*words, "--policy", "radius?above=0.5", "--json").json
        assert answer["lacking"] == {"stop": pytest.approx(0.2)}
        assert answer["probabilities"]["stop"] == pytest.approx(0.2)
        assert "no case has stop" in answer["reason"]

    def test_or_it_is_refused(self, cbr, trips: Casebase, cars_db: Path) -> None:
        words = ["query", trips.path, "--stage", "out", "--case", "x=1", "--missing", "refuse"]
        answer = cbr(*words)
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
        assert "no case of stage 'out' has solution 'stop', which hidden decisions" in answer.err
        assert "--allow go,wait" in answer.err
        assert cbr(*words, "--allow", "stop").code == 2
        allowed = cbr(*words, "--allow", "go,wait", "--json").json
        assert (allowed["lacking"], allowed["probabilities"]["stop"]) == ({}, 0)
        assert cbr("query", cars_db, "--case", CASE, "--missing", "refuse").code == 0


class TestManySolutions:
    @pytest.fixture
    def many(self, tmp_path: Path) -> Path:
        solutions = [f"s{n}" for n in range(9)]
        kind = CaseType("many", [Feature("x", range=(0, 10))], solutions, retrieval="top?k=3")
        path = tmp_path / "many.db"
        with Casebase.create(path, [kind]) as base, base.transaction():
            source = base.source_number("made", "made")
            base.keep_records(source, [Numbered(n, n, bytes([n]), "") for n in range(1, 10)])
            base.add("many", {"x": range(9)}, solutions, [0.0] * 9, range(1, 10), [0] * 9)
        return path

    def test_impossible_ones_are_counted(self, cbr, many: Path) -> None:
        words = ["query", many, "--case", "x=1"]
        shown = cbr(*words).out
        assert "6 solutions of probability 0 not shown." in shown
        assert "s8" not in shown.partition("Proposal")[2]
        assert len(cbr(*words, "--json").json["probabilities"]) == 9

    def test_what_was_done_is_shown_all_the_same(self, cbr, many: Path) -> None:
        shown = cbr("query", many, "--record", 9, "--policy", "top?k=1").out
        assert "7 solutions of probability 0 not shown." in shown
        assert "Actual solution: s8 (not as proposed, probability 0)" in shown

    def test_few_are_all_shown(self, cbr, cars_db: Path) -> None:
        assert "not shown" not in cbr("query", cars_db, "--case", CASE).out


class TestNothingSimilar:
    def test_it_is_said(self, cbr, trips: Casebase) -> None:
        words = ["query", trips.path, "--stage", "out", "--case", "x=7"]
        shown = cbr(*words).out
        assert "none is similar" in shown
        assert "most similar" not in shown
        assert "Local similarity" not in shown
        assert "no case with another solution is similar at all" in shown
        assert cbr(*words, "--json").json["neighbours"][0]["similarity"] == 0

    def test_only_what_is_similar_is_shown(self, cbr, trips: Casebase) -> None:
        words = ["query", trips.path, "--stage", "back", "--case", "x=5", "--policy", "top?k=9"]
        assert "0.0000" not in cbr(*words).out


class TestPlot:
    def drawn(self, path: Path) -> tuple[int, int]:
        """Width and height; fails if it is no PNG."""
        start = path.read_bytes()[:24]
        assert start[:8] == PNG
        return int.from_bytes(start[16:20], "big"), int.from_bytes(start[20:24], "big")

    @pytest.mark.long
    def test_an_answer_is_drawn(self, cbr, cars_db: Path, tmp_path: Path) -> None:
        out = tmp_path / "answer.png"
        answer = cbr("query", cars_db, "--case", "price=7000,age=6", "--plot", out)
        assert f"drawn in {out}" in answer.out.replace("\n", "")
        assert self.drawn(out) == (1200, 700)
        words = ["query", cars_db, "--record", 3, "--policy", "top?k=12", "--show", 12]
        more = cbr(*words, "--plot", out, "--json")
        assert more.json["plot"] == str(out)
        assert self.drawn(out)[1] > 700

    @pytest.mark.long
    def test_odd_answers_are_drawn_too(self, cbr, trips: Casebase, tmp_path: Path) -> None:
        """A solution that only hidden decisions have; nothing similar."""
        words = ["query", trips.path, "--stage", "out", "--plot"]
        for name, case in (("a.png", "x=1"), ("b.SVG", "x=7")):
            assert cbr(*words, tmp_path / name, "--case", case).code == 0
        self.drawn(tmp_path / "a.png")
        assert (tmp_path / "b.SVG").read_text().startswith("<?xml")

    @pytest.mark.long
    def test_many_and_strange_names(self, cars: Casebase, tmp_path: Path) -> None:
        retrieved = retriever_of(cars, "car", policy="top?k=100")({"price": 7000})
        answer = explain(retrieved, reuse(retrieved), 100)
        chances = np.full(60, 1 / 60).tolist()
        names = [f"$x_{n}^ a very long name of a solution" for n in range(60)]
        odd = dataclasses.replace(
            answer,
            probabilities=dict(zip(names, chances, strict=True)),
            mean_outcome=dict.fromkeys(names),
            mean_value=dict.fromkeys(names),
            solution=names[0],
        )
        draw_answer(odd, tmp_path / "odd.png", "row")
        assert self.drawn(tmp_path / "odd.png")[1] < 4000

    def test_a_place_where_nothing_can_be_drawn(self, cbr, cars_db: Path, tmp_path: Path) -> None:
        places = {
            tmp_path / "no" / "x.png": "is no folder",
            tmp_path / "x.nonsense": "a picture is called FILE.png",
            cars_db: "a picture is called FILE.png",
            tmp_path: "a picture is called FILE.png",
        }
        for out, why in places.items():
            answer = cbr("query", cars_db, "--case", CASE, "--plot", out)
            assert (answer.code, answer.err.count("\n")) == (2, 1)
            assert why in answer.err


def test_a_fallback_is_named(cbr, cars_db) -> None:
    """Where nothing comes up to the threshold, the answer does not look as if something did."""
    words = ["query", cars_db, "--case", "price=7000,age=6,mileage=90,power=90,fuel=diesel"]
    far = cbr(*words, "--policy", "threshold?above=0.9999&fallback=3")
    assert "(none is above 0.9999, so the most similar)" in " ".join(far.out.split())
    json = [*words, "--json"]
    assert cbr(*json, "--policy", "threshold?above=0.9999&fallback=3").json["fallback"] == 0.9999
    for policy in ("threshold?above=0.2", "top?k=3", "radius?above=0.3"):
        assert cbr(*json, "--policy", policy).json["fallback"] is None
