"""Refining against the plain definitions, and the competence report."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbr.case import CaseType, Feature
from cbr.measure import Similarity
from cbr.retrieval.index.base import Scan
from cbr.retrieval.index.tree import TreeIndex
from cbr.retrieval.policies import RetrievalPolicy, top
from cbr.retrieval.ranking import capped, millionths
from cbr.retrieval.retriever import Retriever
from cbr.store.arrays import Cases
from cbr.store.casebase import Casebase
from cbr.upkeep.competence_model import competence
from cbr.upkeep.neighbours import Neighbours
from cbr.upkeep.refinement import METHODS, Refinement, refine

SOLUTIONS = ("a", "b", "c")
LINEAR = Similarity("linear", lambda a, b: max(0.0, 1.0 - abs(a - b) / 10))


def made(rows: list[tuple], record: list[int] | None = None, tree: bool = False):
    """A retriever and its cases, numbered from 1: rows are feature values and a solution."""
    *columns, solution = zip(*rows, strict=True)
    features = [Feature(f"x{place}", range=(0, 10)) for place in range(len(columns))]
    number = np.arange(1, len(rows) + 1)
    cases = Cases(
        CaseType("made", features, SOLUTIONS),
        "",
        np.array(columns, np.float32).T.copy(),
        np.array([SOLUTIONS.index(s) for s in solution]),
        np.full(len(rows), np.nan),
        number,
        -number if record is None else np.array(record),
    )
    vectors = cases.vectors()
    measures = [LINEAR.bind(feature) for feature in features]
    policy: RetrievalPolicy = top.__cbr__  # type: ignore[attr-defined]
    index = TreeIndex(vectors, measures) if tree else Scan(vectors)
    weights = np.arange(1.0, len(features) + 1)
    return Retriever(vectors, measures, weights, policy, index), cases


def run(rows: list[tuple], method: str, k: int = 3, record=None, tree=False) -> Refinement:
    retriever, cases = made(rows, record, tree)
    return refine(retriever, method, k, cases=cases)


class Slow:
    """The definitions, case by case, comparing each with all others."""

    def __init__(self, retriever: Retriever, cases: Cases, k: int) -> None:
        everything = np.arange(len(retriever.vectors))
        place = {tuple(row): v for v, row in enumerate(retriever.vectors.values.tolist())}
        self.vector = [place[tuple(row)] for row in cases.values.tolist()]
        self.level = [
            millionths(retriever.score(row, retriever.weights, everything))
            for row in retriever.vectors.values
        ]
        self.cases, self.k = cases, k
        self.solution = cases.solution.tolist()
        self.all = list(range(len(cases)))
        #: By vector, then solution, then number.
        self.order = sorted(self.all, key=lambda c: (self.vector[c], self.solution[c], c))

    def votes(self, vector: int, others: list[int], k: int) -> list[Fraction]:
        votes = [Fraction(0)] * len(SOLUTIONS)
        groups: dict[int, list[int]] = {}
        for case in others:
            groups.setdefault(int(self.level[vector][self.vector[case]]), []).append(case)
        room = k
        for level in sorted(groups, reverse=True):
            share = min(Fraction(1), Fraction(room, len(groups[level])))
            for case in groups[level]:
                votes[self.solution[case]] += share
            room -= min(room, len(groups[level]))
            if not room:
                break
        return votes

    def asked(self, case: int, left: list[int]) -> list[Fraction]:
        record = self.cases.record
        others = [other for other in left if record[other] != record[case]]
        return self.votes(self.vector[case], others, self.k)

    def accuracy(self, left: list[int]) -> float:
        """A draw among those that are equally common is right as often as it is drawn."""
        right = Fraction(0)
        for case in self.all:
            votes = self.asked(case, left)
            if 0 < votes[self.solution[case]] == max(votes):
                right += Fraction(1, votes.count(max(votes)))
        return float(right / len(self.all))

    def noise(self) -> list[int]:
        left = list(self.all)
        while True:
            wrong = []
            for case in left:
                votes = self.asked(case, left)
                if votes[self.solution[case]] < max(votes):
                    wrong.append(case)
            stays = {self.solution[case] for case in set(left) - set(wrong)}
            wrong = [case for case in wrong if self.solution[case] in stays]
            if not wrong:
                return left
            left = [case for case in left if case not in wrong]

    def redundant(self) -> list[int]:
        left = [next(c for c in self.order if self.solution[c] == s) for s in set(self.solution)]
        grown = True
        while grown:
            grown = False
            for case in self.order:
                votes = self.votes(self.vector[case], left, 1)
                same = any(
                    (self.vector[c], self.solution[c]) == (self.vector[case], self.solution[case])
                    for c in left
                )
                if not same and votes[self.solution[case]] < max(votes):
                    left.append(case)
                    grown = True
        return left


@pytest.mark.parametrize("k", [1, 3, 10])
def test_votes_are_cut_as_retrieved_sets_are(k: int) -> None:
    """The compiled count of votes, in whole numbers, against the one definition of the cap."""
    rng = np.random.default_rng(k)
    rows = [(*rng.integers(0, 4, 2).tolist(), SOLUTIONS[rng.integers(3)]) for _ in range(60)]
    retriever, cases = made(rows, rng.integers(0, 25, 60).tolist())
    near = Neighbours(retriever, k, cases)
    _, chance = near.judge_all(near.all_cases())
    vectors, everything = retriever.vectors, np.arange(len(retriever.vectors))
    place = {int(number): at for at, number in enumerate(cases.ids)}
    for at, number in enumerate(vectors.case_ids.tolist()):
        case = place[number]
        others = cases.take(cases.record != cases.record[case])
        counts = np.zeros_like(vectors.counts)
        for row, solution in zip(others.values, others.solution, strict=True):
            counts[(vectors.values == row).all(axis=1), solution] += 1
        rounded = millionths(retriever.score(cases.values[case], retriever.weights, everything))
        order = np.argsort(-rounded, kind="stable")
        votes = capped(rounded[order], counts[order].sum(axis=1), k) @ counts[order]
        first = votes > votes.max() - 1e-9
        assert chance[at] == pytest.approx(first[cases.solution[case]] / first.sum())


def agrees(rows: list[tuple], method: str, k: int, record: list[int] | None, tree: bool) -> None:
    retriever, cases = made(rows, record, tree)
    found = refine(retriever, method, k, cases=cases)
    slow = Slow(retriever, cases, k)
    left = getattr(slow, method)()
    assert found.drop == sorted(case + 1 for case in set(slow.all) - set(left))
    assert found.accuracy_before == pytest.approx(slow.accuracy(slow.all))
    assert found.accuracy_after == pytest.approx(slow.accuracy(left))


VALUE = st.integers(0, 6)
ROWS = st.lists(st.tuples(VALUE, VALUE, st.sampled_from(SOLUTIONS)), min_size=2, max_size=30)


@pytest.mark.long
@settings(deadline=None, max_examples=60)
@given(rows=ROWS, method=st.sampled_from(["noise", "redundant"]), k=st.integers(1, 5))
def test_it_agrees_with_comparing_everything(rows: list[tuple], method: str, k: int) -> None:
    agrees(rows, method, k, None, False)


@pytest.mark.long
@settings(deadline=None, max_examples=60)
@given(data=st.data(), rows=ROWS, k=st.integers(1, 4))
def test_the_own_record_has_no_say(data: st.DataObject, rows: list[tuple], k: int) -> None:
    number = st.integers(0, len(rows) // 2)
    record = data.draw(st.lists(number, min_size=len(rows), max_size=len(rows)))
    if len(set(record)) > 1:
        agrees(rows, "noise", k, record, False)


def crowd(count: int, seed: int, solutions: str = "abc") -> list[tuple]:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 41, (2, count)) / 4
    middle = (x + y + rng.normal(0, 3, count) > 10).astype(int) + (rng.random(count) < 0.1)
    return [
        (float(a), float(b), solutions[min(s, len(solutions) - 1)])
        for a, b, s in zip(x, y, middle.tolist(), strict=True)
    ]


@pytest.mark.long
@pytest.mark.parametrize("method", ["noise", "redundant"])
@pytest.mark.parametrize("short", [False, True])
def test_lists_that_run_out_are_made_longer(method: str, short: bool, monkeypatch) -> None:
    """By the tree, and from lists of one group, so that every way of extending them is used."""
    from cbr.upkeep import neighbours
    from cbr.upkeep import refinement as module

    if short:
        monkeypatch.setattr(neighbours, "_SPARE", (1, 0))
        monkeypatch.setattr(module, "_FEW", 3)
    rows = crowd(250, 1)
    agrees(rows, method, 3, [place // 5 for place in range(len(rows))], True)


@pytest.mark.long
@settings(deadline=None, max_examples=60)
@given(rows=ROWS, method=st.sampled_from(sorted(METHODS)), k=st.integers(1, 4))
def test_every_solution_stays_and_the_figures_are_true(rows, method, k) -> None:
    found = run(rows, method, k)
    drop = set(found.drop)
    left = [number for number in range(len(rows)) if number + 1 not in drop]
    assert {rows[number][-1] for number in left} == {row[-1] for row in rows}
    retriever, cases = made(rows)
    assert found.accuracy_after == pytest.approx(Slow(retriever, cases, k).accuracy(left))
    assert found.cases == len(rows)


def line(text: str) -> list[tuple]:
    """Cases one after another along x, by their solutions."""
    return [(float(place), solution) for place, solution in enumerate(text)]


class TestBbnr:
    def test_who_misleads_and_is_not_needed_goes(self) -> None:
        """aaabaaa, k=1. Only 4, the b, is misled: by 3 and 5, which have the same liability.

        3 covers 2, which 1 solves without it (3 itself has an a and b beside it, equal first). So 3
        goes, and 5 likewise: it covers 6, which 7 solves.
        """
        found = run(line("aaabaaa"), "bbnr", 1)
        assert found.drop == [3, 5]

    def test_a_case_that_misleads_nobody_stays(self) -> None:
        assert run(line("aaabbb"), "bbnr", 1).drop == []

    def test_a_case_that_is_needed_stays(self) -> None:
        rows = [(0.0, "a"), (1.0, "a"), (2.0, "b"), (3.0, "a"), (4.0, "a"), (9.0, "b"), (9.5, "b")]
        # 3 (b) is misled by 2 and 4, which tie. 2 covers 1, whose nearest without it would be 3: it
        # stays. So does 4, for the sake of 5.
        assert run(rows, "bbnr", 1).drop == []
        # At 2.2, 3 and 4 are nearest to one another: each misleads the other. 3 covers nobody and
        # goes. 4 covers 5, whose nearest is then 2: it goes too.
        rows[2] = (2.2, "b")
        assert run(rows, "bbnr", 1).drop == [3, 4]


class TestIcf:
    def test_the_inside_goes_and_the_border_stays(self) -> None:
        """aaaaabbbbb, k=1: nobody is contradicted by both neighbours, so no noise.

        The nearest other solution of the a at x is at 5, so its sphere has radius 5 - x: a0 reaches
        all five, a1 (radius 4) 0 to 4, a2 (3) 0 to 4, a3 (2) 2 to 4, and a4 (1) itself.
        a0 is covered by 0, 1, 2; a1 by 0, 1, 2; a2 by 0 to 3; a3 by 0 to 3; a4 by all.
        So 0, 1, 2 have 5 > 3, 5 > 3, 5 > 4 and go; 3 has 3 < 4 and stays, 4 has 1 < 5. Mirrored
        for b. Then a3 a4 b5 b6: 3 reaches both and is covered by itself only: 2 > 1, it goes.
        Left are 4 and 5, which reach themselves only.
        """
        assert run(line("aaaaabbbbb"), "icf", 1).drop == [1, 2, 3, 4, 7, 8, 9, 10]

    def test_cases_in_one_place_count_each(self) -> None:
        """Three a in one place and one a between it and b: by cases, not by places.

        x=0 three times and x=1 (a), x=2.5 twice (b). The a at 0 (radius 2.5) reach all four, that
        at 1 (1.5) too. All are covered by four: nothing goes. Nor of b, whose sphere is 1.5 wide.
        """
        rows = [(0.0, "a")] * 3 + [(1.0, "a")] + [(2.5, "b")] * 2
        assert run(rows, "icf", 1).drop == []
        # With b at 2 the sphere of x=1 holds only itself, for b is as near as x=0. It is covered by
        # all four a; those at 0 reach four and are covered by three, themselves.
        rows[-2:] = [(2.0, "b")] * 2
        assert run(rows, "icf", 1).drop == [1, 2, 3]

    def test_it_begins_with_noise(self) -> None:
        rows = crowd(300, 3, "ab")
        noise, icf = (set(run(rows, method).drop) for method in ("noise", "icf"))
        assert noise
        assert noise < icf


@pytest.mark.long
@pytest.mark.parametrize("method", sorted(METHODS))
def test_tree_and_scan_drop_the_same(method: str) -> None:
    rows = crowd(600, 2)
    assert run(rows, method) == run(rows, method, tree=True)


def test_one_record_alone_is_no_record() -> None:
    rows = line("aaabbb")
    assert run(rows, "noise", record=[7] * 6) == run(rows, "noise")
    assert not run(rows, "noise").by_record
    assert run(rows, "noise", record=[1, 1, 2, 2, 3, 3]).by_record


class TestCompetence:
    @pytest.mark.long
    def test_by_hand(self) -> None:
        """aab...b: the nearest of each is the one beside it."""
        rows = [(0.0, "a"), (1.0, "a"), (3.0, "b"), (7.0, "b"), (7.5, "b"), (10.0, "c")]
        retriever, cases = made(rows)
        known = competence(retriever, 1, cases=cases)
        a, b, c = known.rows
        # 1 and 2 solve one another. 3 has 2, which is a: nobody solves it, and it solves nobody.
        assert (a.cases, a.predicted, a.pivotal, a.idle, a.coverage) == (2, 1, 0, 0, 1)
        assert (a.groups, a.largest) == (1, 2)
        assert (b.predicted, b.pivotal, b.idle) == (2 / 3, 1 / 3, 1 / 3)
        assert (b.coverage, b.most_coverage, b.groups, b.largest) == (2 / 3, 1, 2, 2)
        assert (c.predicted, c.pivotal, c.idle, c.groups) == (0, 1, 1, 1)
        assert (known.all.cases, known.all.groups, known.all.largest) == (6, 4, 2)

    def test_what_is_solved_is_what_solves(self) -> None:
        """Each pair counts once on either side, whatever ties there are."""
        rows = crowd(300, 4)
        retriever, cases = made(rows, [place // 3 for place in range(300)], tree=True)
        known = competence(retriever, 3, cases=cases)
        slow = Slow(retriever, cases, 3)
        solved = [float(slow.asked(c, slow.all)[slow.solution[c]]) for c in slow.all]
        assert known.by_record
        assert known.all.coverage == pytest.approx(np.mean(solved))
        assert known.all.pivotal == pytest.approx(np.mean([s == 0 for s in solved]))
        assert known.all.predicted == refine(retriever, "noise", cases=cases).accuracy_before


class TestCommand:
    def test_the_report(self, cbr, cars_db: Path, tmp_path: Path) -> None:
        answer = cbr("refine", cars_db, "--report", "--json").json
        assert answer["all"]["cases"] == 400
        assert {row["solution"] for row in answer["rows"]} == {"buy", "haggle", "leave"}
        plot = tmp_path / "out.png"
        shown = cbr("refine", cars_db, "--report", "--plot", plot)
        assert "pivotal" in shown.out
        assert plot.read_bytes()[:4] == b"\x89PNG"

    @pytest.mark.parametrize("method", sorted(METHODS))
    def test_every_method_can_be_applied(self, cbr, cars_db: Path, method: str) -> None:
        found = cbr("refine", cars_db, "--method", method, "--apply", "--json").json
        assert found["drop"]
        with Casebase.open(cars_db) as base:
            assert base.count("car") == 400 - len(found["drop"])
        assert cbr("check", cars_db).code == 0

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["--report", "--apply"], "--report removes nothing"),
            (["--plot", "x.png"], "--plot draws the --report"),
        ],
    )
    def test_what_does_not_go_together(self, cbr, cars_db: Path, words, says: str) -> None:
        answer = cbr("refine", cars_db, *words)
        assert answer.code == 2
        assert says in answer.err

    def test_a_stage_without_cases(self, cbr, cars_db: Path) -> None:
        with Casebase.open(cars_db, write=True) as base, base.transaction():
            base.remove("car", [case.id for case in base.cases("car")])
        for words in ([], ["--report"]):
            answer = cbr("refine", cars_db, *words)
            assert (answer.code, "has no cases" in answer.err) == (2, True)
