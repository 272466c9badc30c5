"""Picture of competence: the shares of cases that other cases predict, by solution."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cbr.plots.style import BLUE, RED, SAND, picture, style_axis

if TYPE_CHECKING:
    from cbr.upkeep.competence_model import Competence


def draw_competence(found: Competence, path: Path) -> None:
    """Draw a bar for each solution: the shares of its cases that are predicted, that are outvoted
    although another case solves them, and that no other case solves."""
    rows = found.rows[::-1]
    names = [f"{row.solution} ({row.cases:,})" for row in rows]
    parts = {
        "predicted": (BLUE, [row.predicted for row in rows]),
        "outvoted": (SAND, [1 - row.predicted - row.pivotal for row in rows]),
        "solved by no other case": (RED, [row.pivotal for row in rows]),
    }
    left = [0.0] * len(rows)
    with picture(path, 7, 1.4 + 0.35 * len(rows)) as figure:
        axis = figure.subplots()
        for label, (colour, widths) in parts.items():
            axis.barh(names, widths, left=left, color=colour, label=label)
            left = [a + b for a, b in zip(left, widths, strict=True)]
        axis.set_xlim(0, 1)
        axis.set_xlabel(f"share of cases, by their {found.k} nearest others")
        style_axis(axis)
        figure.legend(loc="outside upper left", ncols=3, fontsize=8.5, frameon=False)
