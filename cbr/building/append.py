"""Appending records to a casebase: by `build`, and by programs that retain records as they play.

A record is identified by its source, its ordinal there and a digest of its content, so none is
added twice. A batch is one transaction, which waits for other writers.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from cbr.building.worker import PreparedBatch, RecordBatch, WorkerSetup, judging, work
from cbr.case import CaseType
from cbr.errors import BadValue, CbrError
from cbr.plugging.plugins import Plugins, default_plugins
from cbr.store.casebase import Casebase
from cbr.store.definitions import differences, types_in
from cbr.store.digest import record_digest
from cbr.store.records import Record


def fitting_types(
    base: Casebase, domain: str, features: str, plugins: Plugins
) -> tuple[list[CaseType], list[str]]:
    """The case types of a casebase, if new cases of the domain fit them; and a sentence on the
    definitions of the casebase that differ from those of the plugins, if any do."""
    if domain and domain.partition("/")[0] != base.domain:
        raise BadValue(f"{base.path} holds {base.domain} cases, not {domain}")
    types = types_in(base, features, plugins)
    own: list[str] = []
    for stored, wanted in zip(base.case_types, types, strict=True):
        serious, slight = differences(stored, wanted)
        if serious:
            raise BadValue(
                f"{base.path} has {serious[0]}; `cbr rebuild` changes a casebase, or use another "
                f"name"
            )
        own += slight
    if not own:
        return types, []
    more = f" and {len(own) - 1} more" if len(own) > 1 else ""
    return types, [
        f"{base.path} keeps its own definition of {own[0]}{more}; `cbr rebuild` uses the plugin's"
    ]


class Appender:
    """Adds records to the casebase at `path`, which is created with the first of them.

    `base` is the casebase, None before it is opened; `created` is true if it was created here.
    `selection` are the options that select decisions, as written on the command line.
    """

    def __init__(
        self,
        path: Path,
        case_types: Sequence[CaseType],
        selection: str = "",
        base: Casebase | None = None,
    ) -> None:
        self.path, self.selection = path, selection
        self.case_types = list(case_types)
        self.base, self.created = base, False

    def verify(self, base: Casebase) -> None:
        """Raise if records appended here would not fit that casebase."""
        self.verify_selection(base)
        domain = self.case_types[0].domain
        self.case_types, _ = fitting_types(base, domain, "", default_plugins())

    def verify_selection(self, base: Casebase) -> None:
        """Raise if the casebase was built with other selecting options."""
        if base.selection != self.selection:
            raise BadValue(
                f"{self.path} was built with {base.selection or 'no such option'}; mixing "
                f"selections would leave decisions missing: use the same options, or another name"
            )

    def open(self) -> Casebase:
        """The casebase, created now unless this or another process has created it."""
        if self.base is None and not self.path.exists():
            try:
                self.base = Casebase.create(self.path, self.case_types, self.selection)
                self.created = True
            except CbrError:  # another process may have created it in the meantime
                if not self.path.exists():
                    raise
        if self.base is None:
            base = Casebase.open(self.path, write=True)
            try:
                self.verify(base)
            except BaseException:
                base.close()
                raise
            self.base = base
        return self.base

    def mark(self, batch: RecordBatch) -> RecordBatch:
        """The batch with marks for records that the casebase already holds, or skipped before."""
        if self.base is not None:
            for first, last in _runs([ordinal for ordinal, _ in [*batch.items, *batch.skipped]]):
                known, skipped = self.base.known_places(batch.source, first, last)
                batch.known |= known
                batch.skipped_before |= skipped
        return batch

    def write(self, prepared: PreparedBatch) -> None:
        """Write what a worker prepared, in one transaction."""
        base = self.open()
        try:
            with base.transaction():
                prepared.put_into(base)
        except sqlite3.IntegrityError as error:
            raise CbrError(
                f"{prepared.source} cannot be added to {self.path} ({error}): another build is "
                f"adding it; let that finish, then run this again"
            ) from None

    def append(self, source: str, reader: str, bodies: Sequence[str]) -> int:
        """Add the bodies of records that are in no file; returns how many are new.

        Their ordinals are derived from their content, so the same record always has the same one.
        All of them are added or, if one cannot be used, none.
        """
        base = self.open()
        batch = RecordBatch(source, reader)
        for body in dict.fromkeys(bodies):
            ordinal = int.from_bytes(record_digest(body)[:8], "big") >> 1
            batch.items.append((ordinal, Record(body, 0)))
        with base.transaction():
            prepared = work(self._setup, self.mark(batch))
            if prepared.first_skipped is not None:
                raise CbrError(prepared.first_skipped.reason)
            if prepared.is_new:
                self.write(prepared)
        return len(prepared.records)

    @property
    def _setup(self) -> WorkerSetup:
        files = tuple(map(str, default_plugins().files))
        types = tuple(case_type.to_json() for case_type in self.case_types)
        return WorkerSetup(files, types, (), False, judging(self.case_types, {}))


def _runs(ordinals: list[int]) -> list[tuple[int, int]]:
    """Runs of consecutive ordinals: the first and last of each."""
    runs: list[tuple[int, int]] = []
    for ordinal in sorted(ordinals):
        if runs and ordinal <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], ordinal)
        else:
            runs.append((ordinal, ordinal))
    return runs
