"""Shuffled decks by seed and deal number: the same numbers always give the same cards."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr_holdem.cards.numbering import DECK
from cbr_holdem.chance import below, key, step

#: Counter of a key that is reserved for decks: no other use of a seed draws the same numbers.
_DECKS = np.int64(0x6465636B)


@njit
def shuffle(seed: Any, deal: Any, need: Any, deck: Any) -> None:
    """Write a deck into deck [52], of which the first `need` cards are shuffled."""
    for card in range(DECK):
        deck[card] = card
    state = key(seed, deal, _DECKS, 0)
    for place in range(need):
        state = step(state)
        other = place + below(state, DECK - place)
        deck[place], deck[other] = deck[other], deck[place]


@njit
def _shuffle_all(seed: Any, first: Any, need: Any, decks: Any) -> None:
    for i in range(len(decks)):
        shuffle(seed, first + i, need, decks[i])


def decks(seed: int, first: int, count: int, need: int = DECK) -> NDArray[np.uint8]:
    """Deals first ... first + count - 1 of a seed, [count, 52], the first `need` cards shuffled."""
    out = np.empty((count, DECK), np.uint8)
    _shuffle_all(seed, first, need, out)
    return out
