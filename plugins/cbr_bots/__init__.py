"""Rule bots: players that follow published rules, without any casebase.

This module is loaded by every command, so it imports nothing heavy: a bot is made where it plays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import lazy_loader

from cbr import hook

if TYPE_CHECKING:
    from cbr_arena import BotKind

# Plugins are searched for hooks with `dir`, which must list what stands here: no lazy `__dir__`.
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


@hook
def cbr_bots() -> Iterable[BotKind]:
    from cbr_bots.kinds import KINDS

    return KINDS
