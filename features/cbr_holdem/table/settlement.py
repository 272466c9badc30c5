"""The end of a hand: main pot and side pots are shared out among the best hands."""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
from cbr_holdem.cards.evaluator import (
    CARD_KEYS,
    EMPTY,
    FLUSH_BITS,
    seven_strength,
    strength_of_key,
)
from cbr_holdem.cards.numbering import (
    DECK,
)
from cbr_holdem.table.game import (
    ACPC,
)
from cbr_holdem.table.layout import (
    ACTOR,
    BOARD,
    FOLDED,
    HOLE,
    LIVE,
    OVER,
    PAID,
    PARTS,
    PAYOFF,
    PLAYERS,
    SEATS,
    STRENGTH,
)


@njit
def settle(r: Any, terms: Any) -> None:
    """Share out the pots: each level of bets among the best hands that put in as much."""
    n = r[SEATS]
    r[ACTOR] = -1
    over = np.int64(0)
    for seat in range(n):
        over += r[OVER + seat]
        r[PAID + seat] -= r[OVER + seat]
    _settle_bets(r, terms, over)
    if over:
        for seat in range(n):
            r[PAID + seat] += r[OVER + seat]
            r[PAYOFF + seat] -= PARTS * r[OVER + seat]


@njit
def _settle_bets(r: Any, terms: Any, over: Any) -> None:
    n = r[SEATS]
    even = True  # all who have not folded put in the same, and nobody put in more
    most = np.int64(0)
    for seat in range(n):
        most = max(most, r[PAID + seat])
    board_key = EMPTY
    for place in range(5):
        board_key += CARD_KEYS[r[BOARD + place]]
    for seat in range(n):
        r[PAYOFF + seat] = -PARTS * r[PAID + seat]
        r[STRENGTH + seat] = 0
        if not r[FOLDED] >> seat & 1:
            even &= r[PAID + seat] == most
            if r[PLAYERS] > 1 and r[HOLE + 2 * seat] < DECK:  # unknown cards were mucked
                key = board_key + CARD_KEYS[r[HOLE + 2 * seat]]
                key += CARD_KEYS[r[HOLE + 2 * seat + 1]]
                if key & FLUSH_BITS:
                    hole = r[HOLE + 2 * seat : HOLE + 2 * seat + 2]
                    r[STRENGTH + seat] = strength_of_key(key, hole, r[BOARD : BOARD + 5])
                else:
                    r[STRENGTH + seat] = seven_strength(key)
    if even:
        pot = over
        best = np.int64(-1)
        r[LIVE] = ~r[FOLDED]
        for seat in range(n):
            pot += r[PAID + seat]
            if r[LIVE] >> seat & 1:
                best = max(best, r[STRENGTH + seat])
        _share(r, terms, pot, most, best)
        return
    # A hand that wins no pot is ignored: pots that differ only by such hands are shared as one.
    r[LIVE] = 0
    _share_levels(r, terms, True, over)
    _share_levels(r, terms, False, over)


@njit
def _share_levels(r: Any, terms: Any, look: Any, pot: Any) -> None:
    """Go through the levels of bets: with `look`, mark who wins a pot; otherwise share them out."""
    n = r[SEATS]
    level = np.int64(0)
    while True:
        upper = np.int64(-1)
        for seat in range(n):
            if r[PAID + seat] > level and (upper < 0 or r[PAID + seat] < upper):
                upper = r[PAID + seat]
        if upper < 0:
            return
        here = 0
        further = 0
        best = np.int64(-1)
        for seat in range(n):
            pot += max(np.int64(0), min(r[PAID + seat], upper) - level)
            if (r[LIVE] >> seat & 1) or (look and not r[FOLDED] >> seat & 1):
                here += r[PAID + seat] >= upper
                further += r[PAID + seat] > upper
                if r[PAID + seat] >= upper:
                    best = max(best, r[STRENGTH + seat])
        level = upper
        if look:
            for seat in range(n):
                wins = not r[FOLDED] >> seat & 1 and r[PAID + seat] >= upper
                if wins and r[STRENGTH + seat] == best:
                    r[LIVE] |= 1 << seat
        elif here != further or not further:
            _share(r, terms, pot, upper, best)
            pot = np.int64(0)


@njit
def _wins(r: Any, seat: Any, upper: Any, best: Any) -> Any:
    return r[LIVE] >> seat & 1 and r[PAID + seat] >= upper and r[STRENGTH + seat] == best


@njit
def _share(r: Any, terms: Any, pot: Any, upper: Any, best: Any) -> None:
    winners = 0
    for seat in range(r[SEATS]):
        winners += _wins(r, seat, upper, best)
    if winners == 0:
        return
    part = pot // winners
    odd = pot - part * winners
    for seat in range(r[SEATS]):
        if _wins(r, seat, upper, best):
            if terms[ACPC]:
                r[PAYOFF + seat] += pot * PARTS // winners
            else:
                # The odd chips go to the first winner left of the button.
                r[PAYOFF + seat] += PARTS * (part + odd)
                odd = np.int64(0)
