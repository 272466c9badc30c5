"""Hands of a match as logs keep them."""

from __future__ import annotations

from collections.abc import Sequence

from cbr_arena.tables import Ints, Sitting
from cbr_holdem.cards.card import names
from cbr_holdem.table.game import BOARD_CARDS, Game
from cbr_holdem.table.hand import Hand
from cbr_holdem.table.rules import BOARD, HOLE, PAID, PARTS, PAYOFF, PLAYERS, POST, STACK, Tables


def texts(rows: Ints, sitting: Sitting, game: Game, players: Sequence[str]) -> list[str]:
    """The hands of some tables at their end, each with all cards, as `Hand.text`."""
    return [_text(rows[at : at + 1], sitting, at, game, players) for at in range(len(rows))]


def _text(row: Ints, sitting: Sitting, at: int, game: Game, players: Sequence[str]) -> str:
    seats = sitting.player.shape[1]
    one = row[0]
    moves, street = "", 0
    for when, _, kind, amount in Tables(row).history(0):
        moves += "/" * (when - street) + "fcr"[kind] + (str(amount) if kind == 2 else "")
        street = when
    shown = 5 if one[PLAYERS] > 1 else BOARD_CARDS[street]
    hand = Hand(
        game=game,
        stacks=(one[STACK : STACK + seats] + one[PAID : PAID + seats]).tolist(),
        posts=one[POST : POST + seats].tolist(),
        antes=(0,) * seats,
        holes=[_cards(one[HOLE + 2 * s : HOLE + 2 * s + 2]) for s in range(seats)],
        board=_cards(one[BOARD : BOARD + shown]),
        actions=moves,
        players=[players[p] for p in sitting.player[at].tolist()],
        result=(one[PAYOFF : PAYOFF + seats] / PARTS).tolist(),
        number=str(sitting.deal[at]),
    )
    return hand.text


def _cards(cards: Ints) -> str:
    return names(cards).replace(" ", "")
