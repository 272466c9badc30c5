"""Exact counts of opponents' hands that we beat, tie with and lose to, now and after run-outs.

Equivalent cards are grouped so that few hands are evaluated twice. On a complete board at most one
suit can make a flush; in the other suits only ranks matter. A card therefore has one of 26 types: a
rank in that suit, or a rank outside it. Opponents' hands and run-outs are pairs of types, weighted
by the number of card pairs that have these types: on a flop about 300 run-outs and 100 hands, in
place of 1,081 and 990.

A relation is AHEAD (our hand is better), TIED or BEHIND.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr_holdem.cards.evaluator import FLUSH_STRENGTH, RANK_NUMBERS, few_strength, seven_strength

AHEAD, TIED, BEHIND = 0, 1, 2

#: Keys of the ranks, as 64-bit numbers that add up to a hand's key.
_KEYS = RANK_NUMBERS.astype(np.uint64)
#: The 91 pairs of ranks, and the sums of their keys.
_LOW, _HIGH = np.triu_indices(13)
_PAIR_KEYS = _KEYS[_LOW] + _KEYS[_HIGH]


class _Position(NamedTuple):
    """A hand on a board: its cards, the sum of the board's rank keys, how many cards of each suit
    are on the board, which of the 52 cards are seen, and how many board cards are to come."""

    hole: Any
    board: Any
    key: Any
    suits: Any
    seen: Any
    more: Any


class _Board(NamedTuple):
    """A board on which hands are compared: the sum of its rank keys, the suit that can make a flush
    (-1: none), the ranks of that suit as bits, their number, and the cards of board and hand."""

    key: Any
    suit: Any
    mask: Any
    held: Any
    cards: Any


class _Now(NamedTuple):
    """Our hand compared before the run-out: relation[x, y] [26, 26] to an opponent with cards of
    types x and y, the 91 pairs of ranks sorted by relation, and the end of each relation [3]."""

    relation: Any
    order: Any
    ends: Any


@njit
def _by_ranks(key: Any, cards: Any) -> Any:
    return seven_strength(key) if cards == 7 else few_strength(key)


@njit
def _pairs(x: Any, y: Any, counts: Any) -> Any:
    """The number of pairs of cards that have types x <= y."""
    if x == y:
        return counts[x] * (counts[x] - 1) // 2
    return counts[x] * counts[y]


@njit
def _position(hole: Any, board: Any, more: Any) -> Any:
    suits = np.zeros(4, np.int64)
    seen = np.zeros(52, np.bool_)
    key = np.uint64(0)
    for card in board:
        suits[card & 3] += 1
        seen[card] = True
        key += _KEYS[card >> 2]
    for card in hole:
        seen[card] = True
    return _Position(hole, board, key, suits, seen, more)


@njit
def _types(suit: Any, seen: Any, counts: Any) -> None:
    """Cards left of each type: counts[rank] outside the suit, counts[13 + rank] in it."""
    for rank in range(13):
        counts[rank] = 0
        counts[13 + rank] = 0
        for s in range(4):
            if not seen[4 * rank + s]:
                counts[13 + rank if s == suit else rank] += 1


@njit
def _mask(board: Any, suit: Any) -> Any:
    mask = 0
    for card in board:
        if card & 3 == suit:
            mask |= 1 << int(card >> 2)
    return mask


@njit
def _own(hole: Any, board: Any) -> Any:
    """Strength of our hand on a board."""
    key, mask, held = board.key, board.mask, board.held
    for card in hole:
        key += _KEYS[card >> 2]
        if card & 3 == board.suit:
            mask |= 1 << int(card >> 2)
            held += 1
    return FLUSH_STRENGTH[mask] if held >= 5 else _by_ranks(key, board.cards)


@njit
def _relation(mine: Any, theirs: Any) -> Any:
    return AHEAD if mine > theirs else (TIED if mine == theirs else BEHIND)


@njit
def _flush_suit(suits: Any, least: Any) -> Any:
    """The suit with at least `least` cards on the board; -1 if there is none."""
    for suit in range(4):
        if suits[suit] >= least:
            return suit
    return -1


@njit
def _board_now(position: Any) -> Any:
    """The board before the run-out."""
    suit = _flush_suit(position.suits, 3)
    held = position.suits[suit] if suit >= 0 else 0
    mask = _mask(position.board, suit)
    return _Board(position.key, suit, mask, held, len(position.board) + 2)


@njit
def _stand_now(position: Any) -> Any:
    """Our hand compared with every opponent's hand before the run-out, as `_Now`."""
    board = _board_now(position)
    mine = _own(position.hole, board)
    relation = np.empty((26, 26), np.int64)
    for a in range(13):
        for b in range(13):
            key = board.key + _KEYS[a] + _KEYS[b]
            plain = _relation(mine, _by_ranks(key, board.cards))
            for x in range(2):
                for y in range(2):
                    found = plain
                    if board.suit >= 0 and board.held + x + y >= 5:
                        with_a = board.mask | (x << a)
                        found = _relation(mine, FLUSH_STRENGTH[with_a | (y << b)])
                    relation[13 * x + a, 13 * y + b] = found
    order = np.empty(91, np.int64)
    ends = np.empty(3, np.int64)
    at = 0
    for wanted in range(3):
        for pair in range(91):
            if relation[_LOW[pair], _HIGH[pair]] == wanted:
                order[at] = pair
                at += 1
        ends[wanted] = at
    return _Now(relation, order, ends)


@njit
def _count_opponents(mine: Any, board: Any, counts: Any, now: Any, weight: Any, matrix: Any) -> Any:
    """Add every opponent's hand to matrix[now, later], `weight` times; returns 2 ahead + tied.

    `mine` is the strength of our hand on the board, `counts` [26] the cards left of each type.
    """
    # Arrays are unpacked once: access through the tuple would cost more than the loop.
    relation, order, ends = now
    mask, held = board.mask, board.held
    one, both = held >= 4, held >= 3  # cards of the suit in a hand that make a flush
    share = 0
    at = 0
    for before in range(3):
        ahead = 0
        tied = 0
        every = 0
        while at < ends[before]:
            pair = order[at]
            at += 1
            a, b = _LOW[pair], _HIGH[pair]
            # Hands of these ranks that make no flush (no better one, if the board is a flush).
            hands = _pairs(a, b, counts)
            if not one:
                if a == b:
                    hands += counts[a] * counts[13 + a]
                else:
                    hands += counts[a] * counts[13 + b] + counts[13 + a] * counts[b]
                    if not both:
                        hands += counts[13 + a] * counts[13 + b]
            if held == 5:
                theirs = FLUSH_STRENGTH[mask]
            else:
                theirs = _by_ranks(board.key + _PAIR_KEYS[pair], board.cards)
            every += hands
            ahead += hands * (mine > theirs)
            tied += hands * (mine == theirs)
        share += 2 * ahead + tied
        matrix[before, AHEAD] += weight * ahead
        matrix[before, TIED] += weight * tied
        matrix[before, BEHIND] += weight * (every - ahead - tied)
    if both:
        share += _count_flushes(mine, board, counts, relation, weight, matrix)
    return share


@njit
def _count_flushes(
    mine: Any, board: Any, counts: Any, relation: Any, weight: Any, matrix: Any
) -> Any:
    """The same for the opponents' hands that make a flush."""
    share = 0
    for a in range(13):
        if counts[13 + a] == 0:
            continue
        with_a = board.mask | (1 << a)
        if board.held >= 4:
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


@njit
def _one_runout(
    hole: Any, board: Any, counts: Any, now: Any, weight: Any, matrix: Any, moments: Any
) -> None:
    twice = _count_opponents(_own(hole, board), board, counts, now, weight, matrix)
    moments[0] += weight * twice
    moments[1] += weight * twice * twice


@njit
def _runouts_by_ranks(position: Any) -> Any:
    """The number of run-outs of each pair of ranks, [13, 14]; 13 stands for no second card."""
    counts = np.empty(26, np.int64)
    _types(-1, position.seen, counts)
    found = np.zeros((13, 14), np.int64)
    for a in range(13):
        if position.more == 1:
            found[a, 13] = counts[a]
        else:
            for b in range(a, 13):
                found[a, b] = _pairs(a, b, counts)
    return found


@njit
def _flush_runouts(
    position: Any, suit: Any, now: Any, left: Any, matrix: Any, moments: Any
) -> None:
    """Count the run-outs that make a flush of the suit possible, and take them out of `left`."""
    counts = np.empty(26, np.int64)
    _types(suit, position.seen, counts)
    hole, board, key, suits, _seen, more = position
    mask, one, cards = _mask(board, suit), more == 1, len(board) + more + 2
    for x in range(26):
        # 26 stands for no second card.
        for y in range(26 if one else x, 27 if one else 26):
            second = y < 26
            held = suits[suit] + (x >= 13) + (second and y >= 13)
            ways = _pairs(x, y, counts) if second else counts[x]
            if held < 3 or ways == 0:
                continue
            a = x % 13
            b = y % 13 if second else 13
            left[min(a, b), max(a, b)] -= ways
            full_key = key + _KEYS[a]
            with_both = mask
            if x >= 13:
                with_both |= 1 << a
            counts[x] -= 1
            if second:
                full_key += _KEYS[b]
                if y >= 13:
                    with_both |= 1 << b
                counts[y] -= 1
            full = _Board(full_key, suit, with_both, held, cards)
            _one_runout(hole, full, counts, now, ways, matrix, moments)
            counts[x] += 1
            if second:
                counts[y] += 1


@njit
def _rank_runouts(position: Any, now: Any, left: Any, matrix: Any, moments: Any) -> None:
    """Count the run-outs in which ranks alone matter."""
    counts = np.empty(26, np.int64)
    _types(-1, position.seen, counts)
    hole, board, key, _suits, _seen, more = position
    cards = len(board) + more + 2
    for a in range(13):
        for b in range(a, 14):
            ways = left[a, b]
            if ways == 0:
                continue
            full_key = key + _KEYS[a]
            counts[a] -= 1
            if b < 13:
                full_key += _KEYS[b]
                counts[b] -= 1
            full = _Board(full_key, -1, 0, 0, cards)
            _one_runout(hole, full, counts, now, ways, matrix, moments)
            counts[a] += 1
            if b < 13:
                counts[b] += 1


@njit
def count_later(hole: Any, board: Any, more: Any, matrix: Any, moments: Any) -> None:
    """Count (now, later) over all opponents' hands and all run-outs of `more` (1 or 2) cards.

    matrix int64 [3, 3] and moments float64 [2] are added to; moments get the sums over run-outs of
    (2 ahead + tied) and of its square.
    """
    position = _position(hole, board, more)
    now = _stand_now(position)
    left = _runouts_by_ranks(position)
    for suit in range(4):
        if position.suits[suit] + more >= 3:
            _flush_runouts(position, suit, now, left, matrix, moments)
    _rank_runouts(position, now, left, matrix, moments)


@njit(allocates=False)
def count_now(hole: Any, board: Any, out: Any) -> None:
    """Count opponents' hands that we are AHEAD of, TIED with and BEHIND now, into int64 out [3].

    Simulated play asks this for one board after the other, so it makes no arrays: numbers of cards
    left are packed, four bits for each rank."""
    key, suits = np.uint64(0), np.int64(0)
    left = np.int64(0x4444444444444)
    for card in board:
        key += _KEYS[card >> 2]
        suits += np.int64(1) << 4 * np.int64(card & 3)
        left -= np.int64(1) << 4 * np.int64(card >> 2)
    for card in hole:
        left -= np.int64(1) << 4 * np.int64(card >> 2)
    suit, mask, flushing = -1, 0, 0
    held: Any = 0
    for one in range(4):
        if suits >> 4 * one & 15 >= 3:
            suit, held = one, suits >> 4 * one & 15
    outside = left
    if suit >= 0:
        mask = _mask(board, suit)
        flushing = 0x1FFF & ~mask & ~_mask(hole, suit)  # cards left of the suit, by rank
        for rank in range(13):
            outside -= np.int64(flushing >> rank & 1) << 4 * rank
    shown = _Board(key, suit, mask, held, len(board) + 2)
    mine = _own(hole, shown)
    ahead, tied, every = _against_ranks(mine, shown, outside if held >= 4 else left, flushing)
    if suit >= 0:
        more = _against_flushes(mine, shown, outside, flushing)
        ahead, tied, every = ahead + more[0], tied + more[1], every + more[2]
    out[AHEAD], out[TIED], out[BEHIND] = ahead, tied, every - ahead - tied


@njit(allocates=False)
def _against_ranks(mine: Any, board: Any, left: Any, flushing: Any) -> Any:
    """How many hands of cards `left` that make no flush we beat and tie, and how many there are."""
    ahead, tied, every = 0, 0, 0
    pairs_flush = board.held == 3
    key, cards = board.key, board.cards
    for a in range(13):
        first = left >> 4 * a & 15
        for b in range(a, 13):
            hands = first * (first - 1) // 2 if a == b else first * (left >> 4 * b & 15)
            if pairs_flush and a != b:
                hands -= flushing >> a & flushing >> b & 1
            if hands == 0:
                continue
            theirs = _by_ranks(key + _KEYS[a] + _KEYS[b], cards)
            if board.held == 5:
                theirs = FLUSH_STRENGTH[board.mask]
            ahead += hands * (mine > theirs)
            tied += hands * (mine == theirs)
            every += hands
    return ahead, tied, every


@njit(allocates=False)
def _against_flushes(mine: Any, board: Any, outside: Any, flushing: Any) -> Any:
    """The same for hands that make a flush (a better one, if the board is one): with two cards of
    its suit, or with one and a card from `outside` where four are on the board."""
    ahead, tied, every, others = 0, 0, 0, 0
    if board.held >= 4:
        for rank in range(13):
            others += outside >> 4 * rank & 15
    for a in range(13):
        if not flushing >> a & 1:
            continue
        with_a = board.mask | 1 << a
        if others:
            theirs = FLUSH_STRENGTH[with_a]
            ahead += others * (mine > theirs)
            tied += others * (mine == theirs)
            every += others
        for b in range(a + 1, 13):
            if flushing >> b & 1:
                theirs = FLUSH_STRENGTH[with_a | 1 << b]
                ahead += mine > theirs
                tied += mine == theirs
                every += 1
    return ahead, tied, every


@njit
def strength_of_counts(now: Any) -> Any:
    """Hand strength against one opponent: the share of hands we are ahead of, a tie being half."""
    return (now[AHEAD] + now[TIED] / 2) / (now[AHEAD] + now[TIED] + now[BEHIND])
