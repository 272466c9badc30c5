"""Frequencies from few and from hidden decisions, and sizes that nobody takes."""

from __future__ import annotations

import numpy as np
import pytest

from cbr_casper.values.best_response import without_rare_sizes
from cbr_holdem.table import CALL, FOLD, RAISE
from cbr_opponents import CLASSES, CONTEXTS, class_shares
from cbr_opponents.frequencies import smoothed_frequencies

#: A context in which one bet is to call.
FACING = 8


def counts(moves: int = 3) -> tuple[np.ndarray, np.ndarray]:
    known = np.zeros((4, CONTEXTS, CLASSES, moves), np.int64)
    return known, known.sum(axis=2)


class TestFewDecisions:
    @pytest.mark.parametrize("street", range(4))
    def test_where_nothing_is_known_actions_still_tell_hands(self, street: int) -> None:
        chances = smoothed_frequencies(*counts())[street, FACING]
        best, worst = chances[-1], chances[0]
        assert chances.sum(axis=-1) == pytest.approx(np.ones(CLASSES))
        assert worst[FOLD] > best[FOLD] + 0.5
        assert best[RAISE] > worst[RAISE] + 0.5

    @pytest.mark.parametrize("moves", [3, 13])
    def test_sizes_share_the_chance_of_a_raise(self, moves: int) -> None:
        chances = smoothed_frequencies(*counts(moves))[:, FACING]
        kinds = [chances[..., FOLD], chances[..., CALL], chances[..., RAISE:].sum(axis=-1)]
        mean = [(kind[street] @ class_shares(street)) for kind in kinds for street in range(4)]
        assert mean == pytest.approx([1 / 3] * 12, abs=0.02)

    def test_a_price_never_met_is_played_as_other_bets_on_the_street(self) -> None:
        known, _ = counts(13)
        known[2, FACING, :, CALL] = 50
        chances = smoothed_frequencies(known, known.sum(axis=2))
        assert (chances[2, -1, :, CALL] > 0.9).mean() > 0.5
        assert (chances[3, -1, :, CALL] < 0.6).mean() > 0.5

    def test_what_one_class_does_is_taken_for_what_the_next_does(self) -> None:
        known, _ = counts()
        known[0, FACING, 20, CALL] = 40
        chances = smoothed_frequencies(known, known.sum(axis=2))[0, FACING, :, CALL]
        nothing = smoothed_frequencies(*counts())[0, FACING, :, CALL]
        assert chances[21] > 0.8 > nothing[21] + 0.2
        assert (chances > nothing).all()
        assert chances[21] > chances[28] > chances[35]

    def test_many_decisions_are_their_shares(self) -> None:
        known, _ = counts()
        known[1, FACING, 5] = [60_000, 30_000, 10_000]
        chances = smoothed_frequencies(known, known.sum(axis=2))
        assert chances[1, FACING, 5] == pytest.approx([0.6, 0.3, 0.1], abs=0.005)


class TestHiddenFolds:
    def hidden(self) -> np.ndarray:
        """Everybody folds half of what he has; nobody sees which half."""
        known, seen = counts()
        known[0, FACING, 18:, CALL] = 500
        seen[0, FACING] = [9_000, 9_000, 0]
        return smoothed_frequencies(known, seen)[0, FACING]

    @pytest.mark.parametrize("strict", [True, False])
    def test_hands_that_were_shown_tell_how_strictly_others_fold(self, strict: bool) -> None:
        """Four of five hands fold: the worst ones, or whichever they are."""
        known, seen = counts()
        share = class_shares(0)
        good = np.cumsum(share[::-1])[::-1] <= 0.2
        known[0, FACING, :, CALL] = 5_000 * share * (good if strict else 1.0)
        seen[0, FACING] = [80_000, 20_000, 0]
        fold = smoothed_frequencies(known, seen)[0, FACING, :, FOLD]
        assert fold @ share == pytest.approx(0.8, abs=0.03)
        assert (fold[-1] < 0.05) == strict
        assert (fold[0] > 0.99) == strict

    def test_bad_hands_fold(self) -> None:
        fold = self.hidden()[:, FOLD]
        assert (np.diff(fold) <= 1e-12).all()
        assert fold[0] > 0.8
        assert fold[-1] < 0.2

    def test_as_often_as_everybody_does(self) -> None:
        assert class_shares(0) @ self.hidden()[:, FOLD] == pytest.approx(0.5, abs=0.01)


class TestRareSizes:
    def test_sizes_that_nobody_takes_are_left_out(self) -> None:
        chances = np.full((4, CONTEXTS, CLASSES, 5), 0.2)
        chances[1, FACING, :, RAISE:] = [0.001, 0.3, 0.3]
        found = without_rare_sizes(chances / chances.sum(axis=-1, keepdims=True))
        assert not found[1, FACING, :, RAISE].any()
        assert found[1, FACING, :, RAISE + 1].all()
        assert found[2, FACING, :, RAISE].all()
        assert found.sum(axis=-1) == pytest.approx(np.ones(found.shape[:-1]))

    def test_a_rare_raise_of_the_only_size_stays(self) -> None:
        chances = np.full((4, CONTEXTS, CLASSES, 3), 0.4995)
        chances[..., RAISE] = 0.001
        assert without_rare_sizes(chances) == pytest.approx(chances)
