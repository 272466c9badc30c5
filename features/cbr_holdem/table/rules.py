"""The rules as compiled code on tables (rows): dealing, legal raises, and playing an action.

Seats are numbered in the order of play after the flop: seat 0 is left of the button, which is the
last seat. With three or more players seat 0 posts the small blind and seat 1 the big one; heads-up
the button (seat 1) posts the small blind and acts first before the flop.

An action is FOLD, CALL (a check where there is nothing to call) or RAISE (a bet where there is
none) with the amount that the player's bet on this street is raised to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
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
from cbr_holdem.table.layout import (
    ACTED,
    ACTOR,
    BET,
    BOARD,
    CALL,
    DEAD,
    FOLD,
    FOLDED,
    HISTORY,
    HOLE,
    LEAST_TO,
    MOST_MOVES,
    MOVES,
    OVER,
    PAID,
    PAYOFF,
    PENDING,
    PLAYERS,
    POST,
    RAISE,
    RAISE_BY,
    RAISES,
    SEATS,
    SHORT,
    STACK,
    STREET,
    TOP,
)
from cbr_holdem.table.moves import packed
from cbr_holdem.table.settlement import settle


@njit
def _put_in(r: Any, seat: Any, amount: Any) -> None:
    r[STACK + seat] -= amount
    r[BET + seat] += amount
    r[PAID + seat] += amount
    r[TOP] = max(r[TOP], r[BET + seat])


@njit
def to_call(r: Any) -> Any:
    """What the actor must put in to call, at most his stack."""
    seat = r[ACTOR]
    return min(r[STACK + seat], r[TOP] - r[BET + seat])


@njit
def pot_of(r: Any) -> Any:
    """Chips in the pot, with the bets of this street."""
    pot = np.int64(0)
    for seat in range(r[SEATS]):
        pot += r[PAID + seat]
    return pot


@njit
def last_move(r: Any) -> Any:
    """The last move of a table at which somebody has moved, packed."""
    return r[HISTORY + r[MOVES] - 1]


@njit
def raise_limits(r: Any, terms: Any) -> Any:
    """The least and the greatest amount that the actor may raise to; (0, 0) if he may not."""
    seat = r[ACTOR]
    top = r[TOP]
    call = min(r[STACK + seat], top - r[BET + seat])
    if r[MOVES] + 5 * MOST_SEATS >= MOST_MOVES:  # room for everybody to call to the end
        return np.int64(0), np.int64(0)
    if r[RAISES] >= terms[MOST_RAISES + r[STREET]] or r[STACK + seat] <= top - r[BET + seat]:
        return np.int64(0), np.int64(0)
    if not terms[ACPC]:
        # A short all-in does not reopen the betting for those who have acted.
        if call < r[RAISE_BY]:
            return np.int64(0), np.int64(0)
        if 0 < r[SHORT] < r[RAISE_BY] and r[ACTED] >> seat & 1:
            return np.int64(0), np.int64(0)
    someone = False
    for other in range(r[SEATS]):
        if other != seat and not r[FOLDED] >> other & 1:
            someone |= r[STACK + other] + r[BET + other] > top
    if not someone:
        return np.int64(0), np.int64(0)
    everything = r[STACK + seat] + r[BET + seat]
    size = terms[BET_SIZES + r[STREET]]
    if terms[ACPC] and not terms[LIMIT]:
        least = r[LEAST_TO]
    elif terms[ACPC]:
        least = top + size
    else:
        least = top + max(r[RAISE_BY], size)
    least = min(least, everything)
    if terms[LIMIT]:
        return least, least
    if terms[POT_LIMIT]:
        return least, min(everything, max(least, 2 * top - r[BET + seat] + pot_of(r)))
    return least, everything


@njit
def legal_action(r: Any, terms: Any, kind: Any, amount: Any) -> Any:
    """The action (kind, amount) that is played for a wanted one, and whether that was legal.

    A raise to 0 is the least raise, and a fold where a check is free is a check. An action that is
    not legal is replaced by a check, or by a fold where there is something to call.
    """
    legal = kind in (FOLD, CALL)
    if kind == RAISE:
        least, most = raise_limits(r, terms)
        if amount == 0:
            amount = least
        legal = most != 0 and least <= amount <= most
    if not legal:
        kind = FOLD
    if kind != RAISE:
        amount = np.int64(0)
    if kind == FOLD and to_call(r) == 0:
        kind = CALL
    return kind, amount, legal


@njit
def _begin_round(r: Any, opener: Any, terms: Any) -> None:
    """Set who has to act on this street, from the opener on; the actor is -1 if nobody has."""
    n = r[SEATS]
    r[RAISE_BY] = 0
    r[RAISES] = 0
    r[SHORT] = 0
    top = r[TOP]
    r[LEAST_TO] = top + terms[BIG_BLIND]
    # Nobody can win or lose more than the second deepest of those who are in.
    deepest = np.int64(0)
    second = np.int64(0)
    for seat in range(n):
        if not r[FOLDED] >> seat & 1:
            deep = r[STACK + seat] + r[BET + seat]
            if deep > deepest:
                deepest, second = deep, deepest
            elif deep > second:
                second = deep
    waiting = 0
    last = -1
    pending = np.int64(0)
    for seat in range(n):
        can_lose = r[STACK + seat] > 0 and second > r[BET + seat]
        if can_lose and not r[FOLDED] >> seat & 1:
            pending |= 1 << seat
            waiting += 1
            last = seat
    if waiting == 1 and r[BET + last] >= top:
        pending = np.int64(0)
    r[ACTED] = 0
    r[PENDING] = pending
    r[ACTOR] = _next_of(pending, opener)


@njit
def _next_of(pending: Any, seat: Any) -> Any:
    """The first seat of a set from this seat on, round the table; -1 if the set is empty."""
    if not pending:
        return np.int64(-1)
    if not pending >> seat:
        seat = np.int64(0)
    while not pending >> seat & 1:
        seat += 1
    return seat


@njit
def deal(r: Any, terms: Any, seats: Any, stacks: Any, deck: Any) -> None:
    """Begin a hand at a table: stacks [seats], deck: 2 cards for each seat, 5 for the board."""
    _seat(r, seats, stacks, deck)
    if terms[ANTE]:
        for seat in range(seats):
            _post_ante(r, seat, terms[ANTE])
    small, big = (1, 0) if seats == 2 else (0, 1)
    _post(r, small, terms[SMALL_BLIND])
    _post(r, big, terms[BIG_BLIND])
    _open(r, big + 1 if big + 1 < seats else 0, terms)


@njit
def deal_posted(
    r: Any, terms: Any, seats: Any, stacks: Any, posts: Any, antes: Any, deck: Any
) -> None:
    """Begin a hand with what each seat posted according to a log: posts and antes [seats].

    A negative post is a newcomer's: it counts as a bet, but not as a blind. The seat after the
    highest blind acts first.
    """
    _seat(r, seats, stacks, deck)
    last = seats - 1
    highest = np.int64(0)
    all_post = antes[:seats].min()
    for seat in range(seats):
        _post_ante(r, seat, antes[seat])
        r[OVER + seat] = max(np.int64(0), r[PAID + seat] - all_post)
        _post(r, seat, abs(posts[seat]))
        if posts[seat] > 0 and posts[seat] >= highest:
            last, highest = seat, posts[seat]
    _open(r, last + 1 if last + 1 < seats else 0, terms)


@njit
def _seat(r: Any, seats: Any, stacks: Any, deck: Any) -> None:
    r[SEATS] = seats
    r[STREET] = 0
    r[MOVES] = 0
    r[TOP] = 0
    r[DEAD] = 0
    r[PLAYERS] = seats
    r[FOLDED] = (1 << MOST_SEATS) - (1 << seats)
    for seat in range(MOST_SEATS):
        r[STACK + seat] = stacks[seat] if seat < seats else 0
        r[BET + seat] = 0
        r[PAID + seat] = 0
        r[POST + seat] = 0
        r[OVER + seat] = 0
        r[PAYOFF + seat] = 0
        if seat < seats:
            r[HOLE + 2 * seat] = deck[2 * seat]
            r[HOLE + 2 * seat + 1] = deck[2 * seat + 1]
    for place in range(5):
        r[BOARD + place] = deck[2 * seats + place]


@njit
def _post_ante(r: Any, seat: Any, amount: Any) -> None:
    ante = min(amount, r[STACK + seat])
    r[STACK + seat] -= ante
    r[PAID + seat] += ante
    r[DEAD] += ante


@njit
def _post(r: Any, seat: Any, amount: Any) -> None:
    _put_in(r, seat, min(amount, r[STACK + seat]))
    r[POST + seat] = r[BET + seat]


@njit
def _open(r: Any, opener: Any, terms: Any) -> None:
    """Begin the first round in which somebody can act."""
    _begin_round(r, opener, terms)
    if r[ACTOR] < 0:
        _next_street(r, terms)


@njit
def _next_street(r: Any, terms: Any) -> None:
    """Go on to the next round in which somebody has to act, or to the end of the hand."""
    while True:
        for seat in range(r[SEATS]):
            r[BET + seat] = 0
        r[TOP] = 0
        if r[PLAYERS] <= 1 or r[STREET] == 3:
            settle(r, terms)
            return
        r[STREET] += 1
        _begin_round(r, 0, terms)
        if r[ACTOR] >= 0:
            return


@njit
def act(r: Any, terms: Any, kind: Any, amount: Any) -> None:
    """Play a legal action at a table (a row)."""
    seat = r[ACTOR]
    n = r[SEATS]
    top = r[TOP]
    put = np.int64(0)
    r[PENDING] &= ~(1 << seat)
    r[ACTED] |= 1 << seat
    if kind == FOLD:
        r[FOLDED] |= 1 << seat
        r[PLAYERS] -= 1
    elif kind == CALL:
        put = min(r[STACK + seat], top - r[BET + seat])
        if put:
            _put_in(r, seat, put)
    else:
        by = amount - top
        _put_in(r, seat, amount - r[BET + seat])
        put = amount
        if by >= r[RAISE_BY]:
            r[ACTED] = 1 << seat
        r[RAISE_BY] = max(r[RAISE_BY], by)
        r[LEAST_TO] = max(r[LEAST_TO], amount + by)
        r[RAISES] += 1
        r[SHORT] = 0 if r[STACK + seat] else r[SHORT] + by
        if r[SHORT] >= r[RAISE_BY]:
            r[SHORT] = 0
        pending = np.int64(0)
        for other in range(n):
            if other != seat and r[STACK + other] > 0:
                pending |= 1 << other
        r[PENDING] = pending & ~r[FOLDED]
    r[HISTORY + r[MOVES]] = packed(r[STREET], seat, kind, put)
    r[MOVES] += 1
    r[ACTOR] = _next_of(r[PENDING], seat) if r[PLAYERS] > 1 else np.int64(-1)
    if r[ACTOR] < 0:
        _next_street(r, terms)


@njit
def deal_all(s: Any, terms: Any, seats: Any, stacks: Any, decks: Any) -> None:
    """Begin a hand at every table: stacks [n, seats], decks [n, at least 2 seats + 5]."""
    for i in range(len(stacks)):
        deal(s[i], terms, seats, stacks[i], decks[i])


@njit
def step_all(s: Any, terms: Any, kinds: Any, amounts: Any) -> Any:
    """Play one action at every table whose hand is not over; returns how many then are not over.

    `kinds` and `amounts` [n] are as in `act`. A fold where a check is free becomes a check, a raise
    that is not allowed a call, and an amount that is not legal the nearest legal one.
    """
    going = 0
    for i in range(len(kinds)):
        r = s[i]
        if r[ACTOR] < 0:
            continue
        kind, amount = kinds[i], amounts[i]
        if kind == FOLD and to_call(r) == 0:
            kind = CALL
        if kind == RAISE:
            least, most = raise_limits(r, terms)
            amount = min(max(amount, least), most)
            if most == 0:
                kind = CALL
        act(r, terms, kind, amount)
        going += r[ACTOR] >= 0
    return going


@njit
def call_down(s: Any, terms: Any) -> None:
    """Play every hand to its end with checks and calls only, so that the cards alone decide."""
    for i in range(len(s)):
        r = s[i]
        while r[ACTOR] >= 0:
            act(r, terms, CALL, 0)
