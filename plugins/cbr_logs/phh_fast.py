"""Hands in the usual form of PHH turned into our text by compiled code.

The usual form has one `key = value` in a line, strings in single quotes, amounts as decimals and no
comments. Whatever is not quite that is left to `phh`, which also knows how to say what is wrong:
here nothing is refused, it is only not done.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from cbr_holdem.table import MOST_SEATS
from cbr_logs.compiled import put_bytes, put_whole

_KEYS = (
    b"variant",
    b"antes",
    b"blinds_or_straddles",
    b"min_bet",
    b"small_bet",
    b"big_bet",
    b"starting_stacks",
    b"finishing_stacks",
    b"actions",
    b"players",
    b"hand",
    b"_cbr_game",
)
(
    _VARIANT,
    _ANTES,
    _BLINDS,
    _MIN_BET,
    _SMALL_BET,
    _BIG_BET,
    _STACKS,
    _ENDS,
    _ACTIONS,
    _PLAYERS,
    _HAND,
    _GAME,
) = range(len(_KEYS))
_KEY_BYTES = np.frombuffer(b"".join(key.ljust(20, b"\0") for key in _KEYS), np.uint8).reshape(
    -1, 20
)
_KEY_LENGTHS = np.array([len(key) for key in _KEYS])
_TEXT = {
    word: np.frombuffer(word.encode(), np.uint8)
    for word in ("nolimit ", "limit ", " bets=", " cap=none", " unit=", "NT", "FT")
}
_NO_LIMIT, _LIMIT, _BETS, _NO_CAP, _UNIT, _NT, _FT = _TEXT.values()

_QUOTE, _DOUBLE, _TAB, _LINE, _SPACE = (ord(sign) for sign in "'\"\t\n ")
_OPEN, _CLOSE, _COMMA, _MINUS, _POINT, _SLASH = (ord(sign) for sign in "[],-./")
_ZERO, _NINE, _A, _HASH, _ASK, _BACK = (ord(sign) for sign in "09A#?\\")
_D, _P, _F, _C, _B, _R, _S, _M, _H = (ord(sign) for sign in "dpfcbrsmh")
#: More than can be whole chips; such hands are left to others.
_MOST_DIGITS = 14

_room = np.empty(1 << 16, np.uint8)


def fast_text(data: bytes) -> str | None:
    """The text of a hand, or None if it is not in the usual form."""
    if len(data) * 2 + 1000 > len(_room):
        return None
    length = _convert(np.frombuffer(data, np.uint8), _room)
    if length <= 0:
        return None
    try:
        return _room[:length].tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return None


@njit(cache=True)
def _convert(text: Any, out: Any) -> Any:
    """Write the hand into `out`; its length, or 0 if the text is not in the usual form."""
    start = np.full(len(_KEY_LENGTHS), -1, np.int64)
    stop = np.full(len(_KEY_LENGTHS), -1, np.int64)
    if not _find_values(text, start, stop) or start[_GAME] >= 0:
        return 0
    limit = _is(text, start[_VARIANT], stop[_VARIANT], _FT)
    if not limit and not _is(text, start[_VARIANT], stop[_VARIANT], _NT):
        return 0
    # All amounts as whole numbers, with the decimals that any of them has.
    decimals = np.zeros(1, np.int64)
    numbers = np.zeros((4, MOST_SEATS), np.int64)
    places = np.zeros((4, MOST_SEATS), np.int64)
    lists = (_STACKS, _BLINDS, _ANTES, _ENDS)
    seats = 0
    for row in range(4):
        key = lists[row]
        if start[key] < 0:
            if key == _ENDS:
                continue
            return 0
        count = _list(text, start[key], stop[key], numbers[row], places[row])
        if row == 0:
            seats = count
        if count != seats or seats < 2:
            return 0
        if row < 3:
            for seat in range(seats):
                decimals[0] = max(decimals[0], places[row, seat])
    bets = np.zeros(2, np.int64)
    bet_places = np.zeros(2, np.int64)
    for i in range(2):
        key = (_SMALL_BET if i == 0 else _BIG_BET) if limit else _MIN_BET
        if start[key] < 0:
            return 0
        bets[i], bet_places[i], end = _amount(text, start[key], stop[key])
        if bet_places[i] < 0 or end != stop[key] or bets[i] <= 0:
            return 0
        decimals[0] = max(decimals[0], bet_places[i])
    moves = np.empty(2 * (stop[_ACTIONS] - start[_ACTIONS]) + 100, np.uint8)
    holes = np.zeros((seats, 4), np.uint8)
    board = np.zeros(10, np.uint8)
    shown = np.zeros(1, np.int64)
    # Twice: the raises may have more decimals than the rest, and all are written with the same.
    length = _play(
        text, start[_ACTIONS], stop[_ACTIONS], seats, moves, holes, board, shown, decimals
    )
    if length < 0:
        return 0
    digits = decimals[0] if decimals[0] != 1 else 2
    if digits > 6:
        return 0
    if digits:
        decimals[0] = digits
        holes[:] = 0
        length = _play(
            text, start[_ACTIONS], stop[_ACTIONS], seats, moves, holes, board, shown, decimals
        )
    for row in range(4):
        for seat in range(seats):
            for _ in range(digits - places[row, seat]):
                numbers[row, seat] *= 10
            if places[row, seat] > digits:
                return 0
    for i in range(2):
        for _ in range(digits - bet_places[i]):
            bets[i] *= 10
    return _write(
        text,
        start,
        stop,
        out,
        limit,
        seats,
        numbers,
        bets,
        digits,
        moves[:length],
        holes,
        board,
        shown[0],
    )


@njit(cache=True)
def _find_values(text: Any, start: Any, stop: Any) -> Any:
    """Where the values of the keys are; false if a line is not `key = value` in the usual form."""
    i = 0
    size = len(text)
    while i < size:
        if text[i] == _LINE:
            i += 1
            continue
        first = i
        if text[i] == _SPACE or text[i] == _QUOTE:
            return False
        while i < size and text[i] != _SPACE and text[i] != _LINE:
            i += 1
        last = i
        if i + 3 >= size or text[i] != _SPACE or text[i + 1] != ord("=") or text[i + 2] != _SPACE:
            return False
        i += 3
        value = i
        while i < size and text[i] != _LINE:
            sign = text[i]
            if sign < 32 or sign in (_DOUBLE, _BACK):
                return False
            if sign == _QUOTE and text[i - 1] == _QUOTE:
                return False
            i += 1
        for key in range(len(_KEY_LENGTHS)):
            if last - first != _KEY_LENGTHS[key]:
                continue
            same = True
            for letter in range(last - first):
                same &= text[first + letter] == _KEY_BYTES[key, letter]
            if same:
                if start[key] >= 0:
                    return False
                start[key], stop[key] = value, i
    return start[_VARIANT] >= 0 and start[_ACTIONS] >= 0 and start[_PLAYERS] >= 0


@njit(cache=True)
def _is(text: Any, start: Any, stop: Any, word: Any) -> Any:
    """Whether a value is this word in quotes."""
    if stop - start != len(word) + 2 or text[start] != _QUOTE or text[stop - 1] != _QUOTE:
        return False
    same = True
    for i in range(len(word)):
        same &= text[start + 1 + i] == word[i]
    return same


@njit(cache=True)
def _amount(text: Any, i: Any, stop: Any) -> Any:
    """A decimal as a whole number, how many decimals it has (-1 if it is none), where it ends."""
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


@njit(cache=True)
def _list(text: Any, i: Any, stop: Any, numbers: Any, places: Any) -> Any:
    """A list of amounts; how many they are, -1 if it is something else."""
    if text[i] != _OPEN or text[stop - 1] != _CLOSE:
        return -1
    i += 1
    count = 0
    while i < stop:
        if count == MOST_SEATS:
            return -1
        numbers[count], places[count], i = _amount(text, i, stop)
        if places[count] < 0:
            return -1
        count += 1
        if text[i] == _CLOSE:
            return count if i == stop - 1 else -1
        if text[i] != _COMMA or text[i + 1] != _SPACE:
            return -1
        i += 2
    return -1


@njit(cache=True)
def _play(
    text: Any,
    i: Any,
    stop: Any,
    seats: Any,
    moves: Any,
    holes: Any,
    board: Any,
    shown: Any,
    decimals: Any,
) -> Any:
    """Cards and moves of a list of actions; the length of the moves, -1 if one is not usual.

    Raises are written with the decimals given; where they have more, `decimals` says so afterwards.
    """
    if text[i] != _OPEN or text[stop - 1] != _CLOSE:
        return -1
    i += 1
    at = 0
    cards = 0
    street = 0
    on_board = 0  # cards when the last player acted
    while i < stop - 1:
        if text[i] != _QUOTE:
            return -1
        end = i + 1
        while end < stop - 1 and text[end] != _QUOTE:
            if text[end] == _HASH:
                return -1
            end += 1
        if end >= stop - 1:
            return -1
        a = i + 1
        size = end - a
        i = end + 1
        if text[i] == _COMMA and text[i + 1] == _SPACE:
            i += 2
        elif i != stop - 1:
            return -1
        if size < 4:
            return -1
        if text[a] == _D:  # d dh p1 AhKs, d db Ah5sAc
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
                continue
            if text[a + 3] != _H:
                return -1
            seat, a = _seat(text, a + 5, end)
            if seat < 0 or seat >= seats or end - a != 4 or holes[seat, 0]:
                return -1
            unknown = False
            for letter in range(4):
                unknown |= text[a + letter] == _ASK
                if text[a + letter] == _SPACE:
                    return -1
            for letter in range(4):
                holes[seat, letter] = _ASK if unknown else text[a + letter]
            continue
        seat, a = _seat(text, a, end)
        if seat < 0 or seat >= seats or a >= end:
            return -1
        if text[a] == _S:  # sm, sm -, sm AhKs, sm ????
            if end - a < 2 or text[a + 1] != _M:
                return -1
            if end - a == 2 or (end - a == 4 and text[a + 3] == _MINUS and text[a + 2] == _SPACE):
                continue
            if end - a != 7 or text[a + 2] != _SPACE:
                return -1
            unknown = False
            for letter in range(a + 3, end):
                unknown |= text[letter] == _ASK
            if unknown:
                continue
            for letter in range(4):
                if (
                    holes[seat, letter] not in (0, _ASK)
                    and holes[seat, letter] != text[a + 3 + letter]
                ):
                    return -1  # perhaps the same cards in another order
                holes[seat, letter] = text[a + 3 + letter]
            continue
        if cards != on_board:
            now = 1 if cards == 6 else 2 if cards == 8 else 3 if cards == 10 else -1
            if now < 0:
                return -1
            while street < now:
                moves[at] = _SLASH
                at += 1
                street += 1
            on_board = cards
        moves[at] = _A + seat
        at += 1
        if text[a] == _F and end - a == 1:
            moves[at] = _F
            at += 1
        elif text[a] == _C and end - a == 2 and text[a + 1] == _C:
            moves[at] = _C
            at += 1
        elif text[a] == _C and end - a > 4 and text[a + 1] == _B and text[a + 2] == _R:
            amount, places, last = _amount(text, a + 4, end)
            if text[a + 3] != _SPACE or places < 0 or last != end or amount <= 0:
                return -1
            for _ in range(decimals[0] - places):
                amount *= 10
            decimals[0] = max(decimals[0], places)
            moves[at] = _R
            at = put_whole(amount, moves, at + 1)
        else:
            return -1
    if cards not in (0, 6, 8, 10):
        return -1
    shown[0] = cards
    return at


@njit(cache=True)
def _seat(text: Any, i: Any, stop: Any) -> Any:
    """The seat of `p3 `, and where what follows begins; -1 if it is none."""
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


@njit(cache=True)
def _row(numbers: Any, out: Any, at: Any) -> Any:
    for i in range(len(numbers)):
        if i:
            out[at] = _COMMA
            at += 1
        at = put_whole(numbers[i], out, at)
    return at


@njit(cache=True)
def _write(
    text: Any,
    start: Any,
    stop: Any,
    out: Any,
    limit: Any,
    seats: Any,
    numbers: Any,
    bets: Any,
    digits: Any,
    moves: Any,
    holes: Any,
    board: Any,
    shown: Any,
) -> Any:
    """The fields in the order of `Hand.text`; 0 if players or number are not usual."""
    at = 0
    if start[_HAND] >= 0:
        first, last = start[_HAND], stop[_HAND]
        quoted = text[first] == _QUOTE
        if quoted:
            first, last = first + 1, last - 1
            if last < first or text[last] != _QUOTE:
                return 0
        for i in range(first, last):
            if text[i] == _QUOTE or (not quoted and not _ZERO <= text[i] <= _NINE):
                return 0
            if text[i] > 126:
                return 0
        at = put_bytes(text[first:last], out, at)
    out[at] = _TAB
    stacks, posts, antes, ends = numbers[0], numbers[1], numbers[2], numbers[3]
    if seats == 2:  # the lists are turned round
        posts[0], posts[1] = posts[1], posts[0]
        antes[0], antes[1] = antes[1], antes[0]
    big = bets[0]
    blinds = 0
    small = np.int64(0)
    any_ante = False
    for seat in range(seats):
        if posts[seat] > 0:
            blinds += 1
            small = posts[seat] if blinds == 1 else min(small, posts[seat])
        any_ante |= antes[seat] != 0
    small = min(small, big) if blinds > 1 else np.int64(0)
    at = put_bytes(_LIMIT if limit else _NO_LIMIT, out, at + 1)
    at = put_whole(small, out, at)
    out[at] = _SLASH
    at = put_whole(big, out, at + 1)
    if limit:
        at = put_bytes(_BETS, out, at)
        at = _row(np.array([big, big, bets[1], bets[1]]), out, at)
        at = put_bytes(_NO_CAP, out, at)
    if digits:
        at = put_bytes(_UNIT, out, at)
        at = put_whole(10**digits, out, at)
    out[at] = _TAB
    at = _row(stacks[:seats], out, at + 1)
    out[at] = _TAB
    at = _row(posts[:seats], out, at + 1)
    out[at] = _TAB
    at += 1
    if any_ante:
        at = _row(antes[:seats], out, at)
    out[at] = _TAB
    at += 1
    for seat in range(seats):
        if seat:
            out[at] = _COMMA
            at += 1
        if holes[seat, 0] and holes[seat, 0] != _ASK:
            at = put_bytes(holes[seat], out, at)
    out[at] = _TAB
    at = put_bytes(board[:shown], out, at + 1)
    out[at] = _TAB
    at = put_bytes(moves, out, at + 1)
    out[at] = _TAB
    at += 1
    if start[_ENDS] >= 0:
        at = _row(ends[:seats] - stacks[:seats], out, at)
    return _names(text, start[_PLAYERS], stop[_PLAYERS], seats, out, at)


@njit(cache=True)
def _names(text: Any, i: Any, stop: Any, seats: Any, out: Any, at: Any) -> Any:
    """The players, a tab before each; where they end, 0 if they are not usual."""
    if text[i] != _OPEN or text[stop - 1] != _CLOSE:
        return 0
    i += 1
    count = 0
    while i < stop - 1:
        if text[i] != _QUOTE:
            return 0
        out[at] = _TAB
        at += 1
        i += 1
        first = i
        while i < stop - 1 and text[i] != _QUOTE:
            out[at] = text[i]
            at += 1
            i += 1
        if i >= stop - 1 or i == first:
            return 0
        count += 1
        i += 1
        if text[i] == _COMMA and text[i + 1] == _SPACE:
            i += 2
        elif i != stop - 1:
            return 0
    return at if count == seats else 0
