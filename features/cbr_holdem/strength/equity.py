"""Odds: how often each player wins, ties and loses when the rest of the board is dealt.

A player is a range: one hand, several hands, or any hand. All deals are counted where that is fast;
otherwise deals are sampled until the standard error of the first player's equity is small enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue
from cbr.jit import njit
from cbr_holdem.cards.evaluator import CARD_KEYS, EMPTY, strength_of_key
from cbr_holdem.cards.numbering import DECK, HANDS, Cards, cards, names, verify_distinct
from cbr_holdem.cards.ranges import hands_of
from cbr_holdem.chance import below, key, step

#: Most hand evaluations of an exact count; so many take about a second.
_CHEAP = 120_000_000
#: Joint deals of the players' hands are listed up to these numbers: up to the first if they are to
#: be counted, up to the second if only sampled. Beyond that each player's hand is sampled.
_MOST_JOINT, _FEW_JOINT = 2_000_000, 500_000
#: Deals sampled between two checks of the standard error.
_BATCH = 50_000


@dataclass(frozen=True)
class Odds:
    """Chances of one player; `standard_error` is that of the equity, 0 where `exact`."""

    win: float
    tie: float
    lose: float
    equity: float
    standard_error: float
    exact: bool
    deals: int


@dataclass(frozen=True, eq=False)
class Question:
    """Ranges of the players on a board, checked: `odds` computes the answer.

    `joint` are all ways to deal hands of these ranges [t, players, 2]; None if there are too many.
    """

    ranges: list[Cards]
    board: list[int]
    error: float
    joint: NDArray[np.uint8] | None

    def odds(self, seed: int = 1, most: int = 100_000_000) -> list[Odds]:
        """Odds of each player; at most `most` deals are sampled."""
        players = len(self.ranges)
        if self.joint is None:
            none = np.empty((0, players, 2), np.uint8)
            return _draw(self.ranges, none, self.board, self.error, seed, most)
        if len(self.joint) * _boards(players, self.board) * players <= _CHEAP:
            return _count(self.joint, self.board)
        return _draw(self.ranges, self.joint, self.board, self.error, seed, most)


def question(
    players: list[str], board: str = "", *, opponents: int = 0, error: float = 0.001
) -> Question:
    """The question of `odds`, checked before anything is compiled or computed."""
    table = cards(board, "board")
    if len(table) not in (0, 3, 4, 5):
        raise BadValue(f"a board has 0, 3, 4 or 5 cards, not {len(table)} ({names(table)})")
    count = len(players) + opponents
    if opponents < 0 or not players or not 2 <= count <= 10:
        raise BadValue(f"the number of players is {count}; it must be 2 to 10 (up to 9 opponents)")
    if not (math.isfinite(error) and error > 0):
        raise BadValue(f"the standard error to reach is {error}; it must be above 0")
    ranges = [_free(text, table) for text in players] + [_not_on(HANDS, table)] * opponents
    _verify_single_hands(ranges, table)
    least = _CHEAP // (_boards(count, table) * count)
    joint = _joint(ranges, min(_MOST_JOINT, max(_FEW_JOINT, least)))
    if joint is not None and not len(joint):
        raise BadValue("these ranges cannot be dealt together: they need the same cards")
    return Question(ranges, table, error, joint)


def odds(
    players: list[str],
    board: str = "",
    *,
    opponents: int = 0,
    error: float = 0.001,
    seed: int = 1,
    most: int = 100_000_000,
) -> list[Odds]:
    """Odds of each player (a range such as ``AhKs`` or ``TT+``) and of `opponents` more with random
    hands, on a board of 0, 3, 4 or 5 cards. At most `most` deals are sampled.

    >>> round(odds(["QsQh", "AcKc"])[0].equity, 6)
    0.537855
    """
    return question(players, board, opponents=opponents, error=error).odds(seed, most)


def _boards(players: int, board: list[int]) -> int:
    """The number of ways to complete a board."""
    return math.comb(DECK - 2 * players - len(board), 5 - len(board))


def _free(text: str, board: list[int]) -> Cards:
    hands = hands_of(text)
    free = _not_on(hands, board)
    if not len(free):
        verify_distinct([*hands[0].tolist(), *board], "hands and board")
        raise BadValue(f"every hand of {text!r} shares a card with the board")
    return free


def _not_on(hands: Cards, board: list[int]) -> Cards:
    return hands[~np.isin(hands, board).any(axis=1)]


def _verify_single_hands(ranges: list[Cards], board: list[int]) -> None:
    known = [int(card) for hands in ranges if len(hands) == 1 for card in hands[0]]
    verify_distinct([*known, *board], "hands and board")


def _joint(ranges: list[Cards], most: int) -> NDArray[np.uint8] | None:
    """Every way to deal hands of these ranges, [t, players, 2]; None if there are too many."""
    joint = ranges[0][:, None, :]
    for hands in ranges[1:]:
        if len(joint) * len(hands) > most:
            return None
        left, right = np.repeat(joint, len(hands), axis=0), np.tile(hands, (len(joint), 1))
        used = left.reshape(len(left), -1)
        clash = (used[:, :, None] == right[:, None, :]).any(axis=(1, 2))
        joint = np.concatenate([left, right[:, None, :]], axis=1)[~clash]
    return np.ascontiguousarray(joint)


class _Tally(NamedTuple):
    """Sums over deals for each player, [players]: deals won alone, deals tied, shares of the pot,
    and squares of these shares."""

    wins: NDArray[np.int64]
    ties: NDArray[np.int64]
    shares: NDArray[np.float64]
    squares: NDArray[np.float64]

    @classmethod
    def of(cls, players: int) -> _Tally:
        whole, parts = np.zeros((2, players), np.int64), np.zeros((2, players))
        return cls(*whole, *parts)

    def odds(self, player: int, error: float, deals: int, exact: bool) -> Odds:
        wins, ties = int(self.wins[player]), int(self.ties[player])
        lose, share = (deals - wins - ties) / deals, float(self.shares[player]) / deals
        return Odds(wins / deals, ties / deals, lose, share, error, exact, deals)

    def error(self, player: int, deals: int) -> float:
        """Standard error of a player's mean share."""
        mean = self.shares[player] / deals
        spread = max(0.0, self.squares[player] / deals - mean * mean)
        return math.sqrt(spread / max(1, deals - 1))


@njit
def _compare(keys: Any, hands: Any, board: Any, found: Any) -> None:
    """Write the strengths of all players' hands on a full board into found [players]."""
    for p in range(len(keys)):
        found[p] = strength_of_key(keys[p], hands[p], board)


@njit
def _add(found: Any, wins: Any, ties: Any, shares: Any, squares: Any) -> None:
    """Add one deal, with the strengths found [players], to the arrays of a tally."""
    best, many = found[0], 1
    for p in range(1, len(found)):
        if found[p] > best:
            best, many = found[p], 1
        elif found[p] == best:
            many += 1
    for p in range(len(found)):
        if found[p] == best:
            if many == 1:
                wins[p] += 1
            else:
                ties[p] += 1
            shares[p] += 1 / many
            squares[p] += 1 / (many * many)


@njit
def _next(places: Any, n: Any) -> Any:
    """Advance places [k] to the next combination of k numbers below n; False after the last."""
    k = len(places)
    i = k - 1
    while i >= 0 and places[i] == n - k + i:
        i -= 1
    if i < 0:
        return False
    places[i] += 1
    for j in range(i + 1, k):
        places[j] = places[j - 1] + 1
    return True


@njit
def _count_all(joint: Any, board: Any, tally: Any) -> Any:
    """Tally every completion of the board for every joint deal; returns the number of deals."""
    wins, ties, shares, squares = tally
    players = joint.shape[1]
    found = np.empty(players, np.int64)
    keys = np.empty(players, np.uint64)
    full = np.empty(5, np.uint8)
    left = np.empty(DECK, np.uint8)
    missing = 5 - len(board)
    deals = 0
    for t in range(len(joint)):
        used = np.zeros(DECK, np.bool_)
        base = EMPTY
        for i in range(len(board)):
            full[i] = board[i]
            used[board[i]] = True
            base += CARD_KEYS[board[i]]
        for p in range(players):
            used[joint[t, p, 0]] = True
            used[joint[t, p, 1]] = True
        count = 0
        for card in range(DECK):
            if not used[card]:
                left[count] = card
                count += 1
        places = np.arange(missing)
        more = True
        while more:
            board_key = base
            for i in range(missing):
                card = left[places[i]]
                full[len(board) + i] = card
                board_key += CARD_KEYS[card]
            for p in range(players):
                keys[p] = board_key + CARD_KEYS[joint[t, p, 0]] + CARD_KEYS[joint[t, p, 1]]
            _compare(keys, joint[t], full, found)
            _add(found, wins, ties, shares, squares)
            deals += 1
            more = _next(places, count)
    return deals


def _count(joint: NDArray[np.uint8], board: list[int]) -> list[Odds]:
    players = joint.shape[1]
    tally = _Tally.of(players)
    deals = _count_all(joint, np.array(board, np.uint8), tally)
    return [tally.odds(player, 0.0, deals, True) for player in range(players)]


@njit
def _any_card(state: Any, used: Any) -> Any:
    """Draw a card that is not used and mark it as used; returns the random state and the card."""
    while True:
        state = step(state)
        card = below(state, DECK)
        if not used[card]:
            used[card] = True
            return state, card


@njit
def _draw_some(
    hands: Any, start: Any, joint: Any, board: Any, seed: Any, first: Any, many: Any, tally: Any
) -> Any:
    """Sample deals first ... first + many - 1; the range of player p is
    hands[start[p]:start[p + 1]], empty for any hand.

    If `joint` lists all ways to deal the hands, one of them is drawn. Otherwise hands are drawn
    from the ranges independently, and again if a card occurs twice, so that all ways to deal them
    are equally likely; players with any hand then get cards that are left. Returns False if 10,000
    tries gave no deal.
    """
    wins, ties, shares, squares = tally
    players = len(start) - 1
    found = np.empty(players, np.int64)
    keys = np.empty(players, np.uint64)
    own = np.empty((players, 2), np.uint8)
    full = np.empty(5, np.uint8)
    base = EMPTY
    on_board = np.zeros(DECK, np.bool_)
    for i in range(len(board)):
        full[i] = board[i]
        on_board[board[i]] = True
        base += CARD_KEYS[board[i]]
    used = np.empty(DECK, np.bool_)
    for deal in range(first, first + many):
        state = key(seed, deal, 0, 0)
        tries = 0
        if len(joint):
            state = step(state)
            way = below(state, len(joint))
            for card in range(DECK):  # an assignment to `used[:]` takes numba seconds to compile
                used[card] = on_board[card]
            for p in range(players):
                for i in range(2):
                    own[p, i] = joint[way, p, i]
                    used[own[p, i]] = True
        while not len(joint) and tries < 10_000:
            tries += 1
            for card in range(DECK):
                used[card] = on_board[card]
            good = True
            for p in range(players):
                if start[p + 1] == start[p]:
                    continue
                state = step(state)
                at = start[p] + below(state, start[p + 1] - start[p])
                a, b = hands[at, 0], hands[at, 1]
                if used[a] or used[b]:
                    good = False
                    break
                used[a] = True
                used[b] = True
                own[p, 0], own[p, 1] = a, b
            if good:
                break
        if tries == 10_000:
            return False
        for p in range(players):
            if not len(joint) and start[p + 1] == start[p]:
                for i in range(2):
                    state, own[p, i] = _any_card(state, used)
        board_key = base
        for i in range(len(board), 5):
            state, full[i] = _any_card(state, used)
            board_key += CARD_KEYS[full[i]]
        for p in range(players):
            keys[p] = board_key + CARD_KEYS[own[p, 0]] + CARD_KEYS[own[p, 1]]
        _compare(keys, own, full, found)
        _add(found, wins, ties, shares, squares)
    return True


def _draw(
    ranges: list[Cards],
    joint: NDArray[np.uint8],
    board: list[int],
    error: float,
    seed: int,
    most: int,
) -> list[Odds]:
    players, table = len(ranges), np.array(board, np.uint8)
    every = math.comb(DECK - len(board), 2)
    lists = [hands if len(hands) < every else hands[:0] for hands in ranges]
    hands = np.concatenate(lists)
    start = np.cumsum([0] + [len(listed) for listed in lists])
    tally = _Tally.of(players)
    deals = 0
    while deals < most:
        many = min(_BATCH, most - deals)
        if not _draw_some(hands, start, joint, table, seed, deals, many, tally):
            raise BadValue("these ranges can hardly be dealt together: they need the same cards")
        deals += many
        if tally.error(0, deals) <= error:
            break
    return [
        tally.odds(player, tally.error(player, deals), deals, False) for player in range(players)
    ]


def warm_up() -> None:
    """Compile the code that `odds` uses, or load it from the cache."""
    odds(["AhAc", "KhKc"], "2c 3d 4h 5s 7d")
    odds(["AhAc"], opponents=1, error=1.0, most=1)
