"""An arena for every domain: how well the cases predict the solutions of held-out records.

In the order of their numbers the records are known cases, from which the others are predicted;
then those on which weights are searched, those on which one of them is chosen, and those by which
the result is judged. No record is in two of these parts, so the final scores are of records that no
weights were fitted to, and their intervals are over records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cbr.errors import BadValue, EmptyStage
from cbr.evolve.arena import Arena, Contest, Supply
from cbr.learning.prediction import verify_predictable
from cbr.retrieval.retriever import Retriever, retriever_of
from cbr.spec import unnest
from cbr.store.arrays import Cases
from cbr.store.casebase import Casebase
from cbr.typing import Floats, Ints

#: The least records of a part, and the blocks that a part has if there are enough records.
_LEAST, _BLOCKS = 10, 30
#: Records of a piece, the work of one worker at a time.
_PIECE = 400


@dataclass(frozen=True)
class _Parts:
    """The last known record, and the records to predict [r]: whole blocks of `block` records, as
    many for each part as the `supply` says."""

    known: int
    records: Ints
    block: int
    supply: Supply


@dataclass(frozen=True, eq=False)
class _Stage:
    """Retrieval from the known cases of a stage, and the cases to predict: their values [q, d],
    their solutions [q], and the places [q] of their records among all to predict, in order."""

    mine: Retriever
    targets: NDArray[np.float32]
    done: Ints
    place: Ints


def open_accuracy(
    file: Path, rows: int, together: bool, last: float = 0.5, block: int = 20, policy: str = ""
) -> Contest:
    """Score each row by the probability that it gives to the solutions of the last records.

    A trial is one record of the share `last`, predicted from the records before these; its score is
    the mean over its cases. A block is `block` records, or fewer where there are few.
    """
    if not 0.0 < last < 1.0 or block < 1:
        raise BadValue(f"accuracy?last={last:g}&block={block}: last from 0 to 1, block 1 or more")
    with Casebase.open(file) as base:
        if any(case_type.numeric for case_type in base.case_types):
            raise BadValue(
                f"solutions of {file} are numbers, and the arena accuracy scores the probability "
                "of classes; `cbr learn-weights` learns weights for numbers"
            )
        cases, refused = _predictable(base)
        if not cases:
            raise EmptyStage(refused)
        parts = _parts(
            np.unique(np.concatenate([one.record for one in cases.values()])), last, block, file
        )
        stages, ends = [], np.cumsum([len(one.indexed) for one in base.case_types]).tolist()
        for number, name in enumerate(base.stages):
            if name in cases:
                stage = _stage(base, cases[name], parts, policy)
                stages.append((stage, slice(ends[number - 1] if number else 0, ends[number])))
        one_case = all(len(np.unique(one.record)) == len(one) for one in cases.values())
        trial = "case" if one_case and len(cases) == 1 else base.case_types[0].record
    return Contest(
        lambda weights, blocks, first: _scores(stages, parts.block, weights, blocks, first),
        unit="mean probability of the recorded solution",
        trial=trial,
        trials=parts.block,
        piece=max(1, _PIECE // parts.block),
        supply=parts.supply,
        last_known=parts.known,
    )


def _predictable(base: Casebase) -> tuple[dict[str, Cases], str]:
    """The cases of each stage in which there is something to predict, and why in others there is
    not."""
    found, refused = {}, ""
    for name in base.stages:
        try:
            cases = base.read_cases(name)
            verify_predictable(cases)
        except EmptyStage as error:
            refused = str(error)
        else:
            found[name] = cases
    return found, refused


def _parts(records: Ints, last: float, block: int, file: Path) -> _Parts:
    """The parts of all records, which are in order."""
    known = int(len(records) * (1.0 - last))
    third = (len(records) - known) // 3
    if third < _LEAST or not known:
        raise EmptyStage(
            f"{file} has {len(records)} records, of which accuracy?last={last:g} leaves too few to "
            f"search, choose and judge on different ones; build {math.ceil(3 * _LEAST / last) + 1} "
            "or more"
        )
    block = min(block, max(1, third // _BLOCKS))
    each = third // block
    rng = np.random.default_rng(0)
    # Blocks are of records that do not follow each other: a part of the blocks stands for all.
    parts = [rng.permutation(part)[: each * block] for part in np.split(records[-3 * third :], 3)]
    return _Parts(
        int(records[-3 * third - 1]), np.concatenate(parts), block, Supply(each, each, each)
    )


def _stage(base: Casebase, cases: Cases, parts: _Parts, policy: str) -> _Stage:
    name = cases.case_type.stage
    known = cases.record <= parts.known
    if not known.any():
        raise EmptyStage(
            f"stage {name!r} of {base.path} has no cases among the first records, from which "
            "others could be predicted; build more"
        )
    order = np.argsort(parts.records)
    near = np.searchsorted(parts.records, cases.record, sorter=order).clip(max=len(order) - 1)
    asked = np.flatnonzero(parts.records[order[near]] == cases.record)
    asked = asked[np.argsort(order[near[asked]], kind="stable")]
    mine = retriever_of(base, name, policy=unnest(policy), vectors=cases.take(known).vectors())
    return _Stage(mine, cases.values[asked], cases.solution[asked], order[near[asked]])


def _scores(
    stages: list[tuple[_Stage, slice]], block: int, weights: Floats, blocks: int, first: int
) -> Floats:
    """The mean score of the records of each block, for each row, [n, blocks]."""
    begin, end = first * block, (first + blocks) * block
    total, count = np.zeros((len(weights), blocks * block)), np.zeros(blocks * block)
    for stage, part in stages:
        some = slice(*np.searchsorted(stage.place, (begin, end)).tolist())
        place = stage.place[some] - begin
        np.add.at(count, place, 1.0)
        for number, row in enumerate(weights[:, part]):
            np.add.at(total[number], place, _right(stage, row, some))
    return np.asarray((total / count).reshape(len(weights), blocks, block).mean(axis=2))


def _right(stage: _Stage, row: Floats, some: slice) -> Floats:
    """The probability that a row gives to the true solutions of some cases, [q]."""
    targets, done = stage.targets[some], stage.done[some]
    if not len(done):
        return np.empty(0)
    taken = stage.mine.many(targets, np.tile(row, (len(targets), 1))).taken
    right: Floats = taken[np.arange(len(done)), done] / np.maximum(taken.sum(axis=1), 1e-300)
    return right


ARENA = Arena(
    "accuracy",
    meaning="cases of the last records, predicted from those before: accuracy?last=0.5&block=20",
    open=open_accuracy,
)
