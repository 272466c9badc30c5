"""Texts of many hands read into arrays by compiled code.

`HandArrays.read` takes texts as `Hand.text` writes them. Texts that the compiled code cannot read
are read again by `Hand.read` and `verify_hand`, which give the reason.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue
from cbr.jit import njit
from cbr_holdem.cards.numbering import RANKS, SUITS, UNKNOWN, cards, name
from cbr_holdem.table.game import BOARD_CARDS, MOST_CHIPS, MOST_SEATS, Game, Terms
from cbr_holdem.table.hand import FIELDS, Hand, read_game, verify_names

_TAB, _COMMA, _MINUS, _POINT, _SLASH = (ord(sign) for sign in "\t,-./")
_ZERO, _NINE, _FIRST, _LAST = (ord(sign) for sign in "09AJ")
_FOLD, _CALL, _RAISE = (ord(sign) for sign in "fcr")
_RANK = np.full(256, -1, np.int64)
_RANK[[ord(rank) for rank in RANKS]] = np.arange(13)
_SUIT = np.full(256, -1, np.int64)
_SUIT[[ord(suit) for suit in SUITS]] = np.arange(4)


@dataclass(frozen=True)
class HandArrays:
    """n hands that can be replayed; `place` [n] is the index of each one among the given texts.

    `deck` [n, 25] are the holes of the seats and after them the board, UNKNOWN where not seen;
    `result` [n, 10] is NaN where the log gives none; the actions of hand i are
    `text[start[i]:end[i]]`. `rejected` has the reason for each text that is not a valid hand.
    """

    place: NDArray[np.int64]
    terms: NDArray[np.int64]
    seats: NDArray[np.int64]
    stacks: NDArray[np.int64]
    posts: NDArray[np.int64]
    antes: NDArray[np.int64]
    deck: NDArray[np.int64]
    result: NDArray[np.float64]
    players: NDArray[Any]
    text: NDArray[np.uint8]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    rejected: dict[int, str]

    @classmethod
    def read(cls, texts: Sequence[str]) -> HandArrays:
        """Read hands from texts."""
        count = len(texts)
        stacks, posts, antes = (np.zeros((count, MOST_SEATS), np.int64) for _ in range(3))
        deck = np.full((count, 2 * MOST_SEATS + 5), UNKNOWN, np.int64)
        result = np.full((count, MOST_SEATS), np.nan)
        seats, start, end = (np.zeros(count, np.int64) for _ in range(3))
        good = np.zeros(count, bool)
        # A line break inside a text would end it; as a control character it is refused.
        lined = [text.replace("\n", "\x00") if "\n" in text else text for text in texts]
        raw = "\n".join(lined).encode("utf-8", "replace") + b"\n"
        text = np.frombuffer(raw, np.uint8)
        lines = np.flatnonzero(text == 10)
        first = np.concatenate([[0], lines + 1])[:count]
        found = (seats, stacks, posts, antes, deck, result, start, end, good)
        _read_all(text, first, lines[:count], found)
        terms: list[Terms] = []
        players = np.full((count, MOST_SEATS), "", object)
        rejected: dict[int, str] = {}
        for place, body in enumerate(texts):
            fields = body.split("\t")
            names = fields[FIELDS:]
            try:
                if not good[place] or len(set(names)) != len(names):
                    verify_hand(Hand.read(body))
                    if not good[place]:
                        raise BadValue("the hand is written in a way that cannot be read")
                terms.append(_terms(fields[1]))
                players[place, : len(names)] = names
            except BadValue as error:
                rejected[place] = str(error)
        kept = np.array([place for place in range(count) if place not in rejected], np.int64)
        return cls(
            kept,
            np.array(terms or [Game().terms], np.int64)[: len(kept)],
            seats[kept],
            stacks[kept],
            posts[kept],
            antes[kept],
            deck[kept],
            result[kept],
            players[kept],
            text,
            start[kept],
            end[kept],
            rejected,
        )

    def taken(self, at: NDArray[np.int64]) -> HandArrays:
        """The hands at these places."""
        per_hand = {
            field.name: getattr(self, field.name)[at]
            for field in dataclasses.fields(self)
            if field.name not in {"text", "rejected"}
        }
        return HandArrays(**per_hand, text=self.text, rejected=self.rejected)


@lru_cache(maxsize=1000)
def _terms(game: str) -> Terms:
    return read_game(game)[0].terms


def verify_hand(hand: Hand) -> None:
    """Check everything about a hand except its actions."""
    seats = len(hand.stacks)
    verify_names(hand.players)
    for stack in hand.stacks:
        if not 0 < stack <= MOST_CHIPS:
            raise BadValue(f"a stack is {stack}; it must be from 1 to {MOST_CHIPS:,} chips")
    if not all(0 <= ante <= MOST_CHIPS for ante in hand.antes):
        raise BadValue(f"antes are {list(hand.antes)}; they must be 0 or more")
    if not all(abs(post) <= MOST_CHIPS for post in hand.posts):
        raise BadValue(f"posts are {list(hand.posts)}, more than {MOST_CHIPS:,} chips")
    for hole in hand.holes:
        if hole and len(cards(hole)) != 2:
            raise BadValue(f"a player holds {hole!r}, not two cards")
    board = cards(hand.board)
    if len(board) not in BOARD_CARDS:
        raise BadValue(f"the board has {len(board)} cards; it must be 0, 3, 4 or 5")
    known = [card for hole in hand.holes for card in cards(hole)] + board
    for card in known:
        if known.count(card) > 1:
            raise BadValue(f"{name(card)} is twice in the hands and the board")
    if hand.result is not None and not np.isfinite(hand.result).all():
        raise BadValue(f"the log gives a result of {hand.result}, which is not in numbers")
    if len(hand.holes) != seats:
        raise BadValue(f"{len(hand.holes)} hands of cards for {seats} players")


@njit
def _read_all(text: Any, first: Any, last: Any, found: Any) -> None:
    """Fill the arrays of `found` from the lines of a text."""
    seats, stacks, posts, antes, deck, result, start, end, good = found
    tabs = np.empty(FIELDS + 1, np.int64)
    for h in range(len(first)):
        # Where the fields begin and end; the players are after the last of them.
        n = 0
        strange = False
        for i in range(first[h], last[h]):
            if text[i] == _TAB:
                if n < FIELDS:
                    tabs[n] = i
                n += 1
                # A player without a name.
                strange |= n >= FIELDS and (i + 1 == last[h] or text[i + 1] == _TAB)
            strange |= (text[i] < 32 and text[i] != _TAB) or text[i] == 127
        players = n - FIELDS + 1
        if players < 2 or players > MOST_SEATS or strange:
            continue
        seats[h] = players
        good[h] = (
            _whole(text, tabs[1] + 1, tabs[2], players, 1, stacks[h])
            and _whole(text, tabs[2] + 1, tabs[3], players, -MOST_CHIPS, posts[h])
            and (tabs[4] == tabs[3] + 1 or _whole(text, tabs[3] + 1, tabs[4], players, 0, antes[h]))
            and _cards(text, tabs[4] + 1, tabs[5], tabs[6], players, deck[h])
            and _moves(text, tabs[6] + 1, tabs[7])
            and (tabs[8] == tabs[7] + 1 or _parts(text, tabs[7] + 1, tabs[8], players, result[h]))
        )
        start[h], end[h] = tabs[6] + 1, tabs[7]


@njit
def _digits(text: Any, i: Any, stop: Any, amount: Any, digits: Any) -> Any:
    """Append the digits from i on to `amount`; returns it, its number of digits, and their end."""
    while i < stop and _ZERO <= text[i] <= _NINE:
        amount = 10 * amount + (text[i] - _ZERO)
        digits += 1
        i += 1
    return amount, digits, i


@njit
def _whole(text: Any, i: Any, stop: Any, seats: Any, least: Any, out: Any) -> Any:
    """Whole numbers between commas, one for each seat, none less than `least`."""
    seat = 0
    while i <= stop:
        sign = 1
        if i < stop and text[i] == _MINUS:
            sign = -1
            i += 1
        amount, digits, i = _digits(text, i, stop, np.int64(0), 0)
        amount *= sign
        if seat >= seats or digits < 1 or digits > 15 or (i < stop and text[i] != _COMMA):
            return False
        if amount < least or amount > MOST_CHIPS:
            return False
        out[seat] = amount
        seat += 1
        i += 1
    return seat == seats


@njit
def _parts(text: Any, i: Any, stop: Any, seats: Any, out: Any) -> Any:
    """Decimal numbers between commas, one for each seat."""
    seat = 0
    while i <= stop:
        sign = 1.0
        if i < stop and text[i] == _MINUS:
            sign = -1.0
            i += 1
        amount, digits, i = _digits(text, i, stop, np.int64(0), 0)
        part = 1.0
        if i < stop and text[i] == _POINT:
            point, before = i, digits
            amount, digits, i = _digits(text, point + 1, stop, amount, digits)
            for _ in range(digits - before):
                part *= 10.0
        if seat >= seats or digits < 1 or digits > 17 or (i < stop and text[i] != _COMMA):
            return False
        out[seat] = sign * amount / part
        seat += 1
        i += 1
    return seat == seats


@njit
def _cards(text: Any, i: Any, middle: Any, stop: Any, seats: Any, out: Any) -> Any:
    """Two cards or none for each seat, between commas, and after a tab the board; none twice."""
    seen = np.int64(0)
    seat = 0
    while i <= middle:
        held = 0
        while i < middle and text[i] != _COMMA:
            card = _card(text, i, middle)
            if card < 0 or held == 2 or seat >= seats or seen >> card & 1:
                return False
            seen |= np.int64(1) << card
            out[2 * seat + held] = card
            held += 1
            i += 2
        if held == 1:
            return False
        seat += 1
        i += 1
    if seat != seats:
        return False
    shown = 0
    while i < stop:
        card = _card(text, i, stop)
        if card < 0 or shown == 5 or seen >> card & 1:
            return False
        seen |= np.int64(1) << card
        out[2 * seats + shown] = card
        shown += 1
        i += 2
    return shown == 0 or shown >= 3


@njit
def _card(text: Any, i: Any, stop: Any) -> Any:
    if i + 1 >= stop:
        return np.int64(-1)
    rank, suit = _RANK[text[i]], _SUIT[text[i + 1]]
    return 4 * rank + suit if rank >= 0 and suit >= 0 else np.int64(-1)


@njit
def _moves(text: Any, i: Any, stop: Any) -> Any:
    """Whether text[i:stop] are actions: f, c, r with up to 15 digits, seats' letters, and /."""
    while i < stop:
        if text[i] == _SLASH:
            i += 1
            continue
        if _FIRST <= text[i] <= _LAST:
            i += 1
            if i == stop:
                return False
        kind = text[i]
        i += 1
        if kind == _RAISE:
            digits = 0
            while i < stop and _ZERO <= text[i] <= _NINE:
                digits += 1
                i += 1
            if digits > 15:
                return False
        elif kind not in (_FOLD, _CALL):
            return False
    return True
