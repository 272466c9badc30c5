"""``cbr build`` and ``cbr rebuild``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.options import Dask, File, Json, Workers
from cbr.cli.output import (
    complain,
    count,
    emit,
    lines,
    note,
    progress,
    show_reasons,
    table,
    waiting,
)

if TYPE_CHECKING:
    from cbr.plugging.plugins import Plugins
    from cbr.typing import Progress

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
_Strict = Annotated[
    bool,
    typer.Option("--strict", help="Stop at the first record not usable; batches before it stay."),
]
_Limit = Annotated[int | None, typer.Option(min=1, help="Read at most so many records.")]
_KnownOnly = Annotated[
    bool,
    typer.Option("--known-only", help="Leave out decisions with hidden private features."),
]


def add(app: typer.Typer, plugins: Plugins, asked: bool) -> None:
    """The commands; options that plugins bring only where they are asked for, for speed."""
    epilog = "Example: cbr build casebases/sample.phhs --out casebases/sample.db"
    app.command("build", epilog=epilog)(_with_plugin_options(plugins, asked))
    app.command(
        "rebuild", epilog="Example: cbr rebuild casebases/cars.db --features +cost --plugin cost.py"
    )(rebuild)


def _with_plugin_options(plugins: Plugins, asked: bool) -> Any:
    """The build command with the options that case sources and case types bring."""
    own = list(inspect.signature(build, eval_str=True).parameters.values())[:-1]
    extra: dict[str, inspect.Parameter] = {}
    given = (*plugins.given("case source"), *plugins.given("case type")) if asked else ()
    for plugin, thing in given:
        for option in thing.options:
            note = typer.Option("--" + option.name.replace("_", "-"), help=option.help)
            kind: Any = Annotated[option.type | None, note]
            # The default is the reader's own business: an option not given is not passed on.
            found = inspect.Parameter(
                option.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind
            )
            if option.name in {parameter.name for parameter in own}:
                plugins.blame(plugin, f"option --{option.name} is taken by build itself")
            else:
                extra.setdefault(option.name, found)

    def command(**given: Any) -> None:
        return build(**given)

    command.__doc__ = build.__doc__
    command.__signature__ = inspect.Signature([*own, *extra.values()])  # type: ignore[attr-defined]
    return command


def build(
    files: _Sources,
    type: _Type = "",
    out: _Out = None,
    features: _Features = "",
    reader: _Reader = "",
    strict: _Strict = False,
    limit: _Limit = None,
    known_only: _KnownOnly = False,
    workers: Workers = 1,
    dask: Dask = "",
    json: Json = False,
    **options: Any,
) -> None:
    """Build a casebase from files of cases, or add what is new to it.

    Readers come from plugins (`cbr plugins`), and look at each file, also inside .gz, .bz2, .xz,
    .zst and .tar archives. A table (.csv or .tsv) has a row for each case: columns named as the
    features, `solution`, and if known `outcome`.
    """
    from cbr.building.pipeline import build as run
    from cbr.workers import executor

    target = out or _default_out(files[0])
    given = {name: value for name, value in options.items() if value is not None}
    slow = "the first build on a machine compiles what it needs, once; that takes up to a minute"
    with (
        executor(workers, dask) as pool,
        progress("building", "records") as tell,
        waiting(slow, 6.0) as begun,
    ):
        report = run(
            files,
            target,
            type,
            features=features,
            reader=reader,
            options=given,
            strict=strict,
            limit=limit,
            known_only=known_only,
            executor=pool,
            progress=_both(begun, tell),
        )
    for sentence in report.notes:
        note(sentence)
    for path in report.unreadable:
        complain(f"no reader for {path}; it was left out")
    if json:
        emit(vars(report))
        return
    lines(
        f"{target}: {count(report.records, f'new {report.record}')}, {report.known:,} known already"
    )
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


def _both(begun: Callable[[], None], tell: Progress | None) -> Progress:
    """Progress that is shown, if there is a terminal, and ends the waiting for the first batch."""

    def told(done: float, total: float, count: int) -> None:
        begun()
        if tell:
            tell(done, total, count)

    return told


def _default_out(first: Path) -> Path:
    from cbr.files.compression import plain_name

    name = (Path(plain_name(first.resolve())).stem or "casebase") + ".db"
    return Path("casebases", name) if Path("casebases").is_dir() else Path(name)


def rebuild(file: File, features: _Features = "", json: Json = False) -> None:
    """Compute features anew from the kept records; add some, leave out others.

    Naming the feature set (--features SET) brings back all of its features. What the case type's
    plugin now says of measures, weights and ranges is taken over, if it is loaded.
    """
    from cbr.building.recomputation import rebuild as run
    from cbr.store.casebase import Casebase

    with Casebase.open(file, write=True) as base:  # an older one is brought up to date
        old = {t.stage: [f.name for f in t.features] for t in base.case_types}
        digests = {stage: base.digest(stage) for stage in base.stages}
    names = run(file, features)
    with Casebase.open(file) as base:
        cases = {stage: base.count(stage) for stage in names}
        changed = {stage: base.digest(stage) != digests[stage] for stage in names}
    added = {s: [name for name in now if name not in old[s]] for s, now in names.items()}
    left_out = {s: [name for name in old[s] if name not in now] for s, now in names.items()}
    if json:
        emit(
            {
                "out": str(file),
                "features": names,
                "added": added,
                "left_out": left_out,
                "cases": cases,
                "changed": changed,
            }
        )
        return
    table(
        f"{file} rebuilt",
        ["stage", "cases", "values", "added", "left out", "features"],
        [
            (
                stage,
                cases[stage],
                "changed" if changed[stage] else "as before",
                ", ".join(added[stage]) or "-",
                ", ".join(left_out[stage]) or "-",
                len(now),
            )
            for stage, now in names.items()
        ],
    )
