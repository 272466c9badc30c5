"""The dealer: it deals hands, sends the players match states, and reads their answers.

Players rotate: in hand h, player (p + h) mod n has position p, as at the original dealer. Hand h of
a seed has the same cards as deal h of that seed in `cbr match`.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cbr.typing import Progress
from cbr_arena.acpc.log import MatchLog, score_line
from cbr_arena.acpc.protocol import quoted, settled, states_of
from cbr_arena.acpc.seats import Lost, Seat
from cbr_holdem.table import PARTS, PAYOFF, Table, act, decks
from cbr_logs import GameDef


@dataclass
class Outcome:
    """The result of a match: chips won by each player, what was wrong with their lines, and why it
    ended early, if it did."""

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
    """Play `hands` hands, or until a player cannot go on; then close all connections."""
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
    """The match cannot go on, because a player cannot."""

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
    """Play a hand; returns what each player won, in parts of a chip (`PARTS`)."""
    count = len(seats)
    at = [(position + hand) % count for position in range(count)]
    table = dealt(definition, hand, seed)
    for seat in seats:
        seat.begin()
    while (actor := table.actor) is not None:
        states = [state.text for state in states_of(table, hand)]
        for position, state in enumerate(states):
            with _ends_match(at[position]):
                seats[at[position]].tell(state)
        player = at[actor]

        def warn(what: str, line: str, player: int = player) -> None:
            outcome.warnings[player, what] += 1
            quote = f": {quoted(line)}" if line else ""
            log.comment(f"{outcome.players[player]}, hand {hand}: {what}{quote}")

        with _ends_match(player):
            answer = seats[player].answer(states[actor], table, hand, warn)
        kind, to, changed = settled(table, answer)
        if changed:
            warn(changed, f"{states[actor]}:{answer}")
        act(table.rows[0], table.terms, kind, to)
    won = table.rows[0, PAYOFF : PAYOFF + count].tolist()
    names = [outcome.players[player] for player in at]
    log.hand(hand, table, [part / PARTS for part in won], names)
    for position, last in enumerate(states_of(table, hand)):
        # The hand counts, even if a player is gone by now; the next hand will notice that.
        with contextlib.suppress(Lost):
            seats[at[position]].tell(last.text)
        seats[at[position]].end(table, position)
    return [won[at.index(player)] for player in range(count)]


@contextlib.contextmanager
def _ends_match(player: int) -> Iterator[None]:
    try:
        yield
    except Lost as lost:
        raise _Broken(player, str(lost)) from None


def dealt(definition: GameDef, hand: int, seed: int) -> Table:
    """The table at which a hand begins."""
    count = len(definition.posts)
    cards = decks(seed, hand, 1, 2 * count + 5)[0].tolist()
    held, board = cards[: 2 * count], cards[2 * count : 2 * count + 5]
    return Table(definition.game, definition.stacks, held, board, definition.posts)
