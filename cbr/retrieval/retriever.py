"""Retrieve: the cases most like a target, by the weighted mean of local similarities.

The retrieved set is defined once, and every faster way must agree with it: each distinct vector is
scored in float64 from float32 features, summed in feature order, and ranked as `ranking` says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cbr.case import CaseType, Value
from cbr.errors import BadValue, BadWeights, NoSuchName, PluginFailure
from cbr.measure import Bound
from cbr.plugging.guard import frozen, guarded
from cbr.plugging.plugins import Plugins, default_plugins
from cbr.retrieval.index.base import Found, Index, Reach
from cbr.retrieval.ranking import TOLERANCE, Ranking, RetrievalPolicy, capped, millionths, within
from cbr.spec import Spec
from cbr.store.arrays import Vectors
from cbr.typing import Flags, Floats, Ints
from cbr.weights import GivenWeights, weights_of

if TYPE_CHECKING:
    from cbr.store.casebase import Casebase

#: How many remembered similarities a retriever may hold, in numbers of 8 bytes.
_REMEMBERED = 8_000_000


@dataclass(frozen=True, eq=False)
class Retrieved:
    """What was retrieved for a target, nearest first: vectors with similarity and share.

    Where `allowed` [s] is given, cases with a solution that is not allowed count for nothing.
    """

    retriever: Retriever
    target: Mapping[str, Value]
    number: Ints
    similarity: Floats
    share: Floats
    allowed: Flags | None = None

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

    def _scaled(self, table: NDArray[Any]) -> Floats:
        scaled: Floats = self.share[:, None] * table[self.number]
        return scaled if self.allowed is None else scaled * self.allowed

    def case_ids(self, place: int) -> Ints:
        """Numbers of the cases that are the place-th vector."""
        vector = self.number[place]
        return self.vectors.case_ids[self.vectors.start[vector] : self.vectors.start[vector + 1]]

    def local(self) -> Floats:
        """Local similarity of each retrieved vector in each feature, [k, d]; NaN if unknown."""
        return self.retriever.local(self.target, self.number)


@dataclass(frozen=True, eq=False)
class RetrievedMany:
    """What was retrieved for many targets; ``many[i]`` is what was for one.

    `codes` [q, d] are the targets, 0 where `weights` [q, d] says that a feature does not count.
    Those of target i are ``number[start[i]:start[i + 1]]``, with similarity and share.
    """

    retriever: Retriever
    codes: NDArray[np.float32]
    weights: Floats
    start: Ints
    number: Ints
    similarity: Floats
    share: Floats
    allowed: Flags | None = None

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
        allowed = None if self.allowed is None else self.allowed[place]
        taken = (self.number[span], self.similarity[span], self.share[span])
        return Retrieved(one, MappingProxyType(target), *taken, allowed)

    @cached_property
    def taken(self) -> Floats:
        """Cases by solution, [q, s]."""
        return self._sums(self.vectors.counts, self.share)

    @cached_property
    def weighted(self) -> Floats:
        """Cases by solution, each counting by its similarity, [q, s]."""
        return self._sums(self.vectors.counts, self.share * self.similarity)

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
        total = self._sums(self.vectors.outcome_sum, self.share)
        return _mean(total, self._sums(self.vectors.outcome_count, self.share))

    def mean_value(self) -> Floats:
        """Average estimated value of each solution, [q, s]; NaN where none was estimated."""
        if self.vectors.estimates is None:
            return np.full((len(self), len(self.case_type.solutions)), np.nan)
        total, number = (self._sums(part, self.share) for part in self.vectors.estimates)
        return _mean(total, number)

    def _sums(self, table: NDArray[Any], share: Floats) -> Floats:
        target = np.repeat(np.arange(len(self)), np.diff(self.start))
        sums = [np.bincount(target, share * column[self.number], len(self)) for column in table.T]
        found = np.column_stack(sums).astype(np.float64)
        return found if self.allowed is None else found * self.allowed


def _mean(total: Floats, known: Floats) -> Floats:
    mean: Floats = np.full(total.shape, np.nan)
    np.divide(total, known, out=mean, where=known > 0)
    return mean


@dataclass(eq=False)
class Retriever:
    """Retrieval from one stage, settled once and used for many targets."""

    vectors: Vectors
    measures: Sequence[Bound]
    weights: Floats
    policy: RetrievalPolicy
    index: Index

    def __post_init__(self) -> None:
        self._rows: list[dict[float, Floats]] = [{} for _ in self.measures]
        self._remembered = 0

    def __call__(self, target: Mapping[str, object]) -> Retrieved:
        """Retrieve for a target given by feature; a feature not given does not count."""
        known = self.vectors.case_type.read(target)
        codes, weights = self.encode(known)
        _, *taken = self._chosen(codes[None], weights[None])
        return Retrieved(self, MappingProxyType(known), *(frozen(part) for part in taken))

    def many(
        self, codes: NDArray[np.floating[Any]], weights: NDArray[np.floating[Any]] | None = None
    ) -> RetrievedMany:
        """Retrieve for many targets: `codes` [q, d] as `encode` gives them, NaN where not known.

        `weights` [q, d] may differ from target to target.
        """
        given = np.asarray(codes, np.float32)
        if given.ndim != 2 or given.shape[1] != len(self.measures):
            raise BadValue(f"targets must be [q, {len(self.measures)}], not {given.shape}")
        chosen = self.weights if weights is None else np.asarray(weights, np.float64)
        if not (np.isfinite(chosen) & (chosen >= 0)).all():
            raise BadWeights("a weight is below 0, or no number")
        chosen = np.where(np.isnan(given), 0.0, np.broadcast_to(chosen, given.shape))
        if not chosen.any(axis=1).all():
            raise BadValue(
                f"target {np.flatnonzero(~chosen.any(axis=1))[0]} gives no feature with a weight"
            )
        targets = np.nan_to_num(given) + np.float32(0)
        return RetrievedMany(self, targets, chosen, *self._chosen(targets, chosen))

    def _chosen(
        self, codes: NDArray[np.float32], weights: Floats
    ) -> tuple[Ints, Ints, Floats, Floats]:
        """What the policy takes for each target: start, number, similarity, share."""
        found = self.nearest(codes, weights, self.policy.looks)
        if self.policy.takes_all:
            return found
        shares = []
        for place in range(len(codes)):
            span = slice(found.start[place], found.start[place + 1])
            ranking = Ranking(self.vectors, found.number[span], found.similarity[span])
            share = self.policy(ranking)
            _verify_shares(self.policy, share, len(ranking))
            shares.append(share)
        share = np.concatenate(shares)
        kept = share > 0
        start = np.append(0, np.cumsum(kept))[found.start]
        return start, found.number[kept], found.similarity[kept], share[kept]

    def rank(self, target: Mapping[str, Value], reach: Reach | None = None) -> Ranking:
        """Vectors nearest first, as far as the policy (or `reach`) looks."""
        codes, weights = self.encode(target)
        found = self.nearest(codes[None], weights[None], reach or self.policy.looks)
        return Ranking(self.vectors, frozen(found.number), frozen(found.similarity))

    def nearest(self, codes: NDArray[np.float32], weights: Floats, reach: Reach) -> Found:
        """What the reach includes for each target, nearest first, with its share."""
        exact = getattr(self.index, "nearest", None)
        if exact is not None:
            with guarded("the index"):
                found: Found = exact(codes, weights, reach)
                return found
        numbers: list[Ints] = [np.empty(0, np.int64)]
        similarities: list[Floats] = [np.empty(0)]
        shares: list[Floats] = [np.empty(0)]
        for target, weight, number in zip(
            codes, weights, self._candidates(codes, weights, reach), strict=True
        ):
            similarity = self.score(target, weight, number)
            near = within(similarity, self.vectors.cases[number], reach)
            number, similarity = number[near], similarity[near]
            order = np.lexsort((number, -millionths(similarity)))
            number, similarity = number[order], similarity[order]
            inside = bool(len(similarity)) and similarity[0] > reach.above - TOLERANCE
            room = reach.cap if inside else reach.fallback
            share = capped(millionths(similarity), self.vectors.cases[number], max(room, 1))
            kept = share > 0
            numbers.append(number[kept])
            similarities.append(similarity[kept])
            shares.append(share[kept])
        start = np.cumsum([len(number) for number in numbers])
        joined = np.concatenate(numbers), np.concatenate(similarities), np.concatenate(shares)
        return Found(start, *joined)

    def _candidates(self, codes: NDArray[np.float32], weights: Floats, reach: Reach) -> list[Ints]:
        """What the index proposes for each target, each number once and in order."""
        with guarded("the index"):
            proposed = [np.asarray(p) for p in self.index.candidates(codes, weights, reach)]
            whole = all(np.issubdtype(p.dtype, np.integer) or not len(p) for p in proposed)
            if len(proposed) != len(codes) or any(p.ndim != 1 for p in proposed) or not whole:
                raise PluginFailure("the index must propose a row of whole numbers for each target")
            numbers = [np.unique(p.astype(np.int64)) for p in proposed]
        for number in numbers:
            if len(number) and not (number[0] >= 0 and number[-1] < len(self.vectors)):
                raise PluginFailure(
                    f"the index proposes vector {number[0] if number[0] < 0 else number[-1]}; "
                    f"there are 0 to {len(self.vectors) - 1}"
                )
        return numbers

    def encode(self, target: Mapping[str, Value]) -> tuple[NDArray[np.float32], Floats]:
        """The target as codes, and the weights with 0 for each feature that it leaves open."""
        indexed = self.vectors.case_type.indexed
        codes = [f.encode(target[f.name]) if f.name in target else 0.0 for f in indexed]
        weights = self.weights
        if len(target) < len(indexed) or any(f.name not in target for f in indexed):
            weights = weights * [feature.name in target for feature in indexed]
        if not weights.any():
            weighty = [f.name for f, w in zip(indexed, self.weights, strict=True) if w]
            raise BadValue(
                f"the target gives no feature with a weight; give one of {', '.join(weighty)}"
            )
        return frozen(np.array(codes, np.float32) + np.float32(0)), frozen(weights)

    def score(self, codes: NDArray[np.float32], weights: Floats, number: Ints) -> Floats:
        """Similarity of a target to the vectors with these numbers, [len(number)]."""
        total = np.zeros(len(number))
        everything = len(number) == len(self.vectors)
        for place in np.flatnonzero(weights):
            of_vector = self.vectors.columns[place][1]
            of_vector = of_vector if everything else of_vector[number]
            total += weights[place] * self._row(int(place), float(codes[place]))[of_vector]
        # Weights are summed in feature order, as similarities are.
        mean: Floats = total / weights.cumsum()[-1]
        return mean

    def local(self, target: Mapping[str, Value], number: Ints) -> Floats:
        """Local similarities of a target to some vectors, [len(number), d]; NaN if unknown."""
        codes, _ = self.encode(target)
        found = np.full((len(number), len(self.measures)), np.nan)
        for place, feature in enumerate(self.vectors.case_type.indexed):
            if feature.name in target:
                row = self._row(place, float(codes[place]))
                found[:, place] = row[self.vectors.columns[place][1][number]]
        return found

    def _row(self, place: int, code: float) -> Floats:
        """Similarity of one value to every distinct value of a feature, remembered."""
        row = self._rows[place].get(code)
        if row is None:
            distinct = self.vectors.columns[place][0]
            row = self.measures[place].grid(np.array([code], np.float32), distinct)[0]
            if self._remembered + len(row) > _REMEMBERED:
                self._rows = [{} for _ in self.measures]
                self._remembered = 0
            self._rows[place][code] = row
            self._remembered += len(row)
        return row


def retriever_of(
    base: Casebase,
    stage: str | None = None,
    *,
    weights: GivenWeights = "",
    policy: str = "",
    similarity: Mapping[str, str] | None = None,
    index: str = "auto",
    vectors: Vectors | None = None,
    plugins: Plugins | None = None,
) -> Retriever:
    """A retriever for a stage; what is not given is what its case type says.

    `weights` as `weights_of` takes them, `policy` and `index` by spec and name, `similarity` a
    spec for each feature that shall be compared otherwise, `vectors` where not all cases count.
    """
    plugins = plugins or default_plugins()
    vectors = base.vectors(base.stage(stage)) if vectors is None else vectors
    case_type = vectors.case_type
    specs = {feature.name: feature.similarity for feature in case_type.indexed}
    for name, spec in (similarity or {}).items():
        case_type.position(name)
        specs[name] = spec
    wanted, kind = Spec.parse(policy or case_type.retrieval), Spec.parse(index)
    measures = [_bound(plugins, case_type.feature(name), spec) for name, spec in specs.items()]
    return Retriever(
        vectors,
        measures,
        np.asarray(weights_of(case_type, weights, plugins), np.float64),
        plugins.get("retrieval policy", wanted.name).bind(wanted),
        plugins.get("index", kind.name).make(vectors, measures, kind),
    )


def retrieve(
    base: Casebase, stage: str | None, target: Mapping[str, object], **options: Any
) -> Retrieved:
    """Retrieve once; `options` are those of `retriever`."""
    return retriever_of(base, stage, **options)(target)


def _bound(plugins: Plugins, feature: Any, text: str) -> Bound:
    spec = Spec.parse(text)
    try:
        bound: Bound = plugins.get("similarity", spec.name).bind(feature, spec)
    except NoSuchName as error:
        raise BadValue(
            f"feature {feature.name!r}: {error} (a plugin may bring it: --plugin FILE.py)"
        ) from None
    return bound


def _verify_shares(policy: RetrievalPolicy, share: Floats, vectors: int) -> None:
    if share.shape != (vectors,) or not ((share >= 0) & (share <= 1)).all():
        raise PluginFailure(
            f"retrieval policy {policy.name!r} must return a share between 0 and 1 for each of the "
            f"{vectors} vectors ranked"
        )
