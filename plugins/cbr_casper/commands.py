"""The command `cbr label`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from cbr.cli import File, Json, emit, note, progress, table

_Cases = Annotated[
    int, typer.Option(min=0, help="Cases of each street that have labels afterwards; 0: all.")
]
_Deals = Annotated[int, typer.Option(min=2, help="Roll-outs of each action, a deal for each.")]
_Rounds = Annotated[
    int,
    typer.Option(
        min=0,
        help="Rounds of simulated play that find best responses, once for the casebase; 0: none.",
    ),
]
_Hands = Annotated[int, typer.Option(min=1, help="Hands of a round, for each table model.")]
_Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the deals.")]
_Save = Annotated[
    Path | None, typer.Option(metavar="L.npz", help="Write all labels to a file as well.")
]
_Load = Annotated[
    Path | None,
    typer.Option(metavar="L.npz", help="Read labels from such a file instead of estimating them."),
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
    """Estimate the value of each action of a case by roll-outs.

    The hand of a case is played out many times. Opponents' cards are drawn from their ranges given
    their moves in the hand, never taken from the log. Opponents act by a model of the casebase's
    players, and we by an approximate best response to it, which is found first in rounds of
    simulated play. Each legal action is played out with the same deals and random numbers. Values
    are stored in the casebase with their standard errors; labelling again continues where it
    stopped.
    """
    from cbr import Casebase
    from cbr.workers import executor
    from cbr_casper.values import label_file
    from cbr_casper.values.labels import label as run
    from cbr_casper.values.labels import labelled, unlabelled
    from cbr_casper.values.table_models import TableModels

    if save:
        label_file.verify_can_save(save)
    with (
        Casebase.open(file, write=True) as base,
        executor(workers, dask) as pool,
    ):
        if load:
            label_file.load(base, load)
        wanted = {} if load else unlabelled(base, cases)
        models = TableModels.load_if_valid(base)
        unused = ["rounds", "hands"]
        if load:
            unused += ["cases", "deals", "seed"]
        elif models is None or (wanted and TableModels.are_stale(base)):
            unused = []
            with progress("finding best responses", "hands") as tell:
                models = TableModels.learn(base, seed, rounds, hands, pool, tell, resume=True)
            with base.transaction():
                models.save(base)
        if idle := [f"--{name}" for name in unused if _is_given(context, name)]:
            known = f"the labels of {load}" if load else "best responses that were found before"
            note(f"{' and '.join(idle)} changed nothing: {file} has {known}")
        found = labelled(base)
        if wanted and models is not None:
            with progress("labelling", "cases") as tell:
                found = run(base, wanted, models, deals, seed, pool, tell)
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
