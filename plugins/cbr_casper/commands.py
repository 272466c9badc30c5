"""``cbr label``."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from cbr.cli.options import File, Json
from cbr.cli.output import emit, progress, table, waiting

_Cases = Annotated[
    int, typer.Option(min=0, help="Label so many cases of each street in all; 0: all of them.")
]
_Deals = Annotated[int, typer.Option(min=2, help="Deals on which each action is played on.")]
_Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the deals.")]
_Workers = Annotated[int, typer.Option(min=1, help="Processes to play in.")]
_Dask = Annotated[str, typer.Option(metavar="ADDRESS", help="Or a Dask scheduler's workers.")]


def add(app: typer.Typer) -> None:
    app.command("label", epilog="Example: cbr label casebases/sample.db --cases 100")(label)


def label(
    file: File,
    cases: _Cases = 5_000,
    deals: _Deals = 200,
    seed: _Seed = 0,
    workers: _Workers = 1,
    dask: _Dask = "",
    json: Json = False,
) -> None:
    """Estimate what each action of a case is worth, by playing its hand on many times.

    Opponents' cards are drawn by what they did in the hand, never taken from the log, and everybody
    acts as the casebase's players do. Each legal action is played on with the same deals and the
    same luck. Values are kept in the casebase with their standard errors; labelling again goes on
    where it stopped.
    """
    from cbr.casebase import Casebase
    from cbr.workers import executor
    from cbr_casper.label import label as run

    with (
        Casebase.open(file, write=True) as base,
        waiting("compiling what is needed, once on a machine; that takes up to a minute", 6.0),
        executor(workers, dask) as pool,
        progress("labelling", "cases") as tell,
    ):
        found = run(base, cases, deals, seed, pool, tell)
    if json:
        emit({"stages": [dataclasses.asdict(stage) for stage in found]})
        return
    table(
        f"{file}: values by {deals} deals",
        ["stage", "labelled now", "with values"],
        [(stage.stage, stage.now, stage.all) for stage in found],
    )
