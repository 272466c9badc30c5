"""Results that logs state, compared with those of the rules.

A log may state less than the rules give only as rake: up to a limit, and from each winner the same
share of what he won. Whoever wins nothing loses exactly what he put in. Where cards were not shown
at the end, the stated result must be one that some cards could have led to.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr_holdem.table.game import ACPC, BIG_BLIND, MOST_SEATS
from cbr_holdem.table.hand_arrays import HandArrays
from cbr_holdem.table.layout import PARTS
from cbr_holdem.table.rake import ANY_RAKE, Rake

#: Values of each seat at the end of a hand: its payoff in parts of a chip (`PARTS`), the chips it
#: put in, those of them that are dead (`OVER`), the kind of end, and the strength of a shown hand.
END_OF = ("payoff", "paid", "dead", "kind of end", "strength")
PAYOFF_END, PAID_END, DEAD_END, KIND_END, STRENGTH_END = range(len(END_OF))
#: How a hand ended for a seat: folded (or no such seat), the only one left, at a showdown with
#: cards shown, or there with cards not shown.
OUT, ALONE, SHOWN, MUCKED = range(4)
#: Logs round fractions of a chip; a sum of rounded amounts may differ by more.
_ROUNDED, _ROUNDED_SUM = 0.001, 0.01


class _Shares(NamedTuple):
    """What the seats of n hands would win of the contested pots, without rake.

    `won` [n, 10] is without what came back uncalled. A log may give whole chips instead, up to
    `less` [n, 10] less or `more` [n, 10] more, since rooms give the odd chips of a split pot to
    different players.
    """

    won: NDArray[np.float64]
    less: NDArray[np.float64]
    more: NDArray[np.float64]


def results(
    hands: HandArrays, ends: NDArray[np.int64], rake: Rake = ANY_RAKE
) -> tuple[NDArray[np.float64], dict[int, str]]:
    """What each seat won or lost [n, 10], and a reason for each hand with an impossible result.

    `ends` [n, 5, 10] are the values of `END_OF` that the rules give. Where the log gives no result,
    a hand that was not shown at a showdown is taken to have lost if another hand was shown; a seat
    that may have won without showing has no result (NaN).
    """
    played, paid, kind = ends[:, PAYOFF_END] / PARTS, ends[:, PAID_END], ends[:, KIND_END]
    mucked = kind == MUCKED
    unseen = mucked & (~(kind == SHOWN).any(axis=1, keepdims=True) | (played > -paid))
    result = np.where(unseen, np.nan, played)
    logged = np.flatnonzero(np.isfinite(hands.result).any(axis=1))
    result[logged] = hands.result[logged]
    reasons = {}
    if len(logged):
        seats = np.arange(MOST_SEATS) < hands.seats[logged, None]
        stated = np.where(seats, hands.result[logged], 0.0)
        reasons = _impossible(ends[logged], stated, hands.terms[logged], hands.seats[logged], rake)
    return result, {int(logged[at]): reason for at, reason in reasons.items()}


def _impossible(
    ends: NDArray[np.int64],
    stated: NDArray[np.float64],
    terms: NDArray[np.int64],
    seats: NDArray[np.int64],
    rake: Rake,
) -> dict[int, str]:
    """A reason for each hand whose stated result [n, 10] the rules cannot give."""
    played, paid, back = ends[:, PAYOFF_END] / PARTS, ends[:, PAID_END], _uncalled(ends)
    won, got = played + paid - back, stated + paid - back
    pot = won.sum(axis=1)
    unraked = terms[:, ACPC].astype(bool)  # the competition has no rake
    most = np.where(unraked, 0.0, np.minimum(rake.share * pot, rake.blinds * terms[:, BIG_BLIND]))
    none = np.zeros_like(won)
    alike, taken = _compared(_Shares(won, none, none), got)
    allowed = (taken >= -_ROUNDED_SUM) & (taken <= most + _ROUNDED_SUM)
    mucked = (ends[:, KIND_END] == MUCKED).any(axis=1)
    reasons = {}
    for at in np.flatnonzero(~(alike & allowed)).tolist():
        if allowed[at] and _could_be(ends[at], got[at]):
            continue
        there = slice(seats[at])
        reasons[at] = f"the log gives a result of {_list(stated[at, there])}, " + (
            "which the betting cannot come to"
            if mucked[at] and not alike[at]
            else f"the rules {_list(played[at, there])}"
        )
        if alike[at] and taken[at] > 0:
            reasons[at] += f": a rake of {taken[at]:g} from a pot of {pot[at]:g} " + (
                "in a game without rake" if unraked[at] else "is more than --rake allows"
            )
    return reasons


def _uncalled(ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """What came back to each seat [n, 10], because nobody had put in as much."""
    put = ends[:, PAID_END] - ends[:, DEAD_END]
    order = np.sort(put, axis=1)
    top, second = order[:, -1:], order[:, -2:-1]
    return np.where((put == top) & (ends[:, KIND_END] != OUT), top - second, 0)


def _compared(
    shares: _Shares, got: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Whether the seats of each hand got [n, 10] their shares but for a rake taken from the winners
    alike, and that rake [n]."""
    won = shares.won
    pot = won.sum(axis=1, keepdims=True)
    taken = pot - got.sum(axis=1, keepdims=True)
    winners = won > 0
    raked = taken > _ROUNDED_SUM
    # The rake of each of several winners is rounded to chips.
    rounded = winners & (winners.sum(axis=1, keepdims=True) > 1) & raked
    fair = won - taken * won / np.maximum(pot, 1.0)
    slack = _ROUNDED + rounded
    close = (got >= fair - shares.less - slack) & (got <= fair + shares.more + slack)
    whole = np.abs(got - np.rint(got)) <= _ROUNDED
    close &= raked | whole | (np.abs(got - fair) <= _ROUNDED_SUM)
    return close.all(axis=1), taken[:, 0]


# --- odd chips, and cards that were not shown -----------------------------------------------------


def _could_be(end: NDArray[np.int64], got: NDArray[np.float64]) -> bool:
    """Whether the seats of a hand may have got this, with odd chips to any winner of a pot, and
    with some cards where none were shown."""
    return any(_compared(shares, got[None])[0].all() for shares in _possible(end, got))


def _possible(end: NDArray[np.int64], got: NDArray[np.float64]) -> Iterator[_Shares]:
    """Every way to share the pots of a hand among the seats that got something."""
    put = end[PAID_END] - end[DEAD_END] - _uncalled(end[None])[0]
    left = [seat for seat in range(MOST_SEATS) if end[KIND_END, seat] != OUT]
    levels = sorted({int(put[seat]) for seat in left} - {0})
    pots = []
    for lower, upper in zip([0, *levels], levels, strict=False):
        # What folded players put in beyond the last level belongs to the last pot.
        top = upper if upper < levels[-1] else int(put.max())
        amount = int((np.minimum(put, top) - np.minimum(put, lower)).sum())
        pots.append((amount, [seat for seat in left if put[seat] >= upper]))
    if pots:
        pots[0] = (pots[0][0] + int(end[DEAD_END].sum()), pots[0][1])
    nothing = np.zeros((1, MOST_SEATS))
    yield from _shared(pots, [], _Shares(nothing, nothing, nothing), end, got)


def _shared(
    pots: list[tuple[int, list[int]]],
    before: list[int],
    so_far: _Shares,
    end: NDArray[np.int64],
    got: NDArray[np.float64],
) -> Iterator[_Shares]:
    """Every way to share these pots, after the winners of the pot before."""
    if not pots:
        yield so_far
        return
    (amount, eligible), *rest = pots
    again = [seat for seat in before if seat in eligible]
    for winners in [again] if again else _winners(eligible, end, got):
        shares = _Shares(*(array.copy() for array in so_far))
        odd, part = amount % len(winners), amount / len(winners)
        shares.won[0, winners] += part
        shares.less[0, winners] += odd / len(winners)
        shares.more[0, winners] += odd - odd / len(winners)
        yield from _shared(rest, winners, shares, end, got)


def _winners(
    eligible: list[int], end: NDArray[np.int64], got: NDArray[np.float64]
) -> Iterator[list[int]]:
    """The seats that may have won a pot: the best of those shown, or some not shown, or both."""
    shown = [seat for seat in eligible if end[KIND_END, seat] == SHOWN]
    best = max((end[STRENGTH_END, seat] for seat in shown), default=0)
    first = [seat for seat in shown if end[STRENGTH_END, seat] == best]
    hidden = [s for s in eligible if end[KIND_END, s] == MUCKED and got[s] > 0]
    some = chain.from_iterable(combinations(hidden, n) for n in range(len(hidden) + 1))
    for unseen in some:
        if first:
            yield [*first, *unseen]
        if unseen:
            yield list(unseen)


def _list(amounts: Any) -> str:
    return ", ".join(f"{amount:g}" for amount in amounts)
