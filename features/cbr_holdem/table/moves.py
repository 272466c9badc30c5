"""A move packed into one whole number, as the history of a table stores it.

Street, seat, kind of action and amount (the price of a call, what a raise goes to) are parts of the
number. Only this module knows their layout: all other code calls these functions.
"""

from __future__ import annotations

from typing import Any

from cbr.jit import njit

# Bits from the right: 4 for the seat, 2 for the kind, 2 for the street, the rest for the amount.
_KIND, _STREET, _AMOUNT = 4, 6, 8
_SEATS, _KINDS, _STREETS = 15, 3, 3


@njit
def packed(street: Any, seat: Any, kind: Any, amount: Any) -> Any:
    """A move as one number.

    >>> unpacked(packed(3, 9, 2, 40))
    (3, 9, 2, 40)
    """
    return amount << _AMOUNT | street << _STREET | kind << _KIND | seat


@njit
def unpacked(move: Any) -> Any:
    """Street, seat, kind and amount of a packed move."""
    return (
        move >> _STREET & _STREETS,
        move & _SEATS,
        move >> _KIND & _KINDS,
        move >> _AMOUNT,
    )
