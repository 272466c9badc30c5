"""The luck in a hand as control variates, which can be subtracted from its result (after AIVAT).

A luck term is the change that a card or a drawn action makes in an estimated value of the hand,
less the mean of this change. Its expectation is 0 for any estimate, because the distribution of the
cards is known, and that of an action is known if the bot gives a triple. Terms may therefore be
subtracted, times any factor that is independent of them (`cbr_arena.adjust`): the mean stays, and
the interval shrinks.

The value of a hand for a seat is its share of the pot if there were no more betting: its equity
over run-outs of the board, with all cards known. Run-outs have random numbers of their own.

- `cards`: the equity of the hole cards before any betting, less its mean;
- `flop`, `turn`, `river`: the change of the share of the pot by these cards;
- `before`, `after`: actions before and after the flop, of all bots that give triples.

Once all players are all in, the hand counts as its mean payoff over the cards to come (`all_in`),
so these cards add no term.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Floats, Ints
from cbr_holdem.cards import CARD_KEYS, DECK, EMPTY, strength_of_key
from cbr_holdem.chance import below, key, step
from cbr_holdem.table import (
    ACTOR,
    BET,
    BIG_BLIND,
    BOARD,
    BOARD_CARDS,
    CALL,
    FOLD,
    FOLDED,
    HOLE,
    MOST_SEATS,
    MOVES,
    PARTS,
    PAYOFF,
    PLAYERS,
    RAISE,
    SEATS,
    STREET,
    last_move,
    pot_of,
    raise_limits,
    settle,
    to_call,
    unpacked,
)

TERMS = ("cards", "flop", "turn", "river", "before", "after")
_CARDS, _BEFORE, _AFTER = 0, 4, 5
#: Counter of a key that is reserved for run-outs: they are independent of decks and bots.
_RUNOUTS = np.int64(0x6C75636B)
#: Run-outs that are sampled for a value, where there are more.
_SOME = 256
#: The same for the payoff of an all-in before the flop; after it all are counted.
_MANY = 1_000


class _Followed(NamedTuple):
    """The state of n tables while their hands are played: the strength of each seat on each run-out
    [n, _SOME, seats], the number of run-outs [n], the street that they start from [n], and the luck
    terms so far [n, seats, terms]."""

    strength: NDArray[np.uint16]
    runouts: Ints
    street: Ints
    terms: Floats


class Luck:
    """Luck terms of the hands at n tables, added up while they are played: `terms`
    [n, seats, terms], in chips. Call `dealt` after the cards are dealt, `drew` before drawn actions
    are played, and `moved` after each step."""

    def __init__(self, rows: Ints, terms: Any, seed: int, deal: Ints) -> None:
        count, seats = len(rows), int(rows[0, SEATS])
        self._rows, self._game, self._seed, self._deal = rows, terms, seed, deal
        self.terms = np.zeros((count, seats, len(TERMS)))
        self._followed = _Followed(
            np.zeros((count, _SOME, seats), np.uint16),
            np.zeros(count, np.int64),
            np.zeros(count, np.int64),
            self.terms,
        )

    def dealt(self) -> None:
        _dealt(self._rows, self._game, self._seed, self._deal, self._followed)

    def drew(self, which: Ints, shares: Floats, kind: Ints, to: Ints) -> None:
        """Add the terms of actions that were drawn by shares [n, 3] and are not yet played."""
        _drew(self._rows, self._game, which, shares, kind, to, self._followed)

    def moved(self, which: Ints) -> None:
        _moved(self._rows, self._seed, self._deal, which, self._followed)


def all_in(rows: Ints, terms: Any, seed: int, deal: Ints) -> Floats:
    """Payoffs of hands in chips [n, seats]; where nobody could bet any more, their mean over the
    cards that were still to come."""
    out = np.empty((len(rows), int(rows[0, SEATS])))
    _all_in(rows, terms, seed, deal, out)
    return out


@njit
def _free_cards(r: Any, shown: Any, free: Any) -> Any:
    """Write the cards neither on the board nor in a hand into free [52]; returns their number."""
    gone = np.zeros(DECK, np.bool_)
    for place in range(2 * r[SEATS]):
        gone[r[HOLE + place]] = True
    for place in range(shown):
        gone[r[BOARD + place]] = True
    count = 0
    for card in range(DECK):
        if not gone[card]:
            free[count] = card
            count += 1
    return count


@njit
def _runouts(r: Any, shown: Any, most: Any, state: Any, boards: Any) -> Any:
    """Write full boards that begin with the `shown` cards into boards [.., 5]; returns how many.

    All of them if there are at most `most`, otherwise a sample of that size.
    """
    free = np.empty(DECK, np.int64)
    count = _free_cards(r, shown, free)
    for board in boards:
        for place in range(shown):
            board[place] = r[BOARD + place]
    if shown == 5:
        return 1
    if shown == 4:
        for i in range(count):
            boards[i, 4] = free[i]
        return count
    if shown == 3 and count * (count - 1) // 2 <= most:
        made = 0
        for i in range(count):
            for j in range(i):
                boards[made, 3], boards[made, 4] = free[i], free[j]
                made += 1
        return made
    for made in range(most):
        for place in range(shown, 5):
            state = step(state)
            at = place - shown
            other = at + below(state, count - at)
            free[at], free[other] = free[other], free[at]
            boards[made, place] = free[at]
    return most


@njit
def _strengths(r: Any, boards: Any, count: Any, strength: Any) -> None:
    """Write the strength of every seat not folded on each board into strength [.., seats]."""
    for b in range(count):
        board_key = EMPTY
        for place in range(5):
            board_key += CARD_KEYS[boards[b, place]]
        for seat in range(r[SEATS]):
            if not r[FOLDED] >> seat & 1:
                hole = r[HOLE + 2 * seat : HOLE + 2 * seat + 2]
                full = board_key + CARD_KEYS[hole[0]] + CARD_KEYS[hole[1]]
                strength[b, seat] = strength_of_key(full, hole, boards[b])


@njit
def _look(r: Any, seed: Any, deal: Any, strength: Any) -> Any:
    """Write the strengths on run-outs of a table as it is now; returns the number of run-outs."""
    boards = np.empty((_SOME, 5), np.int64)
    state = key(seed, deal, _RUNOUTS, r[STREET])
    count = _runouts(r, BOARD_CARDS[r[STREET]], _SOME, state, boards)
    _strengths(r, boards, count, strength)
    return count


@njit
def _equity(strength: Any, count: Any, folded: Any, out: Any) -> None:
    """Write the equity of each seat among those not in `folded` into out [10]; ties are shared."""
    out[:] = 0.0
    for b in range(count):
        best, winners = np.int64(-1), 0
        for seat in range(strength.shape[1]):
            if not folded >> seat & 1:
                mine = np.int64(strength[b, seat])
                if mine > best:
                    best, winners = mine, 0
                winners += mine == best
        for seat in range(strength.shape[1]):
            if not folded >> seat & 1 and strength[b, seat] == best:
                out[seat] += 1.0 / winners
    out /= count


@njit
def _dealt(rows: Any, game: Any, seed: Any, deal: Any, followed: Any) -> None:
    strength, runouts, street, terms = followed
    now = np.empty(MOST_SEATS)
    for i in range(len(rows)):
        r = rows[i]
        runouts[i] = _look(r, seed, deal[i], strength[i])
        street[i] = r[STREET]
        _equity(strength[i], runouts[i], r[FOLDED], now)
        for seat in range(r[SEATS]):
            terms[i, seat, _CARDS] = (now[seat] - 1.0 / r[SEATS]) * game[BIG_BLIND]


@njit
def _moved(rows: Any, seed: Any, deal: Any, which: Any, followed: Any) -> None:
    strength, runouts, street, terms = followed
    was, now = np.empty(MOST_SEATS), np.empty(MOST_SEATS)
    for i in which:
        r = rows[i]
        if r[STREET] == street[i] or r[ACTOR] < 0:
            continue
        _equity(strength[i], runouts[i], r[FOLDED], was)
        runouts[i] = _look(r, seed, deal[i], strength[i])
        street[i] = r[STREET]
        _equity(strength[i], runouts[i], r[FOLDED], now)
        pot = pot_of(r)
        for seat in range(r[SEATS]):
            terms[i, seat, r[STREET]] += pot * (now[seat] - was[seat])


@njit
def _drew(rows: Any, game: Any, which: Any, shares: Any, kind: Any, to: Any, followed: Any) -> None:
    strength, runouts, _street, terms = followed
    stays, leaves = np.empty(MOST_SEATS), np.empty(MOST_SEATS)
    value = np.empty(3)
    for w in range(len(which)):
        i = which[w]
        if shares[w].max() >= 1.0:
            continue
        r, actor = rows[i], rows[i, ACTOR]
        _equity(strength[i], runouts[i], r[FOLDED], stays)
        _equity(strength[i], runouts[i], r[FOLDED] | 1 << actor, leaves)
        pot, call = pot_of(r), to_call(r)
        least, _most = raise_limits(r, game)
        raised = max(to[i], least) - r[BET + actor] if least else call
        for seat in range(r[SEATS]):
            if r[FOLDED] >> seat & 1:
                continue
            own = seat == actor
            value[FOLD] = 0.0 if own else leaves[seat] * pot
            value[CALL] = stays[seat] * (pot + call) - own * call
            value[RAISE] = stays[seat] * (pot + raised) - own * raised
            expected = 0.0
            for a in range(3):
                expected += shares[w, a] * value[a]
            terms[i, seat, _AFTER if r[STREET] else _BEFORE] += value[kind[i]] - expected


@njit
def _all_in(rows: Any, terms: Any, seed: Any, deal: Any, out: Any) -> None:
    boards = np.empty((_MANY, 5), np.int64)
    for i in range(len(rows)):
        r = rows[i]
        n = r[SEATS]
        last = np.int64(0)  # the street of the last move
        if r[MOVES]:
            last = unpacked(last_move(r))[0]
        for seat in range(n):
            out[i, seat] = r[PAYOFF + seat] / PARTS
        if r[PLAYERS] < 2 or last == 3:
            continue
        copy = r.copy()
        shown = BOARD_CARDS[last]
        count = _runouts(r, shown, _MANY, key(seed, deal[i], _RUNOUTS, 4 + last), boards)
        out[i] = 0.0
        for b in range(count):
            copy[BOARD : BOARD + 5] = boards[b]
            settle(copy, terms)
            for seat in range(n):
                out[i, seat] += copy[PAYOFF + seat] / PARTS
        out[i] /= count
