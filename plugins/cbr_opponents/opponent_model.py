"""How others act in simulated play: the habits of the grid, and what trees know beyond it.

Programs and people look at more than the cells of the grid tell: the exact hand, what the pot
offers, who is yet to act. Trees learn from the decisions of a log how chances in a cell depend on
that. An answer to coarse habits alone finds weaknesses that the players do not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cbr.typing import Floats
from cbr_holdem.cards import RANKS
from cbr_holdem.chance import step, unit
from cbr_holdem.strength import RANKED
from cbr_holdem.table import (
    ACTOR,
    BET,
    BET_SIZES,
    CALL,
    FOLDED,
    LIMIT,
    MOST_SEATS,
    PAID,
    PENDING,
    PLAYERS,
    RAISE,
    RAISES,
    SEATS,
    STACK,
    STREET,
    pot_of,
    to_call,
)
from cbr_opponents.abstraction import (
    class_of,
    context,
    context_after,
    drawn_move,
    last_to_raise,
    mark_of,
    play_move,
    taken_for,
)
from cbr_opponents.boosting import DEPTH, Trees, leaf_of

Codes = NDArray[np.uint8]

#: Numbers that trees ask for.
CODES = 14


def _cards() -> NDArray[np.int64]:
    """Higher rank, lower rank and 2 for a pair, 1 for one suit, by how good a hand is, [169, 3]."""
    return np.array(
        [
            (RANKS.index(name[0]), RANKS.index(name[1]), 2 if len(name) == 2 else name[2] == "s")
            for name in reversed(RANKED)
        ],
        np.int64,
    )


_CARDS = _cards()


class Players(NamedTuple):
    """How somebody acts: chances by `grid` [4, CONTEXTS, CLASSES, moves], and on each street the
    `Trees` that refine them, so many as `trees` [4] says. They take hands for as good as `taken`
    [2, 256] says; then `push` of their calls are raises, and `ease` of their raises are calls."""

    grid: Floats
    feature: Codes
    cut: Codes
    leaf: NDArray[np.float32]
    trees: NDArray[np.int64]
    taken: Codes
    push: float
    ease: float

    @classmethod
    def of(cls, grid: Floats, refined: Sequence[Trees] = ()) -> Players:
        """Players of a log, by habits and by the trees of each street."""
        most = max((len(one.feature) for one in refined), default=0)
        feature, cut = np.zeros((2, 4, most, DEPTH), np.uint8)
        leaf = np.zeros((4, most, 1 << DEPTH, grid.shape[-1]), np.float32)
        trees = np.zeros(4, np.int64)
        for street, one in enumerate(refined):
            trees[street] = n = len(one.feature)
            feature[street, :n], cut[street, :n], leaf[street, :n] = one
        return cls(grid, feature, cut, leaf, trees, taken_for(1.0), 0.0, 0.0)

    def refined_by(self, street: int) -> Trees:
        """The trees of a street."""
        count = self.trees[street]
        leaf = self.leaf[street, :count].astype(np.float64)
        return Trees(self.feature[street, :count], self.cut[street, :count], leaf)

    def plain(self) -> Players:
        """The same by habits of the grid alone."""
        return self._replace(trees=np.zeros_like(self.trees))

    def tilted(self, loose: float, push: float, ease: float) -> Players:
        """The same who take their hands for better or worse, and raise more or less."""
        return self._replace(taken=taken_for(loose), push=push, ease=ease)


class Strategies(NamedTuple):
    """How everybody plays: `others`, our `own` chances [4, CONTEXTS, CLASSES, moves], and sizes of
    raises [moves - 2]."""

    others: Players
    own: Floats
    sizes: Floats


@njit(cache=True)
def look(r: Any, terms: Any, raiser: Any, mark: Any, codes: Any) -> None:
    """What trees ask for, uint8 [CODES]: of the betting, and of a hand."""
    seat, street, n = r[ACTOR], r[STREET], r[PLAYERS] - 1
    call, pot, small = to_call(r), pot_of(r), terms[BET_SIZES]
    waiting = 0
    for other in range(r[SEATS]):
        waiting += other != seat and (r[PENDING] & ~r[FOLDED]) >> other & 1
    codes[0] = min(r[RAISES], 255)
    codes[1] = min(255, 4 * call // terms[BET_SIZES + street])
    codes[2] = n
    codes[3] = 0 if raiser < 0 else (2 if raiser == seat else 1)
    codes[4] = min(255.0, 6.0 * np.log2(2.0 * pot / small))
    codes[5] = 200.0 * call / (call + pot)
    codes[6] = waiting
    codes[7] = mark & 255
    if street == 0:
        codes[8], codes[9], codes[10] = _CARDS[mark]
    else:
        codes[8] = mark >> 8
        codes[9] = 255.0 * ((mark & 255) / 255.0) ** n
        codes[10] = min(255, 2 * r[PAID + seat] // small)
    codes[11] = 9 * seat // r[SEATS]
    codes[12] = min(255, 2 * r[BET + seat] // small)
    codes[13] = 0 if terms[LIMIT] else min(255.0, 16.0 * np.log2(1.0 + r[STACK + seat] / pot))


@njit(cache=True)
def chances(r: Any, terms: Any, mark: Any, players: Players, codes: Any, out: Any) -> None:
    """What a player does next with a hand of that mark, into `out` [moves]."""
    street, raiser = r[STREET], last_to_raise(r)
    mark = np.int64(players.taken[min(street, 1), mark & 255]) | mark & ~255
    cell = players.grid[street, context_after(r, terms, raiser), class_of(street, mark)]
    moves = len(out)
    out[:] = 0.0
    if players.trees[street]:
        look(r, terms, raiser, mark, codes)
        for tree in range(players.trees[street]):
            at = leaf_of(codes, players.feature[street, tree], players.cut[street, tree])
            for move in range(moves):
                out[move] += players.leaf[street, tree, at, move]
    total = 0.0
    for move in range(moves):
        out[move] = cell[move] * np.exp(out[move])
        total += out[move]
    for move in range(moves):
        out[move] /= total
    if players.push > 0.0 or players.ease > 0.0:
        _tilt(out, players.push, players.ease)


@njit(cache=True)
def _tilt(out: Any, push: Any, ease: Any) -> None:
    more = 0.0
    for move in range(RAISE, len(out)):
        more += out[move]
    pushed, eased = push * out[CALL], ease * more
    out[CALL] += eased - pushed
    for move in range(RAISE, len(out)):
        share = out[move] / more if more > 0.0 else 1.0 / (len(out) - RAISE)
        out[move] += share * (pushed - eased)


@njit(cache=True)
def rooms(moves: Any) -> Any:
    """Room to count in: for marks that are known, for looking at hands, for codes and chances."""
    known = np.full((MOST_SEATS, 4), -1, np.int64)
    space = (np.empty(2, np.uint8), np.empty(5, np.uint8), np.empty(3, np.int64))
    return known, space, np.zeros(CODES, np.uint8), np.empty(moves)


@njit(cache=True)
def play_out(r: Any, terms: Any, hero: Any, strategies: Strategies, state: Any, room: Any) -> None:
    """Play a table to its end, the seat `hero` by its own strategy; `room` is of `rooms`."""
    others, own, sizes = strategies
    known, space, codes, out = room
    while r[ACTOR] >= 0:
        mark = mark_of(r, known, space)
        state = step(state)
        if r[ACTOR] == hero:
            street = r[STREET]
            at = context(r, terms)
            move = drawn_move(own[street, at, class_of(street, mark)], unit(state))
        else:
            chances(r, terms, mark, others, codes, out)
            move = drawn_move(out, unit(state))
        play_move(r, terms, sizes, move)
