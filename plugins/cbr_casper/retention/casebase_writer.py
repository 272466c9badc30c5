"""Observed hands written to a casebase, as `cbr build` would write them from a log.

All hands of one call are one transaction, which waits for other writers: several bots and processes
may write to one file. A hand is identified by its content, so it is not written twice. After a
failure nothing more is written, and every further call raises the reason.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cbr.building import Job, Setup, work
from cbr.case import CaseType
from cbr.errors import BadValue, CbrError
from cbr.plugging import default_plugins, one_line
from cbr.store import Casebase, Record, differences, record_digest, types_in, verify_can_be_made

#: The name of these hands among the sources of a casebase (a file format), and their reader.
SOURCE, _READER = "hands played", "phh"


class CasebaseWriter:
    """Writes hands to a casebase file, which is created with the first of them."""

    def __init__(self, path: Path, case_types: Sequence[CaseType]) -> None:
        self.path, self.failed = path, ""
        self._types = list(case_types)
        self._base: Casebase | None = None
        if path.exists():
            with Casebase.open(path, write=True) as base, base.transaction():
                self._verify(base)
        elif path.suffix != ".db":
            raise BadValue(f"retain={path} must be session, or a casebase FILE.db")
        else:
            with self._unless_exists():
                verify_can_be_made(path)

    @contextmanager
    def _unless_exists(self) -> Iterator[None]:
        """Ignore an error if another process has created the file in the meantime."""
        try:
            yield
        except CbrError:
            if not self.path.exists():
                raise

    def _verify(self, base: Casebase) -> None:
        """Raise BadValue unless the hands of this bot belong in that casebase."""
        if base.domain != self._types[0].domain:
            raise BadValue(f"{self.path} holds {base.domain} cases, not {self._types[0].domain}")
        if base.selection:
            raise BadValue(
                f"{self.path} was built with {base.selection}, so it has only a part of the "
                "hands; retain into another file"
            )
        types = types_in(base, "", default_plugins())
        for stored, wanted in zip(base.case_types, types, strict=True):
            serious, _ = differences(stored, wanted)
            if serious:
                raise BadValue(f"{self.path} has {serious[0]}; `cbr rebuild` changes a casebase")
        self._types = types

    def write(self, bodies: Sequence[str]) -> int:
        """Write hands; how many are new."""
        if self.failed:
            raise CbrError(self.failed)
        try:
            return self._write(bodies)
        except (CbrError, sqlite3.Error, OSError) as error:
            self.failed = f"nothing more is written to {self.path}: {one_line(error)}"
            raise CbrError(self.failed) from None

    def _write(self, bodies: Sequence[str]) -> int:
        base = self._opened()
        job = Job(SOURCE, _READER)
        for body in dict.fromkeys(bodies):
            # The place of a hand is a hash of its content, so the same hand has the same place.
            place = int.from_bytes(record_digest(body)[:8], "big") >> 1
            job.items.append((place, Record(body, 0)))
        with base.transaction():
            for place, _ in job.items:
                job.known |= base.known_places(SOURCE, place, place)[0]
            done = work(self._setup, job)
            if done.first_skipped is not None:
                raise CbrError(done.first_skipped.reason)
            if done.is_new:
                done.put_into(base)
        return len(done.records)

    def _opened(self) -> Casebase:
        if self._base is None:
            if not self.path.exists():
                with self._unless_exists():
                    Casebase.create(self.path, self._types).close()
            self._base = Casebase.open(self.path, write=True)
            self._verify(self._base)
            files = tuple(map(str, default_plugins().files))
            types = tuple(case_type.to_json() for case_type in self._types)
            self._setup = Setup(files, types, (), False)
        return self._base
