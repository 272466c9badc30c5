"""Figures 4.2 and 4.3 of van der Kleij's thesis: how clusters part, and how well they predict, with
more rounds of clustering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cbr.statistics import Mean, clustered_mean
from cbr.typing import Floats
from cbr_holdem.table import CALL, FOLD, RAISE
from cbr_kmodels import Clusters, KModels, Prepared, halves, model_of
from cbr_opponents.learning import Observed

#: Rounds after which accuracy is measured, besides the last.
_ROUNDS = (1, 2, 3, 5, 8, 12, 20, 30, 40)
#: Decisions of players among whom it is measured, about.
_MOST = 60_000


class After(NamedTuple):
    """The accuracy of moves after a round: of `members`, by all that they did, and of players who
    were `held_out`, assigned by the first half of their hands and judged on the second."""

    round: int
    members: Mean
    held_out: Mean


def by_round(
    prepared: Prepared, clusters: Clusters, known: Observed, tested: Observed
) -> list[After]:
    """The accuracy after some of the rounds and after the last."""
    known, tested = _some(known), _some(tested)
    first = halves(tested)
    parts = (known, known), (tested.take(first), tested.take(~first))
    last = len(clusters.rounds)
    found = []
    for after in sorted({*(one for one in _ROUNDS if one < last), last}):
        model = model_of(prepared, clusters.after(after))
        means = (_accuracy(model, seen, judged) for seen, judged in parts)
        found.append(After(after, *means))
    return found


def _some(observed: Observed) -> Observed:
    """The decisions of some players, drawn at random."""
    drawn = np.random.default_rng(0).permutation(len(observed.names))
    often = np.bincount(observed.player, minlength=len(drawn))[drawn]
    chosen = drawn[: max(2, int(np.searchsorted(often.cumsum(), _MOST)))]
    return observed.take(np.isin(observed.player, chosen))


def _accuracy(model: KModels, seen: Observed, judged: Observed) -> Mean:
    chances = model.mixed(judged, model.members(seen)[judged.player])
    kinds = np.stack([chances[:, FOLD], chances[:, CALL], chances[:, RAISE:].sum(axis=1)], axis=1)
    return clustered_mean((kinds.argmax(axis=1) == judged.kind).astype(np.float64), judged.player)


def draw_accuracy(found: Mapping[str, Sequence[After]], path: Path) -> None:
    """Figure 4.3: accuracy of moves by round of clustering."""
    from cbr.plots import COLOURS, picture, style_axis

    with picture(path, 4.2 * len(found), 3.6) as figure:
        axes = figure.subplots(1, len(found), squeeze=False)[0]
        for axis, (name, rows) in zip(axes, found.items(), strict=True):
            rounds = np.array([row.round for row in rows])
            for part, colour in zip(("members", "held_out"), COLOURS, strict=False):
                means = [getattr(row, part) for row in rows]
                mean = 100.0 * np.array([one.mean for one in means])
                half: Floats = 100.0 * np.array([one.ci95 or 0.0 for one in means])
                label = part.replace("_", " ")
                axis.errorbar(rounds, mean, half, color=colour, label=label, capsize=2)
            axis.set_xlabel("rounds")
            axis.set_ylabel("accuracy of moves, %")
            style_axis(axis, name, grid="y")
        axes[0].legend(frameon=False, fontsize=8, loc="lower right")
