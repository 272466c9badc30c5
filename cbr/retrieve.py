"""Retrieve: the cases most like a target, by the weighted mean of local similarities.

The retrieved set is defined once, and every faster way must agree with it: each distinct vector is
scored in float64 from float32 features, summed in feature order; vectors are ordered by similarity
rounded to 1e-6, then by number. A cap counts cases and takes whole vectors; the tied group that
crosses it counts with its share scaled to the room that is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from cbr.case import CaseType, Value
from cbr.errors import BadValue, NoSuchName, PluginFailure
from cbr.guard import frozen, guarded
from cbr.index import EXACT, Index, Reach
from cbr.measure import Bound
from cbr.plugins import Plugins, default_plugins
from cbr.policy import Policy
from cbr.spec import Spec
from cbr.vectors import Floats, Ints, Vectors
from cbr.weights import GivenWeights, weights_of

if TYPE_CHECKING:
    from cbr.casebase import Casebase

F = TypeVar("F", bound=Callable[..., Any])

#: Similarities closer than this are the same: float32 features cannot tell them apart.
TOLERANCE = 1e-6
#: How many remembered similarities a retriever may hold, in numbers of 8 bytes.
_REMEMBERED = 8_000_000


@dataclass(frozen=True, eq=False)
class Ranking:
    """Vectors nearest first, as a policy sees them: `number`, `similarity` and `cases`, each [m].

    `rounded` is the similarity as it orders and ties: in whole millionths.
    """

    vectors: Vectors
    number: Ints
    similarity: Floats

    @cached_property
    def cases(self) -> Ints:
        return self.vectors.cases[self.number]

    @cached_property
    def rounded(self) -> Ints:
        return millionths(self.similarity)

    def __len__(self) -> int:
        return len(self.number)


@dataclass(frozen=True)
class RetrievalPolicy(Policy):
    """Chooses from a ranking: returns each vector's share, 0 (left out) to 1 (all its cases).

    `reach(**parameters)` may say how far the policy looks, so that an index need not propose more.
    """

    reach: Callable[..., Reach] | None = field(default=None, compare=False)

    kind: ClassVar[str] = "retrieval policy"

    @property
    def looks(self) -> Reach:
        if self.reach is None:
            return Reach()
        with guarded(f"reach of {self.kind} {self.name!r}"):
            reach = self.reach(**self.settled)
            return Reach(float(reach.above), float(reach.at_least))


def retrieval_policy(name: str, *, reach: Callable[..., Reach] | None = None) -> Callable[[F], F]:
    """Make ``f(ranking, **parameters) -> shares`` a retrieval policy of this name."""

    def mark(function: F) -> F:
        function.__cbr__ = RetrievalPolicy(name, function, reach=reach)  # type: ignore[attr-defined]
        return function

    return mark


def capped(rounded: Ints, cases: NDArray[Any], cap: float) -> Floats:
    """Share of each ranked vector when `cap` cases are taken from the front.

    Whole groups of equal (rounded) similarity as long as there is room; the group that crosses the
    cap gets the share that fills it, and what comes later nothing.
    """
    if not cap >= 1:
        raise BadValue(f"{cap} cases to retrieve; it must be 1 or more")
    group = np.cumsum(np.diff(rounded, prepend=rounded[:1]) != 0)
    in_group = np.bincount(group, cases)
    room = cap - (np.cumsum(in_group) - in_group)
    share: Floats = np.clip(room / np.maximum(in_group, 1e-300), 0.0, 1.0)[group]
    return share


def _threshold_reach(above: float, cap: int, fallback: int) -> Reach:
    return Reach(above, fallback)


def _top_reach(k: int) -> Reach:
    return Reach(2.0, k)


def _radius_reach(above: float) -> Reach:
    return Reach(above, 0)


@retrieval_policy("threshold", reach=_threshold_reach)
def threshold(ranking: Ranking, above: float = 0.97, cap: int = 100, fallback: int = 20) -> Floats:
    """All cases more similar than `above`, at most `cap`; if none is, the best `fallback`."""
    inside = ranking.similarity > above - TOLERANCE
    if not inside.any():
        return top(ranking, fallback)
    share: Floats = inside * capped(ranking.rounded, inside * ranking.cases, cap)
    return share


@retrieval_policy("top", reach=_top_reach)
def top(ranking: Ranking, k: int = 10) -> Floats:
    """The best `k` cases."""
    return capped(ranking.rounded, ranking.cases, k)


@retrieval_policy("radius", reach=_radius_reach)
def radius(ranking: Ranking, above: float = 0.9) -> Floats:
    """All cases more similar than `above`, however many or few."""
    inside: Floats = (ranking.similarity > above - TOLERANCE).astype(np.float64)
    return inside


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
    allowed: NDArray[np.bool_] | None = None

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
    def cases(self) -> float:
        """How many cases were retrieved."""
        return float(self.counts.sum())

    def mean_outcome(self) -> Floats:
        """Average known outcome of each solution, [s]; NaN where none is known."""
        total = self._scaled(self.vectors.outcome_sum).sum(0)
        known = self._scaled(self.vectors.outcome_count).sum(0)
        mean: Floats = np.full(len(total), np.nan)
        np.divide(total, known, out=mean, where=known > 0)
        return mean

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


class Retriever:
    """Retrieval from one stage, settled once and used for many targets."""

    def __init__(
        self,
        vectors: Vectors,
        measures: Sequence[Bound],
        weights: Sequence[float],
        policy: RetrievalPolicy,
        index: Index | None = None,
    ) -> None:
        self.vectors = vectors
        self.measures = list(measures)
        self.weights = np.asarray(weights, np.float64)
        self.policy = policy
        self.index = index or EXACT.build(vectors, measures)
        self._rows: list[dict[float, Floats]] = [{} for _ in self.measures]
        self._remembered = 0

    def __call__(self, target: Mapping[str, object]) -> Retrieved:
        """Retrieve for a target given by feature; a feature not given does not count."""
        known = self.vectors.case_type.read(target)
        ranking = self.rank(known)
        share = self.policy(ranking)
        _verify_shares(self.policy, share, len(ranking))
        kept = np.flatnonzero(share)
        taken = (ranking.number[kept], ranking.similarity[kept], share[kept])
        return Retrieved(self, MappingProxyType(known), *(frozen(part) for part in taken))

    def rank(self, target: Mapping[str, Value], reach: Reach | None = None) -> Ranking:
        """Vectors nearest first, as far as the policy (or `reach`) looks."""
        reach = reach or self.policy.looks
        codes, weights = self.encode(target)
        number = self._candidates(codes, weights, reach)
        similarity = self.score(codes, weights, number)
        near = _within(similarity, self.vectors.cases[number], reach)
        number, similarity = number[near], similarity[near]
        order = np.lexsort((number, -millionths(similarity)))
        return Ranking(self.vectors, frozen(number[order]), frozen(similarity[order]))

    def _candidates(self, codes: NDArray[np.float32], weights: Floats, reach: Reach) -> Ints:
        """What the index proposes, each number once and in order."""
        with guarded("the index"):
            proposed = np.asarray(self.index.candidates(codes, weights, reach))
            whole = np.issubdtype(proposed.dtype, np.integer) or not len(proposed)
            if proposed.ndim != 1 or not whole:
                raise PluginFailure("the index must propose a row of whole numbers")
            number = np.unique(proposed.astype(np.int64))
        if len(number) and not (number[0] >= 0 and number[-1] < len(self.vectors)):
            raise PluginFailure(
                f"the index proposes vector {number[0] if number[0] < 0 else number[-1]}; "
                f"there are 0 to {len(self.vectors) - 1}"
            )
        return number

    def encode(self, target: Mapping[str, Value]) -> tuple[NDArray[np.float32], Floats]:
        """The target as codes, and the weights with 0 for each feature that it leaves open."""
        indexed = self.vectors.case_type.indexed
        known = np.array([feature.name in target for feature in indexed])
        codes = [f.encode(target[f.name]) if f.name in target else 0.0 for f in indexed]
        weights = np.where(known, self.weights, 0.0)
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
        mean: Floats = total / weights.sum()
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


def retriever(
    base: Casebase,
    stage: str | None = None,
    *,
    weights: GivenWeights = "",
    policy: str = "",
    similarity: Mapping[str, str] | None = None,
    index: str = "exact",
    plugins: Plugins | None = None,
) -> Retriever:
    """A retriever for a stage; what is not given is what its case type says.

    `weights` as `weights_of` takes them, `policy` and `index` by spec and name, `similarity` a
    spec for each feature that shall be compared otherwise.
    """
    plugins = plugins or default_plugins()
    vectors = base.vectors(base.stage(stage))
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
        weights_of(case_type, weights),
        plugins.get("retrieval policy", wanted.name).bind(wanted),
        plugins.get("index", kind.name).make(vectors, measures, kind),
    )


def retrieve(
    base: Casebase, stage: str | None, target: Mapping[str, object], **options: Any
) -> Retrieved:
    """Retrieve once; `options` are those of `retriever`."""
    return retriever(base, stage, **options)(target)


def _bound(plugins: Plugins, feature: Any, text: str) -> Bound:
    spec = Spec.parse(text)
    try:
        bound: Bound = plugins.get("similarity", spec.name).bind(feature, spec)
    except NoSuchName as error:
        raise BadValue(
            f"feature {feature.name!r}: {error} (a plugin may bring it: --plugin FILE.py)"
        ) from None
    return bound


def _within(similarity: Floats, cases: Ints, reach: Reach) -> NDArray[np.bool_]:
    """Which vectors the reach includes, with all ties at its edge."""
    if reach.at_least >= len(similarity):
        return np.ones(len(similarity), bool)
    near = similarity > reach.above - TOLERANCE
    if cases[near].sum() < reach.at_least:
        # A vector holds at least one case, so the best `at_least` vectors are always enough.
        rounded = millionths(similarity)
        edge = np.partition(rounded, -int(reach.at_least))[-int(reach.at_least)]
        near |= rounded >= edge
    return near


def millionths(similarity: Floats) -> Ints:
    return np.rint(similarity / TOLERANCE).astype(np.int64)


def _verify_shares(policy: RetrievalPolicy, share: Floats, vectors: int) -> None:
    if share.shape != (vectors,) or not ((share >= 0) & (share <= 1)).all():
        raise PluginFailure(
            f"retrieval policy {policy.name!r} must return a share between 0 and 1 for each of the "
            f"{vectors} vectors ranked"
        )
