"""The starter of a search rule, for `cbr plugins new search-rule FILE.py`."""

from __future__ import annotations

STARTER = '''\
"""A selection rule: which of our moves a search tries next.

Play with it:

    cbr match "mcts?select=NAME" call --hands 200 --plugin FILE
"""

import math

from cbr_mcts import selection_rule


@selection_rule("NAME", c=1.0)
def FUNCTION(value, variance, visits, all_visits, prior, c):
    """The value plus what may be missing from it, less for a move whose rewards vary little."""
    if visits == 0.0:
        return math.inf  # each move is tried once
    return value + c * math.sqrt((0.1 + variance) * math.log(all_visits) / visits)
'''

TEST = """\
from STEM import FUNCTION

from cbr_mcts.testing import check_search_rule


def test_FUNCTION():
    check_search_rule(FUNCTION)
"""
