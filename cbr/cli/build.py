"""``cbr build`` and ``cbr rebuild``."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.options import File, Json
from cbr.cli.output import complain, emit, lines, progress, table

if TYPE_CHECKING:
    from cbr.plugins import Plugins
    from cbr.sources import CaseSource

_Sources = Annotated[list[Path], typer.Argument(metavar="FILES...", help="Files or folders.")]
_Type = Annotated[
    str, typer.Option("--type", metavar="TYPE", help="Case type, or the domain of several.")
]
_Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE.db", help="The casebase; default: named after the first file."),
]
_Features = Annotated[
    str, typer.Option(metavar="SET,+F,-G", help="Feature set, extra features in, features out.")
]
_Reader = Annotated[
    str, typer.Option(help="Case source to read all files with; default: by looking at each.")
]
_Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first record not usable.")]
_Limit = Annotated[int | None, typer.Option(min=1, help="Read at most so many records.")]


def add(app: typer.Typer, plugins: Plugins) -> None:
    epilog = "Example: cbr build cars.csv --type car --out casebases/cars.db"
    app.command("build", epilog=epilog)(_with_source_options(plugins))
    app.command(
        "rebuild", epilog="Example: cbr rebuild casebases/cars.db --features +cost --plugin cost.py"
    )(rebuild)


def _with_source_options(plugins: Plugins) -> Any:
    """The build command with the options that case sources bring."""
    sources: list[CaseSource] = list(plugins.named("case source").values())
    own = list(inspect.signature(build, eval_str=True).parameters.values())[:-1]
    taken = {parameter.name for parameter in own}
    extra = []
    for source in sources:
        for option in source.options:
            if option.name in taken:
                continue
            taken.add(option.name)
            note = typer.Option("--" + option.name.replace("_", "-"), help=option.help)
            kind: Any = Annotated[option.type | None, note]
            by_name = inspect.Parameter.KEYWORD_ONLY
            extra.append(
                inspect.Parameter(option.name, by_name, default=option.default, annotation=kind)
            )

    def command(**given: Any) -> None:
        return build(**given)

    command.__doc__ = build.__doc__
    command.__signature__ = inspect.Signature(own + extra)  # type: ignore[attr-defined]
    return command


def build(
    files: _Sources,
    type: _Type = "",
    out: _Out = None,
    features: _Features = "",
    reader: _Reader = "",
    strict: _Strict = False,
    limit: _Limit = None,
    json: Json = False,
    **options: Any,
) -> None:
    """Build a casebase from files of cases, or add what is new to it."""
    from cbr.build import build as run
    from cbr.build import case_types_of
    from cbr.case import choose_features
    from cbr.plugins import default_plugins

    extras = default_plugins().named("feature").values()
    case_types = choose_features(case_types_of(type), features, extras)
    target = out or _default_out(files[0])
    given = {name: value for name, value in options.items() if value is not None}
    with progress("building", "cases") as tell:
        report = run(
            files,
            target,
            case_types,
            reader=reader,
            options=given,
            strict=strict,
            limit=limit,
            progress=tell,
        )
    for path in report.unreadable:
        complain(f"no reader for {path}; it was left out")
    if json:
        emit(vars(report) | {"features": _names(case_types)})
        return
    records = case_types[0].record + "s"
    rows = [(stage, count) for stage, count in report.cases.items()]
    lines(f"{target}: {report.records:,} new {records}, {report.known:,} known already")
    if rows:
        table("", ["stage", "new cases"], rows)
    if report.skipped:
        table("Skipped", ["reason", records], report.skipped.most_common())


def _default_out(first: Path) -> Path:
    from cbr.sources import plain_name

    name = Path(plain_name(first)).stem + ".db"
    return Path("casebases", name) if Path("casebases").is_dir() else Path(name)


def _names(case_types: Any) -> dict[str, list[str]]:
    return {t.stage: [feature.name for feature in t.features] for t in case_types}


def rebuild(file: File, features: _Features = "", json: Json = False) -> None:
    """Compute features anew from the records that a casebase keeps; add or leave out some."""
    from cbr.rebuild import rebuild as run

    names = run(file, features)
    if json:
        emit({"out": str(file), "features": names})
        return
    table(f"{file} rebuilt", ["stage", "features"], [(s, ", ".join(n)) for s, n in names.items()])
