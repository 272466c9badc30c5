"""A player model that retrieves: what the players of a casebase did in similar situations.

Where the player's hand is known, cases are retrieved as a bot does it, by all features. Where it is
unknown, decisions are retrieved by their public features alone, and those with hidden cards are
among them; averaging over hands would need a range for each, and would still know only the players
who showed their cards. Solutions that no case has, as folds where folded cards are hidden, get
their rate among all decisions (`cbr.reusing.HiddenSolutions`).

Each retrieved case counts by its similarity. The shares are shrunk towards those of all decisions
of the street, which count as a few cases, so that no legal move is impossible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cbr.case import CaseType
from cbr.errors import BadValue, EmptyStage
from cbr.plugging import default_plugins
from cbr.retrieval import RetrievedMany, Retriever, retriever_of
from cbr.reusing import HiddenSolutions, hidden_solutions_of
from cbr.spec import Spec
from cbr.store import Casebase, as_loaded
from cbr.typing import Flags, Floats, Ints
from cbr_holdem.situation import BETTING, SIZES, Pending, legal_solutions
from cbr_holdem.table import CALL, FOLD, RAISE, STREET, STREETS, Game
from cbr_opponents.array_models import moves_of
from cbr_opponents.learning.array_forms import array_form
from cbr_opponents.opponent_model import OpponentModel
from cbr_opponents.player_models import Chances, legal_at, normalised, with_hands

#: Tables that are looked up at once.
_BATCH = 1_000


class _Street:
    """The cases of a stage and all its decisions, each with a retriever."""

    def __init__(self, base: Casebase, stage: str, policy: str) -> None:
        if not base.count(stage):
            raise EmptyStage(
                f"{base.path} has no cases of the {stage}, so there is nothing to retrieve there; "
                f"build it from hands that reach the {stage}"
            )
        self.case_type: CaseType = as_loaded(base.case_type(stage), default_plugins())
        self.cases = retriever_of(base, stage, policy=policy)
        self.public = _public(base, stage, self.cases)
        self.lacking: HiddenSolutions | None = hidden_solutions_of(base, self.cases)
        self.moves = _moves(self.case_type.solutions)
        self.usual = self.public.vectors.counts.sum(axis=0).astype(np.float64)

    def counted(self, situations: Pending, known: bool) -> tuple[Floats, Floats]:
        """Retrieved cases with legal solutions by solution, each by its similarity, [n, solutions];
        and the effective number of all retrieved cases [n]."""
        codes = _codes(self.case_type, situations, known)
        solutions, preflop = self.case_type.solutions, situations.place[:, 0] == 0
        allowed = legal_solutions(solutions, situations.call == 0, situations.raise_to > 0, preflop)
        retrieved = (self.cases if known else self.public).many(codes)
        weighted = np.asarray(retrieved.allowing(allowed).weighted, np.float64)
        if known and self.lacking is not None:
            hidden = self.lacking.in_many(codes)
            total = weighted.sum(axis=1, keepdims=True)
            shares = weighted / np.where(total > 0.0, total, 1.0)
            weighted = hidden.added_to(shares, allowed) * total
        return weighted, _effective(retrieved)


@dataclass(frozen=True, eq=False)
class RetrievedMoves:
    """The model of a casebase in a file; `support` is the effective number of retrieved cases. Its
    array form is only near it."""

    file: str
    betting: str
    streets: Sequence[_Street]
    prior: float
    exact: ClassVar[bool] = False

    @cached_property
    def arrays(self) -> OpponentModel:
        return array_form(self, self.file)

    @classmethod
    def of(cls, file: str, policy: str = "", prior: float = 2.0, moves: int = 0) -> RetrievedMoves:
        """The model of a casebase of hold'em; `moves` is the number of moves of the game that it
        shall predict (0: any)."""
        if not 0.0 < prior <= 1e6:
            raise BadValue(f"prior is {prior:g}; it must be above 0 and at most a million")
        if not Path(file).is_file():
            raise BadValue(f"there is no casebase {file!r}; write casebase:FILE.db")
        with Casebase.open(Path(file)) as base:
            if base.domain not in BETTING:
                raise BadValue(f"{file} is a casebase of {base.domain!r}, not of hold'em")
            if moves and moves_of(base.domain) != moves:
                raise BadValue(
                    f"{file} is a casebase of {base.domain!r}, and the players to predict play "
                    "another betting"
                )
            streets = [_Street(base, stage, policy) for stage in STREETS]
            return cls(file, BETTING[base.domain], streets, prior)

    def chances(self, tables: Ints, game: Game, hands: Ints) -> Chances:
        if game.betting != self.betting:
            raise BadValue(f"{self.file} is of {self.betting} hold'em, not of {game.betting}")
        legal = legal_at(tables, game)
        relative, support = np.zeros(legal.shape), np.zeros(len(tables))
        seen = with_hands(tables, hands)
        for street, of in enumerate(self.streets):
            for known in (False, True):
                mine = np.flatnonzero((tables[:, STREET] == street) & ((hands >= 0) == known))
                for first in range(0, len(mine), _BATCH):
                    some = mine[first : first + _BATCH]
                    weighted, support[some] = of.counted(Pending(seen, game, some), known)
                    for place, move in enumerate(of.moves):
                        relative[some, move] += weighted[:, place]
                usual: Any = np.bincount(of.moves, of.usual, legal.shape[1])
                relative[mine] = _shrunk(relative[mine], usual, legal[mine], self.prior)
        return Chances(normalised(relative, legal, "casebase"), support)


def _shrunk(counts: Floats, usual: Floats, legal: Flags, prior: float) -> Floats:
    """Counts [n, moves] of legal moves, and those of all decisions [moves] as so many cases. A
    little is left for moves that nobody made."""
    expected = legal * (usual + 1.0)
    expected /= expected.sum(axis=1, keepdims=True)
    found: Floats = legal * counts + prior * expected
    return found


def _public(base: Casebase, stage: str, cases: Retriever) -> Retriever:
    """A retriever of all decisions of a stage, those with hidden cards too, by public features."""
    vectors = base.read_public(stage).vectors()
    indexed = cases.vectors.case_type.indexed
    seen = [place for place, feature in enumerate(indexed) if not feature.private]
    weights = cases.weights[seen]
    if not weights.any():
        weights = np.ones(len(seen))
    measures = [cases.measures[place] for place in seen]
    kind = Spec.parse("auto")
    index = default_plugins().get("index", kind.name).make(vectors, measures, kind)
    return Retriever(vectors, measures, weights, cases.policy, index)


def _codes(
    case_type: CaseType, situations: Mapping[str, Any], private: bool
) -> NDArray[np.float32]:
    """Situations as feature vectors [n, d], with or without private features."""
    wanted = [feature for feature in case_type.indexed if private or not feature.private]
    columns = [np.asarray(feature.of(situations)) for feature in wanted]
    return np.stack(columns, axis=1).astype(np.float32)


def _moves(solutions: Sequence[str]) -> Ints:
    """The move of the abstraction for each solution: f, k or c, or b or r with a size."""
    kinds = {"f": FOLD, "k": CALL, "c": CALL}
    return np.array(
        [
            kinds.get(name[0], RAISE) + (SIZES.index(name[1:]) if name[1:] else 0)
            for name in solutions
        ],
        np.int64,
    )


def _effective(retrieved: RetrievedMany) -> Floats:
    """The effective number of retrieved cases [n]: the square of the sum of their similarities over
    the sum of the squares."""
    count = len(retrieved)
    mine = np.repeat(np.arange(count), np.diff(retrieved.start))
    cases = retrieved.share * retrieved.vectors.cases[retrieved.number]
    alike = np.maximum(retrieved.similarity, 0.0)
    total = np.bincount(mine, cases * alike, count)
    squares = np.bincount(mine, cases * alike**2, count)
    found: Floats = total**2 / np.where(squares > 0.0, squares, 1.0)
    return found
