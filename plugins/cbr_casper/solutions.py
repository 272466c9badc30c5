"""Solutions of hold'em cases: which are legal, and their moves in the abstraction and at the table.

A solution is f (fold), k (check), c (call), b (bet) or r (raise); in no-limit b and r have a size,
as in r1/2. In the abstraction and at the table, check and call are one move, and so are bet and
raise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cbr.typing import Flags, Floats, Ints
from cbr_arena import CALL, FOLD, RAISE
from cbr_holdem.situation import SHARES, SIZES, Pending, legal_solutions


def moves_of_solutions(solutions: Sequence[str]) -> list[int]:
    """The move of the abstraction for each solution.

    >>> moves_of_solutions(["f", "k", "c", "b", "r"]), moves_of_solutions(["rmin", "r1/2"])
    ([0, 1, 1, 2, 2], [2, 4])
    """
    kinds = {"f": FOLD, "k": CALL, "c": CALL}
    return [
        kinds.get(name[0], RAISE) + (SIZES.index(name[1:]) if name[1:] else 0) for name in solutions
    ]


def legal(situations: Pending, solutions: Sequence[str]) -> Flags:
    """`legal_solutions` of pending decisions, [n, solutions]."""
    preflop = situations.place[:, 0] == 0
    return legal_solutions(solutions, situations.call == 0, situations.raise_to > 0, preflop)


def triples(chances: Floats, solutions: Sequence[str]) -> Floats:
    """Chances of solutions [n, s] as triples of fold, call and raise [n, 3]."""
    found = np.zeros((len(chances), 3))
    # Term by term: a matrix product may round differently in a batch of another size.
    for place, kind in enumerate(_kinds(solutions)):
        found[:, kind] += chances[:, place]
    return found


def raise_amounts(
    chances: Floats, solutions: Sequence[str], situations: Pending, uniform: Floats
) -> Ints:
    """The amount to which a raise goes [n], if one is made: its size is drawn by `uniform` numbers
    [n] from the chances [n, s] of bets and raises."""
    raises = _kinds(solutions) == RAISE
    size = np.array([SHARES[SIZES.index(s[1:])] for s in np.array(solutions)[raises]])
    summed = chances[:, raises].cumsum(axis=1)
    place = (uniform[:, None] * summed[:, -1:] >= summed).sum(axis=1)
    return situations.raised_by(size[np.minimum(place, len(size) - 1)])


def actions_of(solutions: Sequence[str], situations: Pending) -> tuple[Ints, Ints]:
    """The action at the table in one situation for each solution, and the amount that a bet or
    raise goes to: [solutions] each."""
    share = np.array([SHARES[SIZES.index(s[1:])] if s[1:] else 0.0 for s in solutions])
    kinds, count = _kinds(solutions), len(solutions)
    to = situations.take(np.zeros(count, np.int64)).raised_by(share)
    return kinds, np.where(kinds == RAISE, to, 0)


def _kinds(solutions: Sequence[str]) -> Ints:
    """The action at the table for each solution: FOLD, CALL or RAISE."""
    return np.minimum(moves_of_solutions(solutions), RAISE)
