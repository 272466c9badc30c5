"""The game: betting structure, blinds, bet sizes and set of rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue
from cbr.errors import NoSuchName

MOST_SEATS = 10
#: Payoffs are kept in small parts of a chip, and must not overflow.
MOST_CHIPS = 10**13
#: A stack that the log of a no-limit hand does not tell. Nobody has that much, and nobody loses it.
UNKNOWN_STACK = MOST_CHIPS
STREETS = ("preflop", "flop", "turn", "river")
#: Cards on the board on each street.
BOARD_CARDS = (0, 3, 4, 5)
BETTING = ("limit", "nolimit", "potlimit")
RULES = ("casino", "acpc")


# The terms of a game as compiled code reads them: whole numbers in one row.
LIMIT, POT_LIMIT, ACPC = 0, 1, 2
SMALL_BLIND, BIG_BLIND, ANTE = 3, 4, 5
BET_SIZES = 6  # for each street: the bet in limit, the least bet else
MOST_RAISES = 10  # for each street

Terms = NDArray[np.int64]
#: Raises of a round where there is no cap.
_NO_CAP = 10**6


@dataclass(frozen=True)
class Game:
    """Texas Hold'em. Chips are whole numbers.

    `bet_sizes` are the bets of the four streets in limit (default: big blind, from the turn twice).
    `cap` is the number of bets in a limit round, the big blind being the first; None is no cap.
    `rules`: ``casino`` (a short all-in does not reopen the betting, odd chips stay whole) or
    ``acpc``, as at the competition's dealer (it does, and a pot is split into fractions).
    """

    betting: str = "limit"
    small_blind: int = 5
    big_blind: int = 10
    ante: int = 0
    bet_sizes: Sequence[int] | None = None
    cap: int | None = 4
    rules: str = "casino"

    def __post_init__(self) -> None:
        if self.betting not in BETTING:
            raise NoSuchName("betting", self.betting, BETTING)
        if self.rules not in RULES:
            raise NoSuchName("set of rules", self.rules, RULES)
        amounts = [self.small_blind, self.big_blind, self.ante, *(self.bet_sizes or ())]
        for amount in [*amounts, *([] if self.cap is None else [self.cap])]:
            if not isinstance(amount, int | np.integer) or isinstance(amount, bool):
                raise BadValue(f"{amount!r} in a game is not a whole number of chips")
        if not 0 <= self.small_blind <= self.big_blind or self.big_blind <= 0:
            raise BadValue(
                f"blinds are {self.small_blind} and {self.big_blind}; it must be 0 <= small <= big "
                "and big > 0"
            )
        if not 0 <= self.ante <= MOST_CHIPS or self.big_blind > MOST_CHIPS:
            raise BadValue(f"the ante is {self.ante}; it must be 0 to {MOST_CHIPS:,}, as blinds")
        if self.cap is not None and self.cap < 1:
            raise BadValue(f"the cap is {self.cap} bets; it must be 1 or more")
        if self.bet_sizes is not None:
            object.__setattr__(self, "bet_sizes", tuple(self.bet_sizes))
        if self.bet_sizes is not None and (len(self.bet_sizes) != 4 or min(self.bet_sizes) <= 0):
            raise BadValue(f"bet sizes are {list(self.bet_sizes)}; give four above 0")

    @classmethod
    def of_terms(cls, terms: Terms) -> Game:
        """The game with these terms.

        >>> Game.of_terms(Game("nolimit", cap=None).terms) == Game("nolimit", cap=None)
        True
        """
        limit = bool(terms[LIMIT])
        betting = "limit" if limit else ("potlimit" if terms[POT_LIMIT] else "nolimit")
        most = int(terms[MOST_RAISES + 1])
        return cls(
            betting,
            int(terms[SMALL_BLIND]),
            int(terms[BIG_BLIND]),
            int(terms[ANTE]),
            tuple(terms[BET_SIZES : BET_SIZES + 4].tolist()) if limit else None,
            most if limit and most < _NO_CAP else None,
            "acpc" if terms[ACPC] else "casino",
        )

    @property
    def terms(self) -> Terms:
        limit = self.betting == "limit"
        big = self.big_blind
        sizes = (self.bet_sizes or (big, big, 2 * big, 2 * big)) if limit else (big,) * 4
        # The big blind is the first bet before the flop, so one raise less is left there.
        most = _NO_CAP if self.cap is None or not limit else self.cap
        raises = [most - 1 if limit and self.cap else most, most, most, most]
        kind = [limit, self.betting == "potlimit", self.rules == "acpc"]
        blinds = [self.small_blind, big, self.ante]
        return np.array([*kind, *blinds, *sizes, *raises], np.int64)


def seating(button: int, players: int) -> list[int]:
    """The player in each seat when player `button` has the button; it moves on by one each hand.

    >>> seating(0, 3), seating(1, 3)
    ([1, 2, 0], [2, 0, 1])
    """
    if not 2 <= players <= MOST_SEATS or not 0 <= button < players:
        raise BadValue(f"button {button} of {players} players; a table has 2 to {MOST_SEATS}")
    return [(button + 1 + seat) % players for seat in range(players)]


def verify_stacks(stacks: NDArray[np.int64]) -> None:
    """Check that tables can be played with stacks [tables, seats]."""
    if stacks.ndim != 2 or not 2 <= stacks.shape[1] <= MOST_SEATS:
        seats = stacks.shape[1] if stacks.ndim == 2 else stacks.shape
        raise BadValue(f"{seats} players; a table has 2 to {MOST_SEATS}")
    if (stacks <= 0).any():
        raise BadValue(f"a stack is {int(stacks.min())}; it must be above 0")
    if (stacks > MOST_CHIPS).any():
        raise BadValue(f"a stack is {int(stacks.max())}; it must be at most {MOST_CHIPS:,}")
