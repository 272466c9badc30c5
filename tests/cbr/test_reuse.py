"""Reuse for many targets at once, and estimated values of solutions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cbr import build
from cbr.case import CaseType, Feature
from cbr.errors import BadValue, NoSuchName
from cbr.retrieval.retriever import retriever_of
from cbr.reusing.proposal import reuse, reuse_many
from cbr.store.casebase import Casebase
from cbr.upkeep.soundness import check

TYPE = CaseType(
    "made", [Feature("x", range=(0, 10))], ["left", "right", "wait"], retrieval="top?k=3"
)


@pytest.fixture
def base(tmp_path: Path):
    with Casebase.create(tmp_path / "made.db", [TYPE]) as base:
        with base.transaction():
            xs = [0.0, 1.0, 2.0, 8.0, 9.0, 10.0]
            solution = ["left", "left", "right", "right", "right", "wait"]
            outcome = [1.0, 3.0, -2.0, 4.0, None, 0.5]
            base.add("made", {"x": xs}, solution, outcome, [None] * 6, range(6))
        yield base


POLICIES = ["proportional", "majority", "similarity-weighted", "best-outcome", "outcome-weighted"]


@pytest.mark.parametrize("policy", [*POLICIES, "outcome-weighted?temperature=0.5"])
@pytest.mark.parametrize("allowed", [None, ("left", "right"), ("right", "wait")])
def test_many_at_once_is_one_after_the_other(base, policy: str, allowed) -> None:
    mine = retriever_of(base, "made")
    codes = np.array([[0.5], [5.0], [9.0]])
    legal = None
    if allowed:
        legal = np.array([name in allowed for name in TYPE.solutions])
    found = reuse_many(mine.many(codes), policy, allowed=legal)
    assert found.sum(axis=1) == pytest.approx(np.ones(3))
    for row, [x] in zip(found, codes.tolist(), strict=True):
        one = reuse(mine({"x": x}), policy, allowed=allowed)
        assert row == pytest.approx(list(one.probabilities.values()))


def test_where_nothing_retrieved_is_allowed_all_is_as_likely(base) -> None:
    many = retriever_of(base, "made").many(np.array([[0.5], [9.5]]))
    legal = np.array([False, False, True])
    assert reuse_many(many, allowed=legal).tolist() == [[0, 0, 1], [0, 0, 1]]
    with pytest.raises(BadValue, match="no allowed solution"):
        reuse_many(many, allowed=np.zeros(3, bool))
    with pytest.raises(BadValue, match="no solution is allowed"):
        reuse(many[0], allowed=())


def test_outcomes_weigh(base) -> None:
    """Left earned 2 on average, right -2, each as cold as the temperature says."""
    got = retriever_of(base, "made")({"x": 1.0})
    shares = reuse(got, "outcome-weighted?temperature=2").probabilities
    assert shares["left"] / shares["right"] == pytest.approx(2 * np.exp(2))
    with pytest.raises(BadValue, match="temperature is 0"):
        reuse(got, "outcome-weighted?temperature=0")


class TestValues:
    def put(self, base, **values: float) -> None:
        with base.transaction():
            for solution, value in values.items():
                base.put_values("made", [1, 2, 3], solution, [value] * 3, [0.1] * 3)

    def test_the_best_value_wins_whatever_was_done(self, base) -> None:
        self.put(base, left=-1.0, right=0.5, wait=2.0)
        got = retriever_of(base, "made")({"x": 1.0})
        assert got.mean_value().tolist() == [-1.0, 0.5, 2.0]
        assert reuse(got, "best-value").solution == "wait"
        assert reuse(got, "best-value", allowed=["left", "right"]).solution == "right"
        many = retriever_of(base, "made").many(np.array([[1.0]]))
        assert reuse_many(many, "best-value").tolist() == [[0, 0, 1]]

    @pytest.mark.parametrize("policy", ["best-value", "worth"])
    def test_values_count_where_nothing_allowed_was_done(self, base, policy: str) -> None:
        self.put(base, left=-1.0, right=0.5, wait=2.0)
        mine = retriever_of(base, "made", policy="top?k=1")  # one that went left
        one = reuse(mine({"x": 0.0}), policy, allowed=["right", "wait"])
        assert one.solution == "wait"
        assert one.probabilities["wait"] > 0.99
        # Those beside it have cases to go by, or neither cases nor values.
        codes, legal = np.array([[0.0], [2.0], [10.0]]), np.array([False, True, True])
        found = reuse_many(mine.many(codes), policy, allowed=[legal, legal, [True, True, False]])
        assert found[0] == pytest.approx(list(one.probabilities.values()))
        assert found[1].argmax() == 2
        assert found[2].tolist() == [0.5, 0.5, 0.0]

    def test_who_has_no_values_is_no_trouble_to_others(self, base) -> None:
        """Cases 1 to 3 have values; the target at 9 finds others, and does as they did."""
        self.put(base, left=-1.0, right=0.5, wait=2.0)
        mine, codes = retriever_of(base, "made"), np.array([[1.0], [9.0]])
        found = reuse_many(mine.many(codes), "best-value")
        assert found.tolist() == [[0, 0, 1], pytest.approx([0, 2 / 3, 1 / 3])]
        assert reuse(mine({"x": 9.0}), "best-value").solution == "right"
        with base.transaction():
            base.db.execute("UPDATE cases_made SET outcome = NULL WHERE id > 3")
        found = reuse_many(retriever_of(base, "made").many(codes), "best-outcome")
        assert found.tolist() == [[1, 0, 0], pytest.approx([0, 2 / 3, 1 / 3])]

    def test_a_lone_value_compares_with_nothing(self, base) -> None:
        self.put(base, wait=-1.0)
        one = retriever_of(base, "made", policy="top?k=1")({"x": 0.0})
        shares = reuse(one, "worth", allowed=["right", "wait"]).probabilities
        assert list(shares.values()) == [0.0, 0.5, 0.5]
        assert reuse(one, "worth").probabilities["left"] == 1.0  # which was done

    def test_mixed_with_imitation(self, base) -> None:
        self.put(base, left=-1.0, right=0.5)
        got = retriever_of(base, "made")({"x": 1.0})
        mixed = reuse(got, "best-value?imitate=0.3").probabilities
        assert mixed["left"] == pytest.approx(0.3 * 2 / 3)
        assert mixed["right"] == pytest.approx(0.7 + 0.3 / 3)

    def test_without_values_it_says_so(self, base) -> None:
        got = retriever_of(base, "made")({"x": 1.0})
        assert np.isnan(got.mean_value()).all()
        with pytest.raises(BadValue, match="no case has estimated values"):
            reuse(got, "best-value")
        with pytest.raises(BadValue, match="imitate is 2"):
            reuse(got, "best-value?imitate=2")

    def test_values_go_with_their_case_and_leave_the_digest_alone(self, base) -> None:
        before = base.digest("made")
        self.put(base, left=1.0)
        self.put(base, left=3.0)  # a better estimate takes the place of an older one
        assert base.digest("made") == before
        assert base.db.table("solution_values").count == 3
        assert retriever_of(base, "made")({"x": 1.0}).mean_value()[0] == 3.0
        with base.transaction():
            base.remove("made", [1])
        assert base.db.table("solution_values").count == 2
        assert check(base.path) == []
        with base.transaction():
            base.db.execute("UPDATE solution_values SET case_id = 77 WHERE case_id = 2")
        [finding] = check(base.path)
        assert "1 values of solutions refer to cases of 'made' that do not exist" in finding

    def test_values_of_nothing_are_refused(self, base) -> None:
        with base.transaction():
            with pytest.raises(NoSuchName, match="'jump'"):
                base.put_values("made", [1], "jump", [1.0])
            with pytest.raises(BadValue, match="no case 99"):
                base.put_values("made", [99], "left", [1.0])
            with pytest.raises(BadValue, match="is nan"):
                base.put_values("made", [1], "left", [float("nan")])


def test_cases_vote_even_if_none_is_similar() -> None:
    colour = Feature("colour", values=("red", "green"))
    fields = {"colour": ["red"] * 3, "solution": ["a", "a", "b"]}
    case_type = CaseType("t", [colour], ["a", "b"], reuse="similarity-weighted")
    with build(fields, case_type=case_type) as base:
        answer = base.nearest({"colour": "green"}, k=3)
        assert answer.similarities == [0.0, 0.0, 0.0]
        assert answer.probabilities == pytest.approx({"a": 2 / 3, "b": 1 / 3})
        many = base.predict({"colour": ["green"]}, policy="top?k=3").probabilities
        np.testing.assert_allclose(many, [[2 / 3, 1 / 3]])
