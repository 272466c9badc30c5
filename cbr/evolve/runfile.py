"""A search stored in a SQLite file, with one transaction for each completed generation.

settings      the settings that determine the result, as JSON by name
questions     the score requests with their scores, in order; a search is resumed from these
generations   a row for each completed generation
individuals   its rows: genes, origin, mean score with interval
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import numpy as np
from sqlite_utils import Database

from cbr.errors import BadValue
from cbr.evolve.playing import ScoreRequest
from cbr.evolve.record import Generation
from cbr.evolve.run_checks import (
    LAYOUT,
    read_generation,
    read_result,
    read_scores,
    read_settings,
    verify_complete,
)
from cbr.files.atomic import verify_place
from cbr.plugging.guard import one_line
from cbr.statistics import mean_of
from cbr.store.connection import (
    connect,
    new_database,
    other_kinds,
    verify_columns,
    verify_tables_only,
)
from cbr.typing import Floats

#: Marks the file as a run ("CBRv" in ASCII).
APPLICATION_ID = 0x43425276

#: The key of a request: run, generation, step.
Place = tuple[int, int, int]


class RunFile:
    """An open run file. Use `create` or `open`, and close it (or use ``with``)."""

    def __init__(self, db: Database, path: Path) -> None:
        self.db, self.path = db, path

    @classmethod
    def create(cls, path: Path, settings: Mapping[str, Any]) -> Self:
        """A new run file, created atomically."""
        cls.verify_new(path)
        with new_database(path) as db:
            _create(db, settings)
        return cls.open(path)

    @staticmethod
    def verify_new(path: Path) -> None:
        """Raise if no run file can be created there."""
        verify_place(path)
        if path.exists():
            raise BadValue(f"{path} exists already; --resume continues it, or name another")

    @classmethod
    def open(cls, path: Path) -> Self:
        """An existing run file."""
        if not path.is_file():
            raise BadValue(f"no run file {path}; `cbr evolve` makes one")
        try:
            db = connect(path)
            mark = db.execute("PRAGMA application_id").fetchone()[0]
        except sqlite3.DatabaseError as error:
            raise BadValue(f"{path} is no run file: {one_line(error)}") from None
        if mark != APPLICATION_ID:
            db.close()
            raise BadValue(f"{path} is no run file of `cbr evolve`")
        try:
            with _undamaged(path):
                verify_tables_only(db)
                verify_columns(db, LAYOUT)
                for finding in other_kinds(db, LAYOUT):
                    raise ValueError(finding)
        except BaseException:
            db.close()
            raise
        return cls(db, path)

    def close(self) -> None:
        with suppress(sqlite3.OperationalError):  # a reader may hold it
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def settings(self) -> dict[str, Any]:
        with _undamaged(self.path):
            return read_settings(self.db.execute("SELECT name, value FROM settings").fetchall())

    def verify_complete(self) -> None:
        """Raise if a setting that a report needs is missing."""
        settings = self.settings
        with _undamaged(self.path):
            verify_complete(settings)

    def verify_settings(self, wanted: Mapping[str, Any]) -> None:
        """Raise if this run was started with other settings; the error names the first one."""
        mine = self.settings
        plain = json.loads(json.dumps(dict(wanted)))
        for name, value in plain.items():
            if mine.get(name) != value:
                if name == "state":
                    raise BadValue(
                        f"{self.path} was started with other cases or values than the casebase has "
                        "now; start another run"
                    )
                was, now = _difference(name, mine.get(name), value)
                raise BadValue(
                    f"{self.path} was started with {was}, not {now}; use that, or start another run"
                )

    # --- requests -----------------------------------------------------------------------------

    def answer(self, request: ScoreRequest, place: Place) -> Floats | None:
        """The stored scores of a request [arenas, n, blocks]; None if it was not played before."""
        query = (
            "SELECT digest, arenas, rows, blocks, scores FROM questions "
            "WHERE run = ? AND generation = ? AND step = ?"
        )
        row = self.db.execute(query, list(place)).fetchone()
        if row is None:
            return None
        digest, *shape, scores = row
        if digest != digest_of(request):
            raise BadValue(
                f"{self.path} was made by another version of this program; start another run"
            )
        with _undamaged(self.path):
            return read_scores(scores).reshape(shape)

    def keep(
        self,
        questions: Sequence[tuple[Place, ScoreRequest, Floats]],
        generation: Generation | None,
        seconds: float,
    ) -> None:
        """Store a completed generation and its score requests, in one transaction."""
        try:
            self._keep(questions, generation, seconds)
        except sqlite3.IntegrityError:
            raise BadValue(f"another process is continuing {self.path}; let it finish") from None

    def _keep(
        self,
        questions: Sequence[tuple[Place, ScoreRequest, Floats]],
        generation: Generation | None,
        seconds: float,
    ) -> None:
        with self.db.atomic():
            self.db.table("questions").insert_all(
                {
                    **dict(zip(("run", "generation", "step"), place, strict=True)),
                    "digest": digest_of(request),
                    **dict(zip(("arenas", "rows", "blocks"), scores.shape, strict=True)),
                    "scores": scores.astype("<f8").tobytes(),
                }
                for place, request, scores in questions
            )
            if generation is not None:
                self._keep_generation(generation, seconds)

    def _keep_generation(self, one: Generation, seconds: float) -> None:
        self.db.table("generations").insert(
            {
                "run": one.run,
                "generation": one.number,
                "best": one.best + 1,
                "spread": one.spread,
                "seconds": seconds,
                "notes": json.dumps(dict(one.notes)),
            }
        )
        parts = zip(one.rows, one.origins, one.scores, strict=True)
        self.db.table("individuals").insert_all(
            {
                "run": one.run,
                "generation": one.number,
                "individual": place,
                "origin": origin,
                "genes": json.dumps(row.tolist()),
                "mean": float(scores.mean()),
                "ci95": mean_of(scores).ci95,
                "blocks": len(scores),
                "scores": scores.astype("<f8").tobytes(),
            }
            for place, (row, origin, scores) in enumerate(parts, 1)
        )

    def generations(self) -> Iterator[tuple[Generation, float]]:
        """The completed generations in order, with the seconds that each took."""
        query = (
            "SELECT run, generation, best, notes, seconds FROM generations ORDER BY run, generation"
        )
        settings = self.settings
        for run, number, best, notes, seconds in self.db.execute(query).fetchall():
            rows = self.db.execute(
                "SELECT genes, origin, scores FROM individuals "
                "WHERE run = ? AND generation = ? ORDER BY individual",
                [run, number],
            ).fetchall()
            with _undamaged(self.path):
                if not math.isfinite(seconds):
                    raise BadValue(f"generation {number} of run {run} took {seconds} seconds")
                yield read_generation((run, number), best, notes, rows, settings), seconds

    def count(self) -> int:
        """The number of completed generations."""
        return int(self.db.execute("SELECT COUNT(*) FROM generations").fetchone()[0])

    @property
    def result(self) -> dict[str, Any] | None:
        """The result, if the search is completed; else None."""
        row = self.db.execute("SELECT value FROM result").fetchone()
        settings = self.settings
        with _undamaged(self.path):
            return None if row is None else read_result(row[0], settings)

    def finish(self, result: Mapping[str, Any]) -> None:
        with self.db.atomic():
            self.db.table("result").insert({"id": 1, "value": json.dumps(result)}, replace=True)


@contextmanager
def _undamaged(path: Path) -> Iterator[None]:
    """Convert what a damaged run file raises to one sentence that names it."""
    try:
        yield
    except (ValueError, BadValue, sqlite3.DatabaseError) as error:
        why = str(error) if isinstance(error, ValueError) else one_line(error)
        raise BadValue(f"{path} is damaged: {why}; start another run") from None


def digest_of(request: ScoreRequest) -> str:
    """A digest of a request, to verify that a resumed search repeats the same requests."""
    rows = np.ascontiguousarray(request.rows, "<f8").tobytes()
    # By the parity that seeds have, as in files that know no third purpose.
    terms = f"{request.trials} {request.purpose % 2} {request.place}".encode()
    return hashlib.blake2b(rows + terms, digest_size=12).hexdigest()


def _create(db: Database, settings: Mapping[str, Any]) -> None:
    with db.atomic():
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.table("settings").create({"name": str, "value": str}, pk="name")
        db.table("settings").insert_all(
            {"name": name, "value": json.dumps(value)} for name, value in settings.items()
        )
        place = {"run": int, "generation": int}
        db.table("questions").create(
            place
            | {"step": int, "digest": str, "arenas": int, "rows": int, "blocks": int}
            | {"scores": bytes},
            pk=("run", "generation", "step"),
        )
        db.table("generations").create(
            place | {"best": int, "spread": float, "seconds": float, "notes": str},
            pk=("run", "generation"),
        )
        db.table("individuals").create(
            place
            | {"individual": int, "origin": str, "genes": str, "mean": float, "ci95": float}
            | {"blocks": int, "scores": bytes},
            pk=("run", "generation", "individual"),
        )
        db.table("result").create({"id": int, "value": str}, pk="id")


def _difference(name: str, was: Any, now: Any) -> tuple[str, str]:
    """The first difference between two values of a setting, as text: the old and the new value."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in {**was, **now}:
            if was.get(key) != now.get(key):
                return _difference(f"{key} of {name}", was.get(key), now.get(key))
    if isinstance(was, str) and isinstance(now, str) and len(was) < 60 and len(now) < 60:
        return f"{name} {was!r}", repr(now)
    short = [json.dumps(value)[:60] for value in (was, now)]
    return f"{name} {short[0]}", short[1]
