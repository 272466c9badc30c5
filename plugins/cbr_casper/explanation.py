"""Explanation of a decision: the cases retrieved, their solutions, and the values of actions.

The figures are those of `cbr.reusing`, which `cbr query` shows in full; here they take few lines.
"""

from __future__ import annotations

import dataclasses
import math
from textwrap import fill
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr import explain, reuse
from cbr.case import Value
from cbr.retrieval import Retrieved, Scan
from cbr.reusing import Explanation, Neighbour
from cbr_casper.streets import CaseChances, Street, TableBelief
from cbr_holdem.situation import BETTING

_WIDTH = 76
_WORDS = {"f": "fold", "k": "check", "c": "call", "b": "bet", "r": "raise"}
#: Neighbours that are listed, and the features of each that differ most.
_NEAR, _DIFFERENT = 4, 3


def explain_decision(
    street: Street,
    decided: CaseChances,
    allowed: NDArray[np.bool_],
    belief: TableBelief | None = None,
    table: str = "",
) -> str:
    """One decision of a street in words. `allowed` [solutions] marks the legal solutions; `belief`
    is the bot's belief about the table, and `table` the same in words."""
    retrieved = decided.retrieved[0]
    legal = [name for name, may in zip(street.solutions, allowed, strict=True) if may]
    proposal = reuse(retrieved, street.reuse, allowed=legal, lacking=street.lacking)
    found = explain(_nearest(retrieved), proposal, lacking=street.lacking)
    values = retrieved.mean_value()
    known = (
        decided.chances[0],
        retrieved.taken,
        retrieved.mean_outcome(),
        values,
        _values_at(belief, values, decided.valued),
    )
    actions = {
        name: _Action(*figures)
        for name, *figures in zip(street.solutions, *(part.tolist() for part in known), strict=True)
        if name in legal
    }
    unit = "small bets" if BETTING[street.case_type.domain] == "limit" else "big blinds"
    return "\n".join(
        [
            _retrieved(retrieved, found.fallback),
            _target(found),
            *_actions(actions, retrieved.cases, unit),
            *([fill(f"The table seems {table}.", _WIDTH)] if table else []),
            *_lacking(found),
            *_neighbours(found),
        ]
    )


def values_of(decided: CaseChances, belief: TableBelief | None) -> NDArray[np.float64]:
    """The values of solutions in one decision [solutions]: at the table where there is a belief
    about it, else those of the cases; NaN where unknown."""
    values = decided.retrieved[0].mean_value()
    here = _values_at(belief, values, decided.valued)
    return np.where(np.isnan(here), values, here)


def _values_at(
    belief: TableBelief | None, values: NDArray[np.float64], valued: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The values of solutions at a table [solutions], from cases and table models."""
    if belief is None:
        return np.full_like(values, np.nan)
    by_cases = belief.posterior[0, 0] * values if valued[0] else 0.0
    found: NDArray[np.float64] = by_cases + belief.model_values(valued)[0]
    return found


class _Action(NamedTuple):
    """The chance of an action, the number of retrieved cases that took it, its mean outcome and
    value in them, and its value at this table (NaN: unknown)."""

    chance: float
    cases: float
    outcome: float
    value: float
    value_here: float


def _nearest(retrieved: Retrieved) -> Retrieved:
    """Only the nearest cases, copied to a small stage, so that the cost of an explanation does not
    depend on the size of the casebase."""
    retrieved = dataclasses.replace(
        retrieved,
        number=retrieved.number[:_NEAR],
        similarity=retrieved.similarity[:_NEAR],
        share=retrieved.share[:_NEAR],
    )
    vectors, number = retrieved.vectors, retrieved.number
    spans = [np.arange(vectors.start[one], vectors.start[one + 1]) for one in number]
    cases = np.concatenate(spans)
    some = dataclasses.replace(
        vectors,
        digest="",
        values=vectors.values[number],
        counts=vectors.counts[number],
        outcome_sum=vectors.outcome_sum[number],
        outcome_count=vectors.outcome_count[number],
        case_ids=vectors.case_ids[cases],
        case_solutions=vectors.case_solutions[cases],
        start=np.cumsum([0, *map(len, spans)]),
        beside=None,
        estimates=None,
    )
    mine = retrieved.retriever
    small = dataclasses.replace(mine, vectors=some, index=Scan(some, mine.measures))
    return dataclasses.replace(retrieved, retriever=small, number=np.arange(len(number)))


def _retrieved(retrieved: Retrieved, fallback: float | None) -> str:
    count = f"{retrieved.cases:.4g} case{'' if retrieved.cases == 1 else 's'}"
    span, last = (f"{retrieved.similarity[place]:.3f}" for place in (0, -1))
    span += "" if last == span else f" to {last}"
    short = f"; none is above {fallback:g}, so the nearest" if fallback else ""
    return fill(f"Retrieved {count} of similarity {span}{short}.", _WIDTH)


def _target(found: Explanation) -> str:
    """The situation that cases were compared with."""
    values = ", ".join(f"{name} {_short(value)}" for name, value in found.target.items())
    return fill(f"Asked for {values}.", _WIDTH)


def _actions(actions: dict[str, _Action], retrieved: float, unit: str) -> list[str]:
    """A line for each legal action."""
    valued = any(not math.isnan(action.value) for action in actions.values())
    adapts = any(not math.isnan(action.value_here) for action in actions.values())
    heads = ["chance", "cases", "earned", *(["worth"] if valued else [])]
    heads += ["here"] if adapts else []
    lines = [" " * 10 + "".join(f"{head:>9}" for head in heads) + f"   in {unit}"]
    for name, (chance, cases, outcome, value, value_here) in actions.items():
        # No-limit has many sizes, most of them without a case.
        if chance > 0.0 or len(actions) <= len(_WORDS):
            line = f"{_word(name):<10}{chance:>9.0%}{cases:>9.4g}{_money(outcome):>9}"
            line += f"{_money(value):>9}" if valued else ""
            lines.append(line + (f"{_money(value_here):>9}" if adapts else ""))
    rest = retrieved - sum(action.cases for action in actions.values())
    if rest > 1e-6:
        lines.append(f"{'not legal':<10}{'':>9}{rest:>9.4g}")
    return lines


def _lacking(found: Explanation) -> list[str]:
    return [
        fill(
            f"No case has {_word(name)}: how often ({rate:.0%}) is taken from hidden decisions "
            "that look alike.",
            _WIDTH,
        )
        for name, rate in found.lacking.items()
    ]


def _neighbours(found: Explanation) -> list[str]:
    """The nearest cases with the features that lower their similarity most."""
    lines = [f"{'case':>8}{'similar':>9}  {'did':<12}{'earned':>7}  differs in (similarity there)"]
    for near in found.neighbours:
        more = f"+{len(near.case_ids) - 1}" if len(near.case_ids) > 1 else ""
        did = ", ".join(_did(solution) for solution in near.solutions)
        head = f"{near.case_ids[0]}{more}".rjust(8) + f"{near.similarity:>9.3f}  {did:<12.12}"
        lines.append(f"{head}{_money(near.mean_outcome):>7}  {_differs(found, near)}")
    return lines


def _differs(found: Explanation, near: Neighbour) -> str:
    lost = {
        name: found.weights[name] * (1.0 - local)
        for name, local in near.local.items()
        if local is not None and found.weights[name] * (1.0 - local) > 1e-6
    }
    most = sorted(lost, key=lambda name: -lost[name])[:_DIFFERENT]
    text, room = "", _WIDTH - 40
    for name in most:
        part = f"{name} {_short(near.values[name])} ({near.local[name]:.2f})"
        if len(text) + len(part) + 2 <= room:
            text += f", {part}" if text else part
    return text or "nothing"


def _did(solution: str) -> str:
    """A solution of a neighbour in words, with its count if it has one."""
    count, space, name = solution.rpartition(" ")
    return f"{count}{space}{_word(name)}"


def _word(solution: str) -> str:
    """
    >>> _word("f"), _word("r1/2")
    ('fold', 'raise 1/2')
    """
    return f"{_WORDS.get(solution[0], solution[0])} {solution[1:]}".rstrip()


def _money(amount: float | None) -> str:
    return "-" if amount is None or math.isnan(amount) else f"{amount:+.2f}" if amount else "0"


def _short(value: Value) -> str:
    return f"{round(value, 3):g}" if isinstance(value, float) else str(value)
