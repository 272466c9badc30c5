"""Pictures of a prediction: calibration, confusion, and log-loss against the hands seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cbr.plots import BLUE, COLOURS, GREY, LINE_GREY, picture, style_axis, style_title
from cbr_opponents.prediction.evaluation import Prediction

_MOVES = ("fold", "check or call", "bet or raise")
#: Classes of predicted chances in the calibration plot.
_BINS = 20


def draw_prediction(found: Prediction, path: Path) -> None:
    """Calibration of each move beside the confusion matrix, without the cards."""
    with picture(path, 11, 4.6) as figure:
        style_title(figure, f"{found.model}: {found.decisions:,} decisions without their cards")
        calibration, confusion = figure.subplots(1, 2, width_ratios=(3, 2))
        _calibration(calibration, found)
        _confusion(confusion, found)


def draw_curve(found: Prediction, path: Path) -> None:
    """Log-loss of the model and of the baseline against the hands seen of a player; beside it the
    gain over each model that it was compared with."""
    names = [group.name for group in found.curve]
    at = np.arange(len(names))
    panels = 1 + bool(found.gains)
    with picture(path, 7.5 * panels, 4.5) as figure:
        axis, *more = figure.subplots(1, panels, squeeze=False)[0]
        losses = [group.figures.log_loss for group in found.curve]
        low = [loss.ci95 or 0.0 for loss in losses]
        mean = [loss.mean for loss in losses]
        axis.errorbar(at, mean, yerr=low, color=BLUE, marker="o", capsize=3, label=found.model)
        baseline = [group.figures.baseline_log_loss.mean for group in found.curve]
        axis.plot(at, baseline, color=GREY, marker="s", label="baseline: what is legal")
        axis.set_xticks(at, names)
        axis.set_xlabel("hands seen of the player before")
        axis.set_ylabel("log-loss of moves, with 95 % intervals over players")
        style_axis(axis, grid="y")
        axis.legend(frameon=False, fontsize=9)
        for other in more:
            _gains(other, found)


def _gains(axis: Any, found: Prediction) -> None:
    """The gain over other models by hands seen."""
    axis.axhline(0.0, color=LINE_GREY, linewidth=0.8)
    for (name, gains), colour in zip(found.gains.items(), COLOURS, strict=False):
        mean = [one.gain.mean for one in gains]
        interval = [one.gain.ci95 or 0.0 for one in gains]
        at = np.arange(len(gains))
        axis.errorbar(at, mean, yerr=interval, color=colour, marker="o", capsize=3, label=name)
        axis.set_xticks(at, [one.hands_seen for one in gains])
    axis.set_xlabel("hands seen of the player before")
    axis.set_ylabel("log-loss less than that of another model")
    style_axis(axis, f"gain of {found.model}", grid="y")
    axis.legend(frameon=False, fontsize=9)


def _calibration(axis: Any, found: Prediction) -> None:
    chances, kind = found.scored.chances, found.scored.kind
    axis.plot([0, 1], [0, 1], color=LINE_GREY, linewidth=0.8)
    for move, (name, colour) in enumerate(zip(_MOVES, COLOURS, strict=False)):
        bins = np.minimum((chances[:, move] * _BINS).astype(np.int64), _BINS - 1)
        count = np.bincount(bins, minlength=_BINS)
        often = np.bincount(bins, (kind == move).astype(float), _BINS)
        mean = np.bincount(bins, chances[:, move], _BINS)
        some = count >= 20
        axis.plot(mean[some] / count[some], often[some] / count[some], "o-", ms=4, color=colour)
        axis.plot([], [], "o-", color=colour, label=name)
    axis.set_xlabel("predicted chance")
    axis.set_ylabel("share of decisions in which it was made")
    style_axis(axis, "calibration", grid="both")
    axis.legend(frameon=False, fontsize=9, loc="upper left")


def _confusion(axis: Any, found: Prediction) -> None:
    guessed, kind = found.scored.chances.argmax(axis=1), found.scored.kind
    matrix = np.zeros((3, 3))
    np.add.at(matrix, (kind, guessed), 1.0)
    share = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1.0)
    axis.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for row in range(3):
        for column in range(3):
            dark = share[row, column] > 0.6
            axis.text(
                column,
                row,
                f"{share[row, column]:.0%}\n{int(matrix[row, column]):,}",
                ha="center",
                va="center",
                color="white" if dark else "black",
                fontsize=9,
            )
    axis.set_xticks(range(3), _MOVES)
    axis.set_yticks(range(3), [name.replace(" or ", "\nor ") for name in _MOVES])
    axis.set_xlabel("likeliest move of the model")
    axis.set_ylabel("move that was made")
    axis.set_title("confusion, shares of each row", loc="left", fontsize=11)
