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
    """Place in `SIZES` of a raise by `by` into a pot (after the call); `least` is the least raise.

    A raise between two classes is assigned to the nearer one by ratio (Schnizlein). Classes that
    would be less than the least raise are left out.

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
    """Place in `SIZES` of a raise to `amount` by the player to act at a table (a row)."""
    pot = pot_of(r) + r[TOP] - r[BET + r[ACTOR]]
    least = max(r[RAISE_BY], terms[BET_SIZES + r[STREET]])
    return size_class(amount - r[TOP], pot, least)
