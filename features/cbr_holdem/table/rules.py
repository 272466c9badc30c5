"""The rules, for many tables at once: arrays of state, and one step for each table.

Seats are numbered in the order of play after the flop: seat 0 is left of the button, which is the
last seat. With three or more players seat 0 posts the small blind and seat 1 the big one; heads-up
the button (seat 1) posts the small blind and acts first before the flop.

An action is FOLD, CALL (a check where there is nothing to call) or RAISE (a bet where there is
none) with the amount that the player's bet on this street is raised to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cbr_holdem.cards.evaluator import (
    CARD_KEYS,
    EMPTY,
    FLUSH_BITS,
    seven_strength,
    strength_of_key,
)
from cbr_holdem.table.game import (
    ACPC,
    ANTE,
    BET_SIZES,
    BIG_BLIND,
    LIMIT,
    MOST_RAISES,
    MOST_SEATS,
    POT_LIMIT,
    SMALL_BLIND,
)

FOLD, CALL, RAISE = 0, 1, 2
#: Actions that a hand's history has room for; raising wars end before it is full.
MOST_MOVES = 256
#: Payoffs are kept in so many parts of a chip: a pot can be split exactly among up to ten.
PARTS = 2520

# A table is one row of whole numbers, so that compiled code passes one array and a copy is a
# state that can be played on from. Where its parts begin (per seat: ten columns):
SEATS, STREET, ACTOR = 0, 1, 2  # number of seats; 0 to 3; the seat to act, -1 when it is over
RAISE_BY = 3  # the largest raise of this street
RAISES = 4  # bets and raises of this street
SHORT = 5  # sum of all-in raises that were not full, one after the other
LEAST_TO = 6  # acpc: the least amount to raise to
MOVES = 7  # actions so far
TOP = 8  # the highest bet of this street
PLAYERS = 9  # who have not folded
STACK = 10
BET = 20  # chips put in on this street
PAID = 30  # and in the whole hand
FOLDED = 40
PENDING = 50  # has still to act in this round
ACTED = 60  # has acted since the last full raise
PAYOFF = 70  # parts of chips won or lost, when the hand is over
STRENGTH = 80  # of the hands that came to the end
LIVE = 90  # wins a part of a pot
HOLE = 100  # two cards for each seat
BOARD = 120  # all five cards; how many show depends on the street
HISTORY = 125  # amount << 8 | street << 6 | kind << 4 | seat; a raise has what it raised to
WIDTH = HISTORY + MOST_MOVES


@dataclass(frozen=True)
class Tables:
    """n tables: `rows` [n, WIDTH], and its parts by name."""

    rows: NDArray[np.int64]

    @property
    def actor(self) -> NDArray[np.int64]:
        return self.rows[:, ACTOR]

    @property
    def street(self) -> NDArray[np.int64]:
        return self.rows[:, STREET]

    @property
    def stack(self) -> NDArray[np.int64]:
        return self._seats(STACK)

    @property
    def bet(self) -> NDArray[np.int64]:
        return self._seats(BET)

    @property
    def paid(self) -> NDArray[np.int64]:
        return self._seats(PAID)

    @property
    def folded(self) -> NDArray[np.bool_]:
        return self._seats(FOLDED).astype(bool)

    @property
    def payoff(self) -> NDArray[np.float64]:
        """Chips won or lost."""
        return self._seats(PAYOFF) / PARTS

    def _seats(self, first: int) -> NDArray[np.int64]:
        return self.rows[:, first : first + MOST_SEATS]

    def history(self, table: int) -> list[tuple[int, int, int, int]]:
        """The actions of a hand: street, seat, kind and amount (a call's price, a raise's to)."""
        packed = self.rows[table, HISTORY : HISTORY + int(self.rows[table, MOVES])].tolist()
        return [(m >> 6 & 3, m & 15, m >> 4 & 3, m >> 8) for m in packed]


def new_tables(count: int) -> Tables:
    """So many tables, at which no hand has begun."""
    rows = np.zeros((count, WIDTH), np.int64)
    rows[:, ACTOR] = -1
    return Tables(rows)


@njit(cache=True)
def _put_in(s: Any, i: Any, seat: Any, amount: Any) -> None:
    s[i, STACK + seat] -= amount
    s[i, BET + seat] += amount
    s[i, PAID + seat] += amount
    s[i, TOP] = max(s[i, TOP], s[i, BET + seat])


@njit(cache=True)
def to_call(s: Any, i: Any) -> Any:
    """What the actor must put in to call, as far as his stack goes."""
    seat = s[i, ACTOR]
    return min(s[i, STACK + seat], s[i, TOP] - s[i, BET + seat])


@njit(cache=True)
def raise_limits(s: Any, i: Any, terms: Any) -> Any:
    """The least and the greatest amount that the actor may raise to; (0, 0) if he may not."""
    seat = s[i, ACTOR]
    top = s[i, TOP]
    call = min(s[i, STACK + seat], top - s[i, BET + seat])
    if (
        s[i, RAISES] >= terms[MOST_RAISES + s[i, STREET]]
        or s[i, STACK + seat] <= top - s[i, BET + seat]
    ):
        return np.int64(0), np.int64(0)
    if not terms[ACPC]:
        # A short all-in does not reopen the betting for those who have acted.
        if call < s[i, RAISE_BY]:
            return np.int64(0), np.int64(0)
        if 0 < s[i, SHORT] < s[i, RAISE_BY] and s[i, ACTED + seat]:
            return np.int64(0), np.int64(0)
    someone = False
    for other in range(s[i, SEATS]):
        if other != seat and not s[i, FOLDED + other]:
            someone |= s[i, STACK + other] + s[i, BET + other] > top
    if not someone:
        return np.int64(0), np.int64(0)
    everything = s[i, STACK + seat] + s[i, BET + seat]
    size = terms[BET_SIZES + s[i, STREET]]
    if terms[ACPC] and not terms[LIMIT]:
        least = s[i, LEAST_TO]
    elif terms[ACPC]:
        least = top + size
    else:
        least = top + max(s[i, RAISE_BY], size)
    least = min(least, everything)
    if terms[LIMIT]:
        return least, least
    if terms[POT_LIMIT]:
        pot = np.int64(0)
        for other in range(s[i, SEATS]):
            pot += s[i, PAID + other]
        return least, min(everything, max(least, 2 * top - s[i, BET + seat] + pot))
    return least, everything


@njit(cache=True)
def _begin_round(s: Any, i: Any, opener: Any, terms: Any) -> None:
    """Who has to act on this street, from the opener on; -1 as actor if nobody has."""
    n = s[i, SEATS]
    s[i, RAISE_BY] = 0
    s[i, RAISES] = 0
    s[i, SHORT] = 0
    top = s[i, TOP]
    s[i, LEAST_TO] = top + terms[BIG_BLIND]
    # Nobody can win or lose more than the second deepest of those who are in.
    deepest = np.int64(0)
    second = np.int64(0)
    for seat in range(n):
        if not s[i, FOLDED + seat]:
            deep = s[i, STACK + seat] + s[i, BET + seat]
            if deep > deepest:
                deepest, second = deep, deepest
            elif deep > second:
                second = deep
    waiting = 0
    last = -1
    for seat in range(n):
        s[i, ACTED + seat] = False
        can_lose = s[i, STACK + seat] > 0 and second > s[i, BET + seat]
        waits = not s[i, FOLDED + seat] and can_lose
        s[i, PENDING + seat] = waits
        if waits:
            waiting += 1
            last = seat
    if waiting == 1 and s[i, BET + last] >= top:
        s[i, PENDING + last] = False
        waiting = 0
    s[i, ACTOR] = -1
    if waiting:
        for step in range(n):
            seat = (opener + step) % n
            if s[i, PENDING + seat]:
                s[i, ACTOR] = seat
                return


@njit(cache=True)
def deal(s: Any, i: Any, terms: Any, seats: Any, stacks: Any, deck: Any) -> None:
    """Begin a hand at table i: stacks [seats], deck: 2 cards for each seat, 5 for the board."""
    s[i, SEATS] = seats
    s[i, STREET] = 0
    s[i, MOVES] = 0
    s[i, TOP] = 0
    s[i, PLAYERS] = seats
    for seat in range(MOST_SEATS):
        s[i, STACK + seat] = stacks[seat] if seat < seats else 0
        s[i, BET + seat] = 0
        s[i, PAID + seat] = 0
        s[i, PAYOFF + seat] = 0
        s[i, FOLDED + seat] = seat >= seats
        if seat < seats:
            s[i, HOLE + 2 * seat] = deck[2 * seat]
            s[i, HOLE + 2 * seat + 1] = deck[2 * seat + 1]
    for place in range(5):
        s[i, BOARD + place] = deck[2 * seats + place]
    for seat in range(seats):
        ante = min(terms[ANTE], s[i, STACK + seat])
        s[i, STACK + seat] -= ante
        s[i, PAID + seat] += ante
    small, big = (1, 0) if seats == 2 else (0, 1)
    _put_in(s, i, small, min(terms[SMALL_BLIND], s[i, STACK + small]))
    _put_in(s, i, big, min(terms[BIG_BLIND], s[i, STACK + big]))
    _begin_round(s, i, (big + 1) % seats, terms)
    if s[i, ACTOR] < 0:
        _next_street(s, i, terms)


@njit(cache=True)
def _next_street(s: Any, i: Any, terms: Any) -> None:
    """Go on to the next round in which somebody has to act, or to the end of the hand."""
    while True:
        for seat in range(s[i, SEATS]):
            s[i, BET + seat] = 0
        s[i, TOP] = 0
        if s[i, PLAYERS] <= 1 or s[i, STREET] == 3:
            _settle(s, i, terms)
            return
        s[i, STREET] += 1
        _begin_round(s, i, 0, terms)
        if s[i, ACTOR] >= 0:
            return


@njit(cache=True)
def _settle(s: Any, i: Any, terms: Any) -> None:
    """Share out the pots: each level of money among the best of those who put in as much."""
    n = s[i, SEATS]
    s[i, ACTOR] = -1
    even = True  # everybody who is in has put in the same, and nobody more
    most = np.int64(0)
    for seat in range(n):
        most = max(most, s[i, PAID + seat])
    board_key = EMPTY
    for place in range(5):
        board_key += CARD_KEYS[s[i, BOARD + place]]
    for seat in range(n):
        s[i, PAYOFF + seat] = -PARTS * s[i, PAID + seat]
        s[i, STRENGTH + seat] = 0
        if not s[i, FOLDED + seat]:
            even &= s[i, PAID + seat] == most
            if s[i, PLAYERS] > 1:
                key = board_key + CARD_KEYS[s[i, HOLE + 2 * seat]]
                key += CARD_KEYS[s[i, HOLE + 2 * seat + 1]]
                if key & FLUSH_BITS:
                    hole = s[i, HOLE + 2 * seat : HOLE + 2 * seat + 2]
                    s[i, STRENGTH + seat] = strength_of_key(key, hole, s[i, BOARD : BOARD + 5])
                else:
                    s[i, STRENGTH + seat] = seven_strength(key)
    if even:
        pot = np.int64(0)
        best = np.int64(-1)
        for seat in range(n):
            pot += s[i, PAID + seat]
            s[i, LIVE + seat] = not s[i, FOLDED + seat]
            if s[i, LIVE + seat]:
                best = max(best, s[i, STRENGTH + seat])
        _share(s, i, terms, pot, most, best)
        return
    # A hand that wins no pot is dead, and pots that differ only by dead hands are one pot.
    for seat in range(n):
        s[i, LIVE + seat] = False
    _share_levels(s, i, terms, True)
    _share_levels(s, i, terms, False)


@njit(cache=True)
def _share_levels(s: Any, i: Any, terms: Any, look: Any) -> None:
    """Go through the levels of money; `look` marks who wins something, else it is shared out."""
    n = s[i, SEATS]
    level = np.int64(0)
    pot = np.int64(0)
    while True:
        upper = np.int64(-1)
        for seat in range(n):
            if s[i, PAID + seat] > level and (upper < 0 or s[i, PAID + seat] < upper):
                upper = s[i, PAID + seat]
        if upper < 0:
            return
        here = 0
        further = 0
        best = np.int64(-1)
        for seat in range(n):
            pot += max(np.int64(0), min(s[i, PAID + seat], upper) - level)
            if not s[i, FOLDED + seat] and (look or s[i, LIVE + seat]):
                here += s[i, PAID + seat] >= upper
                further += s[i, PAID + seat] > upper
                if s[i, PAID + seat] >= upper:
                    best = max(best, s[i, STRENGTH + seat])
        level = upper
        if look:
            for seat in range(n):
                wins = not s[i, FOLDED + seat] and s[i, PAID + seat] >= upper
                s[i, LIVE + seat] |= wins and s[i, STRENGTH + seat] == best
        elif here != further or not further:
            _share(s, i, terms, pot, upper, best)
            pot = np.int64(0)


@njit(cache=True)
def _share(s: Any, i: Any, terms: Any, pot: Any, upper: Any, best: Any) -> None:
    winners = 0
    for seat in range(s[i, SEATS]):
        winners += (
            s[i, LIVE + seat] and s[i, PAID + seat] >= upper and s[i, STRENGTH + seat] == best
        )
    if winners == 0:
        return
    part = pot // winners
    odd = pot - part * winners
    for seat in range(s[i, SEATS]):
        if s[i, LIVE + seat] and s[i, PAID + seat] >= upper and s[i, STRENGTH + seat] == best:
            if terms[ACPC]:
                s[i, PAYOFF + seat] += pot * PARTS // winners
            else:
                # The odd chips go to the first winner left of the button.
                s[i, PAYOFF + seat] += PARTS * (part + odd)
                odd = np.int64(0)


@njit(cache=True)
def act(s: Any, i: Any, terms: Any, kind: Any, amount: Any) -> None:
    """Play a legal action at table i."""
    seat = s[i, ACTOR]
    n = s[i, SEATS]
    top = s[i, TOP]
    put = np.int64(0)
    s[i, PENDING + seat] = False
    s[i, ACTED + seat] = True
    if kind == FOLD:
        s[i, FOLDED + seat] = True
        s[i, PLAYERS] -= 1
    elif kind == CALL:
        call = min(s[i, STACK + seat], top - s[i, BET + seat])
        _put_in(s, i, seat, call)
        put = call
    else:
        by = amount - top
        _put_in(s, i, seat, amount - s[i, BET + seat])
        put = amount
        if by >= s[i, RAISE_BY]:
            for other in range(n):
                s[i, ACTED + other] = other == seat
        s[i, RAISE_BY] = max(s[i, RAISE_BY], by)
        s[i, LEAST_TO] = max(s[i, LEAST_TO], amount + by)
        s[i, RAISES] += 1
        s[i, SHORT] = 0 if s[i, STACK + seat] else s[i, SHORT] + by
        if s[i, SHORT] >= s[i, RAISE_BY]:
            s[i, SHORT] = 0
        for other in range(n):
            waits = other != seat and not s[i, FOLDED + other] and s[i, STACK + other] > 0
            s[i, PENDING + other] = waits
    s[i, HISTORY + s[i, MOVES]] = (put << 8) | (s[i, STREET] << 6) | (kind << 4) | seat
    s[i, MOVES] += 1
    if s[i, PLAYERS] > 1:
        other = seat
        for _ in range(n):
            other = other + 1 if other + 1 < n else 0
            if s[i, PENDING + other]:
                s[i, ACTOR] = other
                return
    s[i, ACTOR] = -1
    _next_street(s, i, terms)


@njit(cache=True)
def deal_all(s: Any, terms: Any, seats: Any, stacks: Any, decks: Any) -> None:
    """Begin a hand at every table: stacks [n, seats], decks [n, at least 2 seats + 5]."""
    for i in range(len(stacks)):
        deal(s, i, terms, seats, stacks[i], decks[i])


@njit(cache=True)
def step_all(s: Any, terms: Any, kinds: Any, amounts: Any) -> Any:
    """One action at every table whose hand goes on; how many hands still go on.

    `kinds` and `amounts` [n] are as `act` takes them; what is not legal is made legal: a fold that
    costs nothing becomes a check, a raise that is not allowed a call, an amount the nearest legal.
    """
    going = 0
    for i in range(len(kinds)):
        if s[i, ACTOR] < 0:
            continue
        kind, amount = kinds[i], amounts[i]
        if kind == FOLD and to_call(s, i) == 0:
            kind = CALL
        if kind == RAISE:
            least, most = raise_limits(s, i, terms)
            amount = min(max(amount, least), most)
            if most == 0 or s[i, MOVES] + 2 * MOST_SEATS >= MOST_MOVES:
                kind = CALL
        act(s, i, terms, kind, amount)
        going += s[i, ACTOR] >= 0
    return going


@njit(cache=True)
def call_down(s: Any, terms: Any) -> None:
    """Play every hand to its end with checks and calls only: what the cards alone are worth."""
    for i in range(len(s)):
        while s[i, ACTOR] >= 0:
            act(s, i, terms, CALL, 0)
