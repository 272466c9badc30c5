"""An arena for every domain: how well the cases predict the solutions of held-out records."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from cbr.errors import BadValue, EmptyStage
from cbr.evolve.arena import Arena, Contest
from cbr.retrieval.retriever import Retriever, retriever_of
from cbr.spec import unnest
from cbr.store.casebase import Casebase
from cbr.typing import Floats, Ints


@dataclasses.dataclass(frozen=True, eq=False)
class _Stage:
    """Retrieval from the known cases of a stage, and held-out targets [q, d] with solutions [q]."""

    mine: Retriever
    targets: Floats
    done: Ints


def open_accuracy(
    file: Path, rows: int, together: bool, last: float = 0.3, block: int = 20, policy: str = ""
) -> Contest:
    """Score each row by the probability that it gives to the solutions of the last records.

    A trial is one case of the share `last` of the records, predicted from the records before. A
    block draws `block` cases of each stage.
    """
    if not 0.0 < last < 1.0 or block < 1:
        raise BadValue(f"accuracy?last={last:g}&block={block}: last from 0 to 1, block 1 or more")
    stages = []
    with Casebase.open(file) as base:
        for name in base.stages:
            cases = base.read_cases(name)
            records = np.unique(cases.record)
            edge = records[min(int(len(records) * (1.0 - last)), len(records) - 1)]
            asked = cases.record >= edge
            if asked.all() or not asked.any():
                raise EmptyStage(f"stage {name!r} of {file} has too few records to split")
            known = cases.take(~asked).vectors()
            mine = retriever_of(base, name, policy=unnest(policy), vectors=known)
            stages.append(_Stage(mine, cases.values[asked], cases.solution[asked]))
    ends = np.cumsum([len(stage.mine.measures) for stage in stages])

    def play(weights: Floats, blocks: int, seed: int) -> Floats:
        parts = np.split(weights, ends, axis=1)
        drawn = [np.random.default_rng([seed, number]) for number in range(blocks)]
        pairs = zip(stages, parts, strict=False)
        right = [_right(stage, part, drawn, block) for stage, part in pairs]
        return np.asarray(np.mean(right, axis=0), np.float64)

    unit = "mean probability of the recorded solution"
    return Contest(play, unit=unit, trial="case", trials=block * len(stages), piece=16)


def _right(stage: _Stage, weights: Floats, drawn: list[np.random.Generator], block: int) -> Floats:
    """The mean probability that each row gives to the true solutions of a block, [n, blocks]."""
    some = np.array([rng.integers(0, len(stage.done), block) for rng in drawn])
    flat = some.reshape(-1)
    found = []
    for row in weights:
        taken = stage.mine.many(stage.targets[flat], np.tile(row, (len(flat), 1))).taken
        right = taken[np.arange(len(flat)), stage.done[flat]] / np.maximum(
            taken.sum(axis=1), 1e-300
        )
        found.append(right.reshape(some.shape).mean(axis=1))
    return np.array(found)


ARENA = Arena(
    "accuracy",
    meaning="cases of the last records, predicted from those before: accuracy?last=0.3&block=20",
    open=open_accuracy,
)
