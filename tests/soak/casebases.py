"""Mutated casebases: whatever is wrong in one, `cbr check` finds it, or every command can use it.

`mutate` changes a casebase at random and tells what it did; `survives` runs the commands on it and
tells what went wrong, if anything; `soak` does both, a number of times from a seed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import signal
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cbr.case import CaseType
from cbr.cli import main
from cbr.store import digest
from soak.part import Found

ROOT = Path(__file__).parent.parent.parent
CARS = ROOT / "tests" / "cars"
#: Seconds after which a command counts as hanging; compiling for a new machine takes long.
_PATIENCE = 180

#: Mutations of a piece.
_PIECE = 40

Mutation = Callable[[sqlite3.Connection, random.Random], str]

#: Values of every kind that a cell may be given.
ODD: list[Any] = [
    *(None, "", "x", "5", "nan", "../../x", "a]b", 'a"b', "a`b", "a'b", "\x1b[31mred", "\u202e"),
    *("\ud83d\ude00", "L" * 100_000, "[" * 5_000, "null", "{}", "NULL; DROP TABLE meta"),
    *(
        b"",
        b"\x00\xff",
        b"\x80" * 1000,
        "buy",
        "petrol",
        "fold",
        "call",
        "flop",
        "car",
        "worlds.grid",
    ),
    *(0, 1, -1, 2, 3, 10**9, 2**31, 2**62, -(2**63), 2**63 - 1),
    *(0.0, -0.0, 0.5, 1e-320, 1e38, 3.3e38, -3e38, 1e99, 1e308, float("inf"), float("-inf")),
]


def small_casebases(folder: Path) -> list[Path]:
    """Small sound casebases: of cars with values and a learned array, and of limit hold'em with
    hidden decisions, labels and table models."""
    cars, holdem = folder / "cars.db", folder / "holdem.db"
    table = folder / "cars.csv"
    table.write_text("".join((CARS / "cars.csv").read_text().splitlines(keepends=True)[:41]))
    log = folder / "hands.phhs"
    hands = (ROOT / "casebases" / "sample.phhs").read_text().split("\n\n[")[:60]
    log.write_text("\n\n[".join(hands) + "\n")
    for words in (
        ["build", table, "--type", "car", "--out", cars, "--plugin", CARS / "cars.py"],
        ["build", log, "--out", holdem],
        ["label", holdem, *"--cases 3 --deals 2 --rounds 1 --hands 60".split()],
    ):
        code, _, err = run(*words)
        assert code == 0, err
    with _casebase(cars) as base, base.transaction():
        base.put_values("car", [1, 2, 3], "buy", [1.0, 2.0, 3.0], [0.1, 0.2, None])
        base.put_learned("means", np.arange(6.0).reshape(2, 3))
    with _casebase(holdem) as base, base.transaction():
        base.put_learned("worlds.hands", np.array([5_000]))  # enough hands for a bot to adapt
    return [cars, holdem]


def _casebase(path: Path) -> Any:
    from cbr.store import Casebase

    return Casebase.open(path, write=True)


# --- mutations ----------------------------------------------------------------------------------


def mutate(path: Path, rng: random.Random, choice: dict[Mutation, int] | None = None) -> str:
    """Change a SQLite file at random, by default a casebase; returns what was done."""
    choice = choice or MUTATIONS
    if rng.random() < 0.08:
        return _flip_bytes(path, rng)
    done = []
    connection = sqlite3.connect(path, isolation_level=None)
    connection.text_factory = bytes
    try:
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            mutation = rng.choices(list(choice), list(choice.values()))[0]
            try:
                done.append(mutation(connection, rng))
            except Exception as error:  # SQLite refuses it, or what it needs is not there any more
                done.append(f"{mutation.__name__}: impossible ({error})")
    finally:
        connection.close()
    if rng.random() < 0.7 and repair(path):
        done.append("counts and digests made to match")
    return "; ".join(done)


def _tables(db: sqlite3.Connection) -> list[str]:
    rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [row[0].decode() for row in rows]


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [row[1].decode() for row in db.execute(f'PRAGMA table_info("{table}")')]


def _spot(db: sqlite3.Connection, rng: random.Random) -> tuple[str, str, int]:
    """A table, a column and a row, at random; each table is as likely, however long it is."""
    tables = [t for t in _tables(db) if db.execute(f'SELECT 1 FROM "{t}" LIMIT 1').fetchone()]
    table = rng.choice(tables)
    column = rng.choice(_columns(db, table))
    rows = [row[0] for row in db.execute(f'SELECT rowid FROM "{table}"')]
    return table, column, rng.choice(rows)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."


def set_cell(db: sqlite3.Connection, rng: random.Random) -> str:
    table, column, row = _spot(db, rng)
    value = rng.choice(ODD)
    db.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', [value, row])
    return f"{table}.{column} of row {row} = {_short(value)}"


def set_column(db: sqlite3.Connection, rng: random.Random) -> str:
    table, column, _ = _spot(db, rng)
    value = rng.choice(ODD)
    db.execute(f'UPDATE "{table}" SET "{column}" = ?', [value])
    return f"{table}.{column} = {_short(value)}"


def bad_text(db: sqlite3.Connection, rng: random.Random) -> str:
    table, column, row = _spot(db, rng)
    query = f'UPDATE "{table}" SET "{column}" = CAST(x\'80ff41\' AS TEXT) WHERE rowid = ?'
    db.execute(query, [row])
    return f"{table}.{column} of row {row} is not UTF-8"


def delete_rows(db: sqlite3.Connection, rng: random.Random) -> str:
    table, _, row = _spot(db, rng)
    compare = rng.choice(["=", ">", "<", "!="])
    db.execute(f'DELETE FROM "{table}" WHERE rowid {compare} ?', [row])
    return f"rows {compare} {row} of {table} deleted"


def double_row(db: sqlite3.Connection, rng: random.Random) -> str:
    table, column, row = _spot(db, rng)
    columns = [c for c in _columns(db, table) if c != "id"]
    names = ", ".join(f'"{c}"' for c in columns)
    values = ", ".join("?" if c == column else f'"{c}"' for c in columns)
    given = [rng.choice(ODD)] if column in columns else []
    db.execute(
        f'INSERT INTO "{table}" ({names}) SELECT {values} FROM "{table}" WHERE rowid = ?',
        [*given, row],
    )
    return f"row {row} of {table} again, with {column} = {_short(given)}"


def change_schema(db: sqlite3.Connection, rng: random.Random) -> str:
    table, column, _ = _spot(db, rng)
    sql = rng.choice(
        [
            f'DROP TABLE "{table}"',
            f'ALTER TABLE "{table}" DROP COLUMN "{column}"',
            f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "{column}x"',
            f'ALTER TABLE "{table}" RENAME TO "{table}x"',
            f'ALTER TABLE "{table}" ADD COLUMN extra',
            f'ALTER TABLE "{table}" ADD COLUMN extra INT NOT NULL DEFAULT 7',
            f'ALTER TABLE "{table}" ADD COLUMN extra AS (abs("{column}"))',
            f'CREATE TRIGGER t AFTER INSERT ON "{table}" BEGIN DELETE FROM stages; END',
            f'CREATE VIEW v AS SELECT * FROM "{table}"',
            f'CREATE UNIQUE INDEX i ON "{table}" ("{column}")',
            f'CREATE INDEX i ON "{table}" (abs("{column}"))',
            f'CREATE INDEX i ON "{table}" ("{column}")',
            f'CREATE VIRTUAL TABLE v USING fts5("{column}")',
            "CREATE TABLE new_car (x)",
            "CREATE TABLE new_hidden (x)",
            "CREATE TABLE other (x)",
            "CREATE TABLE solution_values (x)",
            "CREATE TABLE learned (name, body)",
            f"PRAGMA user_version = {rng.choice([0, 1, 2, 99])}",
            f"PRAGMA application_id = {rng.choice([0, 1])}",
            "PRAGMA journal_mode = DELETE",
        ]
    )
    db.execute(sql)
    return sql


def redeclare(db: sqlite3.Connection, rng: random.Random) -> str:
    """Change the stored definition of a table behind SQLite's back."""
    table = rng.choice(_tables(db))
    was, now = rng.choice(
        [
            ("TEXT", "TEXT CHECK (1 = 0)"),
            ("TEXT", "TEXT COLLATE NOCASE"),
            ("REAL", "REAL DEFAULT 7"),
            ("INTEGER", "INTEGER CHECK (abs(1) = 2)"),
            ("TEXT", "BLOB"),
            ("REAL", "TEXT"),
            (" NOT NULL", ""),
            (" REFERENCES", " CONSTRAINT c REFERENCES"),
        ]
    )
    db.execute("PRAGMA writable_schema = ON")
    sql = "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ?"
    db.execute(sql, [was, now, table])
    db.execute("PRAGMA writable_schema = RESET")
    return f"{table} declared with {now!r} for {was!r}"


def change_definition(db: sqlite3.Connection, rng: random.Random) -> str:
    """Change one place of the JSON of a case type."""
    rows = db.execute("SELECT rowid, case_type FROM stages").fetchall()
    row, text = rng.choice(rows)
    plain = json.loads(text)
    places = list(places_of(plain))
    inside, key = rng.choice(places)
    what = rng.choice(["set", "set", "set", "drop", "number", "text", "deep"])
    if what == "drop":
        del inside[key]
    else:
        inside[key] = {
            "set": [None, True, 5, -1, 0, "", "x", [], {}, "a]b", "../x", "\x1b[2J", 1e300, [0, 1]],
            "number": [0, -1, 1e-320, 1e99, 1e200, 10**400, float("inf"), float("nan"), True],
            "text": ["top?k=0", "linear?span=0", "equal", "linear", "threshold?above=nope", "?"],
            "deep": [json.loads("[" * 500 + "]" * 500), ["v"] * 3, [str(n) for n in range(70_000)]],
        }[what][rng.randrange(3 if what == "deep" else 6)]
    db.execute("UPDATE stages SET case_type = ? WHERE rowid = ?", [json.dumps(plain), row])
    return f"case type of row {row}: {key!r} {what} {_short(inside[key]) if what != 'drop' else ''}"


def places_of(plain: Any) -> Iterator[tuple[Any, Any]]:
    for key in plain if isinstance(plain, dict) else range(len(plain)):
        yield plain, key
        if isinstance(plain[key], dict | list):
            yield from places_of(plain[key])


def rename_stage(db: sqlite3.Connection, rng: random.Random) -> str:
    """Give a stage another name everywhere."""
    row, stage, text = rng.choice(
        db.execute("SELECT rowid, stage, case_type FROM stages").fetchall()
    )
    new = rng.choice(
        ["../../x", "a]b", 'a"b', "a`b", "hidden", "meta", "x y", "A", "", "é", "n" * 200]
    )
    plain = json.loads(text)
    plain["name"] = new
    given = [new, json.dumps(plain), row]
    db.execute("UPDATE stages SET stage = ?, case_type = ? WHERE rowid = ?", given)
    quoted = f"cases_{new}".replace('"', '""')
    db.execute(f'ALTER TABLE "cases_{stage.decode()}" RENAME TO "{quoted}"')
    return f"stage {stage!r} called {new!r}"


def change_array(db: sqlite3.Connection, rng: random.Random) -> str:
    """Change a learned array."""
    name, body = rng.choice(db.execute("SELECT name, body FROM learned").fetchall())
    what = rng.choice(["shape", "kind", "values", "huge", "zip", "object", "cut", "flip", "empty"])
    array = np.load(io.BytesIO(body))
    if what == "shape":
        array = rng.choice([array.reshape(-1), array[:0], array[None], np.float32(1), array[:1]])
    elif what == "kind":
        kinds = ["f2", "f4", "f8", "i8", "u1", "?", "U3", "c8", "S2", "V4", "M8[s]"]
        array = array.astype(rng.choice(kinds))
    elif what == "values":
        array = array.copy()
        odd = (
            [np.nan, np.inf, -1, 0, 255, 1e30, 1e5] if array.dtype.kind == "f" else [-1, 0, 99, 250]
        )
        with np.errstate(all="ignore"):
            value = np.array(rng.choice(odd)).astype(array.dtype)
        array[... if rng.random() < 0.3 else (0,) * array.ndim] = value
    elif what == "object":
        array = np.array([{"a": 1}], object)
    out = io.BytesIO()
    np.save(out, array)
    new = out.getvalue()
    if what == "huge":
        head = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 10**6)}
        out = io.BytesIO()
        np.lib.format.write_array_header_1_0(out, head)
        new = out.getvalue() + b"\0" * 64
    elif what == "zip":
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("a.npy", new)
        new = out.getvalue()
    elif what == "cut":
        new = new[: rng.randrange(len(new))]
    elif what == "flip":
        changed = bytearray(new)
        changed[rng.randrange(min(len(new), 128))] = rng.randrange(256)
        new = bytes(changed)
    elif what == "empty":
        new = b""
    db.execute("UPDATE learned SET body = ? WHERE name = ?", [new, name.decode()])
    return f"array {name.decode()!r}: {what} {getattr(array, 'shape', '')} {array.dtype}"


def _flip_bytes(path: Path, rng: random.Random) -> str:
    data = bytearray(path.read_bytes())
    places = [rng.randrange(len(data)) for _ in range(rng.choice([1, 1, 3, 30]))]
    if rng.random() < 0.3:
        places = [place % 4096 for place in places]
    for place in places:
        data[place] = rng.randrange(256)
    if rng.random() < 0.1:
        data = data[: rng.randrange(len(data))]
    path.write_bytes(data)
    return f"bytes at {places[:5]} changed, {len(data)} left"


#: Mutations and how often each is drawn.
MUTATIONS: dict[Mutation, int] = {
    **{set_cell: 10, set_column: 3, bad_text: 2, delete_rows: 2, double_row: 3},
    **{change_schema: 4, redeclare: 2, change_definition: 8, rename_stage: 1, change_array: 4},
}


def repair(path: Path) -> bool:
    """Make counts and digests match what is there, so that a wrong value is not found by these."""
    db = sqlite3.connect(path)
    try:
        for table in ("rows", "hands"):
            with contextlib.suppress(sqlite3.Error):
                for number, body in db.execute(f"SELECT id, body FROM {table}").fetchall():
                    mark = digest.record_digest(str(body))
                    db.execute(f"UPDATE {table} SET digest = ? WHERE id = ?", [mark, number])
        for stage, text in db.execute("SELECT stage, case_type FROM stages").fetchall():
            case_type = CaseType.from_json(text)
            names = ", ".join(f"`{f.name}`" for f in case_type.features)
            rows = db.execute(f"SELECT {names}, solution FROM `cases_{stage}`").fetchall()
            columns = [list(c) for c in zip(*rows, strict=True)] or [[]] * (
                len(case_type.features) + 1
            )
            with np.errstate(all="ignore"):
                mark = digest.add("", digest.sum_of_rows(case_type, columns))
            db.execute(
                "UPDATE stages SET cases = ?, digest = ? WHERE stage = ?", [len(rows), mark, stage]
            )
        db.commit()
    except Exception:  # too much is wrong
        return False
    finally:
        db.close()
    return True


# --- commands -----------------------------------------------------------------------------------


class _Hangs(Exception):
    """A command that takes too long."""


def _alarm(*_: object) -> None:
    raise _Hangs


def run(*words: object) -> tuple[int, str, str]:
    """A command line run in this process: exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    out.isatty = err.isatty = lambda: False  # type: ignore[method-assign]
    handler = signal.signal(signal.SIGALRM, _alarm)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main([str(word) for word in words])
    except SystemExit as stop:
        return int(stop.code or 0), out.getvalue(), err.getvalue()
    except _Hangs:
        return -1, out.getvalue(), f"it hangs\n{err.getvalue()}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    return 0, out.getvalue(), err.getvalue()


def survives(path: Path) -> str | None:
    """Run the commands on a casebase; returns what went wrong, or None.

    No command may fail in any other way than by one sentence. If `cbr check` finds nothing, none
    may call the casebase damaged, no warning of numpy may appear, and after the commands that write
    it is still sound.
    """
    plugin = ["--plugin", CARS / "cars.py"]
    code, out, err = run("check", path, "--json", *plugin)
    if wrong := wrong_end("check", code, err):
        return wrong
    sound = code == 0
    for words in _commands(path, sound):
        code, out, err = run(*words, *plugin)
        if wrong := wrong_end(" ".join(map(str, words)), code, err):
            return f"{'sound' if sound else 'not sound'}: {wrong}"
        if "\x1b" in out or "\x1b" in err:
            return f"{words[0]} prints terminal escapes: {out[:200]!r} {err[:200]!r}"
        claims = ("damaged", "cannot be used", "cbr check", "invalid value", "Warning", "encounter")
        if sound and any(claim in err for claim in claims):
            return f"sound, but {' '.join(map(str, words))} says: {err.strip()[-300:]}"
        if sound and words[0] == "rebuild" and code and "is not loaded" not in err:
            return f"sound, but it cannot be rebuilt: {err.strip()[-300:]}"
    if sound:
        code, out, err = run("check", path, *plugin)
        if code:
            return f"no longer sound after the commands: {out.strip()[-300:]} {err.strip()[-300:]}"
    return None


def wrong_end(what: str, code: int, err: str) -> str | None:
    if code not in (0, 1, 2) or "Traceback" in err or "Internal error" in err:
        return f"{what} ended with {code}: {err.strip()[-500:]}"
    if code == 2 and f"\n{err}".count("\nError: ") != 1:
        return f"{what} says more than one sentence: {err.strip()[-500:]}"
    if "RuntimeWarning" in err or "encountered in" in err:
        return f"{what} lets a warning of numpy through: {err.strip()[-500:]}"
    return None


def _commands(path: Path, sound: bool) -> Iterator[list[object]]:
    """The commands, with a stage and a case of the casebase itself where they need one."""
    folder = path.with_suffix(".out")
    yield ["info", path]
    yield ["export", path, "--to", "csv", "--out", folder / "t"]
    stage, case, solution = _example(path)
    holdem = "holdem" in path.name
    query = ["query", path, *(["--stage", stage] if stage else [])]
    yield [*query, *(["--case", json.dumps(case, default=str)] if case else ["--record", "1"])]
    yield ["info", path, "--json"]
    if not sound:
        return
    yield [*query, "--record", "1", "--json"]
    if holdem:
        yield ["match", f"cbr:{path}", "call", "--hands", "4"]
        yield [*query, "--case", json.dumps(case or {}, default=str), "--reuse", "worth"]
    yield ["evaluate", path, *(["--stage", stage] if stage else []), "--folds", "3"]
    yield ["learn-weights", path, "--steps", "2", "--out", path.with_suffix(".w.json")]
    yield ["index", path, "--kind", "flat"]
    if case and solution:
        retained = [
            "--case",
            json.dumps(case, default=str),
            "--solution",
            solution,
            "--outcome",
            "1.5",
        ]
        yield ["retain", path, *(["--stage", stage] if stage else []), *retained]
    yield ["refine", path, *(["--stage", stage] if stage else [])]
    yield ["export", path, "--to", "phh", "--out", path.with_suffix(".phhs")]
    yield ["rebuild", path]


def _example(path: Path) -> tuple[str | None, dict[str, Any], str | None]:
    """A stage of a casebase, with the features and the solution of its first case."""
    from cbr.store import Casebase

    try:
        with Casebase.open(path) as base:
            for stage in base.stages:
                for case in base.cases(stage, range(1, 50)):
                    return stage, dict(case.values), case.solution
    except Exception:
        pass
    return None, {}, None


# --- soaking ------------------------------------------------------------------------------------


def soak(
    count: int, seed: int, folder: Path, tell: Callable[[str], None] | None = None
) -> list[str]:
    """Mutate and try casebases `count` times; returns what went wrong, each with its number."""
    environment = (
        {"CBR_CACHE_DIR": str(folder / "cache")} if "CBR_CACHE_DIR" not in os.environ else {}
    )
    os.environ.update(environment)
    made = folder / "made"
    made.mkdir(parents=True)
    bases, wrong = small_casebases(made), []
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        base = rng.choice(bases)
        with tempfile.TemporaryDirectory(dir=folder) as place:
            path = Path(shutil.copy(base, Path(place) / base.name))
            done = mutate(path, rng)
            if problem := survives(path):
                wrong.append(f"{number} ({base.stem}): {done}: {problem}")
                if tell is not None:
                    tell(wrong[-1])
    return wrong


def piece(seed: int, number: int, folder: Path) -> Found:
    """Some mutated casebases."""
    return Found(_PIECE, crashed=soak(_PIECE, 1_000_003 * seed + number, folder))
