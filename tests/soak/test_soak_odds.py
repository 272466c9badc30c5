"""A small part of the soak test of odds, from another seed than that uses."""

from __future__ import annotations

import pytest

from soak.odds import odds


@pytest.mark.long
def test_odds_and_all_ins_are_those_of_another_evaluator() -> None:
    seen = odds(400, seed=20_000)
    assert seen.total() == 400
    assert set(seen) == {"river", "turn", "flop", "any", "pairs", "all-in"}
