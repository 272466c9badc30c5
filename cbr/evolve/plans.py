"""Plans: the settings of a search for weights. A plugin may add more (hook `cbr_plans`).

A plan belongs to one of two methods. `Generational` is the classic genetic algorithm: parents are
selected by rank, crossed and mutated, in several runs whose winners start further runs. `Racing`
spends most trials on the best individuals: see `cbr.evolve.racing`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from cbr.errors import BadValue, NoSuchName
from cbr.plugging.plugins import Plugins, default_plugins

#: The most rounds of a race: the last then has 2^9 times the trials of the first.
_ROUNDS = 10
SELECTIONS = ("rank", "tournament", "best")
CROSSOVERS = ("one-point", "two-point", "uniform")


@dataclass(frozen=True)
class Plan:
    """Settings of both methods. `trials` are those of a row in a generation (in its first round, if
    there are several), `runs` is the number of searches started, `arena` the spec of the default
    arena, `report` the number of fresh trials of each set of weights at the end.

    `published` are figures of the publication that first used this plan, shown beside ours: lines
    of a table, and numbers by name in the arena's unit.
    """

    name: str
    meaning: str = ""
    population: int = 24
    generations: int = 20
    trials: int = 2_000
    runs: int = 1
    report: int = 20_000
    arena: str = ""
    together: bool = False
    published: Mapping[str, Any] = field(default_factory=dict)

    kind: ClassVar[str] = "plan"
    method: ClassVar[str] = ""

    def __post_init__(self) -> None:
        least_of = {"population": 2, "generations": 1, "trials": 1, "runs": 1, "report": 1}
        for name, least in least_of.items():
            if getattr(self, name) < least:
                raise BadValue(
                    f"{name} of plan {self.name!r} is {getattr(self, name)}; it must be at least "
                    f"{least}"
                )

    def rounds_of_runs(self) -> list[int]:
        """The number of runs in each round: winners of one round start the next, until one is left.

        >>> Plan("p", population=3, runs=9).rounds_of_runs()
        [9, 3, 1]
        """
        found = [self.runs]
        while found[-1] > 1:
            found.append(-(-found[-1] // self.population))
        return found

    def settings(self) -> dict[str, Any]:
        """The fields that determine the search, in JSON types; without `report`, which does not."""
        told = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {"method": self.method} | {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in told.items()
            if name not in {"meaning", "published", "report"}
        }

    def changed(self, changes: Mapping[str, object]) -> Plan:
        """The same plan with other values of some fields, given as text or in their types."""
        fields = {f.name: f for f in dataclasses.fields(self)}
        fixed = {"name", "meaning", "published", "arena", "together"}
        known = [name for name in fields if name not in fixed]
        new: dict[str, Any] = {}
        for name, value in changes.items():
            if name not in known:
                raise NoSuchName(f"setting of plan {self.name!r}", name, known)
            new[name] = _like(name, getattr(self, name), value)
        return dataclasses.replace(self, **new)


def _like(name: str, now: Any, given: object) -> Any:
    """A given value, converted to the type of the field's current value."""
    if not isinstance(given, str):
        return given
    try:
        if isinstance(now, tuple):
            return tuple(float(part) for part in given.split("/") if part)
        return given if isinstance(now, str) else type(now)(given)
    except ValueError:
        kind = "numbers with / between them" if isinstance(now, tuple) else "a number"
        kind = "a whole number" if isinstance(now, int) else kind
        raise BadValue(f"{name}={given} must be {kind}") from None


@dataclass(frozen=True)
class Generational(Plan):
    """Copies, and children of pairs of distinct parents, selected with replacement; then mutation.

    `chances` are relative probabilities of selection, from the worst to the best; empty: 1, 2, 3
    ... Crossover is done inside each stage. `mutations` individuals, and each other one with
    `mutation_chance`, have one gene drawn again. The first generation is random: whole numbers from
    0 to 100. The winners of `population` runs start a further run, until one run is left.
    """

    copies: int = 3
    pairs: int = 3
    mutations: int = 1
    mutation_chance: float = 0.0
    selection: str = "rank"
    crossover: str = "one-point"
    chances: tuple[float, ...] = ()

    method: ClassVar[str] = "generational"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.copies + 2 * self.pairs != self.population or min(self.copies, self.pairs) < 0:
            raise BadValue(
                f"{self.copies} copies and {self.pairs} pairs with two children each make "
                f"{self.copies + 2 * self.pairs} individuals, not a population of "
                f"{self.population}; change them with --set copies=...,pairs=..."
            )
        for what, known in (("selection", SELECTIONS), ("crossover", CROSSOVERS)):
            if getattr(self, what) not in known:
                raise NoSuchName(what, getattr(self, what), known)
        if not 0.0 <= self.mutation_chance <= 1.0 or not 0 <= self.mutations <= self.population:
            raise BadValue(
                f"mutation_chance={self.mutation_chance:g} must be from 0 to 1, mutations="
                f"{self.mutations} from 0 to {self.population}"
            )
        if self.chances and (
            len(self.chances) != self.population
            or not all(0.0 <= chance <= 1e9 for chance in self.chances)
            or sum(chance > 0 for chance in self.chances) < 2
        ):
            raise BadValue(
                f"chances must be {self.population} numbers of 0 or more, from the worst to the "
                "best, two of them above 0 and none above 1e9"
            )


@dataclass(frozen=True)
class Racing(Plan):
    """A real-valued search (CMA-ES on the logarithms of weights) with paired races.

    The starting rows include weights learned from the cases in `learn` steps (0: none), unless
    other rows are given. `spread` is the initial standard deviation around the best of them. After
    each of `rounds` rounds the better half continues, with twice as many trials. The best row and
    the mean of the search then play the champion in a duel of up to `duel` trials. One of them
    replaces it if the paired difference is more than `separate` standard errors above 0. As two
    rows are tested up to three times, a row that is only equal passes about once in a hundred
    generations. The search ends after `patience` generations without a replacement.
    """

    learn: int = 100
    spread: float = 0.5
    rounds: int = 2
    duel: int = 16_000
    separate: float = 3.0
    patience: int = 5

    method: ClassVar[str] = "racing"

    def __post_init__(self) -> None:
        super().__post_init__()
        least = {"population": 4, "rounds": 1, "patience": 1, "duel": 1, "separate": 0, "learn": 0}
        for name, low in least.items():
            if not low <= getattr(self, name) < math.inf:
                raise BadValue(
                    f"{name}={getattr(self, name)} of plan {self.name!r} must be {low} or more"
                )
        if self.rounds > _ROUNDS:
            raise BadValue(f"rounds={self.rounds}: each has twice the trials; {_ROUNDS} at most")
        if not 0.0 < self.spread < 100.0:
            raise BadValue(f"spread={self.spread} of plan {self.name!r} must be above 0, and small")


ROBUST = Racing(
    "robust",
    "races on the same trials from the best known weights, by CMA-ES; a champion is only replaced "
    "if the difference is significant",
)
GENETIC = Generational(
    "genetic",
    "a plain genetic algorithm: rank selection, crossover inside each stage, one mutation",
    population=9,
    generations=10,
)


def plan_named(name: str, plugins: Plugins | None = None) -> Plan:
    """The plan of that name."""
    plan: Plan = (plugins or default_plugins()).get("plan", name)
    return plan
