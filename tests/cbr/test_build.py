"""Building: batches, resuming, skipping with reasons, and features in and out."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import CARS_CSV

from cbr.building.append import Appender
from cbr.building.pipeline import build
from cbr.building.recomputation import rebuild
from cbr.building.rows import prepare
from cbr.case import Batch, CaseType, Feature, Situated
from cbr.errors import BadValue, CbrError, DifferentRecord, NoSuchName, PluginFailure
from cbr.plugging.plugins import Plugins, use_plugins
from cbr.store.casebase import Casebase
from cbr.store.definitions import case_types_of
from cbr.upkeep.soundness import check

LINES = CARS_CSV.read_text().splitlines(keepends=True)


@pytest.fixture
def make(tmp_path: Path, plugins: Plugins):
    """Build cars from text, under a name."""

    def run(text: str | bytes, name: str = "some.csv", out: str = "out.db", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return build([path], tmp_path / out, "car", **options)

    return run


def test_every_row_becomes_a_case(cars: Casebase) -> None:
    assert cars.count("car") == len(LINES) - 1
    first = next(cars.cases("car"))
    cells = LINES[1].strip().split(",")
    assert first.values["model"] == cells[0]
    assert first.values["price"] == float(cells[1])
    assert (first.solution, first.outcome) == (cells[7], float(cells[8]))
    assert check(cars.path) == []


def test_building_again_adds_only_what_is_new(make, tmp_path: Path) -> None:
    one = make("".join(LINES[:50]))
    assert (one.records, one.known, one.cases["car"]) == (49, 0, 49)
    two = make("".join(LINES[:80]))
    assert (two.records, two.known, two.cases["car"]) == (30, 49, 30)
    with Casebase.open(tmp_path / "out.db") as base:
        assert base.count("car") == 79


def test_what_a_program_appends_is_as_if_it_was_built(make, tmp_path: Path) -> None:
    """Bots retain what they see in the same way as `build` adds what it reads."""
    make("".join(LINES[:50]))
    with Casebase.open(tmp_path / "out.db") as built:
        [(_, bodies)] = built.read_records(100)
        appender = Appender(tmp_path / "seen.db", built.case_types)
        assert appender.append("seen", "table", bodies[:30]) == 30
        assert appender.append("seen", "table", bodies) == 19
        assert appender.append("seen", "table", bodies) == 0
        seen = appender.open()
        assert (seen.count("car"), seen.digest("car")) == (49, built.digest("car"))
        with pytest.raises(CbrError, match="price"):
            appender.append("seen", "table", [bodies[0].replace("price", "prize")])
        assert seen.count("car") == 49
        seen.close()
    with pytest.raises(BadValue, match="mixing selections would leave decisions missing"):
        Appender(tmp_path / "seen.db", built.case_types, "--known-only").open()


@pytest.mark.parametrize("pack", [(gzip, ".gz"), (lzma, ".xz"), (bz2, ".bz2")])
def test_a_moved_or_compressed_file_is_the_same(make, tmp_path: Path, pack) -> None:
    module, suffix = pack
    make("".join(LINES[:50]))
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / f"some.csv{suffix}").write_bytes(module.compress("".join(LINES[:50]).encode()))
    again = build([folder], tmp_path / "out.db", "car")
    assert (again.records, again.known) == (0, 49)


def test_the_same_place_with_other_content_is_an_error(make) -> None:
    make("".join(LINES[:50]))
    changed = LINES[:50]
    changed[30] = changed[31]
    with pytest.raises(DifferentRecord, match=r"some.csv line 31 was built before"):
        make("".join(changed))


def test_batches_do_not_change_the_result(make, tmp_path: Path) -> None:
    digests = set()
    for batch in (1, 7, 1000):
        make("".join(LINES[:60]), out=f"{batch}.db", batch=batch)
        with Casebase.open(tmp_path / f"{batch}.db") as base:
            digests.add(base.digest("car"))
            assert base.write_version == -(-59 // batch)
    assert len(digests) == 1


def test_what_cannot_be_used_is_kept_with_its_reason(make, tmp_path: Path) -> None:
    bad = [
        "Lupo,much,5,50,60,petrol,1,buy,1.0\n",
        "Lupo,5000,nan,50,60,petrol,1,buy,1.0\n",
        "Lupo,5000,5,50,60,coal,1,buy,1.0\n",
        "Lupo,5000,5,50,60,petrol,1,steal,1.0\n",
        "Lupo,5000,5,50,60,petrol,1,buy,lots\n",
        "Lupo,5000,5\n",
    ]
    text = "".join(LINES[:20] + bad + LINES[20:30]).encode() + b"Lu\xffpo,1,1,1,1,petrol,1,buy,1\n"
    report = make(text)
    assert report.cases["car"] == 29
    with Casebase.open(tmp_path / "out.db") as base:
        rows = list(base.db.table("skipped").rows_where(order_by="line"))
    assert [(row["line"], row["reason"]) for row in rows] == [
        (21, "price is 'much', not a number"),
        (22, "age is 'nan'; it must be a finite number, up to 3e38"),
        (23, "fuel is 'coal'; it must be one of petrol, diesel, hybrid, electric"),
        (24, "solution is 'steal'; it must be one of buy, haggle, leave"),
        (25, "outcome is 'lots', not a number"),
        (26, "3 cells under 9 column names"),
        (37, "bytes that are not UTF-8"),
    ]
    assert check(tmp_path / "out.db") == []
    assert make(text).records == 0  # and skipped once
    with pytest.raises(BadValue, match=r"some.csv line 21: price is 'much'"):
        make(text, out="strict.db", strict=True)
    assert not (tmp_path / "strict.db").exists()


def test_what_is_skipped_before_the_first_case_is_kept_too(make, tmp_path: Path) -> None:
    bad = "Lupo,much,5,50,60,petrol,1,buy,1.0\n"
    report = make(LINES[0] + bad * 3 + LINES[1], batch=1)
    assert (report.records, report.cases["car"], report.skipped.total()) == (1, 1, 3)
    with Casebase.open(tmp_path / "out.db") as base:
        assert base.db.table("skipped").count == 3
        assert base.db.table("rows").count == 1


def test_a_file_that_breaks_off_gives_what_it_holds(make, tmp_path: Path) -> None:
    whole = gzip.compress("".join(LINES).encode())
    report = make(whole[: len(whole) // 2], name="cut.csv.gz")
    assert 10 < report.cases["car"] < 400
    assert any("breaks off" in reason for reason in report.skipped)
    assert check(tmp_path / "out.db") == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no records"),
        (LINES[0], "holds no records"),
        ("price,age\n1,2\n", "line 2: column 'mileage' is missing"),
        ("\0\0\0", "is no text"),
    ],
)
def test_nothing_to_build_is_said_and_nothing_written(
    make, tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(CbrError, match=says):
        make(text)
    assert [p.name for p in tmp_path.iterdir()] == ["some.csv"]


def test_a_folder_is_read_and_the_unreadable_named(tmp_path: Path, plugins: Plugins) -> None:
    folder = tmp_path / "logs"
    (folder / "deep").mkdir(parents=True)
    shutil.copy(CARS_CSV, folder / "deep" / "cars.csv")
    (folder / "notes.txt").write_text("hello")
    report = build([folder], tmp_path / "out.db", "car")
    assert report.cases["car"] == 400
    assert [Path(path).name for path in report.unreadable] == ["notes.txt"]
    shutil.copy(CARS_CSV, folder / "cars.csv")
    with pytest.raises(BadValue, match=r"cars\.csv and .*cars\.csv have one name"):
        build([folder], tmp_path / "two.db", "car")


def test_limit_and_delimiter(make) -> None:
    assert make("".join(LINES), out="a.db", limit=25).cases["car"] == 25
    semicolons = "".join(LINES[:10]).replace(",", ";")
    assert make(semicolons, out="b.db", options={"delimiter": ";"}).cases["car"] == 9
    tabs = "".join(LINES[:10]).replace(",", "\t")
    assert make(tabs, name="some.tsv", out="c.db").cases["car"] == 9
    with pytest.raises(BadValue, match="one character"):
        make(semicolons, out="d.db", options={"delimiter": ";;"})


def test_types_are_found_by_name(plugins: Plugins) -> None:
    assert [t.name for t in case_types_of("car", plugins)] == ["car"]
    with pytest.raises(BadValue, match="give --type"):
        case_types_of("", plugins)
    with pytest.raises(NoSuchName, match="'cars'; did you mean 'car'"):
        case_types_of("cars", plugins)
    with pytest.raises(BadValue, match="no case type is loaded"):
        case_types_of("car", Plugins())


def test_several_stages_come_from_one_table(tmp_path: Path, plugin_file) -> None:
    plugin_file(
        """
import cbr

X = cbr.Feature("x", range=(0, 9))
Y = cbr.Feature("y", range=(0, 9))

@cbr.hook
def cbr_case_types():
    return [cbr.CaseType("game/open", [X], ["a", "b"]), cbr.CaseType("game/end", [X, Y], ["a"])]
"""
    )
    plugins = Plugins().load([tmp_path / "dropped.py"])
    table = tmp_path / "game.csv"
    table.write_text(
        "stage,x,y,solution\nopen,1,,a\nend,2,3,a\nopen,4,,b\nmiddle,1,1,a\nend,1,,a\n"
    )
    report = build([table], tmp_path / "game.db", "game", plugins=plugins)
    assert report.cases == {"open": 2, "end": 1}
    assert sorted(report.skipped) == [
        "stage is 'middle'; it must be one of open, end",
        "y is missing",
    ]
    found = rebuild(tmp_path / "game.db", plugins=plugins)
    assert found == ({"open": ["x"], "end": ["x", "y"]}, [])
    assert check(tmp_path / "game.db") == []


def test_other_cases_do_not_go_into_a_casebase(make, tmp_path: Path, plugins: Plugins) -> None:
    make("".join(LINES[:10]))
    with pytest.raises(BadValue, match=r"has feature 'owners', which .* `cbr rebuild`"):
        build([CARS_CSV], tmp_path / "out.db", features="-owners")
    with pytest.raises(BadValue, match="holds car cases, not cat"):
        build([CARS_CSV], tmp_path / "out.db", "cat")


def test_what_was_skipped_and_can_be_read_now_is_taken_in(
    make, tmp_path: Path, plugins: Plugins
) -> None:
    bad = "Lupo,5000,5,50,60,steam,1,buy,1.0\n"
    make("".join([*LINES[:5], bad]))
    fuel = plugins.get("case type", "car").feature("fuel")
    object.__setattr__(fuel, "values", (*fuel.values, "steam"))
    rebuild(tmp_path / "out.db", plugins=plugins)
    assert make("".join([*LINES[:5], bad])).records == 1
    with Casebase.open(tmp_path / "out.db") as base:
        assert base.count("car") == 5
        assert base.db.table("skipped").count == 0


def test_a_value_that_no_feature_can_have_costs_one_row(make, tmp_path: Path, plugin_file) -> None:
    from conftest import CARS_PLUGIN

    path = plugin_file(
        "import cbr, numpy as np\n"
        '@cbr.feature("root", case_type="car", range=(0, 9))\n'
        'def root(cars): return np.sqrt(cars["price"] - 3000)\n'
    )
    plugins = Plugins().load([CARS_PLUGIN, path])
    with np.errstate(invalid="ignore"):
        report = make("".join(LINES), features="+root", plugins=plugins)
    assert report.skipped["root is nan; it must be a finite number, up to 3e38"] > 10
    assert report.cases["car"] + report.skipped.total() == 400
    assert check(tmp_path / "out.db") == []


class TestADomainThatBreaksItsWord:
    """`situate` of a plugin is checked before anything is written."""

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (dict(solution=["sell"]), "solution 'sell'"),
            (dict(outcome=[1.0, 2.0]), "different lengths"),
            (dict(outcome=[float("inf")]), "infinite outcome"),
            (dict(record=[7]), "not given"),
            (dict(solution=["buy"] * 2, outcome=[0.0] * 2, record=[0] * 2, step=[1] * 2), "two"),
        ],
    )
    def test_a_bad_batch(self, change: dict, says: str) -> None:
        good = dict(solution=["buy"], outcome=[0.0], record=[0], step=[0])
        batch = Batch(situations={"x": np.zeros(1)}, **(good | change))
        with pytest.raises(PluginFailure, match=says):
            prepare(["body"], self.types(lambda bodies, types: Situated({"car": batch})))

    def types(self, situate) -> list[CaseType]:
        return [CaseType("car", [Feature("x", range=(0, 1))], ["buy"], situate=situate)]

    @pytest.mark.parametrize("answer", [lambda b, t: 1 / 0, lambda b, t: None])
    def test_one_that_raises(self, answer) -> None:
        with pytest.raises(PluginFailure, match="situations of 'car' from its records failed"):
            prepare(["body"], self.types(answer))

    def test_one_that_invents_a_stage(self) -> None:
        batch = Batch({"x": np.zeros(1)}, ["buy"], [0.0], [0], [0])
        with pytest.raises(PluginFailure, match="stage 'boat', which is not being built"):
            prepare(["body"], self.types(lambda bodies, types: Situated({"boat": batch})))


def test_a_reader_that_fails_is_named(make, plugins: Plugins, monkeypatch) -> None:
    source = plugins.get("case source", "table")

    def broken(path, **_):
        raise RuntimeError("no paper")
        yield

    monkeypatch.setitem(source.__dict__, "read", broken)
    with pytest.raises(PluginFailure, match=r"reader 'table' on .*some\.csv failed: .*no paper"):
        make("".join(LINES[:10]))


class TestFeatures:
    COST = """
import cbr

@cbr.feature("cost", case_type="car", range=(0, 20000), replaces={replaces!r})
def cost(cars):
    return {formula}
"""

    @pytest.fixture
    def with_cost(self, plugin_file, plugins: Plugins):
        def load(formula='cars["price"] / (cars["age"] + 1)', replaces=None) -> Plugins:
            path = plugin_file(self.COST.format(formula=formula, replaces=replaces))
            from conftest import CARS_PLUGIN

            return Plugins().load([CARS_PLUGIN, path])

        return load

    def build(self, tmp_path: Path, plugins: Plugins, wish: str) -> Casebase:
        build([CARS_CSV], tmp_path / "f.db", "car", features=wish, plugins=plugins)
        return Casebase.open(tmp_path / "f.db")

    def test_a_dropped_feature_is_built_in(self, tmp_path: Path, with_cost) -> None:
        with self.build(tmp_path, with_cost(), "+cost") as base:
            case = next(base.cases("car"))
            values = case.values
            assert values["cost"] == pytest.approx(values["price"] / (values["age"] + 1))
            assert base.vectors("car").values.shape[1] == 7

    def test_it_may_replace_one(self, tmp_path: Path, with_cost) -> None:
        with self.build(tmp_path, with_cost(replaces="price"), "default,+cost") as base:
            assert base.case_type("car").indexed[0].name == "cost"
            assert "price" not in next(base.cases("car")).values

    def test_rebuild_adds_it_without_the_file(self, cars_db: Path, with_cost) -> None:
        plugins = with_cost()
        with Casebase.open(cars_db) as base:
            before = list(base.cases("car"))
        assert "cost" in rebuild(cars_db, "+cost", plugins=plugins, batch=33).features["car"]
        with Casebase.open(cars_db) as base:
            after = list(base.cases("car"))
            assert [(c.id, c.solution, c.outcome) for c in after] == [
                (c.id, c.solution, c.outcome) for c in before
            ]
            assert after[5].values["cost"] == pytest.approx(
                after[5].values["price"] / (after[5].values["age"] + 1)
            )
        assert check(cars_db) == []
        rebuild(cars_db, "-cost", plugins=plugins)
        with Casebase.open(cars_db) as base:
            assert list(base.cases("car")) == before

    def test_rebuild_is_the_same_as_build(self, tmp_path: Path, cars_db: Path, with_cost) -> None:
        plugins = with_cost()
        rebuild(cars_db, "+cost", plugins=plugins)
        with self.build(tmp_path, plugins, "+cost") as built, Casebase.open(cars_db) as rebuilt:
            assert built.digest("car") == rebuilt.digest("car")

    def test_a_casebase_keeps_its_features(self, tmp_path: Path, with_cost) -> None:
        """Building on needs no --features again."""
        plugins = with_cost()
        self.build(tmp_path, plugins, "+cost,-owners").close()
        more = tmp_path / "more.csv"
        more.write_text("".join(LINES[:3]))
        report = build([more], tmp_path / "f.db", plugins=plugins)
        assert report.cases["car"] == 2
        assert report.features["car"][-1] == "cost"
        assert "owners" not in report.features["car"]

    def test_what_was_left_out_can_come_back(self, cars_db: Path, plugins: Plugins) -> None:
        with Casebase.open(cars_db) as base:
            digest = base.digest("car")
        assert "fuel" not in rebuild(cars_db, "-fuel", plugins=plugins).features["car"]
        assert "fuel" not in rebuild(cars_db, plugins=plugins).features["car"]
        assert "fuel" in rebuild(cars_db, "+fuel", plugins=plugins).features["car"]
        rebuild(cars_db, "-fuel", plugins=plugins)
        assert "fuel" in rebuild(cars_db, "default", plugins=plugins).features["car"]
        with Casebase.open(cars_db) as base:
            assert base.digest("car") == digest
        with pytest.raises(BadValue, match="feature set 'default' comes with the case type 'car'"):
            rebuild(cars_db, "default", plugins=Plugins().load())

    def test_an_edited_case_type_is_noted_and_taken_over(self, cars_db: Path, plugin_file) -> None:
        from conftest import CARS_PLUGIN

        text = CARS_PLUGIN.read_text().replace("weight=30", "weight=77")
        text = text.replace("weight=15", "weight=16")
        plugins = Plugins().load([plugin_file(text, "cars.py")])
        report = build([CARS_CSV], cars_db, plugins=plugins)
        assert report.known == 400
        assert len(report.notes) == 1
        assert "keeps its own definition of feature 'age' of 'car' and 1 more" in report.notes[0]
        rebuild(cars_db, plugins=plugins)
        with Casebase.open(cars_db) as base:
            assert base.case_type("car").feature("age").weight == 77
        other = text.replace('"haggle"', '"bargain"')
        plugins = Plugins().load([plugin_file(other, "cars.py")])
        with pytest.raises(BadValue, match="solutions buy, haggle, leave"):
            build([CARS_CSV], cars_db, plugins=plugins)
        with pytest.raises(BadValue, match=r"unknown solution 'haggle'|solution is 'haggle'"):
            rebuild(cars_db, plugins=plugins)
        assert check(cars_db) == []

    def test_other_solutions_are_those_of_the_records(self, tmp_path: Path, plugin_file) -> None:
        """A case type whose solutions are classes of a number, which are finer after an edit."""
        text = """
import cbr

def situate(bodies, case_types):
    import numpy as np
    price = np.array(bodies, float)
    place = np.arange(len(price))
    solution = [EDGES(p) for p in price]
    situations = {"price": price}
    none = np.zeros(len(price))
    return cbr.Situated({"deal": cbr.Batch(situations, solution, none, place, none)})

@cbr.hook
def cbr_case_types():
    price = cbr.Feature("price", range=(0, 100))
    return [cbr.CaseType("deal", [price], SOLUTIONS, situate=situate)]
"""
        coarse = text.replace("EDGES(p)", '"low" if p < 9 else "high"')
        coarse = coarse.replace("SOLUTIONS", '["low", "high"]')
        fine = text.replace("EDGES(p)", '"low" if p < 9 else "high" if p < 50 else "top"')
        fine = fine.replace("SOLUTIONS", '["top", "low", "high"]')
        out = tmp_path / "deals.db"
        plugins = use_plugins(Plugins().load([plugin_file(coarse, "coarse.py")]))
        appender = Appender(out, case_types_of("deal", plugins))
        assert appender.append("prices", "table", ["5", "20", "60", "70"]) == 4
        appender.open().close()
        with Casebase.open(out, write=True) as base, base.transaction():
            base.add("deal", {"price": [80.0]}, ["high"], [1.0], [None], [0])  # has no record
            base.put_values("deal", [1, 2], "high", [1.0, 2.0])
            base.put_learned("prices", np.arange(3))
        assert rebuild(out, plugins=plugins).dropped == []
        plugins = Plugins().load([plugin_file(fine, "fine.py")])
        assert any("`cbr rebuild" in finding for finding in check(out, plugins=plugins))
        dropped = rebuild(out, plugins=plugins).dropped
        assert ["2 cases" in dropped[0], "prices" in dropped[1], len(dropped)] == [True, True, 2]
        assert check(out, plugins=plugins) == []
        with Casebase.open(out) as base:
            assert [case.solution for case in base.cases("deal")] == [
                *("low", "high", "top", "top"),
                "high",
            ]
            assert base.case_type("deal").solutions == ("top", "low", "high")
            assert (base.valued("deal"), base.learned_names()) == (set(), [])

    def test_a_feature_that_shares_a_columns_name_does_not_replace_it(
        self, cars_db: Path, plugin_file
    ) -> None:
        path = plugin_file(
            "import cbr\n"
            '@cbr.feature("price", case_type="car", range=(0, 1))\n'
            'def price(cars): return cars["price"] * 0\n'
        )
        rebuild(cars_db, plugins=Plugins().load([path]))
        with Casebase.open(cars_db) as base:
            assert next(base.cases("car")).values["price"] > 0

    @pytest.mark.parametrize(
        ("formula", "says"),
        [
            ('cars["colour"]', "'cost' needs column 'colour'; there is age, "),
            ('cars["price"][:3]', r"shape \(3,\) for 400"),
            ("1 / 0", "'cost' failed: ZeroDivisionError"),
            (
                'cars["price"] * float("nan")',
                "row 1: cost is nan; it must be a finite number, up to 3e38",
            ),
            ('cars["model"]', "'cost' as numbers failed"),
        ],
    )
    def test_a_bad_feature_is_named_and_changes_nothing(
        self, cars_db: Path, with_cost, formula: str, says: str
    ) -> None:
        before = cars_db.read_bytes()
        with pytest.raises(CbrError, match=says):
            rebuild(cars_db, "+cost", plugins=with_cost(formula))
        assert cars_db.read_bytes() == before
        assert check(cars_db) == []
