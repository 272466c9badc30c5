"""Features of a decision that boosted trees split on: the betting, and the player's hand.

They contain more than the cell of the abstraction: the exact hand, pot odds, who is yet to act.
Each is one byte. Stored trees refer to features by number, so numbers and scales must not change.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr_holdem.cards import RANKS
from cbr_holdem.strength import RANKED
from cbr_holdem.table import (
    ACTOR,
    BET,
    BET_SIZES,
    FOLDED,
    LIMIT,
    PAID,
    PENDING,
    PLAYERS,
    RAISES,
    SEATS,
    STACK,
    STREET,
    pot_of,
    to_call,
)

#: Columns of `decision_features`. Three mean something else before the flop than after it.
F_RAISES = 0  # raises on this street
F_PRICE = 1  # the price of a call, in quarters of a bet
F_OPPONENTS = 2  # opponents still in the hand
F_LAST_RAISER = 3  # who raised last in the hand: 0 nobody, 1 an opponent, 2 the player
F_POT = 4  # log2 of the pot in half small bets, in sixths
F_POT_ODDS = 5  # call / (pot + call), in 1/200
F_YET_TO_ACT = 6  # opponents who must still act
F_STRENGTH = 7  # the lowest byte of the packed strength
F_HIGH_RANK = F_POTENTIAL = 8  # higher rank; after the flop the potential
F_LOW_RANK = F_FIELD_STRENGTH = 9  # lower rank; strength to the power of the opponents
F_PAIR_SUITED = F_PAID = 10  # 2 a pair, 1 suited; half small bets paid in the hand
F_POSITION = 11  # the seat, in ninths of the table
F_BET = 12  # half small bets paid on this street
F_STACK_TO_POT = 13  # log2(1 + stack / pot), in sixteenths; 0 in limit
FEATURES = F_STACK_TO_POT + 1


def _preflop_cards() -> NDArray[np.int64]:
    """Higher rank, lower rank, and 2 for a pair or 1 for suited, by preflop strength, [169, 3]."""
    return np.array(
        [
            (RANKS.index(name[0]), RANKS.index(name[1]), 2 if len(name) == 2 else name[2] == "s")
            for name in reversed(RANKED)
        ],
        np.int64,
    )


_CARDS = _preflop_cards()


@njit
def decision_features(r: Any, terms: Any, raiser: Any, strength: Any, out: Any) -> None:
    """Features of the decision at a table, into `out` uint8 [FEATURES]; `raiser` is the seat of the
    last raise or -1, `strength` the packed strength of the actor's hand."""
    seat, street, n = r[ACTOR], r[STREET], r[PLAYERS] - 1
    call, pot, small = to_call(r), pot_of(r), terms[BET_SIZES]
    waiting = 0
    for other in range(r[SEATS]):
        waiting += other != seat and (r[PENDING] & ~r[FOLDED]) >> other & 1
    out[F_RAISES] = min(r[RAISES], 255)
    out[F_PRICE] = min(255, 4 * call // terms[BET_SIZES + street])
    out[F_OPPONENTS] = n
    out[F_LAST_RAISER] = 0 if raiser < 0 else (2 if raiser == seat else 1)
    out[F_POT] = min(255.0, 6.0 * np.log2(2.0 * pot / small))
    out[F_POT_ODDS] = 200.0 * call / (call + pot)
    out[F_YET_TO_ACT] = waiting
    out[F_STRENGTH] = strength & 255
    if street == 0:
        out[F_HIGH_RANK], out[F_LOW_RANK], out[F_PAIR_SUITED] = _CARDS[strength]
    else:
        out[F_POTENTIAL] = strength >> 8
        out[F_FIELD_STRENGTH] = 255.0 * ((strength & 255) / 255.0) ** n
        out[F_PAID] = min(255, 2 * r[PAID + seat] // small)
    out[F_POSITION] = 9 * seat // r[SEATS]
    out[F_BET] = min(255, 2 * r[BET + seat] // small)
    out[F_STACK_TO_POT] = 0
    if not terms[LIMIT]:
        out[F_STACK_TO_POT] = min(255.0, 16.0 * np.log2(1.0 + r[STACK + seat] / pot))
