"""One street's casebase, ready to decide many situations at once."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue, Casebase, CaseType
from cbr.errors import EmptyStage
from cbr.plugging import default_plugins
from cbr.retrieval import TOLERANCE, EvidenceForMany, RetrievedMany, Retriever, retriever_of
from cbr.reusing import HiddenRates, HiddenSolutions, hidden_solutions_of, reuse_many
from cbr.spec import Spec
from cbr.store import as_loaded
from cbr.typing import Flags, Floats
from cbr_casper.row_cache import Cached
from cbr_holdem.situation import Pending
from cbr_holdem.table import MOST_SEATS

#: Numbers of an answer beside its chances, and the place of one of them.
FIGURES, BELOW = 4, 2


class Here(NamedTuple):
    """What a bot knows of the tables of n decisions: how `likely` worlds are, the casebase's own
    first, [n, worlds]; what solutions are worth there by the grid, times that, [n, worlds,
    solutions]; and the temperature by which it counts."""

    likely: Floats
    worth: Floats
    temperature: float

    def elsewhere(self, valued: Floats) -> Floats:
        """What solutions are worth in other worlds than the casebase's own, [n, solutions], and
        also in that one where no case is `valued` [n]."""
        own = np.where(valued[:, None] > 0.0, 0.0, self.worth[:, 0])
        found: Floats = own + self.worth[:, 1:].sum(axis=1)
        return found


@dataclass(frozen=True, eq=False)
class Chances:
    """What a street's cases say of n decisions: chances [n, solutions]; and of what was retrieved
    for each its mean similarity, how many cases that is, whether none came up to the threshold, and
    whether any knows what actions are worth, [n] each."""

    chances: Floats
    similarity: Floats
    cases: Floats
    below: Floats
    valued: Floats

    def at(self, here: Here) -> Self:
        """The same at these tables: to the power of how likely they are the casebase's own, times
        e^(what solutions are worth elsewhere / temperature); what has no chance gets none."""
        log = here.likely[:, :1] * np.log(np.maximum(self.chances, 1e-300))
        log += here.elsewhere(self.valued) / here.temperature
        log = np.where(self.chances > 0.0, log, -np.inf)
        chances = np.exp(log - log.max(axis=1, keepdims=True))
        return dataclasses.replace(self, chances=chances / chances.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Answer(Chances):
    """Chances from a casebase. What was retrieved is retrieved again if somebody asks: `codes`
    [n, d] are the targets."""

    codes: NDArray[np.float32]
    retriever: Retriever

    @cached_property
    def retrieved(self) -> RetrievedMany:
        return self.retriever.many(self.codes)


class Street:
    """Retrieval and reuse for one stage of a casebase; `sparse` is another reuse policy, if any,
    where no case comes up to the threshold and some solutions are hidden: since cases are then of
    certain kinds only, the values of those that are nearest do not count."""

    def __init__(
        self, base: Casebase, stage: str, reuse: str, sparse: str = "", **options: Any
    ) -> None:
        if not base.count(stage):
            raise EmptyStage(
                f"{base.path} has no cases of the {stage}, so nothing can be played there; build "
                "it from hands that came so far"
            )
        self.retriever: Retriever = retriever_of(base, stage, **options)
        self.case_type: CaseType = as_loaded(base.case_type(stage), default_plugins())
        for feature in self.case_type.indexed:
            if feature.computed and feature.compute is None:
                raise BadValue(
                    f"feature {feature.name!r} of {base.path} is computed by a plugin that is not "
                    "loaded; load it with --plugin FILE.py"
                )
        looks = self.retriever.policy.looks
        if looks.above >= 0.0 and not looks.fallback:
            raise BadValue(
                f"policy {self.retriever.policy.name!r} may find no case, and a bot must act: take "
                f"one with a fallback, as threshold?above={looks.above:g}"
            )
        self.lacking: HiddenSolutions | None = hidden_solutions_of(base, self.retriever)
        self.reuse = reuse or self.case_type.reuse
        self.sparse = sparse if self.lacking else ""
        self._cached = Cached()
        spec = Spec.parse(self.reuse)
        default_plugins().get("reuse policy", spec.name).bind(spec)  # or say what is wrong now
        # Some values are only refused when they are used.
        first = self.retriever.vectors.values[:1]
        self._decided(first, np.ones((1, len(self.solutions)), np.bool_), None)

    @property
    def solutions(self) -> Sequence[str]:
        return self.case_type.solutions

    def with_settings(self, policy: str, reuse: str) -> Self:
        """The same cases by another policy and reuse, where given; nothing is read again."""
        other = copy.copy(self)
        if policy:
            spec = Spec.parse(policy)
            chosen = default_plugins().get("retrieval policy", spec.name).bind(spec)
            other.retriever = dataclasses.replace(self.retriever, policy=chosen)
            if self.lacking is not None:
                all_decisions = dataclasses.replace(self.lacking.all_decisions, policy=chosen)
                other.lacking = dataclasses.replace(self.lacking, all_decisions=all_decisions)
        other.reuse = reuse or self.reuse
        other._cached = Cached()
        return other

    @cached_property
    def table_sizes(self) -> set[int]:
        """Players dealt in at the tables of its cases, where at least 1 % were so many."""
        if "players" not in [feature.name for feature in self.case_type.indexed]:
            return set(range(2, MOST_SEATS + 1))
        vectors = self.retriever.vectors
        players = vectors.values[:, self.case_type.position("players")].astype(np.int64)
        share = np.bincount(players, vectors.cases) / vectors.cases.sum()
        return {int(size) for size in np.flatnonzero(share >= 0.01)}

    def answer(self, situations: Pending, allowed: Flags) -> Answer:
        """Of decisions on this street, where `allowed` [n, solutions] is legal."""
        return self.answer_by(None, situations, allowed)

    def answer_by(self, weights: Floats | None, situations: Pending, allowed: Flags) -> Answer:
        """`answer` by weights [n, d] for each decision; None: those of the street."""
        codes = codes_of(self.case_type, situations)
        parts = [codes, allowed.astype(np.float32)]
        if weights is not None:
            parts.append(np.ascontiguousarray(weights).view(np.float32))
        key = np.concatenate(parts, axis=1)
        keys = key.view(f"V{key.shape[1] * key.itemsize}").reshape(-1).tolist()
        found = self._cached.rows(
            keys,
            lambda new: self._decided(
                codes[new], allowed[new], None if weights is None else weights[new]
            ),
        )
        alike, cases, below, valued = found[:, :FIGURES].T
        return Answer(found[:, FIGURES:], alike, cases, below, valued, codes, self.retriever)

    def _decided(
        self, codes: NDArray[np.float32], allowed: Flags, weights: Floats | None
    ) -> Floats:
        """The numbers of `Answer` for each target, and its chances behind them."""
        retrieved = self.retriever.many(codes, weights)
        figures = self.figures_of(retrieved)
        hidden = self.lacking.in_many(codes, weights) if self.lacking else None
        chances = self.reused(retrieved, figures[:, BELOW], allowed, hidden)
        return np.column_stack([figures, chances])

    def reused(
        self, retrieved: EvidenceForMany, below: Floats, allowed: Flags, hidden: HiddenRates | None
    ) -> Floats:
        """The chance of each solution [n, solutions], where some are `below` the threshold [n]."""
        chances = reuse_many(retrieved, self.reuse, allowed=allowed, hidden=hidden)
        if self.sparse and below.any():
            other = reuse_many(retrieved, self.sparse, allowed=allowed, hidden=hidden)
            chances = np.where(below[:, None] > 0.0, other, chances)
        return chances

    def figures_of(self, retrieved: RetrievedMany) -> Floats:
        """The numbers of `Chances` beside the chances, in their order, [n, FIGURES]."""
        mine = np.repeat(np.arange(len(retrieved)), np.diff(retrieved.start))
        shares = retrieved.share * retrieved.vectors.cases[retrieved.number]
        cases = np.bincount(mine, shares, len(retrieved))
        alike = np.bincount(mine, shares * retrieved.similarity, len(retrieved))
        above = self.retriever.policy.looks.above
        # A policy that has no threshold looks above what no case can be.
        below = ~(retrieved.most_similar > above - TOLERANCE) & (above <= 1.0)
        values: NDArray[Any] = np.zeros(len(retrieved))
        if retrieved.vectors.estimates is not None:
            known = retrieved.vectors.estimates[1].sum(axis=1)[retrieved.number]
            values = np.bincount(mine, retrieved.share * known, len(retrieved))
        if self.sparse:
            values = values * ~below
        return np.column_stack([alike / np.maximum(cases, 1e-300), cases, below, values > 0.0])


def codes_of(case_type: CaseType, situations: Mapping[str, Any]) -> NDArray[np.float32]:
    """Situations as retrieval compares them, [n, d]."""
    columns = [np.asarray(feature.of(situations)) for feature in case_type.indexed]
    return np.stack(columns, axis=1).astype(np.float32)
