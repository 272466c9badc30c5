"""Hands of the IRC poker database whose lines agree, turned into our text by compiled code.

Whatever is not in order is left to `irc`, which knows how to say what is wrong: here nothing is
refused, it is only not done.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from cbr_holdem.table import MOST_SEATS
from cbr_logs.compiled import put_bytes, put_whole

#: Fields that a line may have: of hdb 13, of hroster 12, of pdb 13.
_MOST_FIELDS = 13
#: Actions of one player on one street, which only wars of raises come near.
_MOST_MOVES = 60
_UNSHOWN = 11

_TAB, _LINE, _COMMA, _MINUS, _SLASH = (ord(sign) for sign in "\t\n,-/")
_ZERO, _NINE, _A = (ord(sign) for sign in "09A")
_FOLD, _CALL, _RAISE = (ord(sign) for sign in "fcr")
#: What a letter of the log is: an action of ours, or 1 a blind, 2 all in, 3 gone.
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
    """The text of a hand by its lines of hdb, hroster and pdb, or None if they are not in order."""
    text = b"\n".join((line, roster, lines))
    if len(text) > len(_room) // 8:
        return None
    given = np.frombuffer(text, np.uint8), np.frombuffer(game, np.uint8)
    length = _convert(*given, *blinds, _room)
    return _room[:length].tobytes().decode("latin-1") if length > 0 else None


@njit(cache=True)
def _fields(text: Any, i: Any, first: Any, last: Any) -> Any:
    """Where the fields of a line are; how many (-1: too many), and where the next line begins."""
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


@njit(cache=True)
def _number(text: Any, first: Any, last: Any) -> Any:
    """A whole number; -1 if it is none."""
    if first == last or last - first > 12:
        return np.int64(-1)
    found = np.int64(0)
    for i in range(first, last):
        if not _ZERO <= text[i] <= _NINE:
            return np.int64(-1)
        found = 10 * found + (text[i] - _ZERO)
    return found


@njit(cache=True)
def _same(text: Any, a: Any, a_end: Any, b: Any, b_end: Any) -> Any:
    if a_end - a != b_end - b:
        return False
    same = True
    for i in range(a_end - a):
        same &= text[a + i] == text[b + i]
    return same


@njit(cache=True)
def _card(text: Any, first: Any, last: Any) -> Any:
    return last - first == 2 and _RANKS[text[first]] and _SUITS[text[first + 1]]


@njit(cache=True)
def _convert(text: Any, game: Any, small: Any, big: Any, out: Any) -> Any:
    """Write the hand into `out`; its length, or 0 if something is not in order."""
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
    starts = np.full((seats, _MOST_FIELDS), -1, np.int64)
    ends = np.full((seats, _MOST_FIELDS), -1, np.int64)
    shown = np.zeros(seats, np.bool_)
    p_first = np.empty(_MOST_FIELDS, np.int64)
    p_last = np.empty(_MOST_FIELDS, np.int64)
    for _ in range(seats):
        if i > len(text):
            return 0
        found, i = _fields(text, i, p_first, p_last)
        if found not in (_UNSHOWN, _MOST_FIELDS) or _number(text, p_first[2], p_last[2]) != seats:
            return 0
        seat = _number(text, p_first[3], p_last[3]) - 1
        if seat < 0 or seat >= seats or starts[seat, 0] >= 0:
            return 0
        known = 0
        for other in range(seats):
            known += _same(text, p_first[0], p_last[0], r_first[2 + other], r_last[2 + other])
        if known != 1:
            return 0
        shown[seat] = found == _MOST_FIELDS
        starts[seat] = p_first
        ends[seat] = p_last
    if i <= len(text):
        return 0  # more lines than players
    return _write(
        text, game, small, big, out, seats, first, last, board, at_end, pot, starts, ends, shown
    )


@njit(cache=True)
def _play(text: Any, seat: Any, starts: Any, ends: Any, moves: Any, counts: Any) -> Any:
    """A player's actions by street; whether he posted, and is out at the end; -1: not in order."""
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


@njit(cache=True)
def _write(
    text: Any,
    game: Any,
    small: Any,
    big: Any,
    out: Any,
    seats: Any,
    first: Any,
    last: Any,
    board: Any,
    at_end: Any,
    pot: Any,
    starts: Any,
    ends: Any,
    shown: Any,
) -> Any:
    moves = np.empty((4, seats, _MOST_MOVES), np.uint8)
    counts = np.zeros((4, seats), np.int64)
    blinds = 0
    second = 0
    left = 0
    paid = np.int64(0)
    won = np.int64(0)
    for seat in range(seats):
        posted, gone = _play(text, seat, starts, ends, moves, counts)
        if posted < 0 or (seat == 0 and not posted):
            return 0
        blinds += posted
        second = posted if seat == 1 else second
        left += not gone
        stack = _number(text, starts[seat, 8], ends[seat, 8])
        put = _number(text, starts[seat, 9], ends[seat, 9])
        win = _number(text, starts[seat, 10], ends[seat, 10])
        if stack < 0 or put < 0 or win < 0:
            return 0
        paid += put
        won += win
    reached = 1 if board == 0 else board - 1
    if blinds > 1 + second or left != at_end or not pot == paid == won:
        return 0
    for street in range(reached, 4):
        if counts[street].any():
            return 0
    at = put_bytes(text[first[0] : last[0]], out, 0)
    out[at] = _TAB
    at = put_bytes(game, out, at + 1)
    out[at] = _TAB
    at += 1
    for seat in range(seats):
        at = put_bytes(text[starts[seat, 8] : ends[seat, 8]], out, at)
        out[at] = _COMMA if seat < seats - 1 else _TAB
        at += 1
    for seat in range(seats):
        post = 0
        if seat == 0:
            post = small if second else big
        elif seat == 1 and second:
            post = big
        at = put_whole(post, out, at)
        out[at] = _COMMA if seat < seats - 1 else _TAB
        at += 1
    out[at] = _TAB  # no antes
    at += 1
    for seat in range(seats):
        if shown[seat]:
            for card in (_UNSHOWN, _UNSHOWN + 1):
                if not _card(text, starts[seat, card], ends[seat, card]):
                    return 0
                at = put_bytes(text[starts[seat, card] : ends[seat, card]], out, at)
        out[at] = _COMMA if seat < seats - 1 else _TAB
        at += 1
    for place in range(board):
        at = put_bytes(text[first[8 + place] : last[8 + place]], out, at)
    out[at] = _TAB
    at += 1
    for street in range(reached):
        if street:
            out[at] = _SLASH
            at += 1
        # Before the flop those who posted come last.
        begin = 1 + second if street == 0 else 0
        for turn in range(counts[street].max()):
            for place in range(seats):
                seat = (begin + place) % seats
                if turn < counts[street, seat]:
                    out[at] = _A + seat
                    out[at + 1] = moves[street, seat, turn]
                    at += 2
    out[at] = _TAB
    at += 1
    for seat in range(seats):
        put = _number(text, starts[seat, 9], ends[seat, 9])
        win = _number(text, starts[seat, 10], ends[seat, 10])
        at = put_whole(win - put, out, at)
        out[at] = _COMMA if seat < seats - 1 else _TAB
        at += 1
    for seat in range(seats):
        at = put_bytes(text[starts[seat, 0] : ends[seat, 0]], out, at)
        out[at] = _TAB
        at += 1
    return at - 1
