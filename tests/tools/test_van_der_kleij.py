"""Van der Kleij's figures, and the repair of folds that the thesis made."""

from __future__ import annotations

import numpy as np
import pytest

from buckets import BUCKETS, buckets, squared_strengths, weaker
from cbr_holdem.table import FOLD
from cbr_opponents import CLASSES, CONTEXTS, PRICE_CLASSES, class_order
from hidden_hands import patched
from van_der_kleij import DRIFT, chi_square, drift


def test_the_printed_chi_squares_follow_from_the_table() -> None:
    """To what the rounding of its expectations allows."""
    for expected, observed, printed in DRIFT.values():
        assert chi_square(expected, observed) == pytest.approx(printed, rel=2e-3)
    assert "2,938.78 (2,941.30)" in drift().rows[1]


def test_the_repair_keeps_the_best_hand_from_folding() -> None:
    grid = np.full((4, CONTEXTS, CLASSES, 3), 1.0 / 3.0)
    grid[:, : CONTEXTS // PRICE_CLASSES] = [0.0, 0.5, 0.5]
    found = patched(grid)
    np.testing.assert_allclose(found.sum(axis=-1), 1.0)
    assert not found[:, : CONTEXTS // PRICE_CLASSES, :, FOLD].any()
    for street in range(4):
        order = np.argsort(class_order(street)[0])
        folds = found[street, -1, order, FOLD]
        assert folds[0] < 0.05
        assert folds[-1] == pytest.approx(1.0 / 3.0, abs=0.02)


@pytest.mark.parametrize("street", [1, 3])
def test_buckets_are_soft_and_the_strong_ones_small(street: int) -> None:
    inside = buckets(street)
    assert inside.shape == (CLASSES, BUCKETS[street])
    np.testing.assert_allclose(inside.sum(axis=1), 1.0)
    strength, often = squared_strengths(street)
    assert (np.diff(weaker(street), 2) < 0.0).all()
    means = (often * strength) @ inside / np.maximum(often @ inside, 1e-9)
    assert (np.diff(means[often @ inside > 1e-6]) > -1e-9).all()
