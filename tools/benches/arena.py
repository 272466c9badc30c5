"""Speed of the arena: hands a second at tables of one bot, decisions of slow bots, two workers.

Tables are nine-seat limit. The peer is rlcard's limit game for nine, played by a loop that always
calls (or checks): the cost of a table there without any bot. For decisions it is rlcard's
environment with agents that get the state of their seat. Each deal is played once, so that no bot
can reuse an answer for its copies. Two workers are compared with two matches running in parallel,
each by one worker.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from benches import Row, compare, compare_rates
from benches.tables import rlcard_calls
from cbr.workers import executor
from cbr_arena import Match, Views, build, play, players_of, sittings

_SEATS, _PEER_HANDS = 9, 20


def rows(full: bool) -> list[Row]:
    more = 4 if full else 1
    return [
        _hands("call", 90_000 * more),
        _hands("ace1", 90_000 * more),
        _hands("lag", 27_000 * more),
        _hands("miniloki", 27_000 * more),
        _hands("loki", 900 * more),
        _decisions("sim?trials=100", build("sim?trials=100", "limit"), 60 * more),
        _decisions("a view bot", Views(_View), 1_000 * more),
        _workers(200_000 * more),
    ]


class _View:
    """A user's bot: one view in, one action out."""

    def act(self, view):  # type: ignore[no-untyped-def]
        return "c" if view.call <= 2 * view.pot else "f"


class _Counted:
    """Wraps a bot and counts its decisions."""

    def __init__(self, bot: Any) -> None:
        self.bot, self.memory, self.asked = bot, bot.memory, 0

    def act(self, situations: Any, memory: Any, chance: Any) -> Any:
        self.asked += situations.count
        return self.bot.act(situations, memory, chance)


def _hands(spec: str, hands: int) -> Row:
    peer = rlcard_calls(_SEATS, _PEER_HANDS)
    seed = [0]

    def ours() -> None:
        seed[0] += 1
        play(Match(players_of([f"{spec}*{_SEATS}"]), hands=hands, seed=seed[0], duplicate=False))

    what = f"nine {spec}"
    return compare_rates(
        what, ours, "rlcard, calls", peer, per=hands, peer_per=_PEER_HANDS, repeat=3
    )


def _decisions(what: str, bot: Any, hands: int) -> Row:
    """Decisions of one bot among eight that call; the cost of the table is included."""
    match = Match(players_of(["fold", "call*8"]), hands=hands)
    counted = _Counted(bot)
    room = match.room()
    room.bots = [counted, *room.bots[1:]]

    def ours() -> None:
        for sitting in sittings(match, range(match.deals), room):
            room.play(sitting)

    ours()
    decisions, peer = counted.asked, _RlcardViews()
    row = compare(f"{what} among eight call", ours, "rlcard, states", peer, repeat=3)
    # The peer's number of decisions in a call is only known after timing.
    mine, theirs = 1e6 * decisions / row.ours, 1e6 * peer.asked / row.peer
    return Row(row.what, mine, row.peer_name, theirs, mine / theirs, "decisions/s")


class _RlcardViews:
    """Nine agents of rlcard that always call, each given the state of its seat."""

    use_raw = False

    def __init__(self) -> None:
        import rlcard

        self.env = rlcard.make("limit-holdem", {"game_num_players": _SEATS, "seed": 1})
        self.env.set_agents([self] * _SEATS)
        self.asked = 0

    def __call__(self) -> None:
        self.asked = 0
        for _ in range(_PEER_HANDS):
            self.env.run(is_training=True)

    def step(self, state: Any) -> int:
        self.asked += 1
        legal = state["legal_actions"]
        return 3 if 3 in legal else 0  # check, or call


def _workers(hands: int) -> Row:
    match = Match(players_of(["lag*9"]), hands=hands)
    with executor(2) as pool:
        play(Match(players_of(["lag*9"]), hands=20_000), pool)  # both have compiled code now
        together = _seconds(lambda: play(match, pool))
    spawn = get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as two:
        list(two.map(_alone, [20_000, 20_000]))
        side = _seconds(lambda: list(two.map(_alone, [hands, hands])))
    mine, theirs = hands / together, 2 * hands / side
    return Row("nine lag, two workers", mine, "two matches", theirs, mine / theirs, "hands/s")


def _alone(hands: int) -> None:
    play(Match(players_of(["lag*9"]), hands=hands))


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
