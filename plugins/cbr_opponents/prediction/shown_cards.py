"""How likely a model's ranges make the cards that players turn out to hold.

The range of a player is the posterior over hands, given all its moves of a hand. Where the cards
become known, the probability of the hand that was held tells what the model knows about hands: 1
divided by the number of possible hands if it knows nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import copy_to, njit
from cbr.statistics import Mean, clustered_mean
from cbr.store import Casebase
from cbr.typing import Flags, Floats, Ints
from cbr_holdem.cards import DECK, HANDS
from cbr_holdem.strength import hand_number
from cbr_holdem.table import ACTOR, BOARD, BOARD_CARDS, FOLD, HOLE, MOST_SEATS, MOVES, STREET
from cbr_opponents.learning import Observed
from cbr_opponents.logged_hands import BATCH, logged_moves, replay_decisions
from cbr_opponents.opponent_model import OpponentModel, workspace
from cbr_opponents.profiles import profiles_of_decisions
from cbr_opponents.ranges import board_hands, fill_board, update_range

_COUNT = len(HANDS)


class CardFigures(NamedTuple):
    """Over `hands` hands of players: the mean probability of the cards that were held, as a
    `multiple` of 1/1326; its mean logarithm `log`; and that of a range that knows nothing."""

    hands: int
    multiple: Mean
    log: Mean
    uniform_log: float


def card_figures(
    base: Casebase, model: OpponentModel, observed: Observed, tested: Flags, most: int = 4_000
) -> CardFigures | None:
    """The figures of a model for the players of tested decisions (a mask) whose cards are known and
    who do not fold, each once a hand, at most so many; None if no cards are known."""
    chosen = _chosen_hands(observed, tested)
    hands = _Hands.of(observed)
    moves = model.grid.shape[-1]
    found: list[Floats] = []
    players: dict[str, int] = {}
    cluster: list[int] = []
    for numbers, bodies in base.read_records(BATCH):
        wanted = [at for at, number in enumerate(numbers) if number in chosen]
        if not wanted:
            continue
        played, terms, names = replay_decisions([bodies[at] for at in wanted])
        assert played.tables is not None
        records = np.array([numbers[at] for at in wanted])[played.hand]
        mine = np.array(
            [name in chosen[number] for name, number in zip(names, records.tolist(), strict=True)],
            bool,
        )
        out = np.full((len(mine), 2), np.nan)
        move = logged_moves(played, moves)
        profiles = hands.profiles(observed, records, played.step)
        _probabilities(played.tables, terms, (move, mine, profiles), model, out)
        here = ~np.isnan(out[:, 0])
        found.append(out[here])
        cluster += [players.setdefault(name, len(players)) for name in names[here]]
        if len(cluster) >= most:
            break
    if not cluster:
        return None
    rows, of = np.concatenate(found)[:most], np.array(cluster[:most], np.int64)
    return CardFigures(
        len(rows),
        clustered_mean(rows[:, 0] * _COUNT, of),
        clustered_mean(np.log(rows[:, 0]), of),
        float(-np.log(rows[:, 1]).mean()),
    )


class _Hands(NamedTuple):
    """Where the decisions of each hand begin in observed decisions: numbers of hands, ascending,
    and the place of the first decision of each."""

    number: Ints
    first: Ints

    @classmethod
    def of(cls, observed: Observed) -> _Hands:
        return cls(*np.unique(observed.hand, return_index=True))

    def profiles(self, observed: Observed, hand: Ints, step: Ints) -> NDArray[np.uint8]:
        """Profiles [n, PROFILE] of the player at decisions given by hand and step."""
        at = self.first[np.searchsorted(self.number, hand)] + step
        profiles: NDArray[np.uint8] = profiles_of_decisions(observed.features[at])
        return profiles


@njit
def _probabilities(tables: Any, terms: Any, made: Any, model: Any, out: Any) -> None:
    """For the last decision of each chosen player of a hand whose cards are known and who never
    folds: the probability of its hand after the move, and the number of possible hands."""
    move, mine, profiles = made
    weights = np.ones((MOST_SEATS, _COUNT))
    space, hands = workspace(model), board_hands()
    board = np.empty(5, np.uint8)
    ready = -1
    last = np.full(MOST_SEATS, -1, np.int64)
    for i in range(len(tables)):
        r = tables[i]
        if r[MOVES] == 0:
            weights[:] = 1.0
            ready = -1
            last[:] = -1
        seat, street = r[ACTOR], r[STREET]
        copy_to(profiles[i], space.profiles[seat])
        one, two = r[HOLE + 2 * seat], r[HOLE + 2 * seat + 1]
        if not mine[i] or one >= DECK or two >= DECK:
            continue
        if last[seat] >= 0:
            out[last[seat]] = np.nan
        if move[i] == FOLD:
            continue
        if ready != street:
            for place in range(5):
                board[place] = r[BOARD + place]
            fill_board(board, BOARD_CARDS[street], hands)
            ready = street
        update_range(weights[seat], hands, r, terms[i], move[i], model, space)
        last[seat] = i
        total, possible = 0.0, 0
        for h in range(_COUNT):
            if hands.level[h] >= 0:
                total += weights[seat, h]
                possible += 1
        out[i, 0] = weights[seat, hand_number(one, two)] / total
        out[i, 1] = possible


def _chosen_hands(observed: Observed, tested: Flags) -> dict[int, set[str]]:
    """The tested players of each record, by record number."""
    found: dict[int, set[str]] = {}
    who = zip(observed.hand[tested].tolist(), observed.player[tested].tolist(), strict=True)
    for number, player in who:
        found.setdefault(number, set()).add(observed.names[player])
    return found
