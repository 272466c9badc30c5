"""A casebase built from tables alone: what is in their columns is looked at first, and the case
type that this proposes, or that a description file gives, is built."""

from __future__ import annotations

import codecs
import dataclasses
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cbr.building.archives import files_in, is_archive
from cbr.building.scan import no_reader
from cbr.case import CaseType
from cbr.errors import BadValue, EmptyStage, NoSuchName
from cbr.files.compression import BROKEN, head_of, open_bytes, plain_name
from cbr.plugging.plugins import Plugins
from cbr.store.casebase import Casebase
from cbr.store.records import Skipped
from cbr.tables.columns import Column, columns_of
from cbr.tables.description import read_description
from cbr.tables.dialect import NAMES, dialect_of
from cbr.tables.frames import orders_of, rows_of
from cbr.tables.proposal import (
    Proposed,
    candidates,
    column_named,
    identifier,
    propose,
    solution_fields,
    verify_table,
)
from cbr.tables.reading import MIXED, TableOptions, is_table, is_text, read_rows


@dataclass(frozen=True)
class Look:
    """What is in some tables: their columns, how their text is read, and a name for the cases.

    `options` are those of the reader, settled: the same for looking and for building.
    """

    name: str
    source: str
    columns: Mapping[str, Column]
    options: TableOptions = field(default_factory=TableOptions)
    notes: list[str] = field(default_factory=list)


def default_out(first: str | Path) -> Path:
    """The casebase that a build makes if none is named: called after its first file."""
    name = (Path(plain_name(Path(first).resolve())).stem or "casebase") + ".db"
    return Path("casebases", name) if Path("casebases").is_dir() else Path(name)


def are_tables(paths: Sequence[str | Path]) -> bool:
    """Whether all these files are tables."""
    files = files_in(paths)
    return bool(files) and all(not is_archive(f) and is_table(f, head_of(f)) for f in files)


def look_at(paths: Sequence[str | Path], options: TableOptions | None = None) -> Look:
    """Read tables once, to find out what is in their columns."""
    options = options or TableOptions()
    files = files_in(paths)
    if not files:
        raise EmptyStage(f"{', '.join(map(str, paths))} holds no table")
    notes = []
    for path in files:
        if is_archive(path) or not is_table(path, head_of(path)):
            raise no_reader(str(path))
        if is_text(path):
            dialect = dialect_of(path, options.delimiter, _named(options), options.decimal)
            if not options.encoding and "utf-8" in dialect.encoding and not _is_utf8(path):
                options = dataclasses.replace(options, encoding=MIXED)
                notes.append(
                    f"{path} is not all UTF-8; its other bytes were read as Windows-1252 "
                    "(--encoding names another)"
                )
            if dialect.is_unusual:
                notes.append(f"{path} was read with {dialect.in_words()}")
            if dialect.mixed:
                mark = NAMES[dialect.decimal]
                notes.append(
                    f"{path} has numbers with decimal points and with decimal commas; where a "
                    f"number may be read in both ways, it has a decimal {mark} (--decimal)"
                )
    skipped: list[str] = []
    columns = columns_of(_rows(files, options, skipped))
    source = str(files[0]) if len(files) == 1 else f"the {len(files)} tables"
    if not columns:
        raise EmptyStage(skipped[0] if skipped else f"{source} has no rows")
    return Look(Path(plain_name(files[0])).stem, source, columns, options, notes)


def look_at_frame(frame: Any, name: str = "table") -> Look:
    """What is in the columns of a frame, or of other rows in memory."""
    columns = columns_of(rows_of(frame))
    for label, order in orders_of(frame).items():
        columns[label].order = order
    if not columns:
        raise EmptyStage("the table has no rows")
    return Look(name, "the table", columns)


def proposal_of(
    look: Look, solution: str = "", outcome: str = "", *, taken: Sequence[str] = ()
) -> Proposed:
    """The case type proposed for tables."""
    return propose(look.columns, look.name, solution, outcome, source=look.source, taken=taken)


def verify_solution_named(look: Look, solution: str, command: str = "") -> None:
    """Raise, with the next step, if no column is named as the solution: a command, or a call in
    Python."""
    if solution:
        return
    likely = [column.label for column in candidates(look.columns)]
    if not likely:
        raise BadValue(f"no column of {look.source} could be a solution")
    more = f" (or {', '.join(likely[1:8])})" if likely[1:] else ""
    first = likely[0]
    step = f"{command} --solution {shlex.quote(first)}" if command else f"solution={first!r}"
    raise BadValue(f"say which column is to be proposed: {step}{more}")


def case_type_by(
    look: Look, fields: Mapping[str, Any], solution: str = "", outcome: str = ""
) -> CaseType:
    """The case type that a description gives (`read_description`); the solution, its values, and
    the outcome may be named here instead."""
    verify_table(look.columns, look.source)
    fields = dict(fields)
    fields.setdefault("name", look.name)
    solution = solution or fields.get("solution_label", "")
    if not solution:
        raise BadValue("the description names no solution; give its column with --solution")
    chosen = column_named(look.columns, solution, "--solution")
    apart = {chosen.label}
    if chosen.label != fields.get("solution_label"):
        fields |= {"solution_label": chosen.label, "solutions": (), "solution": None}
    if outcome:
        fields["outcome_label"] = column_named(look.columns, outcome, "--outcome").label
        apart.add(fields["outcome_label"])
    if not fields.get("solutions") and not fields.get("solution"):
        fields |= solution_fields(chosen, look.source, fields.get("reuse", ""))
    fields["features"] = [f for f in fields["features"] if not apart & {f.name, f.label}]
    for feature in fields["features"]:
        if not {feature.name, feature.label} & look.columns.keys():
            raise NoSuchName("column", feature.label or feature.name, look.columns)
    return CaseType(**fields)


def _named(options: TableOptions) -> str:
    return "" if options.encoding == MIXED else options.encoding


def _rows(
    files: Sequence[Path], options: TableOptions, skipped: list[str]
) -> Iterator[Mapping[str, Any]]:
    """The rows of some files; the first reason why one cannot be read goes to `skipped`."""
    for path in files:
        for item in read_rows(path, options):
            if not isinstance(item, Skipped):
                yield item.cells
            elif not skipped:
                skipped.append(f"{path} line {item.line}: {item.reason}")


def _is_utf8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with open_bytes(path) as (raw, _):
            while block := raw.read(1 << 20):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    except BROKEN:  # the reader tells of it
        return True
    return True


@dataclass(frozen=True)
class TablesToBuild:
    """What tables are built as: case types (none where the casebase is there already), the options
    of their reader, sentences for the user, and what was found in the tables."""

    case_types: Sequence[CaseType] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    look: Look | None = None


def types_of_tables(
    paths: Sequence[str | Path],
    out: Path,
    *,
    solution: str = "",
    outcome: str = "",
    description: Path | None = None,
    options: Mapping[str, Any] | None = None,
    plugins: Plugins,
) -> TablesToBuild | None:
    """What these files are built as if they are tables; None if a plugin has the case type."""
    asked = bool(solution or outcome or description)
    if out.exists():
        if asked:
            _verify_same(out, solution, outcome)
        return TablesToBuild(options=dict(options or {})) if asked else None
    known: dict[str, CaseType] = plugins.named("case type")
    if not asked and (any(t.situate is None for t in known.values()) or not are_tables(paths)):
        return None
    fields, by_description = None, TableOptions()
    if description is not None:
        fields, by_description = read_description(description)
    given = {**vars(by_description), **dict(options or {})}
    names = [f.name for f in dataclasses.fields(TableOptions)]
    look = look_at(paths, TableOptions(**{name: given[name] for name in names if name in given}))
    settled = {name: value for name, value in vars(look.options).items() if value}
    if fields is not None:
        case_type = case_type_by(look, fields, solution, outcome)
        return TablesToBuild([case_type], settled, look.notes, look)
    verify_solution_named(look, solution, f"cbr build {paths[0]}")
    taken = {t.name for t in known.values()} | {t.domain for t in known.values()}
    proposed = proposal_of(look, solution, outcome, taken=sorted(taken))
    return TablesToBuild([proposed.case_type], settled, [*look.notes, *proposed.notes], look)


def _verify_same(out: Path, solution: str, outcome: str) -> None:
    """Raise if a casebase that is there has another solution or outcome."""
    with Casebase.open(out) as base:
        for stored in base.case_types:
            for what, asked, label in (
                ("solution", solution, stored.solution_label or "solution"),
                ("outcome", outcome, stored.outcome_label or "outcome"),
            ):
                if asked and identifier(asked) != identifier(label):
                    raise BadValue(
                        f"{out} is there already, and its {what} is {label!r}; build another with "
                        "--out, or remove it first"
                    )
