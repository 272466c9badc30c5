"""Sizes of bets and raises: the class of an observed one, and the amount that a class goes to.

The classes are `SIZES`. Both directions use the same amounts in whole chips: a raise of a class
that is legal and differs from the others is observed as that class.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
from cbr_holdem.situation.actions import SHARES
from cbr_holdem.table.game import LIMIT
from cbr_holdem.table.layout import ACTOR, BET, STACK, TOP
from cbr_holdem.table.rules import pot_of, raise_limits, to_call

#: Place of the class of raises that take the whole stack.
_ALL_IN = len(SHARES) - 1


@njit
def size_class(by: Any, pot: Any, least: Any, most: Any) -> Any:
    """Place in `SIZES` of a raise by `by` chips into a pot (after the call), where the least raise
    is by `least`, and one by `most` takes the player's whole stack.

    All-in is a raise by `most`, whatever part of the pot it is, and no other. Any other raise
    between two classes is assigned to the nearer one by ratio (Schnizlein): between amounts c < d a
    raise by b belongs to c if c / b > b / d. Classes that come to no more than the least raise are
    left out.

    >>> from cbr_holdem.situation.actions import SIZES
    >>> SIZES[size_class(60, 100, 10, 900)], SIZES[size_class(30, 100, 40, 900)]
    ('1/2', 'min')
    >>> SIZES[size_class(450, 100, 10, 900)], SIZES[size_class(450, 100, 10, 450)]
    ('5', 'all-in')
    """
    if by >= most:
        return _ALL_IN
    below, lower = 0, np.int64(least)
    for size in range(1, _ALL_IN):
        upper = np.int64(SHARES[size] * pot)
        if upper <= lower:
            continue
        if by < upper:
            return below if by <= lower or float(lower) * upper > float(by) * by else size
        below, lower = size, upper
    return below


@njit
def size_of(r: Any, terms: Any, amount: Any) -> Any:
    """Place in `SIZES` of a legal raise to `amount` by the player to act at a table (a row); 0 in
    limit, which has one size."""
    if terms[LIMIT]:
        return 0
    own, top = r[BET + r[ACTOR]], r[TOP]
    least, _ = raise_limits(r, terms)
    everything = own + r[STACK + r[ACTOR]]
    return size_class(amount - top, pot_of(r) + top - own, least - top, everything - top)


@njit
def raised_to(r: Any, least: Any, most: Any, share: Any) -> Any:
    """The amount to which a raise by a share of the pot (after the call) goes at a table (a row),
    moved into the legal limits: an infinite share goes to the most."""
    call = to_call(r)
    called, by = r[BET + r[ACTOR]] + call, share * (pot_of(r) + call)
    if by >= most - called:  # compared before it is rounded, since it may be infinite
        return most
    return max(least, called + np.int64(by))
