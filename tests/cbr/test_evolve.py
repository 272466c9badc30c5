"""Evolution: operators, plans, races, run files; in a domain of cars and in arenas made up here."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import CARS_PLUGIN

from cbr.errors import BadValue, BadWeights, CbrError, NoSuchName
from cbr.evolve import operators
from cbr.evolve.arena import Arena, Contest, Gene
from cbr.evolve.experiment import evolve
from cbr.evolve.genome import Genome
from cbr.evolve.luck import luck_of, range_by_luck
from cbr.evolve.operators import Individual
from cbr.evolve.plans import GENETIC, ROBUST, Generational, plan_named
from cbr.evolve.playing import ScoreRequest
from cbr.evolve.report import report_of
from cbr.evolve.run import SearchProgress
from cbr.evolve.runfile import RunFile
from cbr.evolve.seeds import REPORT, SEARCH, generator_of, seed_of
from cbr.plugging.plugins import Plugins, use_plugins
from cbr.statistics import mean_of, separation
from cbr.store.casebase import Casebase
from cbr.store.definitions import set_weights
from cbr.testing import check_arena
from cbr.weights import Weights
from cbr.workers import executor

GENOME = Genome("toy", {"one": ("a", "b", "c"), "two": ("d", "e")}, (Gene("x", -1.0, 3.0, 0.5),))
NINE = Generational("nine", population=9, generations=3, trials=40)

#: An arena with an ideal and luck, another whose ideal is elsewhere, and one with an extra gene.
ARENAS = """
import cbr
from cbr.evolve.arena import Contest, Gene


def scores(weights, blocks, seed, ideal):
    import numpy as np
    shares = weights / weights.sum(axis=1, keepdims=True)
    luck = np.array([np.random.default_rng([seed, b]).normal(size=2) for b in range(blocks)])
    own = np.random.default_rng([seed, 7]).normal(size=weights.shape[1])
    off = ((shares - np.array(ideal) / sum(ideal)) ** 2).sum(axis=1)
    # Luck that all share, and a little that depends on the row.
    return -20 * off[:, None] + luck[:, 0] + 0.05 * (shares @ own)[:, None] * luck[:, 1]


def toy(file, rows, together, wait=0.0):
    import time

    def play(weights, blocks, seed):
        time.sleep(wait)
        return scores(weights, blocks, seed, [50, 5, 5, 30, 5, 5])
    return Contest(play, unit="points", trial="turn", trials=10, piece=4)


def other(file, rows, together):
    def play(weights, blocks, seed):
        return scores(weights, blocks, seed, [5, 50, 30, 5, 5, 5])
    return Contest(play, unit="points", trial="turn", trials=10, piece=4)


def settled(file, rows, together):
    def play(weights, blocks, seed):
        return scores(weights[:, :6], blocks, seed, [1] * 6) - abs(weights[:, 6:] - 2.0)
    gene = Gene("knob", 0.0, 4.0, 0.5)
    return Contest(play, (gene,), "points", "turn", 10,
                   usage=lambda genes, weights: f"use {weights} with {genes['knob']:.1f}")


def broken(weights, blocks, seed):
    raise RuntimeError("the dog ate it")


@cbr.hook
def cbr_arenas():
    return [cbr.Arena("toy", open=toy), cbr.Arena("other", open=other),
            cbr.Arena("settled", open=settled), cbr.Arena("broken", broken),
            cbr.Arena("elsewhere", open=toy, domains=("moon",))]
"""
QUICK = ["--arena", "toy", "--hands", 40, "--report", 200]
ROBUST_QUICK = ["--population", 8, "--generations", 5, "--set", "duel=200,rounds=2"]


@pytest.fixture
def with_arenas(plugin_file) -> list[object]:
    return ["--plugin", CARS_PLUGIN, "--plugin", plugin_file(ARENAS, "arenas.py")]


class TestOperators:
    @pytest.mark.parametrize("crossover", ["one-point", "two-point", "uniform"])
    @pytest.mark.parametrize("selection", ["rank", "tournament", "best"])
    def test_no_stage_is_ever_all_zero(self, crossover: str, selection: str) -> None:
        plan = Generational(
            "p", population=5, copies=1, pairs=2, mutations=3, mutation_chance=0.5,
            crossover=crossover, selection=selection,
        )  # fmt: skip
        # Parents with hardly anything above 0, whose children easily have nothing.
        thin = np.zeros((5, 6))
        thin[:, 0] = [1, 0, 0, 1, 0]
        thin[:, 2] = [0, 1, 1, 0, 1]
        thin[:, 3] = [0, 1, 0, 1, 1]
        thin[:, 4] = [1, 0, 1, 0, 0]
        for seed in range(150):
            rng = np.random.default_rng(seed)
            rows, origins = operators.next_generation(plan, GENOME, thin, np.arange(5.0), rng)
            assert rows.shape == thin.shape
            assert len(origins) == 5
            for part in GENOME.parts.values():
                assert (rows[:, part].sum(axis=1) > 0).all()
            assert (rows[:, :5] >= 0).all()
            assert (rows[:, :5] <= 100).all()

    def test_the_crossover_of_the_thesis(self, monkeypatch: pytest.MonkeyPatch) -> None:
        genome = Genome("toy", {"s": tuple("abcdefgh")})
        monkeypatch.setattr(random, "randint", lambda low, high: 4)
        one, two = operators.crossed(
            genome,
            "one-point",
            Individual([5, 10, 10, 5, 5, 10, 5, 50]),
            Individual([30, 5, 15, 5, 20, 80, 5, 100]),
        )
        assert one == [5, 10, 10, 5, 20, 80, 5, 100]
        assert two == [30, 5, 15, 5, 5, 10, 5, 50]

    def test_crossover_stays_inside_a_stage(self) -> None:
        a, b = Individual([1.0] * 6), Individual([2.0] * 6)
        seen = set()
        for seed in range(60):
            with operators.drawing_from(np.random.default_rng(seed)):
                one, two = operators.crossed(GENOME, "one-point", a, b)
            assert [x + y for x, y in zip(one, two, strict=True)] == [3.0] * 6
            assert one[0] == one[3] == 1.0  # every stage begins with its own
            seen.add(tuple(one))
        assert seen == {(1, x, 2, 1, 2, 1) for x in (1, 2)}

    def test_ranks_decide(self) -> None:
        plan = Generational("p", population=9)
        population = [Individual([float(i)], score=float(i)) for i in range(9)]
        with operators.drawing_from(np.random.default_rng(1)):
            chosen = [one[0] for one in operators.selected(plan, population, 45_000)]
        shares = np.bincount(np.array(chosen, int), minlength=9) / 1_000
        assert shares == pytest.approx(np.arange(1, 10), rel=0.1)

    def test_chances_may_be_given(self) -> None:
        plan = Generational("p", population=3, copies=1, pairs=1, chances=(0, 1, 3))
        assert operators.rank_chances(plan, 3) == [0, 0.25, 0.75]
        with pytest.raises(BadValue, match="3 numbers"):
            plan.changed({"chances": "1/2"})

    def test_a_generation_is_copies_and_children_of_distinct_parents(self) -> None:
        rng = np.random.default_rng(3)
        rows, first = operators.first_generation(NINE, GENOME, [], rng)
        assert first == ["drawn"] * 9
        assert (rows[:, :5] == rows[:, :5].round()).all()
        # Nobody is better: two parents could easily be one.
        _, origins = operators.next_generation(NINE, GENOME, rows, np.zeros(9), rng)
        plain = [origin.removesuffix(", mutated") for origin in origins]
        assert sum(one.startswith("copy") for one in plain) == 3
        children = [one.split()[2::2] for one in plain if one.startswith("child")]
        assert len(children) == 6
        assert all(mother != father for mother, father in children)
        assert sum(one.endswith("mutated") for one in origins) == 1

    def test_the_random_module_is_left_as_it_was(self) -> None:
        random.seed(4)
        before = random.getstate()
        operators.first_generation(NINE, GENOME, [], np.random.default_rng(0))
        assert random.getstate() == before


class TestPlans:
    def test_the_engine_brings_two(self) -> None:
        assert plan_named("robust") is ROBUST
        assert plan_named("genetic") is GENETIC
        with pytest.raises(NoSuchName, match="did you mean 'robust'"):
            plan_named("robusst")

    def test_settings_are_checked(self) -> None:
        assert ROBUST.changed({"spread": "0.5", "rounds": "2"}).settings()["spread"] == 0.5
        with pytest.raises(NoSuchName, match="no setting of plan 'robust' 'copies'"):
            ROBUST.changed({"copies": "2"})
        with pytest.raises(BadValue, match="rounds=two must be a whole number"):
            ROBUST.changed({"rounds": "two"})
        with pytest.raises(BadValue, match="make 9 individuals, not a population of 10"):
            GENETIC.changed({"population": 10})
        with pytest.raises(NoSuchName, match="no crossover 'three-point'"):
            GENETIC.changed({"crossover": "three-point"})
        with pytest.raises(BadValue, match="runs of plan 'genetic' is 0"):
            GENETIC.changed({"runs": 0})


class TestGenome:
    def test_there_and_back(self) -> None:
        row = np.array([50.0, 100.0, 1.0, 7.0, 70.0, 2.0])
        again = GENOME.decode(GENOME.encode(row))
        assert again[:3] == pytest.approx([50, 100, 1])
        assert again[3:5] == pytest.approx([10, 100])
        assert again[5] == pytest.approx(2.0)
        assert (GENOME.decode(GENOME.encode(np.array([0.0, 0, 1, 0, 3, 9]))) > 0).all()
        assert GENOME.decode(np.full(6, 1e9))[5] == 3.0

    def test_other_features_are_refused_by_name(self, cars: Casebase) -> None:
        genome = Genome.of(cars)
        with pytest.raises(NoSuchName, match="no indexed feature 'colour'"):
            genome.row(cars, Weights({"car": {"price": 1.0, "colour": 2.0}}))
        with pytest.raises(BadWeights, match="a stage 'bike'; the casebase has car"):
            genome.row(cars, Weights({"car": {}, "bike": {"price": 1.0}}))

    def test_what_is_written_is_never_all_zero(self, cars: Casebase) -> None:
        genome = Genome.of(cars)
        made = genome.to_weights(np.array([1e-9, 0, 0, 2e-9, 0, 0]), {})
        assert made.stages["car"]["price"] == 50
        assert made.stages["car"]["power"] == 100


class TestLuck:
    def test_seeds_of_the_report_are_never_those_of_the_search(self) -> None:
        search = {seed_of(s, SEARCH, r, g) for s in range(5) for r in range(9) for g in range(30)}
        report = {seed_of(s, REPORT, r, g) for s in range(5) for r in range(9) for g in range(30)}
        assert {seed % 2 for seed in search} == {0}
        assert {seed % 2 for seed in report} == {1}
        assert len(search) == len(report) == 5 * 9 * 30
        assert max(search | report) < 2**63

    def test_a_generation_draws_by_its_place_alone(self) -> None:
        one, two = (generator_of(3, 1, 2).random(4).tolist() for _ in range(2))
        assert one == two != generator_of(3, 2, 1).random(4).tolist()

    @pytest.mark.parametrize("seats", [9, 12])
    def test_equal_players_at_one_table(self, seats: int) -> None:
        """Nine of so many seats; what one wins the others lose."""
        rng = np.random.default_rng(1)
        found = []
        for _ in range(400):
            scores = rng.normal(size=(seats, 50))
            scores = (scores - scores.mean(axis=0))[:9]
            found.append((luck_of(scores), np.ptp(scores.mean(axis=1)), scores.std()))
        luck, ranges, own = np.array(found).mean(axis=0)
        assert range_by_luck(9, luck) == pytest.approx(ranges, rel=0.04)
        # 3.15 standard errors of a player's own mean, where nine share a table.
        more = np.sqrt(seats / (seats - 1))
        assert ranges == pytest.approx(2.97 * more * own / np.sqrt(50), rel=0.04)
        assert range_by_luck(24, 1.0) == pytest.approx(3.9, rel=0.02)

    def test_paired_differences(self) -> None:
        luck = np.random.default_rng(2).normal(size=50)
        assert separation(luck + 0.01, luck) > 1e9
        assert separation(np.ones(3), np.zeros(3)) == np.inf
        assert separation(luck, luck) == 0.0
        # Nobody wins by one block, and by few only if he wins by far.
        assert separation(np.ones(1), np.zeros(1)) == 0.0
        few = np.array([0.9, 1.1])
        assert separation(few, np.zeros(2)) == pytest.approx(10 * 1.96 / 12.706, rel=1e-3)
        assert abs(separation(luck, luck[::-1])) < 2
        assert mean_of(np.array([1.0])).ci95 is None
        assert mean_of(np.array([0.0, 2.0])).ci95 == pytest.approx(12.706, rel=1e-3)

    def test_rows_on_the_same_deals_have_their_luck_in_common(self) -> None:
        rng = np.random.default_rng(3)
        found = [
            (luck_of(scores), np.ptp(scores.mean(axis=1)))
            for scores in (rng.normal(size=60) + 0.1 * rng.normal(size=(9, 60)) for _ in range(300))
        ]
        errors, ranges = np.array(found).T
        assert errors.mean() == pytest.approx(0.1 / np.sqrt(60), rel=0.02)
        expected = range_by_luck(9, errors.mean())
        assert ranges.mean() == pytest.approx(expected, rel=0.05)


class TestArenas:
    def test_prediction_is_an_arena_for_every_domain(self, cars_db: Path, plugins) -> None:
        arena: Arena = plugins.get("arena", "accuracy")
        from cbr.spec import Spec

        check_arena(arena.contest(cars_db, Spec("accuracy", {"block": 7})), dimensions=6)
        with pytest.raises(BadValue, match="last from 0 to 1"):
            arena.contest(cars_db, Spec("accuracy", {"last": 2}))

    def test_a_plain_arena_has_no_options(self, cbr, cars_db: Path, with_arenas, tmp_path) -> None:
        answer = cbr("evolve", cars_db, "--arena", "broken?loud=1", "--out", tmp_path / "w.json",
                     *with_arenas)  # fmt: skip
        assert answer.code == 2
        assert "arena 'broken' has no options; leave out 'loud'" in answer.err

    def test_a_contest_is_checked(self) -> None:
        good = Contest(lambda weights, blocks, seed: np.ones((len(weights), blocks)) * seed)
        check_arena(good, dimensions=3)
        with pytest.raises(AssertionError, match="a row depends on the others"):
            check_arena(Contest(_ranked), dimensions=3)
        check_arena(Contest(_ranked, together=True), dimensions=3)


def _ranked(weights: np.ndarray, blocks: int, seed: int) -> np.ndarray:
    return np.repeat(weights.sum(axis=1).argsort().argsort()[:, None], blocks, axis=1) * 1.0


class TestCars:
    """The example domain evolves its weights on prediction accuracy."""

    @pytest.mark.long
    @pytest.mark.parametrize("plan", ["robust", "genetic"])
    def test_better_than_weights_by_which_nobody_can_predict(
        self, cbr, cars_db: Path, plugins, tmp_path: Path, plan: str
    ) -> None:
        with Casebase.open(cars_db, write=True) as base:
            set_weights(base, "price=0,age=0,mileage=0,power=0,fuel=1,owners=0")
        size = {
            "robust": ["--population", 10, "--generations", 5, "--set", "duel=600,spread=2"],
            "genetic": ["--generations", 4, "--runs", 2],
        }[plan]
        answer = cbr(
            "evolve", cars_db, "--arena", "accuracy", "--plan", plan, *size, "--hands", 200,
            "--report", 800, "--out", tmp_path / "w.json", "--plugin", CARS_PLUGIN, "--json",
        )  # fmt: skip
        assert answer.code == 0, answer.err
        [_, own, *_] = answer.json["judged"]
        assert own["name"] == "the casebase's own"
        assert own["behind"]["mean"] - own["behind"]["ci95"] > 0
        assert own["behind"]["mean"] > 0.05
        made = Weights.load(tmp_path / "w.json")
        assert made.domain == "car"
        told = made.provenance
        assert told["made_by"] == "cbr evolve"
        assert told["seed"] == 0
        assert told["plan"]["name"] == plan
        with Casebase.open(cars_db) as base:
            assert told["digest"] == {"car": base.digest("car")}
        query = cbr("query", cars_db, "--case", "price=7000", "--weights", tmp_path / "w.json",
                    "--plugin", CARS_PLUGIN)  # fmt: skip
        assert query.code == 0


def evolved(cbr, cars_db: Path, out: Path, *more: object) -> dict:
    """What came out of a quick search, without what may differ: names of files."""
    answer = cbr("evolve", cars_db, *QUICK, "--out", out, *more, "--json")
    assert answer.code == 0, answer.err
    return {k: v for k, v in answer.json.items() if k not in {"out", "run", "use"}}


def run_rows(path: Path) -> list[tuple]:
    """All that a run file says of what happened, but for times."""
    with sqlite3.connect(path) as db:
        return [
            *db.execute("SELECT * FROM individuals ORDER BY run, generation, individual"),
            *db.execute("SELECT run, generation, best, spread, notes FROM generations "
                        "ORDER BY run, generation"),
            *db.execute("SELECT run, generation, step, digest, scores FROM questions "
                        "ORDER BY run, generation, step"),
        ]  # fmt: skip


#: A command that kills itself instead of playing one more piece after some.
KILLED = """
import os, signal, sys
from cbr.cli import main
from cbr.evolve import run

left, play = int(sys.argv.pop(1)), run.play_piece

def played(piece):
    global left
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return play(piece)

run.play_piece = played
main()
"""


class TestRuns:
    def test_robust_finds_the_ideal(self, cbr, cars_db, with_arenas, tmp_path) -> None:
        found = evolved(cbr, cars_db, tmp_path / "w.json", "--set", "duel=400,spread=0.5,learn=0",
                        "--generations", 8, *with_arenas)  # fmt: skip
        weights = found["weights"]["car"]
        assert weights["price"] == max(weights.values()) == 100
        assert weights["power"] > 3 * weights["mileage"]
        assert all(one["behind"]["mean"] > 0 for one in found["judged"][1:])
        assert [one["name"] for one in found["judged"]] == [
            "evolved", "the casebase's own", "random"
        ]  # fmt: skip

    def test_robust_begins_with_what_the_cases_teach(
        self, cbr, cars_db, with_arenas, tmp_path
    ) -> None:
        words = ["--set", "duel=40,learn=20,patience=1", "--generations", 1]
        found = evolved(cbr, cars_db, tmp_path / "w.json", *words, *with_arenas)
        names = [one["name"] for one in found["judged"]]
        assert names == ["evolved", "the casebase's own", "learned", "random"]
        with RunFile.open(tmp_path / "w.run.db") as run:
            row = run.settings["starts"]["learned"]
        learned = cbr("learn-weights", cars_db, "--steps", 20, "--out", tmp_path / "l.json",
                      "--plugin", CARS_PLUGIN, "--json").json  # fmt: skip
        assert row == list(learned["weights"]["car"].values())
        # Whoever names weights has those.
        given = evolved(cbr, cars_db, tmp_path / "x.json", "--start", tmp_path / "l.json", *words,
                        *with_arenas)  # fmt: skip
        assert [one["name"] for one in given["judged"]][2:] == ["l", "random"]

    def test_starts_of_one_name_are_told_apart(self, cbr, cars_db, with_arenas, tmp_path) -> None:
        given = []
        for place, price in (("a", 10), ("b", 90)):
            (tmp_path / place).mkdir()
            given += ["--start", tmp_path / place / "random.json"]
            Weights({"car": {"price": price}}, "car").save(given[-1])
        words = ["--generations", 1, "--set", "duel=40,patience=1"]
        found = evolved(cbr, cars_db, tmp_path / "w.json", *given, *words, *with_arenas)
        names = [one["name"] for one in found["judged"]]
        assert names[2:] == [str(given[1]), str(given[3]), "random"]

    def test_it_stops_when_nothing_separates(self, cbr, cars_db, with_arenas, tmp_path) -> None:
        ideal = {"price": 50, "age": 5, "mileage": 5, "power": 30, "fuel": 5, "owners": 5}
        start = tmp_path / "ideal.json"
        Weights({"car": ideal}, "car").save(start)
        words = ["--generations", 40, "--population", 6, "--set", "patience=2,duel=100"]
        found = evolved(cbr, cars_db, tmp_path / "w.json", "--start", start, *words, *with_arenas)
        assert found["generations"] == 3
        assert found["weights"]["car"]["price"] == pytest.approx(50)
        assert found["judged"][2]["name"] == "ideal"
        assert found["judged"][2]["behind"] == {"mean": 0.0, "ci95": 0.0}

    @pytest.mark.long
    @pytest.mark.parametrize(
        "plan", [["--plan", "genetic", "--runs", 3, "--generations", 3], ROBUST_QUICK]
    )
    def test_workers_change_nothing(self, cbr, cars_db, with_arenas, tmp_path, plan) -> None:
        one = evolved(cbr, cars_db, tmp_path / "one.json", *plan, *with_arenas)
        two = evolved(cbr, cars_db, tmp_path / "two.json", *plan, "--workers", 3, *with_arenas)
        assert one == two
        assert run_rows(tmp_path / "one.run.db") == run_rows(tmp_path / "two.run.db")
        other = evolved(cbr, cars_db, tmp_path / "x.json", *plan, "--seed", 5, *with_arenas)
        assert other["weights"] != one["weights"]

    @pytest.mark.long
    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
    @pytest.mark.parametrize(
        ("plan", "pieces"),
        [
            (["--plan", "genetic", "--runs", 2, "--generations", 4], (7, 4)),
            (ROBUST_QUICK, (12, 12)),
        ],
    )
    def test_killed_and_resumed(self, cbr, cars_db, with_arenas, tmp_path, plan, pieces) -> None:
        words = ["evolve", cars_db, "--arena", "toy", "--hands", 40, "--report", 200,
                 *plan, *with_arenas]  # fmt: skip
        run = tmp_path / "killed.run.db"
        counts = []
        for count in pieces:  # it is killed in the middle of a generation, after so many pieces
            words_of_it = [*words, "--out", tmp_path / "killed.json", "--resume"]
            process = subprocess.run(
                [sys.executable, "-c", KILLED, str(count), *map(str, words_of_it)],
                stdout=subprocess.DEVNULL,
                timeout=600,
            )
            assert process.returncode == -signal.SIGKILL
            with RunFile.open(run) as kept:
                counts.append(kept.count())
        assert 0 < counts[0] < counts[1]
        assert not (tmp_path / "killed.json").exists()
        answer = cbr(*words, "--out", tmp_path / "killed.json", "--resume", "--workers", 2)
        assert answer.code == 0, answer.err
        whole = cbr(*words, "--out", tmp_path / "whole.json")
        assert whole.code == 0
        assert run_rows(run) == run_rows(tmp_path / "whole.run.db")
        assert json.loads((tmp_path / "killed.json").read_text()) == json.loads(
            (tmp_path / "whole.json").read_text()
        )
        # Over is over: it says the same again, or judges the same weights by more deals.
        again = cbr(*words, "--out", tmp_path / "killed.json", "--resume")
        assert again.out == answer.out
        words[words.index("--report") + 1] = 300
        more = cbr(*words, "--out", tmp_path / "killed.json", "--resume")
        assert "on 300 fresh turns" in more.out

    @pytest.mark.long
    def test_a_run_is_not_gone_on_with_by_mistake(
        self, cbr, cars_db, with_arenas, tmp_path
    ) -> None:
        out = tmp_path / "w.json"
        words = [*QUICK, *ROBUST_QUICK, "--out", out, *with_arenas]
        assert cbr("evolve", cars_db, *words).code == 0
        for more, sentence in (
            ([], "w.run.db exists already; --resume continues it, or name another"),
            (["--resume", "--seed", 1], "was started with seed 0, not 1;"),
            (["--resume", "--objective", "worst"], "started with objective 'mean', not 'worst'"),
            (["--resume", "--runs", 2], "was started with runs of plan 1, not 2;"),
        ):
            answer = cbr("evolve", cars_db, *words, *more)
            assert answer.code == 2
            assert sentence in answer.err
            assert len(answer.err.strip().splitlines()) == 1
        with Casebase.open(cars_db, write=True) as base, base.transaction():
            case = {"price": 1, "age": 2, "mileage": 3, "power": 4, "fuel": "diesel", "owners": 1,
                    "model": "x"}  # fmt: skip
            base.add("car", {k: [v] for k, v in case.items()}, ["buy"], [None], [None], [0])
        answer = cbr("evolve", cars_db, *words, "--resume")
        assert answer.code == 2
        assert "was started with car of casebase" in answer.err

    @pytest.mark.long
    def test_several_arenas(self, cbr, cars_db, with_arenas, tmp_path) -> None:
        both = ["--arena", "other", "--population", 8, "--generations", 6, *with_arenas,
                "--set", "duel=400,rounds=2,spread=0.6"]  # fmt: skip
        mean = evolved(cbr, cars_db, tmp_path / "m.json", *both)
        worst = evolved(cbr, cars_db, tmp_path / "w.json", *both, "--objective", "worst")
        own = mean["weights"]["car"]
        assert min(own["price"], own["age"]) > max(own["fuel"], own["owners"])
        assert mean["fresh_turns"] == worst["fresh_turns"] == 400
        assert mean["judged"] != worst["judged"]

    def test_extra_genes(self, cbr, cars_db, with_arenas, tmp_path) -> None:
        answer = cbr(
            "evolve", cars_db, "--arena", "settled", "--hands", 40, "--report", 100,
            "--generations", 8, "--set", "duel=100,spread=0.6", "--out", tmp_path / "w.json",
            *with_arenas, "--json",
        )  # fmt: skip
        assert answer.json["genes"]["knob"] == pytest.approx(2.0, abs=0.5)
        assert answer.json["use"].startswith("use ")
        told = Weights.load(tmp_path / "w.json").provenance
        assert told["genes"] == answer.json["genes"]


class TestBadInput:
    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["--plan", "casper"], "no plan 'casper'"),
            (["--arena", "toys"], "no arena 'toys'; did you mean 'toy'?"),
            (["--arena", "toy?speed=3"], "no parameter of 'toy' named 'speed'"),
            (["--arena", "elsewhere"], "arena 'elsewhere' is for casebases of moon"),
            (["--arena", "toy", "--arena", "accuracy"], "score in different units"),
            (["--objective", "best"], "objective 'best'; it is mean or worst"),
            (["--set", "sigma=1"], "no setting of plan 'robust' 'sigma'"),
            (["--set", "duel=-5"], "duel=-5 of plan 'robust' must be 1 or more"),
            (["--set", "separate=nan"], "separate=nan of plan 'robust' must be 0 or more"),
            (["--set", "separate=inf"], "separate=inf of plan 'robust' must be 0 or more"),
            (["--set", "rounds=60"], "rounds=60: each has twice the trials; 10 at most"),
            (["--set", "report=0"], "report of plan 'robust' is 0; it must be at least 1"),
            (["--set", "spread=inf"], "spread=inf of plan 'robust' must be above 0"),
            (["--set", "runs=2", "--runs", "3"], "'runs' is given twice"),
            (["--start", "nowhere.json"], "no set or file of weights 'nowhere.json'"),
            (["--arena", "broken"], "arena 'broken' failed: RuntimeError: the dog ate it"),
            (["--run", "/nowhere/run.db"], "/nowhere is no folder"),
        ],
    )
    def test_one_sentence(self, cbr, cars_db, with_arenas, tmp_path, words, sentence) -> None:
        arena = [] if "--arena" in words else ["--arena", "toy"]
        answer = cbr("evolve", cars_db, *arena, *words, "--out", tmp_path / "w.json", *with_arenas)
        assert answer.code == 2
        assert sentence in answer.err
        assert len(answer.err.strip().splitlines()) == 1
        assert not (tmp_path / "w.json").exists()

    def test_weights_and_run_are_two_files(self, cbr, cars_db, with_arenas, tmp_path) -> None:
        one = tmp_path / "w.json"
        answer = cbr("evolve", cars_db, *QUICK, "--out", one, "--run", one, *with_arenas)
        assert answer.code == 2
        assert "cannot be both the weights and the run" in answer.err
        assert not one.exists()

    def test_chances_are_finite(self) -> None:
        with pytest.raises(BadValue, match="none above 1e9"):
            plan_named("genetic").changed({"population": 4, "copies": 0, "pairs": 2,
                                           "chances": "inf/1/2/3"})  # fmt: skip

    def test_two_processes_on_one_run(self, tmp_path) -> None:
        asked = ScoreRequest(np.ones((1, 2)), 10, 0, (1, 1, 0))
        question = ((1, 1, 0), asked, np.ones((1, 1, 3)))
        with RunFile.create(tmp_path / "r.db", {}) as run:
            run.keep([question], None, 1.0)
            with pytest.raises(BadValue, match="another process is continuing"):
                run.keep([question], None, 1.0)

    def test_what_is_no_run_file(self, cbr, cars_db, tmp_path) -> None:
        (tmp_path / "text.db").write_text("hello" * 100)
        for path, sentence in (
            (cars_db, "is no run file of `cbr evolve`"),
            (tmp_path / "text.db", "is no run file"),
            (tmp_path / "none.db", "no run file"),
        ):
            answer = cbr("evolve-report", path)
            assert answer.code == 2
            assert sentence in answer.err

    def test_a_run_of_another_version(self, cbr, cars_db, with_arenas, tmp_path) -> None:
        words = ["evolve", cars_db, *QUICK, *ROBUST_QUICK, "--out", tmp_path / "w.json",
                 *with_arenas]  # fmt: skip
        assert cbr(*words).code == 0
        with sqlite3.connect(tmp_path / "w.run.db") as db:
            db.execute("UPDATE questions SET digest = 'x' WHERE generation = 1")
        answer = cbr(*words, "--resume")
        assert answer.code == 2
        assert "made by another version" in answer.err


@pytest.mark.long
class TestReport:
    def test_tables_and_pictures(self, cbr, cars_db, with_arenas, tmp_path) -> None:
        out = tmp_path / "w.json"
        genetic = ["--plan", "genetic", "--runs", 2, "--generations", 3]
        evolved(cbr, cars_db, out, *genetic, *with_arenas)
        answer = cbr("evolve-report", tmp_path / "w.run.db", "--plot", tmp_path / "p", "--json")
        assert answer.code == 0, answer.err
        found = answer.json
        assert [(one["run"], one["generation"]) for one in found["generations"]] == [
            (run, number) for run in (1, 2, 3) for number in (1, 2, 3)
        ]
        for one in found["generations"]:
            assert one["range"] >= 0
            assert one["range_by_luck"] > 0
            assert one["individuals"] == 9
        assert len(found["steps"]) == 3
        assert found["result"]["judged"][0]["name"] == "evolved"
        names = {"spread", "scores", "convergence", "weights", "judged"}
        assert {Path(path).stem for path in found["drawn"]} == names
        for path in found["drawn"]:
            assert Path(path).read_bytes()[:4] == b"\x89PNG"
        plain = cbr("evolve-report", tmp_path / "w.run.db")
        assert "range by luck" in plain.out
        assert "Weights" in plain.out

    def test_races_have_duels(self, cbr, cars_db, with_arenas, tmp_path) -> None:
        evolved(cbr, cars_db, tmp_path / "w.json", *ROBUST_QUICK, *with_arenas)
        with RunFile.open(tmp_path / "w.run.db") as run:
            report = report_of(run)
        first, *rest = report.generations
        assert first.notes["champion"] == "the casebase's own"
        assert all(one.notes["duel_blocks"] >= 5 for one in rest)
        assert any(one.notes["replaced"] for one in rest)
        # Only those who got further have more blocks.
        with RunFile.open(tmp_path / "w.run.db") as run:
            last = [one for one, _ in run.generations()][-1]
        assert sorted({len(scores) for scores in last.scores[:-1]}) == [4, 12]
        assert len(last.scores[0]) == 12  # the champion's
        answer = cbr("evolve-report", tmp_path / "w.run.db", "--plot", tmp_path / "p", "--json")
        assert "duels.png" in {Path(path).name for path in answer.json["drawn"]}

    def test_a_run_that_has_just_begun(self, cbr, tmp_path, plugins, cars_db) -> None:
        settings = {"plan": GENETIC.settings(), "arenas": ["toy"], "objective": "mean", "seed": 0,
                    "casebase": {}, "unit": "points", "trial": "turn", "published": {},
                    "stages": {"car": ["price"]}}  # fmt: skip
        RunFile.create(tmp_path / "r.db", settings).close()
        assert cbr("evolve-report", tmp_path / "r.db").code == 0
        answer = cbr("evolve-report", tmp_path / "r.db", "--plot", tmp_path / "p")
        assert answer.code == 2
        assert "has no generation yet" in answer.err


def test_the_progress_line() -> None:
    from cbr.cli.commands.evolve import progress_line
    from cbr.evolve.record import Generation

    rows, scores = np.ones((2, 3)), [np.array([0.5, 0.7]), np.array([0.1, 0.1])]
    last = Generation(1, 4, rows, ["a", "b"], scores, 0)
    line = progress_line(SearchProgress(4, 10, last, 5_000, 20.0, "turn"), since=4)
    assert line == "generation 4 of 10, best +0.600, spread 0.500, 250 turns/s, 0:30 left"


def test_a_worker_that_dies_is_named(cars_db, plugins, tmp_path) -> None:
    from concurrent.futures import BrokenExecutor

    class Broken:
        def submit(self, *_: object) -> None:
            raise BrokenExecutor

    plan = GENETIC.changed({"generations": 1})
    with pytest.raises(CbrError, match="--resume continues from the last generation"):
        evolve(cars_db, plan, run=tmp_path / "r.db", arenas=["accuracy"], pool=Broken())


class TestCluster:
    @pytest.mark.long
    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
    def test_a_worker_is_killed_in_mid_generation(
        self, cars_db, plugin_file, tmp_path: Path
    ) -> None:
        """A real scheduler and two worker processes on loopback; the run ends with the weights that
        it has without the accident."""
        use_plugins(Plugins().load([CARS_PLUGIN, plugin_file(ARENAS, "arenas.py")]))
        plan = GENETIC.changed({"generations": 4, "trials": 200, "report": 100})
        arenas = ["toy?wait=0.1"]
        alone = evolve(cars_db, plan, run=tmp_path / "1.db", arenas=arenas)
        killed: list[int] = []
        with cluster(tmp_path) as (address, workers), executor(dask=address) as pool:

            def tell(told: SearchProgress) -> None:
                # A generation is 20 blocks in five pieces, of 1,800 turns for nine rows.
                if told.over == 1 and told.trials > 1_800 and not killed:
                    killed.append(told.trials)
                    os.kill(workers[0].pid, signal.SIGKILL)

            two = evolve(cars_db, plan, run=tmp_path / "2.db", arenas=arenas, pool=pool, tell=tell)
            assert workers[0].wait(600) == -signal.SIGKILL
        assert 1_800 < killed[0] < 3_600
        assert alone.weights.stages == two.weights.stages
        assert alone.judged == two.judged
        assert run_rows(tmp_path / "1.db") == run_rows(tmp_path / "2.db")


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """A scheduler and two workers, each a process of its own."""
    from distributed import Client

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address, here = f"tcp://127.0.0.1:{port}", ["--host", "127.0.0.1", "--no-dashboard"]
    started: list[subprocess.Popen] = []

    def start(module: str, *words: str) -> subprocess.Popen:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *words, *here]
        quiet = subprocess.DEVNULL
        started.append(subprocess.Popen(command, cwd=folder, stdout=quiet, stderr=quiet))
        return started[-1]

    try:
        start("dask_scheduler", "--port", str(port))
        end = time.monotonic() + 600
        while not _answers(port):
            assert time.monotonic() < end, "the scheduler does not start"
            time.sleep(0.05)
        workers = [start("dask_worker", address, "--no-nanny", "--nthreads", "1") for _ in "ab"]
        with Client(address, timeout=600) as client:
            client.wait_for_workers(2, timeout=600)
        yield address, workers
    finally:
        for process in started:
            process.kill()
            process.wait(600)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
