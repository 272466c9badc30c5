"""Pictures of clusters: where they lie after some rounds (van der Kleij, figure 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cbr.plots import COLOURS, picture, style_axis, style_title
from cbr.typing import Ints
from cbr_kmodels.report import describe
from cbr_opponents.learning import Observed

_MARKERS = "os^vD<>phX*P"


def draw_clusters(observed: Observed, rounds: Sequence[Ints], k: int, path: Path) -> None:
    """How often the players of each cluster enter pots, against how often they raise before the
    flop and how much they bet: after the first round, the third and the last. A marker is as large
    as the players of the cluster differ."""
    shown = sorted({0, min(2, len(rounds) - 1), len(rounds) - 1})
    with picture(path, 10, 3.6 * len(shown)) as figure:
        style_title(figure, f"{k} clusters of players")
        axes = figure.subplots(len(shown), 2, squeeze=False, sharex=True, sharey="col")
        for row, at in zip(axes, shown, strict=True):
            found = describe(observed, rounds[at], k)
            for axis, name in zip(row, ("pfr", "aggression"), strict=True):
                for which, one in enumerate(found):
                    if not one.players:
                        continue
                    spread = np.nansum([one.spread.vpip, one.spread.pfr])
                    axis.scatter(
                        one.mean.vpip,
                        getattr(one.mean, name),
                        s=20 + 500 * spread,
                        color=COLOURS[which % len(COLOURS)],
                        marker=_MARKERS[which % len(_MARKERS)],
                        alpha=0.8,
                    )
                axis.set_xlabel("VPIP: hands entered")
                axis.set_ylabel("PFR: hands raised" if name == "pfr" else "bets and raises a call")
                style_axis(axis, f"after round {at + 1}", grid="both")
