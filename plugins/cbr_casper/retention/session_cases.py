"""Cases that a bot retains while it plays: the hands of one session, as its seat observed them.

Each decision of a player whose cards are known is a case: the bot's own always, those of opponents
at a showdown. Features are those that `cbr build` would compute from a log of the same hand. The
arena's memory holds the number of a session; sessions that are over are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue, CaseType
from cbr.measure import Bound
from cbr.retrieval import TOLERANCE
from cbr.typing import Floats, Ints
from cbr_arena import Chance
from cbr_casper.retention.casebase_writer import CasebaseWriter
from cbr_casper.retention.observed_hands import merge_views, observed_text
from cbr_casper.streets import codes_of
from cbr_holdem.situation import situate
from cbr_holdem.table import Game

Codes = NDArray[np.float32]

#: The field of the arena's memory that holds the number of a session.
TICKET = ("ticket", np.int64)
#: A session is over when this many calls of `Retention.remember` did not include it. A running
#: session is in every call, or in one of as many calls as there are seats.
_OVER = 64


class SessionCases:
    """Cases of one street: features `codes` [n, d], `solution` [n], `outcome` [n], and whether they
    are the bot's `own` [n]."""

    def __init__(self, features: int) -> None:
        self._count = 0
        self._codes = np.empty((16, features), np.float32)
        self._solution = np.empty(16, np.int64)
        self._outcome = np.empty(16)
        self._own = np.empty(16, bool)

    def __len__(self) -> int:
        return self._count

    @property
    def codes(self) -> Codes:
        return self._codes[: self._count]

    @property
    def solution(self) -> Ints:
        return self._solution[: self._count]

    @property
    def outcome(self) -> Floats:
        return self._outcome[: self._count]

    @property
    def own(self) -> NDArray[np.bool_]:
        return self._own[: self._count]

    def add(self, codes: Codes, solution: Ints, outcome: Floats, own: NDArray[np.bool_]) -> None:
        end = self._count + len(codes)
        for name, new in zip(self._PARTS, (codes, solution, outcome, own), strict=True):
            array = getattr(self, name)
            if end > len(array):
                larger = np.empty((2 * end, *array.shape[1:]), array.dtype)
                larger[: self._count] = array[: self._count]
                setattr(self, name, array := larger)
            array[self._count : end] = new
        self._count = end

    _PARTS = ("_codes", "_solution", "_outcome", "_own")


@dataclass(eq=False)
class Session:
    """The cases of a session by street. `key` identifies it among all sessions, `hands` counts its
    hands, and `last` is when it came up last."""

    streets: Sequence[SessionCases]
    key: int = 0
    hands: int = 0
    last: int = 0


@dataclass(eq=False)
class Retention:
    """The sessions of a bot, and the file to which it writes observed hands, if any."""

    case_types: Sequence[CaseType]
    writer: CasebaseWriter | None = None
    game: Game | None = None
    _sessions: dict[int, Session] = field(default_factory=dict)
    _numbered: int = 0
    _clock: int = 0

    @classmethod
    def of(cls, case_types: Sequence[CaseType], retain: str) -> Retention:
        """Retention as the option `retain` says: `session`, or a casebase file as well."""
        types = list(case_types)
        return cls(types, None if retain == "session" else CasebaseWriter(Path(retain), types))

    def sessions(self, memory: Any, game: Game, chance: Chance | None = None) -> list[Session]:
        """The sessions of some decisions, by the numbers in memory; new ones get a number."""
        self.game = game
        found = [self._session(memory, at) for at in range(len(memory))]
        if chance is not None:
            for at, session in enumerate(found):
                # Derived from seed, deal and seat, so it is unique among sessions of all matches.
                session.key = session.key or int(chance.state[at])
        return found

    def _session(self, memory: Any, at: int) -> Session:
        ticket = int(memory["ticket"][at])
        if ticket not in self._sessions:
            self._numbered += 1
            ticket = memory["ticket"][at] = self._numbered
            streets = [SessionCases(len(case_type.indexed)) for case_type in self.case_types]
            self._sessions[ticket] = Session(streets, last=self._clock)
        return self._sessions[ticket]

    def remember(self, tables: Ints, seats: Ints, memory: Any) -> None:
        """Retain the cases of finished hands, as these seats observed them."""
        if self.game is None:  # it has made no decision yet
            return
        sessions = self.sessions(memory, self.game)
        self._clock += 1
        numbers = []
        for session in sessions:
            session.last, session.hands = self._clock, session.hands + 1
            numbers.append(f"{session.key:016x}/{session.hands}")
        over = [t for t, s in self._sessions.items() if s.last < self._clock - _OVER]
        for ticket in over:
            del self._sessions[ticket]
        bodies = [observed_text(t, self.game, n) for t, n in zip(tables, numbers, strict=True)]
        for street, new in enumerate(cases_of(bodies, seats, self.case_types)):
            edges = np.searchsorted(new.hand, np.arange(len(sessions) + 1))
            for at in np.unique(new.hand).tolist():
                mine = slice(edges[at], edges[at + 1])
                parts = (new.codes, new.solution, new.outcome, new.own)
                sessions[at].streets[street].add(*(part[mine] for part in parts))
        if self.writer is not None:
            hands = zip(*merge_views(tables, numbers), strict=True)
            self.writer.write([observed_text(table, self.game, name) for table, name in hands])


class _NewCases(NamedTuple):
    """Cases of one street in the order of their hands; `hand` [n] is the place of the hand."""

    codes: Codes
    solution: Ints
    outcome: Floats
    own: NDArray[np.bool_]
    hand: Ints


def cases_of(bodies: Sequence[str], seats: Ints, case_types: Sequence[CaseType]) -> list[_NewCases]:
    """The decisions of players whose cards are known, for each case type; `seats` [hands] are the
    bot's own."""
    situated = situate(bodies, case_types)
    if situated.rejected:
        raise BadValue(f"cannot retain a hand: {next(iter(situated.rejected.values()))}")
    found = []
    for case_type in case_types:
        batch = situated.batches[case_type.stage]
        codes = codes_of(case_type, batch.situations)
        known = np.flatnonzero(np.isfinite(codes).all(axis=1))
        code = {name: number for number, name in enumerate(case_type.solutions)}
        solution = np.array([code[name] for name in batch.solution], np.int64)
        place: Any = batch.situations
        own = place.place[:, 1] == seats[batch.record]
        outcome, hand = np.asarray(batch.outcome), np.asarray(batch.record)
        found.append(
            _NewCases(codes[known], solution[known], outcome[known], own[known], hand[known])
        )
    return found


class SimilarCases(NamedTuple):
    """Retained cases that are similar to targets, [m] each: the place of the target, the
    similarity, the solution, its outcome, and whether the case is the bot's own."""

    target: Ints
    similarity: Floats
    solution: Ints
    outcome: Floats
    own: NDArray[np.bool_]

    def sums(self, weights: NDArray[Any], shape: tuple[int, int]) -> Floats:
        """Sums of weights [m] by target and solution."""
        cell = self.target * shape[1] + self.solution
        sums: Floats = np.bincount(cell, weights, shape[0] * shape[1]).astype(np.float64)
        return sums.reshape(shape)

    def take(self, places: NDArray[np.bool_]) -> SimilarCases:
        """The cases marked in `places` [m]."""
        return SimilarCases(
            self.target[places],
            self.similarity[places],
            self.solution[places],
            self.outcome[places],
            self.own[places],
        )


def similar_cases(
    targets: Codes,
    cases: Sequence[SessionCases],
    measures: Sequence[Bound],
    weights: Floats,
    above: float,
) -> SimilarCases:
    """For each target [n, d], the `cases` of its session that are more similar than `above`."""
    target = np.repeat(np.arange(len(targets)), [len(kept) for kept in cases])
    codes = np.concatenate([kept.codes for kept in cases])
    left, lost = np.arange(len(target)), np.zeros(len(target))
    total = weights.sum()
    # Largest weights first, so that most cases are excluded before the other features are compared.
    for place in np.argsort(-weights, kind="stable").tolist():
        if not len(left) or not weights[place]:
            break
        local = _local(measures[place], targets[target[left], place], codes[left, place])
        lost += weights[place] * (1.0 - local)
        close = lost < (1.0 - above + TOLERANCE) * total
        left, lost = left[close], lost[close]
    solution, outcome, own = (
        np.concatenate([getattr(kept, part) for kept in cases])[left]
        for part in ("solution", "outcome", "own")
    )
    return SimilarCases(target[left], 1.0 - lost / total, solution, outcome, own)


def _local(bound: Bound, targets: Codes, values: Codes) -> Floats:
    if bound.feature.is_number:
        return bound.pairs(targets.astype(np.float64), values.astype(np.float64))
    asked, of_target = np.unique(targets, return_inverse=True)
    known, of_value = np.unique(values, return_inverse=True)
    local: Floats = bound.grid(asked, known)[of_target, of_value]
    return local
