"""The engine as a Python program uses it: `cbr.open`, `cbr.build`, `Casebase`, `Nearest`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import cbr
from cbr import BadValue, Casebase, CbrError, Feature
from cbr.errors import AlreadyThere, OutsideTransaction

ROWS = {
    "Price (EUR)": [4000 + 100 * (i * 7 % 40) for i in range(40)],
    "fuel": [("diesel", "petrol", None)[i % 3] for i in range(40)],
    "note": [f"<b>{i}</b>" for i in range(40)],
    "answer": ["buy" if i * 7 % 40 < 22 else "leave" for i in range(40)],
    "earned": [float(i % 4) for i in range(40)],
}


@pytest.fixture
def base() -> Iterator[Casebase]:
    with cbr.build(ROWS, solution="answer", outcome="earned", name="deals") as made:
        yield made


def test_a_casebase_is_a_collection_of_its_cases(base: Casebase) -> None:
    assert len(base) == 40
    assert [case.id for case in base] == list(range(1, 41))
    assert base[0].values == {"price": 4000.0, "fuel": "diesel", "note": "<b>0</b>"}
    assert base[-1].id == 40
    assert [case.id for case in base[2:8:3]] == [3, 6]
    assert [case.id for case in base[::-1]][:2] == [40, 39]
    assert len(base[:1000]) == 40
    with pytest.raises(IndexError, match="there are 40 cases"):
        base[40]
    assert repr(base) == "<Casebase :memory:: 40 deals cases>"


def test_an_empty_casebase_is_still_one() -> None:
    case_type = cbr.CaseType("t", [Feature("x", range=(0, 1))], ["a", "b"])
    with Casebase.in_memory(case_type) as empty:
        assert len(empty) == 0
        assert bool(empty)
        assert empty[:] == []


def test_numbers_are_shown_as_they_were_written(base: Casebase) -> None:
    case_type = cbr.CaseType("t", [Feature("x", range=(0, 1))], ["a"])
    with Casebase.in_memory(case_type) as made:
        made.add({"x": [0.1, 5.1], "solution": ["a", "a"]})
        assert [case.values["x"] for case in made] == [0.1, 5.1]


def test_nearest_answers_and_shows_itself(base: Casebase) -> None:
    found = base.nearest({"price (eur)": "4,300", "fuel": "diesel"}, k=3)
    assert found.target == {"price": 4300.0, "fuel": "diesel"}
    assert found.solution == "buy"
    assert len(found) == 3
    assert found.similarities == sorted(found.similarities, reverse=True)
    assert [case.id for case in found] == [case.id for case in found.cases]
    first, second, *_ = repr(found).splitlines()
    assert first.startswith("answer: buy (100%), by the 3 nearest of 40 cases")
    assert "Price (EUR)" in second
    assert len(repr(found).splitlines()) == 5
    assert "<b>" not in found._repr_html_()
    assert "&lt;b&gt;" in found._repr_html_()


def test_nearest_gives_a_frame_an_explanation_and_a_figure(base: Casebase, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    found = base.nearest({"price": 4300}, k=3)
    frame = found.to_pandas()
    assert list(frame.columns) == ["similarity", "Price (EUR)", "fuel", "note", "answer", "earned"]
    assert frame.index.tolist() == [case.id for case in found]
    explained = found.explain()
    assert "Retrieved 3 cases by top?k=3" in repr(explained)
    assert explained.to_dict()["solution"] == "buy"
    figure = found.plot(tmp_path / "answer.png")
    assert figure._repr_png_()[:4] == (tmp_path / "answer.png").read_bytes()[:4] == b"\x89PNG"
    assert base.to_pandas().shape == (40, 5)


def test_a_row_of_a_frame_is_a_situation(base: Casebase) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS)
    row = frame[["Price (EUR)", "fuel"]].iloc[2]
    assert base.nearest(row, k=1).target == {"price": 5400.0}
    with pytest.raises(CbrError, match=r"no feature 'prize'; did you mean 'price'\? there is"):
        base.nearest({"prize": 4000})
    with pytest.raises(BadValue, match="int is no situation"):
        base.nearest(7)


def test_many_situations_are_predicted_at_once(base: Casebase) -> None:
    found = base.predict(ROWS, policy="top?k=3")
    alone = [base.query({"price": ROWS["Price (EUR)"][i]}, policy="top?k=3") for i in (2, 5)]
    assert [found.solutions[i] for i in (2, 5)] == [one.solution for one in alone]
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    assert repr(found).startswith("40 predictions\nsolution  probability")


def test_rows_are_added_in_a_transaction_of_their_own(base: Casebase) -> None:
    more = {name: column[:2] for name, column in ROWS.items()}
    assert base.add(more) == 2
    assert base.add(more) == 2  # the same rows are other cases
    assert len(base) == 44
    wrong = {**more, "answer": ["buy", "perhaps"]}
    with pytest.raises(BadValue, match="row 2 cannot be a case: answer is 'perhaps'"):
        base.add(wrong)
    assert len(base) == 44


def test_a_forgotten_transaction_raises(base: Casebase) -> None:
    columns = {"price": [1], "fuel": ["diesel"], "note": [""]}
    with pytest.raises(OutsideTransaction, match=r"with casebase\.transaction"):
        base.add("deals", columns, ["buy"], [None], [None], [0])
    with base.transaction():
        base.add("deals", columns, ["buy"], [None], [None], [0])
    assert len(base) == 41


def test_cases_are_updated_and_deleted_with_their_history(base: Casebase) -> None:
    after = base.update(3, {"Price (EUR)": 9000, "fuel": "petrol"}, solution="leave", note="typo")
    assert (after.id, after.values["price"], after.solution, after.outcome) == (3, 9000, "leave", 2)
    assert base.update(3, {"fuel": None}, outcome=None).values == {
        "price": 9000,
        "note": "<b>2</b>",
    }
    assert base.delete(where="price>8999,fuel=") == 1
    assert base.delete([1, 2]) == 2
    assert base.delete(where="answer=leave,earned>=3") == 4
    assert len(base) == 33
    told = [(one.what, one.before["price"], one.note) for one in base.history(3)]
    assert told == [("revised", 5400, "typo"), ("revised", 9000, ""), ("deleted", 9000, "")]
    with pytest.raises(BadValue, match="no case 3"):
        base.update(3, {"price": 1})
    with pytest.raises(BadValue, match="name the cases to delete"):
        base.delete()


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("prize>3", "no column 'prize'; did you mean 'price'"),
        ("price", "is not COLUMN=VALUE"),
        ("fuel>diesel", "asks for an order of texts"),
        ("price>much", r"Price \(EUR\) is 'much', not a number"),
        ("fuel=coal", "it must be one of diesel, petrol"),
        ("1=1;drop table meta", "no column '1'"),
        (" , ", "--where is empty"),
    ],
)
def test_conditions_are_checked(base: Casebase, where: str, said: str) -> None:
    with pytest.raises(CbrError, match=said):
        base.delete(where=where)
    assert len(base) == 40


def test_history_is_left_out_if_wished(base: Casebase) -> None:
    base.delete(4, history=False)
    assert base.history() == []


def test_upkeep_and_learning_are_methods(base: Casebase) -> None:
    assert base.retain({"price": 4700, "fuel": "petrol"}, "buy", 2.0) == 41
    assert base.refine("noise", k=3).cases == 41
    assert base.evaluate(folds=4, queries=40).asked > 30
    weights = base.learn_weights(steps=2, keep=True)
    assert base.case_types[0].feature("price").weight == weights.stages["deals"]["price"]


def test_a_frame_is_built_into_a_file_once(tmp_path: Path) -> None:
    out = tmp_path / "deals.db"
    cbr.build(ROWS, out, solution="answer").close()
    with cbr.open(out) as base:
        assert len(base) == 40
        assert base.add({name: column[:1] for name, column in ROWS.items()}) == 1
    with cbr.open(out, write=False) as base, pytest.raises(BadValue, match="for reading only"):
        base.delete(1)
    with pytest.raises(AlreadyThere, match=r"cbr\.open"):
        cbr.build(ROWS, out, solution="answer")
    with pytest.raises(BadValue, match="has one row"):
        raise BadValue("has one row") if cbr.describe(ROWS) else AssertionError


def test_frames_of_pandas_and_polars_give_the_same_casebase() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    digests = set()
    for data in (ROWS, pandas.DataFrame(ROWS), polars.DataFrame(ROWS)):
        with cbr.build(data, solution="answer") as made:
            digests.add(made.digest("table"))
    rows = [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]
    with cbr.build(rows, solution="answer") as made:
        digests.add(made.digest("table"))
    assert len(digests) == 1


def test_ordered_categories_of_a_frame_are_ordered() -> None:
    pandas = pytest.importorskip("pandas")
    sizes = pandas.Categorical(["b", "a", "c"] * 5, ["c", "a", "b"], ordered=True)
    frame = pandas.DataFrame({"size": sizes, "x": range(15), "y": ["u", "v", "w"] * 5})
    with cbr.build(frame, solution="y") as made:
        assert made.case_types[0].feature("size").values == ("c", "a", "b")
        assert made.case_types[0].feature("size").similarity == "ordered"


def test_pandas_is_not_needed() -> None:
    """What needs it says so; all else works without, and the command line needs no numpy."""
    program = """
import sys
sys.modules["pandas"] = sys.modules["sklearn"] = None
import cbr
base = cbr.build({"x": [1, 2, 3, 9], "y": ["a", "a", "b", "b"]}, solution="y")
print(base.nearest({"x": 1}, k=1).solution)
for need in (lambda: base.to_pandas(), lambda: __import__("cbr.sklearn")):
    try:
        need()
    except cbr.CbrError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "a",
        "a frame needs the package pandas: pip install pandas",
        "cbr.sklearn needs the package scikit-learn: pip install scikit-learn",
    ], done.stderr


def test_retrieval_is_prepared_once_for_many_questions(base: Casebase, monkeypatch) -> None:
    from cbr.retrieval import retriever

    made = []
    kept = retriever.retriever_of
    monkeypatch.setattr(retriever, "retriever_of", lambda *a, **b: made.append(b) or kept(*a, **b))
    for price in (4000, 5000, 6000):
        base.nearest({"price": price}, k=3)
    assert len(made) == 1
    base.nearest({"price": 4000}, k=3, weights={"price": 2, "fuel": 1})
    assert len(made) == 2
    base.update(1, {"price": 9999})
    assert base.nearest({"price": 9999}, k=1)[0].id == 1
    assert len(made) == 3


def test_what_may_not_be_missing_is_refused_in_a_sentence() -> None:
    case_type = cbr.CaseType("t", [Feature("x", range=(0, 1)), Feature("y", values="ab")], ["a"])
    with Casebase.in_memory(case_type) as made:
        made.add({"x": [0.1], "y": ["a"], "solution": ["a"]})
        for row, said in (({"y": "a"}, "column 'x' is missing"), ({"x": 1}, "column 'y'")):
            with pytest.raises(BadValue, match=f"row 1 cannot be a case: {said}"):
                made.add([row | {"solution": "a"}])
        for columns, said in (
            ({"x": [None], "y": ["a"]}, "x is missing, and may not be"),
            ({"x": [0.5], "y": [None]}, "y is missing, and may not be"),
            ({"x": [0.5]}, "no column 'y' is given"),
        ):
            with pytest.raises(BadValue, match=said), made.transaction():
                made.add("t", columns, ["a"], [None], [None], [0])
        assert len(made) == 1


def test_a_whole_row_of_a_frame_may_be_asked_about(base: Casebase) -> None:
    pandas = pytest.importorskip("pandas")
    row = pandas.DataFrame(ROWS).iloc[3]
    assert base.nearest(row, k=1)[0].id == 4
    with pytest.raises(BadValue, match="'answer' is no part of a question"):
        base.nearest({"price": 4000, "answer": "buy"})


def test_an_evaluation_shows_itself_as_the_command_does(base: Casebase) -> None:
    found = base.evaluate(folds=4)
    assert repr(found).startswith("deals: 40 cases predicted (4 folds of records), each from 30")
    assert "accuracy" in found._repr_html_()
