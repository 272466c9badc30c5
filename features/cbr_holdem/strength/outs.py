"""A quick estimate of the chance to improve with one card, by counting outs (Papp 1998)."""

from __future__ import annotations

from typing import Any

from cbr.jit import njit

#: Chance of each out: 46 cards are unseen on the turn.
_CARD = 1.0 / 46.0
#: Weight of an out to a pair above the board, which is often not enough to win.
_PAIR = 0.5


@njit
def _straight(mask: Any) -> Any:
    # The ace is also below the deuce.
    low = (mask << 1) | (mask >> 12 & 1)
    return low & low >> 1 & low >> 2 & low >> 3 & low >> 4 != 0


@njit
def quick_potential(hole: Any, board: Any) -> Any:
    """The chance of an out to a flush or straight with a hole card in it, or to a top pair."""
    on_board, every = 0, 0
    for card in board:
        on_board |= 1 << int(card >> 2)
    every = on_board | 1 << int(hole[0] >> 2) | 1 << int(hole[1] >> 2)
    outs = 0.0
    for suit in range(4):
        ours, theirs = 0, 0
        for card in hole:
            ours += card & 3 == suit
        for card in board:
            theirs += card & 3 == suit
        if ours and ours + theirs == 4:
            outs += 9.0 if ours == 2 else 6.0
    if not _straight(every):
        for rank in range(13):
            if _straight(every | 1 << rank) and not _straight(on_board | 1 << rank):
                outs += 4.0
    for card in hole:
        rank = int(card >> 2)
        if on_board >> rank == 0:
            outs += 3.0 * _PAIR
    return min(1.0, outs * _CARD)
