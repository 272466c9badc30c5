"""The classic genetic algorithm: one run, as a generator of score requests and generations."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from cbr.evolve.genome import Genome
from cbr.evolve.operators import first_generation, next_generation
from cbr.evolve.plans import Generational
from cbr.evolve.playing import ScoreRequest, Scoring
from cbr.evolve.record import Generation
from cbr.evolve.seeds import CHOICE, SEARCH, generator_of
from cbr.typing import Floats

Search = Generator["ScoreRequest | Generation", Floats, Floats]


def search(
    plan: Generational, genome: Genome, scoring: Scoring, run: int, given: Sequence[Floats]
) -> Search:
    """One run; returns the row that was best in the last generation: on trials for that choice, if
    the supply of trials is limited.

    `given` are rows of the first generation; the others are drawn at random.
    """
    rows, origins = first_generation(plan, genome, given, generator_of(scoring.seed, run, 1))
    for number in range(1, plan.generations + 1):
        scores = yield ScoreRequest(rows, plan.trials, SEARCH, (run, number, 0))
        judged = scoring.one_score(scores)
        means = judged.mean(axis=1)
        best = int(means.argmax())
        if number == plan.generations and scoring.supply is not None:
            # Trials that are used again and again have selected these rows: others choose.
            chosen = yield ScoreRequest(rows, plan.trials, CHOICE, (run, number, 1))
            best = int(scoring.one_score(chosen).mean(axis=1).argmax())
        yield Generation(run, number, rows, origins, list(judged), best)
        if number < plan.generations:
            rng = generator_of(scoring.seed, run, number + 1)
            rows, origins = next_generation(plan, genome, rows, means, rng)
    return np.array(rows[best])
