"""Asking a bot: its `act` and `remember` called so that nothing it does can end a match.

Tables in lockstep (`tables`) and one seat at a competition's dealer (`acpc.mind`) ask in this way,
so a bot decides the same in both; `cbr_holdem.table.legal_action` then says what is played.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.plugging import frozen, one_line
from cbr.typing import Ints
from cbr_arena.bots import FOLD, decided
from cbr_arena.chance import Chance
from cbr_arena.showing import as_seen
from cbr_arena.views import Views
from cbr_holdem.situation import Pending
from cbr_holdem.table import Game

#: What a bot did wrong: in which of the decisions, and why.
Faults = list[tuple[int, str]]

#: The reason of a fault, where a bot gives an action that the rules do not allow.
NOT_LEGAL = "an action that is not legal"


class Answer(NamedTuple):
    """What a bot does in n decisions: `kind` and `to` [n] as in `Actions`, the shares [n, 3] that
    these were drawn by where the bot gave shares, and its faults. A bot that fails folds."""

    kind: Ints
    to: Ints
    shares: NDArray[np.float64] | None
    faults: Faults


def ask(bot: Any, rows: Ints, game: Game, which: Ints, memory: Any, chance: Chance) -> Answer:
    """What a bot does at the tables (`which` of `rows`) that wait for it."""
    faults: Faults = []
    try:
        given = bot.act(Pending(rows, game, frozen(which.copy())), memory, chance)
        # Looked at anew: a bot may have changed what it was given.
        kind, to, shares = decided(given, Pending(rows, game, which), chance.for_draws())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a bot cannot end the match
        kind, to, shares = np.full(len(which), FOLD), np.zeros(len(which), np.int64), None
        faults += [(at, one_line(error)) for at in range(len(which))]
    if isinstance(bot, Views):
        faults += bot.take_faults()
    return Answer(kind, to, shares, faults)


def tell(bot: Any, rows: Ints, which: Ints, seats: Ints, memory: Any) -> Faults:
    """Show a bot that remembers how hands ended, as its seat at each table (`which`) saw them."""
    try:
        bot.remember(as_seen(rows, which, seats), seats.copy(), memory)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return [(at, one_line(error)) for at in range(len(which))]
    return []


def memory_of(bot: Any) -> np.dtype[Any] | None:
    """What a bot keeps from hand to hand, as the dtype of one element; None if it keeps nothing."""
    memory: np.dtype[Any] | None = getattr(bot, "memory", None)
    return memory


def blank_memory(bot: Any, sessions: int) -> NDArray[Any] | None:
    """The memory of a bot before the first hand of so many sessions, [sessions]."""
    dtype = memory_of(bot)
    if dtype is None:
        return None
    return np.full(sessions, None, dtype) if dtype.hasobject else np.zeros(sessions, dtype)
