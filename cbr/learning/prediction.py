"""Prediction: the probability of each solution in held-out cases.

Cases are split by record and never by decision, because decisions of one record depend on each
other. There are two predictors:

rule   the retrieval policy, with one case of each solution added (so that none has probability 0)
soft   the soft kernel, whose two constants are fitted on the known cases
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cbr.errors import BadValue, EmptyStage
from cbr.learning.kernel import Constants, SoftKernel, fit_constants
from cbr.measure import Bound
from cbr.retrieval.index.base import Scan
from cbr.retrieval.index.tree import TreeIndex
from cbr.retrieval.policies import RetrievalPolicy
from cbr.retrieval.retriever import Retriever
from cbr.store.arrays import Cases, Vectors
from cbr.typing import Flags, Floats, Ints

#: The most known cases that the soft kernel compares with.
_KNOWN = 60_000
#: Share of the known records on which its constants are fitted, and the most cases of these.
_FIT, _FITTED = 0.15, 1_500
#: Targets that are compared at a time.
_AT_ONCE = 250


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


def split_in_folds(cases: Cases, folds: int, rng: np.random.Generator) -> list[Split]:
    """Each record is predicted once, from the records of all other folds."""
    records, of_case = np.unique(cases.record, return_inverse=True)
    if not 2 <= folds <= len(records):
        raise BadValue(f"{folds} folds of {len(records)} records; give 2 to {len(records)}")
    fold = rng.permutation(len(records)) % folds
    return [_split(fold[of_case] == number) for number in range(folds)]


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
    known = cases if task.leave_out else cases.take(task.known)
    vectors = known.vectors()
    index = Scan(vectors, measures) if task.leave_out else TreeIndex(vectors, measures)
    mine = Retriever(vectors, measures, weights, policy, index)
    if task.leave_out:
        taken = np.array(list(_without_own(mine, cases, task.asked)))
    else:
        taken = mine.many(cases.values[task.asked]).taken
    added: Floats = taken + 1.0
    chances: Floats = added / added.sum(axis=1, keepdims=True)
    return chances


def _without_own(mine: Retriever, cases: Cases, asked: Ints) -> Iterator[Floats]:
    """Retrieved cases by solution for each target, its own record left out."""
    vectors, reach = mine.vectors, mine.policy.looks
    if not mine.policy.takes_all:
        raise BadValue(
            f"leave-one-out works with the policies threshold, top and radius, "
            f"not {mine.policy.name!r}"
        )
    place = dict(zip(vectors.case_ids.tolist(), _vector_of_case(vectors), strict=True))
    of_record: dict[int, list[int]] = {}
    for at, record in enumerate(cases.record.tolist()):
        of_record.setdefault(record, []).append(at)
    for at in asked.tolist():
        counts = vectors.counts.copy()
        for other in of_record[int(cases.record[at])]:
            counts[place[int(cases.ids[other])], cases.solution[other]] -= 1
        left = np.flatnonzero(counts.any(axis=1))
        similarity = mine.score(cases.values[at], mine.weights, left)
        found = mine.cut(left, similarity, reach, counts[left].sum(axis=1))
        yield found.share @ counts[found.number]


def _vector_of_case(vectors: Vectors) -> list[int]:
    return np.repeat(np.arange(len(vectors)), np.diff(vectors.start)).tolist()


def by_kernel(
    cases: Cases, measures: Sequence[Bound], weights: Floats, task: Split
) -> tuple[Floats, Constants]:
    """Probabilities by the soft kernel [q, s], with constants fitted to the weights."""
    soft = SoftKernel.of(cases, measures)
    rng = np.random.default_rng(len(task.known))
    records = np.unique(cases.record[task.known])
    if len(records) < 2:
        raise EmptyStage("the known cases are of one record, so nothing can be fitted; build more")
    few = rng.choice(records, max(1, int(_FIT * len(records))), replace=False)
    held = np.isin(cases.record, few)
    fitted = task.known[held[task.known]]
    rest = task.known[~held[task.known]]
    constants = fit_constants(soft, weights, rest, some_of(fitted, _FITTED, rng), _KNOWN)
    some = some_of(task.known, _KNOWN, rng)
    # Alpha was fitted for the number of cases in `rest`.
    alpha = constants.alpha * len(some) / len(rest)
    chances = [
        soft.similarities(part, some, weights).chances(constants.beta, alpha)
        for part in np.array_split(task.asked, -(-len(task.asked) // _AT_ONCE))
    ]
    return np.concatenate(chances), constants


def log_loss(chances: Floats, done: Ints) -> Floats:
    """Minus the logarithm of the probability of the true solution, [q]."""
    loss: Floats = -np.log(np.maximum(chances[np.arange(len(done)), done], 1e-12))
    return loss
