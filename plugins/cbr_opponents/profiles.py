"""Profiles: what was seen of a player in earlier hands, as counts and as features.

Counts are public: how often the player folded, called or raised on each street, with and without a
bet to call, and how large the raises were. As features, rates are shrunk towards the usual rates of
all players, so that a stranger's profile is that of the average player, and few hands change it
little. Boosted trees split on them like on any other feature (`decision_features`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
from cbr.typing import Floats
from cbr_holdem.table import CALL, FOLD, RAISE, STREET, to_call

#: Columns of the counts of one player, float64 [SEEN]:
S_HANDS = 0  # hands in which the player acted
S_MOVES = 1  # [4 streets, free or facing a bet, FOLD CALL RAISE]
S_ENTERED = S_MOVES + 24  # hands in which he put in money before the flop by his own choice
S_RAISED = S_ENTERED + 1  # hands in which he raised before the flop
S_LATELY = S_RAISED + 1  # of the last hands: entered, raised, share of raises among his moves
S_SIZES = S_LATELY + 3  # sum of size classes and number of raises, before and after the flop
SEEN = S_SIZES + 4
#: The weight of a hand in S_LATELY is this much less for each hand after it.
_LATELY = 0.9

#: Features of a profile, in bytes: hands seen, then for each street the rates of folds and of
#: raises facing a bet, and of bets; hands entered, raised; raises among all moves; the same three
#: lately; mean sizes before and after the flop.
PROFILE = 1 + 12 + 3 + 3 + 2
_AGGRESSION, _LATE = 15, 16
#: Features of the last raiser's profile: raises among all moves, hands raised, raises lately.
RAISER = 3
_OF_RAISER = (_AGGRESSION, 14, _LATE + 2)
#: Weight of the usual rates, in observations.
_PRIOR = 8.0

# Columns of what a player did in the present hand, [IN_HAND].
_ACTS, _ENTERS, _RAISES_FIRST, _AGGRESSIVE = range(4)
IN_HAND = 4


@njit
def count_move(seen: Any, in_hand: Any, r: Any, kind: Any, size: Any) -> None:
    """Add the actor's move at a table to its counts `seen` [SEEN] and to what it did in this hand,
    `in_hand` [IN_HAND]; `size` is the class of a raise."""
    street = r[STREET]
    facing = int(to_call(r) > 0)
    seen[S_MOVES + 6 * street + 3 * facing + kind] += 1.0
    in_hand[_ACTS] += 1.0
    in_hand[_AGGRESSIVE] += kind == RAISE
    if street == 0:
        if kind == RAISE:
            in_hand[_RAISES_FIRST] = 1.0
        if kind == RAISE or (kind == CALL and facing):
            in_hand[_ENTERS] = 1.0
    if kind == RAISE:
        at = S_SIZES + 2 * int(street > 0)
        seen[at] += size
        seen[at + 1] += 1.0


@njit
def end_hand(seen: Any, in_hand: Any, forget: Any) -> None:
    """Add a finished hand to the counts of a player who acted in it, and clear `in_hand`. Counts of
    earlier hands are multiplied by `forget` (1: nothing is forgotten)."""
    if in_hand[_ACTS] == 0.0:
        return
    if forget < 1.0:
        for at in range(SEEN):
            if at < S_LATELY or at >= S_SIZES:
                seen[at] *= forget
    seen[S_HANDS] += 1.0
    seen[S_ENTERED] += in_hand[_ENTERS]
    seen[S_RAISED] += in_hand[_RAISES_FIRST]
    share = in_hand[_AGGRESSIVE] / in_hand[_ACTS]
    seen[S_LATELY] = _LATELY * seen[S_LATELY] + (1.0 - _LATELY) * in_hand[_ENTERS]
    seen[S_LATELY + 1] = _LATELY * seen[S_LATELY + 1] + (1.0 - _LATELY) * in_hand[_RAISES_FIRST]
    seen[S_LATELY + 2] = _LATELY * seen[S_LATELY + 2] + (1.0 - _LATELY) * share
    in_hand[:] = 0.0


def usual_counts(total: Floats) -> Floats:
    """The counts of the average player, [SEEN], scaled to one hand, from the sum of the counts of
    many players."""
    usual: Floats = (total + 1e-3) / max(1.0, float(total[S_HANDS]))
    usual[S_LATELY : S_LATELY + 2] = usual[S_ENTERED : S_ENTERED + 2]
    moves = usual[S_MOVES:S_ENTERED]
    usual[S_LATELY + 2] = moves[RAISE::3].sum() / moves.sum()
    return usual


@njit
def profile_features(seen: Any, usual: Any, out: Any) -> None:
    """The features of a profile, into `out` uint8 [PROFILE]; `usual` as of `usual_counts`."""
    hands = seen[S_HANDS]
    out[0] = min(255.0, 16.0 * np.log2(1.0 + hands))
    at = 1
    for street in range(4):
        facing = S_MOVES + 6 * street + 3
        out[at] = _rate(seen, usual, facing, 3, facing + FOLD)
        out[at + 1] = _rate(seen, usual, facing, 3, facing + RAISE)
        out[at + 2] = _rate(seen, usual, facing - 3, 3, facing - 3 + RAISE)
        at += 3
    out[at] = 250.0 * (seen[S_ENTERED] + _PRIOR * usual[S_ENTERED]) / (hands + _PRIOR)
    out[at + 1] = 250.0 * (seen[S_RAISED] + _PRIOR * usual[S_RAISED]) / (hands + _PRIOR)
    raises, every, often, all_ = 0.0, 0.0, 0.0, 0.0
    for move in range(24):
        every += seen[S_MOVES + move]
        all_ += usual[S_MOVES + move]
        if move % 3 == RAISE:
            raises += seen[S_MOVES + move]
            often += usual[S_MOVES + move]
    out[at + 2] = 250.0 * (raises + _PRIOR * often / all_) / (every + _PRIOR)
    at += 3
    faded = _LATELY**hands
    for late in range(3):
        rate = seen[S_LATELY + late] + faded * usual[S_LATELY + late]
        out[at + late] = min(255.0, 250.0 * rate)
    at += 3
    for when in range(2):
        size = S_SIZES + 2 * when
        mean = usual[size] / usual[size + 1]
        out[at + when] = min(255.0, 20.0 * (seen[size] + _PRIOR * mean) / (seen[size + 1] + _PRIOR))


@njit
def _rate(seen: Any, usual: Any, first: Any, count: Any, which: Any) -> Any:
    """The shrunk share of one of `count` moves from column `first` on, in 1/250."""
    times, all_ = 0.0, 0.0
    for at in range(first, first + count):
        times += seen[at]
        all_ += usual[at]
    return 250.0 * (seen[which] + _PRIOR * usual[which] / all_) / (times + _PRIOR)


@njit
def raiser_features(profile: Any, out: Any) -> None:
    """Features of the last raiser, into `out` uint8 [RAISER], from its profile uint8 [PROFILE]."""
    for at in range(RAISER):
        out[at] = profile[_OF_RAISER[at]]
