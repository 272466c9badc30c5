"""The CBR bot at the table: each decision asks the cases of its street what to do.

By default it is CASPER's heir: weights are the casebase's own (`cbr learn-weights` finds better
ones), and where cases know what their actions are worth (`cbr label`), it mixes what was done with
what it was worth. `style=casper` is CASPER as published: its features and similarities, its
hand-picked weights, all cases above 97 % similarity but at most 100, else the best 20; then an
action drawn by how often they took it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue, Casebase, Weights
from cbr.errors import NoSuchName
from cbr.plugging import default_plugins
from cbr.spec import Spec, unnest
from cbr.store import case_types_of
from cbr.typing import Floats, Ints
from cbr_arena import RAISE, Chance, Triples
from cbr_casper.figures import Figures
from cbr_casper.retention.beginner import EMPTY, UNSET, Beginner
from cbr_casper.retention.combined_retrieval import OWN, LearningStreet
from cbr_casper.retention.session_cases import TICKET, Learning, Session
from cbr_casper.streets import Chances, Here, Street
from cbr_casper.values.table_models import Worlds
from cbr_casper.values.value_reuse import temperature_of
from cbr_holdem.situation import BETTING, HAND_PICKED, LIMIT, SHARES, SIZES, Pending
from cbr_holdem.table import STREETS
from cbr_opponents.abstraction import moves_of_solutions

STYLES = ("heir", "casper")
#: Values that were found from fewer hands are worse than imitation.
_FEW = 300


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
        threshold: float = UNSET,
        adapt: bool = True,
        retain: str = "",
        own: float = OWN,
        game: str = "",
    ) -> None:
        if style not in STYLES:
            raise NoSuchName("style of cbr", style, STYLES)
        given = threshold != UNSET
        if given and policy:
            raise BadValue("threshold is a part of policy; give one of them")
        if given and not 0.0 <= threshold <= 1.0:
            raise BadValue(f"threshold={threshold:g} must be from 0 to 1")
        if given:
            policy = f"threshold?above={threshold}&cap=100&fallback=20"
        # In a spec inside a spec, ; stands for &.
        policy, reuse, index = map(unnest, (policy, reuse, index))
        self.file = file
        self.figures = Figures()
        self.terms: Ints | None = None
        self.worlds: Worlds | None = None
        self.learning: Learning | None = None
        self.streets: Sequence[Any]  # of Street or Beginner
        if file == EMPTY:
            others = reuse or style != STYLES[0] or index != "auto" or own != OWN or not adapt
            if (policy and not given) or others:
                raise BadValue(
                    "cbr:empty has no style, policy, reuse, index, own and adapt: it tries what "
                    "earns most"
                )
            self._begin_with_nothing(game or "limit", retain or "session", weights, threshold)
            return
        if game:
            raise BadValue(f"{file} has its game; game={game} is for cbr:empty")
        if own != OWN and not retain:
            raise BadValue(f"own={own:g} is how much retained cases count; give retain=session too")
        with Casebase.open(Path(str(file))) as base:
            if base.domain not in BETTING:
                raise BadValue(f"{file} is a casebase of {base.domain!r}, not of hold'em")
            self.games = (BETTING[base.domain],)
            chosen: str | Weights = weights
            if style == "heir":
                reuse = reuse or _best_reuse(base, bool(weights) or _has_learned_weights(base))
            else:
                chosen = weights or (HAND_PICKED if base.domain == LIMIT else _by_default(base))
            mixed = Spec.parse(reuse).name == "worth" if reuse else False
            if adapt and mixed and style == "heir":
                self.worlds = Worlds.to_adapt_by(base)
            # Where hands that fold are hidden, cases are of good ones; the grid knows all.
            sparse = "proportional" if self.worlds is not None else ""
            options: dict[str, Any] = {
                "weights": chosen,
                "policy": policy,
                "index": index,
                "sparse": sparse,
            }
            self.streets = [
                LearningStreet(base, stage, reuse, own, **options)
                if retain
                else Street(base, stage, reuse, **options)
                for stage in STREETS
            ]
        kept: list[Any] = []
        if self.worlds is not None:
            kept.append(("told", np.float64, len(self.worlds.value)))
            self.temperature = temperature_of(reuse)
        if retain:
            self.learning = Learning.of([street.case_type for street in self.streets], retain)
            kept.append(TICKET)
        self.memory = np.dtype(kept) if kept else None

    def _begin_with_nothing(self, game: str, retain: str, weights: str, threshold: float) -> None:
        if game not in BETTING.values():
            raise NoSuchName("game of cbr", game, BETTING.values())
        self.games = (game,)
        domain = next(domain for domain, betting in BETTING.items() if betting == game)
        case_types = case_types_of(domain, default_plugins())
        self.streets = [Beginner(case_type, weights, threshold) for case_type in case_types]
        self.learning = Learning.of(case_types, retain)
        self.memory = np.dtype([TICKET])

    def doubts(self, seats: int) -> str:
        """What it would say of a table with so many seats: none of its cases may be like it."""
        known = [street.table_sizes for street in self.streets[:1] if isinstance(street, Street)]
        alike = {_crowd(size) for sizes in known for size in sizes}
        if not known or _crowd(seats) in alike:
            return ""
        sizes = ", ".join(str(size) for size in sorted(known[0]))
        return (
            f"{self.file} has cases of tables with {sizes} players and none like {seats}, so the "
            "CBR bot takes the nearest it has"
        )

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Triples:
        shares = np.zeros((situations.count, 3))
        to = np.zeros(situations.count, np.int64)
        drawn = None if self.games == ("limit",) else chance.random()
        sessions: list[Session] = []
        if self.learning is not None and memory is not None:
            sessions = self.learning.sessions(memory, situations.game, chance)
        for number, street in enumerate(self.streets):
            here = np.flatnonzero(situations.place[:, 0] == number)
            if len(here):
                some = situations.take(here)
                answer = self._answer(street, some, [sessions[at] for at in here if sessions])
                table = self._here(some, memory[here] if memory is not None else None, street)
                if table is not None:
                    answer = answer.at(table)
                self.figures.add(STREETS[number], answer)
                shares[here] = triples(answer.chances, street.solutions)
                if drawn is not None:
                    to[here] = sizes(answer, street.solutions, some, drawn[here])
        return Triples(shares, to)

    def _answer(self, street: Any, situations: Pending, sessions: list[Session]) -> Any:
        """What the cases of a street say, as an `Answer`; a `Beginner` has `Chances` only."""
        may = legal(situations, street.solutions)
        if sessions:
            return street.answer_in(sessions, situations, may)
        return street.answer(situations, may)

    def _here(self, situations: Pending, memory: Any, street: Any) -> Here | None:
        """What is known of the tables of decisions on a street."""
        if self.worlds is None or memory is None:
            return None
        self.terms = situations.game.terms
        likely = self.worlds.likely(memory["told"])
        worth = self.worlds.worth(situations.seen(), self.terms, likely)
        return Here(likely, worth[..., moves_of_solutions(street.solutions)], self.temperature)

    def remember(self, tables: Ints, seats: Ints, memory: Any) -> None:
        if self.worlds is not None and self.terms is not None:  # else it was never asked
            told = memory["told"].copy()
            self.worlds.listen(tables, self.terms, seats, told)
            memory["told"] = told
        if self.learning is not None:
            self.learning.remember(tables, seats, memory)

    def explain(self, situations: Pending, memory: Any) -> str:
        """Why it acts as it does in one situation."""
        from cbr_casper.explanation import why

        street, more = self.streets[int(situations.place[0, 0])], ""
        may, sessions = legal(situations, street.solutions), list[Session]()
        if self.learning is not None and memory is not None:
            sessions = self.learning.sessions(memory.copy(), situations.game)
            more = street.explain_in(sessions[0], situations, may)
        if isinstance(street, Beginner):
            return more
        answer = self._answer(street, situations, sessions)
        here, seems = self._here(situations, memory, street), ""
        if here is not None and self.worlds is not None:
            answer = answer.at(here)
            seems = self.worlds.said(here.likely[0])
        said = why(street, answer, may[0], here, seems)
        return "\n".join(filter(None, [said, more]))


def _best_reuse(base: Casebase, learned: bool) -> str:
    """How an heir reuses cases: in limit by their values too, where it has some; it says what it
    lacks. In no-limit what others do about a size is known too little, and imitation won more."""
    limit = BETTING[base.domain] == "limit"
    rough = Worlds.fewer_hands(base, _FEW)
    bare = [stage for stage in base.stages if rough or not base.valued(stage)]
    lacks = []
    if not learned:
        lacks.append("learned weights (`cbr learn-weights`, then `cbr weights set`)")
    if rough and limit:
        lacks.append(
            f"values found from {_FEW} hands or more, so the CBR bot imitates (build a longer log "
            "into it, then `cbr label`)"
        )
    elif bare and limit:
        where = "" if len(bare) == len(base.stages) else f" of the {bare[0]}"
        lacks.append(f"values{where}, so the CBR bot imitates (`cbr label` estimates them)")
    # Every process of a match builds the bot; one of them says it.
    if lacks and parent_process() is None:
        warnings.warn(f"{base.path} has no {' and no '.join(lacks)}", stacklevel=1)
    if not limit or len(bare) == len(base.stages):
        return ""
    return "worth"


def _by_default(base: Casebase) -> Weights:
    """The weights that a casebase would have if nobody had set any."""
    usual = {
        one.stage: {feature.name: feature.weight for feature in one.indexed}
        for one in case_types_of(base.domain, default_plugins())
    }
    stages = {
        own.stage: {f.name: usual[own.stage].get(f.name, f.weight) for f in own.indexed}
        for own in base.case_types
    }
    return Weights(stages, base.domain)


def _has_learned_weights(base: Casebase) -> bool:
    """Whether any stage has other weights than it would have without learning."""
    usual = _by_default(base).stages
    return any(
        feature.weight != usual[own.stage][feature.name]
        for own in base.case_types
        for feature in own.indexed
    )


def _crowd(seats: int) -> int:
    """Tables that CASPER takes for alike: of 2, of 3 and 4, of 5 to 7, and larger ones."""
    return int(np.searchsorted([3, 5, 8], seats, "right"))


def kinds(solutions: Any) -> Ints:
    """What each solution is for the table: FOLD, CALL or RAISE."""
    return np.minimum(moves_of_solutions(solutions), RAISE)


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
    found = np.zeros((len(chances), 3))
    # Term by term: a product of matrices may be rounded otherwise in other company.
    for place, kind in enumerate(kinds(solutions)):
        found[:, kind] += chances[:, place]
    return found


def sizes(answer: Chances, solutions: Any, situations: Pending, drawn: Floats) -> Ints:
    """What a raise goes to [n]: a size drawn by the chances of bets and raises of each."""
    raises = kinds(solutions) == RAISE
    size = np.array([SHARES[SIZES.index(s[1:])] for s in np.array(solutions)[raises]])
    chances = answer.chances[:, raises].cumsum(axis=1)
    place = (drawn[:, None] * chances[:, -1:] >= chances).sum(axis=1)
    return situations.raised_by(size[np.minimum(place, len(size) - 1)])
