"""Hand histories: readers of logs, and writers of some of them.

This module is loaded by every command, so it imports nothing heavy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from cbr import hook

if TYPE_CHECKING:
    from cbr.store import CaseSource
    from cbr_logs.gamedef import SHIPPED as SHIPPED
    from cbr_logs.gamedef import SHIPPED_TEXTS as SHIPPED_TEXTS
    from cbr_logs.gamedef import GameDef as GameDef
    from cbr_logs.gamedef import gamedef_text as gamedef_text
    from cbr_logs.gamedef import read_gamedef as read_gamedef

_HOME = dict.fromkeys(
    ("SHIPPED", "SHIPPED_TEXTS", "GameDef", "gamedef_text", "read_gamedef"), "gamedef"
)

__all__ = [*_HOME]


@hook
def cbr_case_sources() -> list[CaseSource]:
    from cbr_logs.acpc import ACPC
    from cbr_logs.irc import IRC
    from cbr_logs.phh import PHH
    from cbr_logs.stars import STARS

    return [PHH, ACPC, IRC, STARS]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'cbr_logs' has no attribute {name!r}")
    return getattr(importlib.import_module(f"cbr_logs.{_HOME[name]}"), name)
