"""Sampling of unseen cards: opponents' hands by their weights, and the rest of the board."""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
from cbr_holdem.cards.numbering import DECK, HANDS
from cbr_holdem.chance import below, step, unit
from cbr_holdem.table.game import BOARD_CARDS
from cbr_holdem.table.layout import ACTOR, BOARD, FOLDED, HOLE, SEATS, STREET

_COUNT = len(HANDS)
#: Draws of a hand by weight that may fail because a card is taken; then any free cards are drawn.
_TRIES = 40


@njit
def add_up(weights: Any, folded: Any, own: Any, sums: Any) -> None:
    """Write cumulative sums [10, 1326] of the hand weights of opponents who have not folded."""
    for seat in range(len(weights)):
        if seat != own and not folded >> seat & 1:
            total = 0.0
            for h in range(_COUNT):
                total += weights[seat, h]
                sums[seat, h] = total


@njit
def deal_unseen(r: Any, sums: Any, anything: Any, state: Any, taken: Any) -> Any:
    """Draw the cards that the player to act does not see into a table; returns the random state.

    Seats where `anything` [10] is true get random cards, the others a hand by their sums. `taken`
    [53] is a work array.
    """
    own, n, shown = r[ACTOR], r[SEATS], BOARD_CARDS[r[STREET]]
    taken[:] = False
    taken[DECK] = True  # DECK stands for no card yet
    taken[r[HOLE + 2 * own]] = taken[r[HOLE + 2 * own + 1]] = True
    for place in range(shown):
        taken[r[BOARD + place]] = True
    # Cards drawn first restrict those drawn later, so the seat that begins is random.
    state = step(state)
    begin = below(state, n)
    for turn in range(n):
        seat = (begin + turn) % n
        if seat == own or r[FOLDED] >> seat & 1:
            continue
        one, two = np.int64(DECK), np.int64(DECK)
        for _ in range(0 if anything[seat] else _TRIES):
            state = step(state)
            h = np.searchsorted(sums[seat], unit(state) * sums[seat, _COUNT - 1], "right")
            one, two = np.int64(HANDS[h, 0]), np.int64(HANDS[h, 1])
            if not taken[one] and not taken[two]:
                break
        while taken[one]:
            state = step(state)
            one = below(state, DECK)
        taken[one] = True
        while taken[two]:
            state = step(state)
            two = below(state, DECK)
        taken[two] = True
        r[HOLE + 2 * seat], r[HOLE + 2 * seat + 1] = one, two
    for place in range(shown, 5):
        state = step(state)
        card = below(state, DECK)
        while taken[card]:
            state = step(state)
            card = below(state, DECK)
        taken[card] = True
        r[BOARD + place] = card
    return state


@njit
def deal_anew(r: Any, state: Any) -> Any:
    """Deal every card of a table anew; returns the random state."""
    deck = np.arange(DECK)
    need = 2 * r[SEATS] + 5
    for place in range(need):
        state = step(state)
        other = place + below(state, DECK - place)
        deck[place], deck[other] = deck[other], deck[place]
        r[(HOLE if place < need - 5 else BOARD - need + 5) + place] = deck[place]
    return state
