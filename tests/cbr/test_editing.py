"""`cbr delete`, `cbr revise` and `cbr history`."""

from __future__ import annotations

from pathlib import Path

import pytest

from cbr.building import build, rebuild
from cbr.plugging import Plugins
from cbr.store import Casebase
from cbr.upkeep import check


@pytest.fixture
def teas(tmp_path: Path) -> Path:
    lines = [
        f"{i % 9 + 1},{('black', 'green')[i % 2]},{('weak', 'good')[i // 10]}" for i in range(20)
    ]
    table = tmp_path / "teas.csv"
    table.write_text("minutes,leaf,taste\n" + "\n".join(lines) + "\n")
    return table


@pytest.fixture
def file(teas: Path, cbr) -> Path:
    out = teas.with_suffix(".db")
    assert cbr("build", teas, "--solution", "taste", "--out", out).code == 0
    return out


def test_cases_are_deleted_by_number_and_by_condition(file: Path, cbr) -> None:
    assert cbr("delete", file, "3", "7-9").out == "4 cases deleted: 3, 7, 8, 9\n"
    tried = cbr("delete", file, "--where", "leaf=green,taste=weak", "--dry-run")
    assert tried.out == "4 cases to delete: 2, 4, 6, 10\n"
    assert cbr("delete", file, "--where", "minutes<=1", "--json").json["cases"] == [1, 10, 19]
    assert cbr("delete", file, "--where", "minutes>99").out == "0 cases deleted\n"
    with Casebase.open(file) as base:
        assert base.count("teas") == 13
    assert list(check(file)) == []


def test_deleted_cases_do_not_come_back_until_the_table_replaces_them(
    file: Path, teas: Path, cbr
) -> None:
    cbr("delete", file, "3")
    assert "0 new rows, 20 known" in cbr("build", teas, "--out", file, "--solution", "taste").out
    rebuild(file)
    with Casebase.open(file) as base:
        assert [case.id for case in base.cases("teas", [2, 3, 4])] == [2, 4]
    cbr("build", teas, "--out", file, "--solution", "taste", "--replace")
    with Casebase.open(file) as base:
        assert base.count("teas") == 20


def test_a_case_is_revised_and_its_history_told(file: Path, cbr) -> None:
    done = cbr("revise", file, 5, "--set", "minutes=7.5,leaf=", "--solution", "good", "--json")
    assert done.json["before"]["minutes"] == 5
    assert done.json["after"] == {"minutes": 7.5, "solution": "good", "outcome": None}
    cbr("revise", file, 5, "--outcome", "2", "--note", "told later")
    told = cbr("history", file, 5, "--json").json["changes"]
    assert [(one["what"], one["before"].get("leaf"), one["note"]) for one in told] == [
        ("revised", "black", ""),
        ("revised", None, "told later"),
    ]
    rebuild(file)  # its row says otherwise
    with Casebase.open(file) as base:
        [case] = base.cases("teas", [5])
        assert (case.values, case.solution, case.outcome) == ({"minutes": 7.5}, "good", 2.0)
    assert list(check(file)) == []


def test_a_revised_solution_stays_with_its_record(file: Path, cbr) -> None:
    cbr("revise", file, 5, "--solution", "good", "--no-history")
    with Casebase.open(file) as base:
        assert base.places("teas").shape == (20, 3)
        assert "history" not in base.db.table_names()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["delete"], "name the cases to delete"),
        (["delete", "3", "--where", "minutes=2"], "name the cases to delete"),
        (["delete", "three"], "'three' is no number of a case"),
        (["delete", "99"], "has no case 99"),
        (["revise", "5"], "nothing to change"),
        (["revise", "99", "--solution", "good"], "has no case 99"),
        (["revise", "5", "--solution", "bitter"], "no solution 'bitter'"),
        (["revise", "5", "--set", "minute=3"], "did you mean 'minutes'"),
        (["revise", "5", "--set", "minutes=long"], "minutes is 'long', not a number"),
    ],
)
def test_wrong_orders_change_nothing(file: Path, cbr, words: list[str], said: str) -> None:
    before = file.read_bytes()
    command, *rest = words
    done = cbr(command, file, *rest)
    assert done.code == 2
    assert said in done.err
    assert file.read_bytes() == before


def test_computed_features_follow_a_revision(tmp_path: Path) -> None:
    import cbr as engine
    from cbr.plugging.plugins import use_plugins
    from cbr.upkeep import change

    class Plugin:
        @staticmethod
        @engine.hook
        def cbr_case_types():
            double = engine.Feature(
                "double", range=(0, 20), compute=lambda rows: 2 * rows["minutes"]
            )
            minutes = engine.Feature("minutes", range=(0, 10))
            return [engine.CaseType("tea", [minutes, double], ["weak", "good"])]

    table = tmp_path / "tea.csv"
    table.write_text("minutes,solution\n1,weak\n4,good\n")
    plugins = Plugins().load()
    plugins.add(Plugin, "teas")
    build([table], tmp_path / "tea.db", "tea", plugins=plugins)
    use_plugins(plugins)
    try:
        with Casebase.open(tmp_path / "tea.db", write=True) as base:
            assert change(base, "tea", 1, {"minutes": 3}).values == {"minutes": 3, "double": 6}
            with pytest.raises(engine.BadValue, match="double is computed"):
                change(base, "tea", 1, {"double": 3})
    finally:
        use_plugins(Plugins().load())
