"""Speed of hand evaluation: random hands of seven and five cards, against eval7.

The peer's card objects are made before the clock starts.
"""

from __future__ import annotations

import numpy as np

from benches import Row, compare_rates
from cbr_holdem.cards import evaluate, name


def rows(full: bool) -> list[Row]:
    import eval7

    rng = np.random.default_rng(1)
    count, few = (4_000_000 if full else 1_000_000), 100_000
    found = []
    for size in (7, 5):
        hands = np.argsort(rng.random((count, 52)), axis=1)[:, :size].astype(np.uint8)
        theirs = [[eval7.Card(name(card)) for card in hand] for hand in hands[:few].tolist()]

        def peer(hands: list[list[object]] = theirs) -> None:
            for hand in hands:
                eval7.evaluate(hand)

        def ours(hands: object = hands) -> None:
            evaluate(hands)  # type: ignore[arg-type]

        row = compare_rates(
            f"{size}-card batch",
            ours,
            "eval7",
            peer,
            per=count,
            peer_per=few,
            scale=1e-6,
            unit="M hands/s",
        )
        found.append(row)
    return found
