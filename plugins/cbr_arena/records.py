"""Hands of a match as texts (`Hand.text`)."""

from __future__ import annotations

from collections.abc import Sequence

from cbr.typing import Ints
from cbr_arena.tables import Sitting
from cbr_holdem.cards import DECK, names
from cbr_holdem.table import (
    BOARD,
    BOARD_CARDS,
    HOLE,
    PAID,
    PARTS,
    PAYOFF,
    PLAYERS,
    POST,
    STACK,
    Game,
    Hand,
    Tables,
)


def texts(rows: Ints, sitting: Sitting, game: Game, players: Sequence[str]) -> list[str]:
    """The hands of tables that are over, with all cards, as `Hand.text`."""
    seated = [[players[player] for player in row] for row in sitting.player.tolist()]
    return [text_of(rows[at], game, seated[at], str(sitting.deal[at])) for at in range(len(rows))]


def text_of(table: Ints, game: Game, players: Sequence[str], number: str) -> str:
    """A hand that is over, as `Hand.text`; `table` [WIDTH] may lack cards that nobody saw."""
    seats = len(players)
    moves, street = "", 0
    for when, _, kind, amount in Tables(table[None]).history(0):
        moves += "/" * (when - street) + "fcr"[kind] + (str(amount) if kind == 2 else "")
        street = when
    shown = 5 if table[PLAYERS] > 1 else BOARD_CARDS[street]
    hand = Hand(
        game=game,
        stacks=(table[STACK : STACK + seats] + table[PAID : PAID + seats]).tolist(),
        posts=table[POST : POST + seats].tolist(),
        antes=(0,) * seats,
        holes=[_cards(table[HOLE + 2 * s : HOLE + 2 * s + 2]) for s in range(seats)],
        board=_cards(table[BOARD : BOARD + shown]),
        actions=moves,
        players=players,
        result=(table[PAYOFF : PAYOFF + seats] / PARTS).tolist(),
        number=number,
    )
    return hand.text


def _cards(cards: Ints) -> str:
    return names(cards[cards < DECK]).replace(" ", "")
