"""``cbr evolve``: weights that earn more, found by contests in an arena."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.long_work import minutes, now_and_then
from cbr.cli.options import Dask, File, Json, WeightsOut, Workers
from cbr.cli.output import emit, lines, table, to_stderr

if TYPE_CHECKING:
    from cbr.cli.app import App
    from cbr.evolve.experiment import Evolved
    from cbr.evolve.run import OnProgress, SearchProgress

_Plan = Annotated[
    str, typer.Option(metavar="NAME", help="Search plan: robust, genetic, or one of a plugin.")
]
_Arena = Annotated[
    list[str] | None,
    typer.Option(
        "--arena",
        metavar="SPEC",
        help="Arena in which weights are tried; repeat it for several. Default: that of the plan, "
        "or one for the domain of the casebase.",
    ),
]
_Objective = Annotated[
    str, typer.Option(metavar="mean|worst", help="Which score counts over several arenas.")
]
_Runs = Annotated[
    int | None, typer.Option(min=1, help="Number of searches; winners start further ones.")
]
_Generations = Annotated[int | None, typer.Option(min=1, help="Generations of a search, at most.")]
_Trials = Annotated[
    int | None,
    typer.Option(
        "--hands",
        "--trials",
        min=1,
        help="Trials (hands, cases) of each individual in a generation; in the first round, if "
        "the plan has several.",
    ),
]
_Population = Annotated[int | None, typer.Option(min=2, help="Individuals in a generation.")]
_Set = Annotated[
    str,
    typer.Option(
        "--set", metavar="NAME=VALUE,...", help="Other settings of the plan, e.g. copies=1,pairs=4."
    ),
]
_Start = Annotated[
    list[str] | None,
    typer.Option(
        "--start",
        metavar="NAME|FILE",
        help="Weights to start from and compare with, beside those of the casebase and of "
        "plugins, and instead of learned ones. May be repeated.",
    ),
]
_Report = Annotated[
    int | None,
    typer.Option(min=1, help="Fresh trials of each set of weights at the end."),
]
_Seed = Annotated[int, typer.Option(min=0, max=2**62, help="Seed of all random numbers.")]
_Run = Annotated[
    Path | None,
    typer.Option(metavar="RUN.db", help="The run file; default: beside the weights, W.run.db."),
]
_Resume = Annotated[bool, typer.Option("--resume", help="Continue the run file, if it exists.")]


def add(app: App) -> None:
    app.command(
        "evolve",
        epilog="Example: cbr evolve casebases/sample.db --generations 2 --hands 200 "
        "--out evolved.json",
    )(evolve)


def evolve(
    file: File,
    out: WeightsOut,
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
    """Search for feature weights that earn more in an arena.

    The plan robust starts from the weights of the casebase, those of plugins, and weights learned
    from the cases (unless --start is given). It compares individuals on the same trials and
    replaces its champion only by one that is significantly better. Every generation is kept in the
    run file; --resume continues from there to the same result, with any number of workers. The
    weights found are tested on trials that no search has used.
    """
    from cbr.errors import BadValue
    from cbr.evolve.experiment import evolve as search
    from cbr.evolve.plans import plan_named
    from cbr.weights import verify_can_save
    from cbr.workers import executor

    settings = {
        "runs": runs,
        "generations": generations,
        "trials": hands,
        "population": population,
        "report": report,
    }
    chosen = plan_named(plan).changed(_merged(settings, set_))
    verify_can_save(out)
    place = run or out.with_suffix(".run.db")
    if place.absolute() == out.absolute():
        raise BadValue(f"{out} cannot be both the weights and the run; give --run another name")
    with (
        executor(workers, dask) as pool,
        _progress() as tell,
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


def _merged(options: Mapping[str, int | None], more: str) -> dict[str, object]:
    """The settings of the plan that options give, and those of --set."""
    from cbr.errors import BadValue
    from cbr.spec import pairs

    given: dict[str, object] = {n: value for n, value in options.items() if value is not None}
    for name, value in pairs(more, "--set").items():
        if name in given:
            raise BadValue(f"{name!r} is given twice, once in --set")
        given[name] = value
    return given


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
    lines(f"wrote {out}; for details of the run: cbr evolve-report {place}")
    if found.usage:
        lines(f"use: {found.usage}")


@contextmanager
def _progress() -> Iterator[OnProgress]:
    """A line with generation, best, spread, rate and time left: all the time on a terminal, now and
    then elsewhere."""
    first: list[int] = []

    def line(told: SearchProgress) -> str:
        if not first:
            first.append(told.over)
        return progress_line(told, told.over - first[0])

    if not sys.stderr.isatty():
        due = now_and_then()

        def write(told: SearchProgress) -> None:
            said = line(told)
            if due():
                to_stderr(f"evolving: {said}")

        yield write
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    bar = Progress(
        BarColumn(bar_width=8),
        TextColumn("{task.fields[line]}"),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("evolving", total=None, line="")

        def tell(told: SearchProgress) -> None:
            bar.update(task, completed=told.over, total=told.of or None, line=line(told))

        yield tell


def progress_line(told: SearchProgress, since: int) -> str:
    """The text of the progress line; `since` generations ended since this process began."""
    parts = [told.doing or f"generation {told.over} of {told.of}"]
    if told.last is not None:
        best = float(told.last.scores[told.last.best].mean())
        parts.append(f"best {best:+.3f}, spread {told.last.spread:.3f}")
    if told.trials:
        parts.append(f"{told.trials / max(told.seconds, 1e-3):,.0f} {told.trial}s/s")
    if since > 0 and not told.doing:
        left = (told.of - told.over) * told.seconds / since
        parts.append(f"{minutes(left)} left")
    return ", ".join(parts)
