"""An approximate best response to an opponent model, found by simulated play.

Hands of the casebase are dealt anew and played by the model, one seat (the hero) by a strategy of
its own. At each of the hero's decisions every legal move is played out with the same cards and the
same random numbers. The mean result in a cell of the abstraction is the value of the move there.
A round ends with an improved strategy, which weighs moves by their value and by how often players
make them. The next round plays by that strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np

from cbr.jit import copy_to, njit
from cbr.store import Casebase
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
)
from cbr_opponents import (
    BATCH,
    CLASSES,
    CONTEXTS,
    PRICE_CLASSES,
    RAISE_SIZES,
    OpponentModel,
    Strategies,
    actor_strength,
    class_kernel,
    class_shares,
    context,
    hand_class,
    legal_moves,
    move_chances,
    play_move,
    play_out,
    played_as,
    replay_decisions,
    sample_move,
    workspace,
)

#: Rounds, and hands of each.
ROUNDS, HANDS = 4, 120_000
#: Hands of a round that one worker plays at a time.
_PIECE = 20_000
#: Small bets (big blinds) of value that make a move e times likelier. In no-limit more is at stake,
#: and less is known about how opponents respond to each size.
_TEMPERATURES = {"limit": 0.1, "nolimit": 1.0}
#: Exponent of the players' own frequencies in the strategy.
_IMITATE = 0.5
#: Added to the frequency of a move, so that one that nobody makes can be chosen.
_RARE = 0.01
#: Weight, in visits, of the coarser cell's value, towards which a finer one is shrunk.
_PRIOR = 30.0
#: Kernel width: the weight of a visit to the next hand class.
_WIDTH = 0.3
#: Sizes with a smaller share of the raises in a context are left out.
_RARE_SIZE = 0.05
#: How often the hero makes a random move, to visit more of the game.
_EXPLORE = 0.1
#: Hands of the casebase that are dealt anew.
_STARTS = 400
#: The part of a random key that is reserved for best responses.
_KEY = np.int64(0x616E7377)


class Starts(NamedTuple):
    """Tables at the first decision of their hands, and the terms of their games."""

    tables: Ints
    terms: Ints


class BestResponses(NamedTuple):
    """For each opponent model the `strategy` that responds to it and the `value` of its moves, both
    [models, 4, CONTEXTS, CLASSES, moves]; and `moves`, how often the opponents made each move in a
    context, [models, 4, CONTEXTS, moves]. `steps` counts the rounds of single models played so far:
    those of the first round in the order of the models, then those of the second."""

    strategy: Floats
    value: Floats
    moves: Floats
    steps: int

    @property
    def move_rates(self) -> Floats:
        """The share of each move in a context."""
        rates: Floats = self.moves / self.moves.sum(axis=-1, keepdims=True)
        return rates

    @classmethod
    def before_any_round(cls, models: Sequence[OpponentModel]) -> BestResponses:
        """We play as the opponents do."""
        grids = np.stack([model.grid for model in models])
        strategy = np.stack([without_rare_sizes(grid) for grid in grids])
        moves = np.full((*grids.shape[:3], grids.shape[-1]), 0.5)
        return cls(strategy, np.zeros_like(grids), moves, 0)


class _Work(NamedTuple):
    """Some hands of a round."""

    starts: Starts
    strategies: Strategies
    seed: int
    number: int
    first: int
    hands: int


def best_responses(
    starts: Starts,
    models: Sequence[OpponentModel],
    betting: str,
    seed: int = 0,
    rounds: int = ROUNDS,
    hands: int = HANDS,
    pool: Executor | None = None,
    progress: Progress | None = None,
    found: BestResponses | None = None,
    keep: Callable[[BestResponses], object] | None = None,
) -> BestResponses:
    """Approximate best responses to models of limit or nolimit `betting`, after `rounds` rounds of
    `hands` hands. With 0 rounds a strategy is the model's own. The result does not depend on the
    pool. `keep` is given what is `found` after each step, from where a search can go on."""
    found = found or BestResponses.before_any_round(models)
    strategy, value, moves, steps = found
    sizes, temperature = RAISE_SIZES[betting], _TEMPERATURES[betting]
    pieces = range(0, hands, _PIECE)
    done, total = steps * hands, rounds * len(models) * hands
    for number in range(steps // len(models), rounds):
        left = range(steps % len(models), len(models))
        work = (
            _Work(
                starts,
                Strategies(models[at], strategy[at], sizes),
                seed,
                number,
                first,
                min(_PIECE, hands - first),
            )
            for at in left
            for first in pieces
        )
        played = in_order(pool, _play, work)
        for at in left:
            sums, visits = np.zeros_like(value[at]), np.zeros(value[at].shape[:-1], np.int64)
            for piece, (more, times, others) in zip(pieces, played, strict=False):
                sums += more
                visits += times
                moves[at] += others
                if progress:
                    done += min(_PIECE, hands - piece)
                    progress(done, total, done)
            value[at] = _means(sums, visits)
            strategy[at] = _improved(models[at].grid, value[at], temperature)
            steps += 1
            if keep:
                keep(BestResponses(strategy, value, moves, steps))
    return BestResponses(strategy, value, moves, steps)


def _play(work: _Work) -> tuple[Floats, Ints, Ints]:
    """Sums of the results of moves, visits of cells, and how often opponents made each move."""
    sums = np.zeros_like(work.strategies.own)
    visits = np.zeros(sums.shape[:-1], np.int64)
    opponent_moves = np.zeros((*sums.shape[:2], sums.shape[-1]), np.int64)
    _round(*work.starts, *work[1:], sums, visits, opponent_moves)
    return sums, visits, opponent_moves


def starts_of(base: Casebase) -> Starts:
    """The starts of about `_STARTS` hands, or of all if there are fewer, spread over a casebase."""
    tables, terms = [], []
    every = max(1, base.count_records() // _STARTS)
    for _, bodies in base.read_records(BATCH * every):
        played, of_game, _ = replay_decisions(bodies[::every])
        assert played.tables is not None
        first = played.tables[:, MOVES] == 0
        tables.append(played.tables[first])
        terms.append(of_game[first])
    return Starts(np.concatenate(tables), np.concatenate(terms))


def _means(sums: Floats, visits: Ints) -> Floats:
    """Values of moves from their sums over visits [4, CONTEXTS, CLASSES]: smoothed over neighbour
    classes, and shrunk towards the class's mean over all contexts with the same price."""
    kernel = np.stack([class_kernel(street, _WIDTH) for street in range(4)])[:, None]
    total, times = kernel @ sums, (kernel @ visits[..., None])[..., 0]
    by_price = (4, PRICE_CLASSES, CONTEXTS // PRICE_CLASSES, CLASSES, sums.shape[-1])
    total, times = total.reshape(by_price), times.reshape(by_price[:-1])
    prior = total.sum(axis=2) / np.maximum(times.sum(axis=2), 1.0)[..., None]
    value = (total + _PRIOR * prior[:, :, None]) / (times + _PRIOR)[..., None]
    means: Floats = value.reshape(sums.shape)
    return means


def without_rare_sizes(chances: Floats, frequencies: Floats | None = None) -> Floats:
    """Chances without raises of sizes that players hardly ever choose in a context, by these
    `frequencies` or by the chances themselves. The response of opponents to a rare size is unknown,
    and its value would be overestimated."""
    frequencies = chances if frequencies is None else frequencies
    share = np.stack([class_shares(street) for street in range(4)])
    raises = np.einsum("sc,sxcm->sxm", share, frequencies)[..., RAISE:]
    rare = raises < _RARE_SIZE * raises.sum(axis=-1, keepdims=True)
    found = chances.copy()
    found[..., RAISE:] *= ~rare[:, :, None]
    found /= found.sum(axis=-1, keepdims=True)
    return found


def _improved(frequencies: Floats, value: Floats, temperature: float) -> Floats:
    """A strategy that chooses moves by the players' frequencies and by value."""
    ahead = value - value.max(axis=-1, keepdims=True)
    chances = (frequencies + _RARE) ** _IMITATE * np.exp(ahead / temperature)
    chances[:, : CONTEXTS // PRICE_CLASSES, :, FOLD] = 0.0
    return without_rare_sizes(chances, frequencies)


@njit
def _round(
    tables: Any,
    terms: Any,
    strategies: Any,
    seed: Any,
    number: Any,
    first: Any,
    count: Any,
    sums: Any,
    visits: Any,
    opponent_moves: Any,
) -> None:
    """Play some hands of a round, and add up the results of moves."""
    others, own, sizes = strategies
    moves = RAISE + len(sizes)
    space, legal, results = workspace(others), np.zeros(moves, np.bool_), np.zeros(moves)
    r, then = tables[0].copy(), tables[0].copy()
    for hand in range(first, first + count):
        state = key(seed, hand, number, _KEY)
        which = below(state, len(tables))
        copy_to(tables[which], r)
        of_game = terms[which]
        state = step(state)
        hero = below(state, r[SEATS])
        state = deal_anew(r, state)
        space.known[:] = -1
        while r[ACTOR] >= 0:
            street, at = r[STREET], context(r, of_game)
            strength = actor_strength(r, space.known, space.cards)
            state = step(state)
            uniform = unit(state)
            if r[ACTOR] != hero:
                move_chances(r, of_game, strength, others, space)
                move = sample_move(space.chances, uniform)
                opponent_moves[street, at, played_as(r, of_game, sizes, move)] += 1
                play_move(r, of_game, sizes, move)
                continue
            cards = hand_class(street, strength)
            legal[:] = True
            legal_moves(r, of_game, sizes, legal)
            visits[street, at, cards] += 1
            common = mixed(state)
            for move in range(CALL, moves):
                if legal[move]:
                    copy_to(r, then)
                    play_move(then, of_game, sizes, move)
                    play_out(then, of_game, hero, strategies, common, space)
                    results[move] = then[PAYOFF + hero] / PARTS + r[PAID + hero]
            for move in range(CALL, moves):
                # A move that would be played as another has the value of that one.
                result = results[played_as(r, of_game, sizes, move)]
                sums[street, at, cards, move] += result / of_game[BET_SIZES]
            state = step(state)
            if unit(state) < _EXPLORE:
                uniform = unit(mixed(state))
                move = CALL if uniform < 0.5 else RAISE + below(step(mixed(state)), len(sizes))
                move = move if own[street, at, cards, move] > 0.0 else CALL
            else:
                move = sample_move(own[street, at, cards], uniform)
            play_move(r, of_game, sizes, move)
