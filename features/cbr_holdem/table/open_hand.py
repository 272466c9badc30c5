"""A hand in progress: the table at its open decision, that of the player who is next to act."""

from __future__ import annotations

from cbr import BadValue
from cbr_holdem.cards.numbering import cards
from cbr_holdem.table.game import BOARD_CARDS
from cbr_holdem.table.hand import Hand
from cbr_holdem.table.hand_arrays import verify_hand
from cbr_holdem.table.table import Table, when


def open_table(hand: Hand) -> Table:
    """The table after the last action of a hand, where somebody is to act who sees two cards and
    the board. `BadValue` says why there is no such decision.

    >>> hand = Hand.read("7\\tlimit 5/10\\t90,90\\t10,5\\t\\tAhKs,\\t\\tr20\\t\\tann\\tbob")
    >>> open_table(hand).actor
    0
    """
    verify_hand(hand)
    if not any(hand.posts) and not any(hand.antes):
        raise BadValue("nobody posted a blind or an ante, so there is no pot to play for")
    table = Table.of(hand)
    if table.actor is None:
        raise BadValue("no open decision: the hand is over")
    player, dealt = hand.players[table.actor], len(cards(hand.board))
    due = BOARD_CARDS[int(table.tables.street[0])]
    if dealt != due:
        raise BadValue(
            f"{player} is to act {when(table.street)}, where the board has {due} cards, and "
            f"{dealt or 'none'} are given"
        )
    if not hand.holes[table.actor]:
        raise BadValue(f"the cards of {player}, who is to act, are not given")
    return table
