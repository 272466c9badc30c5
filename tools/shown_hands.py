"""Figures 5.4 and 5.5 of van der Kleij's thesis, on logs of people: how likely inference makes the
hands that held-out players show, by round, and what it says that hands do on the flop."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from buckets import buckets, weaker
from cbr import Casebase
from cbr.statistics import Mean, clustered_mean
from cbr.typing import Floats
from cbr_holdem.cards import HANDS
from cbr_holdem.table import CALL, FOLD, RAISE
from cbr_kmodels import KModels, boards_of, infer_cards, played_hands, shown_chances
from cbr_opponents import CONTEXTS, PRICE_CLASSES
from cbr_opponents.learning import Observed
from results import Table

_FLOP = 1


class ShownHands(NamedTuple):
    """How likely the hands are that held-out players show, after each round from 0 on: the mean
    chance as a `multiple` of 1/1326, and its logarithm `above` that of any hand that the board
    leaves. There are so many `hands`. `moves` [20, 3] are chances of a fold, a call and a raise
    facing a bet on the flop, by bucket."""

    hands: int
    multiple: list[Mean]
    above: list[Mean]
    moves: Floats


def shown_hands(base: Casebase, model: KModels, observed: Observed, tested: Observed) -> ShownHands:
    """Infer cards from the hands of all but the `tested` players, who are in no cluster, and look
    at those that these show."""
    everything = np.ones(len(observed), np.bool_)
    public = model.in_sequence(observed, everything, False)
    boards = boards_of(base, observed)
    held_out = np.isin(observed.player, np.unique(tested.player))
    known, judged = (played_hands(observed, public, boards, part) for part in (~held_out, held_out))
    found = infer_cards(observed.take(~held_out), known, boards)
    multiple, above = [], []
    for grid in (found.start, *(one.grid for one in found.rounds)):
        chance, possible = shown_chances(judged, boards, grid).T
        seen = ~np.isnan(chance)
        player = judged.player[seen]
        multiple.append(clustered_mean(len(HANDS) * chance[seen], player))
        above.append(clustered_mean(np.log(chance[seen] * possible[seen]), player))
    facing = found.counts[_FLOP, CONTEXTS // PRICE_CLASSES :].sum(axis=0)  # [CLASSES, moves]
    kinds = np.stack([facing[:, FOLD], facing[:, CALL], facing[:, RAISE:].sum(axis=1)], axis=1)
    by_bucket = buckets(_FLOP).T @ kinds
    return ShownHands(
        int(seen.sum()), multiple, above, by_bucket / by_bucket.sum(axis=1, keepdims=True)
    )


def table(found: Mapping[str, ShownHands]) -> Table:
    """The chances of shown hands before the first round and after the last."""
    rows = [
        (
            name,
            f"{one.hands:,}",
            f"{len(one.multiple) - 1}",
            *(_mean(of, ".2f") for of in (one.multiple[0], one.multiple[-1])),
            *(_mean(of, "+.3f") for of in (one.above[0], one.above[-1])),
        )
        for name, one in found.items()
    ]
    return Table(
        "hands that held-out players show",
        [
            "",
            "hands",
            "rounds",
            "times 1/1326 at first",
            "at last",
            "log above at first",
            "at last",
        ],
        rows,
        "The mean chance of the hand that was held, after all moves of its player (figure 5.4; the "
        "thesis has more than 7 times 1/1326 for 9 players), and its mean logarithm above that of "
        "any hand that the board leaves.",
    )


def draw_chances(found: Mapping[str, ShownHands], path: Path) -> None:
    """Figure 5.4: the chance of shown hands by round."""
    from cbr.plots import COLOURS, picture, style_axis

    with picture(path, 6.5, 4) as figure:
        axis = figure.subplots()
        for (name, one), colour in zip(found.items(), COLOURS, strict=False):
            mean = np.array([of.mean for of in one.multiple])
            half = np.array([of.ci95 or 0.0 for of in one.multiple])
            rounds = np.arange(len(mean))
            axis.plot(rounds, mean, color=colour, label=name)
            axis.fill_between(rounds, mean - half, mean + half, color=colour, alpha=0.2, lw=0)
        axis.axhline(1.0, color="0.4", linewidth=0.8)
        axis.set_xlabel("rounds of inference")
        axis.set_ylabel("chance of shown hands, times 1/1326")
        style_axis(axis, "", grid="y")
        axis.legend(frameon=False, fontsize=8)


def draw_moves(found: Mapping[str, ShownHands], path: Path) -> None:
    """Figure 5.5: what players do facing a bet on the flop, by bucket, beside the folds that the
    strength of the hand makes the thesis expect."""
    from cbr.plots import COLOURS, picture, style_axis

    with picture(path, 4.2 * len(found), 3.6) as figure:
        axes = figure.subplots(1, len(found), squeeze=False)[0]
        for axis, (name, one) in zip(axes, found.items(), strict=True):
            bucket = 1 + np.arange(len(one.moves))
            for at, move in enumerate(("fold", "call", "raise")):
                axis.plot(bucket, one.moves[:, at], color=COLOURS[at], label=move)
            axis.plot(bucket, 1.0 - weaker(_FLOP), "--", color=COLOURS[0], label="expected fold")
            axis.set_xlabel("bucket of the flop, the weakest hands first")
            axis.set_ylabel("chance")
            style_axis(axis, name, grid="y")
        axes[0].legend(frameon=False, fontsize=8)


def _mean(of: Mean, form: str) -> str:
    mean = f"{of.mean:{form}}"
    return mean if of.ci95 is None else f"{mean} ± {of.ci95:{form.removeprefix('+')}}"
