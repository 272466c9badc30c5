"""Picture of an answer: the nearest cases, the contribution of each feature, and the proposal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cbr.checks import without_unit
from cbr.plots.style import (
    BLACK,
    COLOURS,
    DARK_BLUE,
    GREY,
    PALE_GREY,
    drawn,
    save_picture,
    style_axis,
    verify_picture,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cbr.reusing.explanation import Explanation, Neighbour

#: Colours: bars of solutions that are not proposed; the part of a bar from the similarity up to 1.
_NOT_PROPOSED, _MISSING = "#a9bdd6", "#f1f1f1"
#: How many of the least similar features the line below a neighbour names.
_NAMED = 3
#: The fewest rows of a panel, so that a single bar stays thin, and the most.
_LEAST, _MOST = 5, 40
#: The most characters of a name in a title.
_SHORT = 34
_HEAD: dict[str, Any] = {"loc": "left", "fontsize": 11, "pad": 10}


def draw_answer(answer: Explanation, path: Path, record: str) -> None:
    """Draw a query's answer into a file; see `answer_figure`."""
    verify_picture(path)
    save_picture(answer_figure(answer, record), path)


def answer_figure(answer: Explanation, record: str) -> Figure:
    """A query's answer: the neighbours on the left, the proposal on the right.

    `record` is the domain's word for a record.
    """
    rows = min(max(len(answer.alike), len(answer.worth_showing), _LEAST), _MOST)
    # The figure grows with the number of bars, so that each keeps its height.
    height = max(7.0, 2.4 + 0.76 * rows)
    with drawn(12, height, dpi=100) as figure:
        figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.1)
        near, proposed = figure.subplots(1, 2, width_ratios=[1.75, 1])
        _draw_neighbours(figure, near, answer)
        _draw_proposal(proposed, answer)
        for axis in (near, proposed):
            axis.set_ylim(rows - 0.4, -0.5)
        figure.suptitle(_title(answer, record), x=0.01, ha="left", fontsize=14, fontweight="bold")
    return figure


def _title(answer: Explanation, record: str) -> str:
    about = answer.stage
    if "solution" in answer.labels:
        about += f", {_cut(without_unit(answer.label('solution')))}"
    if answer.numeric:
        value = f"{number(answer.solution)} {answer.unit}".strip()
        title = f"{about}: {value} is expected"
    else:
        chance = answer.probabilities[str(answer.solution)]
        title = f"{about}: {_cut(str(answer.solution))} is proposed ({chance:.0%})"
    made = answer.decision
    if made is None:
        return title
    earned = "" if made.outcome is None else f", earned {_signed(made.outcome)}"
    did = _cut(made.solution) if isinstance(made.solution, str) else number(made.solution)
    done = f"{did} was done{earned}"
    return f"{record.capitalize()} {made.record}, decision {made.step}, {title}; {done}"


def _draw_neighbours(figure: Figure, axis: Axes, answer: Explanation) -> None:
    shown = answer.alike[:_MOST]
    one = answer.retrieved_cases == 1
    cases = "The case" if one else f"The nearest of {answer.retrieved_cases:.4g} cases"
    origin = f"{cases} retrieved by {_cut(answer.policy, 50)}"
    axis.set_title(f"{origin}:\nwhat each feature adds to the similarity", **_HEAD)
    _style_bars(axis)
    axis.set_xlim(0, 1.0)
    if not shown:
        axis.set_yticks([])
        axis.text(0.5, 0.5, "nothing is similar", ha="center", transform=axis.transAxes)
        return
    names = _by_weight(answer)
    own, rest = names[: len(COLOURS)], names[len(COLOURS) :]
    if len(rest) == 1:  # shown in the grey of the rest, under its own name
        own, rest = names, []
    parts = [
        (answer.label(name), [name], colour)
        for name, colour in zip(own, (*COLOURS, PALE_GREY), strict=False)
    ]
    if rest:
        parts.append((f"{len(rest)} others", rest, PALE_GREY))
    places = range(len(shown))
    axis.barh(places, [1.0] * len(shown), height=0.52, color=_MISSING)
    start = [0.0] * len(shown)
    for label, members, colour in parts:
        length = [sum(near.contribution[name] for name in members) for near in shown]
        axis.barh(
            places,
            length,
            left=start,
            height=0.52,
            color=colour,
            edgecolor="white",
            linewidth=0.6,
            label=label,
        )
        start = [a + b for a, b in zip(start, length, strict=True)]
    for place, near in enumerate(shown):
        axis.text(
            0.0, place + 0.39, _least_similar(answer, near), fontsize=8.5, color=GREY, va="center"
        )
        axis.text(1.012, place, f"{near.similarity:.3f}", va="center", fontweight="bold")
    axis.set_yticks(list(places), [_head(place, near) for place, near in enumerate(shown)])
    for tick, near in zip(axis.get_yticklabels(), shown, strict=True):
        tick.set_color(DARK_BLUE if answer.solution in near.cases else BLACK)
    axis.set_xlabel("similarity (pale: what is missing to 1)")
    _legend(figure, axis, list(map(answer.label, answer.unknown)))


def _legend(figure: Figure, axis: Axes, unknown: Sequence[str]) -> None:
    """The features below the panels, in reading order: left to right, then down."""
    more = f" (not compared: {_cut(', '.join(unknown), 90)})" if unknown else ""
    handles, labels = axis.get_legend_handles_labels()
    columns = min(6, len(labels))
    order = [at for first in range(columns) for at in range(first, len(labels), columns)]
    figure.legend(
        [handles[at] for at in order],
        [labels[at] for at in order],
        loc="outside lower left",
        ncols=columns,
        frameon=False,
        fontsize=9.5,
        title=f"Features, the largest weight first{more}",
        title_fontsize=9.5,
        alignment="left",
    )


def _by_weight(answer: Explanation) -> list[str]:
    """The features that were compared, the largest weight first."""
    compared = [n for n, w in answer.weights.items() if w > 0 and n not in answer.unknown]
    return sorted(compared, key=lambda name: -answer.weights[name])


def _head(place: int, near: Neighbour) -> str:
    ids = f"case {near.case_ids[0]}" + (f" +{len(near.case_ids) - 1}" if near.case_ids[1:] else "")
    return f"#{place + 1}  {_cut(', '.join(near.solutions), 18)}\n{ids}"


def _least_similar(answer: Explanation, near: Neighbour) -> str:
    """The features in which a neighbour is least similar to the target, with the similarity lost
    by each."""
    total = sum(answer.weights[name] for name in near.local if near.local[name] is not None)
    lost = {
        name: answer.weights[name] / total - near.contribution[name]
        for name, local in near.local.items()
        if local is not None
    }
    most = [name for name in sorted(lost, key=lambda name: -lost[name]) if lost[name] > 5e-4]
    ignored = [n for n in answer.weights if near.local[n] is None and n not in answer.unknown]
    lacks = f"; without {_cut(', '.join(map(answer.label, ignored)), 40)}" if ignored else ""
    if not most:
        return f"similar in every feature{lacks}"
    named = ", ".join(f"{answer.label(n)} −{lost[n]:.3f}" for n in most[:_NAMED])
    return f"least similar: {named}" + (" ..." if len(most) > _NAMED else "") + lacks


def number(value: object) -> str:
    return f"{float(str(value)):,.5g}"


def _draw_numbers(axis: Axes, answer: Explanation) -> None:
    """The numbers of the neighbours, in the rows of these, and the one that is expected."""
    value, found = float(answer.solution), answer.interval
    axis.axvline(value, color=DARK_BLUE, linewidth=2)
    title = f"The proposal: {number(value)} {answer.unit}".strip()
    if found is not None:
        axis.axvspan(found.low, found.high, color=_NOT_PROPOSED, alpha=0.35, linewidth=0)
        title += f"\n{found.level:.0%} interval: {number(found.low)} to {number(found.high)}"
    for place, near in enumerate(answer.alike[:_MOST]):
        axis.plot(near.numbers, [place] * len(near.numbers), "o", color=BLACK, alpha=0.8)
    if answer.decision is not None and not isinstance(answer.decision.solution, str):
        axis.axvline(answer.decision.solution, color=GREY, linewidth=2, linestyle="--")
    axis.set_title(title, **_HEAD)
    axis.set_yticks([])
    axis.set_xlabel(f"{answer.label('solution')} (points: the neighbours)")
    _style_bars(axis)


def _draw_proposal(axis: Axes, answer: Explanation) -> None:
    if answer.numeric:
        _draw_numbers(axis, answer)
        return
    shown = sorted(answer.worth_showing, key=lambda name: -answer.probabilities[name])[:_MOST]
    places = range(len(shown))
    chances = [answer.probabilities[name] for name in shown]
    bars = axis.barh(places, chances, height=0.52, color=[_colour(answer, s) for s in shown])
    for bar, name in zip(bars, shown, strict=True):
        if name in answer.lacking:
            bar.set(hatch="///", edgecolor="white")
    for place, name in enumerate(shown):
        _annotate(axis, answer, place, name)
    left = len(answer.probabilities) - len(shown)
    axis.set_title("The proposal: how likely each solution is", **_HEAD)
    axis.set_xlim(0, 1)
    axis.set_yticks(list(places), [_cut(name, 16) for name in shown])
    axis.set_xlabel("probability" + (f" ({left} others not shown)" if left else ""))
    axis.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    _style_bars(axis)


def _colour(answer: Explanation, solution: str) -> str:
    return DARK_BLUE if solution == answer.solution else _NOT_PROPOSED


def _annotate(axis: Axes, answer: Explanation, place: int, name: str) -> None:
    """Write the probability at the end of a bar, and what the solution earned below it."""
    chance, mean, made = answer.probabilities[name], answer.mean_outcome[name], answer.decision
    inside = chance > 0.85
    colour = _colour(answer, name)
    axis.text(
        chance - 0.015 if inside else chance + 0.015,
        place,
        f"{chance:.1%}",
        ha="right" if inside else "left",
        va="center",
        fontweight="bold",
        color="white" if inside else BLACK,
        # The text needs a background to be readable on a hatched bar.
        bbox={"facecolor": colour, "edgecolor": "none", "pad": 1.5} if inside else None,
    )
    notes = ["no outcome known" if mean is None else f"mean outcome {_signed(mean)}"]
    if not answer.has_outcomes:
        notes = []
    if name in answer.lacking:
        notes = ["in no case; its rate over all decisions"]
    if made is not None and made.solution == name:
        earned = "" if made.outcome is None else f", earned {_signed(made.outcome)}"
        notes.append(f"actual solution{earned}")
    axis.text(0.0, place + 0.39, " · ".join(notes), fontsize=8.5, color=GREY, va="center")


def _style_bars(axis: Axes) -> None:
    style_axis(axis, grid="x")
    axis.spines["left"].set_visible(False)
    axis.tick_params(axis="y", length=0)


def _signed(number: float) -> str:
    return f"{number:+.3g}".replace("-", "−") if number else "0"


def _cut(text: str, most: int = _SHORT) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
