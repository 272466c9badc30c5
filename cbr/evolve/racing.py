"""The robust search: CMA-ES on the logarithms of weights, with races on the same trials.

Every row of a generation plays the same blocks, so differences are paired; the better half
continues with twice as many. The best row, and the mean to which the search has moved, then play
the champion in blocks that did not select them, because the score of the best of many is biased
upwards. One replaces the champion only if the paired difference is significant. If that has not
happened for some generations, the search ends.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

import numpy as np
from deap import cma

from cbr.evolve.generational import Search
from cbr.evolve.genome import Genome
from cbr.evolve.operators import Individual
from cbr.evolve.plans import Racing
from cbr.evolve.playing import ScoreRequest, Scoring
from cbr.evolve.record import MIDDLE, Generation
from cbr.evolve.seeds import CHOICE, SEARCH, generator_of
from cbr.statistics import mean_of, separation
from cbr.typing import Floats

_CHAMPION = 0


class Strategy(cma.Strategy):  # type: ignore[misc]
    """DEAP's CMA-ES strategy, drawing from an explicit random generator."""

    def sample(self, rng: np.random.Generator) -> Floats:
        """The points of one population, [lambda, d]."""
        normal = rng.standard_normal((self.lambda_, self.dim))
        points: Floats = self.centroid + self.sigma * normal @ self.BD.T
        return points

    def learn(self, points: Floats, order: list[int]) -> None:
        """Update the distribution; `order` has the indices of points, the best first."""
        ranked = {place: -float(rank) for rank, place in enumerate(order)}
        self.update([Individual(point, ranked[place]) for place, point in enumerate(points)])


def search(
    plan: Racing, genome: Genome, scoring: Scoring, run: int, starts: Mapping[str, Floats]
) -> Search:
    """One run that starts from the best of some rows by name; returns the champion."""
    names, rows = list(starts), np.array(list(starts.values()))
    # They are few, so each has as many trials as a duel: a good start saves generations.
    judged = scoring.one_score((yield ScoreRequest(rows, plan.duel, SEARCH, (run, 0, 0))))
    best = int(judged.mean(axis=1).argmax())
    champion = rows[best]
    yield Generation(run, 0, rows, names, list(judged), best, {"champion": names[best]})
    strategy = Strategy(genome.encode(champion), plan.spread, lambda_=plan.population)
    quiet = 0
    for number in range(1, plan.generations + 1):
        points = strategy.sample(generator_of(scoring.seed, run, number))
        sampled = [genome.decode(point) for point in points]
        rows = np.array([champion, *sampled])
        played, order = yield from _race(plan, scoring, (run, number), rows)
        strategy.learn(points, [place - 1 for place in order if place != _CHAMPION])
        challenger = next(place for place in order if place != _CHAMPION)
        # The mean of the distribution averages out the luck of single rows.
        middle = genome.decode(np.asarray(strategy.centroid))
        rows = np.array([*rows, middle])
        meet = [_CHAMPION, challenger, len(rows) - 1]
        duel = yield from _duel(plan, scoring, (run, number), rows[meet])
        scores = [*row_scores(scoring, played), duel[2]]
        ahead, better = max((separation(duel[at], duel[0]), at) for at in (1, 2))
        wins = ahead > plan.separate
        quiet = 0 if wins else quiet + 1
        gain = mean_of(duel[better] - duel[0])
        notes: dict[str, Any] = {
            "challenger": meet[better] + 1,
            "gain": gain.mean,
            "gain_ci95": gain.ci95,
            "separation": min(max(ahead, -999.0), 999.0),
            "replaced": wins,
            "duel_blocks": duel.shape[1],
            "spread_of_search": float(strategy.sigma),
        }
        best = meet[better] if wins else _CHAMPION
        origins = ["champion", *["drawn"] * len(sampled), MIDDLE]
        yield Generation(run, number, rows, origins, scores, best, notes)
        champion = rows[best]
        if quiet >= plan.patience:
            break
    return np.array(champion)


def row_scores(scoring: Scoring, played: list[Floats]) -> list[Floats]:
    """Scores of each row [blocks], combined from those in every arena [arenas, blocks]."""
    return [scoring.one_score(scores[:, None])[0] for scores in played]


def _race(
    plan: Racing, scoring: Scoring, place: tuple[int, int], rows: Floats
) -> Generator[ScoreRequest, Floats, tuple[list[Floats], list[int]]]:
    """Scores of each row [arenas, blocks], and the indices of rows in order, the best first.

    A row eliminated later ranks higher; the champion, the first row, is never eliminated.
    """
    played: list[list[Floats]] = [[] for _ in rows]
    running = list(range(len(rows)))
    left: list[int] = []
    rounds = scoring.rounds(plan.rounds)
    for step in range(rounds):
        share = (1 << step) - 1, 1 << step, (1 << rounds) - 1
        trials = plan.trials << step
        found = yield ScoreRequest(rows[running], trials, SEARCH, (*place, step), share)
        for at, row in enumerate(running):
            played[row].append(found[:, at])
        means = {row: _mean(scoring, played[row]) for row in running}
        running.sort(key=lambda row: (-means[row], row))
        if step + 1 < rounds:
            keep = max(2, -(-len(running) // 2))
            out = [row for row in running[keep:] if row != _CHAMPION]
            left = [*out, *left]
            # Requests have rows in their original order.
            running = sorted(row for row in running if row not in out)
    return [np.concatenate(parts, axis=1) for parts in played], [*running, *left]


def _mean(scoring: Scoring, parts: list[Floats]) -> float:
    joined = np.concatenate(parts, axis=1)
    return float(scoring.one_score(joined[:, None])[0].mean())


def _duel(
    plan: Racing, scoring: Scoring, place: tuple[int, int], rows: Floats
) -> Generator[ScoreRequest, Floats, Floats]:
    """Scores of the champion and two challengers [3, blocks] on new blocks, until one challenger is
    significantly better than the champion, or neither has a higher mean."""
    quarter, played = max(1, plan.duel // 4), []
    for step, (first, parts) in enumerate(((0, 1), (1, 1), (2, 2))):
        at, share = (*place, 100 + step), (first, parts, 4)
        played.append((yield ScoreRequest(rows, parts * quarter, CHOICE, at, share)))
        scores = scoring.one_score(np.concatenate(played, axis=2))
        ahead = max(separation(scores[1], scores[0]), separation(scores[2], scores[0]))
        if not 0.0 < ahead <= plan.separate:
            break
    return scores
