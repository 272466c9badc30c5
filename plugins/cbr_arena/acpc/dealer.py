"""A dealer: it deals, tells everybody what they see, and reads what they do.

Players take turns in the positions: at hand h, position p is of player (p + h) mod n, as at the
original dealer. Deal h of a seed has the cards of deal h in `cbr match`.
"""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cbr.errors import BadValue
from cbr_arena.acpc.lines import Gone, Lines, Silent
from cbr_arena.acpc.log import MatchLog, score_line
from cbr_arena.acpc.protocol import VERSION, betting_of, quoted, settled, speaks_ours, state_of
from cbr_arena.acpc.seats import Limits, Lost, Remote, Seat, told
from cbr_holdem.table.deck import decks
from cbr_holdem.table.rules import PARTS, PAYOFF, act
from cbr_holdem.table.table import Table
from cbr_logs import GameDef

#: Called with hands done, hands in all, and hands done.
Progress = Callable[[float, float, int], None]


@dataclass
class Outcome:
    """What came of a match: chips of each player, what was wrong with their lines, and why it ended
    early, if it did."""

    players: Sequence[str]
    totals: list[float]
    hands: int = 0
    warnings: Counter[tuple[int, str]] = field(default_factory=Counter)
    ended: str = ""

    @property
    def score(self) -> str:
        return score_line(self.totals, self.players)


def play_match(
    definition: GameDef,
    seats: Sequence[Seat],
    players: Sequence[str],
    hands: int,
    seed: int,
    log: MatchLog,
    progress: Progress | None = None,
) -> Outcome:
    """Play so many hands, or until somebody cannot go on; then everybody is let go."""
    outcome = Outcome(players, [0.0] * len(players))
    parts = [0] * len(players)  # of chips, so that sums are exact
    try:
        for hand in range(hands):
            for player, won in enumerate(_play_hand(definition, seats, hand, seed, log, outcome)):
                parts[player] += won
                outcome.totals[player] = parts[player] / PARTS
            outcome.hands += 1
            if progress:
                progress(outcome.hands, hands, outcome.hands)
        log.line(outcome.score)
    except _Broken as broken:
        outcome.ended = f"{players[broken.player]} at hand {outcome.hands}: {broken.reason}"
        log.ended(outcome.ended)
    finally:
        for seat in seats:
            seat.close()
    return outcome


class _Broken(Exception):
    """A match that cannot go on, since a player cannot."""

    def __init__(self, player: int, reason: str) -> None:
        self.player, self.reason = player, reason


def _play_hand(
    definition: GameDef,
    seats: Sequence[Seat],
    hand: int,
    seed: int,
    log: MatchLog,
    outcome: Outcome,
) -> list[int]:
    """Play a hand; what each player won, in parts of a chip."""
    count = len(seats)
    at = [(position + hand) % count for position in range(count)]
    table = dealt(definition, hand, seed)
    for seat in seats:
        seat.begin()
    while True:
        betting = betting_of(table)
        states = [state_of(table, place, hand, betting).text for place in range(count)]
        if table.over:  # what was played counts, whoever is still there to hear of it
            won = [int(part) for part in table.rows[0, PAYOFF : PAYOFF + count]]
            names = [outcome.players[player] for player in at]
            log.hand(hand, table, [part / PARTS for part in won], names)
        for player in range(count):
            _told(seats, player, states[at.index(player)], table.over)
        actor = table.actor
        if actor is None:
            break
        player = at[actor]

        def warn(what: str, line: str, player: int = player) -> None:
            outcome.warnings[player, what] += 1
            log.comment(f"{outcome.players[player]}, hand {hand}: {what}{told(line)}")

        try:
            answer = seats[player].answer(states[actor], table, hand, warn)
        except Lost as lost:
            raise _Broken(player, str(lost)) from None
        kind, to, changed = settled(table, answer)
        if changed:
            warn(changed, f"{states[actor]}:{answer}")
        act(table.rows[0], table.terms, kind, to)
    for position, player in enumerate(at):
        seats[player].end(table, position)
    return [won[at.index(player)] for player in range(count)]


def _told(seats: Sequence[Seat], player: int, state: str, over: bool) -> None:
    try:
        seats[player].tell(state)
    except Lost as lost:
        if not over:  # else it is found at the next hand, if there is one
            raise _Broken(player, str(lost)) from None


def dealt(definition: GameDef, hand: int, seed: int) -> Table:
    """The table at which a hand begins."""
    count = len(definition.posts)
    cards = decks(seed, hand, 1, 2 * count + 5)[0].tolist()
    held, board = cards[: 2 * count], cards[2 * count : 2 * count + 5]
    return Table(definition.game, definition.stacks, held, board, definition.posts)


# --- connections --------------------------------------------------------------------------------


def listen(host: str, port: int, count: int) -> list[socket.socket]:
    """Listen on a port for each player, from `port` on; on free ones for 0."""
    if port and port + count > 65_536:
        raise BadValue(f"there are no {count} ports from {port} on; choose a lower --port")
    found: list[socket.socket] = []
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for place in range(count):
        try:
            found.append(socket.create_server((host, port and port + place), family=family))
        except (OSError, UnicodeError) as error:
            close_all(found)
            reason = getattr(error, "strerror", None) or error
            raise BadValue(
                f"cannot listen at {host} port {port and port + place}: {reason}; choose another "
                "--host or --port"
            ) from None
    return found


def welcome(
    listening: Sequence[socket.socket], players: Sequence[str], seconds: float
) -> list[Lines]:
    """A connection for each player, who have said that they speak our version."""
    deadline = time.monotonic() + seconds
    found: list[Lines] = []
    try:
        for place, server in enumerate(listening):
            found.append(_accepted(server, players[place], deadline, seconds))
        for player, lines in zip(players, found, strict=False):
            _greeted(lines, player, deadline, seconds)
    except BaseException:
        for lines in found:
            lines.close()
        raise
    finally:
        close_all(listening)
    return found


def _accepted(server: socket.socket, player: str, deadline: float, seconds: float) -> Lines:
    port = server.getsockname()[1]
    try:
        server.settimeout(max(0.001, deadline - time.monotonic()))
        return Lines(server.accept()[0])
    except TimeoutError:
        raise BadValue(
            f"{player} did not connect to port {port} within {seconds:g} s; start it, or give it "
            "longer with --start-timeout"
        ) from None
    except OSError as error:
        raise BadValue(f"{player} could not connect to port {port}: {error}") from None


def _greeted(lines: Lines, player: str, deadline: float, seconds: float) -> None:
    try:
        greeting = lines.read(deadline)
    except Silent:
        raise BadValue(
            f"{player} connected and did not send {VERSION} within {seconds:g} s"
        ) from None
    except Gone:
        raise BadValue(f"{player} closed the connection before it sent {VERSION}") from None
    if greeting is None or not speaks_ours(greeting):
        raise BadValue(f"{player} began with {quoted(greeting or 'a long line')}, not {VERSION}")


def close_all(sockets: Sequence[socket.socket]) -> None:
    for one in sockets:
        one.close()


def remotes(connections: Sequence[Lines], limits: Limits, hands: int) -> list[Seat]:
    return [Remote(lines, limits, hands) for lines in connections]
