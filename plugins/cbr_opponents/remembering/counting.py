"""Finished hands counted as compiled code: counts of `profiles`, and moves with shown cards.

A finished table has all moves of its hand. They are replayed, and each is counted at the table as
it was then, by the same functions as in a log (`learning.observing`): so a player has the same
profile at a table as in the log of the match. Of the cards only those are used that were shown at a
showdown, whoever else sees more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr.typing import Floats, Ints
from cbr_holdem.cards import DECK
from cbr_holdem.situation import size_of
from cbr_holdem.table import (
    BOARD,
    BOARD_CARDS,
    FOLDED,
    HISTORY,
    HOLE,
    MOST_SEATS,
    MOVES,
    PLAYERS,
    RAISE,
    STREET,
    Game,
    act,
    unpacked,
)
from cbr_opponents.abstraction import (
    CLASSES,
    CONTEXTS,
    context_given_raiser,
    hand_class,
    last_to_raise,
    move_of,
    packed_strength,
)
from cbr_opponents.decision_features import FEATURES, decision_features
from cbr_opponents.logged_hands import begin_again
from cbr_opponents.profiles import IN_HAND, SEEN, count_move, end_hand, situation_of


class Counts(NamedTuple):
    """The counts of players, a row for each: `seen` [players, SEEN] as `profiles` has them, `hands`
    [players] in which the player acted, and `showdowns` [players] at which it showed its cards."""

    seen: Floats
    hands: Ints
    showdowns: Ints


class Shown(NamedTuple):
    """Moves made with cards that were shown later, [m]: the row of the player, the `cell` (a place
    in an array [4, CONTEXTS, CLASSES, moves]), and the player's `hands` with the present one."""

    player: Ints
    cell: Ints
    hands: Ints


def count_hands(
    tables: Ints, game: Game, who: Ints, counts: Counts, moves: int, forget: float
) -> Shown:
    """Add finished tables [n, WIDTH], in their order, to `counts`: `who` [n, MOST_SEATS] is the row
    of each seat's player, -1 for a seat that is not counted. Returns the moves with shown cards."""
    most = int(tables[:, MOVES].sum())
    shown = Shown(*np.empty((3, most), np.int64))
    number = _count(tables, game.terms, who, counts, moves, forget, shown)
    return Shown(*(column[:number].copy() for column in shown))


@njit
def _count(
    tables: Any, terms: Any, who: Any, counts: Any, moves: Any, forget: Any, shown: Any
) -> Any:
    r = np.zeros(tables.shape[1], np.int64)
    in_hand = np.zeros((MOST_SEATS, IN_HAND))
    acted = np.zeros(MOST_SEATS, np.bool_)
    hole, board, ranks = np.empty(2, np.uint8), np.empty(5, np.uint8), np.empty(3, np.int64)
    features = np.zeros(FEATURES, np.uint8)
    number = 0
    for i in range(len(tables)):
        end = tables[i]
        begin_again(r, end, terms)
        for place in range(5):
            board[place] = min(end[BOARD + place], DECK)
        for m in range(end[MOVES]):
            _street, seat, kind, amount = unpacked(end[HISTORY + m])
            player = who[i, seat]
            if player >= 0:
                size = size_of(r, terms, amount) if kind == RAISE else np.int64(0)
                raiser = last_to_raise(r)
                decision_features(r, terms, raiser, np.int64(-1), features)
                situation = situation_of(r, features)
                count_move(counts.seen[player], in_hand[seat], r, situation, kind, float(size))
                acted[seat] = True
                if _is_shown(end, seat):
                    street = r[STREET]
                    hole[0], hole[1] = end[HOLE + 2 * seat], end[HOLE + 2 * seat + 1]
                    strength = packed_strength(hole, board, BOARD_CARDS[street], ranks)
                    cell = street * CONTEXTS + context_given_raiser(r, terms, raiser)
                    cell = (cell * CLASSES + hand_class(street, strength)) * moves
                    shown.player[number] = player
                    shown.cell[number] = cell + move_of(r, terms, kind, amount, moves)
                    shown.hands[number] = counts.hands[player] + 1
                    number += 1
            if m + 1 < end[MOVES]:  # the last one would settle the pot, with cards nobody saw
                act(r, terms, kind, amount)
        for seat in range(MOST_SEATS):
            if acted[seat]:
                player = who[i, seat]
                end_hand(counts.seen[player], in_hand[seat], forget)
                counts.hands[player] += 1
                counts.showdowns[player] += _is_shown(end, seat)
                acted[seat] = False
    return number


@njit
def _is_shown(end: Any, seat: Any) -> Any:
    """Whether a seat showed its cards at the end of a hand."""
    if end[PLAYERS] < 2 or end[FOLDED] >> seat & 1:
        return False
    return end[HOLE + 2 * seat] < DECK and end[HOLE + 2 * seat + 1] < DECK


def decay_of(forget: float) -> Floats:
    """The factor [SEEN] by which each count of earlier hands is multiplied in a hand."""
    found = []
    for before in (np.ones(SEEN), np.zeros(SEEN)):
        end_hand(before, np.ones(IN_HAND), forget)
        found.append(before)
    return np.asarray(found[0] - found[1]).round(12)
