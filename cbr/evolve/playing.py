"""Playing the contests that a search requests, in this process or in workers.

A request is divided into pieces of a size that the arena chooses, each with a seed of its own. So
the scores depend neither on the number of workers nor on the order in which they finish.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from cbr.errors import BadValue, PluginFailure
from cbr.evolve.arena import Arena, Contest, Supply
from cbr.evolve.seeds import CHOICE, REPORT, SEARCH, seed_of
from cbr.plugging.guard import guarded
from cbr.plugging.plugins import Plugins, default_plugins, plugins_with
from cbr.spec import Spec
from cbr.store import shared_arrays
from cbr.store.casebase import Casebase
from cbr.typing import Floats, Ints

OBJECTIVES = ("mean", "worst")
#: A duel has three steps of a quarter, a quarter and a half of its blocks.
_LEAST_SUPPLY = 4


@dataclass(frozen=True)
class Venue:
    """An arena given by its spec, for a casebase file in a certain state."""

    file: str
    state: str
    arena: str
    rows: int
    together: bool
    plugin_files: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ScoreRequest:
    """A request for paired scores of rows [n, d] in a number of trials. `place` (run, generation,
    step) is unique among requests of the same `purpose`, so that each has random numbers of its
    own.

    Where the supply of trials is limited, those of one generation and purpose are divided among its
    requests: this one has the `share` (first, parts, of), which is that many parts `of` all, from
    the first on.
    """

    rows: Floats
    trials: int
    purpose: int
    place: tuple[int, ...]
    share: tuple[int, int, int] = (0, 1, 1)


@dataclass(frozen=True, eq=False)
class Piece:
    """The part of a request that one worker plays at a time."""

    venue: Venue
    rows: Floats
    blocks: int
    seed: int


def state_of(base: Casebase) -> str:
    """A digest of the cases of a casebase and of the values estimated for them."""
    values = [base.values(stage) for stage in base.stages]
    marks = [hashlib.blake2b(repr(found).encode(), digest_size=8).hexdigest() for found in values]
    return " ".join(
        f"{stage}:{base.digest(stage)}:{mark}"
        for stage, mark in zip(base.stages, marks, strict=True)
    )


def open_contest(venue: Venue, plugins: Plugins | None = None) -> Contest:
    """The contest of a venue, opened once in a process: casebases take long to read."""
    return _opened(venue, plugins or default_plugins())


@lru_cache(maxsize=8)
def _opened(venue: Venue, plugins: Plugins) -> Contest:
    shared_arrays.share()  # other processes may play with the same casebase
    spec = Spec.parse(venue.arena)
    arena: Arena = plugins.get("arena", spec.name)
    with Casebase.open(Path(venue.file)) as base:
        if state_of(base) != venue.state:
            raise BadValue(f"{venue.file} has changed since the search began; start another one")
        if arena.domains and base.domain not in arena.domains:
            raise BadValue(
                f"arena {arena.name!r} is for casebases of {', '.join(arena.domains)}, but "
                f"{venue.file} is one of {base.domain!r}"
            )
    return arena.contest(Path(venue.file), spec, venue.rows, venue.together)


def play_piece(piece: Piece) -> Floats:
    """For a worker: the scores of a piece, [n, blocks]."""
    contest = open_contest(piece.venue, plugins_with(piece.venue.plugin_files))
    name = Spec.parse(piece.venue.arena).name
    with guarded(f"arena {name!r}"):
        scores = np.asarray(contest.play(piece.rows.copy(), piece.blocks, piece.seed), np.float64)
    if scores.shape != (len(piece.rows), piece.blocks) or not np.isfinite(scores).all():
        raise PluginFailure(
            f"arena {name!r} gave scores of shape {scores.shape} for {len(piece.rows)} rows and "
            f"{piece.blocks} blocks, or one that is not finite"
        )
    return scores


@dataclass(frozen=True, eq=False)
class Scoring:
    """How a search scores rows: in which venues, and how their scores are combined."""

    venues: Sequence[Venue]
    objective: str
    seed: int
    contests: Sequence[Contest] = field(init=False)

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise BadValue(f"objective {self.objective!r}; it is {' or '.join(OBJECTIVES)}")
        object.__setattr__(self, "contests", [open_contest(venue) for venue in self.venues])
        kinds = {(contest.genes, contest.unit) for contest in self.contests}
        if len(kinds) > 1:
            raise BadValue(
                "these arenas score in different units or have different genes: "
                + ", ".join(venue.arena for venue in self.venues)
            )
        divided = {(c.supply, c.last_known, c.supply and c.trials) for c in self.contests}
        if len(divided) > 1:
            raise BadValue(
                "these arenas divide the records differently, so a search in one would see what "
                "the other judges by; give them the same options: "
                + ", ".join(venue.arena for venue in self.venues)
            )
        if self.supply is not None and min(self.supply) < _LEAST_SUPPLY:
            raise BadValue(
                f"arena {self.venues[0].arena!r} has {min(self.supply)} blocks for one of search, "
                f"choice and judgement; each needs {_LEAST_SUPPLY} or more"
            )

    @property
    def supply(self) -> Supply | None:
        """The blocks that there are, the same in all arenas; None if as many as anyone wants."""
        return self.contests[0].supply

    def blocks(self, trials: int) -> int:
        """The number of blocks in which a row has at least this many trials in each arena."""
        return max(1, math.ceil(trials / min(contest.trials for contest in self.contests)))

    def rounds(self, wanted: int) -> int:
        """How many rounds a race can have, each with twice the blocks of the one before."""
        if self.supply is None:
            return wanted
        return min(wanted, (self.supply.search + 1).bit_length() - 1)

    def trials(self, blocks: int) -> int:
        """The trials of a row in this many blocks, summed over arenas; arenas of recorded data have
        the same trials, which count once."""
        if self.supply is not None:
            return blocks * self.contests[0].trials
        return blocks * sum(contest.trials for contest in self.contests)

    def pieces(self, request: ScoreRequest) -> list[Piece]:
        """The pieces of a request in order: arena by arena, blocks in order."""
        rows, _ = self._different(request.rows)
        return [
            Piece(venue, rows, size, seed)
            for number, venue in enumerate(self.venues)
            for seed, size in self._spans(request, number)
        ]

    def joined(self, request: ScoreRequest, scores: Sequence[Floats]) -> Floats:
        """The scores of a request from those of its pieces, [arenas, n, blocks]."""
        _, which = self._different(request.rows)
        parts, given = [], iter(scores)
        for number in range(len(self.venues)):
            spans = self._spans(request, number)
            parts.append(np.concatenate([next(given) for _ in spans], axis=1)[which])
        return np.stack(parts)

    def _spans(self, request: ScoreRequest, number: int) -> list[tuple[int, int]]:
        """Seed and number of blocks of each piece of a request in one arena."""
        piece = max(1, self.contests[number].piece)
        if self.supply is None:
            sizes = _sizes(self.blocks(request.trials), piece)
            place = (self.seed, request.purpose, *request.place, number)
            return [(seed_of(*place, at), size) for at, size in enumerate(sizes)]
        chosen = self._supplied(request, self.supply)
        cuts = np.flatnonzero(np.diff(chosen) != 1) + 1
        return [
            (int(span[at]), len(span[at : at + piece]))
            for span in np.split(chosen, cuts)
            for at in range(0, len(span), piece)
        ]

    def _supplied(self, request: ScoreRequest, supply: Supply) -> Ints:
        """The numbers of the blocks of a request, out of a limited supply.

        Requests of one generation and purpose get different blocks. Each generation starts at
        another block, so that not all use the same where there are many.
        """
        part = {SEARCH: 0, CHOICE: 1, REPORT: 2}[request.purpose]
        have, (first, parts, of) = supply[part], request.share
        every = min(have, max(of, self.blocks(request.trials * of // parts)))
        here = np.arange(every * first // of, every * (first + parts) // of)
        start = 0
        if request.purpose != REPORT:  # a longer report repeats the trials of a shorter one
            start = seed_of(self.seed, request.purpose, *request.place[:2]) % have
        return np.asarray(sum(supply[:part]) + (start + here) % have)

    def _different(self, rows: Floats) -> tuple[Floats, Ints]:
        """Distinct rows, unless rows play each other, and the index of each row among them."""
        if any(contest.together for contest in self.contests):
            return rows, np.arange(len(rows))
        _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return rows[first[order]], place[which.reshape(-1)]

    def one_score(self, scores: Floats) -> Floats:
        """Scores [arenas, n, blocks] combined by the objective, [n, blocks]: the mean over arenas,
        or the scores in the arena where a row does worst."""
        if self.objective == "mean" or len(scores) == 1:
            return np.asarray(scores.mean(axis=0), np.float64)
        worst = scores.mean(axis=2).argmin(axis=0)
        return np.asarray(scores[worst, np.arange(scores.shape[1])], np.float64)


def _sizes(blocks: int, piece: int) -> list[int]:
    """
    >>> _sizes(20, 8)
    [8, 8, 4]
    """
    return list(_cut(blocks, max(1, piece)))


def _cut(blocks: int, piece: int) -> Iterator[int]:
    while blocks > 0:
        yield min(piece, blocks)
        blocks -= piece
