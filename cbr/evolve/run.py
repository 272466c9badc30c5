"""A whole search: parallel runs, further runs from their winners, and a report at the end.

A run is a generator that yields score requests and is sent the scores. The run file keeps the
requests of completed generations with their scores. So a search that was killed repeats the same
requests, gets their scores from the file, and continues as if it had not been interrupted.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from cbr.errors import CbrError
from cbr.evolve import generational, racing
from cbr.evolve.generational import Search
from cbr.evolve.genome import Genome
from cbr.evolve.plans import Generational, Plan, Racing
from cbr.evolve.playing import Piece, ScoreRequest, Scoring, play_piece
from cbr.evolve.record import Generation
from cbr.evolve.runfile import Place, RunFile
from cbr.evolve.seeds import REPORT
from cbr.typing import Floats
from cbr.workers import in_order

#: The run number of the report, by which its trials are seeded; no run has it.
_NO_RUN = (0, 0, 0)


@dataclass(frozen=True)
class SearchProgress:
    """Values for a progress display: generations completed and in all (at most), the last of them,
    trials played by this process and seconds since it began; `doing` describes work before and
    after the generations."""

    over: int
    of: int
    last: Generation | None
    trials: int
    seconds: float
    trial: str = "block"
    doing: str = ""


OnProgress = Callable[[SearchProgress], None]


@dataclass(eq=False)
class _Run:
    """A run in progress: the pending request, and those completed since its last generation."""

    number: int
    search: Search
    request: ScoreRequest | None = None
    scores: dict[int, Floats] = field(default_factory=dict)
    missing: int = 0
    questions: list[tuple[Place, ScoreRequest, Floats]] = field(default_factory=list)
    began: float = 0.0


@contextmanager
def _named_if_a_worker_dies() -> Iterator[None]:
    try:
        yield
    except BrokenExecutor:
        raise CbrError(
            "a worker process ended unexpectedly; --resume continues from the last generation"
        ) from None


class Evolution:
    """A search with its settings; `run` executes it and returns the best row."""

    def __init__(
        self,
        plan: Plan,
        genome: Genome,
        scoring: Scoring,
        starts: Mapping[str, Floats],
        file: RunFile,
        pool: Executor | None = None,
        tell: OnProgress | None = None,
    ) -> None:
        self.plan, self.genome, self.scoring, self.starts = plan, genome, scoring, starts
        self.file, self.pool, self.tell = file, pool, tell
        self.winners: dict[int, Floats] = {}
        self._waiting: deque[tuple[_Run, int, Piece]] = deque()
        self._futures: dict[Future[Floats], tuple[_Run, int, Piece]] = {}
        self._started: set[int] = set()
        self._trials, self._began, self._over = 0, time.monotonic(), 0
        self._last: Generation | None = None
        rounds = plan.rounds_of_runs()
        ends = np.cumsum([0, *rounds]).tolist()
        #: For each run, the runs whose winners it starts from; numbered from 1, round by round.
        self.parents: dict[int, list[int]] = {}
        for depth, count in enumerate(rounds):
            for at in range(count):
                before = range(ends[depth - 1] + 1, ends[depth] + 1) if depth else range(0)
                group = before[at * plan.population : (at + 1) * plan.population]
                self.parents[ends[depth] + at + 1] = list(group)

    @property
    def generations(self) -> int:
        """The most generations of all runs."""
        first = isinstance(self.plan, Racing)  # its generation 0 are the starting rows
        return len(self.parents) * (self.plan.generations + first)

    def run(self) -> Floats:
        """Execute all runs; returns the winner of the last one."""
        with _named_if_a_worker_dies():
            try:
                self._start_runs()
                while self._waiting or self._futures:
                    self._work()
            finally:
                for future in self._futures:
                    future.cancel()
        return self.winners[max(self.parents)]

    def report(self, rows: Floats) -> Floats:
        """Scores of rows on trials that no generation used, [arenas, n, blocks]."""
        request = ScoreRequest(rows, self.plan.report, REPORT, _NO_RUN)
        # A longer report repeats the trials of a shorter one, but is kept as another request.
        place: Place = (0, 0, self.plan.report)
        scores = self.file.answer(request, place)
        if scores is None:
            started = time.monotonic()
            pieces = self.scoring.pieces(request)
            found: list[Floats] = []
            with _named_if_a_worker_dies():
                for piece, played in zip(
                    pieces, in_order(self.pool, play_piece, pieces, ahead=64), strict=True
                ):
                    found.append(np.asarray(played))
                    self._count(piece, "on fresh trials")
            scores = self.scoring.joined(request, found)
            self.file.keep([(place, request, scores)], None, time.monotonic() - started)
        return scores

    # --- runs ---------------------------------------------------------------------------------

    def _start_runs(self) -> None:
        """Start every run whose parents are done, in order."""
        for number, parents in self.parents.items():
            ready = all(parent in self.winners for parent in parents)
            if ready and number not in self._started:
                self._started.add(number)
                given = [self.winners[parent] for parent in parents]
                run = _Run(number, self._search(number, given), began=time.monotonic())
                self._advance(run, None)

    def _search(self, number: int, given: Sequence[Floats]) -> Search:
        if isinstance(self.plan, Generational):
            return generational.search(self.plan, self.genome, self.scoring, number, given)
        if not isinstance(self.plan, Racing):
            raise CbrError(f"plan {self.plan.name!r} has no method")
        starts = {f"winner {at}": row for at, row in enumerate(given, 1)} or self.starts
        return racing.search(self.plan, self.genome, self.scoring, number, starts)

    def _advance(self, run: _Run, scores: Floats | None) -> None:
        """Let a run continue until it requests scores that must be played, or is done."""
        try:
            said = next(run.search) if scores is None else run.search.send(scores)
            while True:
                if isinstance(said, Generation):
                    self._over_with(run, said)
                    said = next(run.search)
                    continue
                place: Place = (run.number, said.place[1], said.place[2])
                known = self.file.answer(said, place)
                if known is None:
                    break
                said = run.search.send(known)
        except StopIteration as stop:
            self.winners[run.number] = stop.value
            self._start_runs()
            return
        pieces = self.scoring.pieces(said)
        run.request, run.scores, run.missing = said, {}, len(pieces)
        self._waiting.extend((run, at, piece) for at, piece in enumerate(pieces))

    def _over_with(self, run: _Run, generation: Generation) -> None:
        if run.questions:  # else it was completed before this process started
            self.file.keep(run.questions, generation, time.monotonic() - run.began)
            run.questions, run.began = [], time.monotonic()
        self._over += 1
        self._last = generation
        self._say()

    # --- work ---------------------------------------------------------------------------------

    def _work(self) -> None:
        """Play a piece; with workers, submit pieces and wait for one."""
        if self.pool is None:
            run, at, piece = self._waiting.popleft()
            self._played(run, at, piece, play_piece(piece))
            return
        while self._waiting:
            run, at, piece = self._waiting.popleft()
            self._futures[self.pool.submit(play_piece, piece)] = (run, at, piece)
        done, _ = wait(self._futures, return_when=FIRST_COMPLETED)
        for future in done:
            run, at, piece = self._futures.pop(future)
            self._played(run, at, piece, np.asarray(future.result()))

    def _played(self, run: _Run, at: int, piece: Piece, scores: Floats) -> None:
        self._count(piece)
        run.scores[at] = scores
        run.missing -= 1
        if run.missing or run.request is None:
            return
        request = run.request
        joined = self.scoring.joined(request, [run.scores[at] for at in sorted(run.scores)])
        run.questions.append(((run.number, request.place[1], request.place[2]), request, joined))
        self._advance(run, joined)

    def _count(self, piece: Piece, doing: str = "") -> None:
        number = self.scoring.venues.index(piece.venue)
        contest = self.scoring.contests[number]
        rows = 1 if contest.together else len(piece.rows)
        self._trials += rows * piece.blocks * contest.trials
        self._say(doing)

    def _say(self, doing: str = "") -> None:
        if self.tell is not None:
            seconds = time.monotonic() - self._began
            trial = self.scoring.contests[0].trial
            place = (self._over, self.generations, self._last)
            self.tell(SearchProgress(*place, self._trials, seconds, trial, doing))
