"""Selection, crossover and mutation of rows of genes, with DEAP.

DEAP draws from the global generator of Python's `random` module, which is seeded for each
generation and restored afterwards.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from deap import base, tools

from cbr.evolve.genome import HIGHEST, Genome
from cbr.evolve.plans import Generational
from cbr.typing import Floats

_CROSSOVERS = {
    "one-point": tools.cxOnePoint,
    "two-point": tools.cxTwoPoint,
    "uniform": lambda one, two: tools.cxUniform(one, two, 0.5),
}


class Score(base.Fitness):  # type: ignore[misc]
    """A score to maximise."""

    weights = (1.0,)


class Individual(list[float]):
    """Genes with a score. A plain class, because those of DEAP's `creator` cannot be unpickled in
    workers."""

    def __init__(self, genes: Sequence[float] | Floats, score: float | None = None) -> None:
        super().__init__(float(gene) for gene in genes)
        self.fitness = Score(() if score is None else (score,))


@contextmanager
def drawing_from(rng: np.random.Generator) -> Iterator[None]:
    """Seed the `random` module from this generator inside the block, and restore it after."""
    state = random.getstate()
    random.seed(int(rng.integers(2**62)))
    try:
        yield
    finally:
        random.setstate(state)


def toolbox(plan: Generational, genome: Genome) -> Any:
    """The operators of a plan: `draw`, `select`, `mate`, `mutate` and `mend`."""
    box = base.Toolbox()
    box.register("draw", drawn, genome)
    box.register("select", selected, plan)
    box.register("mate", crossed, genome, plan.crossover)
    box.register("mutate", mutated, genome)
    box.register("mend", mended, genome)
    return box


def drawn(genome: Genome) -> Individual:
    """A random individual: whole weights from 0 to 100, and extra genes within their ranges."""
    genes = [_gene(genome, place) for place in range(len(genome))]
    return mended(genome, Individual(genes))


def _gene(genome: Genome, place: int) -> float:
    if place < genome.weights:
        return float(random.randint(0, int(HIGHEST)))
    gene = genome.extra[place - genome.weights]
    return random.uniform(gene.low, gene.high)


def selected(plan: Generational, population: Sequence[Individual], count: int) -> list[Individual]:
    """`count` individuals, selected by the method of the plan: by rank, tournament, or the best."""
    if plan.selection == "tournament":
        return list(tools.selTournament(list(population), count, tournsize=3))
    ranked = sorted(population, key=lambda one: one.fitness)  # the worst first
    if plan.selection == "best":
        return ranked[::-1][:count]
    return random.choices(ranked, rank_chances(plan, len(ranked)), k=count)


def rank_chances(plan: Generational, count: int) -> list[float]:
    """The probability of selection by rank, from the worst to the best.

    >>> plan = Generational("p", population=3, copies=1, pairs=1)
    >>> [round(chance, 2) for chance in rank_chances(plan, 3)]
    [0.17, 0.33, 0.5]
    """
    chances = plan.chances or tuple(range(1, count + 1))
    return [chance / sum(chances) for chance in chances]


def parents(box: Any, population: Sequence[Individual]) -> tuple[Individual, Individual]:
    """Two distinct parents."""
    one, two = box.select(population, 2)
    for _ in range(1_000):
        if one is not two:
            break
        two = box.select(population, 1)[0]
    return one, (two if two is not one else next(p for p in population if p is not one))


def crossed(
    genome: Genome, crossover: str, one: Individual, two: Individual
) -> tuple[Individual, Individual]:
    """Two children, crossed inside each stage (and in the extra genes) separately."""
    first, second = list(one), list(two)
    parts = [*genome.parts.values()]
    if genome.extra:
        parts.append(slice(genome.weights, len(genome)))
    for part in parts:
        a, b = first[part], second[part]
        if len(a) > 1:
            _CROSSOVERS[crossover](a, b)
        first[part], second[part] = a, b
    return Individual(first), Individual(second)


def mutated(genome: Genome, one: Individual) -> Individual:
    """The individual with one gene drawn again."""
    genes = list(one)
    place = random.randrange(len(genes))
    genes[place] = _gene(genome, place)
    return Individual(genes)


def mended(genome: Genome, one: Individual) -> Individual:
    """The individual with a weight above 0 in every stage, without which nothing can be ranked."""
    genes = list(one)
    for part in genome.parts.values():
        if not any(genes[part]):
            genes[random.randrange(part.start, part.stop)] = float(random.randint(1, int(HIGHEST)))
    return Individual(genes)


def first_generation(
    plan: Generational, genome: Genome, given: Sequence[Floats], rng: np.random.Generator
) -> tuple[Floats, list[str]]:
    """The given rows, completed by random ones; and the origin of each."""
    with drawing_from(rng):
        made = [Individual(row) for row in given[: plan.population]]
        origins = ["given"] * len(made) + ["drawn"] * (plan.population - len(made))
        made += [drawn(genome) for _ in range(plan.population - len(made))]
    return np.array(made), origins


def next_generation(
    plan: Generational, genome: Genome, rows: Floats, scores: Floats, rng: np.random.Generator
) -> tuple[Floats, list[str]]:
    """The rows of the next generation, and the origin of each."""
    population = [Individual(row, score) for row, score in zip(rows, scores.tolist(), strict=True)]
    box = toolbox(plan, genome)
    with drawing_from(rng):
        copied = box.select(population, plan.copies)
        made = [Individual(one) for one in copied]
        origins = [f"copy of {_place(population, one)}" for one in copied]
        for _ in range(plan.pairs):
            one, two = parents(box, population)
            made += box.mate(one, two)
            origins += [f"child of {_place(population, one)} and {_place(population, two)}"] * 2
        chosen = set(random.sample(range(len(made)), plan.mutations))
        for place in range(len(made)):
            if place in chosen or random.random() < plan.mutation_chance:
                made[place] = box.mutate(made[place])
                origins[place] += ", mutated"
        made = [box.mend(one) for one in made]
    return np.array(made), origins


def _place(population: Sequence[Individual], one: Individual) -> int:
    """Its number in the previous generation, from 1."""
    return 1 + next(at for at, other in enumerate(population) if other is one)
