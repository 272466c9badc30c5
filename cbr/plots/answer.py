"""Pictures of answers: which neighbours are near and by what, and what they propose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cbr.errors import BadValue
from cbr.files.atomic import verify_place, whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cbr.reusing.explanation import Explanation, Neighbour

#: Colours that stay apart beside each other, for as many features as get one of their own.
_COLOURS = (
    *("#4477aa", "#ee8866", "#228833", "#ccbb44", "#aa3377", "#66ccee", "#997700", "#bb4455"),
    *("#44bb99", "#7755aa", "#ffaabb", "#555555"),
)
_REST, _LOST, _PALE, _PROPOSED, _DARK = "#bbbbbb", "#f1f1f1", "#a9bdd6", "#2f5f98", "#222222"
_GREY = "#666666"
#: A neighbour loses by so many features that its line can say.
_NAMED = 3
#: Rows that a panel has at least, so that one bar alone is no wall, and at most.
_LEAST, _MOST = 5, 40
_SHORT = 34
_FORMATS = (".png", ".svg", ".pdf")
_HEAD: dict[str, Any] = {"loc": "left", "fontsize": 11, "pad": 10}


def draw_answer(answer: Explanation, path: Path, record: str) -> None:
    """Draw a query's answer: the neighbours on the left, the proposal on the right.

    A figure of its own and not pyplot, which would need a backend for the whole process.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"text.parse_math": False, "font.size": 10}):
        rows = min(max(len(answer.alike), len(answer.worth_showing), _LEAST), _MOST)
        # A bar keeps its height where there are more of them.
        height = max(7.0, 2.4 + 0.76 * rows)
        figure = Figure(figsize=(12, height), dpi=100)
        figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.1)
        near, proposed = figure.subplots(1, 2, width_ratios=[1.75, 1])
        _draw_neighbours(figure, near, answer)
        _draw_proposal(proposed, answer)
        for axis in (near, proposed):
            axis.set_ylim(rows - 0.4, -0.5)
        figure.suptitle(_title(answer, record), x=0.01, ha="left", fontsize=14, fontweight="bold")
        save(figure, path)


def verify_picture(path: Path) -> None:
    """Whether a picture can be written here; asked before long work, not after it."""
    if path.suffix.lower() not in _FORMATS:
        raise BadValue(f"a picture is called FILE{' or FILE'.join(_FORMATS)}, not {path.name!r}")
    verify_place(path)


def save(figure: Figure, path: Path, **options: Any) -> None:
    """Write a picture, in the format that its name asks for."""
    verify_picture(path)
    with whole_file(path) as part:
        figure.savefig(part, format=path.suffix[1:].lower(), **options)


def _title(answer: Explanation, record: str) -> str:
    chance = answer.probabilities[answer.solution]
    title = f"{answer.stage}: {_cut(answer.solution)} is proposed ({chance:.0%})"
    made = answer.decision
    if made is None:
        return title
    earned = "" if made.outcome is None else f", earned {_signed(made.outcome)}"
    done = f"{_cut(made.solution)} was done{earned}"
    return f"{record.capitalize()} {made.record}, decision {made.step}, {title}; {done}"


def _draw_neighbours(figure: Figure, axis: Axes, answer: Explanation) -> None:
    shown = answer.alike[:_MOST]
    one = answer.retrieved_cases == 1
    cases = "The case" if one else f"The nearest of {answer.retrieved_cases:.4g} cases"
    origin = f"{cases} retrieved by {_cut(answer.policy, 50)}"
    axis.set_title(f"{origin}:\nwhat each feature adds to the similarity", **_HEAD)
    _clear(axis)
    axis.set_xlim(0, 1.0)
    if not shown:
        axis.set_yticks([])
        axis.text(0.5, 0.5, "nothing is similar", ha="center", transform=axis.transAxes)
        return
    names = _by_weight(answer)
    own, rest = names[: len(_COLOURS)], names[len(_COLOURS) :]
    if len(rest) == 1:  # a grey part for one feature would name it no worse
        own, rest = names, []
    parts = [(name, [name], colour) for name, colour in zip(own, (*_COLOURS, _REST), strict=False)]
    if rest:
        parts.append((f"{len(rest)} others", rest, _REST))
    places = range(len(shown))
    axis.barh(places, [1.0] * len(shown), height=0.52, color=_LOST)
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
        axis.text(0.0, place + 0.39, _loses(answer, near), fontsize=8.5, color=_GREY, va="center")
        axis.text(1.012, place, f"{near.similarity:.3f}", va="center", fontweight="bold")
    axis.set_yticks(list(places), [_head(place, near) for place, near in enumerate(shown)])
    for tick, near in zip(axis.get_yticklabels(), shown, strict=True):
        tick.set_color(_PROPOSED if answer.solution in near.cases else _DARK)
    axis.set_xlabel("similarity (pale: what is missing to 1)")
    _legend(figure, axis, answer.unknown)


def _legend(figure: Figure, axis: Axes, unknown: Sequence[str]) -> None:
    """Below the panels, where it covers nothing, in the order in which one reads."""
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
        title=f"Features, the heaviest first{more}",
        title_fontsize=9.5,
        alignment="left",
    )


def _by_weight(answer: Explanation) -> list[str]:
    """The features that were compared, the heaviest first: they decide, so they stand first."""
    compared = [n for n, w in answer.weights.items() if w > 0 and n not in answer.unknown]
    return sorted(compared, key=lambda name: -answer.weights[name])


def _head(place: int, near: Neighbour) -> str:
    ids = f"case {near.case_ids[0]}" + (f" +{len(near.case_ids) - 1}" if near.case_ids[1:] else "")
    return f"#{place + 1}  {_cut(', '.join(near.solutions), 18)}\n{ids}"


def _loses(answer: Explanation, near: Neighbour) -> str:
    """Where it is least like the target, by what that costs."""
    total = sum(answer.weights[name] for name in near.local if near.local[name] is not None)
    lost = {
        name: answer.weights[name] / total - near.contribution[name]
        for name, local in near.local.items()
        if local is not None
    }
    most = [name for name in sorted(lost, key=lambda name: -lost[name]) if lost[name] > 5e-4]
    if not most:
        return "alike in everything"
    told = ", ".join(f"{name} −{lost[name]:.3f}" for name in most[:_NAMED])
    return f"loses by {told}" + (" ..." if len(most) > _NAMED else "")


def _draw_proposal(axis: Axes, answer: Explanation) -> None:
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
    _clear(axis)


def _colour(answer: Explanation, solution: str) -> str:
    return _PROPOSED if solution == answer.solution else _PALE


def _annotate(axis: Axes, answer: Explanation, place: int, name: str) -> None:
    """The probability at the end of the bar, below it what the solution earned."""
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
        color="white" if inside else _DARK,
        # Over a hatched bar it could not be read.
        bbox={"facecolor": colour, "edgecolor": "none", "pad": 1.5} if inside else None,
    )
    told = ["no outcome known" if mean is None else f"mean outcome {_signed(mean)}"]
    if name in answer.lacking:
        told = ["no case has it: rate of all decisions"]
    if made is not None and made.solution == name:
        earned = "" if made.outcome is None else f", earned {_signed(made.outcome)}"
        told.append(f"really done{earned}")
    axis.text(0.0, place + 0.39, " · ".join(told), fontsize=8.5, color=_GREY, va="center")


def _clear(axis: Axes) -> None:
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(axis="y", length=0)
    axis.grid(True, axis="x", color="#e4e4e4", linewidth=0.6)
    axis.set_axisbelow(True)


def _signed(number: float) -> str:
    return f"{number:+.3g}".replace("-", "−") if number else "0"


def _cut(text: str, most: int = _SHORT) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
