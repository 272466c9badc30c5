"""Make casebases/sample.phhs: limit hands of six players who act at random, to try `cbr build` on.

python tools/make_sample.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from cbr_holdem.cards.card import names
from cbr_holdem.table.deck import decks
from cbr_holdem.table.game import Game
from cbr_holdem.table.hand import Hand
from cbr_holdem.table.table import Table
from cbr_logs.phh_writer import write

OUT = Path(__file__).parent.parent / "casebases" / "sample.phhs"
HANDS, SEATS, SEED = 150, 6, 20_240_601


def hands() -> Iterator[str]:
    """Hands as texts; the button moves on, and players fold a little more often than they raise."""
    game, rng = Game(), np.random.default_rng(SEED)
    for number, deck in enumerate(decks(SEED, 0, HANDS)):
        held, board = deck[: 2 * SEATS], deck[2 * SEATS : 2 * SEATS + 5]
        table = Table(game, [1000] * SEATS, held.tolist(), board.tolist())
        while not table.over:
            move = str(rng.choice(["f", "f", "c", "c", "c", "r"]))
            table.play(move if table.can_play(move) else "c")
        moves, street = "", 0
        for when, _, kind, _ in table.tables.history(0):
            moves += "/" * (when - street) + "fcr"[kind]
            street = when
        shown = 5 if table.showdown else (0, 3, 4, 5)[street]
        yield Hand(
            game=game,
            stacks=[1000] * SEATS,
            posts=[5, 10] + [0] * (SEATS - 2),
            antes=[0] * SEATS,
            holes=[names(held[2 * s : 2 * s + 2]).replace(" ", "") for s in range(SEATS)],
            board=names(board[:shown]).replace(" ", ""),
            actions=moves,
            players=[f"player{(number + 1 + seat) % SEATS + 1}" for seat in range(SEATS)],
            result=table.payoffs,
            number=str(number + 1),
        ).text


if __name__ == "__main__":
    print(f"{OUT}: {write(hands(), OUT)} hands")
