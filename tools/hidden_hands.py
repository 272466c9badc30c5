"""How well hidden cards are inferred, on logs in which all cards are known: for van_der_kleij.py.

What a log of people hides is hidden (the cards of who folded, and of who won unseen), chances of
moves given a hand are inferred, and compared with the truth.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from buckets import buckets
from cbr import Casebase
from cbr.statistics import Mean, clustered_mean
from cbr.typing import Floats, Ints
from cbr_holdem.table import CALL, FOLD, STREETS
from cbr_kmodels import boards_of, infer_cards, played_hands, shared_chances
from cbr_opponents import CLASSES, class_order, model_maker, smoothed_frequencies
from cbr_opponents.learning import Observed, counted, counted_by_context
from results import Table

#: The truth, and the ways to find chances of moves given a hand.
TRUTH, ALL, OURS, SHOWN = "what was done", "all cards known", "inferred", "shown hands"
THESIS, PATCHED = "inferred as in the thesis", "the same, patched"
#: Decisions of a bucket below which it is not compared.
_FEWEST = 50
#: How the weight of the patch grows from the weakest class to the strongest.
_PATCH = 4.0
_LEAST = 1e-6


class Found(NamedTuple):
    """Chances of a fold facing a bet by street and hand class [4, CLASSES] for each way, and how
    often there was such a decision; the log-loss of hidden decisions; and how much less it is."""

    folds: Mapping[str, Floats]
    often: Ints
    loss: Mapping[str, Mean]
    gain: Mapping[str, Mean]


def hidden(observed: Observed) -> Observed:
    """The same decisions without the cards of hands that a player folded, or won unseen."""
    pair = observed.hand * len(observed.names) + observed.player
    pairs, at = np.unique(pair, return_inverse=True)
    folded = np.bincount(at, observed.move == FOLD) > 0
    _, place = np.unique(pairs // len(observed.names), return_inverse=True)
    shown = ~folded & (np.bincount(place, ~folded)[place] >= 2)
    return dataclasses.replace(observed, hand_class=np.where(shown[at], observed.hand_class, -1))


def compare(base: Casebase, observed: Observed, model: str) -> Found:
    """Infer the cards of a log in which all are known; the public `model` by spec knows none."""
    mine = hidden(observed)
    public = shared_chances(_arrays(model, mine), mine, False)
    boards = boards_of(base, mine)
    played = played_hands(mine, public, boards, np.ones(len(mine), np.bool_))
    totals = counted_by_context(observed)
    thesis = infer_cards(mine, played, boards, falling=False).grid
    grids = {
        ALL: smoothed_frequencies(counted(observed), totals),
        OURS: infer_cards(mine, played, boards).grid,
        SHOWN: smoothed_frequencies(counted(mine), totals),
        THESIS: thesis,
        PATCHED: patched(thesis),
    }
    average = (totals + 0.5) / (totals + 0.5).sum(axis=-1, keepdims=True)
    factor = public / average[tuple(observed.place.T)]
    facing = observed.facing & observed.known
    key = observed.place[facing, 0] * CLASSES + observed.hand_class[facing]
    often = np.bincount(key, minlength=4 * CLASSES)

    def by_class(values: Floats) -> Floats:
        sums = np.bincount(key, values[facing], 4 * CLASSES)
        return np.asarray((sums / np.maximum(often, 1)).reshape(4, CLASSES))

    folds = {TRUTH: by_class((observed.move == FOLD).astype(np.float64))}
    losses = {}
    unseen = observed.known & ~mine.known
    for name, grid in grids.items():
        chances = grid[(*observed.place.T, observed.hand_class)] * factor
        chances /= chances.sum(axis=1, keepdims=True)
        folds[name] = by_class(chances[:, FOLD])
        made = chances[unseen, observed.move[unseen]]
        losses[name] = -np.log(made.clip(_LEAST))
    hand = observed.hand[unseen]
    return Found(
        folds,
        often.reshape(4, CLASSES),
        {name: clustered_mean(loss, hand) for name, loss in losses.items()},
        {name: clustered_mean(losses[SHOWN] - loss, hand) for name, loss in losses.items()},
    )


def patched(grid: Floats) -> Floats:
    """Van der Kleij's repair: folds become a mean with a line that falls from 1 for the weakest
    hand to 0 for the best, whose weight grows exponentially with the strength."""
    out = grid.copy()
    for street in range(4):
        better, _ = class_order(street)
        weight = np.exp(-_PATCH * better) * (1.0 - better)
        facing = grid[street, :, :, FOLD] > 0.0
        fold = (1.0 - weight) * grid[street, :, :, FOLD] + weight * better
        stay = 1.0 - grid[street, :, :, FOLD]
        out[street, :, :, FOLD] = np.where(facing, fold, 0.0)
        scale = np.where(facing, (1.0 - fold) / np.maximum(stay, _LEAST), 1.0)
        out[street, :, :, CALL:] *= scale[..., None]
    return out


def fold_curve(found: Found, name: str, street: int) -> Floats:
    """Chances of a fold by bucket, the weakest first; NaN where there were few decisions."""
    inside, often = buckets(street), found.often[street]
    times = often @ inside
    folds = (often * found.folds[name][street]) @ inside
    return np.where(times >= _FEWEST, folds / np.maximum(times, 1e-9), np.nan)


def errors(found: Found, name: str) -> Floats:
    """The mean absolute error of the fold curve on each street in points, over buckets."""
    off = [
        fold_curve(found, name, street) - fold_curve(found, TRUTH, street) for street in range(4)
    ]
    return np.array([100.0 * np.nanmean(np.abs(one)) for one in off])


def tables(name: str, found: Found) -> list[Table]:
    """The errors of fold curves, and the log-loss of hidden decisions."""
    ways = (ALL, OURS, SHOWN, THESIS, PATCHED)
    rows = [(way, *(f"{one:.1f}" for one in errors(found, way))) for way in ways]
    losses = [(way, _mean(found.loss[way], ".4f"), _mean(found.gain[way], "+.4f")) for way in ways]
    return [
        Table(
            f"{name}: error of the fold curve in points",
            ["", *STREETS],
            rows,
            "Mean absolute error over buckets of hands that faced 50 bets or more: 36 before the "
            "flop, then 20, 20 and 10 by E[HS2], the strong ones small.",
        ),
        Table(
            f"{name}: log-loss of decisions with hidden cards, given the true cards",
            ["", "log-loss", "less than by shown hands"],
            losses,
        ),
    ]


def draw_folds(found: Found, path: Path) -> None:
    """Figure 5.5: chances of a fold by hand class."""
    from cbr.plots import COLOURS, picture, style_axis

    with picture(path, 11, 8) as figure:
        for street, axis in enumerate(figure.subplots(2, 2).ravel()):
            for name, colour in zip(found.folds, COLOURS, strict=False):
                style = "--" if name == TRUTH else "-"
                curve = fold_curve(found, name, street)
                axis.plot(1 + np.arange(len(curve)), curve, style, color=colour, label=name)
            axis.set_xlabel("bucket, the weakest hands first")
            axis.set_ylabel("chance of a fold")
            style_axis(axis, STREETS[street], grid="y")
        figure.axes[0].legend(frameon=False, fontsize=8)


def _arrays(model: str, observed: Observed):  # type: ignore[no-untyped-def]
    return model_maker(model)(observed).arrays


def _mean(of: Mean, form: str) -> str:
    mean = f"{of.mean:{form}}"
    return mean if of.ci95 is None else f"{mean} ± {of.ci95:{form.removeprefix('+')}}"
