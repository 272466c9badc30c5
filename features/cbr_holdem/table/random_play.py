"""Complete hands of players who act at random, for samples, benchmarks and tests."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cbr_holdem.cards.numbering import names
from cbr_holdem.table.deck import decks
from cbr_holdem.table.game import BOARD_CARDS, Game
from cbr_holdem.table.hand import Hand
from cbr_holdem.table.table import Table

_MOVES = ("f", "c", "c", "c", "r")


def random_hands(
    count: int, seats: int, game: Game, *, stack: int = 2000, seed: int = 1
) -> Iterator[Hand]:
    """`count` hands; the players (`bot0`, `bot1` ...) move on by a seat each hand.

    >>> [hand] = random_hands(1, 3, Game())
    >>> hand.players, len(hand.holes), abs(sum(hand.result)) < 1e-9
    (('bot0', 'bot1', 'bot2'), 3, True)
    """
    rng = np.random.default_rng(seed)
    small, big = game.small_blind, game.big_blind
    posts = [big, small] if seats == 2 else [small, big] + [0] * (seats - 2)
    for number, deck in enumerate(decks(seed, 0, count)):
        held, board = deck[: 2 * seats], deck[2 * seats : 2 * seats + 5]
        table = Table(game, [stack] * seats, held.tolist(), board.tolist())
        while not table.over:
            move = str(rng.choice(_MOVES))
            table.play(move if table.can_play(move) else "c")
        moves, street = "", 0
        for when, _, kind, _ in table.tables.history(0):
            moves += "/" * (when - street) + "fcr"[kind]
            street = when
        shown = 5 if table.showdown else BOARD_CARDS[street]
        yield Hand(
            game=game,
            stacks=(stack,) * seats,
            posts=tuple(posts),
            antes=(0,) * seats,
            holes=tuple(_text(held[2 * s : 2 * s + 2]) for s in range(seats)),
            board=_text(board[:shown]),
            actions=moves,
            players=tuple(f"bot{(number + seat) % seats}" for seat in range(seats)),
            result=tuple(table.payoffs),
            number=str(number),
        )


def _text(cards: np.ndarray) -> str:
    return names(cards).replace(" ", "")
