"""Exact counts of how a hand stands against every opponent's hand, now and after the cards to come.

Cards are grouped so that little is evaluated twice. With the board complete at most one suit can
make a flush; in any other suit only ranks matter. So for that suit (if there is one) a card is one
of 26 types: a rank in the suit, or a rank outside it with the number of such cards that are left.
Opponents' hands and run-outs are pairs of types, counted by multiplicity: about 300 run-outs and
100 hands on a flop, in place of 1,081 and 990.

A relation is 0 (we are ahead), 1 (tied) or 2 (behind).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from cbr_holdem.cards.evaluator import FLUSH_STRENGTH, RANK_NUMBERS, few_strength, seven_strength

#: Keys of the ranks, as 64-bit numbers that add up to a hand's key.
_KEYS = RANK_NUMBERS.astype(np.uint64)
#: The 91 pairs of ranks, and the sums of their keys.
_LOW, _HIGH = np.triu_indices(13)
_PAIR_KEYS = _KEYS[_LOW] + _KEYS[_HIGH]


@njit(cache=True)
def _by_ranks(key: Any, cards: Any) -> Any:
    return seven_strength(key) if cards == 7 else few_strength(key)


@njit(cache=True)
def _pairs(x: Any, y: Any, counts: Any) -> Any:
    """How many pairs of cards have types x <= y."""
    if x == y:
        return counts[x] * (counts[x] - 1) // 2
    return counts[x] * counts[y]


@njit(cache=True)
def _setting(hole: Any, board: Any, suits: Any, seen: Any) -> Any:
    """Fill suits[s] (board cards of each suit) and seen[card]; the sum of the board's rank keys."""
    key = np.uint64(0)
    for card in board:
        suits[card & 3] += 1
        seen[card] = True
        key += _KEYS[card >> 2]
    for card in hole:
        seen[card] = True
    return key


@njit(cache=True)
def _types(suit: Any, seen: Any, counts: Any) -> None:
    """Cards left of each type: counts[rank] outside the suit, counts[13 + rank] in it."""
    for rank in range(13):
        counts[rank] = 0
        counts[13 + rank] = 0
        for s in range(4):
            if not seen[4 * rank + s]:
                counts[13 + rank if s == suit else rank] += 1


@njit(cache=True)
def _mask(board: Any, suit: Any) -> Any:
    mask = 0
    for card in board:
        if card & 3 == suit:
            mask |= 1 << (card >> 2)
    return mask


@njit(cache=True)
def _own(hole: Any, key: Any, suit: Any, mask: Any, held: Any, cards: Any) -> Any:
    """Strength of our hand with a board of this key and these ranks (mask, held) of the suit."""
    for card in hole:
        key += _KEYS[card >> 2]
        if card & 3 == suit:
            mask |= 1 << (card >> 2)
            held += 1
    return FLUSH_STRENGTH[mask] if held >= 5 else _by_ranks(key, cards)


@njit(cache=True)
def _relation(mine: Any, theirs: Any) -> Any:
    return 0 if mine > theirs else (1 if mine == theirs else 2)


@njit(cache=True)
def _flush_suit(suits: Any, least: Any) -> Any:
    """The suit with at least so many cards on the board; -1 if there is none."""
    for suit in range(4):
        if suits[suit] >= least:
            return suit
    return -1


@njit(cache=True)
def _relations_now(hole: Any, board: Any, key: Any, suits: Any, relation: Any) -> None:
    """relation[x, y] now to an opponent with cards of types x, y (of the suit that can flush)."""
    suit = _flush_suit(suits, 3)
    mask = _mask(board, suit)
    held = suits[suit] if suit >= 0 else 0
    cards = len(board) + 2
    mine = _own(hole, key, suit, mask, held, cards)
    for a in range(13):
        for b in range(13):
            plain = _relation(mine, _by_ranks(key + _KEYS[a] + _KEYS[b], cards))
            for x in range(2):
                for y in range(2):
                    found = plain
                    if suit >= 0 and held + x + y >= 5:
                        with_a = mask | (x << a)
                        found = _relation(mine, FLUSH_STRENGTH[with_a | (y << b)])
                    relation[13 * x + a, 13 * y + b] = found


@njit(cache=True)
def _order_pairs(relation: Any, order: Any, ends: Any) -> None:
    """Rank pairs by what we are to them now, so that a whole run of them has one relation."""
    at = 0
    for wanted in range(3):
        for pair in range(91):
            if relation[_LOW[pair], _HIGH[pair]] == wanted:
                order[at] = pair
                at += 1
        ends[wanted] = at


@njit(cache=True)
def _count_opponents(
    mine: Any,
    key: Any,
    mask: Any,
    held: Any,
    cards: Any,
    counts: Any,
    relation: Any,
    order: Any,
    ends: Any,
    weight: Any,
    matrix: Any,
) -> Any:
    """Add every opponent's hand to matrix[now, later], `weight` times; twice our share of wins.

    The board is complete for this look: rank key, and ranks (mask, held) of the suit.
    """
    one = held >= 4  # one card of the suit is enough for a flush
    both = held >= 3
    share = 0
    at = 0
    for now in range(3):
        ahead = 0
        tied = 0
        every = 0
        while at < ends[now]:
            pair = order[at]
            at += 1
            a, b = _LOW[pair], _HIGH[pair]
            # Hands of these ranks that make no flush (with five of the suit, no better one).
            hands = _pairs(a, b, counts)
            if not one:
                if a == b:
                    hands += counts[a] * counts[13 + a]
                else:
                    hands += counts[a] * counts[13 + b] + counts[13 + a] * counts[b]
                    if not both:
                        hands += counts[13 + a] * counts[13 + b]
            theirs = FLUSH_STRENGTH[mask] if held == 5 else _by_ranks(key + _PAIR_KEYS[pair], cards)
            every += hands
            ahead += hands * (mine > theirs)
            tied += hands * (mine == theirs)
        share += 2 * ahead + tied
        matrix[now, 0] += weight * ahead
        matrix[now, 1] += weight * tied
        matrix[now, 2] += weight * (every - ahead - tied)
    if both:
        for a in range(13):
            if counts[13 + a] == 0:
                continue
            with_a = mask | (1 << a)
            if one:
                later = _relation(mine, FLUSH_STRENGTH[with_a])
                for b in range(13):
                    share += counts[b] * (2 - later)
                    matrix[relation[13 + a, b], later] += weight * counts[b]
            for b in range(a + 1, 13):
                if counts[13 + b]:
                    later = _relation(mine, FLUSH_STRENGTH[with_a | (1 << b)])
                    share += 2 - later
                    matrix[relation[13 + a, 13 + b], later] += weight
    return share


@njit(cache=True)
def _one_runout(
    hole: Any,
    key: Any,
    suit: Any,
    mask: Any,
    held: Any,
    cards: Any,
    counts: Any,
    relation: Any,
    order: Any,
    ends: Any,
    weight: Any,
    matrix: Any,
    moments: Any,
) -> None:
    mine = _own(hole, key, suit, mask, held, cards)
    twice = _count_opponents(
        mine, key, mask, held, cards, counts, relation, order, ends, weight, matrix
    )
    moments[0] += weight * twice
    moments[1] += weight * twice * twice


@njit(cache=True)
def count_later(hole: Any, board: Any, more: Any, matrix: Any, moments: Any) -> None:
    """Count (now, later) over all opponents' hands and all run-outs of `more` (1 or 2) cards.

    matrix int64 [3, 3] and moments float64 [2] are added to; moments get the sums over run-outs of
    (2 ahead + tied) and of its square.
    """
    suits = np.zeros(4, np.int64)
    seen = np.zeros(52, np.bool_)
    key = _setting(hole, board, suits, seen)
    relation = np.empty((26, 26), np.int64)
    _relations_now(hole, board, key, suits, relation)
    order = np.empty(91, np.int64)
    ends = np.empty(3, np.int64)
    _order_pairs(relation, order, ends)
    cards = len(board) + more + 2
    counts = np.empty(26, np.int64)
    # Run-outs by ranks alone; those that make a flush possible are taken out below.
    plain = np.zeros((13, 14), np.int64)
    _types(-1, seen, counts)
    for a in range(13):
        if more == 1:
            plain[a, 13] = counts[a]
        else:
            for b in range(a, 13):
                plain[a, b] = _pairs(a, b, counts)
    for suit in range(4):
        if suits[suit] + more < 3:
            continue
        _types(suit, seen, counts)
        mask = _mask(board, suit)
        for x in range(26):
            # 26 stands for no second card.
            for y in range(26 if more == 1 else x, 27 if more == 1 else 26):
                second = y < 26
                held = suits[suit] + (x >= 13) + (second and y >= 13)
                ways = _pairs(x, y, counts) if second else counts[x]
                if held < 3 or ways == 0:
                    continue
                a = x % 13
                b = y % 13 if second else 13
                plain[min(a, b), max(a, b)] -= ways
                board_key = key + _KEYS[a]
                with_both = mask
                if x >= 13:
                    with_both |= 1 << a
                counts[x] -= 1
                if second:
                    board_key += _KEYS[b]
                    if y >= 13:
                        with_both |= 1 << b
                    counts[y] -= 1
                _one_runout(
                    hole,
                    board_key,
                    suit,
                    with_both,
                    held,
                    cards,
                    counts,
                    relation,
                    order,
                    ends,
                    ways,
                    matrix,
                    moments,
                )
                counts[x] += 1
                if second:
                    counts[y] += 1
    _types(-1, seen, counts)
    for a in range(13):
        for b in range(a, 14):
            ways = plain[a, b]
            if ways == 0:
                continue
            board_key = key + _KEYS[a]
            counts[a] -= 1
            if b < 13:
                board_key += _KEYS[b]
                counts[b] -= 1
            _one_runout(
                hole,
                board_key,
                -1,
                0,
                0,
                cards,
                counts,
                relation,
                order,
                ends,
                ways,
                matrix,
                moments,
            )
            counts[a] += 1
            if b < 13:
                counts[b] += 1


@njit(cache=True)
def count_now(hole: Any, board: Any, now: Any) -> None:
    """Count opponents' hands that we beat, tie and lose to now: int64 [3]."""
    suits = np.zeros(4, np.int64)
    seen = np.zeros(52, np.bool_)
    key = _setting(hole, board, suits, seen)
    suit = _flush_suit(suits, 3)
    counts = np.empty(26, np.int64)
    _types(suit, seen, counts)
    held = suits[suit] if suit >= 0 else 0
    mask = _mask(board, suit)
    cards = len(board) + 2
    mine = _own(hole, key, suit, mask, held, cards)
    relation = np.zeros((26, 26), np.int64)
    matrix = np.zeros((3, 3), np.int64)
    ends = np.full(3, 91)
    order = np.arange(91)
    _count_opponents(mine, key, mask, held, cards, counts, relation, order, ends, 1, matrix)
    for later in range(3):
        now[later] = matrix[0, later]
