"""Fast path for the IRC poker database: converts consistent hands to `Hand.text` in compiled code.

For any other hand it returns None, and the slow path in `irc` finds the reason and reports it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr_holdem.table import MOST_SEATS
from cbr_logs.compiled import put_byte, put_bytes, put_whole

#: Most fields of a line: 13 in hdb, 12 in hroster, 13 in pdb.
_MOST_FIELDS = 13
#: Most actions of one player on one street; only very long raising wars come near.
_MOST_MOVES = 60
_UNSHOWN = 11
#: Fields of a player's line: the stack before the hand, the chips put in, and the chips won.
_STACK, _PAID, _WON = 8, 9, 10

_TAB, _LINE, _COMMA, _MINUS, _SLASH = (ord(sign) for sign in "\t\n,-/")
_ZERO, _NINE, _A = (ord(sign) for sign in "09A")
_FOLD, _CALL, _RAISE = (ord(sign) for sign in "fcr")
#: The meaning of each letter of the log: one of our action letters, or one of these codes.
_BLIND, _ALL_IN, _GONE = 1, 2, 3
_MEANS = np.zeros(256, np.uint8)
for _letters, _meaning in (("kc", _CALL), ("br", _RAISE), ("f", _FOLD), ("QK", _GONE)):
    _MEANS[[ord(letter) for letter in _letters]] = _meaning
_MEANS[ord("B")], _MEANS[ord("A")] = _BLIND, _ALL_IN
_RANKS, _SUITS = np.zeros(256, np.bool_), np.zeros(256, np.bool_)
_RANKS[[ord(rank) for rank in "23456789TJQKA"]] = True
_SUITS[[ord(suit) for suit in "cdhs"]] = True

_room = np.empty(1 << 15, np.uint8)


def fast_text(
    line: bytes, roster: bytes, lines: bytes, game: bytes, blinds: tuple[int, int]
) -> str | None:
    """The text of a hand from its lines of hdb, hroster and pdb; None if they are inconsistent."""
    text = b"\n".join((line, roster, lines))
    if len(text) > len(_room) // 8:
        return None
    given = np.frombuffer(text, np.uint8), np.frombuffer(game, np.uint8)
    length = _convert(*given, *blinds, _room)
    return _room[:length].tobytes().decode("latin-1") if length > 0 else None


class _Hand(NamedTuple):
    """The lines of a hand: positions where the fields of its line of hdb begin (`first`) and end
    (`last`), the numbers of seats and board cards, positions where the fields of each seat's line
    of pdb begin and end (`starts`, `ends` [seats, fields]), and whether the seat showed cards."""

    text: Any
    first: Any
    last: Any
    seats: Any
    board: Any
    starts: Any
    ends: Any
    shown: Any


@njit
def _fields(text: Any, i: Any, first: Any, last: Any) -> Any:
    """Find the fields of a line; returns their number (-1: too many) and the start of the next
    line."""
    count = 0
    while i < len(text) and text[i] != _LINE:
        if text[i] == 32 or 9 <= text[i] <= 13:
            i += 1
            continue
        if count == len(first):
            return -1, i
        first[count] = i
        while i < len(text) and text[i] != 32 and not 9 <= text[i] <= 13:
            if text[i] < 32 or text[i] == 127:
                return -1, i
            i += 1
        last[count] = i
        count += 1
    return count, i + 1


@njit
def _number(text: Any, first: Any, last: Any) -> Any:
    """A non-negative integer; -1 if the text is not one."""
    if first == last or last - first > 12:
        return np.int64(-1)
    found = np.int64(0)
    for i in range(first, last):
        if not _ZERO <= text[i] <= _NINE:
            return np.int64(-1)
        found = 10 * found + (text[i] - _ZERO)
    return found


@njit
def _same(text: Any, a: Any, a_end: Any, b: Any, b_end: Any) -> Any:
    if a_end - a != b_end - b:
        return False
    same = True
    for i in range(a_end - a):
        same &= text[a + i] == text[b + i]
    return same


@njit
def _card(text: Any, first: Any, last: Any) -> Any:
    return last - first == 2 and _RANKS[text[first]] and _SUITS[text[first + 1]]


@njit
def _convert(text: Any, game: Any, small: Any, big: Any, out: Any) -> Any:
    """Write the hand into `out`; returns its length, or 0 if the lines are inconsistent."""
    first = np.empty(_MOST_FIELDS, np.int64)
    last = np.empty(_MOST_FIELDS, np.int64)
    count, i = _fields(text, 0, first, last)
    board = count - 8
    if board not in (0, 3, 4, 5):
        return 0
    seats = _number(text, first[3], last[3])
    if seats < 2 or seats > MOST_SEATS or _number(text, first[0], last[0]) < 0:
        return 0
    for place in range(board):
        if not _card(text, first[8 + place], last[8 + place]):
            return 0
    middle = first[7]
    while middle < last[7] and text[middle] != _SLASH:
        middle += 1
    at_end = _number(text, first[7], middle)
    pot = _number(text, middle + 1, last[7])
    if middle == last[7] or at_end < 0 or pot < 0:
        return 0
    r_first = np.empty(_MOST_FIELDS, np.int64)
    r_last = np.empty(_MOST_FIELDS, np.int64)
    listed, i = _fields(text, i, r_first, r_last)
    if listed != seats + 2 or _number(text, r_first[1], r_last[1]) != seats:
        return 0
    # The players' lines by position.
    hand = _Hand(
        text,
        first,
        last,
        seats,
        board,
        np.full((seats, _MOST_FIELDS), -1, np.int64),
        np.full((seats, _MOST_FIELDS), -1, np.int64),
        np.zeros(seats, np.bool_),
    )
    if not _read_players(hand, i, r_first, r_last):
        return 0
    return _write(hand, at_end, pot, game, small, big, out)


@njit
def _read_players(hand: Any, i: Any, r_first: Any, r_last: Any) -> Any:
    """Fill starts, ends and shown of a hand from the lines of its players, which begin at i; false
    if one is inconsistent. `r_first` and `r_last` are the positions of the roster's fields."""
    text, _first, _last, seats, _board, starts, ends, shown = hand
    p_first = np.empty(_MOST_FIELDS, np.int64)
    p_last = np.empty(_MOST_FIELDS, np.int64)
    for _ in range(seats):
        if i > len(text):
            return False
        found, i = _fields(text, i, p_first, p_last)
        if found not in (_UNSHOWN, _MOST_FIELDS) or _number(text, p_first[2], p_last[2]) != seats:
            return False
        seat = _number(text, p_first[3], p_last[3]) - 1
        if seat < 0 or seat >= seats or starts[seat, 0] >= 0:
            return False
        known = 0
        for other in range(seats):
            known += _same(text, p_first[0], p_last[0], r_first[2 + other], r_last[2 + other])
        if known != 1:
            return False
        shown[seat] = found == _MOST_FIELDS
        starts[seat] = p_first
        ends[seat] = p_last
    return i > len(text)  # else there are more lines than players


@njit
def _play(text: Any, seat: Any, starts: Any, ends: Any, moves: Any, counts: Any) -> Any:
    """Write a player's actions by street; returns whether he posted a blind and whether he is out
    at the end, or -1 if the actions are invalid."""
    posted = False
    out = False
    all_in = False
    for street in range(4):
        a, b = starts[seat, 4 + street], ends[seat, 4 + street]
        if b - a == 1 and text[a] == _MINUS:
            continue
        for i in range(a, b):
            means = _MEANS[text[i]]
            if means == _BLIND and street == 0 and i == a:
                posted = True
            elif means == _GONE and all_in:
                return -1, -1
            elif means == _GONE and out:
                continue
            elif means == _ALL_IN and not (out or all_in):
                all_in = True
            elif means > _ALL_IN and not (out or all_in) and counts[street, seat] < _MOST_MOVES:
                kind = _FOLD if means == _GONE else means
                moves[street, seat, counts[street, seat]] = kind
                counts[street, seat] += 1
                out = kind == _FOLD
            else:
                return -1, -1
    return int(posted), int(out)


@njit
def _write(hand: Any, at_end: Any, pot: Any, game: Any, small: Any, big: Any, out: Any) -> Any:
    """Write the hand into `out`; returns its length, or 0 if the lines are inconsistent. `at_end`
    and `pot` are the players left at the end and the pot by the line of hdb."""
    text, first, last, seats, board, starts, ends, _shown = hand
    moves = np.empty((4, seats, _MOST_MOVES), np.uint8)
    counts = np.zeros((4, seats), np.int64)
    second = _read_actions(hand, at_end, pot, moves, counts)
    reached = 1 if board == 0 else board - 1
    if second < 0 or counts[reached:].any():
        return 0
    at = put_bytes(text[first[0] : last[0]], out, 0)
    at = put_byte(_TAB, out, at)
    at = put_bytes(game, out, at)
    at = put_byte(_TAB, out, at)
    for seat in range(seats):
        at = put_bytes(text[starts[seat, _STACK] : ends[seat, _STACK]], out, at)
        at = put_byte(_COMMA if seat < seats - 1 else _TAB, out, at)
    for seat in range(seats):
        post = 0
        if seat == 0:
            post = small if second else big
        elif seat == 1 and second:
            post = big
        at = put_whole(post, out, at)
        at = put_byte(_COMMA if seat < seats - 1 else _TAB, out, at)
    at = put_byte(_TAB, out, at)  # no antes
    at = _write_cards(hand, out, at)
    if at < 0:
        return 0
    at = _write_actions(moves, counts, reached, second, out, at)
    for seat in range(seats):
        put = _number(text, starts[seat, _PAID], ends[seat, _PAID])
        win = _number(text, starts[seat, _WON], ends[seat, _WON])
        at = put_whole(win - put, out, at)
        at = put_byte(_COMMA if seat < seats - 1 else _TAB, out, at)
    for seat in range(seats):
        at = put_bytes(text[starts[seat, 0] : ends[seat, 0]], out, at)
        at = put_byte(_TAB, out, at)
    return at - 1


@njit
def _read_actions(hand: Any, at_end: Any, pot: Any, moves: Any, counts: Any) -> Any:
    """Write the actions of all players into moves [4, seats, ..] and counts [4, seats]; returns
    whether the second seat posted a blind, or -1 if actions or amounts are inconsistent."""
    text, _first, _last, seats, _board, starts, ends, _shown = hand
    blinds = 0
    second = 0
    left = 0
    paid = np.int64(0)
    won = np.int64(0)
    for seat in range(seats):
        posted, gone = _play(text, seat, starts, ends, moves, counts)
        if posted < 0 or (seat == 0 and not posted):
            return -1
        blinds += posted
        second = posted if seat == 1 else second
        left += not gone
        stack = _number(text, starts[seat, _STACK], ends[seat, _STACK])
        put = _number(text, starts[seat, _PAID], ends[seat, _PAID])
        win = _number(text, starts[seat, _WON], ends[seat, _WON])
        if stack < 0 or put < 0 or win < 0:
            return -1
        paid += put
        won += win
    if blinds > 1 + second or left != at_end or not pot == paid == won:
        return -1
    return second


@njit
def _write_cards(hand: Any, out: Any, at: Any) -> Any:
    """Write hole cards and board; returns the position after them, or -1 if a card is invalid."""
    text, first, last, seats, board, starts, ends, shown = hand
    for seat in range(seats):
        if shown[seat]:
            for card in (_UNSHOWN, _UNSHOWN + 1):
                if not _card(text, starts[seat, card], ends[seat, card]):
                    return -1
                at = put_bytes(text[starts[seat, card] : ends[seat, card]], out, at)
        at = put_byte(_COMMA if seat < seats - 1 else _TAB, out, at)
    for place in range(board):
        at = put_bytes(text[first[8 + place] : last[8 + place]], out, at)
    return put_byte(_TAB, out, at)


@njit
def _write_actions(moves: Any, counts: Any, reached: Any, second: Any, out: Any, at: Any) -> Any:
    """Write the actions of the streets that were reached, in order of play."""
    seats = counts.shape[1]
    for street in range(reached):
        if street:
            at = put_byte(_SLASH, out, at)
        # Before the flop the players who posted a blind come last.
        begin = 1 + second if street == 0 else 0
        for turn in range(counts[street].max()):
            for place in range(seats):
                seat = (begin + place) % seats
                if turn < counts[street, seat]:
                    at = put_byte(_A + seat, out, at)
                    at = put_byte(moves[street, seat, turn], out, at)
    return put_byte(_TAB, out, at)
