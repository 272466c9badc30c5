"""The CBR bot at the table: each decision asks the cases of its street what to do.

`style=casper` is CASPER as published: its features and similarities, its hand-picked weights, all
cases above 97 % similarity but at most 100, else the best 20; then an action drawn by how often
they took it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.casebase import Casebase
from cbr.errors import BadValue, NoSuchName
from cbr_arena import CALL, FOLD, RAISE, Chance, Triples
from cbr_casper.figures import Figures
from cbr_casper.streets import Answer, Street
from cbr_holdem.situation.actions import SHARES, SIZES
from cbr_holdem.situation.case_types import BETTING
from cbr_holdem.situation.pending import Pending
from cbr_holdem.table.game import STREETS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STYLES = ("casper",)


class CaseBot:
    """Plays from the casebase in a file."""

    memory = None

    def __init__(
        self,
        file: str,
        style: str = "casper",
        weights: str = "",
        policy: str = "",
        reuse: str = "",
        index: str = "auto",
        threshold: float = 0.0,
    ) -> None:
        if style not in STYLES:
            raise NoSuchName("style of cbr", style, STYLES)
        if threshold and policy:
            raise BadValue("threshold is a part of policy; give one of them")
        if not 0.0 <= threshold <= 1.0:
            raise BadValue(f"threshold={threshold:g} must be from 0 to 1")
        if threshold:
            policy = f"threshold?above={threshold}&cap=100&fallback=20"
        # In a spec inside a spec, ; stands for &.
        policy, reuse, index = (text.replace(";", "&") for text in (policy, reuse, index))
        with Casebase.open(Path(str(file))) as base:
            if base.domain not in BETTING:
                raise BadValue(f"{file} is a casebase of {base.domain!r}, not of hold'em")
            self.games = (BETTING[base.domain],)
            self.streets = [
                Street(base, stage, reuse, weights=weights, policy=policy, index=index)
                for stage in STREETS
            ]
        self.figures = Figures()

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Triples:
        shares = np.zeros((situations.count, 3))
        to = np.zeros(situations.count, np.int64)
        drawn = None if self.games == ("limit",) else chance.random()
        for number, street in enumerate(self.streets):
            here = np.flatnonzero(situations.place[:, 0] == number)
            if len(here):
                some = situations.take(here)
                answer = street.answer(some, legal(some, street.solutions))
                self.figures.add(STREETS[number], answer)
                shares[here] = triples(answer.chances, street.solutions)
                if drawn is not None:
                    to[here] = sizes(answer, street.solutions, some, drawn[here])
        return Triples(shares, to)


def kinds(solutions: Any) -> Ints:
    """What each solution is for the table: FOLD, CALL or RAISE."""
    return np.array([{"f": FOLD, "k": CALL, "c": CALL}.get(s[0], RAISE) for s in solutions])


def legal(situations: Pending, solutions: Any) -> NDArray[np.bool_]:
    """Which solutions are legal in each situation, [n, solutions]."""
    free, may_raise = situations.call == 0, situations.raise_to > 0
    # The big blind is a bet, so whoever may check before the flop raises.
    bets = free & (situations.place[:, 0] > 0)
    by_letter = {
        "f": ~free,
        "k": free,
        "c": ~free,
        "b": bets & may_raise,
        "r": ~bets & may_raise,
    }
    return np.stack([by_letter[solution[0]] for solution in solutions], axis=1)


def triples(chances: Floats, solutions: Any) -> Floats:
    """Chances of solutions [n, s] as triples of fold, call and raise [n, 3]."""
    return chances @ np.eye(3)[kinds(solutions)]


def sizes(answer: Answer, solutions: Any, situations: Pending, drawn: Floats) -> Ints:
    """What a raise goes to [n]: a size drawn by the chances of bets and raises of each."""
    raises = kinds(solutions) == RAISE
    size = np.array([SHARES[SIZES.index(s[1:])] for s in np.array(solutions)[raises]])
    chances = answer.chances[:, raises].cumsum(axis=1)
    place = (drawn[:, None] * chances[:, -1:] >= chances).sum(axis=1)
    return situations.raised_by(size[np.minimum(place, len(size) - 1)])
