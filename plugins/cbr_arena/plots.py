"""Pictures of matches: bankrolls over hands, with the interval of where they could be by luck."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cbr.plots import save
from cbr_arena.match import Match, Played

_COLOURS = (
    *("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee"),
    *("#aa3377", "#997700", "#44bb99", "#7755aa", "#555555"),
)
#: Points of a line: more cannot be seen.
_POINTS = 600


def draw(matches: Sequence[Match], played: Sequence[Played], path: Path) -> None:
    """A line for each bot; of several matches (--vs) the last bot of each."""
    import matplotlib
    from matplotlib.figure import Figure

    first = matches[0]
    shown = (
        [(one.players[-1].name, what.won[:, -1]) for one, what in zip(matches, played, strict=True)]
        if len(matches) > 1
        else [(player.name, played[0].won[:, at]) for at, player in enumerate(first.players)]
    )
    with matplotlib.rc_context({"text.parse_math": False, "font.size": 10}):
        figure = Figure(figsize=(10, 6), dpi=110, layout="constrained")
        axis = figure.subplots()
        for (name, won), colour in zip(shown, _COLOURS, strict=False):
            _line(axis, name, won, first.seatings, colour)
        unit = "small bets" if first.game.betting == "limit" else "big blinds"
        axis.axhline(0, color="#999999", linewidth=0.8)
        axis.set_xlabel("hands played")
        axis.set_ylabel(f"won, in {unit}")
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_title(
            f"{first.seats} seats, {first.game.betting}; bands: 95 % interval over blocks",
            loc="left",
            fontsize=11,
        )
        axis.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
        save(figure, path)


def _line(axis: Any, name: str, won: np.ndarray, hands: int, colour: str) -> None:
    count = np.arange(1, len(won) + 1)
    bank = won.cumsum() * hands
    # The interval of the bank so far, by how much blocks differ up to there.
    mean = bank / hands / count
    spread = np.sqrt(np.maximum(0.0, (won**2).cumsum() / count - mean**2))
    width = 1.96 * spread * np.sqrt(count) * hands
    at = np.unique(np.linspace(0, len(won) - 1, _POINTS).astype(int))
    total = won.mean()
    axis.plot(count[at] * hands, bank[at], color=colour, label=f"{name}  {total:+.3f}")
    axis.fill_between(
        count[at] * hands, (bank - width)[at], (bank + width)[at], color=colour, alpha=0.12, lw=0
    )
