"""The feature extractor: all features of a batch of decisions, as columns by name.

    street, seat, seats      where the decision is: street 0 to 3, seats from the left of the button
    the columns of `betting` and `history`
    the columns of `board`, for the board now; with _flop, _turn or _river at the end for the
                             board on that street
    hand_rank                CASPER's rank of the two cards, 1 (aces) to 169
    hs, ppot, npot, ppot1, npot1, e_hs, e_hs2   `strength` against one opponent
    ihs, ehs                 against all opponents who are still in

An undefined value (a street not yet dealt, unknown cards) is NaN. A column is computed when it is
first read, so a bot that reads only the betting computes nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.errors import NoSuchName
from cbr.jit import njit
from cbr_holdem.cards.numbering import DECK, UNKNOWN
from cbr_holdem.situation import betting, board, history
from cbr_holdem.strength.flop_table import flop_strengths
from cbr_holdem.strength.hand_strength import COLUMNS as STRENGTHS
from cbr_holdem.strength.hand_strength import hand_strengths, strengths
from cbr_holdem.strength.isomorphism import hand_numbers
from cbr_holdem.strength.preflop import hand_ranks
from cbr_holdem.table.game import BOARD_CARDS, STREETS, Game
from cbr_holdem.table.layout import ACTOR, BOARD, HOLE, SEATS, STREET

Column = NDArray[np.float64]

_PLACE = ("street", "seat", "seats")
_STREET, _SEAT, _SEATS = range(len(_PLACE))
_BETTING = (*betting.COLUMNS, *history.COLUMNS)
_OF_STACKS = ("stack", "effective", "all_in_call", "effective_aggressor", "implied_odds")
_STRENGTH = (*STRENGTHS, "ihs", "ehs")
_ON_STREET = {
    f"{name}_{street}": (name, number)
    for number, street in enumerate(STREETS)
    for name in board.COLUMNS
    if number
}
COLUMNS = (*_PLACE, *_BETTING, *board.COLUMNS, *_ON_STREET, "hand_rank", *_STRENGTH)


@njit
def look_at_cards(r: Any, place: Any, hole: Any, board: Any) -> None:
    """Write where the player to act at a table (a row) sits, and the cards that he sees."""
    place[_STREET], place[_SEAT], place[_SEATS] = r[STREET], r[ACTOR], r[SEATS]
    for card in range(2):
        hole[card] = r[HOLE + 2 * r[ACTOR] + card]
    for card in range(5):
        board[card] = r[BOARD + card] if card < BOARD_CARDS[r[STREET]] else UNKNOWN


@njit
def look(r: Any, terms: Any, place: Any, bets: Any, hole: Any, board: Any) -> None:
    """Write all that the player to act at a table (a row) may see into one row of each array."""
    look_at_cards(r, place, hole, board)
    middle = len(betting.COLUMNS)
    betting.describe(r, terms, bets[:middle])
    history.describe(r, terms, bets[middle:])


@njit
def _look_all(rows: Any, terms: Any, place: Any, bets: Any, hole: Any, board: Any) -> None:
    for i in range(len(rows)):
        if rows[i, ACTOR] >= 0:
            look(rows[i], terms, place[i], bets[i], hole[i], board[i])


class Situations(Mapping[str, Column]):
    """Decisions as columns [n] by name; `Situations.at` makes them for the players to act.

    It holds only what the player to act may see: `hole` [n, 2] and `board` [n, 5] have UNKNOWN for
    every other card. `bets` [n, 38] are the columns of `betting` and `history`, `place` [n, 3] the
    street, seat and number of seats.

    >>> from cbr_holdem.table.table import Table
    >>> table = Table(Game(), [1000] * 3, "AhAs KdKc 7h2c", "2s 7d 9h Jc 3d")
    >>> situations = Situations.at(table.rows, table.game)
    >>> situations["hand_rank"].tolist(), situations["to_call"].tolist()
    ([169.0], [1.0])
    """

    def __init__(
        self,
        place: NDArray[np.int64],
        bets: Column,
        hole: NDArray[np.uint8],
        board: NDArray[np.uint8],
    ) -> None:
        self.place, self.bets, self.hole, self.board = place, bets, hole, board
        self._columns: dict[str, Column] = {}

    @classmethod
    def empty(cls, count: int) -> Situations:
        """`count` situations whose columns are all NaN, as they are where a hand is over."""
        return cls(
            np.full((count, 3), -1, np.int64),
            np.full((count, len(_BETTING)), np.nan),
            np.full((count, 2), UNKNOWN, np.uint8),
            np.full((count, 5), UNKNOWN, np.uint8),
        )

    @classmethod
    def at(cls, rows: NDArray[np.int64], game: Game) -> Situations:
        """The decisions of the players to act at tables, in their present state."""
        made = cls.empty(len(rows))
        _look_all(rows, game.terms, made.place, made.bets, made.hole, made.board)
        return made

    def take(self, places: NDArray[np.int64]) -> Situations:
        """The situations at these places."""
        return Situations(
            self.place[places], self.bets[places], self.hole[places], self.board[places]
        )

    def forget_stacks(self, where: NDArray[np.bool_]) -> None:
        """Make the columns of stacks NaN in the situations [n] where these are not known."""
        for name in _OF_STACKS:
            self.bets[where, _BETTING.index(name)] = np.nan

    def standing(self) -> Column:
        """Exact hand strength [n] against one opponent, without the potential: much faster than the
        column `hs`, which is computed together with the potential and rounded on the flop."""
        shown = np.array(BOARD_CARDS)[np.maximum(self.street, 0)]
        return hand_strengths(self.hole, self.board, np.where(self._known(), shown, 0))

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

    def _group(self, name: str) -> dict[str, Column]:
        """The column, and those that are computed together with it."""
        groups: tuple[tuple[Any, Callable[[], dict[str, Column]]], ...] = (
            (_BETTING, self._betting),
            (board.COLUMNS, lambda: self._texture("", np.maximum(self.street, 0))),
            (("hand_rank",), self._hand_rank),
            (_STRENGTH, self._strength),
            (_PLACE, self._place),
        )
        for names, compute in groups:
            if name in names:
                return compute()
        if name in _ON_STREET:
            return self._texture(name, np.full(len(self.place), _ON_STREET[name][1]))
        raise NoSuchName("column", name, COLUMNS)

    @property
    def street(self) -> NDArray[np.int64]:
        """The street of each decision, 0 to 3, [n]; -1 where a hand is over."""
        return self.place[:, _STREET]

    @property
    def seat(self) -> NDArray[np.int64]:
        """The seat of each player to act, from the left of the button, [n]."""
        return self.place[:, _SEAT]

    def _place(self) -> dict[str, Column]:
        found = np.where(self.place < 0, np.nan, self.place)
        return dict(zip(_PLACE, found.T, strict=True))

    def _betting(self) -> dict[str, Column]:
        return dict(zip(_BETTING, self.bets.T, strict=True))

    def _texture(self, name: str, street: NDArray[np.int64]) -> dict[str, Column]:
        """Texture of the board on `street` [n], NaN where it is not dealt yet; a `name` (such as
        highest_flop) gives the columns its street as a suffix."""
        suffix = "_" + STREETS[_ON_STREET[name][1]] if name else ""
        shown = np.array(BOARD_CARDS)[np.where(street <= self.street, street, 0)]
        out = board.texture(self.board, shown)
        return {f"{column}{suffix}": out[:, i] for i, column in enumerate(board.COLUMNS)}

    def _known(self) -> NDArray[np.bool_]:
        return (self.hole[:, 0] < DECK) & (self.hole[:, 1] < DECK)

    def _hand_rank(self) -> dict[str, Column]:
        out, known = np.full(len(self.hole), np.nan), self._known()
        out[known] = hand_ranks()[hand_numbers(self.hole[known])]
        return {"hand_rank": out}

    def _strength(self) -> dict[str, Column]:
        out = np.full((len(self.hole), len(STRENGTHS)), np.nan)
        for street in (1, 2, 3):
            chosen = self._known() & (self.street == street)
            if chosen.any():
                shown = self.board[chosen, : BOARD_CARDS[street]]
                out[chosen] = _strengths(self.hole[chosen], shown)
        found = dict(zip(STRENGTHS, out.T, strict=True))
        ihs = found["hs"] ** self["opponents"]
        # On the river there is no potential.
        ehs = ihs + (1 - ihs) * np.where(self.street == 3, 0.0, found["ppot"])
        return found | {"ihs": ihs, "ehs": ehs}


def _strengths(holes: NDArray[np.uint8], boards: NDArray[np.uint8]) -> Column:
    """Strengths [n, 7], through a cache: the hand of several decisions on a street is computed
    once, also where they come in several batches, as at tables in lockstep."""
    both = np.concatenate([np.sort(holes, axis=1), boards], axis=1)
    marks = np.zeros(len(both), np.uint64)
    for card in both.T:
        marks = marks << np.uint64(6) | (card.astype(np.uint64) + np.uint64(1))
    place = (marks * _SPREAD >> np.uint64(64 - _LATELY_BITS)).astype(np.int64)
    out = _LATELY.rows[place]
    new = np.flatnonzero(_LATELY.marks[place] != marks)
    if len(new):
        _, first, again = np.unique(marks[new], return_index=True, return_inverse=True)
        some = new[first]
        compute = flop_strengths if boards.shape[1] == 3 else strengths
        found = compute(both[some, :2].copy(), both[some, 2:].copy())
        out[new] = found[again.reshape(-1)]
        _LATELY.marks[place[new]], _LATELY.rows[place[new]] = marks[new], out[new]
    return out


class _Lately(NamedTuple):
    """Cache of recent strengths: the cards of each entry as a number, and its strengths [.., 7]."""

    marks: NDArray[np.uint64]
    rows: NDArray[np.float64]


#: The cache has 2^17 places, several times the number of tables in lockstep.
_LATELY_BITS = 17
_LATELY = _Lately(
    np.zeros(1 << _LATELY_BITS, np.uint64), np.empty((1 << _LATELY_BITS, len(STRENGTHS)))
)
#: Odd multiplier that spreads marks over the places.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
