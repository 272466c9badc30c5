"""Roll-outs: the value of each legal action of a logged decision.

For one deal the opponents' hands are drawn from their ranges, given their moves in the hand, and
the board is completed. Then every legal move is played out with the same cards and the same random
numbers, so that differences between moves are paired. The opponents play by the model, we by our
best response to it. A fold has value 0, since nothing more is lost. Of the hole cards in the log,
only those of the player who decides are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.jit import copy_to, njit
from cbr.typing import Floats, Ints
from cbr_holdem.cards import DECK, HANDS
from cbr_holdem.chance import key, mixed
from cbr_holdem.table import (
    ACTOR,
    BET_SIZES,
    BOARD,
    BOARD_CARDS,
    CALL,
    FOLD,
    FOLDED,
    MOST_SEATS,
    MOVES,
    PAID,
    PARTS,
    PAYOFF,
    RAISE,
    STREET,
    add_up,
    deal_unseen,
)
from cbr_opponents import (
    Strategies,
    board_hands,
    context,
    fill_board,
    legal_moves,
    play_move,
    play_out,
    update_range,
    workspace,
)

_COUNT = len(HANDS)
#: The part of a random key that is reserved for roll-outs.
_KEY = np.int64(0x726F6C6C)


def rollout_values(
    tables: Ints,
    terms: Ints,
    move: Ints,
    wanted: NDArray[np.bool_],
    number: Ints,
    strategies: Strategies,
    deals: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """Mean results of moves [m, moves] in small bets (big blinds in no-limit), and their standard
    errors; NaN where a move is not legal or the decision is not wanted.

    `tables` [m, WIDTH] are decisions in the order of play, hand after hand. `move` [m] is the
    logged move, and `number` [m] keys the random numbers of a decision.
    """
    mean = np.full((len(tables), strategies.own.shape[-1]), np.nan)
    error = np.full_like(mean, np.nan)
    _values(tables, terms, move, wanted, number, strategies, deals, seed, mean, error)
    return mean, error


@njit
def _simulate(
    r: Any,
    terms: Any,
    weights: Any,
    strategies: Strategies,
    deals: Any,
    state: Any,
    mean: Any,
    error: Any,
    space: Any,
) -> None:
    """The values of one decision, where `weights` [10, 1326] are the ranges of all seats."""
    seat, sizes = r[ACTOR], strategies.sizes
    sums = np.empty((MOST_SEATS, _COUNT))
    add_up(weights, r[FOLDED], seat, sums)
    moves = len(mean)
    legal = np.zeros(moves, np.bool_)
    here = strategies.own[r[STREET], context(r, terms)]
    for move in range(RAISE, moves):
        legal[move] = here[:, move].max() > 0.0
    legal_moves(r, terms, sizes, legal)
    total, squares = np.zeros(moves), np.zeros(moves)
    taken, anything = np.zeros(DECK + 1, np.bool_), np.zeros(MOST_SEATS, np.bool_)
    table, then = r.copy(), r.copy()
    for _ in range(deals):
        copy_to(r, table)
        state = deal_unseen(table, sums, anything, state, taken)
        space.known[:] = -1
        for move in range(CALL, moves):
            if legal[move]:
                copy_to(table, then)
                play_move(then, terms, sizes, move)
                play_out(then, terms, seat, strategies, state, space)
                won = (then[PAYOFF + seat] / PARTS + r[PAID + seat]) / terms[BET_SIZES]
                total[move] += won
                squares[move] += won * won
        state = mixed(state)  # so that the next deal draws other numbers
    for move in range(moves):
        if legal[move]:
            mean[move] = total[move] / deals
            spread = max(0.0, squares[move] / deals - mean[move] ** 2)
            error[move] = np.sqrt(spread / max(1, deals - 1))


@njit
def _values(
    tables: Any,
    terms: Any,
    move: Any,
    wanted: Any,
    number: Any,
    strategies: Any,
    deals: Any,
    seed: Any,
    mean: Any,
    error: Any,
) -> None:
    weights = np.ones((MOST_SEATS, _COUNT))
    space, hands = workspace(strategies.others), board_hands()
    board = np.empty(5, np.uint8)
    ready = -1
    for i in range(len(tables)):
        r = tables[i]
        if r[MOVES] == 0:
            # A new hand begins; ranges are updated only if one of its decisions is wanted.
            weights[:] = 1.0
            ready = -1
            end = i + 1
            while end < len(tables) and tables[end, MOVES] > 0:
                end += 1
            follow = wanted[i:end].any()
        if not follow:
            continue
        street, seat = r[STREET], r[ACTOR]
        if ready < street:
            for place in range(5):
                board[place] = r[BOARD + place]
            fill_board(board, BOARD_CARDS[street], hands)
            ready = street
        if wanted[i]:
            state = key(seed, number[i], _KEY, 0)
            _simulate(r, terms[i], weights, strategies, deals, state, mean[i], error[i], space)
        if move[i] != FOLD:
            update_range(weights[seat], hands, r, terms[i], move[i], strategies.others, space)
