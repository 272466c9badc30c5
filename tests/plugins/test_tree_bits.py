"""Trees evaluated many at once: the same leaves and sums as one tree after the other."""

import numpy as np
import pytest

from cbr.jit import njit
from cbr_opponents.boosting import DEPTH
from cbr_opponents.tree_bits import MOST_TREES, known_leaves, late_leaves, tree_bits
from cbr_opponents.tree_code import BLOCK, PAIR, WORDS, add_leaves, or_bits

FEATURES = 20


def some_trees(count: int, seed: int):
    """Random trees of four streets; the first half of them splits on early features alone."""
    rng = np.random.default_rng(seed)
    feature = rng.integers(0, FEATURES, (4, count, DEPTH)).astype(np.uint8)
    feature[:, : count // 2] %= FEATURES - 3
    cut = rng.choice([0, 1, 7, 100, 254, 255], (4, count, DEPTH)).astype(np.uint8)
    late = np.zeros((4, FEATURES), np.bool_)
    late[:, FEATURES - 3 :] = True
    return feature, cut, late


def leaf_of(code, feature, cut) -> int:
    """The leaf of one tree in the plainest way: a bit for each level whose feature is above its
    cut."""
    return sum(1 << level for level in range(DEPTH) if code[feature[level]] > cut[level])


@pytest.mark.parametrize("count", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5])
def test_leaves_are_those_of_each_tree(count: int) -> None:
    feature, cut, late = some_trees(count, count)
    trees = np.array([count, count // 2, 0, count], np.int64)
    bits = tree_bits(feature, cut, trees, late)
    rng = np.random.default_rng(1)
    known, all_ = np.full((2, MOST_TREES), 99, np.uint8)
    for street, n in enumerate(trees):
        for _ in range(20):
            code = rng.choice([0, 1, 2, 7, 8, 101, 255], FEATURES).astype(np.uint8)
            evaluate(street, count // 2, bits, code, known, all_)
            wanted = [leaf_of(code, feature[street, t], cut[street, t]) for t in range(n)]
            assert known[: min(n, count // 2)].tolist() == wanted[: count // 2]
            assert all_[count // 2 : n].tolist() == wanted[count // 2 :]


@njit
def evaluate(street, first, bits, code, known, all_):
    known_leaves(street, bits, code, known)
    late_leaves(street, first, bits, code, known, all_)


@njit
def compiled_or(bits, first, step, row, features, used, count, before, leaves):
    or_bits(bits, first, step, row, features, used, count, before, leaves)


@njit
def compiled_add(leaf, leaves, first, end, sums):
    add_leaves(leaf, leaves, first, end, sums)


def test_compiled_code_does_what_python_says() -> None:
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 1 << 63, (50, WORDS)).astype(np.uint64)
    row = rng.integers(0, 24, (FEATURES, 256)).astype(np.uint16)
    features = rng.integers(0, 256, FEATURES).astype(np.uint8)
    used = rng.permutation(FEATURES)
    before = rng.integers(0, 256, BLOCK).astype(np.uint8)
    for count in (0, 1, 2, FEATURES):
        here, there = np.zeros((2, BLOCK), np.uint8)
        or_bits(bits, 1, 2, row, features, used, count, before, here)
        compiled_or(bits, 1, 2, row, features, used, count, before, there)
        np.testing.assert_array_equal(here, there)
    leaf = rng.normal(size=(BLOCK, 1 << DEPTH, PAIR)).astype(np.float32)
    leaves = (before % (1 << DEPTH)).astype(np.uint8)
    for first, end in ((0, 0), (3, 3), (3, 4), (0, 7), (5, 13), (1, BLOCK)):
        one, two = np.ones((2, PAIR))
        add_leaves(leaf, leaves, first, end, one)
        compiled_add(leaf, leaves, first, end, two)
        np.testing.assert_allclose(one, two, rtol=1e-12)


def test_too_many_trees_are_refused() -> None:
    feature, cut, late = some_trees(MOST_TREES + 1, 3)
    trees = np.full(4, MOST_TREES + 1, np.int64)
    with pytest.raises(ValueError, match=f"more than {MOST_TREES}"):
        tree_bits(feature, cut, trees, late)
