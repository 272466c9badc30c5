"""``cbr query``: what the cases say of a situation, or of a decision that the casebase holds."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.answer import show_answer
from cbr.cli.options import File, Json, Similarity, Stage, Weights, similarities, situation
from cbr.cli.output import emit, lines, note

if TYPE_CHECKING:
    from cbr.plugging.plugins import Plugins
    from cbr.reusing.hidden_solutions import HiddenSolutions
    from cbr.store.casebase import Casebase
    from cbr.store.decisions import Decision

_Case = Annotated[
    list[str] | None,
    typer.Option(
        "--case", metavar="K=V,...", help="The situation, feature by feature; or a JSON object."
    ),
]
_Decision = Annotated[
    int | None,
    typer.Option(min=0, help="Which decision of the record; may be left out where it has one."),
]
_Policy = Annotated[
    str, typer.Option(metavar="SPEC", help="Retrieval policy, e.g. threshold?above=0.9 or top?k=5.")
]
_Reuse = Annotated[str, typer.Option(metavar="SPEC", help="Reuse policy, e.g. majority.")]
_Allow = Annotated[str, typer.Option(metavar="S,...", help="Solutions that are allowed.")]
_Missing = Annotated[
    str,
    typer.Option(
        metavar="hidden|refuse",
        help="Solutions that only hidden decisions have: as often as these take them, or an error.",
    ),
]
_Index = Annotated[str, typer.Option(metavar="SPEC", help="Index that proposes candidates.")]
_Show = Annotated[int, typer.Option(min=1, help="How many neighbours to show.")]
_Plot = Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw the answer.")]

_WAYS = ("hidden", "refuse")


def add(app: typer.Typer, plugins: Plugins, asked: bool) -> None:
    """The command; what plugins call a record only where it is asked for, for speed."""
    epilog = "Example: cbr query casebases/cars.db --case price=7000,age=6,fuel=diesel"
    app.command("query", epilog=epilog)(_with_record_names(plugins, asked))


def _with_record_names(plugins: Plugins, asked: bool) -> Any:
    """The command with --record, which goes by the words of the loaded case types as well."""
    own = list(inspect.signature(query, eval_str=True).parameters.values())
    taken = {parameter.name for parameter in own}
    words = {"record": None}
    for plugin, case_type in plugins.given("case type") if asked else ():
        word = case_type.record
        if word in taken - {"record"}:
            plugins.blame(plugin, f"records called {word!r}: --{word} is an option of query itself")
        else:
            words.setdefault(word)
    option = typer.Option(
        *(f"--{word.replace('_', '-')}" for word in words),
        min=1,
        max=2**63 - 1,
        help="A decision of this record, asked of all other records.",
    )
    kind: Any = Annotated[int | None, option]
    named = [p.replace(annotation=kind) if p.name == "record" else p for p in own]

    def command(**given: Any) -> None:
        return query(**given)

    command.__doc__ = query.__doc__
    command.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
    return command


def query(
    file: File,
    case: _Case = None,
    record: int | None = None,
    decision: _Decision = None,
    stage: Stage = None,
    weights: Weights = "",
    similarity: Similarity = None,
    policy: _Policy = "",
    reuse: _Reuse = "",
    allow: _Allow = "",
    missing: _Missing = "hidden",
    index: _Index = "auto",
    show: _Show = 5,
    plot: _Plot = None,
    json: Json = False,
) -> None:
    """Retrieve the cases most like a situation, propose a solution, and explain both.

    The situation is given by --case, or is that of a decision in the casebase: then its whole
    record is left out, and what was really done stands beside the proposal. A feature that is not
    given is not compared, unless a loaded plugin computes it from the others.
    """
    import dataclasses

    from cbr.errors import BadValue, NoSuchName
    from cbr.plots.answer import draw_answer, verify_picture
    from cbr.retrieval.retriever import retriever_of
    from cbr.reusing.explanation import explain
    from cbr.reusing.hidden_solutions import hidden_solutions_of
    from cbr.reusing.proposal import reuse as propose
    from cbr.store.casebase import Casebase
    from cbr.store.decisions import decision_of, vectors_without

    if (case is None) == (record is None):
        raise BadValue(
            "give either --case with a situation, or --record with the number of a record"
        )
    if decision is not None and record is None:
        raise BadValue("--decision is one of a record; give --record with its number as well")
    if plot is not None:
        verify_picture(plot)
    if missing not in _WAYS:
        raise NoSuchName("way with --missing", missing, _WAYS)
    allowed = [name.strip() for name in allow.split(",") if name.strip()] or None
    if allow and not allowed:
        raise BadValue(f"--allow {allow!r} names no solution; give some, or leave it out")
    with Casebase.open(file) as base, base.reading():
        made = None if record is None else decision_of(base, record, decision, stage)
        chosen = base.stage(stage) if made is None else made.stage
        target = situation(case or (), base.case_type(chosen)) if made is None else made.values
        mine = retriever_of(
            base,
            chosen,
            weights=weights,
            policy=policy,
            similarity=similarities(similarity),
            index=index,
            vectors=None if record is None else vectors_without(base, chosen, record),
        )
        lacking = hidden_solutions_of(base, mine, without=record)
        if lacking is not None and missing == "refuse":
            _refuse(base, chosen, lacking, allowed)
        retrieved = mine(target)
        proposal = propose(retrieved, reuse, allowed=allowed, lacking=lacking)
        answer = explain(retrieved, proposal, show, base=base, lacking=lacking, decision=made)
        word = base.case_types[0].record
    if plot is not None:
        draw_answer(answer, plot, word)
    if json:
        emit(dataclasses.asdict(answer) | {"plot": None if plot is None else str(plot)})
        return
    if answer.unknown:
        note(f"{_why_open(made)}, so not compared: {', '.join(answer.unknown)}")
    show_answer(answer, word)
    if plot is not None:
        lines(f"drawn in {plot}")


def _why_open(made: Decision | None) -> str:
    return "not given" if made is None else "hidden"


def _refuse(
    base: Casebase, stage: str, lacking: HiddenSolutions, allowed: Collection[str] | None
) -> None:
    """An error if solutions that the cases lack could be proposed."""
    from cbr.errors import BadValue

    names = [name for name in lacking.solutions if allowed is None or name in allowed]
    if not names:
        return
    every = base.case_type(stage).solutions
    rest = [s for s in every if s not in names and (allowed is None or s in allowed)]
    leave = f"leave that out by --allow {','.join(rest)}, " if rest else ""
    raise BadValue(
        f"no case of stage {stage!r} has solution {' or '.join(map(repr, names))}, which hidden "
        f"decisions have; {leave}take how often it is done from them by --missing hidden, or add "
        "records that hide nothing"
    )
