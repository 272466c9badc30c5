"""Duplicate matches: the same deals in every seat, and sessions for bots with a memory.

A deal is played once for each rotation of the players around the table (heads-up: twice, with seats
swapped), so that every player has every seat, with its cards, once. The mean over these hands is
one block, and intervals are over blocks. The rotation advances with each deal, as the button does.

Bots with a memory play sessions: `session` deals one after another in one rotation, after which the
memory is cleared. No memory sees a deal twice. Results do not depend on the number of workers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import count, takewhile
from typing import Any

import numpy as np

from cbr import BadValue
from cbr.plugging import Plugins, default_plugins, guarded, plugins_with
from cbr.typing import Floats, Ints, Progress
from cbr.workers import in_order
from cbr_arena.adjust import verify_adjustment, without_luck
from cbr_arena.bots import CALL_LIMIT, LONGEST_CALL, Figure
from cbr_arena.logs import plain_name
from cbr_arena.luck import TERMS, all_in
from cbr_arena.players import Player, build, is_guest, verify_fits
from cbr_arena.records import texts
from cbr_arena.showing import COUNTS, counted, payoffs, pots
from cbr_arena.tables import Room, Sitting
from cbr_arena.watchers import known_as, watch_publicly
from cbr_holdem.table import MOST_CHIPS, MOST_SEATS, PARTS, Game

#: Hands that are played in lockstep: enough to make a step worth its cost, few enough for caches.
_AT_ONCE = 2_048
#: Deals of one piece of work, if no bot has a memory.
_PIECE = 1_800
#: Sessions of one piece of work, played side by side, if a bot has one.
_SESSIONS = 8
#: Deals of the longest session, since all its results are held.
_LONGEST = 100_000


@dataclass(frozen=True)
class Match:
    """Who plays which game, for how many hands, with which seed. Stacks are reset for every hand.

    Each deal is played in every seating unless `duplicate` is false. `stack` 0 stands for 1,000 big
    blinds in limit, 100 else. `keep_hands` keeps the hands as texts; `adjust` is the method of
    variance reduction (`cbr_arena.adjust`). With `isolate`, bots that are not our own play in
    processes of their own (`cbr_arena.apart`), where a call may take `bot_timeout` seconds.
    """

    players: Sequence[Player]
    hands: int = 10_000
    game: Game = field(default_factory=Game)
    stack: int = 0
    seed: int = 0
    session: int = 1_000
    duplicate: bool = True
    keep_hands: bool = False
    adjust: str = "none"
    isolate: bool = False
    bot_timeout: float = CALL_LIMIT

    def __post_init__(self) -> None:
        object.__setattr__(self, "players", tuple(self.players))
        if not 2 <= len(self.players) <= MOST_SEATS:
            raise BadValue(f"{len(self.players)} bots; a table has 2 to {MOST_SEATS} seats")
        verify_adjustment(self.adjust)
        if not 0 < self.bot_timeout <= LONGEST_CALL:
            raise BadValue(
                f"bots get {self.bot_timeout:g} s for a call; give more than 0, at most "
                f"{LONGEST_CALL:,}"
            )
        if self.hands < 1 or not 1 <= self.session <= _LONGEST:
            raise BadValue(
                f"a match needs at least one hand, and a session from 1 to {_LONGEST:,} deals"
            )
        if not self.stack:
            # Deep enough for the cap on every street in limit, 100 big blinds else.
            deep = 1_000 if self.game.betting == "limit" else 100
            object.__setattr__(self, "stack", deep * self.game.big_blind)
        if not 0 < self.stack <= MOST_CHIPS:
            raise BadValue(f"a stack is {self.stack:,} chips; it must be 1 to {MOST_CHIPS:,}")

    @property
    def seats(self) -> int:
        return len(self.players)

    @property
    def seatings(self) -> int:
        """The number of times that each deal is played."""
        return self.seats if self.duplicate else 1

    @property
    def deals(self) -> int:
        return -(-self.hands // self.seatings)

    @cached_property
    def remembers(self) -> bool:
        room = self.room()
        try:
            return room.remembers
        finally:
            room.end()

    def room(self) -> Room:
        """The players, with empty memories. Those of one spec share a bot; each that is isolated
        has its own, so that it knows no more than its seat."""
        bots: list[Any] = []
        bot_of: list[int] = []
        shared: dict[str, int] = {}
        for spec in (player.spec for player in self.players):
            apart = self.isolate and is_guest(spec)
            if apart or spec not in shared:
                shared[spec] = len(bots)
                bots.append(self._apart(spec) if apart else build(spec, self.game.betting))
            bot_of.append(shared[spec])
        room = Room(
            self.game, self.stack, self.seed, bots, np.array(bot_of), self.adjust == "aivat"
        )
        try:
            for bot in bots:
                verify_fits(bot, self.seats)
        except BaseException:
            room.end()
            raise
        return room

    def _apart(self, spec: str) -> Any:
        from cbr_arena.apart.outside import Apart

        return Apart(spec, self.game, self.seats, self.bot_timeout)

    @property
    def piece(self) -> int:
        """Deals of one piece of work: whole sessions if a bot has a memory."""
        return _SESSIONS * self.session if self.remembers else _PIECE

    def seating(self, deal: Ints, way: Ints) -> Ints:
        """The player in each seat [n, seats] at deals [n], in the rotations `way` [n]."""
        return (np.arange(self.seats) + (way + deal)[:, None]) % self.seats


@dataclass(frozen=True, eq=False)
class Played:
    """The results of some deals.

    `won` [blocks, players] are the winnings of each player in a block, in bets a hand; `squares`
    [players] the sums of squared winnings over hands; `counts` [players, counts] and `pots` [3] are
    as in `showing`; `faults` are counted by player and reason; `figures` are the bots' own
    statistics, by spec and name. Depending on the match: `hands` are the hands as texts,
    `on_average` [blocks, players] the winnings with all-ins at their mean, `luck`
    [blocks, players, terms] the luck terms. `session` [blocks] is the session of each block if a
    bot used its memory: blocks of one session are then not independent. `seen` is what a watcher
    saw of the players (`cbr_arena.watchers`), if there is one.
    """

    won: Floats
    squares: Floats
    counts: Ints
    pots: Ints
    faults: Counter[tuple[int, str]]
    figures: dict[tuple[str, str], Figure]
    hands: list[str]
    on_average: Floats | None = None
    luck: Floats | None = None
    session: Ints | None = None
    seen: Any = None

    @classmethod
    def together(cls, parts: Sequence[Played]) -> Played:
        """The results of several pieces as one."""
        faults: Counter[tuple[int, str]] = sum((part.faults for part in parts), Counter())
        won = np.concatenate([part.won for part in parts])
        squares, counts, pots = (
            np.sum([getattr(part, name) for part in parts], axis=0)
            for name in ("squares", "counts", "pots")
        )
        on_average, luck = (
            None
            if getattr(parts[0], name) is None
            else np.concatenate([getattr(part, name) for part in parts])
            for name in ("on_average", "luck")
        )
        session = None
        if any(part.session is not None for part in parts):
            numbers = [np.arange(len(p.won)) if p.session is None else p.session for p in parts]
            ahead = np.cumsum([0, *(int(n.max()) + 1 for n in numbers)])
            session = np.concatenate([n + more for n, more in zip(numbers, ahead, strict=False)])
        hands = [hand for part in parts for hand in part.hands]
        figures: dict[tuple[str, str], Figure] = {}
        for part in parts:
            for name, (total, weight) in part.figures.items():
                before = figures.get(name, Figure(0.0, 0.0))
                figures[name] = Figure(before.total + total, before.weight + weight)
        seen: Any = None
        if parts[0].seen is not None:
            seen = parts[0].seen.fresh()
            for part in parts:
                seen.merge(part.seen)
        return cls(
            won, squares, counts, pots, faults, figures, hands, on_average, luck, session, seen
        )

    @cached_property
    def adjusted(self) -> Floats | None:
        """Winnings after variance reduction, [blocks, players]; None if there is none."""
        if self.luck is None or self.on_average is None:
            return self.on_average
        return np.stack(
            [
                without_luck(self.on_average[:, at], self.luck[:, at])
                for at in range(self.won.shape[1])
            ],
            axis=1,
        )

    @property
    def judged(self) -> Floats:
        """The winnings that rates are taken from, [blocks, players]: adjusted ones if there are."""
        return self.won if self.adjusted is None else self.adjusted


def pieces_played(
    match: Match,
    pool: Executor | None = None,
    endless: bool = False,
    piece: int = 0,
    opponents: Any = None,
) -> Generator[Played, None, None]:
    """The results of a match piece by piece, in order; `endless` goes on with further deals after
    its end. `piece` is the number of deals in a piece, on which results do not depend; matches that
    are played side by side need the same. `opponents` is a watcher: bots are told what it saw
    before the match, and what others like it see is in the results."""
    size, last = piece or match.piece, None if endless else match.deals
    pieces = (range(first, first + size) for first in count(0, size))
    files = tuple(map(str, default_plugins().files))
    work = (
        (
            match,
            deals if last is None else range(deals.start, min(deals.stop, last)),
            files,
            opponents,
        )
        for deals in takewhile(lambda deals: last is None or deals.start < last, pieces)
    )
    return in_order(pool, _piece, work)


def play(
    match: Match,
    pool: Executor | None = None,
    progress: Progress | None = None,
    opponents: Any = None,
) -> Played:
    """Play a match; `opponents` is as in `pieces_played`."""
    parts: list[Played] = []
    done = 0
    for part in pieces_played(match, pool, opponents=opponents):
        parts.append(part)
        done += len(part.won) * match.seatings
        if progress:
            progress(done, match.deals * match.seatings, done)
    return Played.together(parts)


@lru_cache(maxsize=4)
def _room(match: Match, plugins: Plugins) -> Room:
    """The room of a match, built once in a process, since some bots read a casebase."""
    return match.room()


def _piece(work: tuple[Match, range, tuple[str, ...], Any]) -> Played:
    match, deals, files, opponents = work
    room = _room(match, plugins_with(files))
    room.reset()
    room.opponents, room.names = opponents, [known_as(player) for player in match.players]
    try:
        return _played(match, deals, room)
    finally:
        room.end()


def _played(match: Match, deals: range, room: Room) -> Played:
    # In whole parts of a chip, so that what cancels out is exactly 0.
    won = np.zeros((len(deals), match.seats), np.int64)
    squares = np.zeros(match.seats)
    counts = np.zeros((match.seats, len(COUNTS)), np.int64)
    in_all = np.zeros(3, np.int64)
    on_average = None if match.adjust == "none" else np.zeros(won.shape)
    luck = np.zeros((*won.shape, len(TERMS))) if room.follow_luck else None
    hands: list[str] = []
    bet = PARTS * match.game.big_blind
    seen = None if room.opponents is None else room.opponents.fresh()
    for sitting in sittings(match, deals, room):
        rows = room.play(sitting)
        if seen is not None:
            seated = [[room.names[player] for player in row] for row in sitting.player.tolist()]
            watch_publicly(seen, rows, seated, match.game)
        earned = payoffs(rows, match.seats)
        where = (sitting.deal[:, None] - deals.start, sitting.player)
        np.add.at(won, where, earned)
        if on_average is not None:
            np.add.at(on_average, where, all_in(rows, room.game.terms, room.seed, sitting.deal))
        if luck is not None and room.luck:
            np.add.at(luck, where, room.luck.terms)
        np.add.at(squares, sitting.player, (earned / bet) ** 2)
        in_all += pots(rows)
        counts += counted(rows, sitting.player, match.seats)
        if match.keep_hands:
            hands += texts(rows, sitting, match.game, [plain_name(p.name) for p in match.players])
    for chips in (on_average, luck):
        if chips is not None:
            chips /= match.game.big_blind * match.seatings
    result = won / (bet * match.seatings)
    session = np.arange(len(deals)) // match.session if room.remembered else None
    figures = _figures(match, room)
    return Played(
        result,
        squares,
        counts,
        in_all,
        room.faults,
        figures,
        hands,
        on_average,
        luck,
        session,
        seen,
    )


def _figures(match: Match, room: Room) -> dict[tuple[str, str], Figure]:
    """The statistics of their play that bots report since the last call."""
    found: dict[tuple[str, str], Figure] = {}
    for player, number in zip(match.players, room.bot_of.tolist(), strict=True):
        take = getattr(getattr(room.bots[number], "figures", None), "take", None)
        if take is not None:
            with guarded(f"figures of bot {player.spec!r}"):
                for name, (total, weight) in take().items():
                    before = found.get((player.spec, str(name)), Figure(0.0, 0.0))
                    found[player.spec, str(name)] = Figure(
                        before.total + float(total), before.weight + float(weight)
                    )
    return found


def sittings(match: Match, deals: range, room: Room) -> Iterator[Sitting]:
    """The hands of some deals, in batches that are played side by side. No batch has a deal twice,
    because a bot that decides for both hands would see cards of its opponents. For bots that are
    apart sessions begin with each rotation: no process meets a deal twice."""
    all_ways = np.arange(match.seatings)
    if not room.remembers:
        for way in all_ways.tolist():
            if not way or room.apart:
                room.begin(1)
            for first in range(deals.start, deals.stop, _AT_ONCE):
                some = np.arange(first, min(first + _AT_ONCE, deals.stop))
                yield _sitting(match, some, np.full(len(some), way), np.zeros(len(some), np.int64))
        return
    for ways in all_ways[:, None] if room.apart else all_ways[None, :]:
        yield from _sessions(match, deals, room, ways)


def _sessions(match: Match, deals: range, room: Room, ways: Ints) -> Iterator[Sitting]:
    """The hands of some deals in sessions, in some of the rotations side by side."""
    # A row for each session in each rotation: its deals, and with which of them it begins.
    starts = np.arange(deals.start, deals.stop, match.session)
    length = np.minimum(match.session, deals.stop - starts)
    session = np.repeat(np.arange(len(starts)), len(ways))
    ways = np.tile(ways, len(starts))
    begin = ways * length[session] // match.seatings
    room.begin(len(session))
    for step in range(int(length.max())):
        going = np.flatnonzero(step < length[session])
        mine = session[going]
        some = starts[mine] + (begin[going] + step) % length[mine]
        # With fewer deals than rotations a deal comes twice: these are played one after another.
        for turn in range(int(np.unique(some, return_counts=True)[1].max())):
            now = _nth(some, turn)
            yield _sitting(match, some[now], ways[going[now]], going[now])


def _nth(deals: Ints, turn: int) -> Ints:
    """Indices of the deals before which the same deal occurs exactly `turn` times."""
    order = np.argsort(deals, kind="stable")
    ordered = deals[order]
    before = np.arange(len(deals)) - np.searchsorted(ordered, ordered)
    return np.sort(order[before == turn])


def _sitting(match: Match, deal: Ints, way: Ints, session: Ints) -> Sitting:
    return Sitting(deal, match.seating(deal, way), session)
