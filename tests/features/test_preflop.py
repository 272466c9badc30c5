"""The pre-flop table against published values, and the ranks of the 169 classes."""

from __future__ import annotations

import numpy as np
import pytest

from cbr.errors import BadValue
from cbr_holdem.cards import CLASSES, HANDS, hand_class, hands_of
from cbr_holdem.strength import (
    GROUPS,
    RANKED,
    group_of,
    hand_ranks,
    income_rate,
    odds,
    preflop_odds,
)


@pytest.mark.parametrize(
    ("name", "win", "equity"),
    [
        ("AA", 84.90, 85.17), ("JJ", 77.16, 77.48), ("88", 68.73, 69.18), ("AKo", 64.44, 65.29),
        ("KQs", 62.43, 63.42), ("A8o", 58.34, 59.84), ("55", 59.63, 60.31), ("QJo", 56.94, 58.17),
        ("JTs", 56.09, 57.47), ("33", 52.86, 53.72), ("22", 49.39, 50.34), ("98s", 48.86, 50.81),
        ("93o", 37.44, 40.03), ("72s", 35.47, 38.18), ("72o", 31.72, 34.60), ("32o", 29.23, 32.29),
    ],
)  # fmt: skip
def test_against_one(name: str, win: float, equity: float) -> None:
    found = preflop_odds(name, 1)
    assert 100 * found[0] == pytest.approx(win, abs=0.15)
    assert 100 * found[2] == pytest.approx(equity, abs=0.15)


def test_aces_against_many() -> None:
    wins = [84.90, 73.18, 63.56, 55.60, 48.92, 43.27, 38.48, 34.35, 30.83]
    for opponents, win in enumerate(wins, 1):
        assert 100 * preflop_odds("AA", opponents)[0] == pytest.approx(win, abs=0.15)


@pytest.mark.parametrize(
    ("name", "rates"),
    [
        ("AA", (703, 1552, 2045)),
        ("KK", (648, 1329, 1618)),
        ("AKs", (341, 658, 940)),
        ("JTo", (105, 228, 298)),
    ],
)
def test_income_rates(name: str, rates: tuple[int, int, int]) -> None:
    for players, rate in zip((2, 4, 7), rates, strict=True):
        assert income_rate(name, players) == pytest.approx(rate, abs=10)


def test_the_table_is_sound() -> None:
    """Somebody wins what another loses: the average hand has a fair share."""
    weight = np.array([len(hands_of(name)) for name in CLASSES]) / 1326
    for opponents in range(1, 10):
        equity = np.array([preflop_odds(name, opponents)[2] for name in CLASSES])
        assert weight @ equity == pytest.approx(1 / (opponents + 1), abs=3e-4)


def test_the_tool_would_make_it_again() -> None:
    found = odds(["AhKh"], opponents=4, error=0.001, seed=11)[0]
    win, tie, equity = preflop_odds("AKs", 4)
    assert found.equity == pytest.approx(equity, abs=0.005)
    assert (found.win, found.tie) == pytest.approx((win, tie), abs=0.006)


def test_ranks_and_groups() -> None:
    assert sorted(RANKED) == sorted(CLASSES)
    assert (RANKED[:4], RANKED[-1]) == (["AA", "KK", "QQ", "JJ"], "72o")
    assert sum(map(len, GROUPS)) == len({name for group in GROUPS for name in group})
    assert (group_of("AA"), group_of("98s"), group_of("32o")) == (1, 4, 9)
    ranks = hand_ranks()
    place = [hand_class(int(a), int(b)) for a, b in HANDS].index("QQ")
    assert ranks[place] == 3


def test_the_order_of_the_ranks_is_that_of_seven_players() -> None:
    equity = np.array([preflop_odds(name, 6)[2] for name in RANKED])
    order = np.argsort(np.argsort(-equity))
    assert np.corrcoef(order, np.arange(169))[0, 1] > 0.999


def test_bad_questions() -> None:
    with pytest.raises(BadValue, match="'AKx' is not a class"):
        preflop_odds("AKx", 1)
    with pytest.raises(BadValue, match="10 opponents; the table has 1 to 9"):
        preflop_odds("AA", 10)
