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
the strength of the hand, in the start and after each maximisation: by isotonic regression, and
after the flop by logistic regression in which the best hand hardly folds. Without it, likelihood
alone makes folds too alike, because no model of moves is exactly right.
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
from cbr_holdem.table import BOARD, BOARD_CARDS, CALL, FOLD
from cbr_kmodels.model import KModels
from cbr_opponents import (
    BATCH,
    CLASSES,
    CONTEXTS,
    PRICE_CLASSES,
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
_FREE = CONTEXTS // PRICE_CLASSES
#: Rounds end when no chance of a fold changes by more, on average over decisions.
_SETTLED = 2e-4
_LEAST = 1e-6
#: The chance that the best hand folds after the flop; the usual slope of the logit of a fold in the
#: share of better hands, and how much less it is with some potential and with much, and the slope
#: in its root; and the weight of the usual.
_BEST_FOLDS, _SLOPE, _LESS, _RIDGE = 0.02, 7.0, (-2.0, -4.0, 0.0), 4.0


class Boards(NamedTuple):
    """The hand classes of all hands on the boards of a log: `held` uint8 [boards, 1326], `row`
    [hands, 3] the board of each street after the first in `held`, -1 where it was not reached, and
    `number` [hands] the records, ascending."""

    number: Ints
    row: Ints
    held: NDArray[np.uint8]


class Played(NamedTuple):
    """The decisions of each player in each hand, in order: `street`, `context`, `move`, the class
    `held` (-1: hidden) [n], and `factor` [n, moves], how much likelier each move is by the public
    model than by the average of its context. Player and hand number i has decisions `first`[i] to
    `first`[i + 1], and boards `row` [i, 3]."""

    street: Ints
    context: Ints
    move: Ints
    held: Ints
    factor: Floats
    first: Ints
    row: Ints


class Inferred(NamedTuple):
    """The chances of moves given a hand, `grid` [4, CONTEXTS, CLASSES, moves]; the expected
    `counts` of the same shape that they rest on; and by round how likely all moves were, and the
    mean change of a fold."""

    grid: Floats
    counts: Floats
    rounds: list[tuple[float, float]]


def with_inferred_cards(
    base: Casebase,
    observed: Observed,
    model: KModels,
    tell: Callable[[int, float], None] | None = None,
) -> KModels | None:
    """The clusters with chances of moves given a hand that are inferred from all hands of a
    casebase; None where most folded hands are known, so that there is nothing to infer."""
    if not hides_folds(counted(observed), counted_by_context(observed)):
        return None
    everything = np.ones(len(observed), np.bool_)
    public = model.in_sequence(observed, everything, False)
    boards = boards_of(base, observed)
    played = played_hands(observed, public, boards, everything)
    grid = infer(observed, played, boards, tell=tell).grid
    shared, own = (arrays._replace(grid=grid) for arrays in (model.shared, model.own))
    return dataclasses.replace(model, shared=shared, own=own)


def boards_of(base: Casebase, observed: Observed) -> Boards:
    """The boards of all hands of a casebase in which somebody acted after the flop."""
    hands = np.unique(observed.hand)
    street = np.zeros(len(hands), np.int64)
    np.maximum.at(street, np.searchsorted(hands, observed.hand), observed.place[:, 0])
    number, street = hands[street > 0], street[street > 0]
    cards = np.zeros((len(number), 5), np.uint8)
    for records, bodies in base.read_records(BATCH):
        played, _, _ = replay_decisions(bodies)
        assert played.tables is not None
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
    return Boards(number, row, held)


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
    return Played(
        observed.place[order, 0],
        observed.place[order, 1],
        observed.move[order],
        observed.hand_class[order],
        factor[order],
        first,
        row,
    )


def infer(
    observed: Observed,
    played: Played,
    boards: Boards,
    rounds: int = 30,
    tell: Callable[[int, float], None] | None = None,
) -> Inferred:
    """Infer the chances of moves given a hand from all decisions, with shown and hidden cards."""
    totals = counted_by_context(observed)
    grid = falling_folds(smoothed_frequencies(counted(observed), totals), None)
    done: list[tuple[float, float]] = []
    counts = np.zeros(grid.shape)
    while len(done) < rounds and not (done and done[-1][1] < _SETTLED):
        counts, likely = expected_counts(played, boards, grid)
        found = smoothed_frequencies(counts, totals)  # type: ignore[arg-type]
        found = falling_folds(anchored_folds(found, counts), counts)
        change = (np.abs(found - grid)[..., FOLD] * counts.sum(axis=-1)).sum() / counts.sum()
        grid = found
        done.append((likely, float(change)))
        if tell:
            tell(len(done), float(change))
    return Inferred(grid, counts, done)


def expected_counts(played: Played, boards: Boards, grid: Floats) -> tuple[Floats, float]:
    """How often each move was made with each hand class, as far as the moves tell, of the shape of
    the grid; and the mean logarithm of the chance of a move that was made."""
    spans = len(played.first) - 1
    parts = np.array_split(np.arange(spans + 1), 8)
    bounds = [(int(p[0]), min(int(p[-1]) + 1, spans)) for p in parts if len(p)]
    counts = np.zeros((len(bounds), *grid.shape))
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


def falling_folds(grid: Floats, counts: Floats | None) -> Floats:
    """The grid with folds that fall with the strength of the hand, among hands of like potential;
    `counts` of the same shape weigh the classes, which count alike without them."""
    out = grid.copy()
    for street in range(4):
        order, potential = class_order(street)
        groups = [np.flatnonzero(potential == one) for one in np.unique(potential)]
        groups = [one[np.argsort(-order[one], kind="stable")] for one in groups]  # weak hands first
        for at in range(_FREE, CONTEXTS):
            weight = np.ones(CLASSES) if counts is None else counts[street, at].sum(axis=-1) + 1.0
            for group in groups:
                fold = -isotonic(-grid[street, at, group, FOLD], weight[group])
                stay = grid[street, at, group, CALL:].sum(axis=-1)
                out[street, at, group, FOLD] = fold
                out[street, at, group, CALL:] *= ((1.0 - fold) / stay)[:, None]
    return out


def anchored_folds(grid: Floats, counts: Floats) -> Floats:
    """The grid with logistic chances of folds after the flop, fitted to expected counts: the best
    hand folds with a chance of `_BEST_FOLDS`, and the logit rises with the share of better hands
    and its root, by a slope for each context and less for hands with potential."""
    out = grid.copy()
    each = CONTEXTS // PRICE_CLASSES
    for street in range(1, 4):
        better, potential = class_order(street)
        design = np.zeros((each, CLASSES, each + 3))
        design[np.arange(each), :, np.arange(each)] = better
        for one in (1, 2):
            design[:, :, each + one - 1] = better * (potential == one)
        design[:, :, -1] = np.sqrt(better)
        for price in range(1, PRICE_CLASSES):
            at = slice(price * each, (price + 1) * each)
            times = counts[street, at].sum(axis=-1)
            fold = _logistic_fit(design, counts[street, at, :, FOLD], times)
            stay = grid[street, at, :, CALL:].sum(axis=-1)
            out[street, at, :, FOLD] = fold
            out[street, at, :, CALL:] *= ((1.0 - fold) / stay)[..., None]
    return out


def _logistic_fit(design: Floats, folds: Floats, times: Floats) -> Floats:
    """Chances of folds [contexts, CLASSES] by logistic regression on counts, from the usual
    slopes."""
    x = design.reshape(-1, design.shape[-1])
    y, n = folds.reshape(-1), times.reshape(-1)
    anchor = np.log(_BEST_FOLDS / (1.0 - _BEST_FOLDS))
    usual = np.append(np.full(design.shape[-1] - len(_LESS), _SLOPE), _LESS)
    slope = usual.copy()
    for _ in range(12):
        chance = 1.0 / (1.0 + np.exp(-(anchor + x @ slope)))
        curve = x * (n * chance * (1.0 - chance))[:, None]
        step = np.linalg.solve(
            x.T @ curve + _RIDGE * np.eye(len(slope)),
            x.T @ (y - n * chance) - _RIDGE * (slope - usual),
        )
        slope += np.clip(step, -2.0, 2.0)
    found: Floats = (1.0 / (1.0 + np.exp(-(anchor + x @ slope)))).reshape(folds.shape)
    return found


def isotonic(values: Floats, weight: Floats) -> Floats:
    """The ascending numbers nearest to some values by weighted squares (pool adjacent violators).

    >>> isotonic(np.array([1.0, 3.0, 2.0, 4.0]), np.ones(4)).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    mean: list[float] = []
    total: list[float] = []
    length: list[int] = []
    for value, by in zip(values.tolist(), weight.tolist(), strict=True):
        mean.append(value)
        total.append(by)
        length.append(1)
        while len(mean) > 1 and mean[-2] > mean[-1]:
            both = total[-2] + total[-1]
            mean[-2:] = [(mean[-2] * total[-2] + mean[-1] * total[-1]) / both]
            total[-2:] = [both]
            length[-2:] = [length[-2] + length[-1]]
    return np.repeat(mean, length)


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
    chance = np.empty((64, CLASSES))
    for span in range(bounds[0], bounds[1]):
        begin, end = played.first[span], min(played.first[span + 1], played.first[span] + 64)
        if played.held[begin] >= 0:
            for i in range(begin, end):
                if played.held[i] >= 0:
                    at = counts[played.street[i], played.context[i], played.held[i]]
                    at[played.move[i]] += 1.0
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
            at = counts[0, played.context[i], held]
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
    last = np.int64(-1)
    for after in range(3):
        if played.row[span, after] >= 0:
            last = played.row[span, after]
    total, possible = 0.0, 0
    for h in range(_COUNT):
        weight[h] = 0.0
        if held[last, h] != _BLOCKED:
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
    likely[0] += np.log(total / possible)
    share = np.empty(CLASSES)
    for i in range(begin, end):
        street = played.street[i]
        classes = preflop if street == 0 else held[played.row[span, street - 1]]
        share[:] = 0.0
        for h in range(_COUNT):
            if weight[h] > 0.0:
                share[classes[h]] += weight[h]
        for c in range(CLASSES):
            counts[street, played.context[i], c, played.move[i]] += share[c] / total


#: The hand class of each hand before the flop.
_PREFLOP = _preflop_classes()
