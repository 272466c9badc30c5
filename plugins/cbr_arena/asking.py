"""Calls of a bot's `act` and `remember`, guarded so that it cannot end a match.

Tables in lockstep (`tables`) and one seat at a competition's dealer (`acpc.mind`) both call bots in
this way, so a bot decides the same in both. `cbr_holdem.table.legal_action` makes actions legal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.plugging import frozen, one_line
from cbr.typing import Ints
from cbr_arena.bots import FOLD, Wrapper, blank_memory, decided, has_kept
from cbr_arena.chance import Chance
from cbr_arena.showing import as_seen
from cbr_holdem.situation import Pending
from cbr_holdem.table import Game

#: Faults of a bot: the index of the decision in its batch, and the reason.
Faults = list[tuple[int, str]]

#: The reason of a fault, where the rules do not allow the action of a bot.
NOT_LEGAL = "an action that is not legal"


class Answer(NamedTuple):
    """A bot's actions in n decisions: `kind` and `to` [n] as in `Actions`, the probabilities
    `shares` [n, 3] that they were drawn by if the bot gave any, and its faults. A bot that fails
    folds."""

    kind: Ints
    to: Ints
    shares: NDArray[np.float64] | None
    faults: Faults


def ask(bot: Any, rows: Ints, game: Game, which: Ints, memory: Any, chance: Chance) -> Answer:
    """A bot's actions at the tables (`which` of `rows`) where it is to act."""
    faults: Faults = []
    try:
        given = bot.act(Pending(rows, game, frozen(which.copy())), memory, chance)
        # A new `Pending`, since a bot may have changed the one that it was given.
        kind, to, shares = decided(given, Pending(rows, game, which), chance.for_draws())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a bot cannot end the match
        kind, to, shares = np.full(len(which), FOLD), np.zeros(len(which), np.int64), None
        faults += [(at, one_line(error)) for at in range(len(which))]
    if isinstance(bot, Wrapper):
        faults += bot.take_faults()
    return Answer(kind, to, shares, faults)


def tell(bot: Any, rows: Ints, which: Ints, seats: Ints, memory: Any) -> Faults:
    """Show a bot with a memory how hands ended, as its seat at each table (`which`) saw them."""
    try:
        bot.remember(as_seen(rows, which, seats), seats.copy(), memory)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return [(at, one_line(error)) for at in range(len(which))]
    return []


def begin(bot: Any, sessions: int) -> NDArray[Any] | None:
    """Begin sessions with a bot; returns its empty memory, [sessions], None if it keeps nothing."""
    return bot.begin(sessions) if isinstance(bot, Wrapper) else blank_memory(bot, sessions)


def recall(bot: Any, opponents: Any, names: Sequence[str], memory: Any) -> Faults:
    """Tell a bot what was seen of the players in earlier matches, if it asks for that."""
    if opponents is None or memory is None or not hasattr(bot, "recall"):
        return []
    try:
        bot.recall(opponents.copy(), list(names), memory)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return [(0, one_line(error))]
    return []


def remembered(bot: Any, kept: NDArray[Any]) -> bool:
    """Whether a bot kept anything in the sessions of this memory."""
    return bot.remembered(kept) if isinstance(bot, Wrapper) else has_kept(kept)
