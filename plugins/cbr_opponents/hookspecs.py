"""The hook of opponent models, for other plugins to implement."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from cbr_opponents.player_models import PlayerModelKind

spec = pluggy.HookspecMarker("cbr")


@spec
def cbr_player_models() -> Iterable[PlayerModelKind | Callable[..., Any]]:  # type: ignore[empty-body]
    """Models of what a player does next."""
