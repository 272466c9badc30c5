"""Statistics of a run file: scores by generation, beside the range expected by chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cbr.evolve.genome import Genome
from cbr.evolve.luck import luck_of, range_by_luck
from cbr.evolve.record import Generation
from cbr.evolve.runfile import RunFile
from cbr.statistics import Mean, mean_of
from cbr.typing import Floats

Table = tuple[str, Sequence[str], list[tuple[object, ...]]]


@dataclass(frozen=True)
class Line:
    """A generation: its best score with interval, the average and the range of scores, the range
    expected of as many equal rows, how different its rows are (0: all equal, 1: nothing in common),
    the time it took, and the notes of the method."""

    run: int
    generation: int
    best: Mean
    average: float
    range: float
    range_by_luck: float | None
    difference: float
    individuals: int
    seconds: float
    notes: Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """The generations of one number, averaged over runs."""

    generation: int
    runs: int
    range: float
    range_by_luck: float | None
    best: float
    difference: float


@dataclass(frozen=True)
class Report:
    """A search: its settings, its generations, averages over runs, and the result."""

    file: str
    settings: Mapping[str, Any]
    generations: Sequence[Line]
    steps: Sequence[Step]
    published: Mapping[str, Any]
    result: Mapping[str, Any] | None
    weights: Mapping[str, Mapping[str, float]] | None

    @property
    def unit(self) -> str:
        return str(self.settings["unit"])

    def tables(self) -> Iterator[Table]:
        """The tables for a terminal."""
        plan, unit = self.settings["plan"], self.unit
        yield (
            f"{self.file}: plan {plan['name']}, seed {self.settings['seed']}, "
            f"{len(self.generations)} generations, arena {', '.join(self.settings['arenas'])}; "
            f"scores in {unit}",
            ["run", "generation", "best", "average", "range", "range by luck", "difference", "s"],
            [
                (
                    one.run,
                    one.generation,
                    str(one.best) + (" (new champion)" if one.notes.get("replaced") else ""),
                    f"{one.average:+.4f}",
                    f"{one.range:.4f}",
                    None if one.range_by_luck is None else f"{one.range_by_luck:.4f}",
                    f"{one.difference:.3f}",
                    f"{one.seconds:.1f}",
                )
                for one in self.generations
            ],
        )
        if len({one.run for one in self.generations}) > 1:
            yield (
                "Averages of all runs",
                ["generation", "runs", "range", "range by luck", "best", "difference"],
                [
                    (
                        one.generation,
                        one.runs,
                        f"{one.range:.4f}",
                        None if one.range_by_luck is None else f"{one.range_by_luck:.4f}",
                        f"{one.best:+.4f}",
                        f"{one.difference:.3f}",
                    )
                    for one in self.steps
                ],
            )
        rows = list(self._beside())
        if rows:
            yield (
                f"Beside {self.published.get('by', 'what was published')}",
                ["", "there", "here"],
                rows,
            )
        if self.result:
            yield (
                f"On {self.result['trials']:,} fresh {self.settings['trial']}s, in {unit}",
                ["weights", "score", "evolved is better by"],
                [
                    (
                        one["name"],
                        str(Mean(**one["score"])),
                        str(Mean(**one["behind"])) if one["behind"] else None,
                    )
                    for one in self.result["judged"]
                ],
            )
        if self.weights:
            features = dict.fromkeys(name for stage in self.weights.values() for name in stage)
            yield (
                "Weights",
                ["feature", *self.weights],
                [
                    (name, *(stage.get(name) for stage in self.weights.values()))
                    for name in features
                ],
            )

    def _beside(self) -> Iterator[tuple[object, ...]]:
        """Rows of a table with the published figures and ours."""
        ours: dict[str, float] = {}
        if self.steps:
            first, last = self.steps[0], self.steps[-1]
            ours = {"range, first generation": first.range, "range, last generation": last.range}
        for name, value in ours.items():
            if name in self.published:
                yield name, f"{self.published[name]:.4f}", f"{value:.4f}"
        luck = [step.range_by_luck for step in self.steps if step.range_by_luck is not None]
        if luck and self.published:
            yield "range that luck alone would show", None, f"{float(np.mean(luck)):.4f}"
        rates = self.published.get("rates", {})
        judged = {one["name"]: one for one in (self.result or {}).get("judged", ())}
        for name, value in rates.items():
            mine = next((one for key, one in judged.items() if name in key.split(", ")), None)
            here = None if mine is None else str(Mean(**mine["score"]))
            yield f"score of {name} weights", f"{value:+.3f}", here


def report_of(run: RunFile) -> Report:
    """The report on a run file."""
    run.verify_complete()
    settings = run.settings
    genome = Genome(settings.get("domain", ""), settings["stages"])
    parts = list(genome.parts.values())
    lines = [_line(one, seconds, parts) for one, seconds in run.generations()]
    result = run.result
    return Report(
        run.path.name,
        {
            name: settings[name]
            for name in ("plan", "arenas", "objective", "seed", "casebase", "unit", "trial")
        },
        lines,
        _steps(lines),
        settings["published"],
        result,
        None if result is None else genome.plain(np.array(result["row"])),
    )


def _line(one: Generation, seconds: float, parts: Sequence[slice]) -> Line:
    compared = one.compared
    luck = luck_of(compared)
    by_luck = None if luck is None else range_by_luck(len(compared), luck)
    return Line(
        one.run,
        one.number,
        mean_of(one.scores[one.best]),
        float(compared.mean()),
        one.spread,
        by_luck,
        difference_of(one.rows, parts),
        len(one.rows),
        seconds,
        dict(one.notes),
    )


def difference_of(rows: Floats, parts: Sequence[slice]) -> float:
    """How different rows are: the share of a stage's weight that two rows do not have in common,
    averaged over pairs and stages."""
    if len(rows) < 2:
        return 0.0
    found = []
    for part in parts:
        shares = rows[:, part] / rows[:, part].sum(axis=1, keepdims=True)
        apart = np.abs(shares[:, None] - shares[None]).sum(axis=2) / 2
        found.append(apart.sum() / (len(rows) * (len(rows) - 1)))
    return float(np.mean(found))


def _steps(lines: Sequence[Line]) -> list[Step]:
    found = []
    for number in sorted({line.generation for line in lines}):
        some = [line for line in lines if line.generation == number]
        luck = [line.range_by_luck for line in some if line.range_by_luck is not None]
        found.append(
            Step(
                number,
                len(some),
                float(np.mean([line.range for line in some])),
                float(np.mean(luck)) if luck else None,
                float(np.mean([line.best.mean for line in some])),
                float(np.mean([line.difference for line in some])),
            )
        )
    return found
