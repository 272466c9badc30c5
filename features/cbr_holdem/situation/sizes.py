"""Classes of bets and raises by size, as shares of the pot (van der Kleij, 4.6)."""

from __future__ import annotations

from typing import Any

from cbr.jit import njit
from cbr_holdem.situation.actions import SHARES
from cbr_holdem.table.game import BET_SIZES
from cbr_holdem.table.layout import ACTOR, BET, RAISE_BY, STREET, TOP
from cbr_holdem.table.rules import pot_of


@njit
def size_class(by: Any, pot: Any, least: Any) -> Any:
    """Place in `SIZES` of a raise by so much into a pot, where `least` was the least raise.

    A raise between two classes goes to the one that is nearer as a ratio (Schnizlein), and a class
    that would be less than the least raise is the least raise.

    >>> from cbr_holdem.situation.actions import SIZES
    >>> SIZES[size_class(60, 100, 10)], SIZES[size_class(30, 100, 40)]
    ('1/2', 'min')
    """
    below, lower = 0, float(least)
    for size in range(1, len(SHARES)):
        upper = SHARES[size] * pot
        if upper <= least:
            continue
        if by < upper:
            return below if by <= lower or lower * upper > float(by) * by else size
        below, lower = size, upper
    return below


@njit
def size_of(r: Any, terms: Any, amount: Any) -> Any:
    """Place in `SIZES` of a raise to an amount, which the actor at a table is about to make."""
    pot = pot_of(r) + r[TOP] - r[BET + r[ACTOR]]
    least = max(r[RAISE_BY], terms[BET_SIZES + r[STREET]])
    return size_class(amount - r[TOP], pot, least)
