"""The retrieved set of one target or of many, and the evidence that reuse policies use."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from cbr.case import CaseType, Value
from cbr.store.arrays import Vectors
from cbr.typing import Flags, Floats, Ints

if TYPE_CHECKING:
    from cbr.retrieval.retriever import Retriever


class Evidence(Protocol):
    """Counts and means by solution over retrieved cases: all that a batched reuse policy may use.

    Arrays are [s] for one target or [q, s] for many: the last axis is the solutions. Cases whose
    solution is not `allowed` (if that is given) do not count.
    """

    @property
    def vectors(self) -> Vectors:
        """The stage from which the cases were retrieved."""
        ...

    @property
    def case_type(self) -> CaseType: ...

    @property
    def allowed(self) -> Flags | None:
        """Which solutions may be chosen."""
        ...

    @property
    def taken(self) -> Floats:
        """Cases by solution."""
        ...

    @property
    def weighted(self) -> Floats:
        """Cases by solution, each counting by its similarity."""
        ...

    def mean_outcome(self) -> Floats:
        """Average known outcome of each solution; NaN where none is known."""
        ...

    def mean_value(self) -> Floats:
        """Average estimated value of each solution; NaN where none was estimated."""
        ...

    def allowing(self, allowed: Flags) -> Self:
        """The same evidence, in which only these solutions may be chosen."""
        ...

    def with_taken(self, taken: Floats) -> Self:
        """The same evidence with other numbers of cases by solution."""
        ...


class EvidenceForMany(Evidence, Protocol):
    """Evidence for many targets; ``many[i]`` is that for one."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: int, /) -> Evidence: ...


@dataclass(frozen=True, eq=False)
class Retrieved:
    """The retrieved set of one target, nearest first: vectors with similarity and share.

    If `allowed` [s] is given, cases whose solution is not allowed do not count. `assumed` [s] are
    numbers of cases by solution that replace those of the retrieved cases.
    """

    retriever: Retriever
    target: Mapping[str, Value]
    number: Ints
    similarity: Floats
    share: Floats
    allowed: Flags | None = None
    assumed: Floats | None = None

    @property
    def vectors(self) -> Vectors:
        return self.retriever.vectors

    @property
    def case_type(self) -> CaseType:
        return self.vectors.case_type

    @cached_property
    def counts(self) -> Floats:
        """Cases by vector and solution, scaled by the share, [k, s]."""
        return self._scaled(self.vectors.counts)

    @property
    def taken(self) -> Floats:
        """Cases by solution, [s]."""
        if self.assumed is not None:
            return self.assumed
        taken: Floats = self.counts.sum(0)
        return taken

    @property
    def weighted(self) -> Floats:
        """Cases by solution, each counting by its similarity, [s]."""
        weighted: Floats = self.similarity @ self.counts
        return weighted

    @property
    def cases(self) -> float:
        """How many cases were retrieved."""
        return float(self.counts.sum())

    def mean_outcome(self) -> Floats:
        """Average known outcome of each solution, [s]; NaN where none is known."""
        total = self._scaled(self.vectors.outcome_sum).sum(0)
        known = self._scaled(self.vectors.outcome_count).sum(0)
        return _mean(total, known)

    def mean_value(self) -> Floats:
        """Average estimated value of each solution, [s]; NaN where none was estimated."""
        if self.vectors.estimates is None:
            return np.full(len(self.case_type.solutions), np.nan)
        total, number = (self._scaled(part).sum(0) for part in self.vectors.estimates)
        return _mean(total, number)

    def allowing(self, allowed: Flags) -> Retrieved:
        return dataclasses.replace(self, allowed=allowed)

    def with_taken(self, taken: Floats) -> Retrieved:
        return dataclasses.replace(self, assumed=taken)

    def _scaled(self, table: NDArray[Any]) -> Floats:
        scaled: Floats = self.share[:, None] * table[self.number]
        return scaled if self.allowed is None else scaled * self.allowed

    def case_ids(self, place: int) -> Ints:
        """Numbers of the cases of the vector at this place."""
        vector = self.number[place]
        return self.vectors.case_ids[self.vectors.start[vector] : self.vectors.start[vector + 1]]

    def local(self) -> Floats:
        """Local similarity of each retrieved vector in each feature, [k, d]; NaN if not given."""
        return self.retriever.local(self.target, self.number)


@dataclass(frozen=True, eq=False)
class RetrievedMany:
    """The retrieved sets of many targets; ``many[i]`` is that of one.

    `codes` [q, d] are the targets, 0 where the feature has no weight in `weights` [q, d]. The
    vectors of target i are ``number[start[i]:start[i + 1]]``, with similarity and share. `allowed`
    and `assumed` [q, s] are as in `Retrieved`.
    """

    retriever: Retriever
    codes: NDArray[np.float32]
    weights: Floats
    start: Ints
    number: Ints
    similarity: Floats
    share: Floats
    allowed: Flags | None = None
    assumed: Floats | None = None

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def vectors(self) -> Vectors:
        return self.retriever.vectors

    @property
    def case_type(self) -> CaseType:
        return self.vectors.case_type

    def __getitem__(self, place: int) -> Retrieved:
        span = slice(self.start[place], self.start[place + 1])
        target = {
            feature.name: feature.decode(float(code))
            for feature, code, weight in zip(
                self.case_type.indexed, self.codes[place], self.weights[place], strict=True
            )
            if weight
        }
        one = dataclasses.replace(self.retriever, weights=self.weights[place])
        found = (self.number[span], self.similarity[span], self.share[span])
        known = (None if row is None else row[place] for row in (self.allowed, self.assumed))
        return Retrieved(one, MappingProxyType(target), *found, *known)

    @cached_property
    def taken(self) -> Floats:
        """Cases by solution, [q, s]."""
        return self.summed(self.vectors.counts) if self.assumed is None else self.assumed

    @cached_property
    def weighted(self) -> Floats:
        """Cases by solution, each counting by its similarity, [q, s]."""
        return self.summed(self.vectors.counts, self.share * self.similarity)

    @property
    def cases(self) -> Floats:
        """How many cases were retrieved, [q]."""
        cases: Floats = self.taken.sum(axis=1)
        return cases

    @property
    def most_similar(self) -> Floats:
        """Similarity of the nearest one, [q]; NaN where there is none."""
        found = np.full(len(self), np.nan)
        some = np.diff(self.start) > 0
        found[some] = self.similarity[self.start[:-1][some]]
        return found

    def mean_outcome(self) -> Floats:
        """Average known outcome of each solution, [q, s]; NaN where none is known."""
        total = self.summed(self.vectors.outcome_sum)
        return _mean(total, self.summed(self.vectors.outcome_count))

    def mean_value(self) -> Floats:
        """Average estimated value of each solution, [q, s]; NaN where none was estimated."""
        if self.vectors.estimates is None:
            return np.full((len(self), len(self.case_type.solutions)), np.nan)
        total, number = (self.summed(part) for part in self.vectors.estimates)
        return _mean(total, number)

    def allowing(self, allowed: Flags) -> RetrievedMany:
        return dataclasses.replace(self, allowed=allowed)

    def with_taken(self, taken: Floats) -> RetrievedMany:
        return dataclasses.replace(self, assumed=taken)

    def summed(self, table: NDArray[Any], share: Floats | None = None) -> Floats:
        """Rows of a table by vector [m, s], summed over each target's vectors by share, [q, s]."""
        share = self.share if share is None else share
        target = np.repeat(np.arange(len(self)), np.diff(self.start))
        sums = [np.bincount(target, share * column[self.number], len(self)) for column in table.T]
        found = np.column_stack(sums).astype(np.float64)
        return found if self.allowed is None else found * self.allowed


def _mean(total: Floats, known: Floats) -> Floats:
    mean: Floats = np.full(total.shape, np.nan)
    np.divide(total, known, out=mean, where=known > 0)
    return mean
