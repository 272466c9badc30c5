"""The context-action table: how often players made each move in a context, backed off to coarser
contexts, and how strong the hands were that they showed after it.

A context is described from coarse to fine: street and price of a call; the number of opponents; who
has the initiative (so far these are the contexts of the abstraction); the player's previous action
and whether somebody acts behind it; the raises of the street and the pot odds. A context too fine
has few observations, a coarse one says little. So each level is shrunk towards the next coarser
one, whose estimate counts as `weight` observations:

    share = (count + weight * coarser share) / (observations + weight).

The same table files the hand strengths of players whose cards became known, by context and action.
Their mean, shrunk in the same way, is the strength to expect of an opponent who acted so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr.typing import Floats, Ints
from cbr_holdem.cards import DECK, HANDS
from cbr_holdem.table import (
    ACTOR,
    BOARD,
    BOARD_CARDS,
    FOLDED,
    HISTORY,
    MOST_SEATS,
    MOVES,
    RAISE,
    SEATS,
    STREET,
    Game,
    act,
    unpacked,
)
from cbr_opponents.abstraction import (
    CONTEXTS,
    PRICE_CLASSES,
    RAISE_SIZES,
    context_given_raiser,
    hand_class,
    last_to_raise,
    packed_strength,
    played_as,
)
from cbr_opponents.decision_features import (
    F_OWN_BEFORE,
    F_OWN_NOW,
    F_POT_ODDS,
    F_RAISES,
    F_YET_TO_ACT,
    FEATURES,
    decision_features,
)
from cbr_opponents.logged_hands import begin_again
from cbr_opponents.opponent_model import OpponentModel
from cbr_opponents.player_models import Chances

#: How many contexts of each level a context of the level before has; the first is the number of
#: price classes. Their product with the 4 streets is the number of finest contexts.
RADIX = (PRICE_CLASSES, 3, 2, 32, 20)
LEVELS = len(RADIX)
#: The level whose contexts are those of the abstraction.
ABSTRACTION = 3
#: Upper bounds of the classes of pot odds, in 1/200: the lecture's .1, .2 and .3.
_ODDS = (20, 40, 60)


class Expected(NamedTuple):
    """What strengths to expect of the seats [n, 10], 0 to 1, and the effective number of shown
    hands that they rest on. Seats that are out have strength 0, those that have not acted 0.5, both
    with support 0."""

    strength: Floats
    support: Floats


class ContextTable(NamedTuple):
    """For each context of the level `level`: `shares` [contexts, moves] of moves, the effective
    number of observations `support` [contexts]; by kind of move the mean strength of shown hands
    [contexts, KINDS] and the effective number of these, `shown` [contexts, KINDS]."""

    level: int
    shares: Floats
    support: Floats
    strength: Floats
    shown: Floats


@dataclass(frozen=True, eq=False)
class ContextModel:
    """A context-action table as a player model. `hands` are the chances by hand of the coarser
    contexts of the abstraction; the table multiplies them as it does the chances without cards.
    Where the table is no finer than the abstraction, `hands` is the whole model, and its array
    form. Else `approximated` makes one that is near it."""

    table: ContextTable
    hands: OpponentModel
    approximated: Callable[[], OpponentModel]

    @property
    def exact(self) -> bool:
        return self.table.level <= ABSTRACTION

    @cached_property
    def arrays(self) -> OpponentModel:
        return self.hands if self.exact else self.approximated()

    def chances(self, tables: Ints, game: Game, hands: Ints) -> Chances:
        out = np.zeros((len(tables), self.table.shares.shape[1]))
        support = np.empty(len(tables))
        sizes = RAISE_SIZES[game.betting]
        known = (self.hands.grid, self.hands.average)
        _chances(tables, game.terms, hands, self.table, known, sizes, out, support)
        return Chances(out, support)

    def expected_strength(self, tables: Ints, game: Game) -> Expected:
        """The strength to expect of each opponent of the player to act, from its last action. After
        the flop it is the chance to be ahead of a random hand, before it the equity against one, as
        of when the player acted."""
        found = Expected(*np.zeros((2, len(tables), MOST_SEATS)))
        _expected(tables, game.terms, self.table, found)
        return found


@njit
def context_number(street: Any, context: Any, features: Any, level: Any) -> Any:
    """The number of a decision's context on a level (1 to LEVELS), by the context of the
    abstraction and the decision's features."""
    if level <= ABSTRACTION:
        divisor = 1
        for finer in range(level, ABSTRACTION):
            divisor *= RADIX[finer]
        return (street * CONTEXTS + context) // divisor
    previous = min(3, features[F_OWN_NOW]) * 4 + min(3, features[F_OWN_BEFORE])
    at = (street * CONTEXTS + context) * RADIX[3] + 2 * previous + (features[F_YET_TO_ACT] > 0)
    if level == ABSTRACTION + 1:
        return at
    odds = 0
    if features[F_POT_ODDS] > 0:
        odds = 1
        for bound in _ODDS:
            odds += features[F_POT_ODDS] >= bound
    return at * RADIX[4] + min(3, features[F_RAISES]) * 5 + odds


@njit
def _chances(
    tables: Any,
    terms: Any,
    hands: Any,
    table: Any,
    known: Any,
    sizes: Any,
    out: Any,
    support: Any,
) -> None:
    grid, average = known
    features = np.zeros(FEATURES, np.uint8)
    hole, board, counts = np.empty(2, np.uint8), np.empty(5, np.uint8), np.empty(3, np.int64)
    chances = np.empty(out.shape[1])
    for i in range(len(tables)):
        r = tables[i]
        street, raiser = r[STREET], last_to_raise(r)
        at = context_given_raiser(r, terms, raiser)
        decision_features(r, terms, raiser, np.int64(-1), features)
        number = context_number(street, at, features, table.level)
        support[i] = table.support[number]
        chances[:] = table.shares[number]
        if hands[i] >= 0:
            hole[0], hole[1] = HANDS[hands[i], 0], HANDS[hands[i], 1]
            for place in range(5):
                board[place] = min(r[BOARD + place], DECK)
            strength = packed_strength(hole, board, BOARD_CARDS[street], counts)
            _by_hand(grid[street, at, hand_class(street, strength)], average[street, at], chances)
        for move in range(len(chances)):
            out[i, played_as(r, terms, sizes, move)] += chances[move]


@njit
def _by_hand(cell: Any, average: Any, chances: Any) -> None:
    """Turn chances without cards into those of a hand: the hand's chances in the abstraction, times
    what the finer context multiplies the average of all hands by."""
    total = 0.0
    for move in range(len(chances)):
        chances[move] = cell[move] * chances[move] / average[move] if average[move] > 0.0 else 0.0
        total += chances[move]
    for move in range(len(chances)):
        chances[move] = chances[move] / total if total > 0.0 else cell[move]


@njit
def _expected(tables: Any, terms: Any, table: Any, out: Any) -> None:
    r = np.empty_like(tables[0]) if len(tables) else np.empty(0, np.int64)
    features = np.zeros(FEATURES, np.uint8)
    for i in range(len(tables)):
        end, strength, support = tables[i], out.strength[i], out.support[i]
        seats = end[SEATS]
        begin_again(r, end, terms)
        strength[:seats] = 0.5
        for m in range(end[MOVES]):
            _street, seat, kind, amount = unpacked(end[HISTORY + m])
            raiser = last_to_raise(r)
            decision_features(r, terms, raiser, np.int64(-1), features)
            at = context_given_raiser(r, terms, raiser)
            number = context_number(r[STREET], at, features, table.level)
            strength[seat] = table.strength[number, min(kind, RAISE)]
            support[seat] = table.shown[number, min(kind, RAISE)]
            act(r, terms, kind, amount)
        for seat in range(seats):
            if seat == end[ACTOR] or end[FOLDED] >> seat & 1:
                strength[seat] = support[seat] = 0.0
