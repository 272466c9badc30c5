"""Tables of preflop equity and preflop hand strength against one random hand, by hole cards."""

from __future__ import annotations

import numpy as np

from cbr.typing import Floats
from cbr_holdem.cards import DECK, HANDS, hand_class
from cbr_holdem.strength import preflop_odds


def equities() -> Floats:
    """Equity [52, 52]: the probability to win a showdown, ties counting half; symmetric."""
    return _by_cards(_equities())


def standings() -> Floats:
    """Percentile of the equity [52, 52]: the share of hands with a lower equity plus half of those
    with the same. It serves as hand strength before the flop.

    >>> from cbr_holdem.cards import cards
    >>> round(float(standings()[tuple(cards("AhAs"))]), 3)
    0.998
    """
    odds = _equities()
    ordered = np.sort(odds)
    worse = ordered.searchsorted(odds, "left") + ordered.searchsorted(odds, "right")
    return _by_cards(worse / (2 * len(odds)))


def _equities() -> Floats:
    return np.array([preflop_odds(hand_class(a, b), 1)[2] for a, b in HANDS.tolist()])


def _by_cards(values: Floats) -> Floats:
    """Values of `HANDS` [1326] as a table [52, 52] of two cards; NaN on the diagonal."""
    table = np.full((DECK, DECK), np.nan)
    table[HANDS[:, 0], HANDS[:, 1]] = table[HANDS[:, 1], HANDS[:, 0]] = values
    return table
