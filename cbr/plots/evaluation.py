"""Picture of an evaluation: calibration and confusion of classes, residuals of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cbr.plots.style import (
    BLUE,
    DARK_BLUE,
    GREY,
    LINE_GREY,
    PALE_BLUE,
    picture,
    style_axis,
    zero_line,
)
from cbr.statistics import NORMAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cbr.learning.evaluation import Evaluation, Predictions

#: The most rows of panels, the bins of a calibration, and the most solutions of a confusion.
_MOST_ROWS, _BINS, _MOST = 8, 10, 12
#: Confusions with more solutions than this have no figures in their cells, which would not fit.
_WRITTEN = 7


def draw_evaluations(found: Sequence[Evaluation], path: Path) -> None:
    """Draw a row of two panels for each stage and predictor, by the weights evaluated last."""
    rows = [
        (one, said)
        for one in found
        for said in one.predictions
        if said.weights == one.predictions[-1].weights
    ][:_MOST_ROWS]
    with picture(path, 10.5, 4.4 * len(rows), dpi=110) as figure:
        axes = figure.subplots(len(rows), 2, squeeze=False)
        for (left, right), (one, said) in zip(axes, rows, strict=True):
            title = f"{one.stage}, {said.predictor}, weights {said.weights}"
            if said.chances is not None:
                _draw_calibration(left, said, f"{title}: calibration")
                _draw_confusion(right, said)
            else:
                _draw_predicted(left, said, f"{title}: predicted and true numbers")
                _draw_residuals(right, said)


def _draw_calibration(axis: Axes, said: Predictions, title: str) -> None:
    """How often solutions were right that got a probability, in bins with as many of them each."""
    assert said.chances is not None
    chance = said.chances.reshape(-1)
    right = np.eye(said.chances.shape[1])[said.actual].reshape(-1)
    order = np.argsort(chance, kind="stable")
    bins = [part for part in np.array_split(order, _BINS) if len(part)]
    told = np.array([chance[part].mean() for part in bins])
    true = np.array([right[part].mean() for part in bins])
    error = NORMAL * np.sqrt(true * (1 - true) / [len(part) for part in bins])
    axis.plot([0, 1], [0, 1], color=LINE_GREY, linewidth=0.8)
    axis.errorbar(told, true, yerr=error, fmt="o-", color=BLUE, markersize=5, linewidth=1.2)
    axis.set(xlim=(0, 1), ylim=(0, 1))
    axis.set_xlabel(f"probability given ({len(bins)} bins of equal size)")
    axis.set_ylabel("share that was right, 95 % interval")
    style_axis(axis, title, grid="both")


def _draw_confusion(axis: Axes, said: Predictions) -> None:
    """For each true solution, the share of its cases for which each solution was most probable."""
    assert said.chances is not None
    size = said.chances.shape[1]
    guess = said.chances.argmax(axis=1)
    table = np.bincount(said.actual * size + guess, minlength=size * size).reshape(size, size)
    shown = np.argsort(-table.sum(axis=1), kind="stable")[:_MOST]
    shown = np.sort(shown[table.sum(axis=1)[shown] > 0])
    table = table[np.ix_(shown, shown)] / table.sum(axis=1)[shown][:, None]
    axis.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for row, column in np.argwhere(table >= 0.005) if len(shown) <= _WRITTEN else ():
        share = table[row, column]
        axis.text(column, row, f"{share:.0%}", ha="center", va="center", color=_over(share))
    names = [_cut(said.names[code]) for code in shown.tolist()]
    places = range(len(shown))
    axis.set_xticks(places, names, rotation=30 if max(map(len, names)) > 6 else 0)
    axis.set_yticks(places, names)
    axis.set_xlabel("most probable")
    axis.set_ylabel("true solution")
    left = size - len(shown)
    axis.set_title("Confusion" + (f" ({left} others not shown)" if left else ""), loc="left")


def _over(share: float) -> str:
    return "white" if share > 0.55 else "black"


def _cut(name: str) -> str:
    return name if len(name) <= 14 else name[:13] + "…"


def _draw_predicted(axis: Axes, said: Predictions, title: str) -> None:
    assert said.numbers is not None
    value, low, high = said.numbers
    ends = [min(value.min(), said.actual.min()), max(value.max(), said.actual.max())]
    axis.plot(ends, ends, color=LINE_GREY, linewidth=0.8)
    known = ~np.isnan(low)
    axis.vlines(value[known], low[known], high[known], color=PALE_BLUE, linewidth=1, alpha=0.6)
    axis.plot(value, said.actual, "o", color=DARK_BLUE, markersize=2.5, alpha=0.6)
    axis.set_xlabel("predicted" + (" (pale: its interval)" if known.any() else ""))
    axis.set_ylabel("true")
    style_axis(axis, title, grid="both")


def _draw_residuals(axis: Axes, said: Predictions) -> None:
    """True minus predicted, and the mean of it in ten bins of predictions."""
    assert said.numbers is not None
    value, off = said.numbers.value, said.actual - said.numbers.value
    axis.plot(value, off, "o", color=GREY, markersize=2.5, alpha=0.4)
    parts = [part for part in np.array_split(np.argsort(value), _BINS) if len(part)]
    means = [off[part].mean() for part in parts]
    axis.plot([value[part].mean() for part in parts], means, "o-", color=BLUE, linewidth=1.5)
    zero_line(axis)
    axis.set_xlabel("predicted")
    axis.set_ylabel("true minus predicted")
    style_axis(axis, "Residuals (blue: means of tenths)", grid="both")
