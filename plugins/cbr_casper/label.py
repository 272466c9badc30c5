"""Labels: what each legal action of a case is worth, by playing the hand on.

A casebase keeps them beside its cases, with their standard errors. Which cases come first depends
on their numbers alone, so labelling goes on where it stopped, and more of them is more of the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.casebase import Casebase
from cbr.errors import BadValue, EmptyStage
from cbr.workers import in_order
from cbr_casper.habits import KINDS, Habits, replay_bodies
from cbr_casper.rollouts import values
from cbr_holdem.chance import key
from cbr_holdem.situation.case_types import LIMIT
from cbr_holdem.situation.replay import Replayed
from cbr_holdem.table.rules import CALL, FOLD, RAISE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Hands of one piece of work.
_PIECE = 50
#: Steps of a hand: a decision's number is that of its record times this, plus its step.
_STEPS = 1_024

#: Called with cases done, cases in all, and cases done.
Progress = Callable[[float, float, int], None]


@dataclass(frozen=True)
class Labelled:
    """How many cases of a stage were labelled now, and how many have values in all."""

    stage: str
    now: int
    all: int


class _Work(NamedTuple):
    """Hands of which some decisions are wanted, as record numbers and bodies; `wanted` are numbers
    of decisions."""

    records: Ints
    bodies: Sequence[str]
    wanted: Ints
    chances: Floats
    deals: int
    seed: int


class _Worth(NamedTuple):
    """Decisions by number, and what fold, call and raise are worth there, with errors."""

    number: Ints
    mean: Floats
    error: Floats


def label(
    base: Casebase,
    cases: int = 0,
    deals: int = 200,
    seed: int = 0,
    pool: Executor | None = None,
    progress: Progress | None = None,
) -> list[Labelled]:
    """Label up to so many cases of each stage (0: all) that have no values yet."""
    if base.domain != LIMIT:
        raise BadValue(f"values are estimated for casebases of {LIMIT!r}, not of {base.domain!r}")
    if deals < 2 or cases < 0:
        raise BadValue("labels need 2 deals or more, and a number of cases that is not below 0")
    chosen = {stage: _chosen(base, stage, cases) for stage in base.stages}
    total = sum(len(places) for places in chosen.values())
    stage_of = {
        int(record * _STEPS + step): (stage, int(number))
        for stage, places in chosen.items()
        for number, record, step in places.tolist()
    }
    done: dict[str, int] = dict.fromkeys(base.stages, 0)
    if total:
        habits = Habits.of(base)
        work = _pieces(base, np.array(sorted(stage_of)), habits.chances, deals, seed)
        for worth in in_order(pool, _label_piece, work):
            for stage, count in _keep(base, worth, stage_of).items():
                done[stage] += count
            if progress:
                so_far = sum(done.values())
                progress(so_far, total, so_far)
    return [Labelled(stage, done[stage], len(base.valued(stage))) for stage in base.stages]


def _chosen(base: Casebase, stage: str, cases: int) -> Ints:
    """Cases to label as (number, record, step), those that come first up to a number of them."""
    places = base.places(stage)
    if not len(places):
        raise EmptyStage(f"stage {stage!r} of {base.path} has no cases with a hand; build some")
    luck = np.array([key(0, int(number), 0, 0) for number in places[:, 0]])
    first = places[np.argsort(luck, kind="stable")][: cases or None]
    valued = base.valued(stage)
    return first[[number not in valued for number in first[:, 0].tolist()]]


def _pieces(
    base: Casebase, wanted: Ints, chances: Floats, deals: int, seed: int
) -> Iterator[_Work]:
    """The hands in which something is wanted, some at a time."""
    of_record = set(np.unique(wanted // _STEPS).tolist())
    found = (
        (number, body)
        for numbers, bodies in base.read_records(1_000)
        for number, body in zip(numbers, bodies, strict=True)
        if number in of_record
    )
    while some := list(islice(found, _PIECE)):
        numbers, bodies = zip(*some, strict=True)
        records = np.array(numbers)
        mine = wanted[np.isin(wanted // _STEPS, records)]
        yield _Work(records, bodies, mine, chances, deals, seed)


def _label_piece(work: _Work) -> _Worth:
    played, terms = replay_bodies(work.bodies)
    number = work.records[played.hand] * _STEPS + played.step
    wanted = np.isin(number, work.wanted)
    mean, error = values(
        _tables(played),
        terms,
        KINDS[played.action],
        wanted,
        number,
        work.chances,
        work.deals,
        work.seed,
    )
    return _Worth(number[wanted], mean[wanted], error[wanted])


def _tables(played: Replayed) -> Ints:
    assert played.tables is not None
    return played.tables


def _keep(base: Casebase, worth: _Worth, stage_of: dict[int, tuple[str, int]]) -> dict[str, int]:
    """Write what was found, in one transaction; how many cases of each stage."""
    places = [stage_of[number] for number in worth.number.tolist()]
    counts: dict[str, int] = {}
    with base.transaction():
        for stage in base.stages:
            mine = np.array([at for at, (of, _) in enumerate(places) if of == stage], np.int64)
            if not len(mine):
                continue
            counts[stage] = len(mine)
            ids = np.array([places[at][1] for at in mine])
            free = np.isnan(worth.mean[mine, FOLD])
            for solution, kind, where in (
                ("f", FOLD, ~free),
                ("k", CALL, free),
                ("c", CALL, ~free),
                ("b", RAISE, free & (stage != "preflop")),
                ("r", RAISE, ~free | (stage == "preflop")),
            ):
                some = where & ~np.isnan(worth.mean[mine, kind])
                if some.any():
                    mean, error = worth.mean[mine[some], kind], worth.error[mine[some], kind]
                    base.put_values(
                        stage, ids[some].tolist(), solution, mean.tolist(), error.tolist()
                    )
    return counts
