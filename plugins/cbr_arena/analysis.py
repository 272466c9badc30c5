"""What a bot knows of one decision: actions with chances and values, lines of play, ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cbr.typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class Analysis:
    """What a bot knows of one decision. Each part may be left out.

    `why` is text, in lines of at most 76 characters. The arrays [k] belong to the k actions that
    the bot weighs: `kind` and `to` as in `Actions`; `chance`, that it takes the action (0 or more,
    not all 0); `value`, what it expects to win from here on if it does, in small bets (limit) or
    big blinds (no-limit) where a fold is 0, NaN if unknown; `error`, the standard error of that
    value; `visits`, in how many iterations a search tried it.

    `lines` are principal lines, the best first: the moves (seat, kind, to) from this decision on.
    `ranges` gives by the seat of an opponent the probability of each hand, [1326] in the order of
    `cbr_holdem.cards.HANDS`.
    """

    why: str = ""
    kind: Ints | None = None
    to: Ints | None = None
    chance: Floats | None = None
    value: Floats | None = None
    error: Floats | None = None
    visits: Ints | None = None
    lines: Sequence[Sequence[tuple[int, int, int]]] = ()
    ranges: Mapping[int, Floats] = field(default_factory=dict)

    @property
    def shares(self) -> Floats | None:
        """The chances of fold, call and raise [1, 3], if the actions have chances."""
        if self.kind is None or self.chance is None:
            return None
        summed: Floats = np.bincount(self.kind, self.chance, 3)[None]
        return summed / self.chance.sum()

    def without_actions(self) -> Analysis:
        """The same without what it says of single actions."""
        return replace(
            self, kind=None, to=None, chance=None, value=None, error=None, visits=None, lines=()
        )


def analysis_of(given: Any) -> Analysis:
    """What `explain` of a bot returned, as an `Analysis`."""
    return given if isinstance(given, Analysis) else Analysis(str(given))
