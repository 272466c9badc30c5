"""``cbr query``, ``cbr retain`` and ``cbr refine``: the steps of the cycle on one casebase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.options import CaseValues, File, Json, Similarity, Stage, Weights, similarities
from cbr.cli.output import cell, count, emit, lines, note, progress, table, width

if TYPE_CHECKING:
    from cbr.case import CaseType, Value
    from cbr.explain import Explanation, Neighbour

_Policy = Annotated[
    str, typer.Option(metavar="SPEC", help="Retrieval policy, e.g. threshold?above=0.9 or top?k=5.")
]
_Reuse = Annotated[str, typer.Option(metavar="SPEC", help="Reuse policy, e.g. majority.")]
_Index = Annotated[str, typer.Option(metavar="SPEC", help="Index that proposes candidates.")]
_Allow = Annotated[str, typer.Option(metavar="S,...", help="Solutions that are allowed.")]
_Show = Annotated[int, typer.Option(min=1, help="How many neighbours to show.")]
_Solution = Annotated[str, typer.Option(help="What was done.")]
_Outcome = Annotated[float | None, typer.Option(help="What it earned.")]
_Rule = Annotated[
    str, typer.Option(metavar="SPEC", help="Keep it: always, novel?above=0.999, earned?above=0.")
]
_Method = Annotated[str, typer.Option(help="noise (RENN) or redundant (condensed neighbours).")]
_K = Annotated[int, typer.Option("-k", min=1, help="How many neighbours vote.")]
_Apply = Annotated[bool, typer.Option("--apply", help="Remove them; without it, only say which.")]


def add(app: typer.Typer) -> None:
    app.command(
        "query", epilog="Example: cbr query casebases/cars.db --case price=7000,age=6,fuel=diesel"
    )(query)
    app.command(
        "retain",
        epilog="Example: cbr retain casebases/cars.db --case price=7000,age=6,... "
        "--solution buy --outcome 4.5 --rule novel",
    )(retain)
    app.command("refine", epilog="Example: cbr refine casebases/cars.db --method noise --apply")(
        refine
    )


def _target(case: Sequence[str], case_type: CaseType) -> dict[str, Value]:
    """What --case says, with features computed from it; notes what lies outside a range."""
    from cbr.definitions import complete
    from cbr.errors import BadValue
    from cbr.plugins import default_plugins
    from cbr.spec import pairs

    given: dict[str, str] = {}
    for text in case:
        more = pairs(text, "--case")
        for name in given.keys() & more.keys():
            raise BadValue(f"{name!r} stands twice in --case")
        given |= more
    values = complete(case_type, case_type.read(given), default_plugins())
    for name, value in values.items():
        limits = case_type.feature(name).range
        if limits and not limits[0] <= float(value) <= limits[1]:
            low, high = map(cell, limits)
            note(f"{name} {cell(value)} is outside its range, {low} to {high}")
    return values


def query(
    file: File,
    case: CaseValues,
    stage: Stage = None,
    weights: Weights = "",
    similarity: Similarity = None,
    policy: _Policy = "",
    reuse: _Reuse = "",
    allow: _Allow = "",
    index: _Index = "exact",
    show: _Show = 5,
    json: Json = False,
) -> None:
    """Retrieve the cases most like a situation, propose a solution, and explain both.

    A feature that is not given is not compared, unless a loaded plugin computes it from the others.
    """
    from cbr.casebase import Casebase
    from cbr.explain import explain
    from cbr.retrieve import retrieve
    from cbr.reuse import reuse as propose

    allowed = [name.strip() for name in allow.split(",") if name.strip()] or None
    with Casebase.open(file) as base:
        chosen = base.stage(stage)
        retrieved = retrieve(
            base,
            chosen,
            _target(case, base.case_type(chosen)),
            weights=weights,
            policy=policy,
            similarity=similarities(similarity),
            index=index,
        )
        proposal = propose(retrieved, reuse, allowed=allowed)
        answer = explain(retrieved, proposal, show, base=base)
    if json:
        emit(answer)
        return
    if answer.unknown:
        note(f"not given, so not compared: {', '.join(answer.unknown)}")
    _show_answer(answer)


def _show_answer(answer: Explanation) -> None:
    retrieved = f"{answer.retrieved_cases:.4g}"
    lines(f"Retrieved {retrieved} cases by {answer.policy}; the nearest, and why they are near:")
    # As many neighbours side by side as the line has room for.
    room = max(1, (width() - 44) // 17)
    for first in range(0, len(answer.neighbours), room):
        _show_neighbours(answer, answer.neighbours[first : first + room], first)
    table(
        "Proposal",
        ["solution", "probability", "mean outcome"],
        [(s, round(p, 4), answer.mean_outcome[s]) for s, p in answer.probabilities.items()],
    )
    lines(f"{answer.solution}: {answer.reason}.")
    if answer.nearest_other is not None:
        lines(_against(answer, answer.nearest_other))


def _show_neighbours(answer: Explanation, shown: Sequence[Neighbour], first: int) -> None:
    heads = [f"#{first + place + 1}" for place in range(len(shown))]
    table(
        "",
        ["", "target", *heads],
        [
            ["similarity", "", *(f"{near.similarity:.4f}" for near in shown)],
            ["solution", "", *(_solutions(near) for near in shown)],
            ["outcome", "", *(cell(near.mean_outcome) for near in shown)],
            ["case", "", *(_ids(near) for near in shown)],
            *(
                [name, cell(answer.target.get(name)), *(cell(near.values[name]) for near in shown)]
                for name in answer.weights
            ),
            *([name, "", *(cell(near.also[name]) for near in shown)] for name in shown[0].also),
        ],
    )
    table(
        "Local similarity (contribution)",
        ["feature", "measure", "weight", *heads],
        [
            [name, answer.similarities[name], weight, *(_local(near, name) for near in shown)]
            for name, weight in answer.weights.items()
        ],
    )


def _against(answer: Explanation, other: Neighbour) -> str:
    differs = [
        f"{name} ({cell(other.values[name])})"
        for name, value in answer.target.items()
        if name in other.values and other.values[name] != value
    ]
    return (
        f"What speaks against it: the nearest case with another solution ({_solutions(other)}, "
        f"case {_ids(other)}) has similarity {other.similarity:.4f}; of what was compared it "
        f"differs in {', '.join(differs) or 'nothing'}."
    )


def _solutions(near: Neighbour) -> str:
    alone = len(near.cases) == 1 and sum(near.cases.values()) == 1
    return ", ".join(name if alone else f"{n} {name}" for name, n in near.cases.items())


def _ids(near: Neighbour) -> str:
    more = f" +{len(near.case_ids) - 1}" if len(near.case_ids) > 1 else ""
    return f"{near.case_ids[0]}{more}"


def _local(near: Neighbour, name: str) -> str:
    local = near.local[name]
    return "-" if local is None else f"{local:.3f} ({near.contribution[name]:.3f})"


def retain(
    file: File,
    case: CaseValues,
    solution: _Solution,
    outcome: _Outcome = None,
    stage: Stage = None,
    rule: _Rule = "always",
    json: Json = False,
) -> None:
    """Score a decision by what it earned, and keep it as a case if the rule says so."""
    from cbr.casebase import Casebase
    from cbr.retain import retain as keep
    from cbr.retrieve import retrieve
    from cbr.revise import revise

    with Casebase.open(file, write=True) as base:
        chosen = base.stage(stage)
        target = _target(case, base.case_type(chosen))
        with base.transaction():  # so that nobody else retains the same between the two
            revision = revise(retrieve(base, chosen, target), solution, outcome)
            number = keep(base, chosen, revision, rule)
    if json:
        emit(
            {
                "case": number,
                "retained": number is not None,
                "expected": revision.expected,
                "surprise": revision.surprise,
                "most_similar": revision.most_similar,
            }
        )
        return
    lines(
        f"retained as case {number}" if number is not None else f"not retained: rule {rule}",
        f"expected outcome {cell(revision.expected)}, surprise {cell(revision.surprise)}; the "
        f"nearest case with this solution has similarity {revision.most_similar:.4f}",
    )


def refine(
    file: File,
    stage: Stage = None,
    method: _Method = "noise",
    k: _K = 3,
    weights: Weights = "",
    apply: _Apply = False,
    json: Json = False,
) -> None:
    """Find cases that mislead or add nothing; with --apply, remove them.

    Both accuracies are leave-one-out over all cases: the share whose solution is the commonest
    among their k nearest other cases, before and after the removal.
    """
    import dataclasses

    from cbr.casebase import Casebase
    from cbr.refine import refine as run
    from cbr.retrieve import retriever

    with Casebase.open(file, write=apply) as base, progress("comparing", "cases") as tell:
        chosen = base.stage(stage)
        found = run(retriever(base, chosen, weights=weights), method, k, progress=tell)
        if apply and found.drop:
            with base.transaction():
                base.remove(chosen, found.drop)
    if json:
        emit(dataclasses.asdict(found) | {"applied": apply})
        return
    what = f"{method}: {len(found.drop):,} of {count(found.cases, 'case')}"
    _show_refinement(found, f"{what} {'removed' if apply else 'to remove'}", apply)


def _show_refinement(found: Any, title: str, applied: bool) -> None:
    table(
        title,
        ["leave-one-out accuracy", "share"],
        [
            ("with all cases", round(found.accuracy_before, 4)),
            ("without them", round(found.accuracy_after, 4)),
        ],
    )
    if found.drop:
        first = ", ".join(map(str, found.drop[:20]))
        lines(f"cases {first}{' ...' if len(found.drop) > 20 else ''}")
    if found.accuracy_after < found.accuracy_before:
        note("without these cases the others are predicted less well")
    if found.drop and not applied:
        lines("Nothing was changed; --apply removes them.")
