"""A person as a player of the arena: a bot that asks for its actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cbr_arena import Actions
from cbr_holdem.situation import Pending, View

#: An action of a person: FOLD, CALL or RAISE, and the amount that a raise goes to.
Done = tuple[int, int]


class Left(KeyboardInterrupt):
    """The person leaves the table, or there is no more input.

    It is a KeyboardInterrupt because the arena catches all other exceptions of bots.
    """


class Person:
    """A bot that asks at the keyboard. An error while asking ends the session: the arena would
    otherwise count it as a fault of a bot."""

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
    """Named amounts to raise to: half the pot and the pot, counted after calling and moved into the
    legal limits; the minimum; and all in."""

    def by(share: float) -> int:
        wanted = view.bets[view.seat] + view.call + int(share * (view.pot + view.call))
        return min(max(wanted, view.raise_from), view.raise_to)

    return {
        "least": view.raise_from,
        "half pot": by(0.5),
        "pot": by(1.0),
        "all-in": view.raise_to,
    }
