"""The hooks of the arena, for other plugins to implement."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from cbr_arena.bots import BotKind
    from cbr_arena.watchers import WatcherKind

spec = pluggy.HookspecMarker("cbr")


@spec
def cbr_bots() -> Iterable[BotKind | type[Any]]:  # type: ignore[empty-body]
    """Bots that can be named in a match."""


@spec
def cbr_watchers() -> Iterable[WatcherKind]:  # type: ignore[empty-body]
    """What is kept of the players of a match, for `--remember`."""
