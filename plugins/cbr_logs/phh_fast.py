"""Fast path for PHH: converts hands in the usual form to `Hand.text` in compiled code.

The usual form has one `key = value` in a line, strings in single quotes, amounts as decimals and no
comments. For any other hand it returns None, and `phh` reads the hand or reports what is wrong.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr_holdem.table import MOST_SEATS
from cbr_logs.compiled import put_byte, put_bytes, put_whole
from cbr_logs.phh_actions import Played, amount_at, play

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
_OPEN, _CLOSE, _COMMA, _SLASH, _BACK = (ord(sign) for sign in "[],/\\")
_ZERO, _NINE, _ASK = (ord(sign) for sign in "09?")

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


class _Money(NamedTuple):
    """The amounts of a hand as integers with `digits` decimals: `numbers` [4, 10] are stacks,
    posts, antes and finishing stacks, `bets` [2] the small and the big bet."""

    limit: Any
    seats: Any
    numbers: Any
    bets: Any
    digits: Any


@njit
def _convert(text: Any, out: Any) -> Any:
    """Write the hand into `out`; returns its length, or 0 if it is not in the usual form."""
    start = np.full(len(_KEY_LENGTHS), -1, np.int64)
    stop = np.full(len(_KEY_LENGTHS), -1, np.int64)
    if not _find_values(text, start, stop) or start[_GAME] >= 0:
        return 0
    limit = _is(text, start[_VARIANT], stop[_VARIANT], _FT)
    if not limit and not _is(text, start[_VARIANT], stop[_VARIANT], _NT):
        return 0
    # All amounts become integers with the largest number of decimals of any of them.
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
        bets[i], bet_places[i], end = amount_at(text, start[key], stop[key])
        if bet_places[i] < 0 or end != stop[key] or bets[i] <= 0:
            return 0
        decimals[0] = max(decimals[0], bet_places[i])
    played = Played(
        moves=np.empty(2 * (stop[_ACTIONS] - start[_ACTIONS]) + 100, np.uint8),
        holes=np.zeros((seats, 4), np.uint8),
        board=np.zeros(10, np.uint8),
        shown=np.zeros(1, np.int64),
        decimals=decimals,
    )
    # Parsed twice: raises may have more decimals than the rest, and all amounts are written alike.
    length = play(text, start[_ACTIONS], stop[_ACTIONS], played)
    if length < 0:
        return 0
    digits = decimals[0] if decimals[0] != 1 else 2
    if digits > 6:
        return 0
    if digits:
        decimals[0] = digits
        played.holes[:] = 0
        length = play(text, start[_ACTIONS], stop[_ACTIONS], played)
    for row in range(4):
        for seat in range(seats):
            for _ in range(digits - places[row, seat]):
                numbers[row, seat] *= 10
            if places[row, seat] > digits:
                return 0
    for i in range(2):
        for _ in range(digits - bet_places[i]):
            bets[i] *= 10
    money = _Money(limit, seats, numbers, bets, digits)
    return _write(text, start, stop, money, played, length, out)


@njit
def _find_values(text: Any, start: Any, stop: Any) -> Any:
    """Find the positions of the values by key; false if a line is not `key = value` in the usual
    form."""
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


@njit
def _is(text: Any, start: Any, stop: Any, word: Any) -> Any:
    """Whether a value is this word in quotes."""
    if stop - start != len(word) + 2 or text[start] != _QUOTE or text[stop - 1] != _QUOTE:
        return False
    same = True
    for i in range(len(word)):
        same &= text[start + 1 + i] == word[i]
    return same


@njit
def _list(text: Any, i: Any, stop: Any, numbers: Any, places: Any) -> Any:
    """Parse a list of amounts; returns their number, or -1 if it is something else."""
    if text[i] != _OPEN or text[stop - 1] != _CLOSE:
        return -1
    i += 1
    count = 0
    while i < stop:
        if count == MOST_SEATS:
            return -1
        numbers[count], places[count], i = amount_at(text, i, stop)
        if places[count] < 0:
            return -1
        count += 1
        if text[i] == _CLOSE:
            return count if i == stop - 1 else -1
        if text[i] != _COMMA or text[i + 1] != _SPACE:
            return -1
        i += 2
    return -1


@njit
def _row(numbers: Any, out: Any, at: Any) -> Any:
    for i in range(len(numbers)):
        if i:
            out[at] = _COMMA
            at += 1
        at = put_whole(numbers[i], out, at)
    return at


@njit
def _write(text: Any, start: Any, stop: Any, money: Any, played: Any, length: Any, out: Any) -> Any:
    """Write the fields in the order of `Hand.text`; returns the length, or 0 if players or number
    are not in the usual form."""
    at = _write_number(text, start[_HAND], stop[_HAND], out)
    if at < 0:
        return 0
    _limit, seats, numbers, _bets, _digits = money
    stacks, posts, antes, ends = numbers[0], numbers[1], numbers[2], numbers[3]
    if seats == 2:  # the lists are reversed
        posts[0], posts[1] = posts[1], posts[0]
        antes[0], antes[1] = antes[1], antes[0]
    at = _write_game(money, out, put_byte(_TAB, out, at))
    at = _row(stacks[:seats], out, put_byte(_TAB, out, at))
    at = _row(posts[:seats], out, put_byte(_TAB, out, at))
    at = put_byte(_TAB, out, at)
    if antes[:seats].any():
        at = _row(antes[:seats], out, at)
    at = put_byte(_TAB, out, at)
    moves, holes, board, shown, _decimals = played
    for seat in range(seats):
        if seat:
            at = put_byte(_COMMA, out, at)
        if holes[seat, 0] and holes[seat, 0] != _ASK:
            at = put_bytes(holes[seat], out, at)
    at = put_bytes(board[: shown[0]], out, put_byte(_TAB, out, at))
    at = put_bytes(moves[:length], out, put_byte(_TAB, out, at))
    at = put_byte(_TAB, out, at)
    if start[_ENDS] >= 0:
        at = _row(ends[:seats] - stacks[:seats], out, at)
    return _names(text, start[_PLAYERS], stop[_PLAYERS], seats, out, at)


@njit
def _write_number(text: Any, first: Any, last: Any, out: Any) -> Any:
    """Write the number of the hand, if it has one; returns the position after it, or -1 if it is
    not in the usual form."""
    if first < 0:
        return 0
    quoted = text[first] == _QUOTE
    if quoted:
        first, last = first + 1, last - 1
        if last < first or text[last] != _QUOTE:
            return -1
    for i in range(first, last):
        if text[i] == _QUOTE or (not quoted and not _ZERO <= text[i] <= _NINE):
            return -1
        if text[i] > 126:
            return -1
    return put_bytes(text[first:last], out, 0)


@njit
def _write_game(money: Any, out: Any, at: Any) -> Any:
    """Write the game in the format of `game_text`."""
    limit, seats, numbers, bets, digits = money
    posts, big = numbers[1], bets[0]
    blinds = 0
    small = np.int64(0)
    for seat in range(seats):
        if posts[seat] > 0:
            blinds += 1
            small = posts[seat] if blinds == 1 else min(small, posts[seat])
    small = min(small, big) if blinds > 1 else np.int64(0)
    at = put_bytes(_LIMIT if limit else _NO_LIMIT, out, at)
    at = put_whole(small, out, at)
    at = put_whole(big, out, put_byte(_SLASH, out, at))
    if limit:
        at = put_bytes(_BETS, out, at)
        at = _row(np.array([big, big, bets[1], bets[1]]), out, at)
        at = put_bytes(_NO_CAP, out, at)
    if digits:
        at = put_bytes(_UNIT, out, at)
        at = put_whole(10**digits, out, at)
    return at


@njit
def _names(text: Any, i: Any, stop: Any, seats: Any, out: Any, at: Any) -> Any:
    """Write the players, a tab before each; returns the position after them, or 0 if they are not
    in the usual form."""
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
