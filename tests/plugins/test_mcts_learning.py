"""What the search learns of how an opponent's moves depend on its hand."""

from __future__ import annotations

import numpy as np
import pytest

from cbr_holdem.cards import HANDS, UNKNOWN, cards
from cbr_holdem.table import HOLE, STREET, Game, deal_all, new_tables, step_all
from cbr_mcts.corrections import (
    COUNT,
    LOGITS,
    TRAITS,
    begin_or_fade,
    correct_hand,
    corrected,
    fill_traits,
    learn_hidden,
    learn_shown,
    logit,
    move_likelihood,
)
from cbr_mcts.learning import memory_of, seen_at, watch
from cbr_mcts.models import models_of
from cbr_opponents.abstraction import packed_strength

LIMIT = Game("limit")


def ranks_of(one: int, two: int) -> int:
    return (one >> 2) + (two >> 2)


def deal(hole: str, actions: str) -> np.ndarray:
    """A heads-up table on which the second seat has these cards."""
    rows = new_tables(1).rows
    deck = np.concatenate([cards("7d2c" + hole), cards("QsJs2d3h9c")])[None].astype(np.uint8)
    deal_all(rows, LIMIT.terms, 2, np.full((1, 2), 2_000), deck)
    for action in actions:
        step_all(rows, LIMIT.terms, np.array(["fcr".index(action)]), np.array([0]))
    return rows


@pytest.mark.parametrize("shown", [True, False])
def test_a_player_who_looks_at_two_cards_alone_is_found_out(shown):
    """Who bets with ranks of 16 and more, whatever the board: the model expects a bet in half of
    all cases. Where the hand stays hidden only the share of bets can be learned."""
    rng = np.random.default_rng(3)
    slopes, doubt, step, traits = np.zeros(TRAITS), np.zeros((TRAITS,) * 2), *np.zeros((2, TRAITS))
    for _ in range(300):
        begin_or_fade(doubt, 0.999)
        one, two = HANDS[rng.integers(COUNT)].astype(np.int64)
        bets = float(ranks_of(one, two) >= 16)
        if shown:
            fill_traits(1, rng.integers(256), one, two, traits)
            learn_shown(corrected(0.0, slopes, traits), bets, traits, slopes, doubt, step)
        else:
            gradient = np.zeros(TRAITS)
            gradient[0] = bets - corrected(0.0, slopes, np.eye(TRAITS)[0])
            learn_hidden(gradient, slopes, doubt, step)
    chances = {}
    for hand in ("AhKd", "KdJc", "8h7h", "5c2d"):
        fill_traits(1, 120, *np.array(cards(hand)), traits)
        chances[hand] = corrected(0.0, slopes, traits)
    if shown:
        assert chances["AhKd"] > 0.9
        assert chances["KdJc"] > 0.6
        assert chances["8h7h"] < 0.25
        assert chances["5c2d"] < 0.05
    else:
        share = np.mean([ranks_of(*hand) >= 16 for hand in HANDS.astype(np.int64)])
        assert corrected(0.0, slopes, np.eye(TRAITS)[0]) == pytest.approx(share, abs=0.05)


def test_chances_with_a_hand_agree_with_its_likelihood_and_add_up_to_one():
    rng = np.random.default_rng(5)
    slopes, traits = rng.normal(size=(LOGITS, TRAITS)), np.zeros(TRAITS)
    for actions, facing in (("", True), ("cc", False), ("ccr", True)):
        row = deal("AhKs", actions)[0]
        chances = np.array([0.2 if facing else 0.0, 0.5, 0.3 if facing else 0.5])
        fold, raised = logit(chances[0]), logit(chances[2] / (chances[1] + chances[2]))
        strength = 100 if row[STREET] else 160
        correct_hand(row, strength, slopes, traits, chances)
        assert chances.sum() == pytest.approx(1.0)
        for kind in range(3):
            given = (kind, facing, True, row[STREET], fold, raised, slopes, traits)
            if kind or facing:
                assert move_likelihood(*given) == pytest.approx(chances[kind])


def test_folds_teach_which_hands_stay():
    """A player folds most hands to a bet on the flop and shows the best ones: the worse a hand, the
    likelier it folds."""
    models = models_of("shipped", "limit")
    memory, own = np.zeros(1, memory_of(1)), np.array([0])
    for turn in range(60):
        hole = ("QhJd", "QdQc", "JhJd")[turn % 3] if turn % 4 == 0 else "8h4s"
        ends = "cc" + ("rcccrc" if turn % 4 == 0 else "rf")
        rows = deal(hole, ends)
        if turn % 4:
            rows[0, HOLE + 2 : HOLE + 4] = UNKNOWN
        watch(rows, own, LIMIT, 1.0, models, memory)
    seen = seen_at(rows, own, models, memory)
    assert not seen.slopes[0, 0, 0].any()  # our own seat
    slopes, traits = seen.slopes[0, 0, 1], np.zeros(TRAITS)
    assert slopes[3].any()

    def folds(hand: str) -> float:
        board, counts = np.array(cards("QsJs2d3h9c"), np.uint8), np.zeros(3, np.int64)
        hole = np.array(cards(hand), np.uint8)
        fill_traits(1, packed_strength(hole, board, 3, counts), *hole.astype(np.int64), traits)
        return float(corrected(0.0, slopes[3], traits))

    assert folds("QcJc") < 0.4 < 0.6 < folds("8h4s")
