"""The CBR bot at the table: each decision asks the cases of its street what to do.

By default it is CASPER's heir: weights are the casebase's own (`cbr learn-weights` finds better
ones), and where cases know what their actions are worth (`cbr label`), it mixes what was done with
what it was worth. `style=casper` is CASPER as published: its features and similarities, its
hand-picked weights, all cases above 97 % similarity but at most 100, else the best 20; then an
action drawn by how often they took it.
"""

from __future__ import annotations

import warnings
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.casebase import Casebase
from cbr.errors import BadValue, NoSuchName
from cbr.spec import Spec
from cbr_arena import CALL, FOLD, RAISE, Chance, Triples
from cbr_casper.figures import Figures
from cbr_casper.label import moves
from cbr_casper.mixing import temperature_of
from cbr_casper.streets import Answer, Street
from cbr_casper.worlds import Worlds
from cbr_holdem.situation.actions import SHARES, SIZES
from cbr_holdem.situation.case_types import BETTING, LIMIT
from cbr_holdem.situation.pending import Pending
from cbr_holdem.situation.weights import HAND_PICKED
from cbr_holdem.table.game import STREETS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STYLES = ("heir", "casper")


class CaseBot:
    """Plays from the casebase in a file."""

    memory: np.dtype[Any] | None = None

    def __init__(
        self,
        file: str,
        style: str = "heir",
        weights: str = "",
        policy: str = "",
        reuse: str = "",
        index: str = "auto",
        threshold: float = 0.0,
        adapt: bool = True,
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
            if style == "heir":
                reuse = reuse or _best_reuse(base)
            elif base.domain == LIMIT:
                weights = weights or HAND_PICKED
            mixed = Spec.parse(reuse).name == "worth" if reuse else False
            self.worlds = Worlds.load(base) if adapt and mixed and style == "heir" else None
            self.streets = [
                Street(base, stage, reuse, weights=weights, policy=policy, index=index)
                for stage in STREETS
            ]
        self.figures = Figures()
        if self.worlds is not None:
            self.memory = np.dtype([("told", np.float64, len(self.worlds.value))])
            self.temperature = temperature_of(reuse)

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Triples:
        shares = np.zeros((situations.count, 3))
        to = np.zeros(situations.count, np.int64)
        drawn = None if self.games == ("limit",) else chance.random()
        gains = self._gains(situations, memory)
        for number, street in enumerate(self.streets):
            here = np.flatnonzero(situations.place[:, 0] == number)
            if len(here):
                some = situations.take(here)
                answer = street.answer(some, legal(some, street.solutions))
                if gains is not None:
                    answer = answer.tilted(gains[here][:, moves(street.solutions)])
                self.figures.add(STREETS[number], answer)
                shares[here] = triples(answer.chances, street.solutions)
                if drawn is not None:
                    to[here] = sizes(answer, street.solutions, some, drawn[here])
        return Triples(shares, to)

    def _gains(self, situations: Pending, memory: Any) -> Floats | None:
        """What moves are worth at this table more than at those of the casebase, as exponents."""
        if self.worlds is None or memory is None:
            return None
        self.terms = situations.game.terms
        likely = self.worlds.likely(memory["told"])
        gains: Floats = self.worlds.gains(situations.seen(), self.terms, likely) / self.temperature
        return gains

    def remember(self, tables: Ints, seats: Ints, memory: Any) -> None:
        if self.worlds is not None:
            told = memory["told"].copy()
            self.worlds.listen(tables, self.terms, seats, told)
            memory["told"] = told

    def explain(self, situations: Pending, memory: Any) -> str:
        """Why it acts as it does in one situation."""
        from cbr_casper.why import why

        street = self.streets[int(situations.place[0, 0])]
        return why(street, situations, legal(situations, street.solutions))


def _best_reuse(base: Casebase) -> str:
    """How an heir reuses cases: by their values too, where they have some."""
    bare = [stage for stage in base.stages if not base.valued(stage)]
    # Every process of a match builds the bot; one of them says it.
    if bare and parent_process() is None:
        where = "" if len(bare) == len(base.stages) else f" on the {bare[0]}"
        warnings.warn(
            f"{base.path} does not know what actions are worth, so the CBR bot imitates{where}; "
            f"`cbr label {base.path}` finds out",
            stacklevel=2,
        )
    return "" if len(bare) == len(base.stages) else "worth"


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
