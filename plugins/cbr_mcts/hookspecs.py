"""The hook of search rules, for other plugins to implement."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from cbr_mcts.rules import BackupRule, SelectionRule

spec = pluggy.HookspecMarker("cbr")


@spec
def cbr_search_rules() -> Iterable[SelectionRule | BackupRule | Callable[..., Any]]:  # type: ignore[empty-body]
    """Rules of tree search: which move is tried next, and what a node is worth."""
