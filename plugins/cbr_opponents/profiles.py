"""Profiles: what was seen of a player in earlier hands, as counts and as features.

Counts are public: how often the player folded, called or raised in each kind of situation, and how
large the raises were. A situation is a street, the bet faced, and the player's place in the betting
(`situation_of`). As features, rates are shrunk towards the usual rates of all players, so that a
stranger's profile is that of the average player, and few hands change it little. Rates over many
situations compare the player with what is usual in the very situations that it met, as indirect
standardisation does: a player who met many raises is not taken for one who folds.

A profile has the features of all situations, and is computed once a hand. A decision has those of
the player in general, and those of its own situation with the number of observations. Boosted trees
split on them like on any other feature (`decision_features`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
from cbr.typing import Floats
from cbr_holdem.table import CALL, FOLD, RAISE, STREET, to_call
from cbr_opponents.decision_features import (
    F_BET,
    F_CALLERS,
    F_LATER,
    F_LEADER,
    F_OPPONENTS,
    F_POT_ODDS,
    F_RAISES,
    F_YET_TO_ACT,
    FEATURES,
)

#: Situations: for each street the bet that is faced, of which 0 is none, and the player's place.
_BETS, _PLACES = 6, 8
_COARSE = 4 * _BETS
SITUATIONS = _COARSE * _PLACES
#: Upper bounds of the pot odds, in 1/200, of a small and a middle bet: up to half the pot, up to
#: four fifths of it.
_ODDS = np.array([50, 62])

#: Columns of the counts of one player, float64 [SEEN]:
S_HANDS = 0  # hands in which the player acted
S_MOVES = 1  # [SITUATIONS, FOLD CALL RAISE]
S_ENTERED = S_MOVES + 3 * SITUATIONS  # hands he put money into before the flop by his own choice
S_RAISED = S_ENTERED + 1  # hands in which he raised before the flop
S_LATELY = S_RAISED + 1  # of the last hands: entered, raised, share of raises among his moves
S_SIZES = S_LATELY + 3  # sum of size classes and number of raises, before and after the flop
SEEN = S_SIZES + 4
#: The weight of a hand in S_LATELY is this much less for each hand after it.
_LATELY = 0.9

#: Features of a profile, in bytes. Of the player in general: hands seen; how much more than usual
#: he folds and raises facing a bet, and bets, on each street, after the flop, and in all; hands
#: entered, raised; raises among all moves; the same three lately; mean sizes before and after the
#: flop. Then of each street and bet, and of each situation: rates of folds and raises, and how
#: often it was seen.
_GROUPS = 6
_ENTERED = 1 + 3 * _GROUPS
GENERAL = _ENTERED + 2 + 1 + 3 + 2
_AGGRESSION, _LATE = _ENTERED + 2, _ENTERED + 3
PROFILE = GENERAL + 3 * _COARSE + 3 * SITUATIONS
#: Features of a profile that a decision has: those in general, of the street and bet, and of the
#: situation.
OF_PLAYER = GENERAL + 6
#: Features of the last raiser's profile: raises among all moves, hands raised, raises lately.
RAISER = 3
_OF_RAISER = (_AGGRESSION, _ENTERED + 1, _LATE + 2)
#: Weight of the usual rates, in observations: of rates in general, and in one situation.
_PRIOR, _PRIOR_HERE = 8.0, 4.0
#: Weight of no difference from what is usual, in observations times the variance of each.
_NO_DIFFERENCE = 3.0
#: Weight of coarser rates in the usual rates of a situation, in observations.
_COARSER = 20.0

# Columns of what a player did in the present hand, [IN_HAND].
_ACTS, _ENTERS, _RAISES_FIRST, _AGGRESSIVE = range(4)
IN_HAND = 4


@njit
def situation_of(r: Any, features: Any) -> Any:
    """The number, below SITUATIONS, of the situation of the actor at a table, by the features of
    its decision uint8 [FEATURES].

    Bets are: none to call; before the flop no raise and nobody called, or somebody did, one raise,
    two, three or more; later a small, middle or large bet, two bets, three or more. The place is
    before the flop whether the player paid already, who must act after it, and whether there are
    several opponents; later whether somebody acts after it on each street, and who led the betting
    on the street before."""
    street = r[STREET]
    raises: Any = np.int64(features[F_RAISES])
    raises = min(3, raises)
    faced: Any = np.int64(0)
    place: Any = np.int64(features[F_OPPONENTS] > 1)
    if street == 0:
        if to_call(r) > 0:
            faced = 2 + raises if raises > 0 else 1 + np.int64(features[F_CALLERS] > 0)
        waiting = features[F_YET_TO_ACT]
        if features[F_BET] > 0:
            place += 2 * np.int64(waiting > 0)
        else:
            place += 4 + 2 * np.int64(waiting > 3)
    else:
        if to_call(r) > 0:
            faced = 2 + raises
            if raises <= 1:
                odds = features[F_POT_ODDS]
                faced = 1 + np.int64(odds > _ODDS[0]) + np.int64(odds > _ODDS[1])
        place = np.int64(features[F_LEADER]) + 4 * np.int64(features[F_LATER] > 0)
    return (street * _BETS + faced) * _PLACES + place


@njit
def count_move(seen: Any, in_hand: Any, r: Any, situation: Any, kind: Any, size: Any) -> None:
    """Add the actor's move at a table, in this situation, to its counts `seen` [SEEN] and to what
    it did in this hand, `in_hand` [IN_HAND]; `size` is the class of a raise."""
    street = r[STREET]
    seen[S_MOVES + 3 * situation + kind] += 1.0
    in_hand[_ACTS] += 1.0
    in_hand[_AGGRESSIVE] += kind == RAISE
    if street == 0:
        if kind == RAISE:
            in_hand[_RAISES_FIRST] = 1.0
        if kind == RAISE or (kind == CALL and to_call(r) > 0):
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


def moves_seen(seen: Floats) -> Floats:
    """How often a player folded, called and raised on each street, without and with a bet to call,
    [4, 2, 3], from its counts [SEEN]."""
    by_bet = seen[S_MOVES:S_ENTERED].reshape(4, _BETS, _PLACES, 3).sum(axis=2)
    found: Floats = np.stack([by_bet[:, 0], by_bet[:, 1:].sum(axis=1)], axis=1)
    return found


def usual_counts(total: Floats) -> Floats:
    """The counts of the average player, [SEEN], scaled to one hand, from the sum of the counts of
    many players. Rates of rare situations are shrunk towards those of all with the same bet."""
    hands = max(1.0, float(total[S_HANDS]))
    usual: Floats = (total + 1e-3) / hands
    usual[S_LATELY : S_LATELY + 2] = usual[S_ENTERED : S_ENTERED + 2]
    moves = total[S_MOVES:S_ENTERED].reshape(4, _BETS, _PLACES, 3)
    share = np.stack([(1e-3, 1.0, 1.0), *[(1.0, 1.0, 1.0)] * (_BETS - 1)])[:, None]
    for over in ((0, 2), (2,), ()):
        counts = moves.sum(axis=over, keepdims=True) if over else moves
        share = counts + _COARSER * share / share.sum(axis=-1, keepdims=True)
    usual[S_MOVES:S_ENTERED] = share.reshape(-1) / hands
    by_kind = usual[S_MOVES:S_ENTERED].reshape(-1, 3).sum(axis=0)
    usual[S_LATELY + 2] = by_kind[RAISE] / by_kind.sum()
    return usual


@njit
def profile_features(seen: Any, usual: Any, out: Any) -> None:
    """The features of a profile, into `out` uint8 [PROFILE]; `usual` as of `usual_counts`."""
    hands = seen[S_HANDS]
    out[0] = min(255.0, 16.0 * np.log2(1.0 + hands))
    often = _situations(seen, usual, out)
    at = _ENTERED
    out[at] = 250.0 * (seen[S_ENTERED] + _PRIOR * usual[S_ENTERED]) / (hands + _PRIOR)
    out[at + 1] = 250.0 * (seen[S_RAISED] + _PRIOR * usual[S_RAISED]) / (hands + _PRIOR)
    raises, every = 0.0, 0.0
    for situation in range(SITUATIONS):
        at = S_MOVES + 3 * situation
        raises += seen[at + RAISE]
        every += seen[at + FOLD] + seen[at + CALL] + seen[at + RAISE]
    out[_AGGRESSION] = 250.0 * (raises + _PRIOR * often) / (every + _PRIOR)
    faded = _LATELY**hands
    for late in range(3):
        rate = seen[S_LATELY + late] + faded * usual[S_LATELY + late]
        out[_LATE + late] = min(255.0, 250.0 * rate)
    for when in range(2):
        size = S_SIZES + 2 * when
        mean = usual[size] / usual[size + 1]
        shrunk = (seen[size] + _PRIOR * mean) / (seen[size + 1] + _PRIOR)
        out[_LATE + 3 + when] = min(255.0, 20.0 * shrunk)


@njit
def _situations(seen: Any, usual: Any, out: Any) -> Any:
    """The features of situations, and from these how a player differs from what is usual; returns
    the usual share of raises among all moves."""
    # Of each street: folds and raises facing a bet, and bets, more than usual; their variances.
    more, variance = np.zeros((4, 3)), np.zeros((4, 3))
    all_raises, all_ = 0.0, 0.0
    for coarse in range(_COARSE):
        street, faced = coarse // _BETS, coarse % _BETS
        folds, raises, times = 0.0, 0.0, 0.0
        expected_folds, expected_raises = 0.0, 0.0
        usual_folds, usual_raises, usual_times = 0.0, 0.0, 0.0
        for place in range(_PLACES):
            situation = coarse * _PLACES + place
            at = S_MOVES + 3 * situation
            whole = usual[at + FOLD] + usual[at + CALL] + usual[at + RAISE]
            fold, more_ = usual[at + FOLD] / whole, usual[at + RAISE] / whole
            count = seen[at + FOLD] + seen[at + CALL] + seen[at + RAISE]
            to = GENERAL + 3 * _COARSE + 3 * situation
            _rates(seen[at + FOLD], seen[at + RAISE], count, fold, more_, to, out)
            folds += seen[at + FOLD]
            raises += seen[at + RAISE]
            times += count
            expected_folds += count * fold
            expected_raises += count * more_
            usual_folds += usual[at + FOLD]
            usual_raises += usual[at + RAISE]
            usual_times += whole
        all_raises += usual_raises
        all_ += usual_times
        fold, more_ = usual_folds / usual_times, usual_raises / usual_times
        _rates(folds, raises, times, fold, more_, GENERAL + 3 * coarse, out)
        if faced == 0:
            more[street, 2] += raises - expected_raises
            variance[street, 2] += times * more_ * (1.0 - more_)
        else:
            more[street, 0] += folds - expected_folds
            more[street, 1] += raises - expected_raises
            variance[street, 0] += times * fold * (1.0 - fold)
            variance[street, 1] += times * more_ * (1.0 - more_)
    for which in range(3):
        for street in range(4):
            _differ(more[street, which], variance[street, which], 1 + 3 * street + which, out)
        later, spread = more[1:, which].sum(), variance[1:, which].sum()
        _differ(later, spread, 1 + 3 * 4 + which, out)
        _differ(more[0, which] + later, variance[0, which] + spread, 1 + 3 * 5 + which, out)
    return all_raises / all_


@njit
def _differ(more: Any, variance: Any, at: Any, out: Any) -> None:
    """How much more than usual a player does something, shrunk: 128 is as usual."""
    by = more / (variance + _NO_DIFFERENCE)
    out[at] = 128.0 + 127.0 * by / (1.0 + abs(by))


@njit
def _rates(folds: Any, raises: Any, times: Any, fold: Any, more: Any, at: Any, out: Any) -> None:
    """Shrunk rates of folds and raises, usually `fold` and `more`, in 1/250, and how often the
    situation was seen, into three features from `at` on."""
    out[at] = 250.0 * (folds + _PRIOR_HERE * fold) / (times + _PRIOR_HERE)
    out[at + 1] = 250.0 * (raises + _PRIOR_HERE * more) / (times + _PRIOR_HERE)
    out[at + 2] = min(255.0, 16.0 * np.log2(1.0 + times)) if times > 0.0 else 0.0


@njit(inline="always")
def player_features(profiles: Any, seat: Any, raiser: Any, situation: Any, out: Any) -> None:
    """What a decision in a situation has of the profiles uint8 [10, PROFILE] of the seats, into
    `out` uint8 [COLUMNS] after the features of the decision: of the actor's, and of the last
    raiser's (-1: nobody)."""
    for column in range(GENERAL):
        out[FEATURES + column] = profiles[seat, column]
    at = FEATURES + GENERAL
    coarse = GENERAL + 3 * (situation // _PLACES)
    fine = GENERAL + 3 * _COARSE + 3 * situation
    for column in range(3):
        out[at + column] = profiles[seat, coarse + column]
        out[at + 3 + column] = profiles[seat, fine + column]
    at = FEATURES + OF_PLAYER
    for column in range(RAISER):
        out[at + column] = profiles[raiser, _OF_RAISER[column]] if raiser >= 0 else 0


def profiles_of_decisions(features: Any) -> Any:
    """Profiles [n, PROFILE] from which decisions have these features [n, COLUMNS]: those of the
    decision's situation stand for all situations."""
    mine = features[:, FEATURES : FEATURES + OF_PLAYER]
    coarse, fine = mine[:, GENERAL : GENERAL + 3], mine[:, GENERAL + 3 :]
    parts = [mine[:, :GENERAL], np.tile(coarse, _COARSE), np.tile(fine, SITUATIONS)]
    return np.concatenate(parts, axis=1)
