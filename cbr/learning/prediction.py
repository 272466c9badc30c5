"""Prediction: the probability of each solution in held-out cases.

Cases are split by record and never by decision, because decisions of one record depend on each
other. There are two predictors:

rule   the retrieval policy, with one case of each solution added (so that none has probability 0)
soft   the soft kernel, whose two constants are fitted on the known cases
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cbr.errors import BadValue, EmptyStage
from cbr.learning.kernel import Constants, SoftKernel, fit_constants
from cbr.measure import Bound
from cbr.retrieval.index.base import NearestVectors
from cbr.retrieval.index.tree import TreeIndex
from cbr.retrieval.left_out import nearest_without, places_of_records, vector_of_case
from cbr.retrieval.policies import RetrievalPolicy
from cbr.retrieval.retriever import Retriever
from cbr.store.arrays import Cases
from cbr.typing import Flags, Floats, Ints

#: The most known cases that the soft kernel compares with.
KNOWN = 60_000
#: Share of the known records on which its constants are fitted, and the most cases of these.
_FIT, _FITTED = 0.15, 1_500
#: From this correlation of each case's solution with the next on, cases count as sorted by it.
_SORTED = 0.6
#: Targets that are compared at a time.
AT_ONCE = 250


@dataclass(frozen=True)
class Split:
    """Indices of the known cases and of the cases to predict (`asked`), of different records.

    With `leave_out` both are all cases, and each is predicted without its own record.
    """

    known: Ints
    asked: Ints
    leave_out: bool = False


def split_by_time(cases: Cases, last: float = 0.2) -> list[Split]:
    """The share `last` of the records, the latest ones, is predicted from those before."""
    if not 0.0 < last < 1.0:
        raise BadValue(f"the last share of the records is {last:g}; it must be between 0 and 1")
    records = np.unique(cases.record)
    # A share that is too small to count is one record.
    edge = records[min(int(len(records) * (1.0 - last)), len(records) - 1)]
    return [_split(cases.record >= edge)]


def split_in_folds(
    cases: Cases, folds: int, rng: np.random.Generator, stratified: bool = False
) -> list[Split]:
    """Each record is predicted once, from the records of all other folds. `stratified` folds have
    about the same share of each solution, or are spread alike over the numbers: records are dealt
    to them in the order of their first case's solution."""
    records, first, of_case = np.unique(cases.record, return_index=True, return_inverse=True)
    if not 2 <= folds <= len(records):
        raise BadValue(f"{folds} folds of {len(records)} records; give 2 to {len(records)}")
    fold = rng.permutation(len(records)) % folds
    if stratified:
        solved = cases.solution if cases.numbers is None else cases.numbers
        order = np.lexsort((rng.random(len(records)), solved[first]))
        fold = np.empty(len(records), np.int64)
        # Every round of the deal begins with another fold, so that none gets the lowest of each.
        for begin in range(0, len(records), folds):
            some = order[begin : begin + folds]
            fold[some] = rng.permutation(folds)[: len(some)]
    return [_split(fold[of_case] == number) for number in range(folds)]


def grouped(cases: Cases, groups: Sequence[object]) -> Cases:
    """The cases, those of one group as if they were of one record; None is a group of its own."""
    numbers: dict[object, int] = {}
    record = [
        -1 - place if group is None else numbers.setdefault(group, len(numbers) + 1)
        for place, group in enumerate(groups)
    ]
    return dataclasses.replace(cases, record=np.array(record, np.int64))


def sorted_by_solution(cases: Cases) -> bool:
    """Whether cases that follow each other have the same solution far more often than by chance, or
    have numbers near each other: the last of them are then unlike the others."""
    order = np.argsort(cases.record, kind="stable")
    if len(order) < 20:
        return False
    if cases.numbers is not None:
        rank = np.argsort(np.argsort(cases.numbers[order]))
        return bool(np.corrcoef(rank[1:], rank[:-1])[0, 1] > _SORTED)
    solution = cases.solution[order]
    share = np.bincount(solution) / len(solution)
    by_chance = 1.0 - float((share**2).sum())
    return bool((solution[1:] != solution[:-1]).mean() < (1.0 - _SORTED) * by_chance)


def leave_one_out(cases: Cases) -> list[Split]:
    """Each record is predicted from all others."""
    if len(np.unique(cases.record)) < 2:
        raise EmptyStage("all cases are of one record, so none can predict another; build more")
    everything = np.arange(len(cases))
    return [Split(everything, everything, leave_out=True)]


def _split(asked: Flags) -> Split:
    split = Split(np.flatnonzero(~asked), np.flatnonzero(asked))
    if not len(split.known) or not len(split.asked):
        raise EmptyStage("too few records to split; build more")
    return split


def verify_predictable(cases: Cases) -> None:
    """Raise if all cases have the same solution: every prediction would be right."""
    if cases.numbers is not None:
        if len(np.unique(cases.numbers)) == 1:
            raise EmptyStage(
                f"all cases of stage {cases.case_type.stage!r} have the solution "
                f"{cases.numbers[0]:g}, so there is nothing to predict; build from others too"
            )
        return
    found = np.unique(cases.solution)
    if len(found) == 1:
        stage, only = cases.case_type.stage, cases.case_type.solutions[int(found[0])]
        raise EmptyStage(
            f"stage {stage!r} has cases of one solution only ({only!r}), so there is nothing to "
            "predict; build from records with other solutions too"
        )


def some_of(places: Ints, most: int, rng: np.random.Generator) -> Ints:
    """At most `most` of the places, drawn at random, in order."""
    return np.sort(rng.permutation(places)[: max(1, most)])


def by_rule(
    cases: Cases, measures: Sequence[Bound], policy: RetrievalPolicy, weights: Floats, task: Split
) -> Floats:
    """Probabilities by the retrieval policy, with one case of each solution added, [q, s]."""
    mine = retriever_of_known(cases, measures, policy, weights, task)
    if task.leave_out:
        taken = _taken_without(mine, *retrieved_without(mine, cases, task))
    else:
        taken = mine.many(cases.values[task.asked]).taken
    added: Floats = taken + 1.0
    chances: Floats = added / added.sum(axis=1, keepdims=True)
    return chances


def retriever_of_known(
    cases: Cases, measures: Sequence[Bound], policy: RetrievalPolicy, weights: Floats, task: Split
) -> Retriever:
    """Retrieval from the cases that a task knows."""
    vectors = (cases if task.leave_out else cases.take(task.known)).vectors()
    return Retriever(vectors, measures, weights, policy, TreeIndex(vectors, measures))


def retrieved_without(
    mine: Retriever, cases: Cases, task: Split
) -> tuple[NearestVectors, list[Ints]]:
    """The vectors retrieved for the cases asked without their records, and the cases left out of
    each, by place in `Vectors.case_ids`."""
    out = places_of_records(mine.vectors, cases, task.asked)
    codes = cases.values[task.asked]
    rows = np.broadcast_to(mine.weights, codes.shape)
    return nearest_without(mine, codes, rows, out), out


def _taken_without(mine: Retriever, found: NearestVectors, out: Sequence[Ints]) -> Floats:
    """Retrieved cases by solution for each target, some of them left out, [q, s]."""
    vectors, vector = mine.vectors, vector_of_case(mine.vectors)
    taken = np.empty((len(out), vectors.counts.shape[1]))
    for at, places in enumerate(out):
        span = slice(found.start[at], found.start[at + 1])
        number, counts = found.number[span], vectors.counts[found.number[span]]
        for place in places.tolist():
            counts[number == vector[place], vectors.case_solutions[place]] -= 1
        taken[at] = found.share[span] @ counts
    return taken


def by_kernel(
    cases: Cases, measures: Sequence[Bound], weights: Floats, task: Split
) -> tuple[Floats, Constants]:
    """Probabilities by the soft kernel [q, s], with constants fitted to the weights."""
    soft = SoftKernel.of(cases, measures)
    rest, fitted, some = parts_to_fit(cases, task)
    constants = fit_constants(soft, weights, rest, fitted, KNOWN)
    # Alpha was fitted for the number of cases in `rest`.
    alpha = constants.alpha * len(some) / len(rest)
    chances = [
        soft.similarities(part, some, weights).chances(constants.beta, alpha)
        for part in np.array_split(task.asked, -(-len(task.asked) // AT_ONCE))
    ]
    return np.concatenate(chances), constants


def parts_to_fit(cases: Cases, task: Split) -> tuple[Ints, Ints, Ints]:
    """Of the known cases: some to fit the kernel's constants from, the cases of other records to
    fit them on, and those that it compares with when they are fitted."""
    rng = np.random.default_rng(len(task.known))
    records = np.unique(cases.record[task.known])
    if len(records) < 2:
        raise EmptyStage("the known cases are of one record, so nothing can be fitted; build more")
    few = rng.choice(records, max(1, int(_FIT * len(records))), replace=False)
    held = np.isin(cases.record, few)[task.known]
    rest, fitted = task.known[~held], some_of(task.known[held], _FITTED, rng)
    return rest, fitted, some_of(task.known, KNOWN, rng)


def log_loss(chances: Floats, done: Ints) -> Floats:
    """Minus the logarithm of the probability of the true solution, [q]."""
    loss: Floats = -np.log(np.maximum(chances[np.arange(len(done)), done], 1e-12))
    return loss
