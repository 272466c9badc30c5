"""Plugins that misbehave, files that were tampered with, and several processes at once."""

from __future__ import annotations

import gzip
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from conftest import CARS_CSV, CARS_PLUGIN

from cbr.building.pipeline import build
from cbr.building.recomputation import rebuild
from cbr.errors import BadValue, NotACasebase
from cbr.files.atomic import whole_file
from cbr.plugging.plugins import KINDS, Plugins
from cbr.retrieval.retriever import retrieve
from cbr.store.casebase import Casebase
from cbr.upkeep.retention import retain
from cbr.upkeep.revision import revise
from cbr.upkeep.soundness import check

QUERY = ["--case", "price=7000,age=6"]
RAISES = {
    "exit": "raise SystemExit(0)",
    "base": "raise type('Odd', (BaseException,), {})('two\\nlines')",
    "recursion": "f = lambda: f(); f()",
    "memory": "raise MemoryError",
}


class TestPlaces:
    def test_a_link_stays_and_a_pipe_is_refused(self, tmp_path: Path) -> None:
        import os

        target, link, pipe = (tmp_path / name for name in ("t.csv", "l.csv", "p.csv"))
        target.write_text("old")
        link.symlink_to(target)
        with whole_file(link) as part:
            part.write_text("new")
        assert (link.is_symlink(), target.read_text()) == (True, "new")
        os.mkfifo(pipe)
        with pytest.raises(BadValue, match="device or a pipe"), whole_file(pipe) as part:
            part.write_text("new")
        assert pipe.is_fifo()

    def test_a_damaged_casebase_is_named(self, cars_db: Path) -> None:
        named = pytest.raises(NotACasebase, match=r"cars.*is damaged: .*build it again")
        with named, Casebase.open(cars_db):
            raise sqlite3.DatabaseError("database disk image is malformed")
        with pytest.raises(sqlite3.OperationalError), Casebase.open(cars_db):
            raise sqlite3.OperationalError("database is locked")


class TestHooks:
    @pytest.mark.long
    @pytest.mark.parametrize("body", [*RAISES.values(), "return [None]", "return 5"])
    @pytest.mark.parametrize("hook", [*KINDS.values(), "cbr_info", "cbr_commands"])
    def test_a_bad_hook_is_named_and_the_command_goes_on(
        self, cbr, cars_db: Path, plugin_file, hook: str, body: str
    ) -> None:
        argument = {"cbr_info": "casebase", "cbr_commands": "app"}.get(hook, "")
        lines = body.replace("; ", "\n    ")
        path = plugin_file(f"import cbr\n@cbr.hook\ndef {hook}({argument}):\n    {lines}\n")
        for words in (["info", cars_db], ["plugins"], ["query", cars_db, *QUERY]):
            answer = cbr(*words, "--json", "--plugin", path)
            assert answer.code == 0, (words, answer)
            assert answer.json
            assert "Internal" not in answer.err
        listed = cbr("plugins", "--json", "--plugin", path).json["plugins"][-1]
        asked = hook not in {"cbr_info", "cbr_commands"} or (
            hook == "cbr_commands" and body.startswith(("raise", "f"))
        )
        assert bool(listed["problems"]) == asked, listed

    @pytest.mark.parametrize(
        "given", ["'abc'", "{'a': 5}", "{'a': float('nan')}", "{1: object()}", "[1]"]
    )
    def test_sections_that_cannot_be_shown(self, cbr, cars_db, plugin_file, given: str) -> None:
        path = plugin_file(f"import cbr\n@cbr.hook\ndef cbr_info(casebase): return {given}\n")
        for json in ([], ["--json"]):
            answer = cbr("info", cars_db, "--plugin", path, *json)
            assert answer.code == 0
            assert "cbr_info gave" in answer.err

    @pytest.mark.parametrize(
        ("adds", "says"),
        [
            ("app.registered_commands.append(None)", "is no command"),
            ("app.command('info')(lambda: None)", "the command 'info' is there already"),
        ],
    )
    def test_commands_that_are_none(self, cbr, cars_db, plugin_file, adds: str, says: str) -> None:
        path = plugin_file(f"import cbr\n@cbr.hook\ndef cbr_commands(app): {adds}\n")
        answer = cbr("info", cars_db, "--plugin", path)
        assert (answer.code, "400 rows" in answer.out) == (0, True)
        assert says in answer.err

    def test_bad_options_of_a_source(self, cbr, cars_db, plugin_file) -> None:
        for options in ("[1]", "(cbr.BuildOption('a b', 'x'),)"):
            path = plugin_file(
                "import cbr\n@cbr.hook\ndef cbr_case_sources():\n"
                f"    return [cbr.CaseSource('odd', None, None, options={options})]\n"
            )
            answer = cbr("plugins", "--plugin", path)
            assert (answer.code, "must be named BuildOptions" in answer.err) == (0, True)


class TestFunctions:
    """A function of a plugin that fails is an error of one line that names it."""

    TEXTS: ClassVar = {
        "similarity": (
            "@cbr.similarity('odd')\ndef odd(a, b): {}",
            ["--similarity", "price=odd"],
            "similarity 'odd'",
        ),
        "retrieval policy": (
            "@cbr.retrieval_policy('odd')\ndef odd(ranking): {}",
            ["--policy", "odd"],
            "retrieval policy 'odd'",
        ),
        "reuse policy": (
            "@cbr.reuse_policy('odd')\ndef odd(retrieved): {}",
            ["--reuse", "odd"],
            "reuse policy 'odd'",
        ),
        "reach": (
            "def far(): {}\n"
            "@cbr.retrieval_policy('odd', reach=far)\ndef odd(r): return [1] * len(r)",
            ["--policy", "odd"],
            "reach of retrieval policy 'odd'",
        ),
        "index": (
            "class Odd:\n    def __init__(self, v, m): pass\n"
            "    def candidates(self, t, w, r): {}\n"
            "@cbr.hook\ndef cbr_indices(): return [cbr.IndexKind('odd', Odd)]",
            ["--index", "odd"],
            "the index",
        ),
        "index build": (
            "def odd(vectors, measures): {}\n"
            "@cbr.hook\ndef cbr_indices(): return [cbr.IndexKind('odd', odd)]",
            ["--index", "odd"],
            "index",
        ),
    }

    @pytest.mark.long
    @pytest.mark.parametrize("body", [*RAISES.values(), "return 'x'", "return object()"])
    @pytest.mark.parametrize("kind", TEXTS)
    def test_it_is_named(self, cbr, cars_db, plugin_file, kind: str, body: str) -> None:
        text, words, says = self.TEXTS[kind]
        if "lambda" in body:
            body = "return odd_forever()"
            text = "def odd_forever(): return odd_forever()\n" + text
        path = plugin_file("import cbr\n" + text.format(body))
        answer = cbr("query", cars_db, *QUERY, *words, "--plugin", path)
        assert (answer.code, answer.out) == (2, "")
        assert says in answer.err
        assert answer.err.count("\n") == 1

    @pytest.mark.parametrize(
        ("kind", "body"),
        [
            ("retrieval policy", "ranking.similarity[:] = 0.5"),
            ("retrieval policy", "ranking.number[:] = 0"),
            ("retrieval policy", "ranking.vectors.counts[:] = 7"),
            ("reuse policy", "retrieved.share[:] = 0.001"),
            ("reuse policy", "retrieved.vectors.outcome_sum[:] = 1e9"),
            ("reuse policy", "retrieved.target.clear()"),
            ("index", "t[:] = 0"),
            ("index", "w[:] = 1"),
            ("index build", "vectors.values[:] = 0"),
        ],
    )
    def test_it_cannot_change_what_it_is_given(
        self, cbr, cars_db, plugin_file, kind: str, body: str
    ) -> None:
        text, words, says = self.TEXTS[kind]
        path = plugin_file("import cbr\n" + text.format(body))
        answer = cbr("query", cars_db, *QUERY, *words, "--plugin", path)
        assert answer.code == 2
        assert says in answer.err

    def test_a_feature_cannot_change_the_situations(self, cars_db: Path, plugin_file) -> None:
        path = plugin_file(
            "import cbr\n@cbr.feature('cost', case_type='car', range=(0, 9))\n"
            "def cost(cars):\n    cars['age'][:] = 1\n    return cars['age']\n"
        )
        from cbr.errors import PluginFailure

        before = cars_db.read_bytes()
        with pytest.raises(PluginFailure, match=r"feature 'cost' failed: ValueError: .* read-only"):
            rebuild(cars_db, "+cost", plugins=Plugins().load([CARS_PLUGIN, path]))
        assert cars_db.read_bytes() == before

    def test_huge_scores_are_probabilities(self, cbr, cars_db, plugin_file) -> None:
        path = plugin_file("import cbr\n@cbr.reuse_policy('odd')\ndef odd(r): return [1e308] * 3")
        answer = cbr("query", cars_db, *QUERY, "--reuse", "odd", "--plugin", path, "--json").json
        assert sum(answer["probabilities"].values()) == pytest.approx(1)


class TestTampering:
    @pytest.mark.long
    @pytest.mark.parametrize(
        "harm",
        [
            "UPDATE cases_car SET price = 'dear' WHERE id = 3",
            "UPDATE cases_car SET price = x'00ff' WHERE id = 3",
            "UPDATE cases_car SET outcome = 'much' WHERE id = 3",
            "UPDATE cases_car SET fuel = 'laave' WHERE id = 3",
            "UPDATE cases_car SET solution = 'laave' WHERE id = 3",
            "UPDATE rows SET body = x'00ff' WHERE id = 3",
            "UPDATE rows SET body = 'null' WHERE id = 3",
            "DELETE FROM stages",
            "DROP TABLE stages",
            "UPDATE stages SET cases = 'abc'",
            "UPDATE stages SET case_type = '[]'",
            "DELETE FROM meta",
            "DROP TABLE meta",
            "UPDATE meta SET value = 'abc' WHERE key = 'write_version'",
            "DROP TABLE cases_car",
            "DROP TABLE rows",
            "ALTER TABLE cases_car DROP COLUMN age",
            'UPDATE stages SET case_type = replace(case_type, \'"linear"\', "5")',
        ],
    )
    def test_check_finds_it_and_nothing_crashes(self, cbr, cars_db: Path, harm: str) -> None:
        with sqlite3.connect(cars_db) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(harm)
        connection.close()
        found = cbr("check", cars_db, "--json")
        assert (found.code, found.json["sound"]) == (1, False), found
        for words in (["info"], ["query", *QUERY], ["rebuild"], ["refine"]):
            answer = cbr(words[0], cars_db, *words[1:], "--plugin", CARS_PLUGIN)
            assert answer.code in (0, 2), (words, answer)
            assert "Internal" not in answer.err


class TestFiles:
    def test_a_row_that_broke_off_is_taken_in_when_the_file_is_whole(self, tmp_path, plugins):
        whole = CARS_CSV.read_bytes()
        path, out = tmp_path / "cars.csv.gz", tmp_path / "cars.db"
        path.write_bytes(gzip.compress(whole)[:-3000])
        assert 0 < build([path], out, "car").cases["car"] < 400
        path.write_bytes(gzip.compress(whole))
        build([path], out, "car")
        build([CARS_CSV], tmp_path / "same.db", "car")
        with Casebase.open(out) as one, Casebase.open(tmp_path / "same.db") as two:
            assert (one.count("car"), one.digest("car")) == (400, two.digest("car"))

    @pytest.mark.long
    def test_damaged_compression_is_a_reason(self, tmp_path: Path, plugins) -> None:
        head, *rows = CARS_CSV.read_text().splitlines(keepends=True)
        data = bytearray(gzip.compress((head + "".join(rows * 60)).encode()))
        data[-2000:-1900] = b"\0" * 100
        (tmp_path / "cars.csv.gz").write_bytes(data)
        report = build([tmp_path / "cars.csv.gz"], tmp_path / "cars.db", "car")
        assert any("breaks off" in reason for reason in report.skipped)

    @pytest.mark.long
    def test_a_long_cell_does_not_cost_memory_for_each_row(self, tmp_path, plugins) -> None:
        import tracemalloc

        head, *rows = CARS_CSV.read_text().splitlines(keepends=True)
        rows[7] = "L" * 100_000 + rows[7]
        (tmp_path / "long.csv").write_text(head + "".join(rows * 5))
        tracemalloc.start()
        build([tmp_path / "long.csv"], tmp_path / "long.db", "car")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 50e6

    def test_a_column_twice_is_refused(self, tmp_path: Path, plugins) -> None:
        from cbr.errors import EmptyStage

        head, row, *_ = CARS_CSV.read_text().splitlines()
        (tmp_path / "two.csv").write_text(f"{head},price\n{row},7\n")
        with pytest.raises(EmptyStage, match="line 1: column 'price' appears twice"):
            build([tmp_path / "two.csv"], tmp_path / "two.db", "car")
        assert not (tmp_path / "two.db").exists()

    def test_an_empty_casebase_can_be_rebuilt(self, cars: Casebase) -> None:
        with cars.transaction():
            cars.remove("car", [case.id for case in cars.cases("car")])
        cars.close()
        assert rebuild(cars.path).features["car"]
        assert check(cars.path) == []


class TestAtOnce:
    @pytest.mark.long
    def test_rebuild_while_others_write(self, cars_db: Path, plugin_file) -> None:
        """A writer waits for the rebuild; no case gets another's features."""
        path = plugin_file(
            "import cbr, time\n@cbr.feature('slow', case_type='car', range=(0, 9))\n"
            "def slow(cars):\n    time.sleep(0.5)\n    return cars['age']\n"
        )
        plugins = Plugins().load([CARS_PLUGIN, path])
        done = threading.Thread(
            target=rebuild, args=(cars_db, "+slow"), kwargs={"plugins": plugins}
        )
        with Casebase.open(cars_db, write=True) as base:
            before = {case.id: case.values["price"] for case in base.cases("car")}
            done.start()
            with base.transaction():
                base.remove("car", [7])
            done.join(600)
        with Casebase.open(cars_db) as base:
            after = {case.id: case.values["price"] for case in base.cases("car")}
        assert after == {number: price for number, price in before.items() if number != 7}
        assert check(cars_db) == []

    def test_an_open_casebase_notices_a_rebuild(self, cars_db: Path, plugin_file) -> None:
        """What it writes afterwards has the features and the digest of the new definition."""
        path = plugin_file(
            "import cbr\n@cbr.feature('older', case_type='car', range=(0, 40))\n"
            "def older(cars):\n    return cars['age'] + 1\n"
        )
        with Casebase.open(cars_db, write=True) as base:
            rebuild(cars_db, "+older", plugins=Plugins().load([CARS_PLUGIN, path]))
            with base.transaction():
                base.remove("car", [7])
            assert "older" in [feature.name for feature in base.case_type("car").features]
        assert check(cars_db) == []

    def test_check_during_writes_finds_nothing(self, cars_db: Path, plugins: Plugins) -> None:
        stop = threading.Event()

        def write() -> None:
            case = {"price": 7000, "age": 6, "mileage": 90, "power": 90, "fuel": "diesel"}
            with Casebase.open(cars_db, write=True) as base:
                revision = revise(retrieve(base, "car", case | {"owners": 1}), "buy", 1.0)
                while not stop.wait(0.005):  # each check reads all that was written
                    retain(base, "car", revision)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(25):
                assert check(cars_db) == []
        finally:
            stop.set()
            writer.join(600)

    @pytest.mark.long
    def test_two_builds_of_one_casebase(self, tmp_path: Path) -> None:
        """From different files, begun together: both end, and nothing is lost."""
        head, *rows = CARS_CSV.read_text().splitlines(keepends=True)
        script = (
            "import sys; from cbr.cli import main; main(['build', sys.argv[1], '--type', 'car', "
            f"'--out', sys.argv[2], '--plugin', {str(CARS_PLUGIN)!r}])"
        )
        processes = []
        for name, part in (("a", rows[:200]), ("b", rows[200:])):
            (tmp_path / f"{name}.csv").write_text(head + "".join(part))
            words = [sys.executable, "-c", script, tmp_path / f"{name}.csv", tmp_path / "both.db"]
            processes.append(subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL))
        assert [process.wait(600) for process in processes] == [0, 0]
        with Casebase.open(tmp_path / "both.db") as base:
            assert base.count("car") == 400
        assert check(tmp_path / "both.db") == []

    def test_vectors_inside_a_transaction_that_fails_are_forgotten(self, cars: Casebase) -> None:
        with pytest.raises(RuntimeError), cars.transaction():
            cars.remove("car", [1, 2, 3])
            assert cars.vectors("car").cases.sum() == 397
            raise RuntimeError
        assert cars.vectors("car").cases.sum() == 400
        assert not np.isnan(cars.vectors("car").outcome_sum).any()


class TestOutFiles:
    def test_a_casebase_is_not_overwritten(self, cbr, cars_db: Path) -> None:
        before = cars_db.read_bytes()
        for words in (
            ["learn-weights", cars_db, "--steps", "2", "--out", cars_db],
            ["query", cars_db, *QUERY, "--plot", cars_db],
            ["refine", cars_db, "--report", "--plot", cars_db],
        ):
            answer = cbr(*words)
            assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert cars_db.read_bytes() == before

    def test_a_bad_place_is_found_at_once_and_nothing_is_left(self, cbr, cars_db: Path) -> None:
        folder = cars_db.parent
        for out, why in ((folder / "no" / "w.json", "is no folder"), (folder, "is a folder")):
            answer = cbr("learn-weights", cars_db, "--out", out)
            assert (answer.code, why in answer.err) == (2, True)
        assert not list(folder.glob("*.part"))

    @pytest.mark.long
    def test_weights_replace_weights(self, cbr, cars_db: Path, tmp_path: Path) -> None:
        out = tmp_path / "w.json"
        for _ in range(2):
            assert cbr("learn-weights", cars_db, "--steps", "2", "--out", out).code == 0
        out.write_text("mine")
        assert "is not a weights file" in cbr("learn-weights", cars_db, "--out", out).err
        assert out.read_text() == "mine"


class TestOptions:
    @pytest.mark.parametrize(
        ("words", "why"),
        [
            (["evaluate", "--folds", "2", "--leave-one-out"], "split in one way"),
            (["evaluate", "--folds", "2", "--last", "0.3"], "split in one way"),
            (["evaluate", "--folds", "500"], "500 folds of 400 records; give 2 to 400"),
            (["query", *QUERY, "--allow", ","], "names no solution"),
            (["query", "--case", '{"price": 1, "price": 2}'], "is given twice"),
            (["query", "--record", "9" * 22], "less than or equal to"),
        ],
    )
    def test_what_contradicts_itself(self, cbr, cars_db: Path, words: list, why: str) -> None:
        answer = cbr(words[0], cars_db, *words[1:])
        assert (answer.code, why in " ".join(answer.err.split())) == (2, True)

    @pytest.mark.long
    def test_one_record_has_no_interval_and_no_other(self, cbr, tmp_path: Path) -> None:
        head, *rows = CARS_CSV.read_text().splitlines()
        for count in (1, 3):
            log, base = tmp_path / f"{count}.csv", tmp_path / f"{count}.db"
            log.write_text("\n".join([head, *rows[:count]]) + "\n")
            assert cbr("build", log, "--out", base, "--plugin", CARS_PLUGIN).code == 0
        assert (
            "all cases are of one record"
            in cbr("evaluate", tmp_path / "1.db", "--leave-one-out").err
        )
        found = cbr("evaluate", tmp_path / "3.db", "--json").json["stages"][0]["judged"][0]
        assert found["log_loss"]["ci95"] is None
        assert "±" not in cbr("evaluate", tmp_path / "3.db").out
