"""How likely a model's ranges make the cards that players turn out to hold.

The range of a player is the posterior over hands, given all its moves of a hand. Where the cards
become known, the probability of the hand that was held tells what the model knows about hands: 1
divided by the number of possible hands if it knows nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr.statistics import Mean, clustered_mean
from cbr.store import Casebase
from cbr.typing import Flags, Floats, Ints
from cbr_holdem.cards import DECK, HANDS
from cbr_holdem.strength import hand_number
from cbr_holdem.table import ACTOR, BOARD, BOARD_CARDS, FOLD, HOLE, MOST_SEATS, MOVES, STREET
from cbr_opponents.logged_hands import BATCH, logged_moves, replay_decisions
from cbr_opponents.opponent_model import OpponentModel, workspace
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
    base: Casebase, model: OpponentModel, chosen: dict[int, set[str]], most: int = 4_000
) -> CardFigures | None:
    """The figures of hands in which these players (names by record number) acted and did not fold
    at once, at most so many; None if no cards are known."""
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
        _probabilities(played.tables, terms, move, mine, model, out)
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


@njit
def _probabilities(tables: Any, terms: Any, move: Any, mine: Any, model: Any, out: Any) -> None:
    """For the last decision of each chosen player of a hand whose cards are known and who never
    folds: the probability of its hand after the move, and the number of possible hands."""
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


def chosen_hands(hand: Ints, player: Ints, names: Any, tested: Flags) -> dict[int, set[str]]:
    """The tested players of each record, by record number."""
    found: dict[int, set[str]] = {}
    for number, who in zip(hand[tested].tolist(), player[tested].tolist(), strict=True):
        found.setdefault(number, set()).add(names[who])
    return found
