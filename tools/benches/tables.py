"""Speed of the table: limit hold'em in which all players call, with full state and history.

The peer is rlcard's limit game played by a loop that always calls (or checks).
"""

from __future__ import annotations

import numpy as np

from benches import Row, compare_rates
from cbr_holdem.table import Game, call_down, deal_all, decks, new_tables


def rows(full: bool) -> list[Row]:
    return [_calls("9-seat limit call bots", 9, full), _calls("2-seat limit call bots", 2, full)]


def _calls(what: str, seats: int, full: bool) -> Row:
    tables, rounds, few = 500, 20, (60 if full else 20)
    terms, state = Game().terms, new_tables(tables).rows
    stacks = np.full((tables, seats), 10_000, np.int64)
    deal = [0]

    def ours() -> None:
        for _ in range(rounds):
            cards = decks(1, deal[0], tables, 2 * seats + 5)
            deal[0] += tables
            deal_all(state, terms, seats, stacks, cards)
            call_down(state, terms)

    peer = rlcard_calls(seats, few)
    return compare_rates(what, ours, "rlcard", peer, per=tables * rounds, peer_per=few)


def rlcard_calls(seats: int, hands: int):  # type: ignore[no-untyped-def]
    from rlcard.games.limitholdem import Game as Limit

    game = Limit(num_players=seats)

    def play() -> None:
        for _ in range(hands):
            game.init_game()
            while not game.is_over():
                legal = game.get_legal_actions()
                game.step("check" if "check" in legal else "call")

    return play
