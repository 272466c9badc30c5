"""Retrieval in which each target leaves some cases out: itself, and others of its record.

So the cases of a stage are predicted from one another. The index finds enough more cases than the
policy can take; without those left out, they are cut to its reach as `ranking` defines it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cbr.errors import BadValue
from cbr.retrieval.index.base import NearestVectors, Reach, joined
from cbr.retrieval.retriever import Retriever
from cbr.store.arrays import Cases, Vectors
from cbr.typing import Floats, Ints


def nearest_without(
    mine: Retriever, codes: NDArray[np.float32], weights: Floats, out: Sequence[Ints]
) -> NearestVectors:
    """The vectors that the policy retrieves for each target, without the cases `out[i]` of it (by
    place in `Vectors.case_ids`)."""
    if not mine.policy.takes_all:
        raise BadValue(
            f"leave-one-out works with the policies threshold, top and radius, "
            f"not {mine.policy.name!r}"
        )
    reach, vector = mine.policy.looks, vector_of_case(mine.vectors)
    above, cap, fallback = reach.numbers
    more = max((len(places) for places in out), default=0)
    found = mine.nearest(codes, weights, Reach(above, cap + more, fallback + more))
    parts = [_cut(mine, found.of(at), vector[out[at]], reach) for at in range(len(codes))]
    # Where only cases that are left out are above the threshold, the nearest others are needed.
    alone = [at for at, part in enumerate(parts) if fallback and not len(part.number)]
    if alone:
        found = mine.nearest(codes[alone], weights[alone], Reach(2.0, fallback=fallback + more))
        for place, at in enumerate(alone):
            parts[at] = _cut(mine, found.of(place), vector[out[at]], reach)
    return joined(parts)


def _cut(mine: Retriever, found: NearestVectors, without: Ints, reach: Reach) -> NearestVectors:
    """The vectors of one target without some cases, given by their vectors."""
    cases = mine.vectors.cases[found.number].copy()
    for vector in without.tolist():
        cases[found.number == vector] -= 1
    left = cases > 0
    return mine.cut(found.number[left], found.similarity[left], reach, cases[left])


def vector_of_case(vectors: Vectors) -> Ints:
    """The vector of each case, [n]."""
    return np.repeat(np.arange(len(vectors)), vectors.cases)


def places_of_records(vectors: Vectors, cases: Cases, asked: Ints) -> list[Ints]:
    """For each case asked, the places in `Vectors.case_ids` of all cases of its record."""
    order = np.argsort(vectors.case_ids)
    place = order[np.searchsorted(vectors.case_ids, cases.ids, sorter=order)]
    by_record = np.argsort(cases.record, kind="stable")
    record = cases.record[by_record]
    first = np.searchsorted(record, cases.record[asked], "left")
    last = np.searchsorted(record, cases.record[asked], "right")
    return [place[by_record[a:b]] for a, b in zip(first.tolist(), last.tolist(), strict=True)]
