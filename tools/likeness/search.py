"""Search for the free constants of `loki` that predict the decisions of players best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from cbr_bots import Constants, Formula
from likeness.decisions import Decisions
from likeness.judging import mean_loss

#: The constants that are ours, with the range that is searched. Published ones stay fixed.
RANGES = {
    "slip": (0.005, 0.4),
    "slip_raise": (0.05, 0.9),
    "width": (0.02, 0.5),
    "width2": (0.02, 0.7),
    "width4": (0.02, 0.7),
    "income_width": (30.0, 300.0),
    "odds_width": (0.02, 0.3),
    "make4": (0.8, 1.1),
    "semi_bluff": (0.0, 1.0),
    "barrel": (0.0, 1.0),
    "bluff": (0.0, 0.3),
    "trap": (0.0, 0.7),
    "showdown": (0.0, 2.0),
    "doubt": (0.0, 0.9),
    "doubt_call": (0.0, 0.9),
    "doubt_check": (0.0, 1.0),
}
#: Step size of each round, as a share of the range.
STEPS = (0.25, 0.25, 0.1, 0.04)
#: The least gain in nats for which a step is taken.
_LEAST = 1e-5

Told = Callable[[str], None]


def searched(
    begin: Constants,
    decisions: Sequence[Decisions],
    style: str = "moderate",
    steps: Sequence[float] = STEPS,
    tell: Told = lambda _: None,
) -> tuple[Constants, float]:
    """The best constants found and their mean loss, by coordinate descent with decreasing steps."""

    def value(constants: Constants) -> float:
        return mean_loss(Formula(style, constants=constants), decisions)

    best, found = value(begin), begin
    for step in steps:
        for name, (least, most) in RANGES.items():
            for move in (step * (most - least), -step * (most - least)):
                moved = True
                while moved:
                    place = round(min(most, max(least, getattr(found, name) + move)), 3)
                    tried = replace(found, **{name: place})
                    reached = best if tried == found else value(tried)
                    moved = reached < best - _LEAST
                    if moved:
                        best, found = reached, tried
            tell(f"step {step}, {name} {getattr(found, name):g}: {best:.4f}")
    return found, best
