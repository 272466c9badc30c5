"""Labels: what each legal action of a case is worth, by playing the hand on.

A casebase keeps them beside its cases, with their standard errors. Which cases come first depends
on their numbers alone, so labelling goes on where it stopped, and more of them is more of the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue, Casebase
from cbr.errors import EmptyStage
from cbr.typing import Floats, Ints, Progress
from cbr.workers import in_order
from cbr_casper.values.rollouts import values
from cbr_casper.values.table_models import Worlds
from cbr_holdem.chance import key
from cbr_holdem.situation import BETTING
from cbr_holdem.table import FOLD
from cbr_opponents.abstraction import SIZES, moves_of_solutions
from cbr_opponents.frequencies import moves_of, replay_bodies
from cbr_opponents.opponent_model import Strategies

#: Hands of one piece of work.
_PIECE = 50
#: Steps of a hand: a decision's number is that of its record times this, plus its step.
_STEPS = 1_024

#: Cases to label, as stage and number, by the numbers of their decisions.
Wanted = dict[int, tuple[str, int]]
#: Called with cases done, cases in all, and cases done.


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
    strategies: Strategies
    deals: int
    seed: int


class _Worth(NamedTuple):
    """Decisions by number, and what each move of the grid is worth there, with errors."""

    number: Ints
    mean: Floats
    error: Floats


def unlabelled(base: Casebase, cases: int = 0) -> Wanted:
    """Of the first so many cases of each stage (0: all), those that have no values yet."""
    if base.domain not in BETTING:
        raise BadValue(f"{base.path} is a casebase of {base.domain!r}, not of hold'em")
    if cases < 0:
        raise BadValue(f"{cases} cases cannot be labelled; 0 are all of them")
    return {
        int(record * _STEPS + step): (stage, int(number))
        for stage in base.stages
        for number, record, step in _chosen(base, stage, cases).tolist()
    }


def label(
    base: Casebase,
    wanted: Wanted,
    worlds: Worlds,
    deals: int = 200,
    seed: int = 0,
    pool: Executor | None = None,
    progress: Progress | None = None,
) -> list[Labelled]:
    """Label what is `unlabelled`, everybody playing as in the casebase's own world."""
    if deals < 2:
        raise BadValue("labels need 2 deals or more, or nothing is known of their errors")
    done: dict[str, int] = dict.fromkeys(base.stages, 0)
    strategies = Strategies(worlds.players, worlds.own, SIZES[BETTING[base.domain]])
    work = _pieces(base, np.array(sorted(wanted), np.int64), strategies, deals, seed)
    for worth in in_order(pool, _label_piece, work):
        for stage, count in _keep(base, worth, wanted).items():
            done[stage] += count
        if progress:
            so_far = sum(done.values())
            progress(so_far, len(wanted), so_far)
    return labelled(base, done)


def labelled(base: Casebase, now: Mapping[str, int] | None = None) -> list[Labelled]:
    """How many cases of each stage have values, and how many were labelled now."""
    done = now or {}
    return [Labelled(stage, done.get(stage, 0), len(base.valued(stage))) for stage in base.stages]


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
    base: Casebase, wanted: Ints, strategies: Strategies, deals: int, seed: int
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
        yield _Work(records, bodies, mine, strategies, deals, seed)


def _label_piece(work: _Work) -> _Worth:
    played, terms, _ = replay_bodies(work.bodies)
    assert played.tables is not None
    number = work.records[played.hand] * _STEPS + played.step
    wanted = np.isin(number, work.wanted)
    mean, error = values(
        played.tables,
        terms,
        moves_of(played, work.strategies.own.shape[-1]),
        wanted,
        number,
        work.strategies,
        work.deals,
        work.seed,
    )
    return _Worth(number[wanted], mean[wanted], error[wanted])


def _keep(base: Casebase, worth: _Worth, wanted: Wanted) -> dict[str, int]:
    """Write what was found, in one transaction; how many cases of each stage."""
    places = [wanted[number] for number in worth.number.tolist()]
    counts: dict[str, int] = {}
    with base.transaction():
        for stage in base.stages:
            mine = np.array([at for at, (of, _) in enumerate(places) if of == stage], np.int64)
            if not len(mine):
                continue
            counts[stage] = len(mine)
            ids = np.array([places[at][1] for at in mine])
            free = np.isnan(worth.mean[mine, FOLD])
            for solution in base.case_type(stage).solutions:
                move, where = _move_of(solution, free, stage)
                some = where & ~np.isnan(worth.mean[mine, move])
                if some.any():
                    mean, error = worth.mean[mine[some], move], worth.error[mine[some], move]
                    base.put_values(
                        stage, ids[some].tolist(), solution, mean.tolist(), error.tolist()
                    )
    return counts


def _move_of(solution: str, free: NDArray[np.bool_], stage: str) -> tuple[int, NDArray[np.bool_]]:
    """The move of the grid that a solution is, and where it is called so: a call that is free is a
    check, and the first raise after the flop a bet."""
    opens = free & (stage != "preflop")
    where = {"f": ~free, "k": free, "c": ~free, "b": opens, "r": ~opens}
    return moves_of_solutions([solution])[0], where[solution[0]]
