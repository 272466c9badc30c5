"""Retrieval and reuse for one street, over many decisions at once."""

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
from cbr_casper.row_cache import RowCache
from cbr_holdem.situation import Pending
from cbr_holdem.table import MOST_SEATS

#: Number of columns of `Street.figures_of`, and the column of `below`.
FIGURES, BELOW = 4, 2


class TableBelief(NamedTuple):
    """A bot's belief about the tables of n decisions: the `posterior` of each table model [n,
    models], the casebase's players first; the `values` of solutions by the abstraction in each
    model, times the posterior, [n, models, solutions]; and the temperature that scales values."""

    posterior: Floats
    values: Floats
    temperature: float

    def model_values(self, valued: Floats) -> Floats:
        """The part of the solutions' values that table models add to the cases, [n, solutions]: of
        all models but the first, and of the first too where no case is `valued` [n]."""
        first = np.where(valued[:, None] > 0.0, 0.0, self.values[:, 0])
        found: Floats = first + self.values[:, 1:].sum(axis=1)
        return found


@dataclass(frozen=True, eq=False)
class ActionChances:
    """The `chances` of solutions in n decisions [n, solutions], and figures of the cases retrieved
    for each, [n]: their mean `similarity`, how many `cases` they are, whether none reached the
    threshold (`below`), and whether any has values (`valued`)."""

    chances: Floats
    similarity: Floats
    cases: Floats
    below: Floats
    valued: Floats

    def adapted_to(self, belief: TableBelief) -> Self:
        """The chances at these tables: to the power of the first model's posterior, times e^(values
        in the other models / temperature). A chance of 0 stays 0."""
        log = belief.posterior[:, :1] * np.log(np.maximum(self.chances, 1e-300))
        log += belief.model_values(self.valued) / belief.temperature
        log = np.where(self.chances > 0.0, log, -np.inf)
        chances = np.exp(log - log.max(axis=1, keepdims=True))
        return dataclasses.replace(self, chances=chances / chances.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class CaseChances(ActionChances):
    """Chances from a casebase. `codes` [n, d] are the targets, to retrieve cases again for an
    explanation."""

    codes: NDArray[np.float32]
    retriever: Retriever

    @cached_property
    def retrieved(self) -> RetrievedMany:
        return self.retriever.many(self.codes)


class Street:
    """Retrieval and reuse for one stage of a casebase.

    Where some solutions are hidden, its cases are a biased sample. If then no case reaches the
    threshold, the reuse policy `sparse` is used, if any, and the values of the nearest cases do not
    count.
    """

    def __init__(
        self, base: Casebase, stage: str, reuse: str, sparse: str = "", **options: Any
    ) -> None:
        if not base.count(stage):
            raise EmptyStage(
                f"{base.path} has no cases of the {stage}, so the bot could not act there; build "
                f"it from hands that reach the {stage}"
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
                f"policy {self.retriever.policy.name!r} may retrieve no case, and a bot must act; "
                f"give one with a fallback, as threshold?above={looks.above:g}"
            )
        self.lacking: HiddenSolutions | None = hidden_solutions_of(base, self.retriever)
        self.reuse = reuse or self.case_type.reuse
        self.sparse = sparse if self.lacking else ""
        self._cached = RowCache()
        spec = Spec.parse(self.reuse)
        # A wrong spec raises here; some parameters are checked only when the policy is used.
        default_plugins().get("reuse policy", spec.name).bind(spec)
        first = self.retriever.vectors.values[:1]
        self._decide_new(first, np.ones((1, len(self.solutions)), np.bool_), None)

    @property
    def solutions(self) -> Sequence[str]:
        return self.case_type.solutions

    def with_settings(self, policy: str, reuse: str) -> Self:
        """The same cases with another policy and reuse, if given; cases are not read again."""
        other = copy.copy(self)
        if policy:
            spec = Spec.parse(policy)
            chosen = default_plugins().get("retrieval policy", spec.name).bind(spec)
            other.retriever = dataclasses.replace(self.retriever, policy=chosen)
            if self.lacking is not None:
                all_decisions = dataclasses.replace(self.lacking.all_decisions, policy=chosen)
                other.lacking = dataclasses.replace(self.lacking, all_decisions=all_decisions)
        other.reuse = reuse or self.reuse
        other._cached = RowCache()
        return other

    @cached_property
    def table_sizes(self) -> set[int]:
        """The table sizes (players dealt in) that at least 1 % of the cases have."""
        if "players" not in [feature.name for feature in self.case_type.indexed]:
            return set(range(2, MOST_SEATS + 1))
        vectors = self.retriever.vectors
        players = vectors.values[:, self.case_type.position("players")].astype(np.int64)
        share = np.bincount(players, vectors.cases) / vectors.cases.sum()
        return {int(size) for size in np.flatnonzero(share >= 0.01)}

    def decide(
        self, situations: Pending, allowed: Flags, weights: Floats | None = None
    ) -> CaseChances:
        """The chances of decisions on this street. `allowed` [n, solutions] marks legal solutions;
        `weights` [n, d] are feature weights for each decision (None: those of the street)."""
        codes = codes_of(self.case_type, situations)
        parts = [codes, allowed.astype(np.float32)]
        if weights is not None:
            parts.append(np.ascontiguousarray(weights).view(np.float32))
        key = np.concatenate(parts, axis=1)
        keys = key.view(f"V{key.shape[1] * key.itemsize}").reshape(-1).tolist()
        found = self._cached.rows(
            keys,
            lambda new: self._decide_new(
                codes[new], allowed[new], None if weights is None else weights[new]
            ),
        )
        alike, cases, below, valued = found[:, :FIGURES].T
        return CaseChances(found[:, FIGURES:], alike, cases, below, valued, codes, self.retriever)

    def _decide_new(
        self, codes: NDArray[np.float32], allowed: Flags, weights: Floats | None
    ) -> Floats:
        """For each target the figures of `ActionChances`, followed by the chances."""
        retrieved = self.retriever.many(codes, weights)
        figures = self.figures_of(retrieved)
        hidden = self.lacking.in_many(codes, weights) if self.lacking else None
        chances = self.reused(retrieved, figures[:, BELOW], allowed, hidden)
        return np.column_stack([figures, chances])

    def reused(
        self, retrieved: EvidenceForMany, below: Floats, allowed: Flags, hidden: HiddenRates | None
    ) -> Floats:
        """The chance of each solution [n, solutions]; `below` [n] is 1 where no case reached the
        threshold."""
        chances = reuse_many(retrieved, self.reuse, allowed=allowed, hidden=hidden)
        if self.sparse and below.any():
            other = reuse_many(retrieved, self.sparse, allowed=allowed, hidden=hidden)
            chances = np.where(below[:, None] > 0.0, other, chances)
        return chances

    def figures_of(self, retrieved: RetrievedMany) -> Floats:
        """The figures of `ActionChances` in order, [n, FIGURES]."""
        mine = np.repeat(np.arange(len(retrieved)), np.diff(retrieved.start))
        shares = retrieved.share * retrieved.vectors.cases[retrieved.number]
        cases = np.bincount(mine, shares, len(retrieved))
        alike = np.bincount(mine, shares * retrieved.similarity, len(retrieved))
        above = self.retriever.policy.looks.above
        # A policy without a threshold has `above` larger than 1.
        below = ~(retrieved.most_similar > above - TOLERANCE) & (above <= 1.0)
        values: NDArray[Any] = np.zeros(len(retrieved))
        if retrieved.vectors.estimates is not None:
            known = retrieved.vectors.estimates[1].sum(axis=1)[retrieved.number]
            values = np.bincount(mine, retrieved.share * known, len(retrieved))
        if self.sparse:
            values = values * ~below
        return np.column_stack([alike / np.maximum(cases, 1e-300), cases, below, values > 0.0])


def codes_of(case_type: CaseType, situations: Mapping[str, Any]) -> NDArray[np.float32]:
    """Situations as feature vectors, [n, d]."""
    columns = [np.asarray(feature.of(situations)) for feature in case_type.indexed]
    return np.stack(columns, axis=1).astype(np.float32)
