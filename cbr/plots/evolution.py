"""Pictures of an evolution run: scores, spread, duels, weights and convergence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cbr.errors import BadValue
from cbr.evolve.record import Generation
from cbr.evolve.report import Report, Step
from cbr.evolve.runfile import RunFile
from cbr.plots.style import BLUE, GREEN, PALE_BLUE, RED, picture, style_axis, style_title, zero_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colour of the average, drawn beside the best.
_AVERAGE = "#888888"


def draw_evolution(run: RunFile, report: Report, folder: Path) -> list[Path]:
    """Draw all pictures of a run into a folder; returns their paths."""
    if not report.generations:
        raise BadValue(f"{report.file} has no generation yet; go on with --resume")
    if folder.exists() and not folder.is_dir():
        raise BadValue(f"{folder} is a file; --plot needs a folder")
    folder.mkdir(parents=True, exist_ok=True)
    generations = [one for one, _ in run.generations()]
    pictures: dict[str, Callable[[Figure], None]] = {
        "spread": lambda figure: _spread(figure, report),
        "scores": lambda figure: _scores(figure, report, generations),
        "convergence": lambda figure: _convergence(figure, report),
    }
    if any("gain" in line.notes for line in report.generations):
        pictures["duels"] = lambda figure: _duels(figure, report)
    if report.weights:
        pictures["weights"] = lambda figure: _weights(figure, report)
    if report.result:
        pictures["judged"] = lambda figure: _judged(figure, report)
    paths = []
    for name, paint in pictures.items():
        paths.append(folder / f"{name}.png")
        with picture(paths[-1], 9, 5.4) as figure:
            paint(figure)
    return paths


def _axis(figure: Figure, title: str, unit: str) -> Axes:
    """One panel over the generations."""
    from matplotlib.ticker import MaxNLocator

    axis = figure.subplots()
    style_axis(axis, title, grid="y")
    axis.set_xlabel("generation")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set_ylabel(unit)
    return axis


def _numbers(steps: Sequence[Step]) -> list[int]:
    return [step.generation for step in steps]


def _spread(figure: Figure, report: Report) -> None:
    """The range of scores by generation, beside the range that equal individuals show by chance."""
    runs = len({line.run for line in report.generations})
    averaged = f"average of {runs} runs" if runs > 1 else "one run"
    title = f"Range of scores in a generation, {averaged}"
    axis = _axis(figure, title, f"best − worst, {report.unit}")
    steps = report.steps
    for line in report.generations if runs > 1 else ():
        axis.plot(line.generation, line.range, "o", color=PALE_BLUE, markersize=4, zorder=1)
    axis.plot(_numbers(steps), [s.range for s in steps], "o-", color=BLUE, label="measured")
    lucky = [step for step in steps if step.range_by_luck is not None]
    if lucky:
        by_luck = [step.range_by_luck or 0.0 for step in lucky]
        label = "equal individuals, by chance alone"
        axis.plot(_numbers(lucky), by_luck, "--", color=RED, label=label)
    for place, name in ((0, "range, first generation"), (-1, "range, last generation")):
        if name in report.published:
            axis.plot(
                steps[place].generation,
                report.published[name],
                "D",
                color=GREEN,
                label="published" if place == 0 else None,
            )
    axis.set_ylim(bottom=0)
    axis.legend(frameon=False)


def _scores(figure: Figure, report: Report, generations: list[Generation]) -> None:
    """Every individual, the best and the average; in a race, against the champion."""
    race = any("gain" in one.notes for one in generations)
    title = "Scores of all individuals, the best and the average"
    if race:
        title = "Individuals against the champion, on the same trials for all"
    axis = _axis(figure, title, report.unit)
    shown = [one for one in generations if not race or "gain" in one.notes]
    means = {id(one): one.compared.mean(axis=1) for one in shown}
    if race:
        means = {key: mean - mean[0] for key, mean in means.items()}
    rng = np.random.default_rng(0)
    for one in shown:
        mean = means[id(one)]
        place = one.number + rng.uniform(-0.18, 0.18, len(mean))
        axis.plot(place, mean, "o", color=PALE_BLUE, markersize=3.5, zorder=1)
    numbers = sorted({one.number for one in shown})
    of_number = {n: [means[id(one)] for one in shown if one.number == n] for n in numbers}
    best = [float(np.mean([mean.max() for mean in of_number[n]])) for n in numbers]
    average = [float(np.mean([mean.mean() for mean in of_number[n]])) for n in numbers]
    axis.plot(numbers, best, "o-", color=BLUE, label="best")
    axis.plot(numbers, average, "o-", color=_AVERAGE, label="average")
    zero_line(axis)
    axis.legend(frameon=False)


def _convergence(figure: Figure, report: Report) -> None:
    """The share of weight that two individuals do not have in common, by generation."""
    title = "Convergence: how different the individuals of a generation are"
    axis = _axis(figure, title, "share of weight not in common")
    for run in sorted({line.run for line in report.generations}):
        mine = [line for line in report.generations if line.run == run]
        axis.plot(
            [line.generation for line in mine],
            [line.difference for line in mine],
            color=PALE_BLUE,
            linewidth=1.2,
        )
    steps = report.steps
    axis.plot(_numbers(steps), [s.difference for s in steps], "o-", color=BLUE, label="average")
    axis.set_ylim(bottom=0)
    axis.legend(frameon=False)


def _weights(figure: Figure, report: Report) -> None:
    """The evolved weights of each stage, as shares."""
    weights = report.weights or {}
    figure.set_size_inches(3.1 * len(weights) + 1.2, 5.0)
    axes = np.atleast_1d(figure.subplots(1, len(weights)))
    for axis, (stage, of) in zip(axes, weights.items(), strict=True):
        total = sum(of.values())
        places = range(len(of))
        axis.barh(places, [value / total for value in of.values()], color=BLUE, height=0.62)
        axis.set_yticks(list(places), list(of))
        axis.invert_yaxis()
        style_axis(axis, stage, grid="x")
        axis.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    style_title(figure, "Evolved weights, as shares of each stage")


def _judged(figure: Figure, report: Report) -> None:
    """The score of each set of weights on fresh trials, and the paired gain of the evolved set."""
    result = report.result or {}
    judged = list(result["judged"])
    figure.set_size_inches(11, 1.8 + 0.55 * len(judged))
    scores, behind = figure.subplots(1, 2, sharey=True)
    for place, one in enumerate(judged):
        colour = RED if place == 0 else BLUE
        _interval(scores, one["score"], place, colour)
        if one["behind"]:
            _interval(behind, one["behind"], place, colour)
    style_title(
        figure,
        f"On {result['trials']:,} fresh {report.settings['trial']}s, the same for all "
        "(bars: 95 % intervals)",
    )
    scores.set_xlabel(f"score\n{report.unit}")
    behind.set_xlabel(f"by how much evolved is better, paired\n{report.unit}")
    zero_line(behind, of="x")
    scores.set_yticks(range(len(judged)), [one["name"] for one in judged])
    scores.set_ylim(len(judged) - 0.5, -0.5)
    for axis in (scores, behind):
        style_axis(axis, grid="x")


def _interval(axis: Axes, mean: Any, place: int, colour: str) -> None:
    axis.errorbar(mean["mean"], place, xerr=mean["ci95"], fmt="o", color=colour, capsize=4)


def _duels(figure: Figure, report: Report) -> None:
    """How much better each challenger was than the champion, on trials that did not select it."""
    title = "Challengers: how much better than the champion, paired, with 95 % intervals"
    axis = _axis(figure, title, report.unit)
    for line in report.generations:
        if "gain" in line.notes:
            won = line.notes["replaced"]
            axis.errorbar(
                line.generation,
                line.notes["gain"],
                yerr=line.notes["gain_ci95"],
                fmt="o",
                color=RED if won else BLUE,
                capsize=4,
            )
    axis.plot([], [], "o", color=RED, label="became champion")
    axis.plot([], [], "o", color=BLUE, label="not significantly better")
    zero_line(axis)
    axis.legend(frameon=False)
