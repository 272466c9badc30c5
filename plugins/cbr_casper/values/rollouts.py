"""What each action of a logged decision is worth: the hand played to its end, again and again.

For one deal the others' hands are drawn by what their actions in the hand say about them, and the
board is completed; then every legal move is played on with the same cards and the same luck, the
others acting by the casebase's habits, we by our answer to them. A fold is worth 0, as nothing is
lost any more. Of the cards that only the log knows, those of whoever decides are looked at and no
others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

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
from cbr_opponents.abstraction import context, hand_mark, legal_moves, play_move
from cbr_opponents.opponent_model import Players, Strategies, chances, play_out, rooms

_COUNT = len(HANDS)
#: No hand is ruled out by what a player did; but if many unlikely ones counted, whoever raises
#: would seem to bluff.
_FLOOR = 1e-4
#: The part of a key that is kept for roll-outs.
_ROLLOUTS = np.int64(0x726F6C6C)


def values(
    tables: Ints,
    terms: Ints,
    move: Ints,
    wanted: NDArray[np.bool_],
    number: Ints,
    strategies: Strategies,
    deals: int,
    seed: int,
) -> tuple[Floats, Floats]:
    """Means [m, moves] in small bets (big blinds in no-limit), and their standard errors; NaN where
    a move is not legal or the decision is not wanted.

    `tables` [m, WIDTH] are decisions in the order of play, hand after hand; `move` [m] what was
    done, `number` [m] by which a decision has its luck.
    """
    mean = np.full((len(tables), strategies.own.shape[-1]), np.nan)
    error = np.full_like(mean, np.nan)
    _values(tables, terms, move, wanted, number, strategies, deals, seed, mean, error)
    return mean, error


@njit(cache=True)
def _marks(board: Any, shown: Any, out: Any) -> None:
    """Mark of every hand on a board, -1 where it shares a card with it."""
    hole, now = np.empty(2, np.uint8), np.empty(3, np.int64)
    for h in range(_COUNT):
        hole[0], hole[1] = HANDS[h, 0], HANDS[h, 1]
        free = True
        for place in range(shown):
            free &= board[place] != hole[0] and board[place] != hole[1]
        out[h] = hand_mark(hole, board, shown, now) if free else -1


@njit(cache=True)
def _weigh(
    weight: Any, marks: Any, r: Any, terms: Any, move: Any, players: Players, known: Any, room: Any
) -> None:
    """What an action says about the hand: weights [1326] times its chance with each hand. Hands of
    one mark act alike: `known` [65536] is -1 everywhere, before and after."""
    _, _, codes, likely = room
    most = 0.0
    for h in range(_COUNT):
        mark = marks[h]
        if mark >= 0:
            if known[mark] < 0.0:
                chances(r, terms, mark, players, codes, likely)
                known[mark] = likely[move]
            weight[h] *= known[mark]
            most = max(most, weight[h])
        else:
            weight[h] = 0.0
    for h in range(_COUNT):
        if marks[h] >= 0:
            known[marks[h]] = -1.0
            weight[h] = max(_FLOOR, weight[h] / most) if most > 0.0 else 1.0


@njit(cache=True)
def _simulate(
    r: Any,
    terms: Any,
    weights: Any,
    strategies: Strategies,
    deals: Any,
    state: Any,
    mean: Any,
    error: Any,
    room: Any,
) -> None:
    """The values of one decision, where the others' weights are [10, 1326]."""
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
        table[:] = r
        state = deal_unseen(table, sums, anything, state, taken)
        room[0][:] = -1
        for move in range(CALL, moves):
            if legal[move]:
                then[:] = table
                play_move(then, terms, sizes, move)
                play_out(then, terms, seat, strategies, state, room)
                won = (then[PAYOFF + seat] / PARTS + r[PAID + seat]) / terms[BET_SIZES]
                total[move] += won
                squares[move] += won * won
        state = mixed(state)  # the next deal's luck is not that of this one
    for move in range(moves):
        if legal[move]:
            mean[move] = total[move] / deals
            spread = max(0.0, squares[move] / deals - mean[move] ** 2)
            error[move] = np.sqrt(spread / max(1, deals - 1))


@njit(cache=True)
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
    marks, known = np.empty((4, _COUNT), np.int64), np.full(1 << 16, -1.0)
    room = rooms(mean.shape[1])
    board = np.empty(5, np.uint8)
    _marks(board, 0, marks[0])
    ready = 0
    for i in range(len(tables)):
        r = tables[i]
        if r[MOVES] == 0:
            # Another hand begins. Whether anything in it is wanted is known before it is followed.
            weights[:] = 1.0
            ready = 0
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
            _marks(board, BOARD_CARDS[street], marks[street])
            ready = street
        if wanted[i]:
            state = key(seed, number[i], _ROLLOUTS, 0)
            _simulate(r, terms[i], weights, strategies, deals, state, mean[i], error[i], room)
        if move[i] != FOLD:
            others = strategies.others
            _weigh(weights[seat], marks[street], r, terms[i], move[i], others, known, room)
