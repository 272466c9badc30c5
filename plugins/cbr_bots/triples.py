"""Probability triples: how often the formula player folds, calls and raises with a hand.

One rule set serves its own play, what others' actions say about their hands, and simulated play.
Thresholds are smoothed: an action's share grows in a line from 0 to 1 around each of them. After
the flop, with EHS' = HS_n + (1 - HS_n) PPOT:

1. EHS' >= make2: raise if there are fewer than two bets, else call.
2. EHS' >= make1: bet, or call; but not two bets at once.
3. Nothing bet and PPOT >= 2b / (pot + 6b): bet (semi-bluff). Who bet on the street before and was
   not raised goes on betting in part of the cases.
4. PPOT (on the river HS) >= to call / (pot + to call): call.
5. HS >= cost of the showdown / the pot then, at one bet on each later street: call.
6. Check or fold.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from cbr_bots.betting_line import (
    BETS,
    COMMITTED,
    GROUP,
    LATER,
    LED,
    MAY_RAISE,
    OPPONENTS,
    POSITION,
    POT,
    SIZE,
    SMALL_BLIND,
    STREET,
    TO_CALL,
)
from cbr_bots.loki_constants import (
    BARREL,
    BLUFF,
    INCOME_WIDTH,
    MAKE1,
    MAKE2,
    MAKE4,
    ODDS_WIDTH,
    SEMI_BLUFF,
    SHOWDOWN,
    SLIP,
    WIDTH,
)
from cbr_bots.loki_preflop import CALL1_, CALL2_, MAKE1_, MAKE2_, MAKE4_


@njit(cache=True, inline="always")
def reached(value: Any, threshold: Any, width: Any) -> Any:
    """How far a value is past a threshold that is smoothed to either side: 0 to 1."""
    return min(1.0, max(0.0, (value - threshold + width) / (2.0 * width)))


@njit(cache=True)
def _legal(fold: Any, call: Any, now: Any, k: Any) -> Any:
    """The triple, with a little of everything; nobody folds for nothing or raises past the cap."""
    slip = k[SLIP]
    raises = (1.0 - fold - call) * (1.0 - slip) + slip / 3.0
    fold = fold * (1.0 - slip) + slip / 3.0
    call = call * (1.0 - slip) + slip / 3.0
    if now[TO_CALL] <= 0:
        call += fold
        fold = 0.0
    if not now[MAY_RAISE]:
        call += raises
        raises = 0.0
    return fold, call, raises


@njit(cache=True)
def before_flop(income: Any, now: Any, style: Any, k: Any) -> Any:
    """The triple of a hand by its income rate in the group of expected players."""
    group, position, width = int(now[GROUP]), now[POSITION], k[INCOME_WIDTH]
    rows = style[group]
    make4 = reached(income, rows[MAKE4_, 0] + rows[MAKE4_, 1] * position, width)
    make2 = max(make4, reached(income, rows[MAKE2_, 0] + rows[MAKE2_, 1] * position, width))
    make1 = max(make2, reached(income, rows[MAKE1_, 0] + rows[MAKE1_, 1] * position, width))
    call2 = make2
    if now[SMALL_BLIND]:
        call2 = max(make2, reached(income, rows[CALL2_, 0], width))
        make1 = max(make1, call2, reached(income, rows[CALL1_, 0], width))
    raises = make2 if now[BETS] < 2 else make4
    two_bets = now[TO_CALL] > now[SIZE] and not now[COMMITTED]
    plays = call2 if two_bets else make1
    return _legal(1.0 - plays, plays - raises, now, k)


@njit(cache=True)
def after_flop(hs: Any, ppot: Any, now: Any, k: Any) -> Any:
    """The triple of a hand: `hs` against all opponents now, `ppot` its potential."""
    width, odds_width = k[WIDTH], k[ODDS_WIDTH]
    to_call, pot, size = now[TO_CALL], now[POT], now[SIZE]
    river = now[STREET] == 3
    value = hs if river else hs + (1.0 - hs) * ppot
    good = reached(value, k[MAKE1], width)
    if now[BETS] == 0:
        rest = k[BLUFF]
        if now[LED] and now[OPPONENTS] <= 2:
            rest = max(rest, k[BARREL])
        if not river:
            odds = 2.0 * size / (pot + 6.0 * size)
            rest = max(rest, k[SEMI_BLUFF] * reached(ppot, odds, odds_width))
        bets = good + (1.0 - good) * rest
        return _legal(0.0, 1.0 - bets, now, k)
    strong = reached(value, k[MAKE2], width)
    raises = strong if now[BETS] < 2 else reached(value, k[MAKE4], k[WIDTH] / 2.0)
    stays = strong if to_call > size and not now[COMMITTED] else good
    odds = reached(hs if river else ppot, to_call / (pot + to_call), odds_width)
    if not river:
        later = k[SHOWDOWN] * now[LATER]
        cost = to_call + later
        odds = max(odds, reached(hs, cost / (pot + cost + later), odds_width))
    calls = max(stays, raises)
    calls = calls + (1.0 - calls) * odds
    return _legal(1.0 - calls, calls - raises, now, k)
