"""CaseBot, the CBR bot: each decision is made from the cases of its street.

By default weights are the casebase's own (`cbr learn-weights` finds better ones), and where cases
have values (`cbr label`), the bot mixes imitation with values and adapts to the table.
`style=casper` is CASPER as published: its features and similarities, its hand-picked weights, all
cases above 97 % similarity but at most 100, or the best 20 if there are none; then an action is
drawn by how often these cases took it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import numpy as np

from cbr import BadValue, Casebase, Weights
from cbr.errors import NoSuchName
from cbr.plugging import default_plugins
from cbr.spec import Spec
from cbr.store import case_types_of, verify_solutions
from cbr.typing import Flags, Ints
from cbr_arena import Analysis, Chance, Triples
from cbr_casper.acting import Part, act_by_parts, size_draws
from cbr_casper.figures import Figures
from cbr_casper.options import EMPTY, BotOptions
from cbr_casper.retention.beginner import Beginner
from cbr_casper.retention.combined_retrieval import RetainingStreet
from cbr_casper.retention.session_cases import TICKET, Retention, Session
from cbr_casper.solutions import actions_of, legal, moves_of_solutions
from cbr_casper.streets import ActionChances, Street, TableBelief
from cbr_casper.values.table_models import TableModels
from cbr_casper.values.value_reuse import temperature_of
from cbr_holdem.situation import BETTING, HAND_PICKED, LIMIT, Pending
from cbr_holdem.table import STREETS

#: With values by table models from fewer hands, the bot plays worse than by imitation.
_FEW = 300


@dataclass(eq=False)
class CaseBot(BotOptions):
    """A bot that plays from the casebase in a file, or starts without cases."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.figures = Figures()
        self.terms: Ints | None = None
        self.table_models: TableModels | None = None
        self.retention: Retention | None = None
        self.memory: np.dtype[Any] | None = None
        self.games: tuple[str, ...]
        self.streets: Sequence[Any]  # of Street or Beginner
        if self.file == EMPTY:
            self._start_without_cases()
        else:
            self._start_from_casebase()

    def _start_without_cases(self) -> None:
        game = self.game or "limit"
        if game not in BETTING.values():
            raise NoSuchName("game of cbr", game, BETTING.values())
        self.games = (game,)
        domain = next(domain for domain, betting in BETTING.items() if betting == game)
        case_types = case_types_of(domain, default_plugins())
        self.streets = [
            Beginner(case_type, self.weights, self.threshold) for case_type in case_types
        ]
        self.retention = Retention.of(case_types, self.retain or "session")
        self.memory = np.dtype([TICKET])

    def _start_from_casebase(self) -> None:
        with Casebase.open(Path(str(self.file))) as base:
            if base.domain not in BETTING:
                raise BadValue(f"{self.file} is a casebase of {base.domain!r}, not of hold'em")
            verify_solutions(base, default_plugins())
            self.games = (BETTING[base.domain],)
            weights: str | Weights = self.weights
            reuse = self.reuse
            if self.style == "cbr":
                learned = bool(self.weights) or _has_learned_weights(base)
                reuse = reuse or _best_reuse(base, learned)
            elif not weights:
                weights = HAND_PICKED if base.domain == LIMIT else _default_weights(base)
            mixed = Spec.parse(reuse).name == "worth" if reuse else False
            if self.adapt and mixed and self.style == "cbr":
                self.table_models = TableModels.for_adaptation(base)
            options: dict[str, Any] = {
                "weights": weights,
                "policy": self.policy,
                "index": self.index,
                # Where folds are hidden, cases are biased to good hands; table models are not.
                "sparse": "proportional" if self.table_models is not None else "",
            }
            self.streets = [
                RetainingStreet(base, stage, reuse, self.own, **options)
                if self.retain
                else Street(base, stage, reuse, **options)
                for stage in STREETS
            ]
        remembered: list[Any] = []
        if self.table_models is not None:
            remembered.append(("log_likelihood", np.float64, len(self.table_models.value)))
            self.temperature = temperature_of(reuse)
        if self.retain:
            case_types = [street.case_type for street in self.streets]
            self.retention = Retention.of(case_types, self.retain)
            remembered.append(TICKET)
        self.memory = np.dtype(remembered) if remembered else None

    def doubts(self, seats: int) -> str:
        """A warning if no cases are from tables with about this number of seats, else ""."""
        known = [street.table_sizes for street in self.streets[:1] if isinstance(street, Street)]
        alike = {_size_class(size) for sizes in known for size in sizes}
        if not known or _size_class(seats) in alike:
            return ""
        sizes = ", ".join(str(size) for size in sorted(known[0]))
        return (
            f"{self.file} has cases of tables with {sizes} players and none like {seats}, so the "
            "CBR bot takes the nearest it has"
        )

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Triples:
        uniform = size_draws(self.games, chance)
        sessions: list[Session] = []
        if self.retention is not None and memory is not None:
            sessions = self.retention.sessions(memory, situations.game, chance)
        return act_by_parts(situations, uniform, self._parts(situations, memory, sessions))

    def _parts(self, situations: Pending, memory: Any, sessions: list[Session]) -> Iterator[Part]:
        """The decisions of each street."""
        for number, street in enumerate(self.streets):
            places = np.flatnonzero(situations.place[:, 0] == number)
            yield Part(places, street, partial(self._decide_street, number, memory, sessions))

    def _decide_street(
        self,
        number: int,
        memory: Any,
        sessions: list[Session],
        situations: Pending,
        allowed: Flags,
        places: Ints,
    ) -> ActionChances:
        """Chances of decisions, adapted to their tables; `places` index memory and sessions."""
        street = self.streets[number]
        mine = [sessions[place] for place in places if sessions]
        decided: ActionChances = _decide(street, situations, allowed, mine)
        belief = self._belief(situations, memory[places] if memory is not None else None, street)
        if belief is not None:
            decided = decided.adapted_to(belief)
        self.figures.add(STREETS[number], decided)
        return decided

    def _belief(self, situations: Pending, memory: Any, street: Any) -> TableBelief | None:
        """The belief about the tables of decisions on a street; None if the bot does not adapt."""
        if self.table_models is None or memory is None:
            return None
        self.terms = situations.game.terms
        posterior = self.table_models.posterior(memory["log_likelihood"])
        values = self.table_models.weighted_values(situations.seen(), self.terms, posterior)
        values = values[..., moves_of_solutions(street.solutions)]
        return TableBelief(posterior, values, self.temperature)

    def remember(self, tables: Ints, seats: Ints, memory: Any) -> None:
        if (
            self.table_models is not None and self.terms is not None
        ):  # None: it made no decision yet
            log_likelihood = memory["log_likelihood"].copy()
            self.table_models.observe(tables, self.terms, seats, log_likelihood)
            memory["log_likelihood"] = log_likelihood
        if self.retention is not None:
            self.retention.remember(tables, seats, memory)

    def explain(self, situations: Pending, memory: Any, chance: Chance) -> Analysis:
        """The explanation of its decision in one situation."""
        from cbr_casper.explanation import explain_decision, values_of

        street = self.streets[int(situations.place[0, 0])]
        allowed, sessions, why = legal(situations, street.solutions), list[Session](), []
        if self.retention is not None and memory is not None:
            sessions = self.retention.sessions(memory.copy(), situations.game)
            why.append(street.explain_in(sessions[0], situations, allowed))
        decided = _decide(street, situations, allowed, sessions)
        values = np.full(len(street.solutions), np.nan)
        if not isinstance(street, Beginner):
            belief, table_says = self._belief(situations, memory, street), ""
            if belief is not None and self.table_models is not None:
                decided = decided.adapted_to(belief)
                table_says = self.table_models.describe(belief.posterior[0])
            values = values_of(decided, belief)
            why = [explain_decision(street, decided, allowed[0], belief, table_says), *why]
        kind, to = actions_of(street.solutions, situations)
        legal_here = allowed[0]
        return Analysis(
            why="\n".join(filter(None, why)),
            kind=kind[legal_here],
            to=to[legal_here],
            chance=decided.chances[0, legal_here],
            value=values[legal_here],
        )


def _decide(street: Any, situations: Pending, allowed: Flags, sessions: list[Session]) -> Any:
    """Chances by the cases of a street: `CaseChances`, or `ActionChances` of a `Beginner`."""
    if sessions:
        return street.decide_in(sessions, situations, allowed)
    return street.decide(situations, allowed)


def _best_reuse(base: Casebase, learned: bool) -> str:
    """The reuse policy of the CBR bot: `worth` in limit, where cases have values, else the default.
    It warns if the casebase has no learned weights or values. In no-limit too little is known about
    how opponents respond to each size, and imitation won more.
    """
    limit = BETTING[base.domain] == "limit"
    rough = TableModels.from_fewer_hands(base, _FEW)
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
    # Every process of a match builds the bot; only the first warns.
    if lacks and parent_process() is None:
        warnings.warn(f"{base.path} has no {' and no '.join(lacks)}", stacklevel=1)
    if not limit or len(bare) == len(base.stages):
        return ""
    return "worth"


def _default_weights(base: Casebase) -> Weights:
    """The default weights of a casebase's case types, not those set in the casebase."""
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
    """Whether the weights of any stage differ from the defaults of its case type."""
    usual = _default_weights(base).stages
    return any(
        feature.weight != usual[own.stage][feature.name]
        for own in base.case_types
        for feature in own.indexed
    )


def _size_class(seats: int) -> int:
    """CASPER's classes of table sizes: 2, 3 to 4, 5 to 7, and more players."""
    return int(np.searchsorted([3, 5, 8], seats, "right"))
