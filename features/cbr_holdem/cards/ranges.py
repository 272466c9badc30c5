"""Ranges: sets of starting hands in the usual notation, such as ``TT+,AQs+,KJo,54s-76s,AhKs``."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue
from cbr_holdem.cards.numbering import HANDS, RANKS, Cards, cards

_FLAGS = re.IGNORECASE | re.ASCII
_PAIR = re.compile(r"([2-9TJQKA])\1(\+|-([2-9TJQKA])\3)?\Z", _FLAGS)
_TWO = re.compile(r"([2-9TJQKA])([2-9TJQKA])([so]?)(\+|-([2-9TJQKA])([2-9TJQKA])\3)?\Z", _FLAGS)
_HELP = "write hands as AhKs, classes as AKs, QJo or 77, and TT+, AQs+, 99-66 for several"


def hands_of(text: str) -> Cards:
    """The hands of a range, [n, 2], in the order of `HANDS`.

    >>> len(hands_of("TT+,AQs+")), len(hands_of("AK")), len(hands_of("any"))
    (38, 16, 1326)
    """
    chosen = np.zeros(len(HANDS), bool)
    for word in filter(None, (part.strip() for part in text.split(","))):
        chosen |= _word(word)
    if not chosen.any():
        raise BadValue(f"{text!r} is an empty range; {_HELP}")
    return HANDS[chosen]


def _word(word: str) -> NDArray[np.bool_]:
    high, low = HANDS[:, 1] >> 2, HANDS[:, 0] >> 2
    suited = (HANDS[:, 0] & 3) == (HANDS[:, 1] & 3)
    if word.lower() in {"any", "random"}:
        return np.ones(len(HANDS), bool)
    if pair := _PAIR.match(word):
        first = _rank(pair[1])
        last = 12 if pair[2] == "+" else _rank(pair[3]) if pair[2] else first
        return (high == low) & (high >= min(first, last)) & (high <= max(first, last))
    two = _TWO.match(word)
    if two and two[1].upper() != two[2].upper():
        top, kicker = sorted((_rank(two[1]), _rank(two[2])), reverse=True)
        kind = {"s": suited, "o": ~suited & (high != low)}.get(two[3].lower(), high != low)
        if not two[4]:
            return kind & (high == top) & (low == kicker)
        if two[4] == "+":
            return kind & (high == top) & (low >= kicker) & (low < top)
        return kind & _between(word, (top, kicker), (_rank(two[5]), _rank(two[6])), high, low)
    try:
        numbers = sorted(cards(word, "hand"))
    except BadValue as error:
        raise BadValue(f"{word!r} is not a hand or range ({error}); {_HELP}") from None
    if len(numbers) != 2:
        raise BadValue(f"{word!r} has {len(numbers)} cards; a hand has 2")
    return (HANDS[:, 0] == numbers[0]) & (HANDS[:, 1] == numbers[1])


def _between(
    word: str, one: tuple[int, int], two: tuple[int, int], high: NDArray[Any], low: NDArray[Any]
) -> NDArray[np.bool_]:
    """A span of classes with the same top card (``A9s-A5s``) or the same gap (``54s-76s``)."""
    (top, kicker), (top2, kicker2) = one, tuple(sorted(two, reverse=True))
    if top == top2:
        return (high == top) & (low >= min(kicker, kicker2)) & (low <= max(kicker, kicker2))
    if top - kicker == top2 - kicker2:
        between = (high >= min(top, top2)) & (high <= max(top, top2))
        return between & (high.astype(int) - low == top - kicker)
    raise BadValue(f"{word!r} must keep its top card, as A9s-A5s does, or its gap, as 54s-76s does")


def _rank(letter: str) -> int:
    return RANKS.index(letter.upper())


def hand_class(a: int, b: int) -> str:
    """The class of a hand, one of 169.

    >>> hand_class(50, 47), hand_class(0, 1)
    ('AKo', '22')
    """
    high, low = max(a, b), min(a, b)
    text = RANKS[high >> 2] + RANKS[low >> 2]
    if high >> 2 == low >> 2:
        return text
    return text + ("s" if high & 3 == low & 3 else "o")


#: The 169 classes, by the lower card from aces down: AA, AKs, AKo, KK, AQs ...
CLASSES: tuple[str, ...] = tuple(
    dict.fromkeys(hand_class(int(a), int(b)) for b, a in HANDS[::-1, ::-1])
)
