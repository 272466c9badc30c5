"""Retrieve: the cases most similar to a target, by the weighted mean of local similarities.

The retrieved set is defined by `scoring` (the similarity of each distinct vector) and `ranking`
(their order, and the cap); every faster method must return the same set.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cbr.case import CaseType, Value
from cbr.errors import BadValue, BadWeights, NoSuchName, PluginFailure
from cbr.measure import Bound
from cbr.missing import Gaps, verify_rule
from cbr.plugging.guard import frozen, guarded
from cbr.plugging.plugins import Plugins, default_plugins
from cbr.retrieval import ranking
from cbr.retrieval.index.base import Index, NearestVectors, Reach, joined
from cbr.retrieval.policies import RetrievalPolicy
from cbr.retrieval.ranking import Ranking
from cbr.retrieval.retrieved import Retrieved, RetrievedMany
from cbr.retrieval.scoring import Scorer, stated
from cbr.spec import Spec
from cbr.store.arrays import Vectors
from cbr.typing import Floats, Ints
from cbr.weights import GivenWeights, weights_of

if TYPE_CHECKING:
    from cbr.store.casebase import Casebase


@dataclass(eq=False)
class Retriever:
    """Retrieval from one stage: vectors, measures, weights, policy and index, for any target."""

    vectors: Vectors
    measures: Sequence[Bound]
    weights: Floats
    policy: RetrievalPolicy
    index: Index

    def __post_init__(self) -> None:
        self._scorer = Scorer(self.vectors, self.measures)

    def __call__(self, target: Mapping[str, object]) -> Retrieved:
        """Retrieve for a target given by feature; a feature not given, or missing (None, NaN), is
        not compared."""
        known = self.vectors.case_type.read(target)
        codes, weights = self.encode(known)
        _, *taken = self._chosen(codes[None], weights[None])
        return Retrieved(self, MappingProxyType(known), *(frozen(part) for part in taken))

    def many(
        self, codes: NDArray[np.floating[Any]], weights: NDArray[np.floating[Any]] | None = None
    ) -> RetrievedMany:
        """Retrieve for many targets: `codes` [q, d] as `encode` gives them, NaN where not known.

        `weights` [q, d] may differ from target to target. A target of which nothing is known has
        similarity 0 to every vector.
        """
        given = np.asarray(codes, np.float32)
        if given.ndim != 2 or given.shape[1] != len(self.measures):
            raise BadValue(f"targets must be [q, {len(self.measures)}], not {given.shape}")
        chosen = self.weights if weights is None else np.asarray(weights, np.float64)
        if not (np.isfinite(chosen) & (chosen >= 0)).all():
            raise BadWeights("a weight is below 0, or not a number")
        if not chosen.any(axis=-1).all():
            raise BadWeights("all weights of a target are 0; at least one must be above 0")
        targets, chosen = stated(given + np.float32(0), np.broadcast_to(chosen, given.shape))
        return RetrievedMany(self, targets, chosen, *self._chosen(targets, chosen))

    def _chosen(
        self, codes: NDArray[np.float32], weights: Floats
    ) -> tuple[Ints, Ints, Floats, Floats]:
        """The vectors retrieved for each target: start, number, similarity, share."""
        found = self.nearest(codes, weights, self.policy.looks)
        if self.policy.takes_all:
            return found
        shares = []
        for place in range(len(codes)):
            span = slice(found.start[place], found.start[place + 1])
            ranked = Ranking(self.vectors, found.number[span], found.similarity[span])
            shares.append(self.policy.shares(ranked))
        share = np.concatenate(shares)
        kept = share > 0
        start = np.append(0, np.cumsum(kept))[found.start]
        return start, found.number[kept], found.similarity[kept], share[kept]

    def rank(self, target: Mapping[str, Value], reach: Reach | None = None) -> Ranking:
        """The vectors within the reach (default: that of the policy), nearest first."""
        codes, weights = self.encode(target)
        found = self.nearest(codes[None], weights[None], reach or self.policy.looks)
        return Ranking(self.vectors, frozen(found.number), frozen(found.similarity))

    def nearest(self, codes: NDArray[np.float32], weights: Floats, reach: Reach) -> NearestVectors:
        """The vectors within the reach of each target, nearest first, with their shares; `codes`
        [q, d] are NaN where a target lacks a feature."""
        codes, weights = stated(codes, weights)
        some = weights.any(axis=1)
        if some.all():
            return self._nearest(codes, weights, reach)
        everything = np.arange(len(self.vectors))
        tied = self.cut(everything, np.zeros(len(everything)), reach)
        parts = [tied] * len(codes)
        if some.any():
            found = self._nearest(codes[some], weights[some], reach)
            for place, at in enumerate(np.flatnonzero(some).tolist()):
                parts[at] = found.of(place)
        return joined(parts)

    def _nearest(self, codes: NDArray[np.float32], weights: Floats, reach: Reach) -> NearestVectors:
        exact = getattr(self.index, "nearest", None)
        if exact is not None:
            with guarded("the index"):
                found: NearestVectors = exact(codes, weights, reach)
                return found
        proposed = self._candidates(codes, weights, reach)
        return joined(
            [
                self.cut(number, self.score(target, weight, number), reach)
                for target, weight, number in zip(codes, weights, proposed, strict=True)
            ]
        )

    def cut(
        self, number: Ints, similarity: Floats, reach: Reach, cases: Ints | None = None
    ) -> NearestVectors:
        """One target's scored vectors within the reach; `cases` is given if not all cases count."""
        cases = self.vectors.cases[number] if cases is None else cases
        return ranking.nearest(reach, np.zeros_like(number), number, similarity, cases, 1)

    def _candidates(self, codes: NDArray[np.float32], weights: Floats, reach: Reach) -> list[Ints]:
        """The candidates of the index for each target, each number once and in order."""
        with guarded("the index"):
            proposed = [np.asarray(p) for p in self.index.candidates(codes, weights, reach)]
            whole = all(np.issubdtype(p.dtype, np.integer) or not len(p) for p in proposed)
            if len(proposed) != len(codes) or any(p.ndim != 1 for p in proposed) or not whole:
                raise PluginFailure("the index must propose a row of whole numbers for each target")
            numbers = [_ascending(p.astype(np.int64, copy=False)) for p in proposed]
        for number in numbers:
            if len(number) and not (number[0] >= 0 and number[-1] < len(self.vectors)):
                raise PluginFailure(
                    f"the index proposes vector {number[0] if number[0] < 0 else number[-1]}; "
                    f"there are 0 to {len(self.vectors) - 1}"
                )
        return numbers

    def encode(self, target: Mapping[str, Value]) -> tuple[NDArray[np.float32], Floats]:
        """The target as codes, and the weights with 0 for each feature that it does not give."""
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
        """Similarity of a target to the vectors with these numbers, [len(number)]; `codes` [d] are
        NaN where it lacks a feature."""
        known, weights = stated(codes, weights)
        if known is not codes and not weights.any():
            return np.zeros(len(number))
        return self._scorer.one(known, weights, number)

    def local(self, target: Mapping[str, Value], number: Ints) -> Floats:
        """Local similarities of a target to some vectors, [len(number), d]; NaN where the target
        does not give the feature, or the vector is compared without it."""
        codes, _ = self.encode(target)
        indexed = self.vectors.case_type.indexed
        known = [place for place, feature in enumerate(indexed) if feature.name in target]
        return self._scorer.local(codes, known, number)


def _ascending(number: Ints) -> Ints:
    """Each number once, in order. Most indices propose them so, and sorting them again is slow."""
    return number if (number[1:] > number[:-1]).all() else np.unique(number)


def retriever_of(
    base: Casebase | None,
    stage: str | None = None,
    *,
    weights: GivenWeights = "",
    policy: str = "",
    similarity: Mapping[str, str] | None = None,
    missing: str | Mapping[str, str] = "",
    index: str = "auto",
    vectors: Vectors | None = None,
    plugins: Plugins | None = None,
) -> Retriever:
    """A retriever for a stage; defaults are those of its case type.

    `weights` are as for `weights_of`, `policy` and `index` are specs, `similarity` maps features to
    the specs of other measures, `missing` to other rules for missing values (one rule is for all of
    them), `vectors` replaces those of the stage if not all cases count; then no base is needed.
    """
    plugins = plugins or default_plugins()
    if vectors is None:
        if base is None:
            raise BadValue("a retriever needs a casebase, or vectors")
        vectors = base.vectors(base.stage(stage))
    case_type = vectors.case_type
    specs = {feature.name: feature.similarity for feature in case_type.indexed}
    for name, spec in (similarity or {}).items():
        case_type.position(name)
        specs[name] = spec
    wanted, kind = Spec.parse(policy or case_type.retrieval), Spec.parse(index)
    measures = [_bound(plugins, case_type.feature(name), spec) for name, spec in specs.items()]
    measures = _with_gaps(measures, vectors, _rules(case_type, missing))
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
    """Retrieve for one target; `options` are those of `retriever_of`."""
    return retriever_of(base, stage, **options)(target)


def _rules(case_type: CaseType, missing: str | Mapping[str, str]) -> dict[str, str]:
    """The rule for missing values of each indexed feature that may be missing."""
    rules = {feature.name: feature.missing for feature in case_type.indexed if feature.missing}
    if isinstance(missing, str):
        if missing:
            verify_rule(missing)
        missing = dict.fromkeys(rules, missing) if missing else {}
    for name, rule in missing.items():
        verify_rule(rule)
        case_type.position(name)
        if name not in rules:
            raise BadValue(f"feature {name!r} is never missing, so there is no rule for it")
    return rules | dict(missing)


def _with_gaps(
    measures: Sequence[Bound], vectors: Vectors, rules: Mapping[str, str]
) -> list[Bound]:
    """The measures, with the rules for the features that cases lack."""
    found = list(measures)
    for place, bound in enumerate(measures):
        column = vectors.values[:, place]
        if bound.feature.name in rules and np.isnan(column).any():
            rule, numbers = rules[bound.feature.name], bound.feature.is_number
            gaps = Gaps.of(rule, column, vectors.cases, numbers)
            found[place] = dataclasses.replace(bound, gaps=gaps)
    return found


def _bound(plugins: Plugins, feature: Any, text: str) -> Bound:
    spec = Spec.parse(text)
    try:
        bound: Bound = plugins.get("similarity", spec.name).bind(feature, spec)
    except NoSuchName as error:
        raise BadValue(
            f"feature {feature.name!r}: {error} (a plugin may bring it: --plugin FILE.py)"
        ) from None
    return bound
