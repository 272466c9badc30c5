"""How the answer of a query is shown: neighbours side by side, the proposal, evidence against."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cbr.cli.output import cell, count, lines, table, width

if TYPE_CHECKING:
    from cbr.case import Value
    from cbr.reusing.explanation import Explanation, Neighbour
    from cbr.store.decisions import Decision


def show_answer(answer: Explanation, record: str) -> None:
    """Print the answer; `record` is what the domain calls one of its records."""
    cases = "case" if answer.retrieved_cases == 1 else "cases"
    retrieved = f"Retrieved {answer.retrieved_cases:.4g} {cases} by {answer.policy}"
    if answer.fallback is not None and answer.alike:
        retrieved += f" (none is above {answer.fallback:g}, so the most similar)"
    if answer.decision is not None:
        lines(f"{_named(answer.decision, record)}, retrieved from all other {record}s")
    alike = answer.alike
    if alike:
        lines(f"{retrieved}; the most similar, feature by feature:")
    else:
        lines(f"{retrieved}, but none is similar: all have similarity 0.")
    # As many neighbours side by side as fit into a line.
    room = max(1, (width() - 44) // 17)
    for first in range(0, len(alike), room):
        _show_neighbours(answer, alike[first : first + room], first)
    _show_proposal(answer)
    left_out = [name for name in answer.probabilities if name not in answer.allowed]
    if left_out:
        lines(f"Taken as possible: {', '.join(answer.allowed)}; not: {', '.join(left_out)}.")
    lines(f"{_proposed(answer)}: {answer.reason}.")
    if answer.decision is not None:
        lines(_actual(answer, answer.decision))
    if answer.nearest_other is not None:
        lines(_against(answer, answer.nearest_other))


def _named(made: Decision, record: str) -> str:
    hidden = "" if made.known else ", partly hidden"
    return f"{record.capitalize()} {made.record}, decision {made.step} ({made.stage}{hidden})"


def _proposed(answer: Explanation) -> str:
    """The proposed solution; a number with its unit."""
    return f"{cell(answer.solution)} {answer.unit}".strip()


def _show_number(answer: Explanation) -> None:
    found = answer.interval
    rows: list[tuple[str, object]] = [("expected", answer.solution)]
    if found is not None:
        rows += [
            (f"{100 * found.level:.0f} % interval", f"{cell(found.low)} to {cell(found.high)}")
        ]
    if answer.decision is not None:
        rows.append(("actual", answer.decision.solution))
    table("Proposal", ["", answer.label("solution")], [(name, cell(value)) for name, value in rows])
    if found is not None:
        lines(
            f"{100 * found.level:.0f} of 100 such intervals hold the true number, by the errors of "
            f"{found.cases:,} cases predicted without themselves."
        )


def _show_proposal(answer: Explanation) -> None:
    if answer.numeric:
        _show_number(answer)
        return
    made = answer.decision
    shown = answer.worth_showing
    rows: list[list[object]] = [
        [name, round(answer.probabilities[name], 4), answer.mean_outcome[name]] for name in shown
    ]
    heads = [answer.label("solution"), "probability", f"mean {answer.label('outcome')}"]
    if not answer.has_outcomes:
        heads, rows = heads[:2], [row[:2] for row in rows]
    if any(value is not None for value in answer.mean_value.values()):
        heads.append("worth")
        for row in rows:
            row.append(answer.mean_value[str(row[0])])
    if made is not None:
        heads += ["actual", "earned"]
        for row in rows:
            here = row[0] == made.solution
            row += ["yes", cell(made.outcome)] if here else ["", ""]
    table("Proposal", heads, rows)
    left = len(set(answer.allowed) - set(shown))
    if left:
        lines(f"{count(left, 'solution')} of probability 0 not shown.")


def _actual(answer: Explanation, made: Decision) -> str:
    as_proposed = "as proposed" if made.solution == answer.solution else "not as proposed"
    earned = "" if made.outcome is None else f", which earned {cell(made.outcome)}"
    if not isinstance(made.solution, str):
        off = cell(made.solution - float(answer.solution))
        return f"Actual solution: {cell(made.solution)} ({off} from the expected){earned}."
    chance = answer.probabilities[made.solution]
    expected = answer.mean_outcome[made.solution]
    usual = (
        "" if expected is None else f"; retrieved cases with it earned {cell(expected)} on average"
    )
    actual = f"{made.solution} ({as_proposed}, probability {chance:.4g})"
    return f"Actual solution: {actual}{earned}{usual}."


def _show_neighbours(answer: Explanation, shown: Sequence[Neighbour], first: int) -> None:
    heads = [f"#{first + place + 1}" for place in range(len(shown))]
    target = answer.target
    outcome = [answer.label("outcome"), "", *(cell(near.mean_outcome) for near in shown)]
    table(
        "",
        ["", "target", *heads],
        [
            ["similarity", "", *(f"{near.similarity:.4f}" for near in shown)],
            [answer.label("solution"), "", *(_solutions(near) for near in shown)],
            *([outcome] if answer.has_outcomes else []),
            ["case", "", *(_ids(near) for near in shown)],
            *(
                [
                    answer.label(name),
                    cell(target.get(name)),
                    *(_value(near.values, name) for near in shown),
                ]
                for name in answer.weights
            ),
            *(
                [
                    answer.label(name),
                    cell(target[name]) if name in target else "",
                    *(_value(near.also, name) for near in shown),
                ]
                for name in dict.fromkeys(name for near in shown for name in near.also)
            ),
        ],
    )
    table(
        "Local similarity (contribution)",
        ["feature", "measure", "weight", *heads],
        [
            [
                answer.label(name),
                answer.similarities[name],
                weight,
                *(_local(answer, near, name) for near in shown),
            ]
            for name, weight in answer.weights.items()
        ],
    )


def _same(one: object, two: object) -> bool:
    """Whether two values are equal; casebases keep numbers to seven digits."""
    if isinstance(one, float | int) and isinstance(two, float | int):
        return math.isclose(one, two, rel_tol=1e-6, abs_tol=1e-9)
    return one == two


def _against(answer: Explanation, other: Neighbour) -> str:
    if not other.is_alike:
        return "Evidence against it: none; no case with another solution is similar at all."
    differs = [
        f"{answer.label(name)}: {_value(other.values, name)}"
        for name, value in answer.target.items()
        if name in answer.weights and not _same(other.values.get(name), value)
    ]
    which = (
        "retrieved case that differs most"
        if answer.numeric
        else ("most similar case with another solution")
    )
    return (
        f"Evidence against it: the {which} "
        f"({_solutions(other)}, case {_ids(other)}) has similarity {other.similarity:.4f}; "
        f"it differs in {'; '.join(differs) or 'nothing that was compared'}."
    )


def _solutions(near: Neighbour) -> str:
    return ", ".join(near.solutions)


def _ids(near: Neighbour) -> str:
    more = f" +{len(near.case_ids) - 1}" if len(near.case_ids) > 1 else ""
    return f"{near.case_ids[0]}{more}"


def _value(values: Mapping[str, Value], name: str) -> str:
    """A value of a neighbour, which may lack it."""
    return cell(values[name]) if name in values else "missing"


def _local(answer: Explanation, near: Neighbour, name: str) -> str:
    """The similarity in a feature; where the neighbour lacks it, what that counts as."""
    local, lacks = near.local[name], name not in near.values and name not in answer.unknown
    if local is None:
        return "ignored" if lacks else "-"
    counted = f"{local:.3f} ({near.contribution[name]:.3f})"
    return f"{counted} {answer.missing[name]}" if lacks else counted
