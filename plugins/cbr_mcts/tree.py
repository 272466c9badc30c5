"""The search tree: nodes are the betting so far, and statistics belong to the moves of a node.

A node is a player's turn. It is found from its parent by the move that led to it and, where cards
fell since our last turn, by a code of what we see of them (`BOARDS`). So opponents' turns differ by
the betting alone, and ours by the class of our hand on the board as well.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr_holdem.chance import mixed

#: How own nodes are split after new cards: not at all, by hand class, by the exact board.
BOARDS = ("none", "class", "exact")
NO_NODE = -1


class Tree(NamedTuple):
    """A pool of nodes; the first `size` [1] count, and node 0 is the root.

    Of each node: `parent`, `move` and `code` that lead to it, the seat to act `actor`, a bit for
    each `legal` move, its `count` of visits, `worth`, its count times its backed-up value, and what
    we win by a `fold` there, [n].
    Of each move of a node [n, moves]: `visits`, the sums of rewards `reward` and of their squares
    `square`, the sum of what was backed up `total`, the acting opponent's own rewards `theirs`, and
    the `prior` chance. `slots` is a hash table of nodes.
    """

    size: Any
    parent: Any
    move: Any
    code: Any
    actor: Any
    legal: Any
    count: Any
    worth: Any
    fold: Any
    visits: Any
    reward: Any
    square: Any
    total: Any
    theirs: Any
    prior: Any
    slots: Any


def bytes_of_node(moves: int) -> int:
    """Memory of one node, with its part of the hash table."""
    return 5 * 8 + 3 * 8 + 6 * 8 * moves + 4 * 8


def new_tree(nodes: int, moves: int) -> Tree:
    """An empty tree with room for so many nodes."""
    slots = 1 << max(4, (2 * nodes - 1).bit_length())
    whole: list[Any] = [np.empty(nodes, np.int64) for _ in range(5)]
    numbers: list[Any] = [np.empty(nodes) for _ in range(3)]
    per_move: list[Any] = [np.empty((nodes, moves)) for _ in range(6)]
    size, found = np.zeros(1, np.int64), np.full(slots, NO_NODE, np.int32)
    return Tree._make([size, *whole, *numbers, *per_move, found])


@njit(allocates=False)
def clear(tree: Tree) -> None:
    """Remove all nodes."""
    tree.size[0] = 0
    for at in range(len(tree.slots)):
        tree.slots[at] = NO_NODE


@njit(inline="always")
def _slot(parent: Any, move: Any, code: Any, slots: Any) -> Any:
    key = np.uint64(parent) << np.uint64(34) ^ np.uint64(code) << np.uint64(4) ^ np.uint64(move)
    return np.int64(mixed(key) & np.uint64(len(slots) - 1))


@njit(allocates=False)
def child_of(parent: Any, move: Any, code: Any, tree: Tree) -> Any:
    """The node that a move and a code lead to; `NO_NODE` if it is not in the tree."""
    at = _slot(parent, move, code, tree.slots)
    while tree.slots[at] != NO_NODE:
        node = tree.slots[at]
        if tree.parent[node] == parent and tree.move[node] == move and tree.code[node] == code:
            return np.int64(node)
        at = (at + 1) & (len(tree.slots) - 1)
    return np.int64(NO_NODE)


@njit(allocates=False)
def add_node(parent: Any, move: Any, code: Any, actor: Any, tree: Tree) -> Any:
    """Add a node without visits; `NO_NODE` if the tree is full."""
    node = tree.size[0]
    if node == len(tree.parent):
        return np.int64(NO_NODE)
    tree.size[0] = node + 1
    tree.parent[node], tree.move[node], tree.code[node] = parent, move, code
    tree.actor[node], tree.legal[node] = actor, 0
    tree.count[node] = tree.worth[node] = tree.fold[node] = 0.0
    for m in range(tree.visits.shape[1]):
        tree.visits[node, m] = tree.reward[node, m] = tree.square[node, m] = 0.0
        tree.total[node, m] = tree.theirs[node, m] = tree.prior[node, m] = 0.0
    if parent >= 0:
        at = _slot(parent, move, code, tree.slots)
        while tree.slots[at] != NO_NODE:
            at = (at + 1) & (len(tree.slots) - 1)
        tree.slots[at] = node
    return np.int64(node)


@njit(inline="always")
def variance_of(node: Any, move: Any, tree: Tree) -> Any:
    """The variance of the rewards of a move; 0 below two visits."""
    visits = tree.visits[node, move]
    if visits < 2.0:
        return 0.0
    mean = tree.reward[node, move] / visits
    return max(0.0, (tree.square[node, move] - visits * mean * mean) / (visits - 1.0))
