"""Tilts: systematic ways in which players may differ from those of a log.

A tilt shifts how strong a player takes a hand to be, and turns a share of calls into raises or of
raises into calls. Seven tilts, from tight to wild, span the tables that a bot may meet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cbr.jit import njit
from cbr_holdem.table import CALL, RAISE


class Tilt(NamedTuple):
    """A deviation from logged play: the factor of `shifted_strengths` (2: hands of the best 40 %
    are played as the best 20 %), the share of calls that become raises, and of raises that become
    calls."""

    name: str
    strength_factor: float = 1.0
    calls_raised: float = 0.0
    raises_called: float = 0.0


#: The first changes nothing.
TILTS = (
    Tilt("as logged"),
    Tilt("tighter", strength_factor=0.6),
    Tilt("looser", strength_factor=1.7),
    Tilt("loose and passive", strength_factor=2.5, raises_called=0.5),
    Tilt("loose and aggressive", strength_factor=2.5, calls_raised=0.15),
    Tilt("calling", strength_factor=8.0, raises_called=0.9),
    Tilt("wild", strength_factor=6.0, calls_raised=0.4),
)


@njit
def tilt_raises(chances: Any, calls_raised: Any, raises_called: Any) -> None:
    """Move a share of the chance of a call to raises, and back, in `chances` [moves]; sizes keep
    their proportions."""
    raising = 0.0
    for move in range(RAISE, len(chances)):
        raising += chances[move]
    raised, called = calls_raised * chances[CALL], raises_called * raising
    chances[CALL] += called - raised
    for move in range(RAISE, len(chances)):
        share = chances[move] / raising if raising > 0.0 else 1.0 / (len(chances) - RAISE)
        chances[move] += share * (raised - called)
