"""``cbr evolve`` and ``cbr evolve-report``: weights from contests, and what happened on the way."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.options import Dask, File, Json, Workers
from cbr.cli.output import emit, lines, table, waiting

if TYPE_CHECKING:
    from cbr.evolve.experiment import Evolved
    from cbr.evolve.run import OnProgress, SearchProgress

_Plan = Annotated[
    str, typer.Option(metavar="NAME", help="How to search: robust, genetic, or a plugin's plan.")
]
_Arena = Annotated[
    list[str] | None,
    typer.Option(
        "--arena",
        metavar="SPEC",
        help="Where weights are tried; several times for several arenas. Default: the plan's, or "
        "one for the casebase's domain.",
    ),
]
_Objective = Annotated[
    str, typer.Option(metavar="mean|worst", help="What counts in several arenas.")
]
_Runs = Annotated[int | None, typer.Option(min=1, help="Searches; winners meet in further ones.")]
_Generations = Annotated[int | None, typer.Option(min=1, help="Generations of a run, at most.")]
_Trials = Annotated[
    int | None,
    typer.Option(
        "--hands",
        "--trials",
        min=1,
        help="Trials (hands, cases) that a row has in a generation; in its first round, where "
        "there are several.",
    ),
]
_Population = Annotated[int | None, typer.Option(min=2, help="Individuals of a generation.")]
_Set = Annotated[
    str,
    typer.Option(
        "--set", metavar="NAME=VALUE,...", help="Other settings of the plan: copies=1,pairs=4."
    ),
]
_Start = Annotated[
    list[str] | None,
    typer.Option(
        "--start",
        metavar="NAME|FILE",
        help="Weights to start from and compare with, beside the casebase's own and those of "
        "plugins; several times for several.",
    ),
]
_Report = Annotated[
    int | None,
    typer.Option(min=1, help="Fresh trials of each set of weights in the end."),
]
_Seed = Annotated[int, typer.Option(min=0, max=2**62, help="Seed of everything that is drawn.")]
_Run = Annotated[
    Path | None,
    typer.Option(metavar="RUN.db", help="The run file. Default: beside the weights, W.run.db."),
]
_Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run file, if it is there.")]
_Out = Annotated[Path, typer.Option(metavar="W.json", help="Where to write the weights.")]
_RunFile = Annotated[
    Path, typer.Argument(metavar="RUN.db", help="A run of `cbr evolve`.", show_default=False)
]
_Plot = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Draw figures into this folder, as PNG.")
]


def add(app: typer.Typer) -> None:
    app.command(
        "evolve",
        epilog="Example: cbr evolve casebases/sample.db --generations 2 --hands 200 "
        "--out evolved.json",
    )(evolve)
    app.command(
        "evolve-report", epilog="Example: cbr evolve-report evolved.run.db --plot pictures"
    )(evolve_report)


def evolve(
    file: File,
    out: _Out,
    plan: _Plan = "robust",
    arena: _Arena = None,
    objective: _Objective = "mean",
    runs: _Runs = None,
    generations: _Generations = None,
    hands: _Trials = None,
    population: _Population = None,
    set_: _Set = "",
    start: _Start = None,
    report: _Report = None,
    seed: _Seed = 0,
    workers: Workers = 1,
    dask: Dask = "",
    run: _Run = None,
    resume: _Resume = False,
    json: Json = False,
) -> None:
    """Search for feature weights that earn more, and judge them on deals that no search saw.

    The plan robust starts from the casebase's own weights, those of plugins, and weights that it
    learns from the cases (unless --start names others). It compares rows on the same deals, and
    replaces its champion only when the difference is more than luck. Every generation goes into the
    run file, and --resume continues there to the same result, whatever the number of workers.
    """
    from cbr.errors import BadValue
    from cbr.evolve.experiment import evolve as search
    from cbr.evolve.plans import plan_named
    from cbr.spec import pairs
    from cbr.weights import verify_can_save
    from cbr.workers import executor

    changes: dict[str, object] = {
        "runs": runs,
        "generations": generations,
        "trials": hands,
        "population": population,
        "report": report,
    }
    given = {name: value for name, value in changes.items() if value is not None}
    for name, value in pairs(set_, "--set").items():
        if name in given:
            raise BadValue(f"{name!r} is given twice, once in --set")
        given[name] = value
    chosen = plan_named(plan).changed(given)
    verify_can_save(out)
    place = run or out.with_suffix(".run.db")
    if place.absolute() == out.absolute():
        raise BadValue(f"{out} cannot be both the weights and the run; give --run another name")
    with (
        executor(workers, dask) as pool,
        waiting(
            "compiling what is needed, once on a machine; that takes up to a minute", 20.0
        ) as arrived,
        _progress(arrived) as tell,
    ):
        found = search(
            file,
            chosen,
            run=place,
            arenas=arena or (),
            objective=objective,
            starts=start or (),
            seed=seed,
            resume=resume,
            pool=pool,
            tell=tell,
            out=str(out),
        )
    found.weights.save(out)
    if json:
        emit(_plain(found, out, place))
        return
    _show(found, out, place)


def _plain(found: Evolved, out: Path, place: Path) -> dict[str, Any]:
    return {
        "out": str(out),
        "run": str(place),
        "weights": found.weights.plain()["stages"],
        "genes": dict(found.genes),
        "generations": found.generations,
        "unit": found.unit,
        f"fresh_{found.trial}s": found.trials,
        "judged": [asdict(one) for one in found.judged],
        "use": found.usage or None,
    }


def _show(found: Evolved, out: Path, place: Path) -> None:
    table(
        f"{found.generations} generations; on {found.trials:,} fresh {found.trial}s, the same for "
        f"all, in {found.unit} with 95 % intervals",
        ["weights", "score", "evolved is better by"],
        [
            (one.name, str(one.score), str(one.behind) if one.behind else None)
            for one in found.judged
        ],
    )
    lines(f"wrote {out}; what happened: cbr evolve-report {place}")
    if found.usage:
        lines(f"use: {found.usage}")


@contextmanager
def _progress(arrived: Any) -> Iterator[OnProgress]:
    """A line with generation, best, spread, rate and time left on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda told: arrived()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    bar = Progress(
        BarColumn(bar_width=8),
        TextColumn("{task.fields[told]}"),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("evolving", total=None, told="")
        first: list[int] = []

        def tell(told: SearchProgress) -> None:
            arrived()
            if not first:
                first.append(told.over)
            bar.update(
                task,
                completed=told.over,
                total=told.of or None,
                told=said(told, told.over - first[0]),
            )

        yield tell


def said(told: SearchProgress, since: int) -> str:
    """What a progress line says, where so many generations were over since this process began."""
    parts = [told.doing or f"generation {told.over} of {told.of}"]
    if told.last is not None:
        best = float(told.last.scores[told.last.best].mean())
        parts.append(f"best {best:+.3f}, spread {told.last.spread:.3f}")
    if told.trials:
        parts.append(f"{told.trials / max(told.seconds, 1e-3):,.0f} {told.trial}s/s")
    if since > 0 and not told.doing:
        left = (told.of - told.over) * told.seconds / since
        parts.append(f"{int(left) // 60}:{int(left) % 60:02d} left")
    return ", ".join(parts)


def evolve_report(file: _RunFile, plot: _Plot = None, json: Json = False) -> None:
    """What happened in a run: each generation with its spread, and what luck alone would show.

    Where the plan was published, its figures stand beside ours.
    """
    from cbr.evolve.report import report_of
    from cbr.evolve.runfile import RunFile

    with RunFile.open(file) as run:
        found = report_of(run)
        drawn = []
        if plot is not None:
            from cbr.plots.evolution import draw

            drawn = draw(run, found, plot)
    if json:
        emit({**asdict(found), "drawn": [str(path) for path in drawn]})
        return
    for title, heads, rows in found.tables():
        table(title, heads, rows)
    lines(*(f"wrote {path}" for path in drawn))
