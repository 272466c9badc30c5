"""What players hold who do not show it: chances of moves given a hand, by expectation maximisation.

A log has the cards of few players: of those who reach a showdown. A model of the shown hands would
learn that nobody folds. Van der Kleij (2010, chapter 5) takes hidden hands as missing data instead:

- expectation: given chances of moves by hand class, the hands that a player may hold are weighted
  by the chance of all its moves, from equal chances before the first one;
- maximisation: every decision counts in each hand class as much as the player may hold it, and the
  chances of moves are the smoothed frequencies of these counts.

Hand classes are those of the abstraction, by strength and potential on each street, so the result
is a grid that every model in array form has. All 1,326 hands are followed from street to street. A
chance by hand class is refined by what a public model knows of the decision, for all hands alike.

His models folded the best hands, from a start in which hidden hands are any. Here folds fall with
the strength of the hand, in the start and after each maximisation (`folds`).
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr import Casebase
from cbr.jit import njit
from cbr.typing import Flags, Floats, Ints
from cbr_holdem.cards import DECK, HANDS
from cbr_holdem.strength import hand_numbers
from cbr_holdem.table import ACTOR, BOARD, BOARD_CARDS, CALL, FOLD, HOLE
from cbr_kmodels.folds import TENDENCIES, logistic_folds
from cbr_kmodels.model import KModels
from cbr_opponents import (
    BATCH,
    CLASSES,
    board_hands,
    class_order,
    class_shares,
    fill_board,
    hand_class,
    hides_folds,
    replay_decisions,
    smoothed_frequencies,
)
from cbr_opponents.learning import Observed, counted, counted_by_context

_COUNT = len(HANDS)
#: Class of a hand that shares a card with the board.
_BLOCKED = 255
#: Rounds end when no chance of a fold changes by more, on average over decisions.
_SETTLED = 2e-4
_LEAST = 1e-6
#: How much random starts differ: the spread of slopes in the share of better hands.
_TILT = 1.5
#: The most decisions of a player in a hand that are looked at.
_MOST = 64


class Boards(NamedTuple):
    """The hand classes of all hands on the boards of a log: `held` uint8 [boards, 1326], `row`
    [hands, 3] the board of each street after the first in `held`, -1 where it was not reached, and
    `number` [hands] the records, ascending. Cards that are known are `shown` [m], places in HANDS,
    of the players and hands `whose` [m] (record times players plus player), ascending."""

    number: Ints
    row: Ints
    held: NDArray[np.uint8]
    whose: Ints
    shown: Ints


class Played(NamedTuple):
    """The decisions of each player in each hand, in order: `street`, `context`, `move`, the class
    `held` (-1: hidden) [n], and `factor` [n, moves], how much likelier each move is by the public
    model than by the average of its context. Player and hand number i has decisions `first`[i] to
    `first`[i + 1], boards `row` [i, 3], and the cards `shown` [i], a place in HANDS or -1, of
    `player` [i]. `tendency` [n] is a place in `TENDENCIES`: how much likelier a fold is."""

    street: Ints
    context: Ints
    move: Ints
    held: Ints
    factor: Floats
    first: Ints
    row: Ints
    shown: Ints
    player: Ints
    tendency: Ints


class Round(NamedTuple):
    """A round of inference: the mean logarithm of how `likely` a move was, the mean `change` of a
    fold, and the `grid` that it ended with."""

    likely: float
    change: float
    grid: Floats


class Inferred(NamedTuple):
    """The chances of moves given a hand, `grid` [4, CONTEXTS, CLASSES, moves]; the expected
    `counts` of the same shape that they rest on; the grid at the `start`, and the `rounds`."""

    grid: Floats
    counts: Floats
    start: Floats
    rounds: list[Round]


def with_inferred_cards(
    base: Casebase,
    observed: Observed,
    model: KModels,
    starts: int = 1,
    tell: Callable[[int, float], None] | None = None,
) -> KModels | None:
    """The clusters with chances of moves given a hand that are inferred from all hands of a
    casebase, the likeliest of several starts; None where most folded hands are known, so that
    there is nothing to infer."""
    if not hides_folds(counted(observed), counted_by_context(observed)):
        return None
    everything = np.ones(len(observed), np.bool_)
    public = model.in_sequence(observed, everything, False)
    boards = boards_of(base, observed)
    played = played_hands(observed, public, boards, everything)
    grid = infer_cards(observed, played, boards, starts=starts, tell=tell).grid
    shared, own = (arrays._replace(grid=grid) for arrays in (model.shared, model.own))
    return dataclasses.replace(model, shared=shared, own=own)


def boards_of(base: Casebase, observed: Observed) -> Boards:
    """The boards of all hands of a casebase in which somebody acted after the flop."""
    hands = np.unique(observed.hand)
    street = np.zeros(len(hands), np.int64)
    np.maximum.at(street, np.searchsorted(hands, observed.hand), observed.place[:, 0])
    number, street = hands[street > 0], street[street > 0]
    cards = np.zeros((len(number), 5), np.uint8)
    player = {name: at for at, name in enumerate(observed.names)}
    shown: list[Ints] = []
    for records, bodies in base.read_records(BATCH):
        played, _, names = replay_decisions(bodies)
        assert played.tables is not None
        shown.append(_shown(played.tables, np.array(records)[played.hand], names, player))
        last = np.append(np.flatnonzero(np.diff(played.hand)), len(played.hand) - 1)
        of = np.array(records, np.int64)[played.hand[last]]
        at = np.searchsorted(number, of).clip(max=len(number) - 1)
        here = number[at] == of if len(number) else np.zeros(len(of), bool)
        cards[at[here]] = np.minimum(played.tables[last[here], BOARD : BOARD + 5], DECK)
    row = np.full((len(number), 3), -1, np.int64)
    for after in range(3):
        reached = np.flatnonzero(street > after)
        row[reached, after] = row.max(initial=-1) + 1 + np.arange(len(reached))
    held = np.full((int(row.max(initial=-1)) + 1, _COUNT), _BLOCKED, np.uint8)
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        parts = np.array_split(np.arange(len(number)), 16)
        list(
            threads.map(_classes, [cards[p] for p in parts], [row[p] for p in parts], repeat(held))
        )
    whose, first = np.unique(np.concatenate(shown, axis=1)[0], return_index=True)
    return Boards(number, row, held, whose, np.concatenate(shown, axis=1)[1, first])


def _shown(tables: Ints, record: Ints, names: NDArray[Any], player: dict[str, int]) -> Ints:
    """The player and hand, and the cards, of the decisions whose cards are known, [2, m]."""
    at = np.arange(len(tables))
    seat = tables[:, ACTOR]
    one, two = (tables[at, HOLE + 2 * seat + card] for card in range(2))
    known = np.flatnonzero((one < DECK) & (two < DECK))
    who = np.array([player[name] for name in names[known]], np.int64)
    holes = np.stack([one[known], two[known]], axis=1)
    return np.stack([record[known] * len(player) + who, hand_numbers(holes)])


def played_hands(observed: Observed, public: Floats, boards: Boards, use: Flags) -> Played:
    """The decisions of some players' hands (a mask); `public` [n, moves] are chances of moves
    without cards."""
    totals = counted_by_context(observed)
    average = (totals + 0.5) / (totals + 0.5).sum(axis=-1, keepdims=True)
    factor = public / average[tuple(observed.place.T)]
    order = np.lexsort((np.arange(len(observed)), observed.player, observed.hand))
    order = order[use[order]]
    hand, player = observed.hand[order], observed.player[order]
    new = np.append(True, (hand[1:] != hand[:-1]) | (player[1:] != player[:-1]))
    first = np.append(np.flatnonzero(new), len(order)).astype(np.int64)
    row = np.full((len(first) - 1, 3), -1, np.int64)
    if len(boards.number):
        at = np.searchsorted(boards.number, hand[new]).clip(max=len(boards.number) - 1)
        there = boards.number[at] == hand[new]
        row[there] = boards.row[at[there]]
    shown = np.full(len(row), -1, np.int64)
    if len(boards.whose):
        whose = hand[new] * len(observed.names) + player[new]
        at = np.searchsorted(boards.whose, whose).clip(max=len(boards.whose) - 1)
        there = boards.whose[at] == whose
        shown[there] = boards.shown[at[there]]
    return Played(
        observed.place[order, 0],
        observed.place[order, 1],
        observed.move[order],
        observed.hand_class[order],
        factor[order],
        first,
        row,
        shown,
        player[new],
        _tendency(public[order, FOLD], average[tuple(observed.place[order].T)][:, FOLD]),
    )


def _tendency(fold: Floats, average: Floats) -> Ints:
    """The place in `TENDENCIES` nearest to how much likelier folds are than in their context."""
    odds = (one.clip(_LEAST, 1.0 - _LEAST) for one in (fold, average))
    logits = [np.log(one / (1.0 - one)) for one in odds]
    middle = (TENDENCIES[1:] + TENDENCIES[:-1]) / 2.0
    return np.searchsorted(middle, logits[0] - logits[1])


def infer_cards(
    observed: Observed,
    played: Played,
    boards: Boards,
    rounds: int = 30,
    falling: bool = True,
    starts: int = 1,
    tell: Callable[[int, float], None] | None = None,
) -> Inferred:
    """Infer the chances of moves given a hand from all decisions, with shown and hidden cards: the
    likeliest of several starts, of which the first is drawn from the shown hands and the others
    differ from it at random.

    If folds need not be `falling`, it is van der Kleij's way: at first hidden hands are any, so
    that moves say nothing about hands, and nothing keeps the best hands from folding."""
    totals = counted_by_context(observed)
    grid = smoothed_frequencies(counted(observed), totals)
    if falling:
        shares = np.stack([class_shares(street) for street in range(4)])[:, None, None, :, None]
        often = np.zeros((*totals.shape[:2], len(TENDENCIES), totals.shape[2]))
        np.add.at(often, (played.street, played.context, played.tendency, played.move), 1.0)
        grid = logistic_folds(grid, often[:, :, :, None] * shares, usual=True)
    else:
        common = (totals + 0.1) / (totals + 0.1).sum(axis=-1, keepdims=True)
        grid[:] = common[:, :, None]
    found: list[Inferred] = []
    for start in range(starts):
        begin = _tilted(grid, start) if start else grid
        found.append(_inferred(totals, played, boards, begin, rounds, falling, tell))
    return max(found, key=lambda one: one.rounds[-1].likely)


def _inferred(
    totals: Ints,
    played: Played,
    boards: Boards,
    start: Floats,
    rounds: int,
    falling: bool,
    tell: Callable[[int, float], None] | None,
) -> Inferred:
    """Rounds from one start until folds hardly change."""
    grid, done = start, list[Round]()
    counts = np.zeros(grid.shape)
    while len(done) < rounds and not (done and done[-1].change < _SETTLED):
        by_tendency, likely = expected_counts(played, boards, grid)
        counts = by_tendency.sum(axis=2)
        found = smoothed_frequencies(counts, totals)
        if falling:
            found = logistic_folds(found, by_tendency)
        change = (np.abs(found - grid)[..., FOLD] * counts.sum(axis=-1)).sum() / counts.sum()
        grid = found
        done.append(Round(likely, float(change), grid))
        if tell:
            tell(len(done), float(change))
    return Inferred(grid, counts, start, done)


def _tilted(grid: Floats, seed: int) -> Floats:
    """A grid in which calls and raises follow from the strength of the hand by other slopes, drawn
    for each context at random."""
    chance = np.random.default_rng(seed)
    slope = chance.normal(0.0, _TILT, (*grid.shape[:2], 1, grid.shape[3] - 1))
    better = np.stack([class_order(street)[0] for street in range(4)])
    tilted = grid[..., CALL:] * np.exp(slope * better[:, None, :, None])
    scale = grid[..., CALL:].sum(axis=-1, keepdims=True) / tilted.sum(axis=-1, keepdims=True)
    return np.concatenate([grid[..., :CALL], tilted * scale], axis=-1)


def expected_counts(played: Played, boards: Boards, grid: Floats) -> tuple[Floats, float]:
    """How often each move was made with each hand class, as far as the moves tell, [4, CONTEXTS,
    TENDENCIES, CLASSES, moves]; and the mean logarithm of the chance of a move that was made."""
    spans = len(played.first) - 1
    parts = np.array_split(np.arange(spans + 1), 8)
    bounds = [(int(p[0]), min(int(p[-1]) + 1, spans)) for p in parts if len(p)]
    shape = (*grid.shape[:2], len(TENDENCIES), *grid.shape[2:])
    counts = np.zeros((len(bounds), *shape))
    likely = np.zeros(len(bounds))
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(
            threads.map(
                lambda at: _expect(
                    played, boards.held, grid, SHARES, bounds[at], counts[at], likely[at:]
                ),
                range(len(bounds)),
            )
        )
    return counts.sum(axis=0), float(likely.sum() / max(1, len(played.move)))


#: The share of all hands in each class before the flop.
SHARES = class_shares(0)


@njit(nogil=True)
def _classes(cards: Any, row: Any, held: Any) -> None:
    """Fill in the hand classes of all hands on the boards [n, 5]."""
    hands = board_hands()
    for i in range(len(cards)):
        for after in range(3):
            at = row[i, after]
            if at < 0:
                continue
            fill_board(cards[i], BOARD_CARDS[after + 1], hands)
            for h in range(_COUNT):
                strength = hands.strength[h]
                if strength >= 0:
                    held[at, h] = hand_class(after + 1, strength)


def _preflop_classes() -> NDArray[np.uint8]:
    hands = board_hands()
    fill_board(np.zeros(5, np.uint8), 0, hands)
    return np.array([hand_class(0, strength) for strength in hands.strength], np.uint8)


@njit(nogil=True)
def _expect(
    played: Any, held: Any, grid: Any, shares: Any, bounds: Any, counts: Any, likely: Any
) -> None:
    preflop = _PREFLOP
    weight = np.empty(_COUNT)
    chance = np.empty((_MOST, CLASSES))
    for span in range(bounds[0], bounds[1]):
        begin, end = played.first[span], min(played.first[span + 1], played.first[span] + _MOST)
        if played.held[begin] >= 0:
            for i in range(begin, end):
                if played.held[i] >= 0:
                    at = counts[played.street[i], played.context[i], played.tendency[i]]
                    at[played.held[i], played.move[i]] += 1.0
            continue
        for i in range(begin, end):
            _refined(i, played, grid, chance[i - begin])
        if played.street[end - 1] == 0:
            _by_class(begin, end, played, shares, chance, weight, counts, likely)
        else:
            _by_hand(begin, end, played, span, held, preflop, chance, weight, counts, likely)


@njit(nogil=True)
def _refined(i: Any, played: Any, grid: Any, out: Any) -> None:
    """The chance of a move that was made with each hand class."""
    at = grid[played.street[i], played.context[i]]
    for held in range(CLASSES):
        total = 0.0
        for move in range(at.shape[1]):
            total += at[held, move] * played.factor[i, move]
        made = played.move[i]
        out[held] = max(_LEAST, at[held, made] * played.factor[i, made] / max(total, _LEAST))


@njit(nogil=True)
def _by_class(
    begin: Any,
    end: Any,
    played: Any,
    shares: Any,
    chance: Any,
    weight: Any,
    counts: Any,
    likely: Any,
) -> None:
    """A player who never saw a flop: hands of one class are alike."""
    total = 0.0
    for held in range(CLASSES):
        weight[held] = shares[held]
        for i in range(end - begin):
            weight[held] *= chance[i, held]
        total += weight[held]
    likely[0] += np.log(total)
    for i in range(begin, end):
        for held in range(CLASSES):
            at = counts[0, played.context[i], played.tendency[i], held]
            at[played.move[i]] += weight[held] / total


@njit(nogil=True)
def _by_hand(
    begin: Any,
    end: Any,
    played: Any,
    span: Any,
    held: Any,
    preflop: Any,
    chance: Any,
    weight: Any,
    counts: Any,
    likely: Any,
) -> None:
    """All hands that the cards on the board leave possible."""
    total, possible = _weigh(begin, end, played, span, held, preflop, chance, weight)
    likely[0] += np.log(total / possible)
    share = np.empty(CLASSES)
    for i in range(begin, end):
        street = played.street[i]
        classes = preflop if street == 0 else held[played.row[span, street - 1]]
        share[:] = 0.0
        for h in range(_COUNT):
            if weight[h] > 0.0:
                share[classes[h]] += weight[h]
        at = counts[street, played.context[i], played.tendency[i]]
        for c in range(CLASSES):
            at[c, played.move[i]] += share[c] / total


@njit(nogil=True)
def _weigh(
    begin: Any,
    end: Any,
    played: Any,
    span: Any,
    held: Any,
    preflop: Any,
    chance: Any,
    weight: Any,
) -> Any:
    """Weigh all hands by the chances of a player's moves, by class; returns the sum of the weights
    and the number of hands that the cards on the board leave possible."""
    last = np.int64(-1)
    for after in range(3):
        if played.row[span, after] >= 0:
            last = played.row[span, after]
    total, possible = 0.0, 0
    for h in range(_COUNT):
        weight[h] = 0.0
        if last < 0 or held[last, h] != _BLOCKED:
            weight[h] = 1.0
            possible += 1
    for i in range(begin, end):
        street = played.street[i]
        classes = preflop if street == 0 else held[played.row[span, street - 1]]
        for h in range(_COUNT):
            if weight[h] > 0.0:
                weight[h] *= chance[i - begin, classes[h]]
    for h in range(_COUNT):
        total += weight[h]
    return total, possible


def shown_chances(played: Played, boards: Boards, grid: Floats) -> Floats:
    """For each player and hand the chance of the cards that were held, after all moves, and the
    number of hands that the board left possible, [n, 2]; NaN where the cards are unknown."""
    out = np.full((len(played.first) - 1, 2), np.nan)
    _shown_chances(played, boards.held, grid, out)
    return out


@njit(nogil=True)
def _shown_chances(played: Any, held: Any, grid: Any, out: Any) -> None:
    preflop = _PREFLOP
    weight, chance = np.empty(_COUNT), np.empty((_MOST, CLASSES))
    for span in range(len(out)):
        hand = played.shown[span]
        if hand < 0:
            continue
        begin = played.first[span]
        end = min(played.first[span + 1], begin + _MOST)
        for i in range(begin, end):
            _refined(i, played, grid, chance[i - begin])
        total, possible = _weigh(begin, end, played, span, held, preflop, chance, weight)
        out[span, 0], out[span, 1] = weight[hand] / total, possible


#: The hand class of each hand before the flop.
_PREFLOP = _preflop_classes()
