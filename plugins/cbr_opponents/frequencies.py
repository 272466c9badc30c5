"""How the players of a casebase act: all decisions of its hands, counted in the grid, and trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cbr import Casebase
from cbr.typing import Floats, Ints
from cbr_holdem.cards import DECK
from cbr_holdem.situation import BETTING, Replayed, replay_arrays
from cbr_holdem.table import ACTOR, BOARD, BOARD_CARDS, CALL, FOLD, HOLE, RAISE, STREET, HandArrays
from cbr_opponents.abstraction import (
    CLASSES,
    CONTEXTS,
    DUE,
    SIZES,
    class_of,
    class_places,
    class_shares,
    context_after,
    hand_mark,
    last_to_raise,
    near,
)
from cbr_opponents.boosting import Trees, fit
from cbr_opponents.opponent_model import CODES, Players, look

#: Decisions of a coarser cell that a finer one leans on; the finest on more, since what it has
#: is in the others too. Chosen by held-out likelihood on logs of 30 to 9,000 hands.
_LEAN, _LEAN_LAST = 10.0, 30.0
#: How much the class next to one counts for it: at first, and where enough is known.
_WIDTHS = (0.9, 0.5)
#: How steeply chances fall with the share of better hands, and those of folds where some are known;
#: before the flop those of hidden folds fall as one of these. Steeper ones predicted no better.
_STEEP, _STEEP_FOLD = 6.0, 8.0
_STEEP_HIDDEN = (3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 20.0)
#: Nothing is ruled out.
_NEVER = 1e-3
#: Trees of a street at most; decisions that they are learned from; and of how many hands one is
#: held out, to see how many trees help.
_TREES, _ROWS, _HELD = 60, 100_000, 5
#: Decisions of a street below which trees would learn luck.
_FEWEST = 1_000
#: FOLD, CALL or RAISE of each of `ACTIONS`.
_KINDS = np.array([FOLD, CALL, CALL, RAISE, RAISE])
#: Records that are replayed at a time.
BATCH = 400
#: Players that are counted one by one, and decisions of those that may make a group.
_APART, _ENOUGH = 40, 1_000
#: Groups at most, and what their decisions lose at least if they are taken for one.
_GROUPS, _DIFFERENT = 3, 0.03


class Decisions(NamedTuple):
    """Decisions of players whose cards are known: `cell` [n, 3] is street, context and class,
    `codes` [n, CODES] what trees ask for; then the `move`, whose it is and in which hand, [n]."""

    cell: NDArray[np.int16]
    codes: NDArray[np.uint8]
    move: Ints
    who: Ints
    hand: Ints

    def take(self, places: NDArray[Any]) -> Decisions:
        """Some of them."""
        return Decisions(*(part[places] for part in self))

    def counted(self, moves: int) -> Ints:
        """How often each move was made, [4, CONTEXTS, CLASSES, moves]."""
        shape = (4, CONTEXTS, CLASSES, moves)
        at = np.ravel_multi_index((*self.cell.T.astype(np.int64), self.move), shape)
        return np.bincount(at, minlength=int(np.prod(shape))).reshape(shape)

    def seen(self, players: int, moves: int) -> Ints:
        """How often each of so many players made each move, [players, 4, CONTEXTS, moves]."""
        seen = np.zeros((players, 4, CONTEXTS, moves), np.int64)
        np.add.at(seen, (self.who, *self.cell[:, :2].T, self.move), 1)
        return seen


class Counts(NamedTuple):
    """What players did: decisions with known cards, and how often each made which moves in all,
    [players, 4, CONTEXTS, moves]."""

    decisions: Decisions
    seen: Ints

    def players(self, group: Sequence[int] | None = None, exact: bool = True) -> Players:
        """How some of them act, or all; by the grid alone if it need not be `exact`."""
        mine, seen = self.decisions, self.seen
        if group is not None:
            mine, seen = mine.take(np.isin(mine.who, group)), seen[list(group)]
        moves = seen.shape[-1]
        known, in_all = mine.counted(moves), seen.sum(axis=0)
        grid = smoothed(known, in_all)
        # Trees cannot learn from cards that nobody saw.
        exact = exact and not hides_folds(known, in_all)
        return Players.of(grid, _trees(mine, moves) if exact else ())


def _trees(decisions: Decisions, moves: int) -> list[Trees]:
    """Trees that refine the grid on each street, as many as help with hands that are held out."""
    found = []
    rest = decisions.hand % _HELD != 0
    known = decisions.take(rest).counted(moves)
    log = np.log(np.maximum(smoothed(known, known.sum(axis=2)), _NEVER**2))
    for street in range(4):
        mine = decisions.cell[:, 0] == street
        # Whole hands, so many that they are enough.
        every = -(-int(mine.sum()) // _ROWS) or 1
        some = decisions.take(mine & (decisions.hand // _HELD % every == 0))
        start = log[tuple(some.cell.T.astype(np.int64))]
        most = _TREES if len(some.move) >= _FEWEST else 0
        found.append(fit(some.codes, some.move, start, some.hand % _HELD == 0, most))
    return found


def count_moves(base: Casebase) -> Counts:
    """What the players of a casebase's records did: those with the most hands one by one, and in
    the last place everybody else."""
    hands = Counter(
        name
        for _, bodies in base.read_records(BATCH)
        for name in HandArrays.read(bodies).players.ravel().tolist()
        if name
    )
    places = {name: place for place, (name, _) in enumerate(hands.most_common(_APART))}
    moves = RAISE + len(SIZES[BETTING[base.domain]])
    found, seen = [], np.zeros((len(places) + 1, 4, CONTEXTS, moves), np.int64)
    for numbers, bodies in base.read_records(BATCH):
        played, terms, names = replay_bodies(bodies)
        assert played.tables is not None
        who = np.array([places.get(name, len(places)) for name in names], np.int64)
        move = moves_of(played, moves)
        cell = np.full((len(move), 3), -1, np.int16)
        codes = np.zeros((len(move), CODES), np.uint8)
        _look(played.tables, terms, cell, codes)
        some = Decisions(cell, codes, move, who, np.array(numbers, np.int64)[played.hand])
        seen += some.seen(*seen.shape[::3])
        found.append(some.take(cell[:, 2] >= 0))
    return Counts(Decisions(*map(np.concatenate, zip(*found, strict=True))), seen)


def replay_bodies(bodies: Sequence[str]) -> tuple[Replayed, Ints, NDArray[Any]]:
    """The decisions of some hands with their tables, the terms of the game of each [m, ..], and who
    took it [m]."""
    hands = HandArrays.read(bodies)
    played = replay_arrays(hands, keep_tables=True)
    place = np.zeros(len(bodies), np.int64)
    place[hands.place] = np.arange(len(hands.place))
    at = place[played.hand]
    return played, hands.terms[at], hands.players[at, played.situations.place[:, 1]]


def moves_of(played: Replayed, moves: int) -> Ints:
    """Which move of the grid each decision was, [m]."""
    kind = _KINDS[played.action]
    sized: Ints = kind + np.where((kind == RAISE) & (moves > 3), np.maximum(played.size, 0), 0)
    return sized


def groups_of(seen: Ints) -> list[list[int]]:
    """Players who act alike, by what everybody sees of them [players, 4, CONTEXTS, moves]: the two
    groups that lose least by it become one, until all that are left differ."""
    often = np.flatnonzero(seen.sum(axis=(1, 2, 3)) >= _ENOUGH).tolist()
    groups = [[player] for player in often]
    counts = [seen[player].astype(np.float64) for player in often]
    fit = [_likelihood(count) for count in counts]
    while len(groups) > 1:
        loss, one, two = min(
            (_loss(counts[a] + counts[b], fit[a] + fit[b], counts[a], counts[b]), a, b)
            for b in range(len(groups))
            for a in range(b)
        )
        if loss > _DIFFERENT and len(groups) <= _GROUPS:
            break
        groups[one] += groups.pop(two)
        counts[one] = counts[one] + counts.pop(two)
        fit.pop(two)
        fit[one] = _likelihood(counts[one])
    return groups


def _likelihood(count: Floats) -> float:
    """Logarithm of the chance of some moves, each by how common it is in its context."""
    chances = (count + 0.5) / (count + 0.5).sum(axis=-1, keepdims=True)
    return float((count * np.log(chances)).sum())


def _loss(both: Floats, apart: float, one: Floats, two: Floats) -> float:
    """What a decision of the smaller group loses if two are taken for one."""
    return (apart - _likelihood(both)) / float(min(one.sum(), two.sum()))


@njit(cache=True)
def _look(tables: Any, terms: Any, cell: Any, codes: Any) -> None:
    """Where decisions are in the grid, and what trees ask for where cards are known."""
    hole, board, now = np.empty(2, np.uint8), np.empty(5, np.uint8), np.empty(3, np.int64)
    for i in range(len(tables)):
        r = tables[i]
        street, raiser = r[STREET], last_to_raise(r)
        cell[i, 0], cell[i, 1] = street, context_after(r, terms[i], raiser)
        for card in range(2):
            hole[card] = r[HOLE + 2 * r[ACTOR] + card]
        if hole[0] < DECK and hole[1] < DECK:
            for card in range(5):
                board[card] = r[BOARD + card]
            mark = hand_mark(hole, board, BOARD_CARDS[street], now)
            cell[i, 2] = class_of(street, mark)
            look(r, terms[i], raiser, mark, codes[i])


def hides_folds(known: Ints, seen: Ints) -> bool:
    """Whether most cards of those who fold are not known."""
    return bool(2 * known[..., FOLD].sum() < seen[..., FOLD].sum())


def smoothed(known: Ints, seen: Ints) -> Floats:
    """Chances from counts of decisions with known cards [4, CONTEXTS, CLASSES, moves], and of all
    [4, CONTEXTS, moves]: each cell leans on classes near its own, those on classes not far from it,
    and these on the same in all contexts with the same to call. Where nothing is known, bad hands
    fold and good ones raise: players whose actions said nothing of their hands would be too easy
    to beat, and an answer to them too loose."""
    by_due = known.astype(np.float64).reshape(4, DUE, -1, CLASSES, known.shape[-1])
    in_all = by_due.sum(axis=2, keepdims=True)
    chances = _by_strength(_shares(in_all.sum(axis=(2, 3)) + 1.0))[:, :, None]
    for counts in (in_all, by_due):
        for width in _WIDTHS:
            alike = np.stack([near(street, width) for street in range(4)])[:, None, None]
            chances = _shares(alike @ counts + _LEAN * chances)
    chances = _shares(by_due + _LEAN_LAST * chances).reshape(known.shape)
    if hides_folds(known, seen):
        chances = _with_folds(chances, known, seen.astype(np.float64))
    free = slice(0, CONTEXTS // DUE)
    chances[:, free, :, CALL] += chances[:, free, :, FOLD]
    chances[:, free, :, FOLD] = 0.0
    return chances


def _with_folds(chances: Floats, known: Ints, seen: Floats) -> Floats:
    """Where the cards of those who fold are not known: folds are as common as in all decisions of a
    context, and the worse a hand is among all hands, the likelier."""
    by_due = seen.reshape(4, DUE, -1, seen.shape[-1])
    folds, times = by_due[..., FOLD], by_due.sum(axis=-1)
    middle = (folds.sum(axis=2) + 1.0) / (times.sum(axis=2) + 2.0)
    rate = (folds + _LEAN * middle[..., None]) / (times + _LEAN)
    chances[..., FOLD] = 0.0
    chances = _shares(chances)
    for street, rates in enumerate(rate.reshape(4, CONTEXTS)):
        steep = _STEEP if street else _steep_before(rates, known[0])
        fold = _falling(rates, street, steep)
        chances[street] *= (1.0 - fold)[..., None]
        chances[street][..., FOLD] = fold
    return chances


def _steep_before(rates: Floats, known: Ints) -> float:
    """How steeply folds fall with the hand before the flop, where they come at these rates
    [CONTEXTS]: so that hands [CONTEXTS, CLASSES, moves] of those who did not fold, and showed them
    in the end, are likeliest. That can be told because there all hands are dealt alike; of what it
    costs to come in, since who pays more later has shown something already."""
    coming_in = slice(CONTEXTS // DUE, 2 * CONTEXTS // DUE)

    def staying(steep: float) -> Floats:
        return _shares(class_shares(0) * (1.0 - _falling(rates[coming_in], 0, steep)) + 1e-9)

    # A few hands more, as they usually are: of one or two nothing can be told.
    played = known[coming_in, :, CALL:].sum(axis=-1) + _LEAN * staying(_STEEP)
    return max(_STEEP_HIDDEN, key=lambda steep: float((played * np.log(staying(steep))).sum()))


def _by_strength(shares: Floats) -> Floats:
    """Chances [4, n, CLASSES, moves] of moves that are so common [4, n, moves], if what is done is
    no more than a matter of how good the hand is."""
    chances = np.empty((*shares.shape[:2], CLASSES, shares.shape[-1]))
    sizes = _shares(shares[..., RAISE:])
    for street, share in enumerate(shares):
        fold = _falling(share[:, FOLD], street, _STEEP_FOLD)
        no_raise = np.maximum(fold, _falling(share[:, : CALL + 1].sum(axis=1), street, _STEEP))
        chances[street, ..., FOLD] = fold
        chances[street, ..., CALL] = no_raise - fold
        chances[street, ..., RAISE:] = (1.0 - no_raise)[..., None] * sizes[street, :, None]
    return _shares(chances + _NEVER)


def _falling(rates: Floats, street: int, steep: float) -> Floats:
    """Chances [n, CLASSES] that are lower for better hands, and these `rates` [n] in their mean."""
    better, _ = class_places(street)
    share, steps = class_shares(street), np.linspace(-20.0, 20.0, 401)
    curves = 1.0 / (1.0 + np.exp(-(steps[:, None] + steep * (better - 0.5))))
    found: Floats = curves[np.searchsorted(curves @ share, rates).clip(max=len(steps) - 1)]
    return found


def _shares(counts: Floats) -> Floats:
    shares: Floats = counts / counts.sum(axis=-1, keepdims=True)
    return shares
