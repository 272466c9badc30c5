"""Picture of index quality: recall of the retrieved cases against the time of a query."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cbr.plots.style import BLACK, BLUE, COLOURS, GREEN, picture, style_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cbr.retrieval.index.quality import Row

#: Left, bottom, right and top, in points.
Box = tuple[float, float, float, float]

_COLOUR_OF = {"exact": BLACK, "faiss-flat": BLUE, "faiss-hnsw": COLOURS[1], "faiss-ivf": GREEN}


def draw_index_quality(rows: Sequence[Row], path: Path) -> None:
    """Draw a panel for each stage, in it a line for each kind of index over its settings."""
    stages = list(dict.fromkeys(row.stage for row in rows))
    columns = min(2, len(stages))
    lines = -(-len(stages) // columns)
    with picture(path, 6.4 * columns, 4.4 * lines) as figure:
        axes = figure.subplots(lines, columns, squeeze=False)
        for axis in axes.flat[len(stages) :]:
            axis.set_visible(False)
        for axis, stage in zip(axes.flat, stages, strict=False):
            _draw_stage(axis, [row for row in rows if row.stage == stage])
            axis.set_title(stage, loc="left", fontweight="bold", pad=10)
        figure.suptitle("Recall of the retrieved cases against time (filled: the usual setting)")


def _draw_stage(axis: Axes, rows: Sequence[Row]) -> None:
    from matplotlib.ticker import LogFormatter, ScalarFormatter

    style_axis(axis, grid="both")
    for kind, colour in _COLOUR_OF.items():
        _draw_kind(axis, kind, colour, [row for row in rows if row.kind == kind])
    low = min(row.recall for row in rows)
    room = max(0.15 * (1 - low), 0.002)
    axis.set_ylim(max(0.0, low - room), 1.0 + room)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(ScalarFormatter())
    axis.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1.5, 0.5)))
    axis.margins(x=0.12)
    axis.set_xlabel("microseconds a query, in a batch, one thread")
    axis.set_ylabel("recall")
    axis.legend(fontsize=8.5, frameon=False)
    _label(axis, rows)


def _label(axis: Axes, rows: Sequence[Row]) -> None:
    """The value of its setting beside each point, where there is room; usual settings first."""
    points = 72.0 / axis.figure.dpi
    places = axis.transData.transform([(row.microseconds, row.recall) for row in rows]) * points
    taken = [(x - 5.0, y - 5.0, x + 5.0, y + 5.0) for x, y in places]
    for at in sorted(range(len(rows)), key=lambda at: not rows[at].usual):
        text = rows[at].setting.partition("=")[2]
        wide, (x, y) = 5.5 * len(text), places[at]
        for right, up in ((5, -13), (5, 6), (-5 - wide, -13), (-5 - wide, 6), (5, -23), (5, 16)):
            box = (x + right, y + up, x + right + wide, y + up + 8.0)
            if text and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                axis.annotate(
                    text,
                    (rows[at].microseconds, rows[at].recall),
                    xytext=(right, up),
                    textcoords="offset points",
                    color=_COLOUR_OF[rows[at].kind],
                    fontsize=8,
                )
                break


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _draw_kind(axis: Axes, kind: str, colour: str, rows: Sequence[Row]) -> None:
    """A line over the settings of one kind, each point with the value of its setting."""
    axis.plot(
        [row.microseconds for row in rows],
        [row.recall for row in rows],
        "-",
        color=colour,
        linewidth=1.5,
        alpha=0.6,
    )
    setting = rows[0].setting.partition("=")[0]
    exact = kind == "exact"
    for row in rows:
        axis.plot(
            row.microseconds,
            row.recall,
            "*" if exact else "o",
            color=colour,
            markerfacecolor=colour if row.usual else "white",
            markersize=15 if exact else 7,
            clip_on=False,
            zorder=3,
            label=(f"{kind} by {setting}" if setting else kind) if row.usual else None,
        )
