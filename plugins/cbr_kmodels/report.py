"""What the players of each cluster are like: how often they enter pots, raise, and bet, in figures
and in words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.typing import Floats, Ints
from cbr_holdem.table import CALL, RAISE
from cbr_opponents.learning import Observed

#: Hands from which a player's rates count in the spread of a cluster.
_HANDS = 20
#: A cluster is called loose or tight, aggressive or passive, from this many standard deviations
#: between players on.
_FAR = 0.4


class Style(NamedTuple):
    """Rates of players, or of clusters: the share of hands in which they put money in by their own
    choice (VPIP), raised before the flop (PFR), and bets and raises for each call (aggression)."""

    vpip: Floats
    pfr: Floats
    aggression: Floats


class Row(NamedTuple):
    """A cluster: its players and their hands, mean rates over these players by hands, standard
    deviations over players, and words."""

    players: int
    hands: int
    mean: Style
    spread: Style
    words: str


def styles(observed: Observed) -> tuple[Style, Ints]:
    """The rates of all players, [players] each, and their hands; NaN where there were none."""
    count = len(observed.names)
    pairs, at = np.unique(
        np.stack([observed.player, observed.hand], axis=1), axis=0, return_inverse=True
    )
    at = at.reshape(-1)
    preflop = observed.place[:, 0] == 0
    called = (observed.move == CALL) & observed.facing
    raised = observed.move >= RAISE

    def hands_with(mask: Any) -> Floats:
        has = np.bincount(at[mask], minlength=len(pairs)) > 0
        return np.bincount(pairs[:, 0], has, count).astype(np.float64)

    hands = np.bincount(pairs[:, 0], minlength=count)
    calls = np.bincount(observed.player[called], minlength=count)
    raises = np.bincount(observed.player[raised], minlength=count)
    known = np.where(hands > 0, hands, np.nan)
    vpip = hands_with(preflop & (called | raised)) / known
    pfr = hands_with(preflop & raised) / known
    # Half a call and half a raise keep the ratio of few moves finite.
    return Style(vpip, pfr, (raises + 0.5) / (calls + 0.5)), hands


def describe(observed: Observed, nearest: Ints, k: int) -> list[Row]:
    """The clusters of players: `nearest` [players] is the cluster of each, -1 for none."""
    style, hands = styles(observed)
    ready = (hands >= _HANDS) & (nearest >= 0)
    whole = _mean(style, hands, nearest >= 0)
    sd = _spread(style, ready)
    rows = []
    for which in range(k):
        mine = nearest == which
        mean = _mean(style, hands, mine)
        spread = _spread(style, mine & ready)
        total = int(hands[mine].sum())
        rows.append(Row(int(mine.sum()), total, mean, spread, _words(mean, whole, sd)))
    return rows


def _mean(style: Style, hands: Ints, mine: Any) -> Style:
    """Means over players by hands; of aggression, a ratio, the geometric mean."""
    mine = mine & (hands > 0)
    if not mine.any():
        return Style(*(np.float64(np.nan) for _ in Style._fields))  # type: ignore[arg-type]
    weight = hands[mine]
    logs = np.average(np.log(style.aggression[mine]), weights=weight)
    means = [np.average(part[mine], weights=weight) for part in (style.vpip, style.pfr)]
    return Style(means[0], means[1], np.exp(logs))


def _spread(style: Style, mine: Any) -> Style:
    if not mine.any():
        return Style(*(np.float64(np.nan) for _ in Style._fields))  # type: ignore[arg-type]
    return Style(*(part[mine].std() for part in style))


def _words(mean: Style, whole: Style, sd: Style) -> str:
    """What a cluster is, beside all players."""
    if np.isnan(mean.vpip):
        return "no players"
    enters = _far(float(mean.vpip - whole.vpip), float(sd.vpip))
    bets = _far(float(np.log(mean.aggression / whole.aggression)), 0.6)
    raises = _far(float(mean.pfr - whole.pfr), float(sd.pfr))
    loose = ("tight", "average", "loose")[enters + 1]
    passive = ("passive", "average", "aggressive")[bets + 1]
    more = ("raises rarely before the flop", "", "raises much before the flop")[raises + 1]
    words = loose if loose == passive else f"{loose}, {passive} in betting"
    if loose == passive == "average":
        words = "as most players"
    return f"{words}; {more}" if more else words


def _far(difference: float, sd: float) -> int:
    if not np.isfinite(difference) or not sd > 0.0:
        return 0
    return int(difference > _FAR * sd) - int(difference < -_FAR * sd)


def as_json(rows: list[Row], share: Floats) -> list[dict[str, Any]]:
    """Clusters for scripts; None where there is no number."""

    def number(value: Any) -> float | None:
        return float(value) if np.isfinite(value) else None

    return [
        {
            "cluster": at + 1,
            "share": float(share[at]),
            "players": row.players,
            "hands": row.hands,
            "words": row.words,
            **{name: number(value) for name, value in row.mean._asdict().items()},
            **{f"{name}_sd": number(value) for name, value in row.spread._asdict().items()},
        }
        for at, row in enumerate(rows)
    ]
