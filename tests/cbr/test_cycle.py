"""The whole cycle on a domain without cards, with the public API."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import numpy as np
import pytest
from conftest import CARS_PLUGIN

from cbr.building.recomputation import rebuild
from cbr.errors import BadValue, NoSuchName
from cbr.plugging.plugins import Plugins, use_plugins
from cbr.retrieval.retriever import retrieve, retriever_of
from cbr.reusing.explanation import explain
from cbr.reusing.proposal import reuse
from cbr.store.casebase import Casebase
from cbr.store.definitions import complete
from cbr.testing import small_casebase
from cbr.upkeep.refinement import refine
from cbr.upkeep.retention import can_retain, retain
from cbr.upkeep.revision import revise
from cbr.upkeep.soundness import check

CAR = {"price": 7000, "age": 6, "mileage": 90, "power": 90, "fuel": "diesel", "owners": 1}

COST = """
import cbr
@cbr.feature("cost", case_type="car", range=(0, 9000))
def cost(cars): return cars["price"] / (1 + cars["age"])
"""


def test_the_cycle(cars: Casebase) -> None:
    retrieved = retrieve(cars, "car", CAR)
    proposal = reuse(retrieved)
    assert sum(proposal.probabilities.values()) == pytest.approx(1)
    revision = revise(retrieved, proposal.solution, outcome=3.0)
    before = cars.count("car"), cars.digest("car"), cars.write_version
    number = retain(cars, "car", revision)
    assert number == before[0] + 1
    assert cars.count("car") == number
    assert cars.digest("car") != before[1]
    assert cars.write_version == before[2] + 1
    again = retrieve(cars, "car", CAR)
    assert again.similarity[0] == 1.0
    assert number in again.case_ids(0)
    found = refine(retriever_of(cars, "car"))
    assert 0 < len(found.drop) < found.cases
    with cars.transaction():
        cars.remove("car", found.drop)
    assert cars.count("car") == found.cases - len(found.drop)
    assert check(cars.path) == []


class TestExplain:
    def test_contributions_add_up_to_the_similarity(self, cars: Casebase) -> None:
        retrieved = retrieve(cars, "car", {k: v for k, v in CAR.items() if k != "power"})
        answer = explain(retrieved, reuse(retrieved), most=100)
        assert answer.unknown == ["power"]
        for near in answer.neighbours:
            assert sum(near.contribution.values()) == pytest.approx(near.similarity)
            assert near.local["power"] is None
            assert near.contribution["power"] == 0
            case = next(cars.cases("car", near.case_ids[:1]))
            assert near.values == {n: case.values[n] for n in near.values}

    def test_the_nearest_other_has_another_solution(self, cars: Casebase) -> None:
        retrieved = retrieve(cars, "car", CAR, policy="top?k=1")
        answer = explain(retrieved, reuse(retrieved))
        assert answer.nearest_other is not None
        assert list(answer.nearest_other.cases) != [answer.solution]
        everything = retrieve(cars, "car", CAR, policy="radius?above=0")
        similarity = everything.similarity
        other = [
            i
            for i in range(len(similarity))
            if everything.counts[i].argmax() != list(answer.probabilities).index(answer.solution)
        ]
        assert answer.nearest_other.similarity == pytest.approx(similarity[other[0]])

    def test_there_may_be_no_other(self, tmp_path: Path) -> None:
        with small_casebase(tmp_path) as base:
            with base.transaction():
                base.remove("small", [case.id for case in base.cases("small") if case.id > 3])
            retrieved = retrieve(base, "small", {"x": 1})
            assert explain(retrieved, reuse(retrieved)).nearest_other is None


class TestRevise:
    def test_expected_and_surprise(self, tmp_path: Path) -> None:
        with small_casebase(tmp_path) as base:
            retrieved = retrieve(base, "small", {"x": 1}, policy="top?k=3")
            revision = revise(retrieved, "low", 4.0)
            # Three cases tie for the two places left, so each counts two thirds.
            assert revision.expected == pytest.approx((1 + 0 * 2 / 3 + 2 * 2 / 3) / (1 + 4 / 3))
            assert revision.surprise == pytest.approx(4.0 - revision.expected)
            assert revision.most_similar == 1.0
            unknown = revise(retrieved, "high")
            assert (unknown.expected, unknown.surprise, unknown.most_similar) == (None, None, 0.0)
            with pytest.raises(NoSuchName, match="'lo'"):
                revise(retrieved, "lo")
            with pytest.raises(BadValue, match="finite"):
                revise(retrieved, "low", float("inf"))


class TestRetain:
    @pytest.mark.parametrize(
        ("rule", "x", "outcome", "kept"),
        [
            ("always", 1, None, True),
            ("novel", 1, None, False),
            ("novel", 1.5, None, True),
            ("novel?above=0.9", 1.5, None, False),
            ("earned", 1, 2.0, True),
            ("earned", 1, 0.0, False),
            ("earned?above=3", 1, 2.0, False),
        ],
    )
    def test_rules(self, tmp_path: Path, rule: str, x: float, outcome, kept: bool) -> None:
        with small_casebase(tmp_path) as base:
            revision = revise(retrieve(base, "small", {"x": x}), "low", outcome)
            assert can_retain(revision, rule) == kept
            number = retain(base, "small", revision, rule)
            assert (number is not None) == kept
            assert base.count("small") == 9 + kept

    def test_an_unknown_rule_is_refused(self, tmp_path: Path) -> None:
        with small_casebase(tmp_path) as base:
            revision = revise(retrieve(base, "small", {"x": 1}), "low")
            with pytest.raises(BadValue, match="'earned' needs an outcome"):
                retain(base, "small", revision, "earned")
            with pytest.raises(NoSuchName, match="'never'"):
                retain(base, "small", revision, "never")

    def test_half_a_case_is_not_kept(self, cars: Casebase) -> None:
        revision = revise(retrieve(cars, "car", {"age": 6}), "buy")
        with pytest.raises(BadValue, match="'price' is missing"):
            retain(cars, "car", revision)

    def test_a_retained_case_can_be_rebuilt(self, cars: Casebase, plugin_file) -> None:
        number = retain(cars, "car", revise(retrieve(cars, "car", CAR), "buy", 2.5))
        digest = cars.digest("car")
        cars.close()
        rebuild(cars.path)
        with Casebase.open(cars.path) as base:
            assert base.digest("car") == digest
        rebuild(cars.path, "+cost", plugins=Plugins().load([CARS_PLUGIN, plugin_file(COST)]))
        with Casebase.open(cars.path) as base:
            [case] = base.cases("car", [number])
            assert case.values["cost"] == 1000
        assert check(cars.path) == []

    def test_what_only_a_retained_case_has_is_not_dropped(self, cars: Casebase) -> None:
        retain(cars, "car", revise(retrieve(cars, "car", CAR), "buy", 2.5))
        cars.close()
        with pytest.raises(BadValue, match=r"1 retained case of 'car' .* 'price'"):
            rebuild(cars.path, "-price")
        assert check(cars.path) == []

    def test_computed_features_follow_from_the_others(self, cars_db: Path, plugin_file) -> None:
        plugins = Plugins().load([CARS_PLUGIN, plugin_file(COST)])
        rebuild(cars_db, "+cost", plugins=plugins)
        with Casebase.open(cars_db) as base:
            case_type = base.case_type("car")
        assert complete(case_type, {"price": 7000, "age": 6}, plugins)["cost"] == 1000
        with pytest.raises(
            BadValue, match="cost is given as 5, but the other features make it 1000"
        ):
            complete(case_type, {"price": 7000, "age": 6, "cost": 5}, plugins)
        assert complete(case_type, {"price": 7000, "age": 6, "cost": 1000}, plugins)["cost"] == 1000
        assert "cost" not in complete(case_type, {"price": 7000}, plugins)
        assert complete(case_type, {"cost": 5}, Plugins().load()) == {"cost": 5}

    @pytest.mark.long
    def test_several_processes_retain_at_once(self, cars_db: Path, plugins: Plugins) -> None:
        context = multiprocessing.get_context("spawn")
        workers = [context.Process(target=_retain_some, args=(cars_db, n)) for n in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
        assert [worker.exitcode for worker in workers] == [0, 0, 0]
        with Casebase.open(cars_db) as base:
            assert base.count("car") == 400 + 3 * 8
        assert check(cars_db) == []

    @pytest.mark.long
    def test_several_processes_retain_what_is_new_once(self, cars_db: Path) -> None:
        """While they also read, and each with what the others kept before it."""
        context = multiprocessing.get_context("spawn")
        workers = [context.Process(target=_retain_new, args=(cars_db,)) for _ in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
        assert [worker.exitcode for worker in workers] == [0, 0, 0]
        with Casebase.open(cars_db) as base:
            assert base.count("car") == 400 + 8
        assert check(cars_db) == []


def _retain_new(path: Path) -> None:
    use_plugins(Plugins().load([CARS_PLUGIN]))
    with Casebase.open(path, write=True) as base:
        for step in range(8):
            case = CAR | {"price": 1000 + 300 * step, "power": 200}
            with base.transaction():
                retrieved = retrieve(base, "car", case, policy="top?k=5")
                retain(base, "car", revise(retrieved, "buy", 1.0), "novel")


def _retain_some(path: Path, seed: int) -> None:
    use_plugins(Plugins().load([CARS_PLUGIN]))
    with Casebase.open(path, write=True) as base:
        for step in range(8):
            case = CAR | {"price": 1000 * seed + step, "power": 50 + seed}
            retain(base, "car", revise(retrieve(base, "car", case, policy="top?k=1"), "buy", 1.0))


class TestRefine:
    def test_noise_is_what_its_neighbours_contradict(self, tmp_path: Path) -> None:
        """x = 2 holds one low and one middle; with three neighbours middle is outvoted there."""
        with small_casebase(tmp_path) as base:
            with base.transaction():
                high = ["high"] * 3
                base.add("small", {"x": [1, 8, 9]}, high, [0.0] * 3, [None] * 3, range(3))
            found = refine(retriever_of(base, "small"), "noise", k=3)
            assert found.drop == [4, 10]
            assert found.accuracy_after >= found.accuracy_before

    def test_the_last_case_of_a_solution_stays(self, tmp_path: Path) -> None:
        with small_casebase(tmp_path) as base:
            with base.transaction():
                base.remove("small", [8, 9])
                base.add("small", {"x": [5]}, ["high"], [0.0], [None], [9])
            [last] = [case.id for case in base.cases("small") if case.solution == "high"]
            found = refine(retriever_of(base, "small"), "noise", k=3)
            assert last not in found.drop
            assert found.drop == [4]

    @pytest.mark.long
    def test_what_is_left_solves_every_case(self, cars: Casebase) -> None:
        """Condensing keeps the answer of the nearest case for all that it drops."""
        mine = retriever_of(cars, "car", policy="top?k=1")
        found = refine(mine, "redundant")
        dropped = list(cars.cases("car", found.drop))
        assert dropped
        with cars.transaction():
            cars.remove("car", found.drop)
        left = retriever_of(cars, "car", policy="top?k=1")
        for case in dropped:
            near = left({n: case.values[n] for n in CAR})
            code = near.case_type.solutions.index(case.solution)
            assert near.counts.sum(0)[code] == near.counts.sum(0).max()

    def test_an_unknown_method_is_refused(self, cars: Casebase) -> None:
        with pytest.raises(NoSuchName, match="'nois'; did you mean 'noise'"):
            refine(retriever_of(cars, "car"), "nois")


def test_arenas_are_checked() -> None:
    from cbr.evolve.arena import Arena
    from cbr.testing import check_arena

    def play(weights, blocks, seed):
        luck = np.stack([np.random.default_rng([seed, b]).normal() for b in range(blocks)])
        return weights.sum(1)[:, None] + luck

    check_arena(Arena("sum", play), dimensions=4)
    rng = np.random.default_rng(1)
    for wrong, says in [
        (lambda w, b, s: play(w, b, s).T, "gave"),
        (lambda w, b, s: play(w, b, s) + rng.normal(), "other scores"),
        (lambda w, b, s: play(w, b, s) * b, "later ones"),
        (lambda w, b, s: play(w, b, s) - w.sum(), "the others"),
        (lambda w, b, s: play(w, b, s) * np.nan, "finite"),
    ]:
        with pytest.raises(AssertionError, match=says):
            check_arena(Arena("wrong", wrong), dimensions=4)
