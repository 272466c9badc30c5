"""Ranges: the posterior over a player's hands, given a move."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_logs import limit_base

from cbr.store.casebase import Casebase
from cbr_holdem.cards import HANDS
from cbr_holdem.table import ACTOR, BOARD, BOARD_CARDS, HOLE, STREET
from cbr_opponents import (
    FLOOR,
    actor_strength,
    board_hands,
    fill_board,
    logged_moves,
    move_chances,
    replay_decisions,
    update_range,
    workspace,
)
from cbr_opponents.learning import fit_trees, observe


@pytest.mark.long
@pytest.mark.parametrize("street", [0, 2])
def test_a_move_multiplies_weights_by_its_likelihood(
    tmp_path_factory: pytest.TempPathFactory, street: int
) -> None:
    base: Path = limit_base(tmp_path_factory.mktemp("casper"))
    with Casebase.open(base) as opened:
        model = fit_trees(observe(opened), profiles=False)
        _, bodies = next(iter(opened.read_records(60)))
    played, terms, _ = replay_decisions(bodies)
    at = int(np.flatnonzero(played.tables[:, STREET] == street)[5])
    table, move = played.tables[at].copy(), logged_moves(played, 3)[at]
    board = table[BOARD : BOARD + 5].astype(np.uint8)
    shown, space = board[: BOARD_CARDS[street]], workspace(model)
    hands = board_hands()
    fill_board(board, BOARD_CARDS[street], hands)
    free = ~np.isin(HANDS, shown).any(axis=1)
    np.testing.assert_array_equal(hands.strength >= 0, free)
    prior = np.random.default_rng(1).uniform(0.2, 1.0, len(HANDS))
    weights = prior.copy()
    update_range(weights, hands, table, terms[at], move, model, space)
    expected = np.zeros(len(HANDS))
    for number in np.flatnonzero(free):
        table[HOLE + 2 * table[ACTOR] :][:2] = HANDS[number]
        space.known[:] = -1
        strength = actor_strength(table, space.known, space.cards)
        assert strength == hands.strength[number]
        move_chances(table, terms[at], strength, model, space)
        expected[number] = prior[number] * space.chances[move]
    expected[free] = np.maximum(expected[free] / expected.max(), FLOOR)  # no hand is ruled out
    np.testing.assert_allclose(weights, expected)
