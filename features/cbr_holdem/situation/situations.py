"""Everything that follows from a batch of decisions, by name: the one extractor of features.

    street, seat, seats      where the decision is: street 0 to 3, seats from the left of the button
    the columns of `betting` and `history`
    the columns of `board`, for the cards that show; with _flop, _turn or _river at the end for
                             the cards that showed on that street
    hand_rank                CASPER's rank of the two cards, 1 (aces) to 169
    hs, ppot, npot, ppot1, npot1, e_hs, e_hs2   `strength` against one opponent
    ihs, ehs                 against all opponents who are still in

A value without meaning (a street that is not there, cards that nobody saw) is NaN. Columns are
computed when they are first asked for, so a bot that looks at the betting alone pays for no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cbr.errors import NoSuchName
from cbr_holdem.cards.card import DECK, UNKNOWN
from cbr_holdem.situation import betting, board, history
from cbr_holdem.strength import strength
from cbr_holdem.strength.flop_table import flop_strengths
from cbr_holdem.strength.isomorphism import hand_number
from cbr_holdem.strength.preflop import hand_ranks
from cbr_holdem.table.game import BOARD_CARDS, STREETS, Game
from cbr_holdem.table.rules import (
    ACTOR,
    BOARD,
    HISTORY,
    HOLE,
    MOVES,
    PAYOFF,
    SEATS,
    STREET,
    WIDTH,
)

Column = NDArray[np.float64]

_PLACE = ("street", "seat", "seats")
_BETTING = (*betting.COLUMNS, *history.COLUMNS)
_STRENGTH = (*strength.COLUMNS, "ihs", "ehs")
_ON_STREET = {
    f"{name}_{street}": (name, number)
    for number, street in enumerate(STREETS)
    for name in board.COLUMNS
    if number
}
COLUMNS = (*_PLACE, *_BETTING, *board.COLUMNS, *_ON_STREET, "hand_rank", *_STRENGTH)


@njit(cache=True)
def _copy_seen(rows: Any, out: Any) -> None:
    """What the player to act may see of each table."""
    for i in range(len(rows)):
        r, seen = rows[i], out[i]
        seen[:PAYOFF] = r[:PAYOFF]
        seen[HOLE:HISTORY] = UNKNOWN
        shown = BOARD_CARDS[r[STREET]]
        seen[BOARD : BOARD + shown] = r[BOARD : BOARD + shown]
        seen[HISTORY : HISTORY + r[MOVES]] = r[HISTORY : HISTORY + r[MOVES]]
        if r[ACTOR] >= 0:
            own = HOLE + 2 * r[ACTOR]
            seen[own : own + 2] = r[own : own + 2]


@njit(cache=True)
def _describe_all(rows: Any, terms: Any, out: Any) -> None:
    middle = len(betting.COLUMNS)
    for i in range(len(rows)):
        if rows[i, ACTOR] >= 0:
            betting.describe(rows[i], terms, out[i, :middle])
            history.describe(rows[i], terms, out[i, middle:])
        else:
            out[i] = np.nan


class Situations(Mapping[str, Column]):
    """The decisions of the players to act at some tables, as columns [n] by name.

    It keeps its own copy of the tables, in which cards that the player to act may not see are
    UNKNOWN. Where a hand is over, all is NaN.

    >>> from cbr_holdem.table.table import Table
    >>> table = Table(Game(), [1000] * 3, "AhAs KdKc 7h2c", "2s 7d 9h Jc 3d")
    >>> situations = Situations(table.rows, table.game)
    >>> situations["hand_rank"].tolist(), situations["to_call"].tolist()
    ([169.0], [1.0])
    """

    def __init__(self, rows: NDArray[np.int64], game: Game) -> None:
        self.rows = np.zeros((len(rows), WIDTH), np.int64)
        self.game = game
        _copy_seen(rows, self.rows)
        self._columns: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        if name not in self._columns:
            self._columns.update(self._group(name))
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COLUMNS)

    def __len__(self) -> int:
        return len(COLUMNS)

    def __contains__(self, name: object) -> bool:
        return name in COLUMNS

    @property
    def hole(self) -> NDArray[np.uint8]:
        """The cards of the player to act, [n, 2]."""
        seat = np.maximum(self.rows[:, ACTOR], 0)
        places = HOLE + 2 * seat[:, None] + np.arange(2)
        return np.take_along_axis(self.rows, places, axis=1).astype(np.uint8)

    def board(self, cards: int = 5) -> NDArray[np.uint8]:
        """So many cards of each board, [n, cards]."""
        return self.rows[:, BOARD : BOARD + cards].astype(np.uint8)

    def _group(self, name: str) -> dict[str, Column]:
        """The column, and those that are computed together with it."""
        groups: tuple[tuple[Any, Callable[[], dict[str, Column]]], ...] = (
            (_BETTING, self._betting),
            (board.COLUMNS, lambda: self._texture("", self._street())),
            (("hand_rank",), self._hand_rank),
            (_STRENGTH, self._strength),
            (_PLACE, self._place),
        )
        for names, compute in groups:
            if name in names:
                return compute()
        if name in _ON_STREET:
            return self._texture(name, np.full(len(self.rows), _ON_STREET[name][1]))
        raise NoSuchName("column", name, COLUMNS)

    def _over(self) -> NDArray[np.bool_]:
        return self.rows[:, ACTOR] < 0

    def _street(self) -> NDArray[np.int64]:
        return np.where(self._over(), 0, self.rows[:, STREET])

    def _place(self) -> dict[str, Column]:
        found = {
            name: self.rows[:, at] for name, at in zip(_PLACE, (STREET, ACTOR, SEATS), strict=True)
        }
        return {name: np.where(self._over(), np.nan, column) for name, column in found.items()}

    def _betting(self) -> dict[str, Column]:
        out = np.empty((len(self.rows), len(_BETTING)))
        _describe_all(self.rows, self.game.terms, out)
        return dict(zip(_BETTING, out.T, strict=True))

    def _texture(self, name: str, street: NDArray[np.int64]) -> dict[str, Column]:
        """Of the board of that street, where it was dealt; `name` has the street at its end."""
        suffix = "_" + STREETS[_ON_STREET[name][1]] if name else ""
        shown = np.array(BOARD_CARDS)[np.where(street <= self._street(), street, 0)]
        out = board.texture(self.board(), shown)
        return {f"{column}{suffix}": out[:, i] for i, column in enumerate(board.COLUMNS)}

    def _known(self) -> NDArray[np.bool_]:
        return ~self._over() & (self.hole < DECK).all(axis=1)

    def _hand_rank(self) -> dict[str, Column]:
        out, known = np.full(len(self.rows), np.nan), self._known()
        out[known] = hand_ranks()[_hand_numbers(self.hole[known])]
        return {"hand_rank": out}

    def _strength(self) -> dict[str, Column]:
        out = np.full((len(self.rows), len(strength.COLUMNS)), np.nan)
        for street in (1, 2, 3):
            chosen = self._known() & (self._street() == street)
            if chosen.any():
                out[chosen] = _strengths(self.hole[chosen], self.board(BOARD_CARDS[street])[chosen])
        found = dict(zip(strength.COLUMNS, out.T, strict=True))
        ihs = found["hs"] ** self["opponents"]
        # On the river there is nothing to become.
        ehs = ihs + (1 - ihs) * np.where(self._street() == 3, 0.0, found["ppot"])
        return found | {"ihs": ihs, "ehs": ehs}


@njit(cache=True)
def _hand_numbers(holes: Any) -> Any:
    out = np.empty(len(holes), np.int64)
    for i in range(len(holes)):
        out[i] = hand_number(np.int64(holes[i, 0]), np.int64(holes[i, 1]))
    return out


def _strengths(holes: NDArray[np.uint8], boards: NDArray[np.uint8]) -> Column:
    """Strengths [n, 7]; a hand that decides often on a street is looked at once."""
    both = np.concatenate([np.sort(holes, axis=1), boards], axis=1)
    single, again = np.unique(both, axis=0, return_inverse=True)
    compute = flop_strengths if boards.shape[1] == 3 else strength.strengths
    found: Column = compute(single[:, :2].copy(), single[:, 2:].copy())
    return found[again.reshape(-1)]
