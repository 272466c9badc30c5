"""Compiled parser of PHH actions and amounts in their usual form (see `phh_fast`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr_logs.compiled import put_byte, put_whole

_QUOTE, _HASH, _ASK, _SPACE, _COMMA = (ord(sign) for sign in "'#? ,")
_OPEN, _CLOSE, _MINUS, _POINT, _SLASH = (ord(sign) for sign in "[]-./")
_ZERO, _NINE, _A = (ord(sign) for sign in "09A")
_D, _P, _F, _C, _B, _R, _S, _M, _H = (ord(sign) for sign in "dpfcbrsmh")
#: Most digits of an amount; hands with more are left to `phh`.
_MOST_DIGITS = 14


class Played(NamedTuple):
    """Output of `play`: the moves as in `Hand.text`, the letters of the hole cards [seats, 4] and
    of the board [10], the number of board letters `shown` [1], and the largest number of `decimals`
    [1] of an amount."""

    moves: Any
    holes: Any
    board: Any
    shown: Any
    decimals: Any


@njit
def amount_at(text: Any, i: Any, stop: Any) -> Any:
    """A decimal number as an integer, its number of decimals (-1 if it is not a number), and the
    position after it."""
    sign = np.int64(1)
    if i < stop and text[i] == _MINUS:
        sign = np.int64(-1)
        i += 1
    amount = np.int64(0)
    digits = 0
    after = -1
    while i < stop and (_ZERO <= text[i] <= _NINE or (text[i] == _POINT and after < 0)):
        if text[i] == _POINT:
            after = 0
            if digits == 0:
                return np.int64(0), np.int64(-1), i
        else:
            amount = 10 * amount + (text[i] - _ZERO)
            digits += 1
            if after >= 0:
                after += 1
        i += 1
    if digits == 0 or digits > _MOST_DIGITS or after == 0:
        return np.int64(0), np.int64(-1), i
    return sign * amount, np.int64(max(after, 0)), i


@njit
def play(text: Any, i: Any, stop: Any, played: Any) -> Any:
    """Parse a list of actions; returns the length of the moves, or -1 if one is not in usual form.

    Raises are written with `played.decimals` decimals, which is increased where one has more.
    """
    if text[i] != _OPEN or text[stop - 1] != _CLOSE:
        return -1
    moves, holes, board, shown, decimals = played
    seats = len(holes)
    i += 1
    at = 0
    cards = 0
    street = 0
    on_board = 0  # board letters when the last player acted
    while i < stop - 1:
        a, end, i = _quoted(text, i, stop)
        if end - a < 4:
            return -1
        if text[a] == _D:
            cards = _deal(text, a, end, holes, board, cards)
            if cards < 0:
                return -1
            continue
        seat, a = _seat(text, a, end)
        if seat < 0 or seat >= seats or a >= end:
            return -1
        if text[a] == _S:
            if not _show(text, a, end, holes[seat]):
                return -1
            continue
        if cards != on_board:
            now = 1 if cards == 6 else 2 if cards == 8 else 3 if cards == 10 else -1
            if now < 0:
                return -1
            while street < now:
                at = put_byte(_SLASH, moves, at)
                street += 1
            on_board = cards
        at = _act(text, a, end, decimals, moves, put_byte(_A + seat, moves, at))
        if at < 0:
            return -1
    if cards not in (0, 6, 8, 10):
        return -1
    shown[0] = cards
    return at


@njit
def _quoted(text: Any, i: Any, stop: Any) -> Any:
    """Start and end of the next action of a list, and the start of the one after it; the action is
    empty if the list is not in the usual form."""
    nothing = i, i, stop
    if text[i] != _QUOTE:
        return nothing
    end = i + 1
    while end < stop - 1 and text[end] != _QUOTE:
        if text[end] == _HASH:
            return nothing
        end += 1
    if end >= stop - 1:
        return nothing
    after = end + 1
    if text[after] == _COMMA and text[after + 1] == _SPACE:
        after += 2
    elif after != stop - 1:
        return nothing
    return i + 1, end, after


@njit
def _deal(text: Any, a: Any, end: Any, holes: Any, board: Any, cards: Any) -> Any:
    """Parse dealt cards, `d dh p1 AhKs` or `d db Ah5sAc`; returns the number of board letters, or
    -1 if not in usual form."""
    size = end - a
    if text[a + 1] != _SPACE or text[a + 2] != _D or text[a + 4] != _SPACE:
        return -1
    if text[a + 3] == _B:
        if (size - 5) % 2 or cards + size - 5 > 10:
            return -1
        for letter in range(a + 5, end):
            if text[letter] == _ASK or text[letter] == _SPACE:
                return -1
            board[cards] = text[letter]
            cards += 1
        return cards
    if text[a + 3] != _H:
        return -1
    seat, a = _seat(text, a + 5, end)
    if seat < 0 or seat >= len(holes) or end - a != 4 or holes[seat, 0]:
        return -1
    unknown = False
    for letter in range(4):
        unknown |= text[a + letter] == _ASK
        if text[a + letter] == _SPACE:
            return -1
    for letter in range(4):
        holes[seat, letter] = _ASK if unknown else text[a + letter]
    return cards


@njit
def _show(text: Any, a: Any, end: Any, hole: Any) -> Any:
    """Parse shown cards, `sm`, `sm -`, `sm AhKs` or `sm ????`, into hole [4]; false if not in usual
    form."""
    if end - a < 2 or text[a + 1] != _M:
        return False
    if end - a == 2 or (end - a == 4 and text[a + 3] == _MINUS and text[a + 2] == _SPACE):
        return True
    if end - a != 7 or text[a + 2] != _SPACE:
        return False
    for letter in range(a + 3, end):
        if text[letter] == _ASK:
            return True
    for letter in range(4):
        if hole[letter] not in (0, _ASK) and hole[letter] != text[a + 3 + letter]:
            return False  # perhaps the same cards in another order
        hole[letter] = text[a + 3 + letter]
    return True


@njit
def _act(text: Any, a: Any, end: Any, decimals: Any, moves: Any, at: Any) -> Any:
    """Write an action, `f`, `cc` or `cbr 40`, into the moves; returns the position after it, or -1
    if not in usual form."""
    if text[a] == _F and end - a == 1:
        return put_byte(_F, moves, at)
    if text[a] != _C:
        return -1
    if end - a == 2 and text[a + 1] == _C:
        return put_byte(_C, moves, at)
    if end - a <= 4 or text[a + 1] != _B or text[a + 2] != _R:
        return -1
    amount, places, last = amount_at(text, a + 4, end)
    if text[a + 3] != _SPACE or places < 0 or last != end or amount <= 0:
        return -1
    for _ in range(decimals[0] - places):
        amount *= 10
    decimals[0] = max(decimals[0], places)
    return put_whole(amount, moves, put_byte(_R, moves, at))


@njit
def _seat(text: Any, i: Any, stop: Any) -> Any:
    """The seat of `p3 ` (-1 if it is not a seat), and the position after it."""
    if text[i] != _P or i + 1 >= stop or not _ZERO < text[i + 1] <= _NINE:
        return np.int64(-1), i
    seat = np.int64(text[i + 1]) - _ZERO
    i += 2
    if i < stop and text[i] == _ZERO and seat == 1:
        seat = np.int64(10)
        i += 1
    if i >= stop or text[i] != _SPACE:
        return np.int64(-1), i
    return seat - 1, i + 1
