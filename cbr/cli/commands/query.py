"""``cbr query``: retrieval and a proposal for a situation, or for a decision of the casebase."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.answer import show_answer
from cbr.cli.options import (
    CASE,
    File,
    Json,
    MissingValues,
    Similarity,
    Stage,
    Weights,
    rules,
    similarities,
    situation,
)
from cbr.cli.output import emit, lines, note

if TYPE_CHECKING:
    from cbr.cli.app import App
    from cbr.reusing.hidden_solutions import HiddenSolutions
    from cbr.store.casebase import Casebase

_Case = Annotated[list[str] | None, CASE]
_Decision = Annotated[
    int | None, typer.Option(min=0, help="Decision of the record; needed if it has several.")
]
_Policy = Annotated[
    str, typer.Option(metavar="SPEC", help="Retrieval policy, e.g. threshold?above=0.9 or top?k=5.")
]
_Reuse = Annotated[str, typer.Option(metavar="SPEC", help="Reuse policy, e.g. majority.")]
_Allow = Annotated[
    str,
    typer.Option(
        metavar="S,...",
        help="Solutions that may be proposed; default: those possible in the situation, as far as "
        "it is described.",
    ),
]
_Missing = Annotated[
    str,
    typer.Option(
        metavar="hidden|refuse",
        help="For solutions that only hidden decisions have: use their frequency among these "
        "(hidden), or stop with an error (refuse).",
    ),
]
_Index = Annotated[
    str, typer.Option(metavar="SPEC", help="Index that finds candidates, e.g. exact or faiss-hnsw.")
]
_Show = Annotated[int, typer.Option(min=1, help="Number of neighbours to show.")]
_Plot = Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw the answer.")]

_MISSING = ("hidden", "refuse")


def add(app: App) -> None:
    app.command(
        "query", epilog="Example: cbr query casebases/cars.db --case price=7000,age=6,fuel=diesel"
    )(_with_record_names(app))


def _with_record_names(app: App) -> Callable[..., None]:
    """The command whose option --record can also be given by what loaded case types call a record,
    such as --hand."""
    own = list(inspect.signature(query, eval_str=True).parameters.values())
    taken = {parameter.name for parameter in own}
    words = {"record": None}
    for plugin, case_type in app.plugins.given("case type") if app.calls("query") else ():
        word = case_type.record
        if word in taken - {"record"}:
            app.plugins.blame(
                plugin, f"records called {word!r}: --{word} is an option of query itself"
            )
        else:
            words.setdefault(word)
    option = typer.Option(
        *(f"--{word.replace('_', '-')}" for word in words),
        min=1,
        max=2**63 - 1,
        help="Take a decision of this record, and retrieve from all other records.",
    )
    kind: Any = Annotated[int | None, option]
    named = [p.replace(annotation=kind) if p.name == "record" else p for p in own]

    def command(**options: Any) -> None:
        return query(**options)

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
    missing_values: MissingValues = None,
    index: _Index = "auto",
    show: _Show = 5,
    plot: _Plot = None,
    json: Json = False,
) -> None:
    """Retrieve similar cases, propose a solution, explain both.

    The situation is given by --case, or is that of a decision in the casebase: then its whole
    record is left out of retrieval, and what was really done is shown beside the proposal. A
    feature that is not given is not compared, unless a loaded plugin computes it from the others;
    what it means that a case lacks a feature is told by --missing-values. Where solutions are
    numbers, the proposal is a number with an interval.
    Solutions that are not possible in the situation (a check where there is a bet to call) are not
    proposed; the answer says what it took as possible.
    """
    import dataclasses

    from cbr.plots.answer import draw_answer
    from cbr.plots.style import verify_picture
    from cbr.plugging.plugins import default_plugins
    from cbr.retrieval.retriever import retriever_of
    from cbr.reusing.explanation import explain
    from cbr.reusing.hidden_solutions import hidden_solutions_of
    from cbr.reusing.proposal import reuse as propose
    from cbr.store.casebase import Casebase
    from cbr.store.decisions import decision_of, vectors_without
    from cbr.store.definitions import possible_solutions

    _verify_target(case, record, decision)
    named = _allowed(allow)
    _verify_missing(missing)
    if plot is not None:
        verify_picture(plot)
    with Casebase.open(file) as base, base.reading():
        made = None if record is None else decision_of(base, record, decision, stage)
        chosen = base.stage(stage) if made is None else made.stage
        target = situation(case or (), base.case_type(chosen)) if made is None else made.values
        retriever = retriever_of(
            base,
            chosen,
            weights=weights,
            policy=policy,
            similarity=similarities(similarity),
            missing=rules(missing_values),
            index=index,
            vectors=None if record is None else vectors_without(base, chosen, record),
        )
        possible = possible_solutions(base.case_type(chosen), target, default_plugins())
        # What was really done was possible, whatever its features tell.
        done = () if made is None else (made.solution,)
        every = base.case_type(chosen).solutions
        allowed = named or [s for s in every if s in {*possible, *done}]
        lacking = hidden_solutions_of(base, retriever, without=record)
        if lacking is not None and missing == "refuse":
            _refuse(base, chosen, lacking, allowed)
        retrieved = retriever(target)
        proposal = propose(retrieved, reuse, allowed=allowed, lacking=lacking)
        answer = explain(retrieved, proposal, show, base=base, lacking=lacking, decision=made)
        word = base.case_types[0].record
    if plot is not None:
        draw_answer(answer, plot, word)
    if json:
        emit(dataclasses.asdict(answer) | {"plot": None if plot is None else str(plot)})
        return
    if answer.unknown:
        why = "not given" if made is None else "hidden"
        note(f"{why}, so not compared: {', '.join(map(answer.label, answer.unknown))}")
    show_answer(answer, word)
    if plot is not None:
        lines(f"drawn in {plot}")


def _verify_target(case: list[str] | None, record: int | None, decision: int | None) -> None:
    from cbr.errors import BadValue

    if (case is None) == (record is None):
        raise BadValue(
            "give either --case with a situation, or --record with the number of a record"
        )
    if decision is not None and record is None:
        raise BadValue("--decision is one of a record; give --record with its number as well")


def _verify_missing(missing: str) -> None:
    from cbr.errors import NoSuchName

    if missing not in _MISSING:
        raise NoSuchName("way with --missing", missing, _MISSING)


def _allowed(allow: str) -> list[str] | None:
    from cbr.errors import BadValue

    allowed = [name.strip() for name in allow.split(",") if name.strip()] or None
    if allow and not allowed:
        raise BadValue(f"--allow {allow!r} names no solution; give some, or leave it out")
    return allowed


def _refuse(
    base: Casebase, stage: str, lacking: HiddenSolutions, allowed: Collection[str] | None
) -> None:
    """Raise if a solution that only hidden decisions have could be proposed."""
    from cbr.errors import BadValue

    names = [name for name in lacking.solutions if allowed is None or name in allowed]
    if not names:
        return
    every = base.case_type(stage).solutions
    rest = [s for s in every if s not in names and (allowed is None or s in allowed)]
    exclude = f"exclude that by --allow {','.join(rest)}, " if rest else ""
    raise BadValue(
        f"no case of stage {stage!r} has solution {' or '.join(map(repr, names))}, which hidden "
        f"decisions have; {exclude}use its frequency among them by --missing hidden, or add "
        "records that hide nothing"
    )
