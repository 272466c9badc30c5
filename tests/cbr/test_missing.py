"""Cases that lack values of features, and solutions that are numbers: how they are kept."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import cbr
from cbr.building.pipeline import build
from cbr.case import CaseType, Feature, Number
from cbr.errors import BadValue, NoSuchName
from cbr.plugging.plugins import Plugins, use_plugins
from cbr.store.casebase import Casebase
from cbr.upkeep.soundness import check

AREA = Feature("area", range=(20, 200), missing="expected")
HEATING = Feature("heating", values=("gas", "wood"))
FLATS = CaseType(
    "flat",
    [AREA, HEATING, Feature("street", indexed=False)],
    solution=Number(range=(0, 5000), unit="EUR"),
    missing="ignore",
)
HEADER = "area,heating,street,solution\n"
TABLE = """area,heating,street,solution
80,gas,Elm,900
,wood,,1200
90,,Oak,1000
80,gas,Elm,950
,,Ash,700
,,Fir,710
"""


@pytest.fixture
def flats(tmp_path: Path) -> Path:
    """A casebase of flats, most of which lack something."""
    use_plugins(Plugins().load([_plugin(tmp_path)]))
    (tmp_path / "flats.csv").write_text(TABLE)
    build([tmp_path / "flats.csv"], tmp_path / "flats.db", "flat")
    return tmp_path / "flats.db"


def _plugin(folder: Path) -> Path:
    path = folder / "flats.py"
    path.write_text(
        "import cbr\n\n\n@cbr.hook\ndef cbr_case_types():\n"
        "    area = cbr.Feature('area', range=(20, 200), missing='expected')\n"
        "    heating = cbr.Feature('heating', values=('gas', 'wood'))\n"
        "    street = cbr.Feature('street', indexed=False)\n"
        "    price = cbr.Number(range=(0, 5000), unit='EUR')\n"
        "    return [cbr.CaseType('flat', [area, heating, street], solution=price, "
        "missing='ignore')]\n"
    )
    return path


def test_the_rule_of_a_case_type_is_that_of_features_without_one() -> None:
    assert [f.missing for f in FLATS.features] == ["expected", "ignore", ""]
    assert FLATS.numeric
    assert FLATS.reuse == "mean"
    assert CaseType.from_json(FLATS.to_json()) == FLATS


def test_definitions_without_missing_values_are_stored_as_before() -> None:
    plain = CaseType("car", [Feature("price", range=(0, 9))], ["buy", "leave"])
    assert '"missing"' not in plain.to_json()
    assert '"solution"' not in plain.to_json()
    assert not plain.numeric


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Feature("x", range=(0, 1), missing="guess"), "rule for missing values"),
        (lambda: Feature("x", indexed=False, missing="ignore"), "is text"),
        (lambda: Feature("x", range=(0, 1), missing="ignore", private=True), "is private"),
        (lambda: CaseType("t", [AREA], ["a"], solution=Number()), "names classes"),
        (lambda: CaseType("t", [AREA]), "needs solutions"),
        (lambda: CaseType("t", [AREA], solution=4.0), "cbr.Number()"),  # type: ignore[arg-type]
        (lambda: Number(range=(2, 1)), "range of 'solution'"),
        (
            lambda: CaseType(
                "t", [AREA, Feature("p", range=(0, 1), private=True)], solution=Number()
            ),
            "private",
        ),
    ],
)
def test_a_wrong_definition_is_refused(make, says: str) -> None:
    with pytest.raises((BadValue, NoSuchName), match=says.replace("(", r"\(").replace(")", r"\)")):
        make()


def test_missing_values_are_kept(flats: Path) -> None:
    with Casebase.open(flats) as base:
        found = [(case.values, case.solution) for case in base.cases("flat")]
        vectors = base.vectors("flat")
        spread = base.spread("flat")
    assert found[1] == ({"heating": "wood", "street": ""}, 1200.0)
    assert found[4] == ({"street": "Ash"}, 700.0)
    # Equal vectors are one, missing values included; a missing value comes after all others.
    nan = math.nan
    wanted = np.array([[80, 0], [90, nan], [nan, 1], [nan, nan]], np.float32)
    np.testing.assert_array_equal(vectors.values, wanted)
    assert vectors.counts.tolist() == [[2], [1], [1], [2]]
    assert vectors.case_numbers is not None
    assert vectors.case_numbers.tolist() == [900, 950, 1000, 1200, 700, 710]
    assert spread == {"least": 700, "mean": 910, "most": 1200}


def test_a_casebase_with_missing_values_is_sound(flats: Path) -> None:
    assert not check(flats)


def test_the_digest_follows_removal(flats: Path) -> None:
    with Casebase.open(flats, write=True) as base:
        with base.transaction():
            base.remove("flat", [2, 3, 5])
        one = base.digest("flat")
        with base.transaction():
            base.remove("flat", [6])
        assert base.digest("flat") != one
    assert not check(flats)


def test_a_missing_value_has_a_digest_of_its_own() -> None:
    from cbr.store.digest import sum_of_rows

    def of(*cells: object) -> int:
        return sum_of_rows(FLATS, [[cell] for cell in (*cells, "Elm", 1.0)])  # type: ignore[list-item]

    assert of(math.nan, None) == of(None, None)
    assert len({of(None, "gas"), of(0.0, "gas"), of(0.0, None), of(0.0, "None")}) == 4


def test_what_may_not_be_missing_is_refused(tmp_path: Path, plugins: Plugins) -> None:
    header = "model,price,age,mileage,power,fuel,owners,solution\n"
    (tmp_path / "gaps.csv").write_text(
        header + "A,5000,3,,90,diesel,1,buy\nB,9000,3,80,90,diesel,1,buy\n"
    )
    report = build([tmp_path / "gaps.csv"], tmp_path / "gaps.db", "car")
    assert list(report.skipped) == ["mileage is missing"]


@pytest.mark.parametrize("price", ["", "nan", "inf", "-1e39", "dear"])
def test_a_solution_that_is_no_number_is_refused(flats: Path, price: str) -> None:
    (flats.parent / "more.csv").write_text(f"{HEADER}1,gas,Elm,1\n80,gas,Elm,{price}\n")
    report = build([flats.parent / "more.csv"], flats)
    assert sum(report.skipped.values()) == 1
    with Casebase.open(flats, write=True) as base, base.transaction(), pytest.raises(BadValue):
        columns = {"area": [80.0], "heating": ["gas"], "street": ["Elm"]}
        base.add("flat", columns, [price], [None], [None], [0])


def test_a_value_that_is_too_large_is_not_a_missing_one(flats: Path) -> None:
    (flats.parent / "more.csv").write_text(f"{HEADER}1,gas,Elm,1\n1e39,gas,Elm,1\n")
    report = build([flats.parent / "more.csv"], flats)
    assert [reason.startswith("area is") for reason in report.skipped] == [True]


def test_cases_without_values_are_exported_and_built_again(flats: Path) -> None:
    from cbr.store.exports import export

    export(flats, "csv", flats.parent / "out")
    text = (flats.parent / "out" / "flat.csv").read_text()
    assert "2,2,0,,wood,,1200.0," in text
    build([flats.parent / "out" / "flat.csv"], flats.parent / "again.db", "flat")
    with Casebase.open(flats) as one, Casebase.open(flats.parent / "again.db") as two:
        assert one.digest("flat") == two.digest("flat")


def test_number_is_public() -> None:
    assert cbr.Number is Number
