"""``cbr build``: from files of cases to a casebase."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.columns import example_case, show_columns
from cbr.cli.long_work import progress
from cbr.cli.options import Dask, Features, Json, Outcome, Solution, Workers
from cbr.cli.output import (
    complain,
    count,
    emit,
    lines,
    note,
    show_reasons,
    table,
)

if TYPE_CHECKING:
    from cbr.building.pipeline import BuildReport
    from cbr.cli.app import App

_Sources = Annotated[list[Path], typer.Argument(metavar="FILES...", help="Files or folders.")]
_Type = Annotated[
    str, typer.Option("--type", metavar="TYPE", help="Case type, or a domain that has several.")
]
_Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE.db", help="The casebase; default: named after the first file."),
]
_CaseType = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.toml", help="Build tables by this description, which `cbr describe` writes."
    ),
]
_Reader = Annotated[
    str,
    typer.Option(help="Case source that reads all files; default: chosen by each file's content."),
]
_Strict = Annotated[
    bool,
    typer.Option("--strict", help="Stop at the first unusable record; earlier batches are kept."),
]
_Replace = Annotated[
    bool,
    typer.Option(
        "--replace", help="Take the files in place of what the casebase has of the same names."
    ),
]
_MaxUnpacked = Annotated[
    str,
    typer.Option(metavar="SIZE", help="The most that a compressed file or an archive may hold."),
]
_Limit = Annotated[int | None, typer.Option(min=1, help="Read at most this many records.")]
_KnownOnly = Annotated[
    bool,
    typer.Option("--known-only", help="Leave out decisions whose private features are hidden."),
]


def add(app: App) -> None:
    app.command("build", epilog="Example: cbr build iris.csv --solution species")(
        _with_plugin_options(app)
    )


def _with_plugin_options(app: App) -> Callable[..., None]:
    """The command with the options that case sources and case types bring."""
    own = list(inspect.signature(build, eval_str=True).parameters.values())[:-1]
    taken = {parameter.name for parameter in own}
    extra: dict[str, inspect.Parameter] = {}
    plugins = app.plugins
    called = app.calls("build")
    for plugin, thing in (
        (*plugins.given("case source"), *plugins.given("case type")) if called else ()
    ):
        for option in thing.options:
            if option.name in taken:
                plugins.blame(plugin, f"option --{option.name} is taken by build itself")
                continue
            declared = typer.Option("--" + option.name.replace("_", "-"), help=option.help)
            kind: Any = Annotated[option.type | None, declared]
            # The reader knows the default: an option that is not given is not passed on.
            extra.setdefault(
                option.name,
                inspect.Parameter(
                    option.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind
                ),
            )

    def command(**options: Any) -> None:
        return build(**options)

    command.__doc__ = build.__doc__
    command.__signature__ = inspect.Signature([*own, *extra.values()])  # type: ignore[attr-defined]
    return command


def build(
    files: _Sources,
    type: _Type = "",
    solution: Solution = "",
    outcome: Outcome = "",
    case_type: _CaseType = None,
    out: _Out = None,
    features: Features = "",
    reader: _Reader = "",
    strict: _Strict = False,
    replace: _Replace = False,
    limit: _Limit = None,
    max_unpacked: _MaxUnpacked = "20GB",
    known_only: _KnownOnly = False,
    workers: Workers = 1,
    dask: Dask = "",
    json: Json = False,
    **reader_options: Any,
) -> None:
    """Build a casebase from files of cases, or add new records.

    A table (CSV, TSV, JSON lines, Parquet, Excel) has one case a row, and --solution names the
    column to propose: types, ranges and categories are found in the table (`cbr describe`).
    Plugins bring readers of other files and case types for them (`cbr plugins`); a reader is chosen
    by the content of each file, also inside .gz, .bz2, .xz, .zst and .tar archives.
    """
    from cbr.building.from_tables import default_out, types_of_tables
    from cbr.building.pipeline import build as run
    from cbr.errors import BadValue
    from cbr.files.compression import read_size
    from cbr.plugging.plugins import default_plugins
    from cbr.workers import executor

    size = read_size(max_unpacked)
    target = out or default_out(files[0])
    given = {name: value for name, value in reader_options.items() if value is not None}
    found = None
    if not type:
        found = types_of_tables(
            files,
            target,
            solution=solution,
            outcome=outcome,
            description=case_type,
            options=given,
            plugins=default_plugins(),
        )
    elif solution or outcome or case_type:
        raise BadValue("--type names a plugin's case type; leave it out to build a table by itself")
    if found is not None:
        given |= found.options
    with (
        executor(workers, dask) as pool,
        progress("building", "records") as tell,
    ):
        report = run(
            files,
            target,
            type,
            features=features,
            reader=reader,
            case_types=[] if found is None else found.case_types,
            options=given,
            strict=strict,
            replace=replace,
            limit=limit,
            max_unpacked=size,
            known_only=known_only,
            executor=pool,
            progress=tell,
        )
    for sentence in (*(found.notes if found is not None else ()), *report.notes):
        note(sentence)
    for path in report.unreadable:
        complain(f"no reader for {path}; it was left out")
    if json:
        emit(vars(report))
    else:
        if found is not None and found.look is not None:
            show_columns(list(found.look.columns.values()), vars(found.case_types[0]))
        _show(report, target)
        if found is not None and found.look is not None:
            columns, built = list(found.look.columns.values()), found.case_types[0]
            lines(f"Ask it: cbr query {target} --case {example_case(columns, built)}")


def _show(report: BuildReport, target: Path) -> None:
    new = count(report.records, f"new {report.record}")
    old = f", {report.replaced:,} replaced" if report.replaced else ""
    lines(f"{target}: {new}, {report.known:,} known already{old}")
    if report.hidden:
        stages = {**report.cases, **report.hidden}
        found = [(s, report.cases[s], report.hidden[s]) for s in report.features if s in stages]
        table(
            "",
            ["stage", "new cases", "hidden", "known share"],
            [(s, c, h, f"{100 * c / (c + h):.1f} %") for s, c, h in found],
        )
    else:
        table("", ["stage", "new cases"], report.cases.items())
    show_reasons(report.skipped)
    table("Left out as asked", ["records", "reason"], [(n, r) for r, n in report.left_out.items()])
