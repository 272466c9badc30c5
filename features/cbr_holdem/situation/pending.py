"""Situations of the players to act at tables, with columns computed on demand.

A bot that only calls computes nothing, and one that reads only its cards no features of betting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.jit import njit
from cbr.typing import Ints
from cbr_holdem.cards.numbering import UNKNOWN
from cbr_holdem.situation import betting, history
from cbr_holdem.situation.situations import Column, Situations, look_at_cards
from cbr_holdem.table.game import BOARD_CARDS, MOST_SEATS, Game
from cbr_holdem.table.layout import ACTOR, BET, BOARD, HOLE, PAYOFF, STREET, STRENGTH, WIDTH
from cbr_holdem.table.rules import pot_of, raise_limits, to_call

#: Amounts of a decision that are attributes of `Pending`.
_MONEY = ("call", "raise_from", "raise_to", "chips", "own")


class Pending(Situations):
    """Situations of the players to act at some tables (`which` of `rows`).

    Beside the columns, in chips: `call`, what it costs to stay in; `raise_from` and `raise_to`, the
    limits of a raise (0 where none is legal); `chips`, what is in the pot; `own`, what the player
    put in on this street. Values are computed when they are first read, from the tables as they are
    then, so read them before anybody acts.
    """

    call: Ints
    raise_from: Ints
    raise_to: Ints
    chips: Ints
    own: Ints

    def __init__(self, rows: Ints, game: Game, which: Ints) -> None:
        self._rows, self.game, self.which = rows, game, which.view()
        # As bots get it; numba would compile what takes it again for one that can be written.
        self.which.flags.writeable = False
        self._columns = {}

    @property
    def count(self) -> int:
        return len(self.which)

    def __getattr__(self, name: str) -> Any:
        if name in {"place", "hole", "board"}:
            self._look()
        elif name == "bets":
            self.bets = np.concatenate([self._betting_now(), self._history()], axis=1)
        elif name in _MONEY:
            money = tuple(np.empty((len(_MONEY), self.count), np.int64))
            _money(self._rows, self.which, self.game.terms, money)
            self.call, self.raise_from, self.raise_to, self.chips, self.own = money
        else:
            raise AttributeError(f"situations have no {name!r}")
        return getattr(self, name)

    def take(self, places: Ints) -> Pending:
        """The situations at these places."""
        return Pending(self._rows, self.game, self.which[places])

    def _group(self, name: str) -> dict[str, Column]:
        # The history costs more than the betting now, and few bots read both.
        if name in betting.COLUMNS:
            return dict(zip(betting.COLUMNS, self._betting_now().T, strict=True))
        if name in history.COLUMNS:
            return dict(zip(history.COLUMNS, self._history().T, strict=True))
        return super()._group(name)

    def _betting_now(self) -> Column:
        out = np.empty((self.count, len(betting.COLUMNS)))
        _betting(self._rows, self.which, self.game.terms, out)
        return out

    def _history(self) -> Column:
        out = np.empty((self.count, len(history.COLUMNS)))
        _history(self._rows, self.which, self.game.terms, out)
        return out

    def _look(self) -> None:
        self.place = np.empty((self.count, 3), np.int64)
        self.hole = np.empty((self.count, 2), np.uint8)
        self.board = np.empty((self.count, 5), np.uint8)
        _cards(self._rows, self.which, self.place, self.hole, self.board)

    def raised_by(self, share: Any) -> Ints:
        """The amount [n] that a raise by a share of the pot (after a call) goes to, clipped to what
        is legal; an infinite share is all-in."""
        by = np.minimum(share * (self.chips + self.call), self.raise_to)
        return np.clip(self.own + self.call + by.astype(np.int64), self.raise_from, self.raise_to)

    def seen(self) -> Ints:
        """The tables as these players see them [n, WIDTH] (`cbr_holdem.table`): with all bets and
        actions, and UNKNOWN for every card that they may not see."""
        out = np.empty((self.count, WIDTH), np.int64)
        _seen(self._rows, self.which, out)
        return out


@njit
def _cards(rows: Any, which: Any, place: Any, hole: Any, board: Any) -> None:
    for i in range(len(which)):
        look_at_cards(rows[which[i]], place[i], hole[i], board[i])


@njit
def _betting(rows: Any, which: Any, terms: Any, out: Any) -> None:
    for i in range(len(which)):
        betting.describe(rows[which[i]], terms, out[i])


@njit
def _history(rows: Any, which: Any, terms: Any, out: Any) -> None:
    for i in range(len(which)):
        history.describe(rows[which[i]], terms, out[i])


@njit
def _money(rows: Any, which: Any, terms: Any, out: Any) -> None:
    """The amounts of `_MONEY` in chips, a row of `out` for each."""
    call, raise_from, raise_to, chips, own = out
    for i in range(len(which)):
        r = rows[which[i]]
        call[i] = to_call(r)
        raise_from[i], raise_to[i] = raise_limits(r, terms)
        chips[i] = pot_of(r)
        own[i] = r[BET + r[ACTOR]]


@njit
def _seen(rows: Any, which: Any, out: Any) -> None:
    for i in range(len(which)):
        r, seen = rows[which[i]], out[i]
        for column in range(WIDTH):  # `seen[:] = r` takes numba seconds to compile
            seen[column] = r[column]
        # Payoffs and strengths are left from an earlier hand, and might reveal its cards.
        for seat in range(MOST_SEATS):
            seen[PAYOFF + seat] = 0
            seen[STRENGTH + seat] = 0
            if seat != r[ACTOR]:
                seen[HOLE + 2 * seat] = UNKNOWN
                seen[HOLE + 2 * seat + 1] = UNKNOWN
        for card in range(BOARD_CARDS[r[STREET]], 5):
            seen[BOARD + card] = UNKNOWN
