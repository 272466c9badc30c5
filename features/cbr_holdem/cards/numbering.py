"""Cards as numbers from 0 to 51: four times the rank (deuce 0, ace 12) plus the suit (c d h s)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue

RANKS = "23456789TJQKA"
SUITS = "cdhs"
DECK = 52
#: Stands for a card that nobody saw.
UNKNOWN = 52

Cards = NDArray[np.uint8]


def card(text: str) -> int:
    """The number of a card.

    >>> card("Ah"), card("2c"), card("10s")
    (50, 0, 35)
    """
    word = text.strip().replace("10", "T")
    if len(word) == 2:
        rank, suit = RANKS.find(word[0].upper()), SUITS.find(word[1].lower())
        if rank >= 0 and suit >= 0:
            return 4 * rank + suit
    raise BadValue(f"{text!r} is not a card; a card is a rank ({RANKS}) and a suit ({SUITS}): Ah")


def cards(text: str, what: str = "cards") -> list[int]:
    """The cards of a text such as ``AhKs`` or ``Qs Js 2d``, none of them twice.

    >>> cards("Qs Js 2d")
    [43, 39, 1]
    """
    words = text.replace(",", " ").replace("10", "T").split()
    found = [card(word[at : at + 2]) for word in words for at in range(0, len(word), 2)]
    verify_distinct(found, what)
    return found


def verify_distinct(numbers: Iterable[int], what: str = "cards") -> None:
    """Check that no card occurs twice."""
    seen: set[int] = set()
    for number in numbers:
        if number in seen:
            raise BadValue(f"{name(number)} is twice in the {what}")
        seen.add(number)


def name(number: int) -> str:
    """
    >>> name(50)
    'Ah'
    """
    return RANKS[number >> 2] + SUITS[number & 3] if number < DECK else "??"


def names(numbers: Iterable[int]) -> str:
    """
    >>> names([50, 0])
    'Ah 2c'
    """
    return " ".join(name(int(number)) for number in numbers)


#: All 1326 starting hands, the lower card first, in a fixed order: [1326, 2].
HANDS: Cards = np.array(list(combinations(range(DECK), 2)), np.uint8)
