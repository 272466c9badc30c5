"""A person as the arena sees one: a bot that asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cbr_arena import Actions
from cbr_holdem.situation import Pending, View

#: What a person does: FOLD, CALL or RAISE, and what a raise goes to.
Done = tuple[int, int]


class Left(KeyboardInterrupt):
    """The person leaves the table, or can no longer be asked.

    Nothing that a bot raises ends a hand of the arena, except an interrupt: so this is one.
    """


class Person:
    """Asks at the keyboard. What goes wrong in asking ends the session: it is no bot's fault."""

    memory = None

    def __init__(self, ask: Callable[[View], Done]) -> None:
        self.ask = ask

    def act(self, situations: Pending, memory: Any, chance: Any) -> Actions:
        try:
            kind, to = self.ask(View(situations.seen(), situations.game))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise Left from error
        return Actions(np.array([kind]), np.array([to]))


def shares_of_pot(view: View) -> dict[str, int]:
    """What to raise to, by a name: half the pot and the pot as they are after calling, as near as
    is legal; the least, and everything."""

    def by(share: float) -> int:
        wanted = view.bets[view.seat] + view.call + int(share * (view.pot + view.call))
        return min(max(wanted, view.raise_from), view.raise_to)

    return {
        "least": view.raise_from,
        "half pot": by(0.5),
        "pot": by(1.0),
        "all-in": view.raise_to,
    }
