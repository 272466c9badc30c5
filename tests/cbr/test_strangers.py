"""Files that strangers made: names, sizes and schemas that no command may follow."""

from __future__ import annotations

import io
import json
import sqlite3
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import CARS_PLUGIN

from cbr.case import CaseType, Feature
from cbr.errors import BadJson, BadValue, NotACasebase, OutsideTransaction
from cbr.evolve.runfile import RunFile
from cbr.files.json_text import read_json
from cbr.files.stamped import Damaged, read_array, read_arrays
from cbr.store import schema
from cbr.store.casebase import Casebase
from cbr.store.connection import connect
from cbr.upkeep.soundness import check
from cbr.weights import BadWeights, Weights

QUERY = ["--case", "price=7000,age=6"]


def tamper(path: Path, *statements: str) -> None:
    """Change a SQLite file behind the program's back."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def redefine(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the definition of the case type of cars."""
    connection = sqlite3.connect(path)
    plain = json.loads(connection.execute("SELECT case_type FROM stages").fetchone()[0])
    change(plain)
    connection.execute("UPDATE stages SET case_type = ?", [json.dumps(plain)])
    connection.commit()
    connection.close()


def peak_of(function: Callable[[], object]) -> int:
    """The most bytes that a call held at once, by tracemalloc, which counts numpy's too."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class TestNames:
    @pytest.mark.parametrize("name", ["../../x", "a]b", 'a"b', "a`b", "a/b/../c", "", "x" * 300])
    def test_a_stage_is_that_of_its_case_type(self, cbr, cars_db: Path, name: str) -> None:
        """Even where table, stage and case type agree on a name that leads elsewhere."""
        quoted = name.replace("'", "''"), f"cases_{name}".replace('"', '""')
        tamper(
            cars_db,
            f"UPDATE stages SET stage = '{quoted[0]}'",
            f'ALTER TABLE cases_car RENAME TO "{quoted[1]}"',
        )
        if name:
            redefine(cars_db, lambda plain: plain.update(name=f"car/{name}"))
        inside = cars_db.parent / "deep" / "er" / "out"
        for words in (["export", "--to", "csv", "--out", inside], ["info"], ["query", *QUERY]):
            answer = cbr(words[0], cars_db, *words[1:])
            assert (answer.code, "is damaged" in answer.err) == (2, True), answer
        assert cbr("check", cars_db).code == 1
        assert not list(cars_db.parent.rglob("*.csv"))

    def test_a_stage_of_another_name_is_refused(self, cars_db: Path) -> None:
        tamper(cars_db, "UPDATE stages SET stage = 'bike'")
        tamper(cars_db, "ALTER TABLE cases_car RENAME TO cases_bike")
        with pytest.raises(NotACasebase, match="stage 'bike' has the case type 'car'"):
            Casebase.open(cars_db)

    @pytest.mark.parametrize(
        ("name", "record"), [("a/hidden", "row"), ("a/b", "stage"), ("a/b", "solution_value")]
    )
    def test_no_two_things_share_a_table(self, tmp_path: Path, name: str, record: str) -> None:
        case_type = CaseType(name, [Feature("x", range=(0, 1))], ["a"], record=record)
        with pytest.raises(BadValue, match="would share a table"):
            Casebase.create(tmp_path / "c.db", [case_type])

    @pytest.mark.parametrize("name", ["price", "a`b", "[a]", 'a"b', "a'b", "a b", "ä", "`", "--"])
    def test_identifiers_are_quoted(self, name: str) -> None:
        db = sqlite3.connect(":memory:")
        db.execute(f"CREATE TABLE {schema.quoted(name)} ({schema.quoted(name)})")
        assert db.execute("SELECT name FROM sqlite_master").fetchall() == [(name,)]
        column = f"SELECT {schema.quoted(name)} FROM {schema.quoted(name)}"
        assert db.execute(column).description[0][0] == name
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            db.execute(f"SELECT {schema.quoted('missing')} FROM {schema.quoted(name)}")


class TestOpening:
    HARM = (
        "CREATE TRIGGER t AFTER INSERT ON cases_car BEGIN DELETE FROM rows; END",
        "CREATE VIEW v AS SELECT * FROM rows",
        "CREATE VIRTUAL TABLE v USING fts5(x)",
        "ALTER TABLE cases_car ADD COLUMN twice AS (2 * price)",
    )

    @pytest.mark.parametrize("harm", HARM)
    def test_a_casebase_has_tables_only(self, cbr, cars_db: Path, harm: str) -> None:
        tamper(cars_db, harm)
        with pytest.raises(NotACasebase, match=r"is damaged: .*(trigger|view|virtual|generated)"):
            Casebase.open(cars_db, write=True)
        answer = cbr("check", cars_db)
        assert (answer.code, "not sound" in answer.out) == (1, True)

    @pytest.mark.parametrize("harm", [sql.replace("cases_car", "settings") for sql in HARM])
    def test_so_has_a_run_file(self, cbr, tmp_path: Path, harm: str) -> None:
        path = tmp_path / "r.db"
        RunFile.create(path, {"seed": 1}).close()
        tamper(path, harm.replace("rows", "settings").replace("price", "value"))
        answer = cbr("evolve-report", path)
        assert (answer.code, "is damaged" in answer.err) == (2, True), answer

    @pytest.mark.parametrize(
        "harm",
        [
            "UPDATE settings SET value = 5",
            "UPDATE settings SET value = '{'",
            "UPDATE settings SET value = '\"x\"' WHERE name = 'stages'",
            "DELETE FROM settings",
            "DROP TABLE individuals",
            "INSERT INTO generations VALUES (1, 1, 1, 0.0, 1.0, '{}')",
        ],
    )
    def test_a_damaged_run_is_a_sentence(self, cbr, tmp_path: Path, harm: str) -> None:
        path = tmp_path / "r.db"
        settings = {"stages": {"car": ["price"]}, "plan": {"name": "p"}, "arenas": ["a"]}
        settings |= {"objective": "mean", "seed": 1, "casebase": {}, "unit": "u", "trial": "t"}
        RunFile.create(path, settings | {"published": {}}).close()
        assert cbr("evolve-report", path).code == 0
        tamper(path, harm)
        answer = cbr("evolve-report", path)
        assert (answer.code, "is damaged" in answer.err) == (2, True), answer
        assert answer.err.count("\n") == 1

    def test_sqlite_trusts_nothing_in_the_file(self, cars_db: Path) -> None:
        db = connect(cars_db)
        for pragma, value in (("trusted_schema", 0), ("cell_size_check", 1), ("mmap_size", 0)):
            assert db.execute(f"PRAGMA {pragma}").fetchone()[0] == value
        if sys.version_info >= (3, 12):
            assert db.conn.getconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE)
        db.close()


class TestWriting:
    def test_nothing_is_written_outside_of_a_transaction(self, cars: Casebase) -> None:
        case_type = cars.case_type("car")
        row = next(iter(cars.cases("car")))
        columns = {name: [value] for name, value in row.values.items()}
        for write in (
            lambda: cars.add("car", columns, ["buy"], [None], [None], [0]),
            lambda: cars.add_hidden(case_type, columns, ["buy"], [None], [1], [0]),
            lambda: cars.put_values("car", [1], "buy", [1.0]),
            lambda: cars.put_learned("a", np.zeros(3)),
            lambda: cars.source_number("new.csv", "table"),
            lambda: cars.keep_records(1, []),
            lambda: cars.keep_skipped(1, []),
            lambda: cars.remove("car", [1]),
            lambda: cars.redefine(case_type, ""),
        ):
            with pytest.raises(OutsideTransaction, match=r"`with casebase.transaction\(\):`"):
                write()
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            cars.db.execute("DELETE FROM rows")
        with cars.transaction():
            cars.add("car", columns, ["buy"], [None], [None], [0])
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            cars.db.execute("DELETE FROM rows")
        cars.close()
        with Casebase.open(cars.path) as again:
            assert (again.count("car"), again.count_records()) == (401, 400)
        assert check(cars.path) == []

    def test_a_transaction_inside_reading_would_be_rolled_back(self, cars: Casebase) -> None:
        with cars.reading(), pytest.raises(OutsideTransaction), cars.transaction():
            cars.remove("car", [1])


class TestRecords:
    @pytest.mark.parametrize(
        ("harm", "says"),
        [
            ("UPDATE cases_car SET step = 7 WHERE id = 3", "1 cases of stage 'car' are not in"),
            ("UPDATE cases_car SET record = 4 WHERE id = 3", "two cases at step 0 of row 4"),
        ],
    )
    def test_what_cannot_be_rebuilt_is_not_sound(self, cbr, cars_db, harm: str, says: str) -> None:
        tamper(cars_db, harm)
        answer = cbr("check", cars_db, "--plugin", CARS_PLUGIN)
        assert (answer.code, says in answer.out) == (1, True), answer
        assert cbr("rebuild", cars_db, "--plugin", CARS_PLUGIN).code == 2


class TestSizes:
    def test_a_count_takes_no_memory(self, cbr, cars_db: Path) -> None:
        tamper(cars_db, "UPDATE stages SET cases = 1000000000")
        with Casebase.open(cars_db) as base, pytest.raises(NotACasebase, match="has 400 cases"):
            base.vectors("car")
        answer = cbr("query", cars_db, *QUERY)
        assert (answer.code, "not the 1,000,000,000 that it counts" in answer.err) == (2, True)
        assert cbr("check", cars_db).code == 1

    @pytest.mark.filterwarnings("error")
    def test_a_number_beyond_float32_is_a_finding_without_a_warning(self, cars_db: Path) -> None:
        tamper(cars_db, "UPDATE cases_car SET price = 1e308 WHERE id = 3")
        assert any("price is 1e+308" in finding for finding in check(cars_db))

    def test_a_feature_has_so_many_values(self, cbr, cars_db: Path) -> None:
        values = [f"value {number}" for number in range(300_000)]
        redefine(cars_db, lambda plain: plain["features"][4].update(values=values))
        for words in (["info"], ["query", *QUERY], ["export", "--to", "csv"]):
            answer = cbr(words[0], cars_db, *words[1:])
            assert (answer.code, "300,000 values of 'fuel'" in answer.err) == (2, True)
            assert len(answer.err) < 500
        assert cbr("check", cars_db).code == 1

    @pytest.mark.long
    def test_a_long_body_is_not_read(self, cbr, cars_db: Path) -> None:
        """SQLite refuses the value; none of its 100 MB gets into this process."""
        tamper(cars_db, "UPDATE rows SET body = CAST(zeroblob(100000000) AS TEXT) WHERE id = 3")
        assert peak_of(lambda: check(cars_db)) < 50e6
        for words in (["check"], ["rebuild"], ["export", "--to", "csv"], ["info"]):
            answer = cbr(words[0], cars_db, *words[1:], "--plugin", CARS_PLUGIN)
            assert answer.code in (0, 1, 2), answer
            assert "Internal" not in answer.err
        assert "too big" in cbr("check", cars_db).out

    def test_records_are_read_in_bounded_pieces(self, cars: Casebase, monkeypatch) -> None:
        monkeypatch.setattr("cbr.store.casebase._MOST_CHARACTERS", 1_000)
        pieces = [len(numbers) for numbers, _ in cars.read_records(300)]
        assert sum(pieces) == 400
        assert max(pieces) < 20

    def test_an_archive_says_what_it_unpacks_to(self, tmp_path: Path, monkeypatch) -> None:
        path = tmp_path / "l.npz"
        np.savez_compressed(path, a=np.zeros(1_000_000))
        assert path.stat().st_size < 20_000
        assert read_arrays(path)["a"].shape == (1_000_000,)
        monkeypatch.setattr("cbr.files.stamped._MOST_UNPACKED", 1_000_000)

        def read() -> None:
            with pytest.raises(Damaged, match=r"would unpack to 8,000,128 bytes, and 1,000,000"):
                read_arrays(path)

        assert peak_of(read) < 1e6

    def test_no_more_is_unpacked_than_an_archive_says(self, tmp_path: Path) -> None:
        path = tmp_path / "l.npz"
        np.savez_compressed(path, a=np.zeros(1_000_000))
        size = (8_000_128).to_bytes(4, "little")
        path.write_bytes(path.read_bytes().replace(size, (100).to_bytes(4, "little")))

        def read() -> None:
            with pytest.raises(Damaged):
                read_arrays(path)

        assert peak_of(read) < 2e6

    @pytest.mark.parametrize(
        ("header", "why"),
        [
            (
                {"descr": "<f8", "fortran_order": False, "shape": (10**12,)},
                "64 bytes for the shape",
            ),
            ({"descr": "<f8", "fortran_order": False, "shape": (-1, -8)}, "64 bytes for the shape"),
            ({"descr": "|O", "fortran_order": False, "shape": (8,)}, "not numbers or texts"),
            ({"descr": "<f8", "fortran_order": False, "shape": (7,)}, "64 bytes for the shape"),
        ],
    )
    def test_an_array_is_as_large_as_its_bytes(self, header: dict, why: str) -> None:
        out = io.BytesIO()
        np.lib.format.write_array_header_1_0(out, header)
        with pytest.raises(Damaged, match=why):
            read_array(out.getvalue() + bytes(64))

    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("kind", ["f2", "f8", "i8", "u1", "?", "U3", "S2"])
    def test_what_numpy_saved_is_read(self, kind: str, order: str) -> None:
        array = np.array(np.arange(6).reshape(2, 3).astype(kind), order=order)
        out = io.BytesIO()
        np.save(out, array)
        found = read_array(out.getvalue())
        assert (found == array).all()
        assert (found.dtype, found.flags.writeable) == (array.dtype, True)


class TestJson:
    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("[" * 100_000, "64 lists and objects"),
            ('{"a":' * 70 + "1" + "}" * 70, "64 lists and objects"),
            ('["' + "x" * (1 << 24) + '"]', "characters"),
            ("nonsense", "Expecting value"),
            ('"\\ud800"', "not Unicode"),
            ("1" * 10_000, "digits"),
            (b"\xff", "not UTF-8"),
            (None, "not text"),
        ],
    )
    def test_what_is_refused(self, text: object, why: str) -> None:
        with pytest.raises(BadJson, match=why):
            read_json(text)

    def test_brackets_in_a_text_are_not_nested(self) -> None:
        given = [{"a\\": '["{' * 200}] * 100
        assert read_json(json.dumps(given)) == given
        assert read_json('["\\ud83d\\ude00"]') == ["\U0001f600"]

    def test_every_reader_refuses_it(self, cbr, cars_db: Path, tmp_path: Path) -> None:
        deep = '{"a":' + "[" * 900 + "]" * 900 + "}"
        path = tmp_path / "w.json"
        path.write_text(deep)
        with pytest.raises(BadWeights, match="64 lists and objects"):
            Weights.load(path)
        for words in (["--weights", path], ["--case", deep]):
            answer = cbr("query", cars_db, *QUERY, *words)
            assert (answer.code, "64 lists and objects" in answer.err) == (2, True)
        tamper(cars_db, f"UPDATE stages SET case_type = '{deep}'")
        answer = cbr("info", cars_db)
        assert (answer.code, "64 lists and objects" in answer.err) == (2, True)


class TestTerminal:
    def test_escapes_in_names_are_shown(self, cbr, cars_db: Path) -> None:
        """In tables, lines, notes and errors; JSON has escapes of its own."""
        evil = "\x1b[2Jred\x9b5m\u202e"
        redefine(cars_db, lambda plain: plain["features"][0].update(meaning=evil, unit=evil))
        tamper(
            cars_db,
            f"UPDATE sources SET name = '{evil}'",
            f"INSERT INTO skipped VALUES (1, 900, 1, '{evil}')",
        )
        shown = cbr("info", cars_db)
        assert shown.code == 0
        assert r"\x1b[2Jred\x9b5m\u202e" in shown.out
        answer = cbr("info", cars_db, "--json")
        assert answer.json["sources"][0]["name"] == evil
        redefine(cars_db, lambda plain: plain.update(solutions=[evil, "buy", "haggle"]))
        for found in (shown, answer, cbr("check", cars_db), cbr("query", cars_db, "--case", evil)):
            assert not {"\x1b", "\x9b", "\u202e"} & set(found.out + found.err)
