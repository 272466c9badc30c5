"""A bot that starts without cases, as Casey did (Sandven and Tessem 2006), and learns as it plays.

It chooses the action that earned most in its own similar cases, with a bonus for actions that it
has seldom tried (optimism under uncertainty), so that it explores less and less. A fold has value 0
and needs no exploration.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cbr import BadValue, CaseType
from cbr.plugging import default_plugins
from cbr.spec import Spec
from cbr.typing import Flags, Floats
from cbr.weights import weights_of
from cbr_casper.options import UNSET
from cbr_casper.retention.session_cases import (
    Session,
    SessionCases,
    SimilarCases,
    similar_cases,
)
from cbr_casper.streets import ActionChances, codes_of
from cbr_holdem.situation import Pending
from cbr_holdem.table import STREETS

#: Similarity above which a case counts; its weight rises with the similarity.
ABOVE = 0.85
#: The exploration bonus of an untried action, in small bets (big blinds); after n cases it is
#: divided by the root of n + 1.
BONUS = 5.0
#: Cases with outcome 0 that every action starts with: means are shrunk towards 0.
_PRIOR = 1.0


class Beginner:
    """One street of a bot that starts without cases."""

    def __init__(self, case_type: CaseType, weights: str = "", above: float = UNSET) -> None:
        if above >= 1.0:
            raise BadValue(f"threshold={above:g} must be below 1: no similarity is above 1")
        plugins = default_plugins()
        self.case_type, self.number = case_type, STREETS.index(case_type.stage)
        specs = [(feature, Spec.parse(feature.similarity)) for feature in case_type.indexed]
        self.measures = [
            plugins.get("similarity", spec.name).bind(feature, spec) for feature, spec in specs
        ]
        self.weights = np.asarray(weights_of(case_type, weights, plugins), np.float64)
        self.above = ABOVE if above == UNSET else above

    @property
    def solutions(self) -> Sequence[str]:
        return self.case_type.solutions

    def decide(self, situations: Pending, allowed: Flags) -> ActionChances:
        """The chances of decisions on this street before a session has cases."""
        empty = Session([SessionCases(len(self.case_type.indexed)) for _ in STREETS])
        return self.decide_in([empty] * situations.count, situations, allowed)

    def decide_in(
        self, sessions: Sequence[Session], situations: Pending, allowed: Flags
    ) -> ActionChances:
        """The chances of decisions in sessions [n], where `allowed` [n, solutions] is legal."""
        found, share = self._found(sessions, situations)
        tried, mean = self._means(found, share, allowed.shape)
        score = np.where(allowed, mean + BONUS / np.sqrt(tried + 1.0), -np.inf)
        fold = self.solutions.index("f")
        score[:, fold] = np.where(allowed[:, fold], 0.0, -np.inf)
        best = score > score.max(axis=1, keepdims=True) - 1e-9
        chances = best / best.sum(axis=1, keepdims=True)
        cases = np.bincount(found.target, minlength=len(chances)).astype(np.float64)
        alike = np.bincount(found.target, found.similarity, len(chances)) / np.maximum(cases, 1.0)
        none = (cases == 0.0).astype(np.float64)
        return ActionChances(chances, alike, cases, none, np.zeros(len(chances)))

    def _found(
        self, sessions: Sequence[Session], situations: Pending
    ) -> tuple[SimilarCases, Floats]:
        """The bot's own similar cases, and the weight of each."""
        codes = codes_of(self.case_type, situations)
        kept = [session.streets[self.number] for session in sessions]
        found = similar_cases(codes, kept, self.measures, self.weights, self.above)
        found = found.take(found.own)
        return found, np.maximum(0.0, found.similarity - self.above) / (1.0 - self.above)

    def _means(
        self, found: SimilarCases, share: Floats, shape: tuple[int, ...]
    ) -> tuple[Floats, Floats]:
        """How often each action was tried [n, s], and what it earned on average."""
        both = (shape[0], shape[1])
        tried = found.sums(share, both)
        return tried, found.sums(share * found.outcome, both) / (tried + _PRIOR)

    def explain_in(self, session: Session, situations: Pending, allowed: Flags) -> str:
        """The explanation of its decision in one situation."""
        found, share = self._found([session], situations)
        tried, mean = (row[0] for row in self._means(found, share, allowed.shape))
        chances = self.decide_in([session], situations, allowed).chances[0]
        unit = "small bets" if "r" in self.solutions else "big blinds"
        lines = [
            f"{len(found.target)} own decisions of this session are similar.",
            f"{'':10}{'chance':>9}{'tried':>9}{'earned':>9}   in {unit}",
        ]
        for place, name in enumerate(self.solutions):
            if allowed[0, place]:
                earned = f"{mean[place]:+.2f}" if tried[place] else "-"
                lines.append(f"{name:<10}{chances[place]:>9.0%}{tried[place]:>9.3g}{earned:>9}")
        return "\n".join(lines)
