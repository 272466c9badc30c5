"""The domain of a logged hand: limit and no-limit hold'em are separate domains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DOMAINS = ("holdem", "holdem-nolimit")
_VARIANTS = {"limit": "holdem", "nolimit": "holdem-nolimit"}


def domain_of(body: str, options: Mapping[str, Any] | None = None) -> str:
    """The domain of a hand: the one that `--variant` names, else that of the game in its text.

    >>> domain_of("7\\tnolimit 50/100\\t...")
    'holdem-nolimit'
    """
    if options and options.get("variant") in _VARIANTS:
        return _VARIANTS[options["variant"]]
    game = body.partition("\t")[2]
    return DOMAINS[0] if game.startswith("limit ") else DOMAINS[1]
