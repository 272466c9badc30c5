"""The starter of a bot, for `cbr plugins new bot FILE.py`."""

from __future__ import annotations

STARTER = '''\
"""A bot.

Seat it with others, and see why it acts as it does:

    cbr match NAME loki lag --hands 600 --plugin FILE
    cbr play NAME --explain --plugin FILE
"""

from cbr_arena import bot


@bot("NAME")
class Player:
    """Raises strong hands, and calls where the price is right."""

    def __init__(self, nerve=0.8):
        self.nerve = nerve

    def act(self, view):
        """An action (f, c, r), or the chances of some; docs/reference/bots.md lists what to see."""
        early = view.street == "preflop"
        strength = 1 - view["hand_rank"] / 169 if early else view["ihs"]
        if strength > self.nerve and view.raise_to:
            return {"r": 0.9, "c": 0.1}
        return "c" if strength > view["pot_odds"] else "f"
'''

TEST = """\
from STEM import Player

from cbr_arena.testing import check_bot


def test_FUNCTION():
    check_bot(Player)
    check_bot(Player, nerve=0.6)
"""
