"""Features of the betting now, for the player to act.

CASPER's features (tables 3.3 and 3.4; where they differ, appendix D holds):

    players        before the flop those dealt in; afterwards those in at the start of the round
    position       before the flop 0 = small blind, 1 = button; afterwards 0 = first, 1 = last to
                   act of those players; heads-up the button is 1 everywhere
    previous_bets  bets and raises of the previous round, the big blind being one
    players_in     opponents who have acted voluntarily in this round and have not folded
    yet_to_act     opponents who must still act if we call, including those who face a raise again
    committed      what we have put in on this street, in bets of this street
    to_call        what it costs to stay in, in bets of this street
    pot            all that was put in, in small bets
    pot_odds       to call / (to call + pot)

Further features:

    opponents      opponents who have not folded
    bets           bets and raises of this round, the big blind being one
    aggressor      who bet or raised last in this hand: 1 we, 0 an opponent, -1 nobody
    callers        opponents who called since the last bet or raise of this round
    stack          our chips, in small bets
    effective      the effective stack: the most of these that we can lose, in small bets
    off_button     seats between us and the button
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
from cbr_holdem.table.game import BET_SIZES
from cbr_holdem.table.layout import (
    ACTOR,
    BET,
    CALL,
    FOLD,
    FOLDED,
    HISTORY,
    MOVES,
    PENDING,
    PLAYERS,
    RAISE,
    SEATS,
    STACK,
    STREET,
)
from cbr_holdem.table.moves import unpacked
from cbr_holdem.table.rules import pot_of, to_call

COLUMNS = (
    "players",
    "position",
    "previous_bets",
    "players_in",
    "yet_to_act",
    "committed",
    "to_call",
    "pot",
    "pot_odds",
    "opponents",
    "bets",
    "aggressor",
    "callers",
    "stack",
    "effective",
    "off_button",
)
(
    _PLAYERS,
    _POSITION,
    _PREVIOUS_BETS,
    _PLAYERS_IN,
    _YET_TO_ACT,
    _COMMITTED,
    _TO_CALL,
    _POT,
    _POT_ODDS,
    _OPPONENTS,
    _BETS,
    _AGGRESSOR,
    _CALLERS,
    _STACK,
    _EFFECTIVE,
    _OFF_BUTTON,
) = range(len(COLUMNS))


@njit
def describe(r: Any, terms: Any, out: Any) -> None:
    """Write the columns for the player to act at a table (a row of `Tables`) into out [16]."""
    seat, n, street = r[ACTOR], r[SEATS], r[STREET]
    size = float(terms[BET_SIZES + street])
    small = float(terms[BET_SIZES])
    # What happened in this round and the one before.
    previous = 1 if street == 1 else 0
    raises = 1 if street == 0 else 0
    aggressor = -1
    callers = 0
    folded_now = 0  # seats that folded in this round, as bits
    acted_now = 0
    for m in range(r[MOVES]):
        when, who, kind, _amount = unpacked(r[HISTORY + m])
        if kind == RAISE:
            aggressor = who
            previous += when == street - 1
        if when == street:
            acted_now |= 1 << who
            if kind == FOLD:
                folded_now |= 1 << who
            elif kind == RAISE:
                raises += 1
                callers = 0
            elif kind == CALL and who != seat:
                callers += 1
    # Who was in when the round began, and where we sit among them.
    players = 0
    before = 0
    inside = 0
    waiting = 0
    deepest = np.int64(0)
    for other in range(n):
        was_in = street == 0 or not r[FOLDED] >> other & 1 or (folded_now >> other) & 1
        players += was_in
        before += was_in and other < seat
        if other != seat and not r[FOLDED] >> other & 1:
            inside += (acted_now >> other) & 1
            waiting += (r[PENDING] >> other) & 1
            deepest = max(deepest, r[STACK + other] + r[BET + other])
    call, pot = to_call(r), pot_of(r)
    out[_PLAYERS] = players
    out[_POSITION] = before / (players - 1)
    out[_PREVIOUS_BETS] = previous
    out[_PLAYERS_IN] = inside
    out[_YET_TO_ACT] = waiting
    out[_COMMITTED] = r[BET + seat] / size
    out[_TO_CALL] = call / size
    out[_POT] = pot / small
    out[_POT_ODDS] = call / (call + pot) if call else 0.0
    out[_OPPONENTS] = r[PLAYERS] - 1
    out[_BETS] = raises
    out[_AGGRESSOR] = -1 if aggressor < 0 else (1 if aggressor == seat else 0)
    out[_CALLERS] = callers if raises else 0
    out[_STACK] = r[STACK + seat] / small
    out[_EFFECTIVE] = min(r[STACK + seat], max(np.int64(0), deepest - r[BET + seat])) / small
    out[_OFF_BUTTON] = n - 1 - seat
