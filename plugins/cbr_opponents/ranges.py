"""Ranges: the posterior over the 1,326 hands that a player may hold, given the moves made.

By Bayes' rule each move multiplies the weight of a hand by the chance that the opponent model gives
the move with that hand. Weights are relative: the likeliest hand has weight 1, and no hand that is
possible falls below `FLOOR`, so that no hand is ruled out by a model that is only nearly right.
Hands that share a card with the board, or with cards that are known to be elsewhere, have weight 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr.typing import Floats, Ints
from cbr_holdem.cards import DECK, HANDS, rank_on_board
from cbr_holdem.strength import quick_potential
from cbr_holdem.table import (
    ACTOR,
    BOARD,
    BOARD_CARDS,
    FOLD,
    HISTORY,
    HOLE,
    MOST_SEATS,
    MOVES,
    SEATS,
    STREET,
    act,
    unpacked,
)
from cbr_opponents.abstraction import as_packed, move_of, packed_strength
from cbr_opponents.logged_hands import begin_again
from cbr_opponents.opponent_model import (
    OpponentModel,
    Workspace,
    begin_decision,
    hand_chances,
    workspace,
)

_COUNT = len(HANDS)
#: The least weight of a possible hand. With a larger one the many unlikely hands would add up, and
#: every raise would look like a bluff.
FLOOR = 1e-4
_ONE, _TWO = HANDS[:, 0].astype(np.int64), HANDS[:, 1].astype(np.int64)


class BoardHands(NamedTuple):
    """All hands on a board: `strength` [1326] is the packed strength of each, -1 for hands that
    share a card with the board. Hands of the same strength have the same chances, so these are
    computed once: `level` [1326] is the place of a hand's strength among the `different` ones
    [1326], of which there are `count` [1]. `chance` [1326] is working space, a number a level."""

    strength: Any
    level: Any
    different: Any
    count: Any
    chance: Any


@njit
def board_hands() -> Any:
    """Allocated arrays, to be filled for one board after the other."""
    return BoardHands(
        np.empty(_COUNT, np.int64),
        np.empty(_COUNT, np.int64),
        np.empty(_COUNT, np.int64),
        np.zeros(1, np.int64),
        np.empty(_COUNT),
    )


@njit
def fill_board(board: Any, shown: Any, hands: BoardHands) -> None:
    """Compute the strengths of all hands on a board uint8 [5] with `shown` cards."""
    if shown == 0:
        hole, counts = np.empty(2, np.uint8), np.empty(3, np.int64)
        for h in range(_COUNT):
            hole[0], hole[1] = HANDS[h, 0], HANDS[h, 1]
            hands.strength[h] = packed_strength(hole, board, 0, counts)
    else:
        _strengths(board, shown, hands.strength)
    order = np.argsort(hands.strength)
    count, before = 0, np.int64(-1)
    for h in order:
        strength = hands.strength[h]
        if strength < 0:
            hands.level[h] = -1
            continue
        if strength != before:
            hands.different[count] = before = strength
            count += 1
        hands.level[h] = count - 1
    hands.count[0] = count


@njit
def _strengths(board: Any, shown: Any, out: Any) -> None:
    """Packed strengths after the flop. Hands are sorted by their value once; running counts, in all
    and by card, then give how many hands each one beats and ties, without the hands that it makes
    impossible: exactly what `count_now` counts hand by hand."""
    value = np.zeros(_COUNT, np.int64)
    dead = np.zeros(DECK, np.bool_)
    for place in range(shown):
        dead[board[place]] = True
    for h in range(_COUNT):
        if not dead[_ONE[h]] and not dead[_TWO[h]]:
            value[h] = rank_on_board(_ONE[h], _TWO[h], board, shown)
    order = np.argsort(value)
    first = 0
    while first < _COUNT and value[order[first]] == 0:
        out[order[first]] = -1
        first += 1
    cards = np.zeros(DECK, np.int64)
    left = DECK - shown - 2
    others = left * (left - 1) // 2
    hole = np.empty(2, np.uint8)
    below, start = 0, first
    while start < _COUNT:
        end = start
        while end < _COUNT and value[order[end]] == value[order[start]]:
            h = order[end]
            out[h] = below - cards[_ONE[h]] - cards[_TWO[h]]  # hands that it beats
            end += 1
        for place in range(start, end):
            h = order[place]
            cards[_ONE[h]] += 1
            cards[_TWO[h]] += 1
        below += end - start
        for place in range(start, end):
            h = order[place]
            ahead = out[h]
            # Itself was counted once in all, and once with each of its cards.
            tied = below - cards[_ONE[h]] - cards[_TWO[h]] + 1 - ahead
            hole[0], hole[1] = HANDS[h, 0], HANDS[h, 1]
            potential = 0.0
            if shown < 5:
                potential = quick_potential(hole, board[:shown])
            out[h] = as_packed((ahead + 0.5 * tied) / others, potential)
        start = end


@njit(allocates=False)
def update_range(
    weights: Any,
    hands: BoardHands,
    r: Any,
    terms: Any,
    move: Any,
    model: OpponentModel,
    space: Workspace,
) -> None:
    """Multiply the weights [1326] of the actor's hands by the likelihood of its move; `hands` are
    those of the board."""
    chance, levels, different, chances = hands.chance, hands.level, hands.different, space.chances
    begin_decision(r, terms, model, space)
    for level in range(hands.count[0]):
        hand_chances(different[level], model, space)
        chance[level] = chances[move]
    most = 0.0
    for h in range(_COUNT):
        level = levels[h]
        weights[h] *= chance[level] if level >= 0 else 0.0
        most = max(most, weights[h])
    scale = 1.0 / most if most > 0.0 else 0.0
    for h in range(_COUNT):
        if levels[h] >= 0:
            weights[h] = max(FLOOR, weights[h] * scale) if most > 0.0 else 1.0


@njit
def remove_cards(weights: Any, dead: Any) -> None:
    """Set the weight [1326] of every hand to 0 that has one of the cards `dead` [52]."""
    for h in range(_COUNT):
        if dead[_ONE[h]] or dead[_TWO[h]]:
            weights[h] = 0.0


def ranges_of(tables: Ints, terms: Ints, model: OpponentModel) -> Floats:
    """The range of each seat at each table [n, 10, 1326], given all its moves of the hand, as a
    `model` explains them. Where the player to act sees its own cards, the others cannot have them.
    Weights add up to 1 for each seat that is still in; others have 0."""
    out = np.zeros((len(tables), MOST_SEATS, _COUNT))
    # A copy, because for a view that cannot be written all that it calls is compiled once more.
    _ranges(tables, np.broadcast_to(terms, (len(tables), terms.shape[-1])).copy(), model, out)
    return out


@njit
def _ranges(tables: Any, terms: Any, model: Any, out: Any) -> None:
    space, hands = workspace(model), board_hands()
    r, board = tables[0].copy(), np.empty(5, np.uint8)
    moves = model.grid.shape[3]
    for i in range(len(tables)):
        end, weights = tables[i], out[i]
        seats = end[SEATS]
        begin_again(r, end, terms[i])
        weights[:seats] = 1.0
        street = -1
        for m in range(end[MOVES] + 1):
            now = end[STREET] if m == end[MOVES] else r[STREET]
            if now != street:
                street = now
                for place in range(5):
                    board[place] = end[BOARD + place]
                fill_board(board, BOARD_CARDS[street], hands)
            if m == end[MOVES]:
                break
            _street, seat, kind, amount = unpacked(end[HISTORY + m])
            if kind == FOLD:
                weights[seat] = 0.0
            else:
                move = move_of(r, terms[i], kind, amount, moves)
                update_range(weights[seat], hands, r, terms[i], move, model, space)
            act(r, terms[i], kind, amount)
        _settle(end, weights, hands)


@njit
def _settle(end: Any, weights: Any, hands: Any) -> None:
    """Remove impossible hands and normalise the ranges of a table."""
    dead = np.zeros(DECK, np.bool_)
    seat = end[ACTOR]
    if seat >= 0:
        for card in range(2):
            if end[HOLE + 2 * seat + card] < DECK:
                dead[end[HOLE + 2 * seat + card]] = True
    for other in range(end[SEATS]):
        for h in range(_COUNT):
            if hands.level[h] < 0:
                weights[other, h] = 0.0
        if other != seat:
            remove_cards(weights[other], dead)
        total = weights[other].sum()
        if total > 0.0:
            weights[other] /= total
