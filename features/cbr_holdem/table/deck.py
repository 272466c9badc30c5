"""Decks by key: deal d of a seed is the same cards for everyone who asks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr_holdem.cards.numbering import DECK
from cbr_holdem.chance import below, key, step

#: The part of a key that is kept for decks, so that no other use of a seed meets them.
_DECKS = np.int64(0x6465636B)


@njit
def shuffle(seed: Any, deal: Any, need: Any, deck: Any) -> None:
    """The first `need` cards of a shuffled deck into deck [52]."""
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
