"""Pictures of matches: bankrolls over hands, with the interval of where they could be by luck."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cbr.plots import save
from cbr_arena.match import Match, Played
from cbr_arena.results import Rate, rate_of
from cbr_arena.tournament import Tournament

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
        [(one.players[-1].name, what, -1) for one, what in zip(matches, played, strict=True)]
        if len(matches) > 1
        else [(player.name, played[0], at) for at, player in enumerate(first.players)]
    )
    with matplotlib.rc_context({"text.parse_math": False, "font.size": 10}):
        figure = Figure(figsize=(10, 6), dpi=110, layout="constrained")
        axis = figure.subplots()
        for (name, what, at), colour in zip(shown, _COLOURS, strict=False):
            _line(axis, name, what.judged[:, at], what.session, first.seatings, colour)
        unit = "small bets" if first.game.betting == "limit" else "big blinds"
        axis.axhline(0, color="#999999", linewidth=0.8)
        axis.set_xlabel("hands played")
        axis.set_ylabel(f"won, in {unit}")
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_title(
            f"{first.seats} seats, {first.game.betting}; bands: 95 % interval over blocks"
            + ("" if first.adjust == "none" else f"; luck taken out ({first.adjust})"),
            loc="left",
            fontsize=11,
        )
        axis.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
        save(figure, path)


def _line(
    axis: Any, name: str, won: np.ndarray, session: np.ndarray | None, hands: int, colour: str
) -> None:
    count = np.arange(1, len(won) + 1)
    bank = won.cumsum() * hands
    # The interval of the bank so far, by how much blocks differ up to there.
    mean = bank / hands / count
    spread = np.sqrt(np.maximum(0.0, (won**2).cumsum() / count - mean**2))
    # Where blocks of a session go together it is wider, and of one session there is none.
    alone, together = rate_of(won).ci95 or 0.0, rate_of(won, session).ci95
    wider = together / alone if together and alone else float(together is not None)
    width = 1.96 * wider * spread * np.sqrt(count) * hands
    at = np.unique(np.linspace(0, len(won) - 1, _POINTS).astype(int))
    total = won.mean()
    axis.plot(count[at] * hands, bank[at], color=colour, label=f"{name}  {total:+.3f}")
    axis.fill_between(
        count[at] * hands, (bank - width)[at], (bank + width)[at], color=colour, alpha=0.12, lw=0
    )


def draw_tournament(found: Tournament, unit: str, path: Path) -> None:
    """A field for each pair, the best bot on top: what the row's bot won from the column's."""
    import matplotlib
    from matplotlib.figure import Figure

    order, count = found.by_total, len(found.names)
    rates = np.array(
        [[found.against(a, b).rate if a != b else np.nan for b in order] for a in order]
    )
    most = max(float(np.nanmax(np.abs(rates))), 1e-9)
    with matplotlib.rc_context({"text.parse_math": False, "font.size": 10}):
        size = 3.0 + 0.95 * count
        figure = Figure(figsize=(size + 1.5, size), dpi=110, layout="constrained")
        axis = figure.subplots()
        shades = axis.imshow(rates, cmap="RdBu", vmin=-most, vmax=most)
        for row, a in enumerate(order):
            for column, b in enumerate(order):
                if a != b:
                    dark = abs(rates[row, column]) > 0.6 * most
                    axis.text(
                        column,
                        row,
                        _short(found.against(a, b)),
                        ha="center",
                        va="center",
                        fontsize=8.5,
                        color="white" if dark else "#222222",
                    )
        names = [found.names[bot] for bot in order]
        totals = [f"{found.names[bot]}  {found.total(bot).rate:+.2f}" for bot in order]
        axis.set_xticks(range(count), names, rotation=40, ha="left", rotation_mode="anchor")
        axis.set_yticks(range(count), totals)
        axis.xaxis.tick_top()
        axis.tick_params(length=0)
        axis.spines[:].set_visible(False)
        figure.colorbar(shades, ax=axis, shrink=0.7, label=f"{unit} that the row wins, with ± 95 %")
        save(figure, path)


def _short(rate: Rate) -> str:
    return f"{rate.rate:+.2f}" + ("" if rate.ci95 is None else f"\n± {rate.ci95:.2f}")
