"""Features that CASPER's case lacks, for `cbr build --features`.

CASPER's pot feature has a range of 300 small bets, so typical pots hardly differ; and its cases
have no feature for the last bettor of the street before or for the board. Whether these features
help is measured by tools/cbr_bot.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from cbr import ExtraFeature, Feature
from cbr_holdem.situation import LIMIT
from cbr_holdem.table import STREETS


def _log_pot(situations: Mapping[str, Any]) -> Any:
    return np.log2(np.maximum(situations["pot"], 1.0))


def _column(name: str) -> Callable[[Mapping[str, Any]], Any]:
    return lambda situations: situations[name]


def extra_features() -> list[ExtraFeature]:
    """For each street after the first: the logarithm of the pot, whether the player made the last
    bet of the street before, and how many cards of one suit and of one rank the board has."""
    found = []
    for before, street in pairwise(STREETS):
        of = f"{LIMIT}/{street}"
        pot = Feature(
            "log_pot",
            "logarithm of the pot",
            range=(0, 9),
            unit="doublings of a small bet",
            weight=10,
            compute=_log_pot,
        )
        led = Feature(
            "led",
            "1 if ours was the last bet of the street before",
            range=(0, 1),
            weight=10,
            compute=_column(f"was_aggressor_{before}"),
        )
        suits = Feature(
            "suits",
            "cards of one suit on the board",
            range=(1, 5),
            weight=5,
            compute=_column("same_suit"),
        )
        ranks = Feature(
            "ranks",
            "cards of one rank on the board",
            range=(1, 4),
            weight=5,
            compute=_column("same_rank"),
        )
        found.append(ExtraFeature(pot, of, replaces="pot"))
        found += [ExtraFeature(feature, of) for feature in (led, suits, ranks)]
    return found
