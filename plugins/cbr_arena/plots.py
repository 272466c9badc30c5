"""Pictures of matches: winnings over hands with a 95 % interval, and a tournament's table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from cbr.plots import BLACK, COLOURS, picture, style_axis, zero_line
from cbr_arena.match import Match, Played
from cbr_arena.results import Rate, rate_of
from cbr_arena.tournament import Tournament

#: Points of a line; more could not be seen.
_POINTS = 600


def draw_match(matches: Sequence[Match], played: Sequence[Played], path: Path) -> None:
    """Draw the winnings of each bot over the hands; with two matches (--vs), of their last bots."""
    first = matches[0]
    shown = (
        [(one.players[-1].name, what, -1) for one, what in zip(matches, played, strict=True)]
        if len(matches) > 1
        else [(player.name, played[0], at) for at, player in enumerate(first.players)]
    )
    unit = "small bets" if first.game.betting == "limit" else "big blinds"
    title = f"{first.seats} seats, {first.game.betting}; bands: 95 % interval over blocks"
    if first.adjust != "none":
        title += f"; luck taken out ({first.adjust})"
    with picture(path, 10, 6) as figure:
        axis = figure.subplots()
        for (name, what, at), colour in zip(shown, cycle(COLOURS), strict=False):
            _line(axis, name, what.judged[:, at], what.session, first.seatings, colour)
        zero_line(axis)
        axis.set_xlabel("hands played")
        axis.set_ylabel(f"won, in {unit}")
        style_axis(axis, title)
        axis.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _line(
    axis: Any, name: str, won: np.ndarray, session: np.ndarray | None, hands: int, colour: str
) -> None:
    count = np.arange(1, len(won) + 1)
    bank = won.cumsum() * hands
    # The interval of the winnings so far, from the standard deviation of the blocks so far.
    mean = bank / hands / count
    spread = np.sqrt(np.maximum(0.0, (won**2).cumsum() / count - mean**2))
    # Blocks of one session are dependent, which widens it; a single session has no interval.
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
    """Draw a square for each pair, the best bot on top: the row's winnings from the column."""
    order, count = found.by_total, len(found.names)
    rates = np.array(
        [[found.against(a, b).rate if a != b else np.nan for b in order] for a in order]
    )
    most = max(float(np.nanmax(np.abs(rates))), 1e-9)
    size = 3.0 + 0.95 * count
    with picture(path, size + 1.5, size) as figure:
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
                        color="white" if dark else BLACK,
                    )
        names = [found.names[bot] for bot in order]
        totals = [f"{found.names[bot]}  {found.total(bot).rate:+.2f}" for bot in order]
        axis.set_xticks(range(count), names, rotation=40, ha="left", rotation_mode="anchor")
        axis.set_yticks(range(count), totals)
        axis.xaxis.tick_top()
        axis.tick_params(length=0)
        axis.spines[:].set_visible(False)
        figure.colorbar(shades, ax=axis, shrink=0.7, label=f"{unit} that the row wins, with ± 95 %")


def _short(rate: Rate) -> str:
    return f"{rate.rate:+.2f}" + ("" if rate.ci95 is None else f"\n± {rate.ci95:.2f}")
