"""A picture of advice: the chance of each action, and the ranges of the opponents."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from cbr.plots import BLACK, BLUE, GREY, picture, style_axis, style_title
from cbr.typing import Floats, Ints
from cbr_arena.advice import Advice
from cbr_arena.advice_text import action_text, cell_text, grid_of
from cbr_holdem.cards import RANKS

#: Bars at most; ranges in a row at most.
_BARS, _ROW = 12, 3
#: The darkest colours stand for this many times as likely, and as unlikely.
_DARKEST = 8.0
#: Classes that are less likely by this factor count as excluded.
_EXCLUDED, _PALE = 0.005, "#ececec"


def draw_advice(
    advice: Advice,
    seen: Ints,
    names: Sequence[str],
    title: str,
    path: Path,
    unit: int = 1,
) -> None:
    """Draw advice at a table as the seat to act sees it [WIDTH]; `names` of players by seat."""
    ranges = sorted(advice.ranges.items())
    columns = min(_ROW, len(ranges))
    rows = ceil(len(ranges) / columns) if ranges else 0
    bars = 1.0 + 0.32 * min(_BARS, len(advice.choices))
    height = bars + 5.4 * rows
    with picture(path, max(6.5, 5.6 * columns), height) as figure:
        style_title(figure, fill(title, 80 * max(1, columns)))
        grid = figure.add_gridspec(1 + rows, max(1, columns), height_ratios=[bars, *[5.4] * rows])
        _draw_choices(figure.add_subplot(grid[0, :]), advice, unit)
        for place, (seat, found) in enumerate(ranges):
            axis = figure.add_subplot(grid[1 + place // columns, place % columns])
            _draw_range(axis, grid_of(found, seen), f"range of {names[seat]}")


def _draw_choices(axis: Any, advice: Advice, unit: int) -> None:
    shown = [one for one in advice.choices if one.chance or one.value is not None][:_BARS]
    places = range(len(shown))
    axis.barh(places, [one.chance for one in shown], color=BLUE, height=0.7)
    for place, one in enumerate(shown):
        text = f"{one.chance:.0%}"
        if one.value is not None:
            error = "" if one.error is None else f" (s.e. {one.error:.2f})"
            text += f"   value {one.value:+.2f}{error}"
        if one.visits is not None:
            text += f"   {one.visits:,} visits"
        axis.text(one.chance + 0.01, place, text, va="center", fontsize=9, color=BLACK)
    axis.set_yticks(places, [action_text(one, unit) for one in shown])
    axis.invert_yaxis()
    axis.set_xlim(0, 1.6)
    axis.set_xticks([0, 0.25, 0.5, 0.75, 1.0], ["0", "25%", "50%", "75%", "100%"])
    valued = any(one.value is not None for one in shown)
    axis.set_xlabel("chance" + (f"; values in {advice.unit}" if valued else ""), loc="left")
    style_axis(axis)
    axis.tick_params(axis="y", length=0)


def _draw_range(axis: Any, ratio: Floats, title: str) -> None:
    import matplotlib

    # Twice and half as likely are equally far from even, which is white; what is excluded is grey.
    held = np.where(ratio >= _EXCLUDED, ratio, np.nan)
    log, most = np.log(held), np.log(_DARKEST)
    shades = matplotlib.colormaps["RdBu_r"].with_extremes(bad=_PALE)
    axis.imshow(np.clip(log, -most, most), cmap=shades, vmin=-1.4 * most, vmax=1.4 * most)
    ranks = RANKS[::-1]
    for row, column in np.ndindex(13, 13):
        high, low = ranks[min(row, column)], ranks[max(row, column)]
        kind = "" if row == column else "s" if column > row else "o"
        far = abs(log[row, column])
        colour = GREY if np.isnan(far) else "white" if far > 0.8 * most else BLACK
        at = {"ha": "center", "va": "center", "color": colour}
        axis.text(column, row - 0.2, f"{high}{low}{kind}", fontsize=7, **at)
        axis.text(column, row + 0.2, cell_text(float(ratio[row, column])), fontsize=7, **at)
    axis.set_title(
        f"{title}; 100: as likely as at random", loc="left", fontsize=10, parse_math=False
    )
    axis.set_xticks([])
    axis.set_yticks([])
    axis.spines[:].set_visible(False)
