"""Speed of hand strength: exact potential of one position, and the flop table.

The peer evaluates every pair of an opponent's hand and a run-out with our own batched evaluator,
its arrays of hands made before the clock starts.
"""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from benches import Row, compare
from cbr_holdem.cards import cards, evaluate
from cbr_holdem.strength import FLOP_CLASSES, class_numbers, count_later, flop_table, strengths

#: A rainbow, a two-tone, a monotone and a paired flop.
POSITIONS = [("AdQc", "3h4cJd"), ("AdQc", "3h4hJd"), ("AdQc", "3h4hJh"), ("8s9s", "2d2s3s")]


def rows(full: bool) -> list[Row]:
    found = [
        _potential("flop two-card potential", POSITIONS, 2),
        _potential("turn potential", [(hole, board + "Kc") for hole, board in POSITIONS], 1),
        _lookup(),
    ]
    return [*found, _table()] if full else found


def _potential(what: str, positions: list[tuple[str, str]], more: int) -> Row:
    given = [(np.array(cards(h), np.uint8), np.array(cards(b), np.uint8)) for h, b in positions]
    pairs = [_every_pair(hole, board, more) for hole, board in given]

    def ours() -> None:
        for hole, board in given:
            count_later(hole, board, more, np.zeros((3, 3), np.int64), np.zeros(2))

    def peer() -> None:
        for mine, theirs in pairs:
            np.count_nonzero(evaluate(mine) > evaluate(theirs))

    return compare(what, ours, "every pair", peer, per=len(given), scale=1e3, unit="ms")


def _every_pair(
    hole: NDArray[np.uint8], board: NDArray[np.uint8], more: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Our seven cards and the opponent's for each pair of a hand and a run-out."""
    left = [c for c in range(52) if c not in hole and c not in board]
    rivals = np.array(list(combinations(left, 2)), np.uint8)
    parts = []
    for runout in combinations(left, more):
        free = rivals[~np.isin(rivals, runout).any(axis=1)]
        table = np.tile(np.array([*board, *runout], np.uint8), (len(free), 1))
        parts.append(np.column_stack([free, table]))
    theirs = np.concatenate(parts)
    mine = theirs.copy()
    mine[:, :2] = hole
    return mine, theirs


def _lookup() -> Row:
    """Look-up of a position in the table; the peer computes it."""
    rng = np.random.default_rng(1)
    deck = np.argsort(rng.random((200_000, 52)), axis=1)[:, :5].astype(np.uint8)
    holes, flops = deck[:, :2].copy(), deck[:, 2:].copy()
    path, few = flop_table.table_path(), 200
    # Without the table an empty one takes the same time.
    table = flop_table.load(path) if path.exists() else np.zeros((FLOP_CLASSES, 7), np.uint16)

    def ours() -> object:
        return table[class_numbers(holes, flops)] / flop_table.STEPS

    def peer() -> object:
        return strengths(holes[:few], flops[:few])

    return compare("flop table lookup", ours, "computed", peer, per=len(holes), peer_per=few)


def _table() -> Row:
    """CPU minutes of the whole table, extrapolated from a tenth of the flops; the peer is the limit
    of 10 minutes."""
    start = time.process_time()
    positions = sum(len(flop_table.flop_rows(flop)) // 14 for flop in range(0, 1755, 10))
    minutes = (time.process_time() - start) / 60 * FLOP_CLASSES / positions
    return Row("flop table build", minutes, "limit", 10.0, 10.0 / minutes, "CPU min")
