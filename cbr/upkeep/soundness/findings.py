"""Check: whether a casebase is sound. Each finding is a sentence; no finding means sound."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from cbr.building.rows import situate
from cbr.case import Batch
from cbr.checks import shown
from cbr.errors import CbrError, NewerSchema
from cbr.plugging.guard import one_line
from cbr.plugging.plugins import Plugins, default_plugins
from cbr.retrieval.index.saved import State, states
from cbr.spec import Spec
from cbr.store import digest, schema
from cbr.store.casebase import Casebase
from cbr.store.connection import verify_is_casebase
from cbr.store.definitions import as_loaded, other_solutions
from cbr.store.schema import quoted
from cbr.upkeep.soundness.cells import cell_findings
from cbr.upkeep.soundness.structure import structure_findings

#: The most findings that are listed.
_MOST = 1_000


def check(path: str | Path, *, plugins: Plugins | None = None) -> list[str]:
    """Findings about one state of a casebase; an empty list if it is sound."""
    verify_is_casebase(Path(path))
    found: list[str] = []
    try:
        _write_log_back(Path(path))
        with Casebase.open(path) as base, base.reading():
            damage = [row[0] for row in base.db.execute("PRAGMA integrity_check(20)")]
            if damage != ["ok"]:
                return [f"SQLite: {sentence}" for sentence in damage]
            found.extend(islice(_findings(base, plugins or default_plugins()), _MOST))
    except NewerSchema:
        raise
    except Exception as error:  # any failure is a finding
        found.append(f"it cannot be read to the end: {one_line(error)}")
    return found


def _write_log_back(path: Path) -> None:
    """Checkpoint the log that a killed process left, if the file is writable."""
    if Path(f"{path}-wal").exists() and os.access(path, os.W_OK):
        Casebase.open(path, write=True).close()


def _findings(base: Casebase, plugins: Plugins) -> Iterator[str]:
    yield from structure_findings(base)
    for table, column, other in _references(base):
        lost = base.db.execute(
            f"SELECT COUNT(*) FROM {quoted(table)} WHERE {column} IS NOT NULL "
            f"AND {column} NOT IN (SELECT id FROM {quoted(other)})"
        ).fetchone()[0]
        if lost:
            yield f"{lost} rows of {table} refer to {other} that do not exist"
    yield from _meta(base)
    yield from _changed_records(base)
    yield from _doubled(base)
    yield from _useless_records(base, plugins)
    yield from cell_findings(base)
    yield from _learned(base)
    yield from _definitions(base, plugins)
    for plugin, found in plugins.call("cbr_check", casebase=base):
        if problem := _problem_of_findings(found):
            plugins.blame(plugin, f"cbr_check gave {problem}")
        else:
            yield from found or ()
    for saved in index_states(base, plugins):
        if saved.state == "damaged":  # a stale one is simply not used
            again = f"`cbr index {base.path} --stage {saved.stage} --kind {saved.kind}`"
            yield f"{saved.file} is {saved.state}: {saved.reason}; {again} builds it again"


def index_states(base: Casebase, plugins: Plugins) -> list[State]:
    """The indices that are saved beside a casebase, and whether they can be used."""
    digests = {stage: base.digest(stage) for stage in base.stages}
    return list(states(base.path, base.case_types, digests, plugins))


def _references(base: Casebase) -> Iterator[tuple[str, str, str]]:
    yield base.records, "source", "sources"
    yield "skipped", "source", "sources"
    for stage in base.stages:
        yield schema.case_table(stage), "record", base.records
    if base.has_hidden:
        yield schema.HIDDEN, "record", base.records


def _meta(base: Casebase) -> Iterator[str]:
    """Names and counters that contradict the case types, and texts that cannot be read."""
    meta = dict(base.db.execute("SELECT key, value FROM meta").fetchall())
    first = base.case_types[0]
    for key, value in (("domain", first.domain), ("record", first.record)):
        if meta.get(key) != value:
            yield f"its {key} is recorded as {shown(meta.get(key))}, its case types have {value!r}"
    if not 0 <= base.write_version < 1 << 62:
        yield f"its write version is {base.write_version}"
    for query in ("SELECT name, reader FROM sources", "SELECT reason FROM skipped"):
        for _ in base.db.execute(query):  # a text that is not UTF-8 raises
            pass


def _changed_records(base: Casebase) -> Iterator[str]:
    rows = base.db.execute(f"SELECT id, digest, body FROM {base.records_table}")
    changed = [n for n, mark, body in rows if digest.record_digest(str(body)) != mark]
    if changed:
        yield f"{len(changed)} {base.records} differ from their digest, the first is {changed[0]}"


def _useless_records(base: Casebase, plugins: Plugins) -> Iterator[str]:
    """Records that no longer turn into situations, and cases that are not among these, if the
    domain's plugin is loaded: `cbr rebuild` could compute neither again."""
    known = plugins.named("case type")
    if not all(case_type.name in known for case_type in base.case_types):
        return
    types = [as_loaded(case_type, plugins) for case_type in base.case_types]
    places = {stage: _Places(base, stage) for stage in base.stages}
    for numbers, bodies in base.read_records(2_000):
        situated = situate(bodies, types)
        for place, reason in sorted(situated.rejected.items()):
            yield f"{base.records[:-1]} {numbers[place]}: {reason}"
        for stage in base.stages:
            lost = places[stage].until(numbers[-1])
            lost -= _given(situated.batches.get(stage), numbers)
            if lost:
                record, step = min(lost)
                yield (
                    f"{len(lost)} cases of stage {stage!r} are not in their {base.records}, the "
                    f"first at step {step} of {base.records[:-1]} {record}"
                )


class _Places:
    """Record and step of the cases of a stage, read once, in the order of the records."""

    def __init__(self, base: Casebase, stage: str) -> None:
        table = quoted(schema.case_table(stage))
        query = f"SELECT record, step FROM {table} WHERE record IS NOT NULL ORDER BY record"
        self._rows = iter(base.db.execute(query))
        self._next: tuple[int, int] | None = next(self._rows, None)

    def until(self, record: int) -> set[tuple[int, int]]:
        """Those of the records up to this one that were not asked for before."""
        found = set()
        while self._next is not None and self._next[0] <= record:
            found.add(self._next)
            self._next = next(self._rows, None)
        return found


def _given(batch: Batch | None, records: Sequence[int]) -> set[tuple[int, int]]:
    """Record and step of the situations that some records turn into."""
    if batch is None:
        return set()
    steps = np.asarray(batch.step).tolist()
    return {(records[at], step) for at, step in zip(batch.record.tolist(), steps, strict=True)}


def _doubled(base: Casebase) -> Iterator[str]:
    """Cases that are at one step of one record."""
    for stage in base.stages:
        query = (
            f"SELECT record, step FROM {quoted(schema.case_table(stage))} "
            "WHERE record IS NOT NULL GROUP BY record, step HAVING COUNT(*) > 1 LIMIT 1"
        )
        for record, step in base.db.execute(query).fetchall():
            yield f"stage {stage!r} has two cases at step {step} of {base.records[:-1]} {record}"


def _learned(base: Casebase) -> Iterator[str]:
    """Learned arrays that cannot be read; whether one makes sense is for its plugin to say."""
    for name in base.learned_names():
        try:
            base.learned(name)
        except CbrError as error:
            yield str(error)


def _definitions(base: Casebase, plugins: Plugins) -> Iterator[str]:
    """Solutions that the plugins no longer define so, and measures and policies of the case types
    that cannot be used."""
    if sentence := other_solutions(base, plugins):
        yield sentence
    for case_type in base.case_types:
        try:
            for feature in case_type.indexed:
                spec = Spec.parse(feature.similarity)
                plugins.get("similarity", spec.name).bind(feature, spec)
            for kind, text in (
                ("retrieval policy", case_type.retrieval),
                ("reuse policy", case_type.reuse),
            ):
                spec = Spec.parse(text)
                plugins.get(kind, spec.name).bind(spec)
        except CbrError as error:
            yield f"stage {case_type.stage!r} cannot be queried: {error}"


def _problem_of_findings(given: object) -> str:
    """What is wrong with the findings that a plugin gave; "" if they can be shown."""
    if given is None or (isinstance(given, list) and all(isinstance(one, str) for one in given)):
        return ""
    return f"{shown(given)}, which is no list of sentences"
