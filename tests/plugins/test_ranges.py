"""Ranges: the posterior over a player's hands, given a move."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_logs import limit_base

from cbr.store.casebase import Casebase
from cbr_holdem.cards import HANDS
from cbr_holdem.table import (
    ACTOR,
    BOARD,
    BOARD_CARDS,
    CALL,
    HISTORY,
    HOLE,
    RAISE,
    STREET,
    WIDTH,
    Game,
    act,
    deal_posted,
)
from cbr_opponents import (
    FLOOR,
    actor_strength,
    begin_again,
    board_hands,
    fill_board,
    logged_moves,
    move_chances,
    replay_decisions,
    update_range,
    workspace,
)
from cbr_opponents.learning import fit_trees, observe


def test_a_hand_begins_again_with_what_each_seat_posted() -> None:
    game = Game("nolimit", ante=5, small_blind=50, big_blind=100)
    table = np.zeros(WIDTH, np.int64)
    stacks, posts, antes = (np.zeros(10, np.int64) for _ in range(3))
    stacks[:4], posts[:4], antes[:4] = [9_000, 8_000, 7_000, 60], [50, 100, 0, 0], [5, 25, 5, 5]
    cards = np.concatenate([np.arange(10) * 4, np.arange(5) * 4 + 1, np.full(20, 52)])
    deal_posted(table, game.terms, 4, stacks, posts, antes, cards)
    start = table.copy()
    for kind, amount in ((CALL, 100), (CALL, 55), (CALL, 50), (CALL, 0), (RAISE, 200)):
        act(table, game.terms, kind, amount)
    assert table[STREET] == 1
    again = np.zeros_like(table)
    begin_again(again, table, game.terms)
    np.testing.assert_array_equal(again[:HISTORY], start[:HISTORY])


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
