"""``cbr label``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from cbr.cli import File, Json, emit, note, progress, table, waiting

_Cases = Annotated[
    int, typer.Option(min=0, help="Label so many cases of each street in all; 0: all of them.")
]
_Deals = Annotated[int, typer.Option(min=2, help="Deals on which each action is played on.")]
_Rounds = Annotated[
    int,
    typer.Option(
        min=0,
        help="Rounds to find answers to habits, once for all its hands; 0: none.",
    ),
]
_Hands = Annotated[int, typer.Option(min=1, help="Hands of a round, for each of some worlds.")]
_Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the deals.")]
_Save = Annotated[
    Path | None, typer.Option(metavar="L.npz", help="Write all labels to a file as well.")
]
_Load = Annotated[
    Path | None, typer.Option(metavar="L.npz", help="Take labels from such a file, find none.")
]
_Workers = Annotated[int, typer.Option(min=1, help="Processes to play in.")]
_Dask = Annotated[str, typer.Option(metavar="ADDRESS", help="Or a Dask scheduler's workers.")]


def add(app: typer.Typer) -> None:
    app.command("label", epilog="Example: cbr label casebases/sample.db --cases 100")(label)


def label(
    context: typer.Context,
    file: File,
    cases: _Cases = 5_000,
    deals: _Deals = 200,
    rounds: _Rounds = 4,
    hands: _Hands = 120_000,
    seed: _Seed = 0,
    workers: _Workers = 1,
    dask: _Dask = "",
    save: _Save = None,
    load: _Load = None,
    json: Json = False,
) -> None:
    """Estimate what each action of a case is worth, by playing its hand on many times.

    Opponents' cards are drawn by what they did in the hand, never taken from the log. They act as
    the casebase's players do, and we by an answer to that, found first in rounds of simulated play.
    Each legal action is played on with the same deals and the same luck. Values are kept in the
    casebase with their standard errors; labelling again goes on where it stopped.
    """
    from cbr import Casebase
    from cbr.workers import executor
    from cbr_casper.values import label_file
    from cbr_casper.values.labels import label as run
    from cbr_casper.values.labels import labelled, unlabelled
    from cbr_casper.values.table_models import Worlds

    if save:
        label_file.verify_can_save(save)
    with (
        Casebase.open(file, write=True) as base,
        waiting("compiling what is needed, once on a machine; that takes up to a minute", 6.0),
        executor(workers, dask) as pool,
    ):
        if load:
            label_file.load(base, load)
        wanted = {} if load else unlabelled(base, cases)
        worlds = Worlds.fitting(base)
        unused = ["rounds", "hands"]
        if load:
            unused += ["cases", "deals", "seed"]
        elif worlds is None or (wanted and Worlds.are_stale(base)):
            unused = []
            with progress("finding answers", "hands") as tell:
                worlds = Worlds.find(base, seed, rounds, hands, pool, tell)
            with base.transaction():
                worlds.save(base)
        if idle := [f"--{name}" for name in unused if _is_given(context, name)]:
            known = f"what {load} has" if load else "answers that were found before"
            note(f"{' and '.join(idle)} changed nothing: {file} has {known}")
        found = labelled(base)
        if wanted and worlds is not None:
            with progress("labelling", "cases") as tell:
                found = run(base, wanted, worlds, deals, seed, pool, tell)
        if save:
            label_file.save(base, save)
    if json:
        emit({"stages": [dataclasses.asdict(stage) for stage in found]})
        return
    table(
        f"{file}: values by {deals} deals" if wanted else str(file),
        ["stage", "labelled now", "with values"],
        [(stage.stage, stage.now, stage.all) for stage in found],
    )


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
