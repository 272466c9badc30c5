"""Trees as they are evaluated: the leaves of 128 trees are found at once.

The trees are oblivious, so the number of a leaf has one bit for each level: whether a feature is
above a cut. For each feature and value the bits that it sets, in all trees of a street, are kept
beside one another, a byte for each tree. The leaves of a decision are then the bits of all its
features or-ed together (after QuickScorer, Lucchese et al. 2015): a few instructions for a feature,
where walking down one tree takes as many for each level.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Ints
from cbr_opponents.tree_code import BLOCK, WORDS, or_bits

Bytes = NDArray[np.uint8]

#: The most trees of a street.
MOST_TREES = 8 * BLOCK


class TreeBits(NamedTuple):
    """The bits that a street's trees have for each value of a feature.

    `used` [4, features] are the features that the trees of a street split on, of which the first
    `count` [4, 2] count: those that are known first, and all. `row` [4, features, 256] numbers the
    rows of their values. A row has an entry of `bits` [.., WORDS] for each of the `blocks` [4] of a
    street, whose rows begin at `start` [4].
    """

    used: Any
    count: Any
    row: Any
    bits: Any
    start: Any
    blocks: Any


# --- how trees are arranged -----------------------------------------------------------------------


def tree_bits(feature: Bytes, cut: Bytes, trees: Ints, late: NDArray[np.bool_]) -> TreeBits:
    """Of the first `trees` [4] of the trees with `feature` and `cut` [4, n, DEPTH]. Features that
    are `late` [4, features] are known only after the others."""
    if trees.max() > MOST_TREES:
        raise ValueError(f"{trees.max()} trees of a street, more than {MOST_TREES}")
    blocks = -(-trees // BLOCK)
    used, count = np.zeros(late.shape, np.int64), np.zeros((4, 2), np.int64)
    row = np.zeros((*late.shape, 256), np.uint16)
    leaves: list[Bytes] = []
    for street, n in enumerate(trees):
        some = np.unique(feature[street, :n])
        some = some[np.argsort(late[street, some], kind="stable")]
        used[street, : len(some)] = some
        count[street] = (~late[street, some]).sum(), len(some)
        row[street], found = _rows(feature[street, :n], cut[street, :n], late.shape[1])
        filled = np.zeros((len(found), blocks[street] * BLOCK), np.uint8)
        filled[:, :n] = found
        leaves.append(filled.reshape(-1, BLOCK))
    lengths = np.array([len(one) for one in leaves])
    bits = _aligned((lengths.sum(), WORDS))
    bits[:] = np.concatenate(leaves).view(np.uint64)
    return TreeBits(used, count, row, bits, lengths.cumsum() - lengths, blocks)


def _rows(feature: Bytes, cut: Bytes, features: int) -> tuple[NDArray[np.uint16], Bytes]:
    """The number of the row of bits for each value [features, 256], and these rows [rows, trees].
    Row 0 sets no bit."""
    begins = np.zeros((features, 257), np.bool_)  # from these values on, more bits are set
    begins[feature, cut.astype(np.int64) + 1] = True
    begins = begins[:, :256]
    number = np.where(begins.cumsum(axis=1) > 0, begins.cumsum().reshape(begins.shape), 0)
    leaves = np.zeros((int(begins.sum()) + 1, len(feature)), np.uint8)
    for tree, level in np.ndindex(*feature.shape):
        which, value = feature[tree, level], int(cut[tree, level]) + 1
        if value < 256:
            leaves[number[which, value] : number[which, 255] + 1, tree] |= 1 << level
    return number.astype(np.uint16), leaves


def _aligned(shape: tuple[int, int]) -> NDArray[np.uint64]:
    """An array that begins with a line of the cache, so that each row takes as few as it can."""
    space = np.zeros(shape[0] * shape[1] + 7, np.uint64)
    skipped = -space.ctypes.data % 64 // 8
    return space[skipped : skipped + shape[0] * shape[1]].reshape(shape)


class QuickTrees(NamedTuple):
    """The trees of a model as they are evaluated: the bits of those of moves, their leaves as
    `pairs` [4, trees, 2^DEPTH, 2], and the bits of those of sizes. The pairs say how much more a
    leaf adds to folds, and to raises, than to calls: chances depend on these differences alone."""

    moves: TreeBits
    pairs: NDArray[np.float32]
    sizes: TreeBits

    @classmethod
    def of(
        cls,
        feature: Bytes,
        cut: Bytes,
        leaf: NDArray[np.float32],
        trees: Ints,
        sizes: Any,
        late: NDArray[np.bool_],
    ) -> QuickTrees:
        """From the arrays of trees of moves (`OpponentModel`), those of `sizes` (`SizeTrees`), and
        the features that are `late` (`tree_bits`)."""
        fold, call, more = np.moveaxis(leaf.astype(np.float64), -1, 0)
        return cls(
            tree_bits(feature, cut, trees, late),
            np.stack([fold - call, more - call], axis=-1).astype(np.float32),
            tree_bits(sizes.feature, sizes.cut, sizes.trees, late),
        )


# --- how they are evaluated -----------------------------------------------------------------------


@njit(allocates=False, forceinline=True)
def known_leaves(street: Any, bits: TreeBits, features: Any, leaves: Any) -> None:
    """The leaves uint8 [MOST_TREES] of all trees, as far as the features that are known first tell
    them."""
    row, used, count = bits.row[street], bits.used[street], bits.count[street, 0]
    for block in range(bits.blocks[street]):
        mine = leaves[block * BLOCK :]
        mine[:BLOCK] = 0
        first, blocks = bits.start[street] + block, bits.blocks[street]
        or_bits(bits.bits, first, blocks, row, features, used, count, mine, mine)


@njit(allocates=False, forceinline=True)
def late_leaves(
    street: Any, first: Any, bits: TreeBits, features: Any, known: Any, leaves: Any
) -> None:
    """The leaves of the trees from the `first` on, from the `known` ones and the late features."""
    row, blocks, begin = bits.row[street], bits.blocks[street], bits.count[street, 0]
    used, count = bits.used[street, begin:], bits.count[street, 1] - begin
    for block in range(first // BLOCK, blocks):
        before, mine = known[block * BLOCK :], leaves[block * BLOCK :]
        start = bits.start[street] + block
        or_bits(bits.bits, start, blocks, row, features, used, count, before, mine)
