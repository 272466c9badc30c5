"""What a bot would do at the open decision of a hand in progress, and why.

    from cbr_arena import advise, build
    from cbr_logs import read_open_hands

    for one in read_open_hands(Path("casebases/open-hand.phh")):
        print(advise(build("lag", one.table.game.betting), one.table))

A bot that explains itself tells the chances of its actions. Another one is asked many times, each
with other random numbers: its chances are the mean of the probabilities that it gives, or how often
it does what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cbr import BadValue
from cbr.errors import PluginFailure
from cbr.typing import Floats, Ints
from cbr_arena.analysis import Analysis, analyse
from cbr_arena.asking import NOT_LEGAL, ask, begin
from cbr_arena.bots import CALL, FOLD, RAISE
from cbr_arena.chance import Chance
from cbr_holdem.situation import Pending
from cbr_holdem.table import (
    ACTOR,
    FOLDED,
    MOVES,
    SEATS,
    STREET,
    STREETS,
    TOP,
    Game,
    Table,
    act,
    legal_action,
    to_call,
)

#: How often a bot is asked that does not explain itself.
DRAWS = 200


@dataclass(frozen=True)
class Choice:
    """An action (fold, check, call, bet or raise) and the chips that a bet or raise goes to, with
    the chance that the bot takes it, and what its analysis says of it."""

    action: str
    to: int | None
    chance: float
    value: float | None = None
    error: float | None = None
    visits: int | None = None


@dataclass(frozen=True, eq=False)
class Advice:
    """What a bot would do, the likeliest first, in chips of the table.

    `draws` is how often the bot was asked, 0 if it draws nothing itself. Values are in `unit`.
    `lines` are principal lines: the moves of each, as (street, seat, action, amount), where the
    amount is what a call costs or a bet or raise goes to. `ranges` are [1326] by seat.
    """

    choices: Sequence[Choice]
    why: str
    draws: int
    unit: str
    lines: Sequence[Sequence[tuple[str, int, str, int]]]
    ranges: Mapping[int, Floats]


def advise(bot: Any, table: Table, seed: int = 0, draws: int = DRAWS) -> Advice:
    """Ask a bot (`build`) for its action at a table where somebody is to act, as in the first hand
    of a session. A bot that does not explain its chances is asked so many times."""
    table.verify_going()
    row = table.rows[0]
    pending = Pending(table.rows, table.game, np.zeros(1, np.int64))
    # Only what the seat may see; the same for every bot.
    seen = pending.seen()
    situations = Pending(seen, table.game, np.zeros(1, np.int64))
    chance = Chance(seed, np.zeros(1, np.int64), row[None, ACTOR], row[None, MOVES])
    analysis = analyse(bot, situations, begin(bot, 1), chance)
    told = advice_of(analysis, seen[0], table.game)
    if told.choices:
        return told
    try:
        found, draws = _drawn(bot, seen, table.game, seed, draws)
        choices = _choices(found, seen[0], table.game)
    except BadValue as error:
        raise PluginFailure(f"the bot fails in this decision: {error}") from None
    return replace(told, choices=choices, draws=draws)


def advice_of(analysis: Analysis, seen: Ints, game: Game) -> Advice:
    """An analysis in the words of the table that its seat saw [WIDTH]."""
    unit = "small bets" if game.betting == "limit" else "big blinds"
    try:
        choices = _choices(analysis, seen, game)
        lines = [_told(moves, seen, game) for moves in analysis.lines]
        for seat in analysis.ranges:
            if not 0 <= seat < seen[SEATS] or seat == seen[ACTOR] or seen[FOLDED] >> seat & 1:
                raise BadValue(f"a range of seat {seat + 1}, where no opponent is in the hand")
    except BadValue as error:
        why = "\n".join(filter(None, [analysis.why, f"no explanation: {error}"]))
        return Advice([], why, 0, unit, [], {})
    return Advice(choices, analysis.why, 0, unit, lines, analysis.ranges)


def _drawn(bot: Any, seen: Ints, game: Game, seed: int, draws: int) -> tuple[Analysis, int]:
    """The chances of a bot's actions, found by asking it in so many hands that differ only in their
    random numbers; and how many, 0 if all answers are the same."""
    which = np.zeros(draws, np.int64)
    chance = Chance(seed, np.arange(draws), seen[which, ACTOR], seen[which, MOVES])
    answer = ask(bot, seen, game, which, begin(bot, draws), chance)
    if answer.faults:
        raise BadValue(answer.faults[0][1])
    shares = answer.shares
    if shares is None:
        shares = np.zeros((draws, 3))
        shares[np.arange(draws), answer.kind] = 1.0
    # Only raises have sizes; their chances are added up by size.
    sizes, size = np.unique(answer.to, return_inverse=True)
    raises = np.bincount(size.reshape(-1), shares[:, RAISE], len(sizes)) / draws
    kind = np.array([FOLD, CALL, *[RAISE] * len(sizes)])
    to = np.array([0, 0, *sizes])
    taken = np.concatenate([shares[:, [FOLD, CALL]].mean(axis=0), raises])
    kept = taken > 0
    same = bool((shares == shares[0]).all() and (answer.to == answer.to[0]).all())
    return Analysis(kind=kind[kept], to=to[kept], chance=taken[kept]), 0 if same else draws


def _choices(analysis: Analysis, seen: Ints, game: Game) -> list[Choice]:
    """The actions of an analysis, those that come to the same at the table as one."""
    if analysis.kind is None or analysis.chance is None:
        return []
    found: dict[tuple[str, int | None], Choice] = {}
    for place, kind in enumerate(analysis.kind.tolist()):
        to = 0 if analysis.to is None else int(analysis.to[place])
        what, amount = _named(seen, game, kind, to)
        name = (what, amount if kind == RAISE else None)
        one = Choice(
            *name,
            float(analysis.chance[place]),
            _known(analysis.value, place),
            _known(analysis.error, place),
            None if analysis.visits is None else int(analysis.visits[place]),
        )
        found[name] = _together(found[name], one) if name in found else one
    # Rounding errors of sums must not order equal chances.
    return sorted(found.values(), key=lambda one: -round(one.chance, 9))


def _together(one: Choice, other: Choice) -> Choice:
    """Two sizes that are one amount at this table; what is known of the likelier one is kept."""
    likelier = other if other.chance > one.chance else one
    visits = None if one.visits is None or other.visits is None else one.visits + other.visits
    return Choice(
        one.action,
        one.to,
        one.chance + other.chance,
        likelier.value,
        likelier.error,
        visits,
    )


def _known(values: Floats | None, place: int) -> float | None:
    return float(values[place]) if values is not None and np.isfinite(values[place]) else None


def _named(row: Ints, game: Game, kind: int, to: int) -> tuple[str, int]:
    """The name of an action at a table, and what a call costs or a bet or raise goes to."""
    price, top = int(to_call(row)), int(row[TOP])
    what, amount, legal = legal_action(row, game.terms, kind, to)
    if not legal:
        raise BadValue(NOT_LEGAL)
    if what == FOLD:
        return "fold", 0
    if what == CALL:
        return ("call" if price else "check"), price
    return ("raise" if top else "bet"), int(amount)


def _told(
    moves: Sequence[tuple[int, int, int]], seen: Ints, game: Game
) -> list[tuple[str, int, str, int]]:
    """A principal line, played at a copy of the table."""
    row, told = seen.copy(), []
    for seat, kind, to in moves:
        if seat != row[ACTOR]:
            raise BadValue(f"a line of play in which seat {seat + 1} acts out of turn")
        street = STREETS[int(row[STREET])]
        told.append((street, int(seat), *_named(row, game, kind, to)))
        what, amount, _ = legal_action(row, game.terms, kind, to)
        act(row, game.terms, what, amount)
    return told
