"""The answer to habits: a strategy of our own that earns more against them than they do.

Hands of the casebase are dealt anew and played by habits, one seat by its own strategy. At each of
its decisions every legal move is played on with the same cards and the same luck; the mean of what
it comes to in a cell of the grid is the move's value there. A round ends with a better strategy:
moves by their value and by habit. The next round plays on by that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from cbr import Casebase
from cbr.typing import Floats, Ints, Progress
from cbr.workers import in_order
from cbr_holdem.chance import below, key, mixed, step, unit
from cbr_holdem.table import (
    ACTOR,
    BET_SIZES,
    CALL,
    FOLD,
    MOVES,
    PAID,
    PARTS,
    PAYOFF,
    RAISE,
    SEATS,
    STREET,
    deal_anew,
    last_move,
    unpacked,
)
from cbr_opponents.abstraction import (
    CLASSES,
    CONTEXTS,
    DUE,
    SIZES,
    TEMPERATURES,
    class_of,
    class_shares,
    context,
    drawn_move,
    legal_moves,
    mark_of,
    near,
    play_move,
)
from cbr_opponents.frequencies import BATCH, replay_bodies
from cbr_opponents.opponent_model import Players, Strategies, chances, play_out, rooms

#: Rounds, and hands of each.
ROUNDS, HANDS = 4, 120_000
#: Hands of a piece of a round.
_PIECE = 20_000
#: The power of habit.
_IMITATE = 0.5
#: A move that nobody makes is taken for as common as this.
_RARE = 0.01
#: Visits of a coarser cell that a finer one leans on.
_LEAN = 30.0
#: How much a visit of the class next to one counts for it.
_NEXT = 0.3
#: A size is usual if at least this share of the raises in a context have it.
_UNUSUAL = 0.05
#: How often the hero does something else, to see more of the game.
_EXPLORE = 0.1
#: Hands of the casebase that are dealt anew.
_STARTS = 400
#: The part of a key that is kept for answers.
_ANSWERS = np.int64(0x616E7377)


class Starts(NamedTuple):
    """Tables at the first decision of their hands, and the terms of their games."""

    tables: Ints
    terms: Ints


#: Called with hands done, hands in all, and hands done.


class Answers(NamedTuple):
    """Strategies that answer to habits, `own`, and what their moves are worth to them, both
    [worlds, 4, CONTEXTS, CLASSES, moves]; and how often everybody else made each move in a context,
    [worlds, 4, CONTEXTS, moves]."""

    own: Floats
    value: Floats
    seen: Floats


class _Work(NamedTuple):
    """Some hands of a round."""

    starts: Starts
    strategies: Strategies
    seed: int
    number: int
    first: int
    hands: int


def answers(
    starts: Starts,
    worlds: Sequence[Players],
    betting: str,
    seed: int = 0,
    rounds: int = ROUNDS,
    hands: int = HANDS,
    pool: Executor | None = None,
    progress: Progress | None = None,
) -> Answers:
    """Answers to the players of some worlds of limit or nolimit `betting`, beginning with their
    habits; the same for any pool."""
    sizes, temperature = SIZES[betting], TEMPERATURES[betting]
    habits = np.stack([world.grid for world in worlds])
    own, value = np.stack([usual(world) for world in habits]), np.zeros_like(habits)
    seen = np.full((*habits.shape[:3], habits.shape[-1]), 0.5)
    pieces = range(0, hands, _PIECE)
    done, total = 0, rounds * len(habits) * hands
    for number in range(rounds):
        work = (
            _Work(starts, Strategies(*both, sizes), seed, number, first, min(_PIECE, hands - first))
            for both in zip(worlds, own, strict=True)
            for first in pieces
        )
        played = in_order(pool, _play, work)
        for world in range(len(habits)):
            worth, visits = np.zeros_like(habits[0]), np.zeros(habits.shape[1:-1], np.int64)
            for piece, (more, times, others) in zip(pieces, played, strict=False):
                worth += more
                visits += times
                seen[world] += others
                if progress:
                    done += min(_PIECE, hands - piece)
                    progress(done, total, done)
            value[world] = _means(worth, visits)
            own[world] = _improved(habits[world], value[world], temperature)
    return Answers(own, value, seen / seen.sum(axis=-1, keepdims=True))


def _play(work: _Work) -> tuple[Floats, Ints, Ints]:
    """What moves came to, in sum, in how many visits, and how often others made them."""
    worth = np.zeros_like(work.strategies.own)
    visits = np.zeros(worth.shape[:-1], np.int64)
    seen = np.zeros((*worth.shape[:2], worth.shape[-1]), np.int64)
    _round(*work.starts, *work[1:], worth, visits, seen)
    return worth, visits, seen


def starts_of(base: Casebase) -> Starts:
    """The starts of some hands, spread over the records."""
    tables, terms = [], []
    every = max(1, base.count_records() // _STARTS)
    for _, bodies in base.read_records(BATCH * every):
        played, of_game, _ = replay_bodies(bodies[::every])
        assert played.tables is not None
        first = played.tables[:, MOVES] == 0
        tables.append(played.tables[first])
        terms.append(of_game[first])
    return Starts(np.concatenate(tables), np.concatenate(terms))


def _means(worth: Floats, visits: Ints) -> Floats:
    """Values of moves from their sums over visits [4, CONTEXTS, CLASSES]: each cell leans on the
    classes next to its own, and on its class in all contexts with the same to call."""
    alike = np.stack([near(street, _NEXT) for street in range(4)])[:, None]
    total, times = alike @ worth, (alike @ visits[..., None])[..., 0]
    by_due = (4, DUE, CONTEXTS // DUE, CLASSES, worth.shape[-1])
    total, times = total.reshape(by_due), times.reshape(by_due[:-1])
    middle = total.sum(axis=2) / np.maximum(times.sum(axis=2), 1.0)[..., None]
    value = (total + _LEAN * middle[:, :, None]) / (times + _LEAN)[..., None]
    means: Floats = value.reshape(worth.shape)
    return means


def usual(chances: Floats, habits: Floats | None = None) -> Floats:
    """Chances without raises of sizes that hardly anybody takes in a context by these habits, or by
    the chances themselves: how others would answer is not known, so they seem to be worth a lot."""
    habits = chances if habits is None else habits
    share = np.stack([class_shares(street) for street in range(4)])
    raises = np.einsum("sc,sxcm->sxm", share, habits)[..., RAISE:]
    rare = raises < _UNUSUAL * raises.sum(axis=-1, keepdims=True)
    found = chances.copy()
    found[..., RAISE:] *= ~rare[:, :, None]
    found /= found.sum(axis=-1, keepdims=True)
    return found


def _improved(habits: Floats, value: Floats, temperature: float) -> Floats:
    """Moves by habit and by value."""
    ahead = value - value.max(axis=-1, keepdims=True)
    chances = (habits + _RARE) ** _IMITATE * np.exp(ahead / temperature)
    chances[:, : CONTEXTS // DUE, :, FOLD] = 0.0
    return usual(chances, habits)


@njit(cache=True)
def _round(
    tables: Any,
    terms: Any,
    strategies: Any,
    seed: Any,
    number: Any,
    first: Any,
    count: Any,
    worth: Any,
    visits: Any,
    seen: Any,
) -> None:
    """Play some hands of a round, and add up what moves come to."""
    others, own, sizes = strategies
    moves = RAISE + len(sizes)
    room, legal = rooms(moves), np.zeros(moves, np.bool_)
    known, space, codes, likely = room
    r, then = tables[0].copy(), tables[0].copy()
    for hand in range(first, first + count):
        state = key(seed, hand, number, _ANSWERS)
        which = below(state, len(tables))
        r[:] = tables[which]
        of_game = terms[which]
        state = step(state)
        hero = below(state, r[SEATS])
        state = deal_anew(r, state)
        known[:] = -1
        while r[ACTOR] >= 0:
            street, at, mark = r[STREET], context(r, of_game), mark_of(r, known, space)
            state = step(state)
            drawn = unit(state)
            if r[ACTOR] != hero:
                chances(r, of_game, mark, others, codes, likely)
                move = drawn_move(likely, drawn)
                play_move(r, of_game, sizes, move)
                # Where nobody may raise any more it became a call.
                _street, _seat, kind, _amount = unpacked(last_move(r))
                seen[street, at, move if kind == RAISE else kind] += 1
                continue
            cards = class_of(street, mark)
            legal[:] = True
            legal_moves(r, of_game, sizes, legal)
            visits[street, at, cards] += 1
            luck = mixed(state)
            same = 0.0
            for move in range(CALL, moves):
                if legal[move]:
                    then[:] = r
                    play_move(then, of_game, sizes, move)
                    play_out(then, of_game, hero, strategies, luck, room)
                    same = then[PAYOFF + hero] / PARTS + r[PAID + hero]
                # A size that is not legal or no other is worth what the one before it is.
                worth[street, at, cards, move] += same / of_game[BET_SIZES]
            state = step(state)
            if unit(state) < _EXPLORE:
                drawn = unit(mixed(state))
                move = CALL if drawn < 0.5 else RAISE + below(step(mixed(state)), len(sizes))
                move = move if own[street, at, cards, move] > 0.0 else CALL
            else:
                move = drawn_move(own[street, at, cards], drawn)
            play_move(r, of_game, sizes, move)
