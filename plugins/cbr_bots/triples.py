"""Probability triples: chances that the formula player folds, calls and raises with a hand.

The same rules choose its own actions, give the likelihood of opponents' actions, and play the
roll-outs. Thresholds are smoothed: the probability of an action grows linearly from 0 to 1 around
each of them. After the flop, with EHS' = HS_n + (1 - HS_n) PPOT:

1. EHS' >= make2: raise if there are fewer than two bets, else call. From make4 on raise again.
2. EHS' >= make1: bet, or call; but not two bets at once.
3. Nothing bet and PPOT >= 2b / (pot + 6b): bet (semi-bluff). A player who made the last bet of the
   street before bets again with probability `barrel` against at most two opponents.
4. PPOT (on the river HS) >= to call / (pot + to call): call.
5. HS >= cost of the showdown / the pot then, at one bet on each later street: call.
6. Check or fold.

The part of a decision that is the same for all hands is computed once (`plan`), so that the triples
of all 1326 hands are cheap.
"""

from __future__ import annotations

from typing import Any

from cbr.jit import njit
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
    SLIP_RAISE,
    TRAP,
    WIDTH,
    WIDTH2,
    WIDTH4,
)
from cbr_bots.loki_preflop import CALL1_, CALL2_, MAKE1_, MAKE2_, MAKE4_

#: A threshold that nothing reaches.
_NEVER = 9.0


@njit(inline="always")
def reached(value: Any, threshold: Any, width: Any) -> Any:
    """Smoothed comparison: 0 at `threshold - width`, 1 at `threshold + width`, linear between."""
    return min(1.0, max(0.0, (value - threshold + width) / (2.0 * width)))


@njit(inline="always")
def _past(value: Any, begin: Any, slope: Any) -> Any:
    """The same as `reached`, given the start of the linear part and its slope."""
    return min(1.0, max(0.0, (value - begin) * slope))


@njit
def _legal(fold: Any, call: Any, now: Any, k: Any) -> Any:
    """The triple with share `slip` spread over all actions; no fold where a check is free, and no
    raise past the cap."""
    slip, raised = k[SLIP], k[SLIP_RAISE]
    raises = (1.0 - fold - call) * (1.0 - slip) + slip * raised
    fold = fold * (1.0 - slip) + slip * (1.0 - raised) / 2.0
    call = 1.0 - fold - raises
    if now[TO_CALL] <= 0:
        call += fold
        fold = 0.0
    if not now[MAY_RAISE]:
        call += raises
        raises = 0.0
    return fold, call, raises


@njit
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


@njit
def plan(now: Any, k: Any) -> Any:
    """The parameters of `planned` at a decision after the flop; each threshold is given as the
    start and the slope of its linear part."""
    to_call, pot, size = now[TO_CALL], now[POT], now[SIZE]
    unbet = 1.0 if now[BETS] == 0 else 0.0
    more = 0.0 if now[STREET] == 3 else 1.0
    good = k[MAKE1] - k[WIDTH], 0.5 / k[WIDTH]
    strong = k[MAKE2] - k[WIDTH2], 0.5 / k[WIDTH2]
    again = strong
    if now[BETS] >= 2:
        again = k[MAKE4] - k[WIDTH4], 0.5 / k[WIDTH4]
    stays = strong if to_call > size and not now[COMMITTED] else good
    width = k[ODDS_WIDTH]
    bluffs = k[BLUFF]
    if now[LED] and now[OPPONENTS] <= 2:
        bluffs = max(bluffs, k[BARREL])
    if unbet:
        draw, showdown = 2.0 * size / (pot + 6.0 * size) - width, _NEVER
    else:
        later = k[SHOWDOWN] * now[LATER]
        cost = to_call + later
        # On the river both thresholds are the pot odds, so rule 4 is left to rule 5.
        draw = to_call / (pot + to_call) - width if more else _NEVER
        showdown = cost / (pot + cost + later) - width
    slip, raised = k[SLIP], k[SLIP_RAISE]
    free = 1.0 if to_call <= 0 else 0.0
    may_raise = 1.0 if now[MAY_RAISE] else 0.0
    return (
        unbet,
        more,
        good[0],
        good[1],
        strong[0],
        strong[1],
        again[0],
        again[1],
        stays[0],
        stays[1],
        draw,
        showdown,
        0.5 / width,
        bluffs,
        k[SEMI_BLUFF],
        k[TRAP],
        1.0 - slip,
        slip * (1.0 - raised) / 2.0 * (1.0 - free),
        slip * raised,
        may_raise,
    )


@njit(inline="always")
def planned(hs: Any, ppot: Any, p: Any) -> Any:
    """The triple of a hand with strength `hs` against all opponents and potential `ppot`; `p` is
    the result of `plan`."""
    (
        unbet,
        more,
        good_at,
        good_slope,
        strong_at,
        strong_slope,
        raise_at,
        raise_slope,
        stay_at,
        stay_slope,
        draw_at,
        showdown_at,
        odds_slope,
        bluffs,
        semi_bluffs,
        traps,
        meant,
        slip_fold,
        slip_raise,
        may_raise,
    ) = p
    value = hs + (1.0 - hs) * ppot * more
    draw = _past(ppot, draw_at, odds_slope)
    if unbet > 0.0:
        good = _past(value, good_at, good_slope)
        rest = max(bluffs, more * semi_bluffs * draw)
        fold = 0.0
        raises = good + (1.0 - good) * rest
        raises *= 1.0 - traps * _past(value, strong_at, strong_slope)
    else:
        raises = _past(value, raise_at, raise_slope)
        stays = max(raises, _past(value, stay_at, stay_slope))
        fold = (1.0 - stays) * (1.0 - max(draw, _past(hs, showdown_at, odds_slope)))
    # As in `_legal`.
    raises = (raises * meant + slip_raise) * may_raise
    fold = fold * meant + slip_fold
    return fold, 1.0 - fold - raises, raises


@njit
def after_flop(hs: Any, ppot: Any, now: Any, k: Any) -> Any:
    """The triple of a hand with strength `hs` against all opponents and potential `ppot`."""
    return planned(hs, ppot, plan(now, k))
