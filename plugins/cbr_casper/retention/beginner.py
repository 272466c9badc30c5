"""A bot that begins with nothing, as Casey did (Sandven and Tessem 2006), and learns as it plays.

It does what earned most in its own cases like this one, and takes an action that it has seldom
tried for better than it was: so it explores, and less and less. A fold is worth 0 and needs no
trying.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cbr import BadValue, CaseType
from cbr.plugging import default_plugins
from cbr.spec import Spec
from cbr.typing import Flags, Floats
from cbr.weights import weights_of
from cbr_casper.retention.session_cases import Near, Retained, Session, near
from cbr_casper.streets import Chances, codes_of
from cbr_holdem.situation import Pending
from cbr_holdem.table import STREETS

#: The file that stands for no cases.
EMPTY = "empty"
#: A threshold that nobody gave.
UNSET = -1.0
#: How similar a case must be to count at all; the more similar, the more it counts.
ABOVE = 0.85
#: What an action that was never tried is taken for better than its cases say, in small bets (big
#: blinds); after n cases it is that divided by the root of n + 1.
BONUS = 5.0
#: Cases that earned nothing and are there from the beginning.
LEAN = 1.0


class Beginner:
    """One street of such a bot."""

    def __init__(self, case_type: CaseType, weights: str = "", above: float = UNSET) -> None:
        if above >= 1.0:
            raise BadValue(f"threshold={above:g} must be below 1: no case is more like than equal")
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

    def answer(self, situations: Pending, allowed: Flags) -> Chances:
        """Of decisions on this street before anything was seen."""
        nothing = Session([Retained(len(self.case_type.indexed)) for _ in STREETS])
        return self.answer_in([nothing] * situations.count, situations, allowed)

    def answer_in(
        self, sessions: Sequence[Session], situations: Pending, allowed: Flags
    ) -> Chances:
        """Of decisions in sessions [n], where `allowed` [n, solutions] is legal."""
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
        return Chances(chances, alike, cases, none, np.zeros(len(chances)))

    def _found(self, sessions: Sequence[Session], situations: Pending) -> tuple[Near, Floats]:
        """Own cases of each target, and how much each counts."""
        codes = codes_of(self.case_type, situations)
        kept = [session.streets[self.number] for session in sessions]
        found = near(codes, kept, self.measures, self.weights, self.above)
        found = found.take(found.own)
        return found, np.maximum(0.0, found.similarity - self.above) / (1.0 - self.above)

    def _means(self, found: Near, share: Floats, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
        """How often each action was tried [n, s], and what it earned on average."""
        both = (shape[0], shape[1])
        tried = found.sums(share, both)
        return tried, found.sums(share * found.outcome, both) / (tried + LEAN)

    def explain_in(self, session: Session, situations: Pending, allowed: Flags) -> str:
        """Why it acts as it does in one situation."""
        found, share = self._found([session], situations)
        tried, mean = (row[0] for row in self._means(found, share, allowed.shape))
        chances = self.answer_in([session], situations, allowed).chances[0]
        unit = "small bets" if "r" in self.solutions else "big blinds"
        lines = [
            f"{len(found.target)} own decisions in this session were like it.",
            f"{'':10}{'chance':>9}{'tried':>9}{'earned':>9}   in {unit}",
        ]
        for place, name in enumerate(self.solutions):
            if allowed[0, place]:
                earned = f"{mean[place]:+.2f}" if tried[place] else "-"
                lines.append(f"{name:<10}{chances[place]:>9.0%}{tried[place]:>9.3g}{earned:>9}")
        return "\n".join(lines)
