"""Hands that a bot saw, written into a casebase as `cbr build` would write them from a log.

All hands of one moment are one transaction, which waits for others that write: several bots and
processes may keep what they see in one file. A hand is known by its content, so one that is there
is not written again. After a failure nothing more is written, and the reason is told each time.
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

#: What such hands are called among the sources of a casebase, and what reads hands like them.
SOURCE, _READER = "hands played", "phh"


class Keeper:
    """A casebase file that takes hands in; it is made with the first of them."""

    def __init__(self, path: Path, case_types: Sequence[CaseType]) -> None:
        self.path, self.failed = path, ""
        self._appender = Appender(path, case_types)
        if path.exists():
            with Casebase.open(path, write=True) as base, base.transaction():
                self._appender.verify(base)
        elif path.suffix != ".db":
            raise BadValue(f"retain={path} must be session, or a casebase FILE.db")
        else:
            with self._unless_there():
                verify_can_be_made(path)

    @contextmanager
    def _unless_there(self) -> Iterator[None]:
        """Nothing is wrong if another process has made the file in the meantime."""
        try:
            yield
        except CbrError:
            if not self.path.exists():
                raise

    def keep(self, bodies: Sequence[str]) -> int:
        """Write hands; how many are new."""
        if self.failed:
            raise CbrError(self.failed)
        try:
            return self._write(bodies)
        except (CbrError, sqlite3.Error, OSError) as error:
            self.failed = f"nothing more is kept in {self.path}: {one_line(error)}"
            raise CbrError(self.failed) from None

    def _write(self, bodies: Sequence[str]) -> int:
        return self._appender.append(SOURCE, _READER, bodies)
