"""Casebases that a program opens or builds: from files as ``cbr build`` does, and from frames."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from cbr.building.from_tables import (
    Look,
    case_type_by,
    default_out,
    look_at,
    look_at_frame,
    proposal_of,
    types_of_tables,
    verify_solution_named,
)
from cbr.building.in_memory import add_rows
from cbr.building.pipeline import build as build_files
from cbr.case import CaseType
from cbr.errors import AlreadyThere
from cbr.interface.casebase import Casebase
from cbr.plugging.plugins import default_plugins
from cbr.tables.description import read_description, write_description
from cbr.tables.frames import is_frame
from cbr.tables.proposal import Proposed
from cbr.tables.reading import TableOptions


def open(path: str | Path, write: bool = True) -> Casebase:
    """Open a casebase; without `write` nothing in it can change. ``with cbr.open(...) as base:``
    closes it at the end of the block."""
    import os

    return Casebase.open(path, write=write and os.access(path, os.W_OK))


def build(
    files: Any,
    out: str | Path | None = None,
    type: str = "",
    *,
    solution: str = "",
    outcome: str = "",
    case_type: CaseType | str | Path | None = None,
    name: str = "table",
    **options: Any,
) -> Casebase:
    """As ``cbr build``: a casebase from files, or from a frame; new rows are added to one that is
    there.

    `files` is a path, several of them, or rows in memory: a pandas or Polars frame, a dictionary of
    columns, a list of dictionaries. `solution` is the column to propose. `case_type` is one made in
    Python, or the name of a description. Without `out`, the casebase of a file is named after it,
    and that of rows is in memory. Other `options` are those of the command. The report of what was
    read is in the attribute `report`.
    """
    if is_frame(files):
        return _from_frame(files, out, solution, outcome, case_type, name)
    paths = [files] if isinstance(files, str | Path) else list(files)
    target = Path(out) if out else default_out(paths[0])
    names = {field.name for field in dataclasses.fields(TableOptions)}
    given = {key: options.pop(key) for key in names & options.keys()}
    if isinstance(case_type, CaseType):
        types, settled = [case_type], given
    else:
        found = None
        if not type:
            found = types_of_tables(
                paths,
                target,
                solution=solution,
                outcome=outcome,
                description=Path(case_type) if case_type else None,
                options=given,
                plugins=default_plugins(),
            )
        types = [] if found is None else list(found.case_types)
        settled = given if found is None else {**given, **found.options}
    given_options = {**settled, **options.pop("options", {})}
    report = build_files(paths, target, type, case_types=types, options=given_options, **options)
    base = open(target)
    base.report = report
    return base


def _from_frame(
    frame: Any,
    out: str | Path | None,
    solution: str,
    outcome: str,
    case_type: CaseType | str | Path | None,
    name: str,
) -> Casebase:
    if out is not None and Path(out).exists():
        raise AlreadyThere(f"{out} exists already; add the rows with cbr.open({str(out)!r}).add")
    if not isinstance(case_type, CaseType):
        look = look_at_frame(frame, name)
        case_type = _case_type(look, solution, outcome, case_type)
    base = Casebase.in_memory(case_type) if out is None else Casebase.create(out, [case_type])
    try:
        add_rows(base, frame, source=name, strict=False)
    except BaseException:
        base.close()
        if out is not None:
            Path(out).unlink(missing_ok=True)
        raise
    return base


def _case_type(look: Look, solution: str, outcome: str, description: str | Path | None) -> CaseType:
    if description is not None:
        return case_type_by(look, read_description(Path(description))[0], solution, outcome)
    verify_solution_named(look, solution)
    known = default_plugins().named("case type").values()
    taken = {t.name for t in known} | {t.domain for t in known}
    return proposal_of(look, solution, outcome, taken=sorted(taken)).case_type


def describe(
    table: Any,
    solution: str = "",
    outcome: str = "",
    *,
    out: str | Path | None = None,
    **options: str,
) -> Proposed:
    """As ``cbr describe``: the case type that suits a table; with `out` it is written to a TOML or
    JSON file, to be edited by hand."""
    paths = [table] if isinstance(table, str | Path) else table
    look = look_at_frame(table) if is_frame(table) else look_at(paths, TableOptions(**options))
    proposed = proposal_of(look, solution, outcome)
    if out is not None:
        write_description(proposed.fields, Path(out), look.options, look.source)
    return proposed
