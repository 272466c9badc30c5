"""The command line: answers, JSON, exit codes, and one sentence for what is wrong."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import CARS_CSV, CARS_PLUGIN

from cbr.cli import waiting

CASE = "price=7000,age=6,mileage=90,power=90,fuel=diesel,owners=1"
NEAR = """
import cbr

@cbr.similarity("near")
def near(a, b, reach=1000.0):
    return max(0.0, 1.0 - abs(a - b) / reach)
"""

COST = """
import cbr
@cbr.feature("cost", case_type="car", range=(0, 9000), weight=7)
def cost(cars): return cars["price"] / (1 + cars["age"])
"""


class TestCycle:
    """The example domain from a table to a refined casebase, by the command line alone."""

    @pytest.mark.long
    def test_from_a_table_to_a_refined_casebase(self, cbr, tmp_path: Path, monkeypatch) -> None:
        monkeypatch.chdir(tmp_path)
        built = cbr("build", CARS_CSV, "--type", "car", "--plugin", CARS_PLUGIN, "--json").json
        assert (built["records"], built["cases"], built["out"]) == (400, {"car": 400}, "cars.db")
        info = cbr("info", "cars.db", "--json").json
        assert info["stages"]["car"]["cases"] == info["rows"] == 400
        query = cbr("query", "cars.db", "--case", CASE, "--json").json
        assert query["solution"] in {"buy", "haggle", "leave"}
        words = ["--case", CASE, "--solution", query["solution"], "--outcome", "2.5"]
        kept = cbr("retain", "cars.db", *words, "--json").json
        assert (kept["retained"], kept["case"]) == (True, 401)
        again = cbr("retain", "cars.db", *words, "--rule", "novel", "--json").json
        assert (again["retained"], again["most_similar"]) == (False, 1.0)
        dry = cbr("refine", "cars.db", "--json").json
        done = cbr("refine", "cars.db", "--apply", "--json").json
        assert dry["drop"] == done["drop"] != []
        left = cbr("info", "cars.db", "--json").json["stages"]["car"]["cases"]
        assert left == 401 - len(done["drop"])
        checked = cbr("check", "cars.db")
        assert (checked.code, "cars.db is sound" in checked.out) == (0, True)

    @pytest.mark.long
    def test_the_same_for_people(self, cbr, cars_db: Path) -> None:
        assert "400 rows" in cbr("info", cars_db).out
        asked = cbr("query", cars_db, "--case", CASE)
        for words in ("Retrieved", "Local similarity", "Proposal", "Evidence against it"):
            assert words in asked.out
        words = ["--case", CASE, "--solution", "buy", "--outcome", "2.5"]
        assert "retained as case 401" in cbr("retain", cars_db, *words).out
        assert "not retained" in cbr("retain", cars_db, *words, "--rule", "novel").out
        assert "Nothing was changed" in cbr("refine", cars_db).out
        assert "removed" in cbr("refine", cars_db, "--apply").out

    def test_a_casebase_goes_where_casebases_are_kept(self, cbr, tmp_path, monkeypatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "casebases").mkdir()
        assert cbr("--plugin", CARS_PLUGIN, "build", CARS_CSV, "--type", "car").code == 0
        assert (tmp_path / "casebases" / "cars.db").exists()


class TestQuery:
    def test_it_explains_itself(self, cbr, cars_db: Path) -> None:
        answer = cbr("query", cars_db, "--case", "price=7000,age=6", "--json").json
        assert answer["unknown"] == ["mileage", "power", "fuel", "owners"]
        near = answer["neighbours"][0]
        assert sum(near["contribution"].values()) == pytest.approx(near["similarity"])
        assert near["local"]["price"] > 0.9
        assert answer["reason"].startswith("proportional over")
        assert "not given, so not compared" in cbr("query", cars_db, "--case", "age=6").err

    def test_nothing_is_cut_off_on_a_narrow_screen(self, cbr, cars_db, monkeypatch) -> None:
        wide = cbr("query", cars_db, "--case", CASE, "--show", "12").out
        monkeypatch.setattr("cbr.cli.output._WIDE", 80)
        narrow = cbr("query", cars_db, "--case", CASE, "--show", "12").out
        assert "…" not in wide + narrow
        assert max(map(len, narrow.splitlines())) <= 80
        digest = cbr("info", cars_db, "--json").json["stages"]["car"]["digest"]
        assert digest in cbr("info", cars_db).out

    def test_it_shows_what_is_not_compared_too(self, cbr, cars_db: Path) -> None:
        near = cbr("query", cars_db, "--case", CASE, "--json").json["neighbours"][0]
        assert near["also"]["model"]
        assert near["also"]["model"] in cbr("query", cars_db, "--case", CASE).out

    def test_values_outside_a_range_are_noted(self, cbr, cars_db: Path) -> None:
        answer = cbr("query", cars_db, "--case", "price=99999999,age=5")
        assert "price 99,999,999 is outside its range, 0 to 40,000" in answer.err

    def test_a_computed_feature_is_computed(self, cbr, cars_db: Path, plugin_file) -> None:
        path = plugin_file(COST)
        cbr("rebuild", cars_db, "--features", "+cost", "--plugin", path)
        words = ["query", cars_db, "--case", "price=7000,age=6", "--json"]
        assert cbr(*words, "--plugin", path).json["target"]["cost"] == 1000
        assert "cost" in cbr(*words).json["unknown"]

    def test_a_text_with_commas(self, cbr, cars_db: Path) -> None:
        given = '{"price": 7000, "age": "6", "model": "Lupo, red"}'
        assert cbr("query", cars_db, "--case", given, "--json").json["target"]["price"] == 7000

    def test_its_options(self, cbr, cars_db: Path) -> None:
        answer = cbr(
            *("query", cars_db, "--case", CASE, "--json", "--policy", "top?k=3"),
            *("--weights", "price=1,age=0", "--similarity", "price=exponential?k=0.001"),
            *("--reuse", "majority", "--allow", "buy,leave", "--show", "2", "--stage", "car"),
        ).json
        assert answer["retrieved_cases"] == 3
        assert answer["policy"] == "top?k=3"
        assert (answer["weights"]["price"], answer["weights"]["age"]) == (1, 0)
        assert answer["similarities"]["price"] == "exponential?k=0.001"
        assert answer["probabilities"]["haggle"] == 0
        assert len(answer["neighbours"]) == 2

    def test_weights_from_a_file(self, cbr, cars_db: Path, tmp_path: Path) -> None:
        from cbr.weights import Weights

        path = tmp_path / "w.json"
        Weights({"car": {"price": 3, "fuel": 0}}, "car", {"made_by": "hand"}).save(path)
        answer = cbr("query", cars_db, "--case", CASE, "--weights", path, "--json").json
        assert (answer["weights"]["price"], answer["weights"]["fuel"]) == (3, 0)
        assert Weights.load(path).provenance == {"made_by": "hand"}

    def test_a_dropped_similarity_is_usable_at_once(self, cbr, cars_db, plugin_file) -> None:
        words = ["query", cars_db, "--case", CASE, "--similarity", "price=near?reach=2000"]
        answer = cbr(*words, "--plugin", plugin_file(NEAR), "--json")
        assert answer.json["similarities"]["price"] == "near?reach=2000"
        assert cbr(*words).code == 2

    def test_a_dropped_feature_is_usable_at_once(self, cbr, tmp_path: Path, plugin_file) -> None:
        path = plugin_file(COST)
        words = ["--type", "car", "--plugin", CARS_PLUGIN, "--plugin", path, "--json"]
        out = tmp_path / "c.db"
        built = cbr("build", CARS_CSV, "--out", out, "--features", "default,+cost", *words)
        assert built.json["features"]["car"][-1] == "cost"
        answer = cbr("query", out, "--case", "cost=900", "--json").json
        assert answer["weights"]["cost"] == 7

    def test_rebuild_takes_a_feature_in(self, cbr, cars_db: Path, plugin_file) -> None:
        path = plugin_file(COST)
        answer = cbr("rebuild", cars_db, "--features", "+cost", "--plugin", path, "--json")
        assert answer.json["features"]["car"][-1] == "cost"
        assert cbr("check", cars_db).code == 0
        assert "'cost' is computed by a plugin that is not loaded" in cbr("rebuild", cars_db).err
        assert "as before" in cbr("rebuild", cars_db, "--plugin", path).out
        removed = json.loads(cbr("rebuild", cars_db, "--features", "-cost", "--json").out)
        assert removed["left_out"] == {"car": ["cost"]}
        assert removed["changed"] == {"car": True}


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["info", "none.db"], "no casebase none.db; `cbr build` makes one"),
        (["check", "none.db"], "no casebase none.db"),
        (["info", "text.db"], "text.db is not a casebase"),
        (["query", "other.db", "--case", "x=1"], "SQLite file of another program"),
        (["info", "newer.db"], "newer.db has schema version 99"),
        (["query", "cars.db", "--case", "prize=1"], "no feature 'prize'; did you mean 'price'?"),
        (["query", "cars.db", "--case", "price"], "'price' in --case is not NAME=VALUE"),
        (["query", "cars.db", "--case", "price=1,price=2"], "'price' is given twice"),
        (["query", "cars.db", "--case", "price=nan"], "price is 'nan'; it must be a finite number"),
        (["query", "cars.db", "--case", "price=dear"], "price is 'dear', not a number"),
        (["query", "cars.db", "--case", "fuel=coal"], "fuel is 'coal'; it must be one of petrol"),
        (["query", "cars.db", "--case", ""], "the target gives no feature with a weight"),
        (["query", "cars.db", "--case", "price=1", "--stage", "cat"], "no stage 'cat'"),
        (["query", "cars.db", "--case", "age=1", "--weights", "age=-1"], "weight of 'age' is -1"),
        (["query", "cars.db", "--case", "age=1", "--weights", "age=nan"], "'age' is nan"),
        (["query", "cars.db", "--case", "age=1", "--weights", "ago=1"], "did you mean 'age'"),
        (
            [
                *("query", "cars.db", "--case", "age=1", "--weights"),
                "price=0,age=0,mileage=0,power=0,fuel=0,owners=0",
            ],
            "all weights of 'car' are 0; at least one must be above 0",
        ),
        (["query", "cars.db", "--case", "age=1", "--weights", "none.json"], "none.json"),
        (["query", "cars.db", "--case", "age=1", "--weights", "bad.json"], "bad.json is not JSON"),
        (["query", "cars.db", "--case", "age=1", "--weights", "odd.json"], '"format" must be'),
        (["query", "cars.db", "--case", "age=1", "--policy", "best"], "no retrieval policy 'best'"),
        (["query", "cars.db", "--case", "age=1", "--policy", "top?k=x"], "k of 'top' is 'x'"),
        (["query", "cars.db", "--case", "age=1", "--reuse", "best"], "no reuse policy 'best'"),
        (["query", "cars.db", "--case", "age=1", "--allow", "steal"], "no solution 'steal'"),
        (["query", "cars.db", "--case", "age=1", "--similarity", "age"], "is not FEATURE=SPEC"),
        (["query", "cars.db", "--case", "age=1", "--similarity", "age=x"], "no similarity 'x'"),
        (["query", "cars.db", "--case", "{"], "begins with { and is not JSON"),
        (["query", "cars.db", "--case", '{"age": [1]}'], "'age' in --case is [1]"),
        (["query", "cars.db", "--case", "age=1", "--policy", "top?k=0"], "it must be 1 or more"),
        (["build", "cars.csv", "--plugin", "none.py"], "--plugin none.py: there is no such file"),
        (["query", "empty.db", "--case", "x=1"], "stage 'empty' of empty.db has no cases"),
        (["build", "none.csv", "--type", "car"], "no file or folder none.csv"),
        (["build", "text.db", "--type", "car", "--out", "x.db"], "no reader for text.db"),
        (["build", "cars.csv", "--type", "cat", "--out", "x.db"], "no case type 'cat'"),
        (["build", "cars.csv", "--type", "car", "--features", "+x"], "no extra feature 'x'"),
        (["build", "cars.csv", "--type", "car", "--out", "text.db"], "not a casebase"),
        (["build", "cars.csv", "--type", "car", "--out", "no/x.db"], "no is no folder"),
        (["build", "cars.csv", "--type", "car", "--reader", "csv"], "no case source 'csv'"),
        (["rebuild", "cars.db", "--features", "-colour"], "no feature 'colour'"),
        (["refine", "cars.db", "--method", "magic"], "no method 'magic'"),
        (["retain", "cars.db", "--case", "age=1", "--solution", "buy"], "'price' is missing"),
        (["retain", "cars.db", "--case", CASE, "--solution", "sell"], "no solution 'sell'"),
        (
            ["retain", "cars.db", "--case", CASE, "--solution", "buy", "--outcome", "nan"],
            "outcome is nan; it must be a finite number",
        ),
        (["info", "cars.db", "--plugin"], "--plugin needs a file"),
        (["query", "cars.db"], "give either --case with a situation, or --record"),
        (["nonsense"], "No such command 'nonsense'. See `cbr --help`."),
        (["query", "cars.db", "--case", "age=1", "--show", "0"], "See `cbr query --help`."),
        (
            ["query", "cars.db", "--case", "age=1", "--case", "age=2"],
            "'age' is given twice in --case",
        ),
        (["query", "cars.db", "--case", "age=1_0"], "age is '1_0', not a number"),
        (["query", "cars.db", "--case", "age=1", "--weights", "age=1e300"], "at most 1e+100"),
        (["query", "cars.db", "--case", "age=1", "--policy", "top?k=true"], "k of 'top' is True"),
        (["query", "cars.db", "--case", "age=1", "--similarity", "age=linear?span=nan"], "finite"),
        (
            ["query", "cars.db", "--case", "age=1", "--weights", "deep.json"],
            "deep.json is not JSON",
        ),
        (["query", "cars.db", "--case", "age=1", "--weights", "twice.json"], "is given twice"),
        (["info", "x" * 300 + ".db"], "File name too long"),
        (
            ["build", "cars.csv", "--type", "car", "--features", "default,default"],
            "must be first",
        ),
    ],
)
def test_bad_input_gets_one_sentence(cbr, tmp_path: Path, cars_db, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.db").write_text("hello")
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "twice.json").write_text('{"format": "cbr-weights", "format": "cbr-weights"}')
    (tmp_path / "odd.json").write_text('{"car": {"age": 1}}')
    (tmp_path / "cars.csv").write_bytes(CARS_CSV.read_bytes())
    _empty_casebase(tmp_path / "empty.db")
    _strange_database(tmp_path / "other.db")
    newer = tmp_path / "newer.db"
    newer.write_bytes(cars_db.read_bytes())
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    answer = cbr("--plugin", CARS_PLUGIN, *words)
    assert answer.code == 2, answer
    assert says in answer.err
    assert "Traceback" not in answer.err
    assert answer.err.strip().count("\n") == 0
    assert answer.out == ""
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def _empty_casebase(path: Path) -> None:
    from cbr.case import CaseType, Feature
    from cbr.store.casebase import Casebase

    Casebase.create(path, [CaseType("empty", [Feature("x", range=(0, 1))], ["a"])]).close()


def _strange_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()


def test_an_empty_casebase_has_information(cbr, tmp_path: Path) -> None:
    _empty_casebase(tmp_path / "empty.db")
    assert cbr("info", tmp_path / "empty.db", "--json").json["stages"]["empty"]["cases"] == 0
    assert cbr("info", tmp_path / "empty.db").code == 0
    assert cbr("check", tmp_path / "empty.db").code == 0


def test_check_reports_harm_with_exit_code_1(cbr, cars_db: Path) -> None:
    with sqlite3.connect(cars_db) as connection:
        connection.execute("UPDATE cases_car SET price = 1 WHERE id = 7")
    connection.close()
    answer = cbr("check", cars_db, "--json")
    assert (answer.code, answer.json["sound"]) == (1, False)
    assert "digest" in answer.json["findings"][0]
    assert "not sound" in cbr("check", cars_db).out


def test_debug_shows_where(cbr, monkeypatch) -> None:
    from cbr.cli import main
    from cbr.errors import NotACasebase

    monkeypatch.setenv("CBR_DEBUG", "1")
    with pytest.raises(NotACasebase):
        main(["info", "none.db"])


class TestPlugins:
    def test_the_list(self, cbr, plugin_file) -> None:
        found = cbr("plugins", "--json", "--plugin", plugin_file(NEAR)).json["plugins"]
        own = "arena bots casper holdem kmodels logs mcts opponents play similarity".split()
        assert [p["name"] for p in found] == ["engine", *own, "dropped"]
        assert found[-2]["distribution"] == "cbr-engine"
        assert found[-2]["version"]
        assert found[-1]["hooks"] == ["cbr_similarities"]
        assert found[-1]["registered"] == {"similarity": ["near"]}
        assert {p["status"] for p in found} == {"ok"}
        assert "ranged-exponential" in cbr("plugins").out

    def test_a_broken_one_is_a_line_and_the_command_goes_on(
        self, cbr, cars_db: Path, plugin_file
    ) -> None:
        path = plugin_file("import nothing_of_this_name")
        answer = cbr("info", cars_db, "--json", "--plugin", path)
        assert answer.code == 0
        assert answer.err.count("\n") == 1
        assert f"plugin dropped ({path}): ModuleNotFoundError" in answer.err
        strict = cbr("info", cars_db, "--plugin", path, "--strict-plugins")
        assert (strict.code, strict.out) == (2, "")
        assert "ModuleNotFoundError" in strict.err
        missing = cbr("info", cars_db, "--plugin", "none.py")
        assert (missing.code, "there is no such file" in missing.err) == (2, True)

    def test_a_clash_names_both(self, cbr, cars_db: Path, plugin_file) -> None:
        path = plugin_file(NEAR.replace('"near"', '"linear"'))
        answer = cbr("query", cars_db, "--case", "age=1", "--plugin", path)
        assert answer.code == 2
        assert "'linear' is registered by two plugins, similarity (cbr-engine" in answer.err
        assert str(path) in answer.err
        listed = cbr("plugins", "--json", "--plugin", path)
        assert listed.code == 1
        assert "'linear'" in listed.json["clashes"][0]

    def test_a_command_of_a_plugin_joins(self, cbr, plugin_file) -> None:
        path = plugin_file(
            """
import cbr
@cbr.hook
def cbr_commands(app):
    @app.command()
    def greet(name: str):
        "Say hello."
        print("hello", name)
"""
        )
        assert cbr("greet", "Bob", f"--plugin={path}").out == "hello Bob\n"
        assert "Say hello." in cbr("--help", "--plugin", path).out

    def test_a_broken_command_hook_is_left_out(self, cbr, cars_db: Path, plugin_file) -> None:
        path = plugin_file("import cbr\n@cbr.hook\ndef cbr_commands(app): 1 / 0\n")
        answer = cbr("info", cars_db, "--plugin", path)
        assert (answer.code, "cbr_commands failed: ZeroDivisionError" in answer.err) == (0, True)

    def test_sections_of_info(self, cbr, cars_db: Path, plugin_file) -> None:
        path = plugin_file(
            """
import cbr
@cbr.hook
def cbr_info(casebase):
    return {"Prices": {"highest": max(c.values["price"] for c in casebase.cases("car"))}}
"""
        )
        shown = cbr("info", cars_db, "--plugin", path, "--json").json["sections"]
        assert shown["Prices"]["highest"] > 1000
        assert "Prices" in cbr("info", cars_db, "--plugin", path).out

    def test_options_of_a_source_join_build(self, cbr) -> None:
        assert "--delimiter" in cbr("build", "--help").out

    def test_what_plugins_print_stays_out_of_json(self, cbr, cars_db, plugin_file) -> None:
        path = plugin_file(NEAR.replace("    return", "    print('chatter')\n    return"))
        words = ["query", cars_db, "--case", "price=5000", "--similarity", "price=near"]
        answer = cbr(*words, "--plugin", path, "--json")
        assert answer.json["solution"]
        assert "chatter" in answer.err


def test_the_list_of_commands_cuts_no_summary_off(cbr) -> None:
    listed = cbr("--help").out.partition("Commands:\n")[2].partition("\n\n")[0]
    assert len(listed.splitlines()) > 25
    assert "..." not in listed


@pytest.mark.parametrize("command", ["build", "rebuild", "info", "check", "query", "retain"])
def test_every_command_has_help_with_an_example(cbr, command: str) -> None:
    answer = cbr(command, "--help")
    assert cbr(command, "-h").out == answer.out
    assert answer.code == 0
    assert "Example: cbr " + command in answer.out
    assert "--json" in answer.out


def test_each_command_has_a_module_of_its_name() -> None:
    from cbr.cli import commands, make_app
    from cbr.plugging import Plugins

    app = make_app(Plugins())
    names = {one.name for one in (*app.registered_commands, *app.registered_groups)}
    [folder] = map(Path, commands.__path__)
    modules = {path.stem for path in folder.glob("[a-z]*.py")}
    assert names == {name.replace("_", "-") for name in modules}


class TestWaiting:
    """The note about a long wait, which must not depend on the machine where programs read it."""

    def test_a_pipe_gets_none(self, capsys) -> None:
        with waiting("compiling", after=0.0):
            assert not [one for one in threading.enumerate() if isinstance(one, threading.Timer)]
        assert capsys.readouterr() == ("", "")

    def test_a_terminal_gets_it(self, monkeypatch) -> None:
        noted: list[str] = []
        said = threading.Event()
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        monkeypatch.setattr("cbr.cli.long_work.note", lambda text: (noted.append(text), said.set()))
        with waiting("compiling", after=0.0):
            assert said.wait(60)
        with waiting("nothing", after=3600.0):
            pass
        assert noted == ["compiling"]


class TestProcess:
    """What only a process of its own can show."""

    def run(self, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from cbr.cli import main; main()", *map(str, words)],
            capture_output=True,
            text=True,
            timeout=600,  # only against a hang
            env=os.environ | environment,
        )

    def test_version(self) -> None:
        from importlib.metadata import version

        done = self.run("--version")
        assert (done.returncode, done.stdout) == (0, f"cbr-engine {version('cbr-engine')}\n")

    def test_no_words_shows_help(self) -> None:
        done = self.run()
        assert (done.returncode, "Commands:" in done.stdout, done.stderr) == (0, True, "")

    @pytest.mark.long
    def test_a_table_that_does_not_fit_is_one_line(self, cars_db: Path) -> None:
        with sqlite3.connect(cars_db) as connection:
            connection.execute("ALTER TABLE cases_car RENAME COLUMN price TO prize")
        connection.close()
        done = self.run("query", cars_db, "--case", "age=1")
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "its table 'cases_car' has no column 'price'; restore it" in done.stderr

    @pytest.mark.long
    def test_json_is_one_document(self, cars_db: Path) -> None:
        done = self.run("query", cars_db, "--case", CASE, "--json")
        assert json.loads(done.stdout)["stage"] == "car"
        assert done.stderr == ""
