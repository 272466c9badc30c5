"""The casebase keeps whole batches, knows its digest, and tells a stranger's file apart."""

from __future__ import annotations

import os
import random
import sqlite3
from pathlib import Path

import pytest

from cbr.case import CaseType, Feature
from cbr.errors import BadValue, EmptyStage, NewerSchema, NoSuchName, NotACasebase
from cbr.store import schema
from cbr.store.casebase import Casebase
from cbr.upkeep.soundness import check

TYPE = CaseType(
    "thing",
    [Feature("x", range=(0, 10)), Feature("c", values=("p", "q")), Feature("n", indexed=False)],
    ["yes", "no"],
)
ROWS = [
    (1, "p", "one", "yes", 2.0),
    (1, "p", "two", "no", None),
    (3.3, "q", "three", "yes", -1.0),
    (-0.0, "q", "four", "no", 0.5),
    (0.0, "q", "five", "no", 1.5),
]


def fill(base: Casebase, rows: list[tuple] = ROWS, batch: int = 2) -> None:
    for at in range(0, len(rows), batch):
        part = rows[at : at + batch]
        x, c, n, solution, outcome = zip(*part, strict=True)
        with base.transaction():
            base.add(
                "thing",
                {"x": x, "c": c, "n": n},
                solution,
                outcome,
                [None] * len(part),
                range(len(part)),
            )


@pytest.fixture
def base(tmp_path: Path):
    with Casebase.create(tmp_path / "things.db", [TYPE]) as made:
        fill(made)
        yield made


def test_what_goes_in_comes_out(base: Casebase) -> None:
    cases = list(base.cases("thing"))
    assert [c.solution for c in cases] == [row[3] for row in ROWS]
    assert [c.outcome for c in cases] == [row[4] for row in ROWS]
    assert cases[0].values == {"x": 1.0, "c": "p", "n": "one"}
    assert cases[2].values["x"] == pytest.approx(3.3, abs=1e-6)
    assert [c.id for c in base.cases("thing", [4, 2])] == [2, 4]
    assert base.count("thing") == 5


def test_write_version_counts_commits(base: Casebase) -> None:
    assert base.write_version == 3
    with pytest.raises(RuntimeError), base.transaction():
        base.add("thing", {"x": [1], "c": ["p"], "n": [""]}, ["yes"], [None], [None], [0])
        raise RuntimeError
    assert (base.write_version, base.count("thing")) == (3, 5)
    assert check(base.path) == []


def test_equal_vectors_are_one(base: Casebase) -> None:
    vectors = base.vectors("thing")
    assert vectors.values.tolist() == [[0, 1], [1, 0], [pytest.approx(3.3), 1]]
    assert vectors.counts.tolist() == [[0, 2], [1, 1], [1, 0]]
    assert vectors.outcome_sum.tolist() == [[0, 2.0], [2.0, 0], [-1.0, 0]]
    assert vectors.outcome_count.tolist() == [[0, 2], [1, 0], [1, 0]]
    assert vectors.cases.tolist() == [2, 2, 1]
    assert vectors.case_ids.tolist() == [4, 5, 1, 2, 3]


def test_vectors_follow_what_is_written(base: Casebase) -> None:
    before = base.vectors("thing")
    assert base.vectors("thing") is before
    fill(base, ROWS[:1])
    assert base.vectors("thing").cases.sum() == 6


def test_the_digest_does_not_know_order_or_batches(tmp_path: Path, base: Casebase) -> None:
    rows = ROWS * 3
    digests = set()
    for seed in range(4):
        shuffled = rows[:]
        random.Random(seed).shuffle(shuffled)
        with Casebase.create(tmp_path / f"{seed}.db", [TYPE]) as other:
            fill(other, shuffled, batch=seed + 1)
            digests.add(other.digest("thing"))
    assert len(digests) == 1
    assert base.digest("thing") not in digests


@pytest.mark.parametrize(
    "changed",
    [(2, "p", "one", "yes"), (1, "q", "one", "yes"), (1, "p", "1", "yes"), (1, "p", "one", "no")],
)
def test_the_digest_sees_features_and_solution(tmp_path: Path, changed: tuple) -> None:
    digests = []
    for name, row in [("a", ROWS[0]), ("b", (*changed, 2.0)), ("c", (*ROWS[0][:4], 99.0))]:
        with Casebase.create(tmp_path / f"{name}.db", [TYPE]) as made:
            fill(made, [row])
            digests.append(made.digest("thing"))
    assert digests[0] != digests[1]
    assert digests[0] == digests[2]  # an outcome may be revised; the cases stay the same


def test_removing_takes_the_digest_back(tmp_path: Path, base: Casebase) -> None:
    with base.transaction():
        base.remove("thing", [2, 4])
    with Casebase.create(tmp_path / "other.db", [TYPE]) as other:
        fill(other, [ROWS[0], ROWS[2], ROWS[4]])
        assert base.digest("thing") == other.digest("thing")
    assert base.count("thing") == 3
    assert check(base.path) == []
    with pytest.raises(BadValue, match="no case 77"), base.transaction():
        base.remove("thing", [1, 77])
    assert base.count("thing") == 3


def test_a_stage_must_exist_and_hold_cases(tmp_path: Path, base: Casebase) -> None:
    with pytest.raises(NoSuchName, match="'thingg'; did you mean 'thing'"):
        base.vectors("thingg")
    with Casebase.create(tmp_path / "empty.db", [TYPE]) as empty, pytest.raises(EmptyStage):
        empty.vectors("thing")


def test_two_stages_must_be_named(tmp_path: Path) -> None:
    types = [CaseType(f"game/{s}", [Feature("x", range=(0, 1))], ["a"]) for s in ("one", "two")]
    with Casebase.create(tmp_path / "game.db", types) as base:
        assert base.stages == ["one", "two"]
        with pytest.raises(BadValue, match="one, two"):
            base.stage()


def test_types_of_two_domains_do_not_mix(tmp_path: Path) -> None:
    other = CaseType("other", [Feature("x", range=(0, 1))], ["a"])
    with pytest.raises(BadValue, match="one domain"):
        Casebase.create(tmp_path / "x.db", [TYPE, other])
    assert not (tmp_path / "x.db").exists()


def test_reading_changes_nothing(base: Casebase) -> None:
    base.close()
    before = base.path.read_bytes()
    with Casebase.open(base.path) as again:
        assert again.case_type("thing") == TYPE
        with pytest.raises(BadValue, match="reading only"), again.transaction():
            pass
        with pytest.raises(sqlite3.OperationalError):
            again.db.execute("DELETE FROM cases_thing")
    assert base.path.read_bytes() == before
    assert list(base.path.parent.iterdir()) == [base.path]


def test_a_read_only_folder_can_be_read(base: Casebase, monkeypatch: pytest.MonkeyPatch) -> None:
    base.close()
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    with Casebase.open(base.path) as again:
        assert again.count("thing") == 5
        assert [p.name for p in base.path.parent.iterdir()] == ["things.db"]
    with pytest.raises(BadValue, match="permissions"):
        Casebase.open(base.path, write=True)


def test_closing_leaves_one_file(base: Casebase) -> None:
    base.close()
    assert [p.name for p in base.path.parent.iterdir()] == ["things.db"]


def test_creating_never_overwrites(base: Casebase) -> None:
    with pytest.raises(BadValue, match="exists"):
        Casebase.create(base.path, [TYPE])
    base.close()
    base.path.rename(base.path.with_suffix(".moved"))
    Path(f"{base.path}-wal").touch()
    with pytest.raises(BadValue, match="left from a deleted"):
        Casebase.create(base.path, [TYPE])
    with pytest.raises(BadValue, match="no folder"):
        Casebase.create(base.path.parent / "nowhere" / "x.db", [TYPE])


def test_strangers_are_told_apart(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("hello")
    database = tmp_path / "other.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    for path, says in [
        (tmp_path / "none.db", "no casebase"),
        (tmp_path, "a folder"),
        (text, "no SQLite file"),
        (database, "another program"),
    ]:
        with pytest.raises(NotACasebase, match=says):
            Casebase.open(path)


def test_a_newer_schema_is_refused(base: Casebase) -> None:
    with base.transaction():
        base.db.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}")
    base.close()
    with pytest.raises(NewerSchema, match=f"version {schema.SCHEMA_VERSION + 1}.*update"):
        Casebase.open(base.path)


def test_migrations_are_recorded_and_applied_once(
    base: Casebase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older file gets the steps it lacks when it is next opened."""
    assert [m.name for m in schema.MIGRATIONS.applied(base.db)] == [
        "1: meta, stages, sources, skipped"
    ]
    base.close()
    later = schema.Migrations("cbr-casebase")
    later._migrations = list(schema.MIGRATIONS._migrations)

    @later(name="2: notes")
    def _second(db):
        db.table("notes").create({"text": str})
        db.execute("PRAGMA user_version = 2")

    monkeypatch.setattr(schema, "MIGRATIONS", later)
    monkeypatch.setattr(schema, "SCHEMA_VERSION", 2)
    for _ in range(2):
        with Casebase.open(base.path, write=True) as again:
            assert [m.name for m in later.applied(again.db)][1:] == ["2: notes"]
            assert again.db.table("notes").exists()
            assert again.count("thing") == 5
    assert check(base.path) == []


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        ("UPDATE cases_thing SET x = 9 WHERE id = 1", "digest"),
        ("DELETE FROM cases_thing WHERE id = 1", "4 cases, 5 are recorded"),
        ("UPDATE cases_thing SET x = 9e999 WHERE id = 1", "finite"),
        ("UPDATE cases_thing SET c = 'z' WHERE id = 1", "one of p, q"),
        ("UPDATE cases_thing SET solution = 'maybe' WHERE id = 1", "solution 'maybe'"),
        ("UPDATE cases_thing SET record = 12 WHERE id = 1", "do not exist"),
        ("DELETE FROM _sqlite_migrations", "schema steps"),
        ("ALTER TABLE cases_thing RENAME COLUMN x TO y", "no column 'x'"),
    ],
)
def test_check_finds_harm(base: Casebase, harm: str, says: str) -> None:
    assert check(base.path) == []
    with base.transaction():
        base.db.execute(harm)
    base.close()
    findings = check(base.path)
    assert any(says in finding for finding in findings), findings


def test_check_finds_a_damaged_file(base: Casebase) -> None:
    fill(base, ROWS * 2000, batch=10_000)
    base.close()
    data = bytearray(base.path.read_bytes())
    for at in range(4096 * 20, len(data) - 4096, 4096 * 7):
        data[at : at + 300] = os.urandom(300)
    base.path.write_bytes(data)
    try:
        assert check(base.path) != []
    except NotACasebase as error:
        assert "damaged" in str(error)
