"""Features of the betting so far in a hand, for the player to act (van der Kleij, appendix B).

For each street s of preflop, flop, turn and river:

    bets_s         bets and raises of the street, the big blind being one
    aggression_s   bets and raises as a share of the street's bets, raises, checks and calls, or 0
    was_aggressor_s  whether our bet or raise was the last of the street

and of this decision:

    active_ratio   players who have not folded, as a share of those dealt in
    acted          players who have acted since the last bet or raise of this street
    later          players still in who act after us on the later streets
    last_of_active whether there are no such players
    behind_aggressor  1 if we act after the last player to bet or raise, 0 before; -1 if none or we
    own_action     our last action: 1 check or call, 2 bet or raise; -1 none yet
    own_size       its class of `SIZES` if it was a bet or raise, else -1; never all-in, after
                   which we would not act again
    all_in_call    whether a call takes our last chips
    effective_aggressor  the most that we and the aggressor can lose to each other, in small bets
    implied_odds   to call / (to call + pot + effective_aggressor)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
from cbr_holdem.situation.sizes import size_class
from cbr_holdem.table.game import (
    ACPC,
    BET_SIZES,
    BIG_BLIND,
    LIMIT,
    MOST_SEATS,
    STREETS,
)
from cbr_holdem.table.layout import (
    ACTOR,
    BET,
    DEAD,
    FOLD,
    FOLDED,
    HISTORY,
    MOVES,
    PLAYERS,
    POST,
    RAISE,
    SEATS,
    STACK,
    STREET,
)
from cbr_holdem.table.moves import unpacked
from cbr_holdem.table.rules import pot_of, to_call

COLUMNS = (
    *(f"bets_{street}" for street in STREETS),
    *(f"aggression_{street}" for street in STREETS),
    *(f"was_aggressor_{street}" for street in STREETS),
    "active_ratio",
    "acted",
    "later",
    "last_of_active",
    "behind_aggressor",
    "own_action",
    "own_size",
    "all_in_call",
    "effective_aggressor",
    "implied_odds",
)
# Places of the columns; each of the first three begins four columns, one for each street.
_BETS, _AGGRESSION, _WAS_AGGRESSOR = 0, 4, 8
(
    _ACTIVE_RATIO,
    _ACTED,
    _LATER,
    _LAST_OF_ACTIVE,
    _BEHIND_AGGRESSOR,
    _OWN_ACTION,
    _OWN_SIZE,
    _ALL_IN_CALL,
    _EFFECTIVE_AGGRESSOR,
    _IMPLIED_ODDS,
) = range(12, len(COLUMNS))


@njit
def _size_of(r: Any, terms: Any, number: Any) -> Any:
    """Size class of the raise that was action `number` of the hand and the last of its player, by
    the pot and the limits of a raise at that time (`cbr_holdem.situation.sizes.size_of`)."""
    if terms[LIMIT]:
        return 0
    bets = r[POST : POST + MOST_SEATS].copy()
    pot, top, street = r[DEAD] + bets.sum(), bets.max(), 0
    raised, least_to = np.int64(0), top + terms[BIG_BLIND]
    for m in range(number + 1):
        when, who, kind, amount = unpacked(r[HISTORY + m])
        if when != street:
            street = when
            bets[:] = 0
            top = raised = np.int64(0)
            least_to = terms[BIG_BLIND]
        if kind == RAISE:
            by = amount - top
            if m == number:
                least = least_to - top if terms[ACPC] else max(raised, terms[BET_SIZES + street])
                return size_class(by, pot + top - bets[who], least, by + r[STACK + who])
            raised, least_to = max(raised, by), max(least_to, amount + by)
            top = amount
        put = amount - bets[who] if kind == RAISE else amount
        bets[who] += put
        pot += put
    return -1


@njit
def describe(r: Any, terms: Any, out: Any) -> None:
    """Write the columns for the player to act at a table (a row of `Tables`) into out [22]."""
    seat, n, street = r[ACTOR], r[SEATS], r[STREET]
    small = float(terms[BET_SIZES])
    out[:] = 0.0
    out[_BETS] = 1  # the big blind
    passive = np.zeros(4)
    aggressive = np.zeros(4)
    aggressor = -1
    own = -1
    last = -1
    acted = 0
    for m in range(r[MOVES]):
        when, who, kind, _amount = unpacked(r[HISTORY + m])
        if who == seat:
            own = kind
            last = m
        if kind == RAISE:
            aggressive[when] += 1
            aggressor = who
            out[_WAS_AGGRESSOR + when] = who == seat
            acted = 0
        elif when == street:
            acted += 1
        if kind != FOLD and kind != RAISE:
            passive[when] += 1
    for when in range(4):
        out[_BETS + when] += aggressive[when]
        if aggressive[when] + passive[when]:
            share = aggressive[when] / (aggressive[when] + passive[when])
            out[_AGGRESSION + when] = share
    later = 0
    for other in range(n):
        later += other > seat and not r[FOLDED] >> other & 1
    call, pot = to_call(r), pot_of(r)
    out[_ACTIVE_RATIO] = r[PLAYERS] / n
    out[_ACTED] = acted
    out[_LATER] = later
    out[_LAST_OF_ACTIVE] = later == 0
    out[_BEHIND_AGGRESSOR] = -1 if aggressor < 0 or aggressor == seat else seat > aggressor
    out[_OWN_ACTION] = own
    out[_OWN_SIZE] = _size_of(r, terms, last) if own == RAISE else -1
    out[_ALL_IN_CALL] = call == r[STACK + seat]
    if aggressor >= 0 and aggressor != seat:
        theirs = r[STACK + aggressor] + r[BET + aggressor] - r[BET + seat]
        out[_EFFECTIVE_AGGRESSOR] = min(r[STACK + seat], max(np.int64(0), theirs)) / small
    if call:
        out[_IMPLIED_ODDS] = call / (call + pot + out[_EFFECTIVE_AGGRESSOR] * small)
