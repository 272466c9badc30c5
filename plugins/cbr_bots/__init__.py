"""Rule bots: players that follow published rules, without any casebase.

This module is loaded by every command, so it imports nothing heavy: a bot is made where it plays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cbr import hook

if TYPE_CHECKING:
    from cbr_arena import BotKind


@hook
def cbr_bots() -> Iterable[BotKind]:
    from cbr_bots.kinds import KINDS

    return KINDS
