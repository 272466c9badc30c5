"""Rebuild: features computed anew from the records that a casebase keeps, without the files."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cbr.build import BATCH, features_of, situate
from cbr.case import CaseType, choose_features
from cbr.casebase import Casebase
from cbr.errors import BadValue
from cbr.plugins import Plugins, default_plugins


def rebuild(
    path: str | Path, features: str = "", *, batch: int = BATCH, plugins: Plugins | None = None
) -> dict[str, list[str]]:
    """Compute all features anew from the kept records; `features` may add or leave out some.

    Returns the names of the features that each stage has now. Cases, their numbers and outcomes
    stay; a case without a record, or a record that no longer gives its case, is an error.
    """
    plugins = plugins or default_plugins()
    with Casebase.open(path, write=True) as base:
        types = _with_functions(base.case_types, plugins)
        types = choose_features(types, features, plugins.named("feature").values())
        columns = {t.stage: _recompute(base, t, types, batch) for t in types}
        with base.transaction():
            for case_type in types:
                base.redefine(case_type, columns[case_type.stage])
        return {t.stage: [feature.name for feature in t.features] for t in types}


def _with_functions(stored: Sequence[CaseType], plugins: Plugins) -> list[CaseType]:
    """Stored case types with the functions that only their plugins know."""
    known: dict[str, CaseType] = plugins.named("case type")
    extras = {e.feature.name: e for e in plugins.named("feature").values()}
    result = []
    for case_type in stored:
        own = known.get(case_type.name)
        functions = {f.name: f.compute for f in own.features} if own else {}
        functions |= {n: e.feature.compute for n, e in extras.items() if e.suits(case_type)}
        features = tuple(
            dataclasses.replace(f, compute=functions.get(f.name)) for f in case_type.features
        )
        situate = own.situate if own else None
        result.append(dataclasses.replace(case_type, features=features, situate=situate))
    return result


def _recompute(
    base: Casebase, case_type: CaseType, types: Sequence[CaseType], batch: int
) -> dict[str, NDArray[np.generic]]:
    """The columns of one stage in order of case number."""
    stage = case_type.stage
    rows = base.db.execute(f'SELECT id, record, step FROM "cases_{stage}" ORDER BY id').fetchall()
    place = {(record, step): at for at, (_, record, step) in enumerate(rows)}
    if len(place) != len(rows) or any(record is None for _, record, _ in rows):
        raise BadValue(
            f"some cases of stage {stage!r} have no record of their own; build them again"
        )
    parts: list[dict[str, NDArray[np.generic]]] = []
    places: list[int] = []
    for ids, bodies in _stored_records(base, batch):
        found = situate(bodies, types).batches.get(stage)
        if found is None:
            continue
        columns = features_of(case_type, found.situations, len(found.solution))
        keys = [(ids[int(r)], int(s)) for r, s in zip(found.record, found.step, strict=True)]
        kept = [at for at, key in enumerate(keys) if key in place]
        parts.append({name: column[kept] for name, column in columns.items()})
        places += [place[keys[at]] for at in kept]
    if len(places) != len(rows):
        raise BadValue(
            f"the records give {len(places)} of the {len(rows)} cases of stage {stage!r}"
        )
    order = np.argsort(places)
    names = [feature.name for feature in case_type.features]
    return {name: np.concatenate([part[name] for part in parts])[order] for name in names}


def _stored_records(base: Casebase, batch: int) -> Iterator[tuple[list[int], list[str]]]:
    cursor = base.db.execute(f"SELECT id, body FROM {base.records} ORDER BY id")
    while rows := cursor.fetchmany(batch):
        yield [row[0] for row in rows], [row[1] for row in rows]
