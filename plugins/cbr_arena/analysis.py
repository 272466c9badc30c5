"""What a bot knows of one decision: actions with chances and values, lines of play, ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cbr import BadValue, CbrError
from cbr.plugging import guarded
from cbr.typing import Floats, Ints
from cbr_holdem.cards import HANDS
from cbr_holdem.situation import Pending


@dataclass(frozen=True, eq=False)
class Analysis:
    """What a bot knows of one decision. Each part may be left out.

    `why` is text, in lines of at most 76 characters. The arrays [k] belong to the k actions that
    the bot weighs: `kind` and `to` as in `Actions`; `chance`, that it takes the action (0 or more,
    not all 0); `value`, what it expects to win from here on if it does, in small bets (limit) or
    big blinds (no-limit) where a fold is 0, NaN if unknown; `error`, the standard error of that
    value; `visits`, in how many iterations a search tried it. No array goes without `kind` and
    `chance`.

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
        found: Floats = np.bincount(self.kind, self.chance, 3)[None].astype(np.float64)
        found /= found.sum()
        return found

    def without_actions(self) -> Analysis:
        """The same without what it says of single actions."""
        return replace(
            self, kind=None, to=None, chance=None, value=None, error=None, visits=None, lines=()
        )


def analysis_of(given: Any) -> Analysis:
    """What `explain` of a bot returned, as an `Analysis` with arrays of the right shapes."""
    if not isinstance(given, Analysis):
        return Analysis(str(given).rstrip())
    arrays = [given.kind, given.to, given.chance, given.value, given.error, given.visits]
    lengths = {np.shape(one) for one in arrays if one is not None}
    if lengths and (given.kind is None or given.chance is None):
        raise BadValue("an analysis of actions needs kind and chance of each")
    if len(lengths) > 1 or any(len(shape) != 1 for shape in lengths):
        raise BadValue(f"the arrays of an analysis are {sorted(lengths)}; they must all be [k]")
    chance = _floats(given.chance)
    if chance is not None and not ((chance >= 0).all() and 0 < chance.sum() < np.inf):
        raise BadValue("chances of actions must be 0 or more, and not all of them 0")
    ranges = {int(seat): np.asarray(one, np.float64) for seat, one in given.ranges.items()}
    for one in ranges.values():
        if one.shape != (len(HANDS),) or not ((one >= 0).all() and 0 < one.sum() < np.inf):
            raise BadValue(f"a range has {len(HANDS)} chances of 0 or more, not all of them 0")
    return replace(
        given,
        why=str(given.why).rstrip(),
        kind=_whole(given.kind),
        to=_whole(given.to),
        chance=None if chance is None else chance / chance.sum(),
        value=_floats(given.value),
        error=_floats(given.error),
        visits=_whole(given.visits),
        ranges={seat: one / one.sum() for seat, one in ranges.items()},
    )


def _floats(given: Any) -> Floats | None:
    return None if given is None else np.asarray(given, np.float64)


def _whole(given: Any) -> Ints | None:
    return None if given is None else np.asarray(given).astype(np.int64)


def analyse(bot: Any, situations: Pending, memory: Any, chance: Any) -> Analysis:
    """A bot's analysis of one situation, empty if it explains nothing. If explaining fails, a
    sentence with the error."""
    if not hasattr(bot, "explain"):
        return Analysis()
    try:
        with guarded("explaining"):
            return analysis_of(bot.explain(situations, memory, chance))
    except CbrError as error:
        return Analysis(f"no explanation: {error}")
