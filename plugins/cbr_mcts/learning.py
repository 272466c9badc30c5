"""What was seen of opponents while playing: the memory of the bot, and what models make of it.

A session keeps for each other player, counted from our own seat on (the first is to our left):

- the counts of `cbr_opponents.profiles`, which trees read as features;
- by cell (street and price of a call), how often it folded, called and raised, and how often each
  model expected that, not knowing the cards. Their ratio, shrunk towards 1, corrects the chances of
  the model with any hand: indirect standardisation by the model itself. A model of many players
  need not have met one like this;
- how well each of several models explained its moves: the chance that it follows a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Floats, Ints
from cbr_holdem.table import (
    BOARD,
    CALL,
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
    Game,
    act,
    deal_posted,
    raise_limits,
    unpacked,
)
from cbr_mcts.corrections import CELLS, KINDS, LOGITS, TRAITS, cell_of
from cbr_mcts.models import Model
from cbr_mcts.replaying import learn_hands
from cbr_opponents import PROFILE, SEEN, move_chances, profile_features, workspace
from cbr_opponents.remembering import Opponent, OpponentMemory

#: Weight of an expected share, in decisions, in the correction of a cell; what decisions of a cell
#: weigh less for each later one there; and the bounds of a correction.
_PRIOR, _FADING, _LEAST, _MOST = 5.0, 0.99, 0.05, 20.0
#: What earlier decisions weigh less in the chance of a model for each later one, and the least
#: chance of a model relative to the best.
_FORGET_MODEL, _LEAST_MODEL = 0.995, 0.01


def memory_of(models: int) -> np.dtype[Any]:
    """What a session keeps of the players from our left on, for so many models."""
    seats, cells = MOST_SEATS, (CELLS, KINDS)
    return np.dtype(
        [
            ("seen", np.float64, (seats, SEEN)),
            ("hands", np.int64, (seats,)),
            ("made", np.float64, (seats, *cells)),
            ("expected", np.float64, (seats, models, *cells)),
            ("explained", np.float64, (seats, models)),
            ("slopes", np.float64, (seats, models, LOGITS, TRAITS)),
            ("doubts", np.float64, (seats, models, LOGITS, TRAITS, TRAITS)),
        ]
    )


class Seen(NamedTuple):
    """What models make of the players at tables, by seat: `profiles` uint8 [n, M, 10, PROFILE] as
    each model knows them, `factors` [n, M, 10, CELLS, KINDS] and `slopes` [n, M, 10, LOGITS,
    TRAITS] that correct its chances, and the chances `of_models` [n, 10, M]."""

    profiles: NDArray[np.uint8]
    factors: Floats
    slopes: Floats
    of_models: Floats


def watch(
    tables: Ints, seats: Ints, game: Game, forget: float, models: tuple[Model, ...], memory: Any
) -> None:
    """Count finished hands, in sessions of their own each: tables as our seats saw them."""
    _expect(tables, seats, game, models, memory)
    counts = OpponentMemory(game.betting, forget)
    names = []
    for at, (table, own) in enumerate(zip(tables, seats, strict=True)):
        seated = [""] * int(table[SEATS])
        for turn in range(1, len(seated)):
            name = f"{at}.{turn}"
            seated[(own + turn) % len(seated)] = name
            before = memory["seen"][at, turn], int(memory["hands"][at, turn])
            counts.opponents[name] = Opponent(before[0].copy(), before[1])
        names.append(seated)
    counts.watch(tables, names, game)
    for name, one in counts.opponents.items():
        at, turn = map(int, name.split("."))
        memory["seen"][at, turn], memory["hands"][at, turn] = one.seen, one.hands


def recall(opponents: OpponentMemory, names: Any, memory: NDArray[Any]) -> None:
    """Begin with what was seen of players in earlier matches; `names` from our own seat on."""
    for turn, name in enumerate(names):
        if turn:
            one = opponents.of(name)
            memory["seen"][:, turn], memory["hands"][:, turn] = one.seen, one.hands


def seen_at(rows: Ints, own: Ints, models: tuple[Model, ...], memory: Any) -> Seen:
    """What models make of the players at tables, of which `own` are our seats; all are strangers
    without a memory."""
    count, many = len(rows), len(models)
    found = Seen(
        np.empty((count, many, MOST_SEATS, PROFILE), np.uint8),
        np.ones((count, many, MOST_SEATS, CELLS, KINDS)),
        np.zeros((count, many, MOST_SEATS, LOGITS, TRAITS)),
        np.tile(np.exp(prior_logs(models, np.zeros(MOST_SEATS))), (count, 1, 1)),
    )
    for at, model in enumerate(models):
        found.profiles[:, at] = model.arrays.stranger
        if memory is not None and model.usual is not None:
            _profiles(rows, own, memory["seen"], model.usual, found.profiles[:, at])
    if memory is not None:
        made, expected = memory["made"], memory["expected"]
        logs = prior_logs(models, memory["hands"])
        logs += memory["explained"] * [model.trust for model in models]
        _factors(rows, own, made, expected, logs, memory["slopes"], found)
    return found


def prior_logs(models: Sequence[Model], hands: NDArray[Any]) -> Floats:
    """Logarithms of how likely models are [.., M] before the moves of a player are judged, after so
    many hands [..] of the player."""
    after, share = (np.array([getattr(one, of) for one in models]) for of in ("hands", "share"))
    learns = after > 0.0
    if learns.all():
        return np.zeros((*hands.shape, len(models)))
    seen = hands[..., None] * learns
    grown = seen / np.where(learns, seen + after, 1.0)
    rest = (1.0 - grown).prod(axis=-1, keepdims=True)
    chance = np.where(learns, grown, rest * share / share[~learns].sum())
    found: Floats = np.log(np.maximum(chance, _LEAST_MODEL))
    return found


@njit
def _profiles(rows: Any, own: Any, seen: Any, usual: Floats, out: Any) -> None:
    for i in range(len(rows)):
        n = rows[i, SEATS]
        for turn in range(1, n):
            if seen[i, turn, 0] > 0.0:  # hands
                profile_features(seen[i, turn], usual, out[i, (own[i] + turn) % n])


@njit
def _factors(
    rows: Any, own: Any, made: Any, expected: Any, logs: Any, slopes: Any, out: Seen
) -> None:
    many = expected.shape[2]
    for i in range(len(rows)):
        n = rows[i, SEATS]
        for turn in range(1, n):
            seat = (own[i] + turn) % n
            best = logs[i, turn].max()
            for m in range(many):
                chance = np.exp(logs[i, turn, m] - best)
                out.of_models[i, seat, m] = max(_LEAST_MODEL, chance)
                for logit in range(LOGITS):
                    for trait in range(TRAITS):
                        out.slopes[i, m, seat, logit, trait] = slopes[i, turn, m, logit, trait]
                for cell in range(CELLS):
                    if made[i, turn, cell].sum() > 0.0:
                        usual = expected[i, turn, m, cell]
                        _factor(made[i, turn, cell], usual, out.factors[i, m, seat, cell])


@njit
def _factor(made: Any, expected: Any, out: Any) -> None:
    """The factors [KINDS] of a cell."""
    total = expected.sum()
    for kind in range(KINDS):
        prior = _PRIOR * (expected[kind] + 1e-3) / (total + KINDS * 1e-3)
        ratio = (made[kind] + prior) / (expected[kind] + prior)
        out[kind] = max(_LEAST, min(_MOST, ratio))


def _expect(
    tables: Ints, seats: Ints, game: Game, models: tuple[Model, ...], memory: NDArray[Any]
) -> None:
    """Count what was done in finished hands, and what models expected."""
    arrays = tuple(model.arrays for model in models)
    found = seen_at(tables, seats, models, memory)
    kept = [memory[name] for name in ("made", "expected", "explained")]
    space = workspace(arrays[0])
    _expect_all(tables, seats, game.terms, arrays, found.profiles, space, *kept)
    if any(model.reads_hands for model in arrays):
        slopes, doubts = memory["slopes"], memory["doubts"]
        learn_hands(tables, seats, game.terms, arrays, found, slopes, doubts)


@njit
def _expect_all(
    tables: Any,
    own: Any,
    terms: Any,
    models: Any,
    profiles: Any,
    space: Any,
    made: Any,
    expected: Any,
    explained: Any,
) -> None:
    r = np.zeros(tables.shape[1], np.int64)
    nothing = np.zeros(MOST_SEATS, np.int64)
    chances = np.empty(KINDS)
    for i in range(len(tables)):
        end = tables[i]
        n = end[SEATS]
        stacks = end[STACK : STACK + MOST_SEATS] + end[PAID : PAID + MOST_SEATS]
        deal_posted(r, terms, n, stacks, end[POST:], nothing, end[HOLE:])
        for place in range(5):
            r[BOARD + place] = end[BOARD + place]
        for move in range(end[MOVES]):
            _street, seat, kind, amount = unpacked(end[HISTORY + move])
            if seat != own[i]:
                turn = (seat - own[i]) % n
                may_raise = raise_limits(r, terms)[1] > 0
                for m in range(len(models)):
                    for other in range(n):
                        for column in range(PROFILE):
                            space.profiles[other, column] = profiles[i, m, other, column]
                    move_chances(r, terms, np.int64(-1), models[m], space)
                    chances[FOLD], chances[CALL] = space.chances[FOLD], space.chances[CALL]
                    chances[RAISE] = 1.0 - chances[FOLD] - chances[CALL]
                    if not may_raise:
                        chances[CALL], chances[RAISE] = 1.0 - chances[FOLD], 0.0
                    likely = np.log(max(1e-3, chances[kind]))
                    explained[i, turn, m] = _FORGET_MODEL * explained[i, turn, m] + likely
                    cell = cell_of(space)
                    for of in range(KINDS):
                        before = expected[i, turn, m, cell, of]
                        expected[i, turn, m, cell, of] = _FADING * before + chances[of]
                cell = cell_of(space)
                for of in range(KINDS):
                    made[i, turn, cell, of] *= _FADING
                made[i, turn, cell, kind] += 1.0
            if move + 1 < end[MOVES]:  # the last one would settle the pot
                act(r, terms, kind, amount)
