"""Pictures of a run: spread, scores, weights by stage, convergence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cbr.errors import BadValue
from cbr.evolve.record import Generation
from cbr.evolve.report import Report, Step
from cbr.evolve.runfile import RunFile
from cbr.plots.answer import save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _RED, _GREEN, _GREY, _PALE = "#4477aa", "#cc5544", "#228833", "#888888", "#c9d6e6"


def draw(run: RunFile, report: Report, folder: Path) -> list[Path]:
    """Draw all into a folder; their paths."""
    import matplotlib
    from matplotlib.figure import Figure

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
    with matplotlib.rc_context({"text.parse_math": False, "font.size": 10}):
        for name, paint in pictures.items():
            figure = Figure(figsize=(9, 5.4), dpi=110, layout="constrained")
            paint(figure)
            paths.append(folder / f"{name}.png")
            save(figure, paths[-1])
    return paths


def _axis(figure: Figure, title: str, across: str, up: str) -> Axes:
    axis = figure.subplots()
    axis.set_title(title, loc="left", fontsize=11)
    axis.set_xlabel(across)
    axis.set_ylabel(up)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(True, axis="y", color="#e4e4e4", linewidth=0.6)
    axis.set_axisbelow(True)
    return axis


def _numbers(steps: list[Step] | Any) -> list[int]:
    return [step.generation for step in steps]


def _spread(figure: Figure, report: Report) -> None:
    """From the worst to the best of each generation, with what luck alone would show."""
    runs = len({line.run for line in report.generations})
    told = f"average of {runs} runs" if runs > 1 else "one run"
    axis = _axis(
        figure,
        f"Range of scores in a generation, {told}",
        "generation",
        f"best − worst, {report.unit}",
    )
    steps = report.steps
    for line in report.generations if runs > 1 else ():
        axis.plot(line.generation, line.range, "o", color=_PALE, markersize=4, zorder=1)
    axis.plot(_numbers(steps), [s.range for s in steps], "o-", color=_BLUE, label="measured")
    lucky = [step for step in steps if step.range_by_luck is not None]
    if lucky:
        by_luck = [step.range_by_luck or 0.0 for step in lucky]
        label = "equal rows, by luck alone"
        axis.plot(_numbers(lucky), by_luck, "--", color=_RED, label=label)
    for place, name in ((0, "range, first generation"), (-1, "range, last generation")):
        if name in report.published:
            axis.plot(
                steps[place].generation,
                report.published[name],
                "D",
                color=_GREEN,
                label="published" if place == 0 else None,
            )
    _whole_numbers(axis)
    axis.set_ylim(bottom=0)
    axis.legend(frameon=False)


def _whole_numbers(axis: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.xaxis.set_major_locator(MaxNLocator(integer=True))


def _scores(figure: Figure, report: Report, generations: list[Generation]) -> None:
    """Every individual, the best and the average; in a race, against the champion."""
    race = any("gain" in one.notes for one in generations)
    title = "Scores of all individuals, the best and the average"
    if race:
        title = "Individuals against the champion, on deals that all of them played"
    axis = _axis(figure, title, "generation", report.unit)
    shown = [one for one in generations if not race or "gain" in one.notes]
    means = {id(one): one.compared.mean(axis=1) for one in shown}
    if race:
        means = {key: mean - mean[0] for key, mean in means.items()}
    rng = np.random.default_rng(0)
    for one in shown:
        mean = means[id(one)]
        place = one.number + rng.uniform(-0.18, 0.18, len(mean))
        axis.plot(place, mean, "o", color=_PALE, markersize=3.5, zorder=1)
    numbers = sorted({one.number for one in shown})
    of_number = {n: [means[id(one)] for one in shown if one.number == n] for n in numbers}
    best = [float(np.mean([mean.max() for mean in of_number[n]])) for n in numbers]
    average = [float(np.mean([mean.mean() for mean in of_number[n]])) for n in numbers]
    axis.plot(numbers, best, "o-", color=_BLUE, label="best")
    axis.plot(numbers, average, "o-", color=_GREY, label="average")
    axis.axhline(0, color="#999999", linewidth=0.8)
    _whole_numbers(axis)
    axis.legend(frameon=False)


def _convergence(figure: Figure, report: Report) -> None:
    """How much of their weight two individuals do not have in common."""
    axis = _axis(
        figure,
        "Convergence: how different the individuals of a generation are",
        "generation",
        "share of weight not in common",
    )
    for run in sorted({line.run for line in report.generations}):
        mine = [line for line in report.generations if line.run == run]
        axis.plot(
            [line.generation for line in mine],
            [line.difference for line in mine],
            color=_PALE,
            linewidth=1.2,
        )
    steps = report.steps
    axis.plot(_numbers(steps), [s.difference for s in steps], "o-", color=_BLUE, label="average")
    _whole_numbers(axis)
    axis.set_ylim(bottom=0)
    axis.legend(frameon=False)


def _weights(figure: Figure, report: Report) -> None:
    """What came out, stage by stage, as shares."""
    weights = report.weights or {}
    figure.set_size_inches(3.1 * len(weights) + 1.2, 5.0)
    axes = np.atleast_1d(figure.subplots(1, len(weights)))
    for axis, (stage, of) in zip(axes, weights.items(), strict=True):
        total = sum(of.values())
        places = range(len(of))
        axis.barh(places, [value / total for value in of.values()], color=_BLUE, height=0.62)
        axis.set_yticks(list(places), list(of))
        axis.invert_yaxis()
        axis.set_title(stage, loc="left", fontsize=11)
        axis.spines[["top", "right"]].set_visible(False)
        axis.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        axis.grid(True, axis="x", color="#e4e4e4", linewidth=0.6)
        axis.set_axisbelow(True)
    figure.suptitle("Evolved weights, as shares of each stage", x=0.01, ha="left", fontsize=11)


def _judged(figure: Figure, report: Report) -> None:
    """The sets of weights on fresh deals, and how much the evolved ones are better, paired."""
    result = report.result or {}
    judged = list(result["judged"])
    figure.set_size_inches(11, 1.8 + 0.55 * len(judged))
    scores, behind = figure.subplots(1, 2, sharey=True)
    for place, one in enumerate(judged):
        colour = _RED if place == 0 else _BLUE
        _interval(scores, one["score"], place, colour)
        if one["behind"]:
            _interval(behind, one["behind"], place, colour)
    figure.suptitle(
        f"On {result['trials']:,} fresh {report.settings['trial']}s, the same for all "
        "(bars: 95 % intervals)",
        x=0.01,
        ha="left",
        fontsize=11,
    )
    scores.set_xlabel(f"score, {report.unit}")
    behind.set_xlabel(f"by how much evolved is better, {report.unit}, paired")
    behind.axvline(0, color="#999999", linewidth=0.8)
    scores.set_yticks(range(len(judged)), [one["name"] for one in judged])
    scores.set_ylim(len(judged) - 0.5, -0.5)
    for axis in (scores, behind):
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(True, axis="x", color="#e4e4e4", linewidth=0.6)
        axis.set_axisbelow(True)


def _interval(axis: Axes, mean: Any, place: int, colour: str) -> None:
    axis.errorbar(mean["mean"], place, xerr=mean["ci95"], fmt="o", color=colour, capsize=4)


def _duels(figure: Figure, report: Report) -> None:
    """How much better each challenger was than the champion, on deals that did not choose it."""
    axis = _axis(
        figure,
        "Challengers: how much better than the champion, paired, with 95 % intervals",
        "generation",
        report.unit,
    )
    for line in report.generations:
        if "gain" in line.notes:
            won = line.notes["replaced"]
            axis.errorbar(
                line.generation,
                line.notes["gain"],
                yerr=line.notes["gain_ci95"],
                fmt="o",
                color=_RED if won else _BLUE,
                capsize=4,
            )
    axis.plot([], [], "o", color=_RED, label="took the champion's place")
    axis.plot([], [], "o", color=_BLUE, label="did not separate")
    axis.axhline(0, color="#999999", linewidth=0.8)
    _whole_numbers(axis)
    axis.legend(frameon=False)
