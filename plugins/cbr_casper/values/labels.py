"""Labels: the value of each legal action of a case, by roll-outs.

A casebase stores the values of its cases with their standard errors. The order in which cases are
labelled depends on their numbers only, so labelling continues where it stopped, and labelling in
several runs gives the same values as in one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from cbr import BadValue, Casebase
from cbr.errors import EmptyStage
from cbr.plugging import default_plugins
from cbr.store import verify_solutions
from cbr.typing import Floats, Ints, Progress
from cbr.workers import in_order
from cbr_casper.solutions import moves_of_solutions
from cbr_casper.values.rollouts import rollout_values
from cbr_casper.values.table_models import TableModels
from cbr_holdem.chance import key
from cbr_holdem.situation import BETTING, legal_solutions
from cbr_holdem.table import FOLD, RAISE
from cbr_opponents import RAISE_SIZES, Strategies, logged_moves, replay_decisions

#: Hands that one worker labels at a time.
_PIECE = 50
#: A decision's number is that of its record times this, plus its step in the hand.
_STEPS = 1_024

#: Cases to label: stage and case number by the number of the decision.
Wanted = dict[int, tuple[str, int]]
#: Called with cases done, total cases, and cases done.


@dataclass(frozen=True)
class Labelled:
    """How many cases of a stage were labelled in this run, and how many have values in all."""

    stage: str
    now: int
    all: int


class _Work(NamedTuple):
    """Hands with decisions to label, as record numbers and bodies; `wanted` are the numbers of
    these decisions."""

    records: Ints
    bodies: Sequence[str]
    wanted: Ints
    strategies: Strategies
    deals: int
    seed: int


class _Values(NamedTuple):
    """Decisions by number, and the value of each move of the abstraction there, with errors."""

    number: Ints
    mean: Floats
    error: Floats


def unlabelled(base: Casebase, cases: int = 0) -> Wanted:
    """Of the first `cases` cases of each stage (0: all), those that have no values yet."""
    if base.domain not in BETTING:
        raise BadValue(f"{base.path} is a casebase of {base.domain!r}, not of hold'em")
    verify_solutions(base, default_plugins())
    if cases < 0:
        raise BadValue(f"cannot label {cases} cases; give a number above 0, or 0 for all")
    return {
        int(record * _STEPS + step): (stage, int(number))
        for stage in base.stages
        for number, record, step in _chosen(base, stage, cases).tolist()
    }


def label(
    base: Casebase,
    wanted: Wanted,
    tables: TableModels,
    deals: int = 200,
    seed: int = 0,
    pool: Executor | None = None,
    progress: Progress | None = None,
) -> list[Labelled]:
    """Label the cases of `wanted` (see `unlabelled`) against the casebase's opponent model."""
    if deals < 2:
        raise BadValue("labels need 2 deals or more; with one there is no standard error")
    done: dict[str, int] = dict.fromkeys(base.stages, 0)
    strategies = Strategies(tables.opponents, tables.strategy, RAISE_SIZES[BETTING[base.domain]])
    work = _pieces(base, np.array(sorted(wanted), np.int64), strategies, deals, seed)
    for values in in_order(pool, _label_piece, work):
        for stage, count in _store(base, values, wanted).items():
            done[stage] += count
        if progress:
            so_far = sum(done.values())
            progress(so_far, len(wanted), so_far)
    return labelled(base, done)


def labelled(base: Casebase, now: Mapping[str, int] | None = None) -> list[Labelled]:
    """How many cases of each stage have values, and how many were labelled `now`."""
    done = now or {}
    return [Labelled(stage, done.get(stage, 0), len(base.valued(stage))) for stage in base.stages]


def _chosen(base: Casebase, stage: str, cases: int) -> Ints:
    """Cases to label as (number, record, step): the first `cases` in a fixed random order."""
    places = base.places(stage)
    if not len(places):
        raise EmptyStage(f"stage {stage!r} of {base.path} has no cases with a hand; build some")
    order = np.array([key(0, int(number), 0, 0) for number in places[:, 0]])
    first = places[np.argsort(order, kind="stable")][: cases or None]
    valued = base.valued(stage)
    return first[[number not in valued for number in first[:, 0].tolist()]]


def _pieces(
    base: Casebase, wanted: Ints, strategies: Strategies, deals: int, seed: int
) -> Iterator[_Work]:
    """The hands with wanted decisions, in pieces for workers."""
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


def _label_piece(work: _Work) -> _Values:
    played, terms, _ = replay_decisions(work.bodies)
    assert played.tables is not None
    number = work.records[played.hand] * _STEPS + played.step
    wanted = np.isin(number, work.wanted)
    mean, error = rollout_values(
        played.tables,
        terms,
        logged_moves(played, work.strategies.own.shape[-1]),
        wanted,
        number,
        work.strategies,
        work.deals,
        work.seed,
    )
    return _Values(number[wanted], mean[wanted], error[wanted])


def _store(base: Casebase, values: _Values, wanted: Wanted) -> dict[str, int]:
    """Write values in one transaction; returns the number of labelled cases by stage."""
    places = [wanted[number] for number in values.number.tolist()]
    counts: dict[str, int] = {}
    with base.transaction():
        for stage in base.stages:
            mine = np.array([at for at, (of, _) in enumerate(places) if of == stage], np.int64)
            if not len(mine):
                continue
            counts[stage] = len(mine)
            ids = np.array([places[at][1] for at in mine])
            solutions = base.case_type(stage).solutions
            # A move that is not legal has no value.
            known = ~np.isnan(values.mean[mine])
            may_raise = np.any(known[:, RAISE:], axis=1)
            legal = legal_solutions(solutions, ~known[:, FOLD], may_raise, stage == "preflop")
            for place, move in enumerate(moves_of_solutions(solutions)):
                some = legal[:, place] & known[:, move]
                if some.any():
                    mean, error = values.mean[mine[some], move], values.error[mine[some], move]
                    base.put_values(
                        stage, ids[some].tolist(), solutions[place], mean.tolist(), error.tolist()
                    )
    return counts
