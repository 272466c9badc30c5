"""One table for people and tests: a readable interface to the compiled rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cbr import BadValue
from cbr_holdem.cards.numbering import UNKNOWN, cards, names, verify_distinct
from cbr_holdem.table.game import BOARD_CARDS, STREETS, Game, verify_stacks
from cbr_holdem.table.hand import Hand
from cbr_holdem.table.layout import BOARD, CALL, FOLD, RAISE, SEATS, new_tables
from cbr_holdem.table.rules import act, deal, deal_posted, raise_limits, to_call

_MOVES = re.compile(r"(/)|([A-J])?([fcr])(\d*)")
KINDS = {"f": FOLD, "k": CALL, "c": CALL, "b": RAISE, "r": RAISE}


@dataclass(frozen=True)
class Legal:
    """What the actor may do: fold or not, the price of a call, and the limits to raise to."""

    fold: bool
    call: int
    raise_from: int
    raise_to: int

    def __str__(self) -> str:
        words = ["fold"] if self.fold else []
        words.append(f"call {self.call}" if self.call else "check")
        if self.raise_to:
            what = "raise to" if self.call else "bet or raise to"
            span = f"{self.raise_from}"
            if self.raise_to != self.raise_from:
                span += f" ... {self.raise_to}"
            words.append(f"{what} {span}")
        return ", ".join(words)


class Table:
    """A hand at one table, action by action.

    A card that is not needed may be UNKNOWN. `posts` and `antes` are what each seat puts in before
    the first action, if that differs from the game's blinds and ante.

    >>> table = Table(Game(), [1000] * 3, "AhAs KdKc 7h2c", "2s 7d 9h Jc 3d")
    >>> str(table.legal())
    'fold, call 10, raise to 20'
    >>> for move in ("c", "c", "k", "b", "c", "c"): table.play(move)
    >>> table.street, table.board, table.actor
    ('turn', '2s 7d 9h Jc', 0)
    """

    def __init__(
        self,
        game: Game,
        stacks: Sequence[int],
        hands: str | Sequence[int],
        board: str | Sequence[int],
        posts: Sequence[int] | None = None,
        antes: Sequence[int] | None = None,
    ) -> None:
        for stack in stacks:
            if not isinstance(stack, int | np.integer) or abs(stack) > 2**62:
                raise BadValue(f"a stack is {stack!r}; it must be a whole number of chips")
        chips = np.array([list(stacks)], np.int64)
        verify_stacks(chips)
        held = cards(hands, "hands") if isinstance(hands, str) else [int(c) for c in hands]
        table = cards(board, "board") if isinstance(board, str) else [int(c) for c in board]
        if len(held) != 2 * len(stacks):
            raise BadValue(f"{len(stacks)} players need {2 * len(stacks)} cards, not {len(held)}")
        if len(table) != 5:
            raise BadValue(f"a board has 5 cards in the end, not {len(table)}")
        if not all(0 <= card <= UNKNOWN for card in [*held, *table]):
            raise BadValue("cards are numbered from 0 to 51")
        verify_distinct([c for c in [*held, *table] if c != UNKNOWN], "hands and board")
        self.game = game
        self.terms = game.terms
        self.tables = new_tables(1)
        self.rows = self.tables.rows
        deck = np.array([*held, *table], np.uint8)
        if posts is None:
            deal(self.rows[0], self.terms, len(stacks), chips[0], deck)
        else:
            given, dead = (np.array(p, np.int64) for p in (posts, antes or [0] * len(stacks)))
            # Whole numbers, as replays deal them: numba would compile it again for bytes.
            deck = deck.astype(np.int64)
            deal_posted(self.rows[0], self.terms, len(stacks), chips[0], given, dead, deck)

    @classmethod
    def of(cls, hand: Hand) -> Table:
        """The table after the last action of a hand; `BadValue` if the rules do not allow it."""
        held = [card for hole in hand.holes for card in cards(hole) or [UNKNOWN, UNKNOWN]]
        board = cards(hand.board)
        board += [UNKNOWN] * (5 - len(board))
        table = cls(hand.game, hand.stacks, held, board, hand.posts, hand.antes)
        street = number = 0
        for slash, seat, letter, amount in _MOVES.findall(hand.actions):
            if slash:
                street += 1
                continue
            number += 1
            try:
                table.verify_going()
                table.verify_turn(street, "ABCDEFGHIJ".index(seat) if seat else None)
                if letter == "f":  # some fold where they could check
                    act(table.rows[0], table.terms, FOLD, 0)
                else:
                    table.play(letter, int(amount) if amount else None)
            except BadValue as error:
                raise BadValue(f"action {number}: {error}") from None
        return table

    @property
    def seats(self) -> int:
        return int(self.rows[0, SEATS])

    @property
    def over(self) -> bool:
        return bool(self.tables.actor[0] < 0)

    @property
    def actor(self) -> int | None:
        """The seat to act, None when the hand is over."""
        return None if self.over else int(self.tables.actor[0])

    @property
    def street(self) -> str:
        return STREETS[int(self.tables.street[0])]

    @property
    def board(self) -> str:
        """The board cards dealt so far."""
        return names(self.rows[0, BOARD : BOARD + BOARD_CARDS[int(self.tables.street[0])]])

    @property
    def pot(self) -> int:
        """All chips put in so far, the bets of this street included."""
        return int(self.tables.paid[0].sum())

    @property
    def stacks(self) -> list[int]:
        return self.tables.stack[0, : self.seats].tolist()

    @property
    def payoffs(self) -> list[float]:
        """What each seat won or lost; zeros before the end."""
        return self.tables.payoff[0, : self.seats].tolist()

    @property
    def final_stacks(self) -> list[float]:
        """Stacks after the pots were shared out."""
        ends = self.tables.stack[0] + self.tables.paid[0] + self.tables.payoff[0]
        return ends[: self.seats].tolist()

    @property
    def showdown(self) -> list[int]:
        """Seats that come to a showdown in the order in which they show their cards.

        Whoever bet or raised last on the river begins, else the first left of the button. Empty
        before the end, and where all but one folded.
        """
        left = [seat for seat in range(self.seats) if not self.tables.folded[0, seat]]
        if not self.over or len(left) == 1:
            return []
        river = [
            seat for street, seat, kind, _ in self.tables.history(0) if (street, kind) == (3, RAISE)
        ]
        first = river[-1] if river else left[0]
        return [seat for seat in left if seat >= first] + [seat for seat in left if seat < first]

    def legal(self) -> Legal:
        self.verify_going()
        call = int(to_call(self.rows[0]))
        least, most = raise_limits(self.rows[0], self.terms)
        return Legal(call > 0, call, int(least), int(most))

    def verify_going(self) -> None:
        if self.over:
            raise BadValue("the hand is over")

    def verify_turn(self, street: int, seat: int | None) -> None:
        """Check that the betting has come to this street (0 to 3), and to this seat if given."""
        if street != self.tables.street[0]:
            where = when(STREETS[street]) if street < len(STREETS) else "after the river"
            raise BadValue(f"it is {where}, and the betting is {when(self.street)}")
        due = int(self.tables.actor[0])
        if seat is not None and seat != due:
            raise BadValue(f"seat {seat + 1} acts, and it is the turn of seat {due + 1}")

    def verify_play(self, move: str, amount: int | None = None) -> tuple[int, int]:
        """The action as (kind, amount); `BadValue` with the legal actions if it is not legal."""
        legal = self.legal()
        kind = KINDS.get(move)
        if kind is None:
            raise BadValue(f"{move!r} is not an action; actions are f, k, c, b, r")
        if kind == FOLD and not legal.fold:
            raise BadValue(f"a fold is not legal when checking is free; legal are {legal}")
        if kind == CALL:
            return CALL, 0
        if kind == RAISE:
            if not legal.raise_to:
                raise BadValue(f"a raise is not legal; legal are {legal}")
            to = legal.raise_from if amount is None else amount
            if not isinstance(to, int | np.integer):
                raise BadValue(f"{to!r} is not a whole number of chips; legal are {legal}")
            if not legal.raise_from <= to <= legal.raise_to:
                raise BadValue(f"a raise to {to} is not legal; legal are {legal}")
            return RAISE, int(to)
        return FOLD, 0

    def can_play(self, move: str, amount: int | None = None) -> bool:
        try:
            self.verify_play(move, amount)
        except BadValue:
            return False
        return True

    def play(self, move: str, amount: int | None = None) -> None:
        """Fold (f), check or call (k, c), bet or raise to an amount (b, r; default the least)."""
        kind, to = self.verify_play(move, amount)
        act(self.rows[0], self.terms, kind, to)


def when(street: str) -> str:
    """
    >>> when("preflop"), when("turn")
    ('before the flop', 'on the turn')
    """
    return "before the flop" if street == STREETS[0] else f"on the {street}"
