"""What is believed of opponents at a decision: which model each follows, and which hand each holds.

The hand is replayed. By Bayes' rule each move multiplies the weight of a hand by the chance of the
move with it, and the weight of a model by the chance of the move over all hands. Raises between two
sizes of the abstraction count as one of them at random, by how near they are in ratio
(Schnizlein et al. 2009), so that nobody can hide behind a size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
from cbr_holdem.cards import DECK, HANDS
from cbr_holdem.chance import step, unit
from cbr_holdem.table import (
    ACTOR,
    BET,
    BOARD,
    BOARD_CARDS,
    FOLD,
    FOLDED,
    HISTORY,
    HOLE,
    LIMIT,
    MOST_SEATS,
    MOVES,
    PAID,
    POST,
    RAISE,
    SEATS,
    STACK,
    STREET,
    TOP,
    WIDTH,
    act,
    deal_posted,
    pot_of,
    raise_limits,
    to_call,
    unpacked,
)
from cbr_mcts.corrections import COUNT, correct, fill_odds, fill_traits, is_known, move_likelihood
from cbr_mcts.simulation import WRONG_RANGE, Belief, Scene, fill_guide
from cbr_opponents import FLOOR, BoardHands, begin_decision, fill_board, hand_chances, move_of

_ONE, _TWO = HANDS[:, 0].astype(np.int64), HANDS[:, 1].astype(np.int64)


@njit
def believe(
    end: Any,
    terms: Any,
    sizes: Any,
    prior: Any,
    models: Any,
    reads_hands: Any,
    belief: Belief,
    scene: Scene,
    state: Any,
) -> None:
    """Fill the beliefs at a table where we are to act; `prior` [10, M] are the chances of models by
    seat before the hand. `state` is a random state."""
    own, seats, many = end[ACTOR], end[SEATS], len(models)
    weights, before = belief.sums, np.empty(COUNT)
    for m in range(many):
        for seat in range(seats):
            for h in range(COUNT):
                weights[m, seat, h] = 1.0
    chances = prior.copy()
    if reads_hands or many > 1:
        _replay(end, terms, sizes, models, belief, scene, chances, before, state)
    else:
        fill_board(_board_of(end), BOARD_CARDS[end[STREET]], belief.hands)
    belief.street[0] = end[STREET]
    dead = np.zeros(DECK + 1, np.bool_)
    dead[end[HOLE + 2 * own]] = dead[end[HOLE + 2 * own + 1]] = True
    for seat in range(seats):
        for m in range(many):
            total = 0.0
            for h in range(COUNT):
                gone = belief.hands.strength[h] < 0
                if seat != own:
                    gone = gone or dead[_ONE[h]] or dead[_TWO[h]]
                if not gone:
                    total += weights[m, seat, h]
                weights[m, seat, h] = total
            fill_guide(weights[m, seat], belief.guide[m, seat])
            chances[seat, m] *= total > 0.0
        total = 0.0
        for m in range(many):
            total += chances[seat, m]
            belief.models[seat, m] = total


@njit(inline="always")
def _board_of(r: Any) -> Any:
    board = np.empty(5, np.uint8)
    for place in range(5):
        board[place] = r[BOARD + place]
    return board


@njit(inline="always")
def _replay(
    end: Any,
    terms: Any,
    sizes: Any,
    models: Any,
    belief: Belief,
    scene: Scene,
    chances: Any,
    before: Any,
    state: Any,
) -> None:
    """Multiply weights and chances by the likelihood of the moves so far."""
    r, hands, board = np.zeros(WIDTH, np.int64), belief.hands, _board_of(end)
    nothing = np.zeros(MOST_SEATS, np.int64)
    stacks = np.empty(MOST_SEATS, np.int64)
    for seat in range(MOST_SEATS):
        stacks[seat] = end[STACK + seat] + end[PAID + seat]
    deal_posted(r, terms, end[SEATS], stacks, end[POST:], nothing, end[HOLE:])
    moves, street = 2 + len(sizes), -1
    for m in range(end[MOVES] + 1):
        now = end[STREET] if m == end[MOVES] else r[STREET]
        if now != street:
            street = now
            fill_board(board, BOARD_CARDS[street], hands)
        if m == end[MOVES]:
            break
        _street, seat, kind, amount = unpacked(end[HISTORY + m])
        state = step(state)
        if kind != FOLD and not end[FOLDED] >> seat & 1:
            move = observed_move(r, terms, sizes, kind, amount, moves, unit(state))
            for which in range(len(models)):
                _observe(which, seat, move, r, terms, models, belief, scene, chances, before)
        act(r, terms, kind, amount)


@njit(inline="always")
def _observe(
    which: Any,
    seat: Any,
    move: Any,
    r: Any,
    terms: Any,
    models: Any,
    belief: Belief,
    scene: Scene,
    chances: Any,
    before: Any,
) -> None:
    """Update the range of a seat under one model, and the chance of the model, by a move."""
    weights, hands = belief.sums[which, seat], belief.hands
    copy_profiles(which, r[SEATS], scene)
    _fill_likelihoods(which, seat, move, r, terms, models[which], hands, scene)
    likely, total, most, sound = 0.0, 0.0, 0.0, True
    for h in range(COUNT):
        before[h] = weights[h]
        if hands.level[h] >= 0:
            weights[h] *= scene.odds[0, h]
            likely += weights[h]
            total += before[h]
            most = max(most, weights[h])
            sound &= weights[h] >= 0.0 and weights[h] < np.inf
        else:
            weights[h] = 0.0
    if not (sound and likely >= 0.0):
        for h in range(COUNT):
            weights[h] = before[h]
        scene.faults[WRONG_RANGE] += 1
        return
    chances[seat, which] *= likely / total
    for h in range(COUNT):
        if hands.level[h] >= 0:
            weights[h] = max(FLOOR, weights[h] / most) if most > 0.0 else 1.0


@njit(allocates=False)
def _fill_likelihoods(
    which: Any,
    seat: Any,
    move: Any,
    r: Any,
    terms: Any,
    model: Any,
    hands: BoardHands,
    scene: Scene,
) -> None:
    """The likelihood of the actor's move with each hand on the board, in `scene.odds[0]`."""
    space, odds, street = scene.space, scene.odds, r[STREET]
    factors, slopes = scene.factors[which, seat], scene.slopes[which, seat]
    if is_known(street, slopes):
        facing, may = to_call(r) > 0, raise_limits(r, terms)[1] > 0
        fill_odds(r, terms, model, factors, space, hands, odds)
        for h in range(COUNT):
            if hands.level[h] >= 0:
                fill_traits(street, hands.strength[h], _ONE[h], _TWO[h], scene.traits)
                odds[0, h] = move_likelihood(
                    min(move, RAISE),
                    facing,
                    may,
                    street,
                    odds[0, h],
                    odds[1, h],
                    slopes,
                    scene.traits,
                )
        return
    begin_decision(r, terms, model, space)
    for level in range(hands.count[0]):
        hand_chances(hands.different[level], model, space)
        correct(factors, space)
        odds[1, level] = space.chances[move]
    for h in range(COUNT):
        if hands.level[h] >= 0:
            odds[0, h] = odds[1, hands.level[h]]


@njit(allocates=False)
def copy_profiles(which: Any, seats: Any, scene: Scene) -> None:
    """Set the profiles of all seats to those that a model knows."""
    for seat in range(seats):
        for column in range(scene.profiles.shape[2]):
            scene.space.profiles[seat, column] = scene.profiles[which, seat, column]


@njit(allocates=False)
def observed_move(
    r: Any, terms: Any, sizes: Any, kind: Any, amount: Any, moves: Any, uniform: Any
) -> Any:
    """The move of the abstraction as which an action counts, by a uniform number: a raise by b pots
    between sizes c < b < d counts as c with chance (c/b - c/d) / (1 - c/d), otherwise as d."""
    move = move_of(r, terms, kind, amount, moves)
    if kind != RAISE or terms[LIMIT]:
        return move
    top = r[TOP]
    pot, by = pot_of(r) + top - r[BET + r[ACTOR]], amount - top
    least = raise_limits(r, terms)[0] - top
    size = move - RAISE
    low = _amount(sizes, size, pot, least)
    if by == low or by >= r[STACK + r[ACTOR]] + r[BET + r[ACTOR]] - top:
        return move  # exactly this size, or all-in
    # The nearer one of two neighbours was chosen; the other is on the far side of the amount.
    other = size - 1 if by < low else size + 1
    if other < 0 or other > len(sizes) - 2 or _amount(sizes, other, pot, least) <= least:
        return move
    c, d = min(size, other), max(size, other)
    below, above = _amount(sizes, c, pot, least), _amount(sizes, d, pot, least)
    if not below < by < above:
        return move
    share = (below / by - below / above) / (1.0 - below / above)
    return RAISE + (c if uniform < share else d)


@njit(allocates=False)
def _amount(sizes: Any, size: Any, pot: Any, least: Any) -> Any:
    return max(float(least), sizes[size] * pot)
