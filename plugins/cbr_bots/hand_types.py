"""Types of hands on a board: hands of one type have the same strength and the same potential.

A suit counts where it can still make a flush; cards of all other suits differ by rank only. The
category of a card is the number of its suit among those that count, from 1, or 0. A hand type is a
pair of ranks with the categories of both cards: the plane (category of the lower card, of the
higher), and in each plane the 91 pairs of ranks. Depending on how many suits count (0, 1 or 2)
there are 91, 364 or 819 types, and what is computed for them need not be computed for 1326 hands.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr_holdem.cards import DECK, RANK_NUMBERS

_RANKS = 13
#: Most suits that count on a board: two cards of each of two suits.
_SUITS = 2
#: Pairs of ranks: 22, 23, ..., AA.
RANK_PAIRS = 91
MOST_TYPES = (_SUITS + 1) ** 2 * RANK_PAIRS
#: The key of each rank; that of some cards is the sum.
RANK_KEYS = RANK_NUMBERS.astype(np.uint64)


def _tables() -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    low, high = np.triu_indices(_RANKS)
    cards = _RANKS * (_SUITS + 1)
    numbers = np.zeros((_SUITS + 1, cards + 1, cards + 1), np.uint16)
    pairs = np.zeros((_SUITS + 1, MOST_TYPES, 2), np.uint8)
    for suits in range(_SUITS + 1):
        size = suits + 1
        number = np.arange(size**2 * RANK_PAIRS)
        plane, pair = np.divmod(number, RANK_PAIRS)
        one, two = low[pair] * size + plane // size, high[pair] * size + plane % size
        pairs[suits, number] = np.stack([one, two], axis=1)
        numbers[suits] = len(number)
        # A pair in two categories is in the plane where the lower category comes first.
        there = one <= two
        one, two, number = one[there], two[there], number[there]
        numbers[suits, one, two] = numbers[suits, two, one] = number
    return numbers, pairs


#: Hand type by two card types (rank and category: rank * (suits + 1) + category), [suits that
#: count, 40, 40]; the number of all types where one of them is `13 * (suits + 1)`: on the board.
TYPE_OF: NDArray[np.uint16]
#: The two card types of each hand type, [suits that count, types, 2].
CARD_TYPES: NDArray[np.uint8]
TYPE_OF, CARD_TYPES = _tables()


class Board(NamedTuple):
    """A board: the number of its `cards`, the sum of their `ranks`' keys, how many `suits` count
    and the category of the one that has three cards or more (`made`; 0: none), the ranks it has in
    each category as a bit set (`masks` [3]). `types` is the number of hand types, `left` [40] the
    number of cards of each type that are not on the board, `hands` [types] that of hands, and
    `total` that of all hands. `code` is the same only for boards that differ in the names of suits,
    in the same order of categories."""

    cards: Any
    ranks: Any
    suits: Any
    made: Any
    masks: Any
    types: Any
    left: Any
    hands: Any
    total: Any
    code: Any


@njit
def look_at(board: Any, of_hand: Any) -> Any:
    """A board, given as a bit set of cards. The type of each hand is written into of_hand [1326];
    that of hands that share a card with the board is the number of types."""
    in_suit, by_suit = np.zeros(4, np.int64), np.zeros(4, np.int64)
    cards, ranks, code = 0, np.uint64(0), np.uint64(1)
    for card in range(DECK):
        if board >> card & 1:
            cards += 1
            in_suit[card & 3] += 1
            by_suit[card & 3] |= 1 << (card >> 2)
            ranks += RANK_KEYS[card >> 2]
            code = code * np.uint64(_RANKS) + np.uint64(card >> 2)
    # Before the river, two cards of a suit can become a flush with the next one and the hole cards.
    suits, made = 0, 0
    category, masks = np.zeros(4, np.int64), np.zeros(_SUITS + 1, np.int64)
    for suit in range(4):
        if in_suit[suit] >= (3 if cards == 5 else 2):
            suits += 1
            category[suit], masks[suits] = suits, by_suit[suit]
            code = (code << np.uint64(_RANKS)) + np.uint64(by_suit[suit])
            made = suits if in_suit[suit] >= 3 else made
    size = suits + 1
    of_card, left = np.empty(DECK, np.uint8), np.zeros(_RANKS * (_SUITS + 1) + 1, np.int64)
    for card in range(DECK):
        of_card[card] = _RANKS * size
        if not board >> card & 1:
            of_card[card] = (card >> 2) * size + category[card & 3]
            left[of_card[card]] += 1
    h = 0
    for one in range(DECK):
        row = TYPE_OF[suits, of_card[one]]
        for two in range(one + 1, DECK):
            of_hand[h] = row[of_card[two]]
            h += 1
    types, total, hands = size**2 * RANK_PAIRS, 0, np.zeros(MOST_TYPES, np.int64)
    for t in range(types):
        one, two = CARD_TYPES[suits, t, 0], CARD_TYPES[suits, t, 1]
        if one < two:
            hands[t] = left[one] * left[two]
        elif one == two:
            hands[t] = left[one] * (left[one] - 1) // 2
        total += hands[t]
    return Board(cards, ranks, suits, made, masks, types, left, hands, total, code)
