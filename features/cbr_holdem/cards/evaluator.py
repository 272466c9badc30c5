"""Hand evaluation: 5, 6 or 7 cards to a strength from 1 (7-5-4-3-2) to 7462 (royal flush).

Equal hands have equal strengths, and a better hand a higher one. The tables (about 0.3 MB) are
made by tools/make_evaluator.py, which explains them. A file whose digest is not `DIGEST` is
refused; whoever makes other tables changes the digest.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue
from cbr.jit import njit
from cbr_holdem.cards.numbering import Cards, cards, verify_distinct

TABLES = Path(__file__).with_name("evaluator.npz")
DIGEST = "47d51893aed661338bc23bc10820e2d7"
CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)

if hashlib.blake2b(TABLES.read_bytes(), digest_size=16).hexdigest() != DIGEST:
    raise BadValue(f"{TABLES} is damaged or of another version; install cbr-engine again")
with np.load(TABLES) as _tables:
    _SEVEN: NDArray[np.uint16] = _tables["seven"]
    _SEVEN_AT: NDArray[np.uint16] = _tables["seven_displacement"]
    _FEW: NDArray[np.uint16] = _tables["few"]
    _FEW_AT: NDArray[np.uint16] = _tables["few_displacement"]
    FLUSH_STRENGTH: NDArray[np.uint16] = _tables["flush"]
    _RATINGS: NDArray[np.uint8] = _tables["ratings"]
    RANK_NUMBERS: NDArray[np.uint32] = _tables["rank_numbers"]

#: The key of each card, [52]: the number of its rank in the low 40 bits, and above them a counter
#: for each suit. The key of a hand is the sum of its cards' keys, starting from EMPTY.
CARD_KEYS = np.array(
    [int(RANK_NUMBERS[c >> 2]) + (1 << (40 + 4 * (c & 3))) for c in range(52)], np.uint64
)
#: The key of no cards: each suit counter starts at 3, so that the fifth card of a suit sets bit 3.
EMPTY = np.uint64(0x3333 << 40)
#: The bits of a key that are set where a suit has five cards or more.
FLUSH_BITS = np.uint64(0x8888 << 40)
_LOW = np.uint64(0xFFFFFFFF)
_16, _SEVEN_MASK = np.uint64(16), np.uint64(len(_SEVEN_AT) - 1)
_FEW_MASK, _FEW_SIZE = np.uint64(len(_FEW_AT) - 1), np.uint64(len(_FEW) - 1)


@njit(inline="always")
def seven_strength(key: Any) -> Any:
    """Strength of seven cards without a flush, by the sum of their keys."""
    key = key & _LOW
    return _SEVEN[(key >> _16) ^ np.uint64(_SEVEN_AT[key & _SEVEN_MASK])]


@njit
def few_strength(key: Any) -> Any:
    """Strength of five or six cards without a flush, by the sum of their keys."""
    key = key & _LOW
    return _FEW[((key >> _16) & _FEW_SIZE) ^ np.uint64(_FEW_AT[key & _FEW_MASK])]


@njit
def _flush_strength(hands: Any, i: Any, flush: Any) -> Any:
    """Strength of the flush in hand i; `flush` has the bit of its suit set.

    Seven cards with a flush hold neither a full house nor four of a kind, so the flush decides.
    """
    suit = 0
    while not (flush >> np.uint64(43 + 4 * suit)) & np.uint64(1):
        suit += 1
    mask = 0
    for j in range(hands.shape[1]):
        card = hands[i, j]
        if card & 3 == suit:
            mask |= 1 << int(card >> 2)
    return FLUSH_STRENGTH[mask]


@njit
def strength_of_key(key: Any, hole: Any, board: Any) -> Any:
    """Strength of a hole (2) and a full board (5) whose keys add up to `key` (from EMPTY)."""
    flush = key & FLUSH_BITS
    if not flush:
        return np.int64(seven_strength(key))
    suit = 0
    while not (flush >> np.uint64(43 + 4 * suit)) & np.uint64(1):
        suit += 1
    mask = 0
    for card in hole:
        if card & 3 == suit:
            mask |= 1 << int(card >> 2)
    for card in board:
        if card & 3 == suit:
            mask |= 1 << int(card >> 2)
    return np.int64(FLUSH_STRENGTH[mask])


@njit
def rank_on_board(one: Any, two: Any, board: Any, shown: Any) -> Any:
    """Strength of two hole cards with the first `shown` (3 to 5) cards of a board."""
    key = EMPTY + CARD_KEYS[one] + CARD_KEYS[two]
    for place in range(shown):
        key += CARD_KEYS[board[place]]
    flush = key & FLUSH_BITS
    if not flush:
        return np.int64(seven_strength(key) if shown == 5 else few_strength(key))
    suit = 0
    while not (flush >> np.uint64(43 + 4 * suit)) & np.uint64(1):
        suit += 1
    mask = 0
    for card in (one, two):
        if card & 3 == suit:
            mask |= 1 << int(card >> 2)
    for place in range(shown):
        if board[place] & 3 == suit:
            mask |= 1 << int(board[place] >> 2)
    return np.int64(FLUSH_STRENGTH[mask])


@njit
def _evaluate_7(hands: Any, out: Any) -> None:
    for i in range(hands.shape[0]):
        key = EMPTY
        for j in range(7):
            key += CARD_KEYS[hands[i, j]]
        flush = key & FLUSH_BITS
        out[i] = _flush_strength(hands, i, flush) if flush else seven_strength(key)


@njit
def _evaluate_few(hands: Any, out: Any) -> None:
    for i in range(hands.shape[0]):
        key = EMPTY
        for j in range(hands.shape[1]):
            key += CARD_KEYS[hands[i, j]]
        flush = key & FLUSH_BITS
        out[i] = _flush_strength(hands, i, flush) if flush else few_strength(key)


def evaluate(hands: Cards) -> NDArray[np.uint16]:
    """Strengths [n] of hands [n, 5], [n, 6] or [n, 7] of card numbers.

    The cards of a hand must be distinct and from 0 to 51. For speed this is not checked here;
    `strength` checks it.
    """
    if hands.ndim != 2 or hands.shape[1] not in (5, 6, 7):
        raise BadValue(f"hands have shape {hands.shape}; it must be (n, 5), (n, 6) or (n, 7)")
    hands = np.ascontiguousarray(hands, np.uint8)
    out = np.empty(len(hands), np.uint16)
    (_evaluate_7 if hands.shape[1] == 7 else _evaluate_few)(hands, out)
    return out


def strength(hand: str | list[int]) -> int:
    """Strength of one hand, checked.

    >>> strength("As Ks Qs Js Ts 2c 3d")
    7462
    """
    numbers = cards(hand, "hand") if isinstance(hand, str) else list(hand)
    verify_distinct(numbers, "hand")
    if len(numbers) not in (5, 6, 7) or not all(0 <= number < 52 for number in numbers):
        raise BadValue(f"a hand to evaluate has 5, 6 or 7 cards, not {len(numbers)}")
    return int(evaluate(np.array([numbers], np.uint8))[0])


def rating(strength: int) -> tuple[int, ...]:
    """The power rating: category from 1 to 9, then the ranks that decide, ace 14.

    >>> rating(strength("As Ad Ah Ts Td 2c 3d"))
    (7, 14, 10)
    """
    if not 1 <= strength < len(_RATINGS):
        raise BadValue(f"strength {strength} is not between 1 and {len(_RATINGS) - 1}")
    return tuple(int(part) for part in _RATINGS[strength] if part)


def category(strength: int) -> str:
    """The name of a strength's category.

    >>> category(7462)
    'straight flush'
    """
    return CATEGORIES[rating(strength)[0] - 1]


def categories(strengths: NDArray[np.uint16]) -> NDArray[np.uint8]:
    """Category, 1 (high card) to 9 (straight flush), of each strength."""
    found: NDArray[np.uint8] = _RATINGS[strengths, 0]
    return found
