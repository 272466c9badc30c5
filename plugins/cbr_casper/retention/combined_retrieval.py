"""Combined retrieval: cases of a session together with those retrieved from the casebase."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue, Casebase, CaseType
from cbr.plugging import default_plugins
from cbr.spec import Spec
from cbr.store import Vectors
from cbr.typing import Flags, Floats
from cbr_casper.options import OWN
from cbr_casper.retention.session_cases import Session, SimilarCases, similar_cases
from cbr_casper.row_cache import RowCache
from cbr_casper.streets import FIGURES, CaseChances, Street, codes_of
from cbr_holdem.situation import Pending
from cbr_holdem.table import STREETS

#: The weight of one outcome relative to one label. The outcome of a hand has a standard deviation
#: of some five small bets, the label of a similar case one of 0.7: fifty hands count as one label.
OUTCOME = 0.02
#: The similarity threshold for policies that have none: CASPER's.
_DEFAULT_ABOVE = 0.97


@dataclass(frozen=True, eq=False)
class Sums:
    """The `Evidence` of retrieved cases as sums by target and solution, [q, s].

    Means are kept as sums and counts, so that cases can be added.
    """

    vectors: Vectors
    taken_all: Floats
    weighted_all: Floats
    outcome_sum: Floats
    outcome_count: Floats
    value_sum: Floats
    value_count: Floats
    allowed: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.taken_all)

    def __getitem__(self, place: int) -> Sums:
        parts = {name: getattr(self, name)[place] for name in PARTS}
        allowed = None if self.allowed is None else self.allowed[place]
        return Sums(self.vectors, **parts, allowed=allowed)

    @property
    def case_type(self) -> CaseType:
        return self.vectors.case_type

    @property
    def taken(self) -> Floats:
        return self._may(self.taken_all)

    @property
    def weighted(self) -> Floats:
        return self._may(self.weighted_all)

    def mean_outcome(self) -> Floats:
        return self._mean(self.outcome_sum, self.outcome_count)

    def mean_value(self) -> Floats:
        return self._mean(self.value_sum, self.value_count)

    def _may(self, sums: Floats) -> Floats:
        return sums if self.allowed is None else sums * self.allowed

    def _mean(self, total: Floats, count: Floats) -> Floats:
        known = self._may(count)
        mean = np.full(total.shape, np.nan)
        np.divide(total, count, out=mean, where=known > 0.0)
        return mean

    def allowing(self, allowed: Flags) -> Sums:
        return dataclasses.replace(self, allowed=allowed)

    def with_taken(self, taken: Floats) -> Sums:
        return dataclasses.replace(self, taken_all=taken)

    def combined(self, found: SimilarCases, own: float) -> Sums:
        """The sums with retained cases added: the bot's own cases have weight `own` in the shares,
        and their outcomes are averaged with values where these are known."""
        shape = (len(self), len(self.case_type.solutions))
        weight = np.where(found.own, own, 1.0)
        earned = np.nan_to_num(found.outcome)
        known = ~np.isnan(found.outcome)
        mine = OUTCOME * (found.own & known)
        valued = self.value_count > 0.0
        more = {
            "taken_all": found.sums(weight, shape),
            "weighted_all": found.sums(weight * found.similarity, shape),
            "outcome_sum": found.sums(weight * earned, shape),
            "outcome_count": found.sums(weight * known, shape),
            "value_sum": found.sums(mine * earned, shape) * valued,
            "value_count": found.sums(mine, shape) * valued,
        }
        changed = {name: getattr(self, name) + added for name, added in more.items()}
        return dataclasses.replace(self, **changed)


PARTS = (
    "taken_all",
    "weighted_all",
    "outcome_sum",
    "outcome_count",
    "value_sum",
    "value_count",
)


class RetainingStreet(Street):
    """A street of a casebase whose retrieval includes the cases of a session."""

    def __init__(
        self, base: Casebase, stage: str, reuse: str, own: float = OWN, **options: Any
    ) -> None:
        if not 0.0 <= own <= 1e6:
            raise BadValue(f"own={own:g} must be from 0 to a million")
        super().__init__(base, stage, reuse, **options)
        name = Spec.parse(self.reuse).name
        if not default_plugins().get("reuse policy", name).batched:
            raise BadValue(
                f"reuse policy {name!r} is not batched, which retain needs; leave retain out"
            )
        self.own, self.number = own, STREETS.index(stage)
        above = self.retriever.policy.looks.above
        self.above = above if 0.0 <= above < 1.0 else _DEFAULT_ABOVE
        self._sums = RowCache()

    def decide_in(
        self, sessions: Sequence[Session], situations: Pending, allowed: Flags
    ) -> CaseChances:
        """`decide` with the cases of sessions [n]."""
        codes = codes_of(self.case_type, situations)
        keys = codes.view(f"V{codes.shape[1] * codes.itemsize}").reshape(-1).tolist()
        rows = self._sums.rows(keys, lambda new: self._summed(codes[new]))
        alike, cases, below, valued = rows[:, :FIGURES].T
        tables = rows[:, FIGURES:].reshape(len(rows), len(PARTS), -1).transpose(1, 0, 2)
        sums = Sums(self.retriever.vectors, *tables)
        found = self._similar(sessions, codes)
        if len(found.target):
            sums = sums.combined(found, self.own)
        hidden = self.lacking.in_many(codes) if self.lacking else None
        chances = self.reused(sums, below, allowed, hidden)
        return CaseChances(chances, alike, cases, below, valued, codes, self.retriever)

    def _similar(self, sessions: Sequence[Session], codes: NDArray[np.float32]) -> SimilarCases:
        """Retained cases above the threshold of the retrieval policy."""
        kept = [session.streets[self.number] for session in sessions]
        return similar_cases(
            codes, kept, self.retriever.measures, self.retriever.weights, self.above
        )

    def _summed(self, codes: NDArray[np.float32]) -> Floats:
        """For each target the figures of `ActionChances`, followed by the parts of `Sums`."""
        found = self.retriever.many(codes)
        vectors = found.vectors
        none = np.zeros_like(vectors.outcome_sum)
        known = (vectors.outcome_sum, vectors.outcome_count, *(vectors.estimates or (none, none)))
        sums = map(found.summed, known)
        return np.column_stack([self.figures_of(found), found.taken, found.weighted, *sums])

    def explain_in(self, session: Session, situations: Pending, allowed: Flags) -> str:
        """A sentence about the similar cases of the session."""
        found = self._similar([session], codes_of(self.case_type, situations))
        own, others = int(found.own.sum()), int((~found.own).sum())
        return f"In this session {own} own decisions and {others} of opponents are similar."
