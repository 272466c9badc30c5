"""Finished hands replayed, to learn how each opponent's moves depend on its hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr_holdem.cards import DECK, HANDS
from cbr_holdem.table import (
    BOARD,
    BOARD_CARDS,
    FOLD,
    HISTORY,
    HOLE,
    MOST_SEATS,
    MOVES,
    PAID,
    POST,
    RAISE,
    SEATS,
    STACK,
    STREET,
    act,
    deal_posted,
    raise_limits,
    to_call,
    unpacked,
)
from cbr_mcts.corrections import (
    COUNT,
    TRAITS,
    begin_or_fade,
    corrected,
    fill_odds,
    fill_traits,
    learn_hidden,
    learn_shown,
    move_likelihood,
)
from cbr_opponents import (
    PROFILE,
    BoardHands,
    Workspace,
    board_hands,
    fill_board,
    workspace,
)

_ONE, _TWO = HANDS[:, 0].astype(np.int64), HANDS[:, 1].astype(np.int64)
#: Moves of a hand that are learned from.
_MOST = 32
#: What earlier decisions weigh less for each later one.
_FADING = 0.999


class Replayed(NamedTuple):
    """The moves of the opponents in a hand, `count` [1] of them: `seat`, `street`, `kind`, whether
    it was `facing` a bet, and whether it `may` raise [_MOST]; and with each hand the logarithmic
    `odds` of a fold, and of a raise if it does not fold, by the model, [_MOST, 4, 1326] (see
    `fill_odds`). `strength` [4, 1326] of each hand by street, -1 where the board has one of its
    cards. `weights` [1326], `gradient`, `step` and `traits` [TRAITS] are working space."""

    count: Any
    seat: Any
    street: Any
    kind: Any
    facing: Any
    may: Any
    odds: Any
    strength: Any
    weights: Any
    gradient: Any
    step: Any
    traits: Any


@njit
def _space() -> Any:
    return Replayed(
        np.zeros(1, np.int64),
        np.zeros(_MOST, np.int64),
        np.zeros(_MOST, np.int64),
        np.zeros(_MOST, np.int64),
        np.zeros(_MOST, np.bool_),
        np.zeros(_MOST, np.bool_),
        np.empty((_MOST, 4, COUNT)),
        np.empty((4, COUNT), np.int64),
        np.empty(COUNT),
        np.empty(TRAITS),
        np.empty(TRAITS),
        np.empty(TRAITS),
    )


@njit
def learn_hands(
    tables: Any, own: Any, terms: Any, models: Any, found: Any, slopes: Any, doubts: Any
) -> None:
    """Learn from finished hands [n], in sessions of their own each: `slopes` [n, 10, M, LOGITS,
    TRAITS] and `doubts` [n, 10, M, LOGITS, TRAITS, TRAITS] of the players from our left on. `found`
    is what models made of them before."""
    space, hands, done = workspace(models[0]), board_hands(), _space()
    row = np.zeros(tables.shape[1], np.int64)
    for i in range(len(tables)):
        for m in range(len(models)):
            profiles, factors = found.profiles[i, m], found.factors[i, m]
            _replay(tables[i], own[i], terms, models[m], profiles, factors, row, space, hands, done)
            for turn in range(1, tables[i, SEATS]):
                seat = (own[i] + turn) % tables[i, SEATS]
                if _weigh(tables[i], own[i], seat, slopes[i, turn, m], done):
                    _learn(tables[i], seat, slopes[i, turn, m], doubts[i, turn, m], done)


@njit
def _replay(
    end: Any,
    own: Any,
    terms: Any,
    model: Any,
    profiles: Any,
    factors: Any,
    r: Any,
    space: Workspace,
    hands: BoardHands,
    done: Replayed,
) -> None:
    """Fill what the model says of the moves of the opponents."""
    seats, nothing = end[SEATS], np.zeros(MOST_SEATS, np.int64)
    stacks = end[STACK : STACK + MOST_SEATS] + end[PAID : PAID + MOST_SEATS]
    deal_posted(r, terms, seats, stacks, end[POST:], nothing, end[HOLE:])
    board = np.empty(5, np.uint8)
    for place in range(5):
        board[place] = r[BOARD + place] = end[BOARD + place]
    for seat in range(seats):
        for column in range(PROFILE):
            space.profiles[seat, column] = profiles[seat, column]
    street, at = -1, 0
    for move in range(end[MOVES]):
        _street, seat, kind, amount = unpacked(end[HISTORY + move])
        if r[STREET] != street:
            street = r[STREET]
            fill_board(board, BOARD_CARDS[street], hands)
            for h in range(COUNT):
                done.strength[street, h] = hands.strength[h]
        if seat != own and at < _MOST:
            done.seat[at], done.street[at], done.kind[at] = seat, street, kind
            done.facing[at], done.may[at] = to_call(r) > 0, raise_limits(r, terms)[1] > 0
            fill_odds(r, terms, model, factors[seat], space, hands, done.odds[at])
            at += 1
        if move + 1 < end[MOVES]:  # the last one would settle the pot
            act(r, terms, kind, amount)
    done.count[0] = at


@njit(inline="always")
def _traits_of(street: Any, h: Any, done: Replayed) -> None:
    fill_traits(street, done.strength[street, h], _ONE[h], _TWO[h], done.traits)


@njit
def _weigh(end: Any, own: Any, seat: Any, slopes: Any, done: Replayed) -> Any:
    """The chances of the hands of a seat given all its moves, into `done.weights`; returns whether
    it made any."""
    dead = np.zeros(DECK + 1, np.bool_)
    for place in range(BOARD_CARDS[end[STREET]]):
        dead[end[BOARD + place]] = True
    for other in range(end[SEATS]):
        if other != seat:
            dead[end[HOLE + 2 * other]] = dead[end[HOLE + 2 * other + 1]] = True
    one, two = end[HOLE + 2 * seat], end[HOLE + 2 * seat + 1]
    shown = one < DECK and two < DECK
    weights, moved = done.weights, False
    for h in range(COUNT):
        weights[h] = 0.0
        if shown:
            weights[h] = 1.0 if _ONE[h] == min(one, two) and _TWO[h] == max(one, two) else 0.0
        elif not dead[_ONE[h]] and not dead[_TWO[h]]:
            weights[h] = 1.0
    for at in range(done.count[0]):
        if done.seat[at] != seat:
            continue
        moved = True
        street, kind, facing = done.street[at], done.kind[at], done.facing[at]
        total = 0.0
        for h in range(COUNT):
            if weights[h] > 0.0 and not shown:
                _traits_of(street, h, done)
                fold, raised = done.odds[at, 0, h], done.odds[at, 1, h]
                weights[h] *= move_likelihood(
                    kind, facing, done.may[at], street, fold, raised, slopes, done.traits
                )
            total += weights[h]
        for h in range(COUNT):
            weights[h] /= max(1e-300, total)
    return moved


@njit
def _learn(end: Any, seat: Any, slopes: Any, doubts: Any, done: Replayed) -> None:
    """Change the slopes of a seat by each of its moves."""
    for at in range(done.count[0]):
        if done.seat[at] != seat:
            continue
        street, kind, facing = done.street[at], done.kind[at], done.facing[at]
        if facing:
            folded = 1.0 if kind == FOLD else 0.0
            _learn_one(at, street, 3 * street, folded, done.odds[at, 0], slopes, doubts, done)
        if done.may[at] and kind != FOLD:
            of = 3 * street + (1 if facing else 2)
            raised = 1.0 if kind == RAISE else 0.0
            _learn_one(at, street, of, raised, done.odds[at, 1], slopes, doubts, done)


@njit(allocates=False)
def _learn_one(
    at: Any,
    street: Any,
    of: Any,
    happened: Any,
    odds: Any,
    slopes: Any,
    doubts: Any,
    done: Replayed,
) -> None:
    begin_or_fade(doubts[of], _FADING)
    gradient, most = done.gradient, 0.0
    for trait in range(TRAITS):
        gradient[trait] = 0.0
    for h in range(COUNT):
        weight = done.weights[h]
        if weight <= 1e-9:
            continue
        most = max(most, weight)
        _traits_of(street, h, done)
        chance = corrected(odds[h], slopes[of], done.traits)
        if weight > 0.999:
            learn_shown(chance, happened, done.traits, slopes[of], doubts[of], done.step)
            return
        for trait in range(TRAITS):
            gradient[trait] += weight * (happened - chance) * done.traits[trait]
    if most > 0.0:
        learn_hidden(gradient, slopes[of], doubts[of], done.step)
