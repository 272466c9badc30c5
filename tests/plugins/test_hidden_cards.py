"""Hidden cards: what is inferred of players who do not show them, where the truth is known."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from made_logs import limit_base

from cbr import Casebase
from cbr_holdem.cards import HANDS
from cbr_holdem.table import FOLD
from cbr_kmodels.folds import TENDENCIES, logistic_folds
from cbr_kmodels.hidden_cards import (
    boards_of,
    expected_counts,
    infer_cards,
    played_hands,
    shown_chances,
)
from cbr_opponents import CLASSES, CONTEXTS, PRICE_CLASSES, class_order, smoothed_frequencies
from cbr_opponents.learning import Observed, counted, counted_by_context, fit_frequencies, observe


def hidden(observed: Observed) -> Observed:
    """The same decisions as a log of people has them: without the cards of hands in which the
    player folded, or everybody else did."""
    pair = observed.hand * len(observed.names) + observed.player
    pairs, at = np.unique(pair, return_inverse=True)
    folded = np.bincount(at, observed.move == FOLD) > 0
    of = pairs // len(observed.names)
    _, place = np.unique(of, return_inverse=True)
    shown = ~folded & (np.bincount(place, ~folded)[place] >= 2)
    return dataclasses.replace(observed, hand_class=np.where(shown[at], observed.hand_class, -1))


@pytest.fixture(scope="module")
def inferred(tmp_path_factory: pytest.TempPathFactory):
    with Casebase.open(limit_base(tmp_path_factory.mktemp("hidden"))) as base:
        observed = observe(base)
        mine = hidden(observed)
        boards = boards_of(base, mine)
    public = fit_frequencies(mine).average[tuple(mine.place.T)]
    played = played_hands(mine, public, boards, np.ones(len(mine), bool))
    return observed, mine, boards, played, infer_cards(mine, played, boards, rounds=12)


@pytest.mark.long
class TestInferred:
    def test_every_decision_counts_once(self, inferred) -> None:
        _, mine, _, _, found = inferred
        totals = counted_by_context(mine)
        np.testing.assert_allclose(found.counts.sum(axis=2), totals, atol=1e-6)
        # In the class that is known, where it is.
        assert (found.counts >= counted(mine) - 1e-9).all()

    def test_rounds_settle(self, inferred) -> None:
        *_, found = inferred
        assert found.rounds[-1].change < 0.2 * found.rounds[0].change
        np.testing.assert_array_equal(found.rounds[-1].grid, found.grid)

    def test_chances_are_chances_and_folds_fall(self, inferred) -> None:
        *_, found = inferred
        np.testing.assert_allclose(found.grid.sum(axis=-1), 1.0)
        assert (found.grid >= 0.0).all()
        free = CONTEXTS // PRICE_CLASSES
        assert not found.grid[:, :free, :, FOLD].any()
        for street in range(4):
            better, potential = class_order(street)
            for one in np.unique(potential):
                group = np.flatnonzero(potential == one)
                weak_first = group[np.argsort(-better[group], kind="stable")]
                folds = found.grid[street, free:, :, FOLD][:, weak_first]
                assert (np.diff(folds, axis=1) <= 1e-12).all()

    def test_hidden_decisions_are_explained_better_than_by_shown_hands(self, inferred) -> None:
        """The log-loss of moves with cards that were hidden, given the true ones."""
        observed, mine, _, _, found = inferred
        rest = observed.take(observed.known & ~mine.known)
        grids = {
            "shown": smoothed_frequencies(counted(mine), counted_by_context(mine)),
            "inferred": found.grid,
            "all": smoothed_frequencies(counted(observed), counted_by_context(observed)),
        }
        loss = {
            name: -np.log(grid[(*rest.place.T, rest.hand_class, rest.move)].clip(1e-6)).mean()
            for name, grid in grids.items()
        }
        assert loss["all"] < loss["inferred"] < loss["shown"]

    def test_known_hands_stay_where_they_are(self, inferred) -> None:
        observed, _, boards, _, found = inferred
        public = fit_frequencies(observed).average[tuple(observed.place.T)]
        played = played_hands(observed, public, boards, np.ones(len(observed), bool))
        counts, _ = expected_counts(played, boards, found.grid)
        np.testing.assert_array_equal(counts.sum(axis=2), counted(observed))
        # The cards themselves are of these classes.
        last = played.first[1:] - 1
        street = played.street[last]
        row = played.row[street > 0, street[street > 0] - 1]
        held = boards.held[row, played.shown[street > 0]]
        np.testing.assert_array_equal(held, played.held[last[street > 0]])

    def test_without_shown_cards_strength_alone_tells(self, inferred) -> None:
        _, mine, boards, played, _ = inferred
        none = dataclasses.replace(mine, hand_class=np.full(len(mine), -1))
        unseen = played._replace(held=np.full(len(played.held), -1))
        found = infer_cards(none, unseen, boards, rounds=2)
        assert np.isfinite(found.grid).all()
        np.testing.assert_allclose(found.grid.sum(axis=-1), 1.0)
        free = CONTEXTS // PRICE_CLASSES
        folds = found.grid[2, free, [0, 33], FOLD]  # the weakest class and the best
        assert folds[0] > folds[1]

    def test_the_likeliest_of_several_starts_counts(self, inferred) -> None:
        _, mine, boards, played, _ = inferred
        one, two = (infer_cards(mine, played, boards, rounds=2, starts=n) for n in (1, 3))
        assert two.rounds[-1].likely >= one.rounds[-1].likely
        np.testing.assert_allclose(two.start.sum(axis=-1), 1.0)
        np.testing.assert_array_equal(two.start[..., FOLD], one.start[..., FOLD])

    def test_the_cards_that_were_held_become_likelier(self, inferred) -> None:
        """Beside any of the hands that the board leaves possible."""
        _, _, boards, played, found = inferred
        chance, possible = shown_chances(played, boards, found.grid).T
        assert not np.isnan(chance).any()  # bots' cards are all in the log
        assert set(possible.tolist()) == {1326.0, 1176.0, 1128.0, 1081.0}
        assert np.log(chance * possible).mean() > 0.05
        even = np.full_like(found.grid, 1.0 / found.grid.shape[-1])
        np.testing.assert_allclose(np.prod(shown_chances(played, boards, even), axis=1), 1.0)

    def test_hands_with_a_card_of_the_board_are_blocked(self, inferred) -> None:
        _, _, boards, _, _ = inferred
        assert boards.held.shape[1] == len(HANDS)
        # 49 cards left make 1,176 hands on a flop.
        flop = boards.row[:, 0]
        assert ((boards.held[flop] != 255).sum(axis=1) == 1176).all()
        river = boards.row[:, 2][boards.row[:, 2] >= 0]
        assert ((boards.held[river] != 255).sum(axis=1) == 1081).all()


def test_levels_of_folds_follow_their_frequency() -> None:
    """Whatever the grid had; and slopes follow from many decisions."""
    rng = np.random.default_rng(0)
    grid = rng.random((4, CONTEXTS, CLASSES, 3)) + 0.1
    grid /= grid.sum(axis=-1, keepdims=True)
    better = np.stack([class_order(street)[0] for street in range(4)])
    true = 1.0 / (1.0 + np.exp(-(1.0 + 4.0 * np.log(better))))[:, None]
    times = np.full((4, CONTEXTS, CLASSES), 1e4)
    counts = np.stack([times * true, times * (1.0 - true), 0.0 * times], axis=-1)[:, :, None]
    counts = counts * (TENDENCIES == 0.0)[:, None, None]
    found = logistic_folds(grid, counts)
    np.testing.assert_allclose(found.sum(axis=-1), 1.0)
    free = CONTEXTS // PRICE_CLASSES
    np.testing.assert_array_equal(found[:, :free], grid[:, :free])
    np.testing.assert_allclose(found[:, free:, :, FOLD], true.repeat(CONTEXTS - free, 1), atol=0.01)
    few = logistic_folds(grid, counts / 1e4)
    mean = few[:, free:, :, FOLD].mean(axis=2)
    np.testing.assert_allclose(mean, true.mean(axis=2).repeat(CONTEXTS - free, 1), atol=0.02)
    assert (few[1:, free:, better[1].argmin(), FOLD] < 1e-3).all()
