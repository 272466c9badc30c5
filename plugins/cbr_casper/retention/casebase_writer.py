"""Writes observed hands to a casebase, as `cbr build` would write them from a log.

All hands of one call are one transaction, which waits for other writers: several bots and processes
may write to one file. A hand is identified by its content, so it is not written twice. After a
failure nothing more is written, and every further call raises the reason.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cbr import BadValue, Casebase, CaseType, CbrError
from cbr.building import Appender
from cbr.plugging import one_line
from cbr.store import verify_can_be_made

#: The name of these hands among the sources of a casebase (a file format), and their reader.
SOURCE, _READER = "hands played", "phh"


class CasebaseWriter:
    """Writes hands to a casebase file, which is created with the first of them."""

    def __init__(self, path: Path, case_types: Sequence[CaseType]) -> None:
        self.path, self.failed = path, ""
        self._appender = Appender(path, case_types)
        if path.exists():
            with Casebase.open(path, write=True) as base, base.transaction():
                self._appender.verify(base)
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

    def write(self, bodies: Sequence[str]) -> int:
        """Write hands; returns the number of new ones."""
        if self.failed:
            raise CbrError(self.failed)
        try:
            return self._write(bodies)
        except (CbrError, sqlite3.Error, OSError) as error:
            self.failed = f"nothing more is written to {self.path}: {one_line(error)}"
            raise CbrError(self.failed) from None

    def _write(self, bodies: Sequence[str]) -> int:
        return self._appender.append(SOURCE, _READER, bodies)
