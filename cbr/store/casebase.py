"""The casebase: cases in one SQLite file, from which every index is derived.

A file holds the stages of one domain, with the definition of each, so it can be opened and queried
without the plugin that built it. All writing happens in `Casebase.transaction`: a batch is written
completely or not at all, even if the process is killed.
"""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from cbr.case import Case, CaseType, Solution, Value
from cbr.checks import HIGHEST, shown
from cbr.errors import (
    AlreadyThere,
    BadValue,
    CbrError,
    NewerSchema,
    NoSuchName,
    NotACasebase,
    OutsideTransaction,
)
from cbr.files.stamped import Damaged, read_array
from cbr.store import array_reading, digest, schema
from cbr.store import shared_arrays as mapped
from cbr.store.arrays import Cases, Vectors
from cbr.store.columns import all_cells, open_cells, outcomes
from cbr.store.connection import (
    OpenedFiles,
    damaged,
    hindrance,
    new_database,
    open_database,
    verify_can_be_made,
    verify_is_casebase,
    verify_stages,
    verify_structure,
    verify_tables_only,
    writing,
)
from cbr.store.records import Numbered, Skipped
from cbr.store.schema import listed, quoted
from cbr.typing import Ints

#: The most characters of records that are read at a time.
_MOST_CHARACTERS = 1 << 26
Columns = Mapping[str, Sequence[Value | None] | NDArray[np.generic]]


class Casebase:
    """An open casebase file. Use `create` or `open`, and close it (or use ``with``)."""

    def __init__(self, db: Database, path: Path, writable: bool) -> None:
        self.db = db
        self.path = path
        self.writable = writable
        self._closed = False
        self._writing = False
        self._definitions: list[tuple[str, str]] = []
        self._case_types: dict[str, CaseType] = {}
        self._vectors: dict[str, tuple[int, Vectors]] = {}
        self._define()
        verify_structure(db, self.case_types)
        self._files = OpenedFiles(path)  # the log is there once something was read

    def _define(self) -> None:
        """Read the case types; repeated after another process has changed them (`cbr rebuild`)."""
        query = "SELECT stage, case_type FROM stages ORDER BY position"
        definitions = self.db.execute(query).fetchall()
        if definitions != self._definitions:
            self._definitions = definitions
            self._case_types = _case_types(definitions)

    @classmethod
    def create(cls, path: str | Path, case_types: Sequence[CaseType], selection: str = "") -> Self:
        """A new, empty casebase for the stages of one domain.

        The file is created atomically: it appears under its name only when it is complete.
        """
        path = Path(path)
        verify_stages(case_types)
        if path.exists():
            raise AlreadyThere(f"{path} exists already; open it, or choose another name")
        verify_can_be_made(path)
        try:
            with writing(path), new_database(path) as db:
                schema.create(db, case_types, selection)
        except OSError as error:
            raise BadValue(f"cannot write {path}: {error.strerror}") from None
        return cls.open(path, write=True)

    @classmethod
    def open(cls, path: str | Path, write: bool = False) -> Self:
        """Open an existing casebase; without `write` nothing in it can change."""
        path = Path(path)
        verify_is_casebase(path)
        try:
            db = open_database(path, write)
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError and not hindrance(error):  # a full disk
                raise
            raise damaged(path, error) from error
        try:
            version = int(db.execute("PRAGMA user_version").fetchone()[0])
            if version > schema.SCHEMA_VERSION:
                db.close()
                raise NewerSchema(
                    f"{path} has schema version {version}, this program knows up to "
                    f"{schema.SCHEMA_VERSION}; update cbr-engine"
                )
            if version < schema.SCHEMA_VERSION and not write:
                db.close()
                raise NotACasebase(
                    f"{path} has the older schema version {version}; `cbr rebuild` brings it up to "
                    f"version {schema.SCHEMA_VERSION}"
                )
            verify_tables_only(db)
            if version < schema.SCHEMA_VERSION:
                schema.MIGRATIONS.apply(db)
            db.execute("PRAGMA query_only = ON")  # until a transaction begins
            return cls(db, path, write)
        except NotACasebase:
            raise
        except CbrError as error:
            raise damaged(path, error) from None
        except (sqlite3.DatabaseError, LookupError, ValueError, TypeError, AttributeError) as error:
            raise damaged(path, error) from error

    def close(self) -> None:
        """Checkpoint the write-ahead log and close the file; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self.writable:
            with suppress(sqlite3.OperationalError):  # a reader may block it; a later close does it
                self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.db.close()
        if self.writable:
            self._files.remove_log()

    @property
    def in_place(self) -> bool:
        """Whether the file that was opened still has its name."""
        return self._files.in_place

    def verify_in_place(self) -> None:
        """Raise if the file was deleted or replaced since it was opened."""
        self._files.verify()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close()
        if type(error) is sqlite3.DatabaseError:  # its subclasses stand for locks and full disks
            raise damaged(self.path, error) from error

    # --- content ------------------------------------------------------------------------------

    @property
    def stages(self) -> list[str]:
        return list(self._case_types)

    @property
    def case_types(self) -> list[CaseType]:
        return list(self._case_types.values())

    @property
    def domain(self) -> str:
        return self.case_types[0].domain

    @property
    def records(self) -> str:
        """Name of the table of records, which is the domain's word for them: rows, hands ..."""
        return self.case_types[0].record + "s"

    @property
    def records_table(self) -> str:
        """The table of records, quoted for SQL."""
        return quoted(self.records)

    @property
    def write_version(self) -> int:
        """How many transactions have been committed."""
        return int(self.db.table("meta").get("write_version")["value"])

    @property
    def selection(self) -> str:
        """The options of `cbr build` that selected its decisions."""
        query = "SELECT value FROM meta WHERE key = 'selection'"
        row = self.db.execute(query).fetchone()
        return str(row[0]) if row else ""

    def stage(self, name: str | None = None) -> str:
        """The stage of that name; the only one if none is named."""
        if name is None and len(self._case_types) == 1:
            return self.stages[0]
        if name is None:
            raise BadValue(f"name a stage; stages are {', '.join(self.stages)}")
        if name not in self._case_types:
            raise NoSuchName("stage", name, self.stages)
        return name

    def case_type(self, stage: str) -> CaseType:
        return self._case_types[self.stage(stage)]

    def count(self, stage: str) -> int:
        return int(self.db.table("stages").get(self.stage(stage))["cases"])

    def solutions(self, stage: str) -> dict[str, int]:
        """How many cases have each solution; nothing where solutions are numbers."""
        if self.case_type(stage).numeric:
            return {}
        found = dict.fromkeys(self.case_type(stage).solutions, 0)
        table = quoted(schema.case_table(stage))
        query = f"SELECT solution, COUNT(*) FROM {table} GROUP BY solution"
        for solution, count in self.db.execute(query).fetchall():
            self._verify_solution(stage, solution)
            found[solution] = count
        return found

    def _verify_solution(self, stage: str, solution: object) -> None:
        """Raise if the file has a solution that its case type does not have."""
        if stage not in self._case_types or solution not in self._case_types[stage].solutions:
            raise NotACasebase(
                f"{self.path} has {shown(solution)} as a solution of stage {shown(stage)}; "
                "`cbr check` lists what is wrong"
            )

    def spread(self, stage: str) -> dict[str, float | None]:
        """The least, mean and greatest solution of a stage whose solutions are numbers."""
        table = quoted(schema.case_table(stage))
        query = f"SELECT MIN(solution), AVG(solution), MAX(solution) FROM {table}"
        return dict(zip(("least", "mean", "most"), self.db.execute(query).fetchone(), strict=True))

    def column(self, stage: str, name: str) -> list[Value | None]:
        """The values of a feature, indexed or not, in order of the cases' numbers."""
        feature = self.case_type(stage).feature(name)
        table = quoted(schema.case_table(stage))
        query = f"SELECT {quoted(feature.name)} FROM {table} ORDER BY id"
        return [row[0] for row in self.db.execute(query)]

    def lacking(self, stage: str) -> dict[str, int]:
        """How many cases lack each feature that may be missing."""
        names = [feature.name for feature in self.case_type(stage).features if feature.missing]
        if not names:
            return {}
        known = ", ".join(f"COUNT(*) - COUNT({quoted(name)})" for name in names)
        query = f"SELECT {known} FROM {quoted(schema.case_table(stage))}"
        return dict(zip(names, self.db.execute(query).fetchone(), strict=True))

    def has_solution(self, stage: str, solution: str) -> bool:
        """Whether a case has this solution; fast if many have."""
        query = f"SELECT 1 FROM {quoted(schema.case_table(stage))} WHERE solution = ? LIMIT 1"
        return self.db.execute(query, [solution]).fetchone() is not None

    def digest(self, stage: str) -> str:
        """Order-independent digest of the stage's cases (features, solution)."""
        return str(self.db.table("stages").get(self.stage(stage))["digest"])

    def cases(self, stage: str, ids: Sequence[int] | None = None) -> Iterator[Case]:
        """Cases in order of their numbers: all, or those in `ids`. A missing value is left out of
        `Case.values`."""
        case_type = self.case_type(stage)
        names = _names(case_type)
        query = (
            f"SELECT id, solution, outcome, {listed(names)} FROM {quoted(schema.case_table(stage))}"
        )
        for where in _id_clauses(ids):
            for number, solution, outcome, *values in self.db.execute(
                f"{query}{where} ORDER BY id"
            ):
                known = zip(names, values, strict=True)
                given = {name: value for name, value in known if value is not None}
                yield Case(given, solution, outcome, number)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Several reads of the same state of the casebase, even if others write meanwhile."""
        if self.db.conn.in_transaction:
            yield
            return
        self.db.conn.execute("BEGIN")
        try:
            self._define()
            yield
        finally:
            self.db.conn.rollback()

    def vectors(self, stage: str) -> Vectors:
        """The stage as arrays; read once for each state of the casebase."""
        if self._writing:
            # Data that is not committed may be rolled back, so it is not cached.
            return self._read_vectors(self.stage(stage))
        with self.reading():
            version = self.write_version
            kept = self._vectors.get(stage)
            if kept is None or kept[0] != version:
                kept = (version, self._read_vectors(self.stage(stage)))
                self._vectors[stage] = kept
            return kept[1]

    def _read_vectors(self, stage: str) -> Vectors:
        def read() -> Vectors:
            return self.with_values(self.read_cases(stage).vectors(self.path))

        count = self.count(stage)
        if self.writable or not count or not (mapped.shared or count >= mapped.MANY):
            return read()
        case_type = self.case_type(stage)
        return mapped.mapped(self.path, self.digest(stage), self.write_version, case_type, read)

    def with_values(self, vectors: Vectors) -> Vectors:
        """Vectors of a stage, or of some of its cases, with the estimated values of these cases."""
        return array_reading.with_values(self, vectors)

    def read_cases(self, stage: str) -> Cases:
        """The stage as arrays, case by case in order of their numbers."""
        return array_reading.read_cases(self, stage)

    def read_public(self, stage: str) -> Cases:
        """All decisions of a stage with their public features, including hidden decisions."""
        return array_reading.read_public(self, stage)

    def places(self, stage: str) -> Ints:
        """Number, record and step of every case of a stage that came from a record, [n, 3]."""
        query = (
            f"SELECT id, record, step FROM {quoted(schema.case_table(stage))} "
            "WHERE record IS NOT NULL ORDER BY id"
        )
        rows = self.db.execute(query).fetchall()
        return np.array(rows, np.int64).reshape(-1, 3)

    def valued(self, stage: str) -> set[int]:
        """Numbers of the cases of a stage for which values were estimated."""
        query = f"SELECT DISTINCT case_id FROM {schema.VALUES} WHERE stage = ?"
        return {row[0] for row in self.db.execute(query, [stage])} if self.has_values else set()

    def values(self, stage: str) -> list[tuple[int, str, float, float | None]]:
        """All estimated values of a stage: case, solution, value and standard error."""
        query = (
            f"SELECT case_id, solution, value, error FROM {schema.VALUES} WHERE stage = ? "
            "ORDER BY case_id, solution"
        )
        return self.db.execute(query, [stage]).fetchall() if self.has_values else []

    # --- writing ------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All writes in the block or none; increments `write_version` if something was written.

        Inside another transaction it is a part of that one. Outside of one SQLite refuses every
        write, since nothing would commit it.
        """
        if not self.writable:
            raise BadValue(f"{self.path} is open for reading only")
        if self._writing:
            yield
            return
        if self.db.conn.in_transaction:
            raise OutsideTransaction(
                f"{self.path} is being read in one state; end `reading()` before `transaction()`"
            )
        self._begin()
        changes = self.db.conn.total_changes
        try:
            with writing(self.path):
                self._define()
                yield
                if self.db.conn.total_changes != changes:
                    self.db.execute(
                        "UPDATE meta SET value = CAST(value AS INTEGER) + 1 "
                        "WHERE key = 'write_version'"
                    )
                self.verify_in_place()
                self.db.execute("COMMIT")
        except BaseException:
            self.db.rollback()
            raise
        finally:
            self._writing = False
            self.db.execute("PRAGMA query_only = ON")

    def _begin(self) -> None:
        """Begin to write. IMMEDIATE takes the write lock at once and so waits for another writer; a
        transaction that begins with a read would fail at its first write."""
        self.db.execute("PRAGMA query_only = OFF")
        try:
            self.db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            self.db.execute("PRAGMA query_only = ON")
            why = hindrance(error) or f"cannot be written: {error}"
            raise CbrError(f"{self.path} {why}") from None
        self._writing = True

    def verify_writing(self) -> None:
        """Raise if no transaction is open. Every method that writes calls it before the first
        change."""
        if not self._writing:
            raise OutsideTransaction(
                f"nothing would commit this write to {self.path}; put it inside "
                "`with casebase.transaction():`"
            )

    def add(
        self,
        stage: str,
        features: Columns,
        solution: Sequence[Solution],
        outcome: Iterable[float | None],
        record: Iterable[int | None],
        step: Iterable[int],
        hashes: int | None = None,
        ids: Iterable[int | None] | None = None,
    ) -> None:
        """Add cases given in columns, inside a transaction; `hashes` is their sum, if known. None
        or NaN is a missing value. `ids` are their numbers, if these must be certain ones."""
        case_type = self.case_type(stage)
        given = (features, solution, outcome, record, step, ids)
        columns = self.insert_cases(case_type, schema.case_table(stage), *given)
        if hashes is None:
            hashes = digest.sum_of_rows(case_type, [*columns, solution])
        self._count(case_type, len(solution), hashes)

    def insert_cases(
        self,
        case_type: CaseType,
        table: str,
        features: Columns,
        solution: Sequence[Solution],
        outcome: Iterable[float | None],
        record: Iterable[int | None],
        step: Iterable[int],
        ids: Iterable[int | None] | None = None,
    ) -> list[list[Any]]:
        """Insert cases into a table, inside a transaction; returns the columns as written."""
        self.verify_writing()
        columns = all_cells(case_type, features)
        earned = outcomes(outcome)
        if case_type.solution is not None:
            solution = [case_type.solution.read(number) for number in solution]
        names = ["record", "step", *_names(case_type), "solution", "outcome"]
        given: list[Iterable[Any]] = [record, step, *columns, solution, earned]
        if ids is not None:
            names, given = ["id", *names], [ids, *given]
        self.db.conn.executemany(
            f"INSERT INTO {quoted(table)} ({listed(names)}) VALUES ({','.join('?' * len(names))})",
            zip(*given, strict=True),
        )
        return columns

    def add_hidden(
        self,
        case_type: CaseType,
        features: Columns,
        solution: Sequence[str],
        outcome: Iterable[float | None],
        record: Iterable[int],
        step: Iterable[int],
        ids: Iterable[int | None] | None = None,
        table: str = schema.HIDDEN,
    ) -> None:
        """Add decisions whose private features are not known, inside a transaction."""
        self.verify_writing()
        columns = [open_cells(case_type, name, column) for name, column in features.items()]
        given: list[Iterable[Any]] = [record, step, *columns, solution, outcomes(outcome)]
        names = ["record", "step", *features, "solution", "outcome"]
        if ids is not None:
            names, given = ["id", *names], [ids, *given]
        # The stage is part of the statement, because binding it to each row would take longer.
        self.db.conn.executemany(
            f"INSERT INTO {quoted(table)} (stage, {listed(names)}) "
            f"VALUES ('{case_type.stage}', {','.join('?' * len(names))})",
            zip(*given, strict=True),
        )

    def put_values(
        self,
        stage: str,
        ids: Sequence[int],
        solution: str,
        value: Sequence[float],
        error: Sequence[float | None] | None = None,
    ) -> None:
        """Store the estimated values of a solution in some cases, inside a transaction."""
        self.verify_writing()
        if self.case_type(stage).numeric:
            raise BadValue(f"solutions of stage {stage!r} are numbers, which have no values")
        if solution not in self.case_type(stage).solutions:
            raise NoSuchName("solution", solution, self.case_type(stage).solutions)
        for number, worth in zip(ids, value, strict=True):
            if not abs(worth) <= HIGHEST:
                raise BadValue(f"the value of {solution!r} in case {number} is {worth}")
        known = {case.id for case in self.cases(stage, ids)}
        for number in ids:
            if number not in known:
                raise BadValue(f"stage {stage!r} has no case {number}")
        schema.create_values(self.db)
        errors = error if error is not None else [None] * len(ids)
        self.db.conn.executemany(
            f"INSERT OR REPLACE INTO {schema.VALUES} (stage, case_id, solution, value, error) "
            "VALUES (?, ?, ?, ?, ?)",
            (
                (stage, number, solution, float(worth), wrong)
                for number, worth, wrong in zip(ids, value, errors, strict=True)
            ),
        )

    def put_learned(self, name: str, array: NDArray[Any]) -> None:
        """Store an array that was learned from the cases, inside a transaction."""
        self.verify_writing()
        body = io.BytesIO()
        np.save(body, array, allow_pickle=False)
        schema.create_learned(self.db)
        self.db.execute(
            f"INSERT OR REPLACE INTO {schema.LEARNED} (name, body) VALUES (?, ?)",
            [name, body.getvalue()],
        )

    def drop_learned(self, names: Sequence[str]) -> None:
        """Delete learned arrays, inside a transaction."""
        self.verify_writing()
        if schema.LEARNED in self.db.table_names():
            query = f"DELETE FROM {schema.LEARNED} WHERE name = ?"
            self.db.conn.executemany(query, [[name] for name in names])

    def learned_names(self) -> list[str]:
        """The names of the arrays that were learned from the cases."""
        if schema.LEARNED not in self.db.table_names():
            return []
        query = f"SELECT name FROM {schema.LEARNED} ORDER BY name"
        return [row[0] for row in self.db.execute(query)]

    def learned(self, name: str) -> NDArray[Any] | None:
        """The array stored under this name, or None."""
        if schema.LEARNED not in self.db.table_names():
            return None
        query = f"SELECT body FROM {schema.LEARNED} WHERE name = ?"
        row = self.db.execute(query, [name]).fetchone()
        if row is None:
            return None
        try:
            return read_array(row[0])
        except Damaged as error:
            raise BadValue(f"the array {name!r} in {self.path} cannot be read ({error})") from None

    @property
    def has_values(self) -> bool:
        return schema.VALUES in self.db.table_names()

    @property
    def has_hidden(self) -> bool:
        return schema.has_hidden(self.case_types)

    def hidden(self) -> dict[str, dict[str, int]]:
        """How many hidden decisions there are, by stage and solution."""
        found: dict[str, dict[str, int]] = {
            t.stage: dict.fromkeys(t.solutions, 0) for t in self.case_types
        }
        if self.has_hidden:
            query = f"SELECT stage, solution, COUNT(*) FROM {schema.HIDDEN} GROUP BY 1, 2"
            for stage, solution, count in self.db.execute(query):
                self._verify_solution(stage, solution)
                found[stage][solution] = count
        return found

    def has_hidden_solution(self, stage: str, solution: str) -> bool:
        """Whether a hidden decision has this solution; fast if many have."""
        query = f"SELECT 1 FROM {schema.HIDDEN} WHERE stage = ? AND solution = ? LIMIT 1"
        found = self.has_hidden and self.db.execute(query, [stage, solution]).fetchone()
        return bool(found)

    def source_number(self, name: str, reader: str) -> int:
        """The number of a source, inside a transaction; a new source is added."""
        self.verify_writing()
        self.db.execute(
            "INSERT OR IGNORE INTO sources (name, reader) VALUES (?, ?)", [name, reader]
        )
        return int(self.db.execute("SELECT id FROM sources WHERE name = ?", [name]).fetchone()[0])

    def keep_records(self, source: int, records: Sequence[Numbered]) -> int:
        """Store records, inside a transaction; returns the first of their consecutive numbers.

        Entries of the table `skipped` for the same places are removed.
        """
        self.verify_writing()
        first = self._last_record() + 1
        skipped = "SELECT 1 FROM skipped WHERE source = ? LIMIT 1"
        if self.db.execute(skipped, [source]).fetchone():
            self.db.conn.executemany(
                "DELETE FROM skipped WHERE source = ? AND ordinal = ?",
                ((source, record.ordinal) for record in records),
            )
        self.db.conn.executemany(
            f"INSERT INTO {self.records_table} (id, source, ordinal, line, digest, body) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            ((first + place, source, *record) for place, record in enumerate(records)),
        )
        return first

    def count_records(self) -> int:
        return int(self.db.execute(f"SELECT COUNT(*) FROM {self.records_table}").fetchone()[0])

    def read_records(
        self, size: int, after: int = 0
    ) -> Iterator[tuple[tuple[int, ...], tuple[str, ...]]]:
        """Records with a number above `after`, in order and `size` at a time, fewer where they are
        long: numbers, bodies."""
        query = f"SELECT id, body FROM {self.records_table} WHERE id > ? ORDER BY id"
        rows: list[tuple[int, str]] = []
        characters = 0
        for row in self.db.execute(query, [after]):
            rows.append(row)
            characters += len(row[1])
            if len(rows) == size or characters > _MOST_CHARACTERS:
                yield tuple(zip(*rows, strict=True))  # type: ignore[misc]
                rows, characters = [], 0
        if rows:
            yield tuple(zip(*rows, strict=True))  # type: ignore[misc]

    def keep_skipped(self, source: int, skipped: Iterable[tuple[int, Skipped]]) -> None:
        """Store skipped places (by ordinal) with their reasons, inside a transaction."""
        self.verify_writing()
        self.db.conn.executemany(
            "INSERT INTO skipped (source, ordinal, line, reason) VALUES (?, ?, ?, ?)",
            ((source, ordinal, item.line, item.reason) for ordinal, item in skipped),
        )

    def known_places(self, source: str, first: int, last: int) -> tuple[dict[int, bytes], set[int]]:
        """Stored ordinals of a source: records with their digests, and skipped places."""
        where = "source = (SELECT id FROM sources WHERE name = ?) AND ordinal BETWEEN ? AND ?"
        given = [source, first, last]
        records = f"SELECT ordinal, digest FROM {self.records_table} WHERE {where}"
        skipped = f"SELECT ordinal FROM skipped WHERE {where}"
        return (
            dict(self.db.execute(records, given).fetchall()),
            {row[0] for row in self.db.execute(skipped, given)},
        )

    def _last_record(self) -> int:
        query = f"SELECT MAX(id) FROM {self.records_table}"
        return int(self.db.execute(query).fetchone()[0] or 0)

    def remove(self, stage: str, ids: Sequence[int]) -> None:
        """Remove cases by number, inside a transaction; their records stay."""
        self.verify_writing()
        case_type, ids = self.case_type(stage), [int(number) for number in ids]
        gone = list(self.cases(stage, ids))
        if len(gone) != len(set(ids)):
            raise BadValue(f"stage {stage!r} has no case {min(set(ids) - {c.id for c in gone})}")
        columns: list[Sequence[Any]] = [
            [case.values.get(name) for case in gone] for name in _names(case_type)
        ]
        columns.append([case.solution for case in gone])
        self.db.conn.executemany(
            f"DELETE FROM {quoted(schema.case_table(stage))} WHERE id = ?", ([i] for i in ids)
        )
        if self.has_values:
            of_cases = f"DELETE FROM {schema.VALUES} WHERE stage = ? AND case_id = ?"
            self.db.conn.executemany(of_cases, ((stage, number) for number in ids))
        self._count(case_type, -len(gone), -digest.sum_of_rows(case_type, columns))

    def redefine(self, case_type: CaseType, digest: str) -> None:
        """Replace the definition of a stage, inside a transaction."""
        self.verify_writing()
        values = {"case_type": case_type.to_json(), "digest": digest}
        self.db.table("stages").update(case_type.stage, values)
        self._define()

    def _count(self, case_type: CaseType, cases: int, hashes: int) -> None:
        row = self.db.table("stages").get(case_type.stage)
        self.db.table("stages").update(
            case_type.stage,
            {"cases": row["cases"] + cases, "digest": digest.add(row["digest"], hashes)},
        )


def _case_types(definitions: Sequence[tuple[str, str]]) -> dict[str, CaseType]:
    """Case types by stage, as a file defines them. Every name of a stage, table or column comes
    from here, so this is where they are checked."""
    found = {stage: CaseType.from_json(text) for stage, text in definitions}
    for stage, case_type in found.items():
        if stage != case_type.stage:
            raise BadValue(f"stage {shown(stage)} has the case type {case_type.name!r}")
    verify_stages(list(found.values()))
    return found


def _names(case_type: CaseType) -> list[str]:
    return [feature.name for feature in case_type.features]


def _id_clauses(ids: Sequence[int] | None, most: int = 10_000) -> Iterator[str]:
    """WHERE clauses for these ids, in pieces, because SQLite limits the length of a statement."""
    if ids is None:
        yield ""
        return
    numbers = sorted({int(number) for number in ids})
    for at in range(0, len(numbers), most):
        yield f" WHERE id IN ({','.join(map(str, numbers[at : at + most]))})"
