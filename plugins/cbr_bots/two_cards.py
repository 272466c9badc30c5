"""What two cards are worth before the flop against a hand of any cards, looked up by the cards."""

from __future__ import annotations

import numpy as np

from cbr.typing import Floats
from cbr_holdem.cards import DECK, HANDS, hand_class
from cbr_holdem.strength import preflop_odds


def equities() -> Floats:
    """The chance to win a showdown, a tie being half, of two cards in either order [52, 52]."""
    return _by_cards(_equities())


def standings() -> Floats:
    """The share of hands that win less often than these two cards, and half of those that win as
    often [52, 52]: hand strength as it can be before the flop.

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
    """Values of `HANDS` [1326] as a table of two cards; NaN where they are one card twice."""
    table = np.full((DECK, DECK), np.nan)
    table[HANDS[:, 0], HANDS[:, 1]] = table[HANDS[:, 1], HANDS[:, 0]] = values
    return table
