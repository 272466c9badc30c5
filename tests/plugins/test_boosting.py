"""Boosted trees: they find what frequencies do not tell, and nothing in noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cbr.building.pipeline import build
from cbr.plugging.plugins import default_plugins
from cbr.store.casebase import Casebase
from cbr_arena import Match, play, players_of, write_log
from cbr_opponents import COLUMNS, DEPTH, refined
from cbr_opponents.boosting import Trees, fit
from cbr_opponents.learning import Observed, fit_trees, observe


def added(trees: Trees, codes: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Chances after trees, in the plainest way."""
    log = start.copy()
    for tree in range(len(trees.feature)):
        for row, code in enumerate(codes):
            above = code[trees.feature[tree]] > trees.cut[tree]
            log[row] += trees.leaf[tree, int((above << np.arange(DEPTH)).sum())]
    shares = np.exp(log)
    return shares / shares.sum(axis=1, keepdims=True)


def made(count: int, seed: int, noise: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Decisions by a rule of two codes, or by no rule, of 3 moves that seem equally likely."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 100, (count, 4)).astype(np.uint8)
    rule = np.where(codes[:, 1] > 60, 2, np.where(codes[:, 3] > 30, 1, 0))
    strays = rng.integers(0, 3, count)
    move = strays if noise else np.where(rng.random(count) < 0.1, strays, rule)
    return codes, move, np.full((count, 3), np.log(1 / 3))


@pytest.mark.long
def test_a_rule_is_found() -> None:
    codes, move, start = made(4_000, 1)
    trees = fit(codes, move, start, np.arange(4_000) % 5 == 0, 40)
    assert set(np.unique(trees.feature[:3])) <= {1, 3}
    new, done, before = made(500, 2)
    found = added(trees, new, before)[np.arange(500), done]
    quick = np.exp(refined(trees, new, before))
    quick /= quick.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(quick, added(trees, new, before), atol=1e-12)
    # Nine in ten follow the rule, and a third of the others happen to.
    best = np.where(found > 0.5, np.log(0.9 + 0.1 / 3), np.log(0.1 / 3)).mean()
    assert np.log(found).mean() == pytest.approx(best, abs=0.1)


def test_nothing_is_found_in_noise() -> None:
    codes, move, start = made(600, 3, noise=True)
    trees = fit(codes, move, start, np.arange(600) % 5 == 0, 40)
    assert np.abs(added(trees, codes, start) - 1 / 3).max() < 0.15


def test_what_cannot_be_told_needs_no_trees() -> None:
    codes = np.zeros((50, 4), np.uint8)
    start = np.log(np.tile([0.2, 0.3, 0.5], (50, 1)))
    move = np.repeat([0, 1, 2], [10, 15, 25])
    assert len(fit(codes, move, start, np.arange(50) % 5 == 0, 40).feature) == 0
    none = fit(codes[:0], move[:0], start[:0], np.zeros(0, bool), 40)
    assert none.leaf.shape == (0, 1 << DEPTH, 3)


@pytest.mark.long
@pytest.mark.parametrize(("who", "gain"), [("loki*6", 0.05), ("random*6", 0.0)])
def test_programs_are_predicted_better(tmp_path: Path, who: str, gain: float) -> None:
    """On hands that were not known; those who act at random no worse."""
    bases = []
    for seed in (1, 2):
        match = Match(players_of([who]), hands=600, seed=seed, duplicate=False, keep_hands=True)
        write_log(play(match).hands, tmp_path / f"{seed}.phhs")
        bases.append(tmp_path / f"{seed}.db")
        build([tmp_path / f"{seed}.phhs"], bases[-1], plugins=default_plugins())
    with Casebase.open(bases[0]) as first, Casebase.open(bases[1]) as second:
        model, asked = fit_trees(observe(first), profiles=False, public=False), observe(second)
    assert asked.features.shape[1] == COLUMNS
    plain, refined = losses(model, asked)
    assert refined < plain - gain + 0.005


def test_few_decisions_make_no_trees(tmp_path: Path) -> None:
    match = Match(players_of(["loki*3"]), hands=60, seed=1, duplicate=False, keep_hands=True)
    write_log(play(match).hands, tmp_path / "few.phhs")
    build([tmp_path / "few.phhs"], tmp_path / "few.db", plugins=default_plugins())
    with Casebase.open(tmp_path / "few.db") as base:
        assert fit_trees(observe(base)).trees.tolist() == [0, 0, 0, 0]


def losses(model, asked: Observed) -> tuple[float, float]:
    """Log-loss by frequencies alone, and with the trees."""
    found: list[list[float]] = [[], []]
    for street in range(4):
        mine = asked.take(asked.known & (asked.place[:, 0] == street))
        start = np.log(np.maximum(model.grid[(*mine.place.T, mine.hand_class)], 1e-9))
        trees = model.trees_of(street)
        for place, shares in enumerate((np.exp(start), added(trees, mine.features, start))):
            found[place] += np.log(shares[np.arange(len(mine.move)), mine.move]).tolist()
    return -float(np.mean(found[0])), -float(np.mean(found[1]))
