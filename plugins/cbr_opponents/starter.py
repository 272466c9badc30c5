"""The starter of a player model, for `cbr plugins new player-model FILE.py`."""

from __future__ import annotations

STARTER = '''\
"""A player model: what a player does next.

Measure how well it predicts the players of a casebase:

    cbr predict FILE.db --model "NAME?nerve=0.5" --plugin FILE
"""

import numpy as np

from cbr_opponents import player_model


@player_model("NAME")
def FUNCTION(situations, nerve=1.0):
    """Folds more often the more a call costs, and raises good hands."""
    price = np.clip(situations["pot_odds"] / nerve, 0.0, 0.9)
    good = np.nan_to_num(situations["hs"], nan=0.5)  # NaN: cards that nobody knows, or no board
    fold = price * (1.0 - good)
    return np.stack([fold, (1.0 - fold) * 0.7, (1.0 - fold) * 0.3 * 2.0 * good], axis=1)
'''

TEST = """\
from STEM import FUNCTION

from cbr_opponents.testing import check_player_model


def test_FUNCTION():
    check_player_model(FUNCTION)
    check_player_model(FUNCTION, betting="nolimit", nerve=0.5)
"""
